r"""Who plays against a learner of games.

An adversary knows the game.  In each episode the learner shows it its strategy :math:`\mu^k`, and
the adversary answers with a strategy :math:`\nu^k` of its own.  Four have names:

``"equilibrium"``
    plays what the learner's plan expects of it
``"best responder"``
    makes the reward as small as it can against this :math:`\mu^k`
``"uniform"``
    picks at random
``"hazard seeker"``
    first makes the expected violation as large as it can, then the reward small

Any function ``adversary(game, mu, nu)`` that returns (H, S, B) probabilities may stand in their
place; ``nu`` is what the learner's plan expects.

Taught in the chapter *Learning to play safely*.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safeteach.arguments import shown
from safeteach.kernels import compiled
from safeteach.worlds.games import SafeGame

__all__ = ["ADVERSARIES", "Adversary", "find_adversary"]

Strategy = NDArray[np.float64]
Adversary = Callable[[SafeGame, Strategy, Strategy], Strategy]

HAZARD = 1e6  # how many units of reward the hazard seeker gives for one of violation


def equilibrium(_game: SafeGame, _mu: Strategy, nu: Strategy) -> Strategy:
    """What the learner's plan expects."""
    return nu


def uniform(game: SafeGame, _mu: Strategy, _nu: Strategy) -> Strategy:
    """Every action with the same probability."""
    return np.full((game.H, game.S, game.B), 1 / game.B)


def best_responder(game: SafeGame, mu: Strategy, _nu: Strategy) -> Strategy:
    """The adversary's best response to μ in the true game."""
    return _respond(*game.all_rows(), game.r, mu)


def hazard_seeker(game: SafeGame, mu: Strategy, _nu: Strategy) -> Strategy:
    """The response to μ that leads to the most violation, and among these to the least reward."""
    return _respond(*game.all_rows(), game.r - HAZARD * game.violation[:, None, None], mu)


ADVERSARIES: dict[str, Adversary] = {
    "equilibrium": equilibrium,
    "best responder": best_responder,
    "uniform": uniform,
    "hazard seeker": hazard_seeker,
}


def find_adversary(adversary: str | Adversary | None) -> Adversary:
    """The function behind a name of the four, or the function itself."""
    if callable(adversary):
        return adversary
    if not isinstance(adversary, str) or adversary not in ADVERSARIES:
        names = ", ".join(f'"{name}"' for name in ADVERSARIES)
        raise ValueError(
            f"adversary is {shown(adversary)}; expected a function or one of {names}"
        )
    return ADVERSARIES[adversary]


@compiled
def _respond(span: Any, successor: Any, probability: Any, r: Any, mu: Any) -> Any:
    """(H, S, B) one-hot: the adversary's answer to μ that makes the sum of r least."""
    H, S, A, B = r.shape
    V, V_next = np.zeros(S), np.zeros(S)
    nu = np.zeros((H, S, B))
    for h in range(H - 1, -1, -1):
        V, V_next = V_next, V
        for s in range(S):
            best, least = 0, np.inf
            for b in range(B):
                total = 0.0
                for a in range(A):
                    if mu[h, s, a] > 0:
                        i = (s * A + a) * B + b
                        i += h * S * A * B if len(span) == H * S * A * B else 0
                        q = r[h, s, a, b]
                        for j in range(span[i, 0], span[i, 1]):
                            q += probability[j] * V_next[successor[j]]
                        total += mu[h, s, a] * q
                if total < least:
                    best, least = b, total
            nu[h, s, best] = 1.0
            V[s] = least
    return nu
