r"""Let a learner play games against an adversary.

In each episode the learner shows its strategy :math:`\mu^k`, and the adversary, who knows the
game, answers with a strategy :math:`\nu^k` of its own.  Four adversaries have names:

``"equilibrium"``     plays what the learner's plan expects of it
``"best responder"``  makes the reward as small as it can against this :math:`\mu^k`
``"uniform"``         picks at random
``"hazard seeker"``   first makes the expected violation as large as it can, then the reward small

Any function ``adversary(game, mu, nu)`` that returns (H, S, B) probabilities may stand in their
place; ``nu`` is what the learner's plan expects.

Taught in the chapter *Learning to play safely*.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from safeteach.kernels import compiled
from safeteach.learners.contract import check_same_world
from safeteach.planning.induction import safe_optimal
from safeteach.running.playing import History
from safeteach.safety import is_feasible
from safeteach.worlds.games import GameEpisode, KnownGame, SafeGame

__all__ = ["ADVERSARIES", "Adversary", "GameLearner", "duel", "face"]

Strategy = NDArray[np.float64]
Adversary = Callable[[SafeGame, Strategy, Strategy], Strategy]

HAZARD = 1e6  # how many units of reward the hazard seeker gives for one of violation


class GameLearner(Protocol):
    """What a learner of games has to offer."""

    known: KnownGame
    episodes: int
    nu: Strategy

    def plan(self, rng: np.random.Generator) -> Strategy:
        """The agent's strategy for the next episode."""

    def observe(self, episode: GameEpisode) -> None:
        """Take in what happened."""


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


def duel(
    learner: GameLearner,
    game: SafeGame,
    adversary: str | Adversary,
    seed: int = 0,
    noise: float = 1.0,
) -> History:
    """Let a learner live through its episodes against an adversary.

    Parameters
    ----------
    learner : a new learner, built from ``game.known``
    game : SafeGame
    adversary : a name of the four above, or a function
    seed : int
        The same seed gives the same history, bit for bit.
    noise : float
        Standard deviation of the Gaussian noise on each cost seen; the paper allows up to 1.

    Returns
    -------
    History
        With regret V*_1(s_1) - V_1^{μ^k, ν^k}(s_1), exact, V* the safe minimax value.  It is
        negative where the adversary lets the agent have more, and NaN in a game without feasible
        strategies.

    Examples
    --------
    >>> import safeteach as st
    >>> game = st.instances.penny_bridge()
    >>> learner = st.SafeNashVI(game.known, episodes=300, bonus_scale=0.01)
    >>> history = st.duel(learner, game, "best responder")
    >>> bool(history.regret[-1] < 0.2 * st.safe_optimal(game).value)
    True
    """
    best = safe_optimal(game).value if is_feasible(game) else np.nan
    totals = []
    for _k, episode, value in _face(learner, game, adversary, seed, noise):
        totals.append((episode.rewards.sum(), game.violation[episode.states[:-1]].sum(), value))
        learner.observe(episode)
    reward, violation, value = np.array(totals).T.copy()
    return History(reward, violation, best - value)


def face(
    learner: GameLearner,
    game: SafeGame,
    adversary: str | Adversary,
    seed: int = 0,
    noise: float = 1.0,
) -> Iterator[tuple[int, GameEpisode]]:
    """The episodes of :func:`duel` one by one, for whoever wants to look into the learner.

    Yields k = 0, 1, ... and the episode, when the learner has planned it and not yet observed.
    """
    for k, episode, _value in _face(learner, game, adversary, seed, noise):
        yield k, episode
        learner.observe(episode)


def _face(
    learner: GameLearner, game: SafeGame, adversary: str | Adversary, seed: int, noise: float
) -> Iterator[tuple[int, GameEpisode, float]]:
    """Each episode with V_1^{μ^k, ν^k}(s_1); observing it is left to the caller."""
    respond = _find(adversary)
    check_same_world(learner.known, game)  # type: ignore[arg-type]
    if not 0 <= noise < np.inf:
        raise ValueError(f"noise is {noise}; a standard deviation must be at least 0 and finite")
    if getattr(learner, "started", False):
        raise ValueError("this learner has run before; build a new one for a new run")
    learner.started = True  # type: ignore[attr-defined]
    moves, choices, replies, noises, ties = (
        np.random.default_rng(child) for child in np.random.SeedSequence(seed).spawn(5)
    )
    rows, r, H = game.all_rows(), np.ascontiguousarray(game.r), game.H
    for k in range(learner.episodes):
        mu = learner.plan(ties)
        if mu.shape != (H, game.S, game.A):
            mu = game.check_mu(mu)  # says what is wrong with it
        nu = np.asarray(respond(game, mu.copy(), learner.nu.copy()))  # not the learner's own
        if nu.shape != (H, game.S, game.B):
            nu = game.check_nu(nu)
        states, actions = np.empty(H + 1, np.int64), np.empty((2, H), np.int64)
        rewards, costs = np.empty(H), noise * noises.standard_normal(H)
        value = _episode(
            *rows, r, game.c, game.s1, mu, nu, moves.random(H), choices.random(H),
            replies.random(H), states, actions, rewards, costs,
        )  # fmt: skip
        if not value >= 0:
            game.check_mu(mu)
            game.check_nu(nu)
        yield k, GameEpisode(states, actions[0], actions[1], rewards, costs), value


def _find(adversary: str | Adversary) -> Adversary:
    if not isinstance(adversary, str):
        return adversary
    if adversary not in ADVERSARIES:
        names = ", ".join(f'"{name}"' for name in ADVERSARIES)
        raise ValueError(f"adversary is {adversary!r}; expected a function or one of {names}")
    return ADVERSARIES[adversary]


@compiled
def _respond(start: Any, length: Any, successor: Any, probability: Any, r: Any, mu: Any) -> Any:
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
                        i += h * S * A * B if len(start) == H * S * A * B else 0
                        q = r[h, s, a, b]
                        for j in range(start[i], start[i] + length[i]):
                            q += probability[j] * V_next[successor[j]]
                        total += mu[h, s, a] * q
                if total < least:
                    best, least = b, total
            nu[h, s, best] = 1.0
            V[s] = least
    return nu


@compiled
def _draw(probability: Any, uniform: float) -> int:
    """The index that a uniform number falls on, as :func:`safeteach.rollout` draws it."""
    total = 0.0
    for p in probability:
        total += p
    below = min(uniform * total, np.nextafter(total, 0.0))
    i = 0
    total = probability[0]
    while total <= below and i < len(probability) - 1:
        i += 1
        total += probability[i]
    return i


@compiled
def _episode(
    start: Any, length: Any, successor: Any, probability: Any, r: Any, c: Any, s1: int,
    mu: Any, nu: Any, move: Any, choice: Any, reply: Any,
    states: Any, actions: Any, rewards: Any, costs: Any,
) -> float:  # fmt: skip
    """Play one episode into the last four arrays; ``costs`` comes with the noise in it.

    Returns V_1^{μ, ν}(s_1), or NaN if a strategy's probabilities do not sum to 1.
    """
    H, S, A, B = r.shape
    per_step = S * A * B if len(start) == H * S * A * B else 0
    s = states[0] = s1
    for h in range(H):
        a, b = _draw(mu[h, s], choice[h]), _draw(nu[h, s], reply[h])
        actions[0, h], actions[1, h] = a, b
        rewards[h] = r[h, s, a, b]
        costs[h] += c[s]
        i = h * per_step + (s * A + a) * B + b
        row = probability[start[i] : start[i] + length[i]]
        s = states[h + 1] = successor[start[i] + _draw(row, move[h])]

    value = 0.0
    law, after = np.zeros(S), np.zeros(S)  # where the agent is at this step and at the next
    law[s1] = 1.0
    for h in range(H):
        after[:] = 0.0
        for s in range(S):
            if law[s] == 0:
                continue
            if not (abs(mu[h, s].sum() - 1) <= 1e-8 and abs(nu[h, s].sum() - 1) <= 1e-8):
                return np.nan  # also for NaN
            for a in range(A):
                for b in range(B):
                    weight = law[s] * mu[h, s, a] * nu[h, s, b]
                    if weight < 0:
                        return np.nan
                    if weight > 0:
                        value += weight * r[h, s, a, b]
                        i = h * per_step + (s * A + a) * B + b
                        for j in range(start[i], start[i] + length[i]):
                            after[successor[j]] += weight * probability[j]
        law, after = after, law
    return value
