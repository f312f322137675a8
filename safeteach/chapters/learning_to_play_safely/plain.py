"""SafeNashVI in plain Python, Algorithms 3 and 4 repaired: what differs from SUCBVI.

The chapter *Learning to play safely* shows it, and tests compare the library's learner with it.
Memory, flags, spreading and optimistic values are those of SUCBVI.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safeteach.chapters.the_algorithm.plain import (
    Memory,
    Sets,
    alpha_of_one_visit,
    doomed,
    flags,
    optimistic_Q,
)
from safeteach.worlds.games import SafeGame
from safeteach.worlds.known import Episode, Known

__all__ = ["by_hand", "draw", "looks_safe", "make_plan", "remember", "walk"]

Array = NDArray[Any]
Solver = Callable[[Array], Any]  # a matrix: its value, an optimal row and an optimal column
Adversary = Callable[[SafeGame, Array, Array], Array]


def remember(seen: Memory, episode: Episode) -> None:
    """Count what followed on each action and reply, and each cost."""
    s, a = episode.states.tolist(), episode.actions.tolist()
    b = np.array(episode.replies).tolist()
    for h, cost in enumerate(episode.costs.tolist(), start=1):
        seen.after[h, s[h - 1], a[h - 1], b[h - 1]][s[h]] += 1
        seen.visits[s[h - 1]] += 1
        seen.paid[s[h - 1]] += cost


def looks_safe(seen: Memory, known: Known, U: Sets, h: int, s: int) -> list[int]:
    """The actions to which no reply was seen to lead into U_{h+1}."""
    if h == known.H:
        return list(range(known.A))
    return [
        a for a in range(known.A)
        if all(U[h + 1].isdisjoint(seen.after.get((h, s, a, b), ()))
               for b in range(known.B))
    ]


def make_plan(
    seen: Memory, known: Known, U: Sets, alpha: float, ties: Array, solve: Solver
) -> tuple[Array, Array, Array, Array]:
    """Q, V and two strategies: a matrix game in each state that was reached."""
    H, S, A, B = known.H, known.S, known.A, known.B
    Q, V = np.full((H, S, A, B), float(H)), np.full((H + 1, S), float(H))
    V[H] = 0
    mu, nu = np.full((H, S, A), 1 / A), np.full((H, S, B), 1 / B)
    reached = {(h, s) for h, s, _, _ in seen.after}
    for h in range(H, 0, -1):
        V_next = V[h].tolist()
        for s in (s for s in range(S) if (h, s) in reached):
            for a, b in np.ndindex(A, B):
                q = optimistic_Q(seen, known, alpha, V_next, h, s, a, b)
                Q[h - 1, s, a, b] = q
            allowed = [] if s in U[h] else looks_safe(seen, known, U, h, s)
            allowed = allowed or list(range(A))  # in U_h^k the mask is lifted
            rows = sorted(allowed, key=lambda a: ties[h - 1, s, a])
            columns = sorted(range(B), key=lambda b: ties[h - 1, s, A + b])
            solved = solve(Q[h - 1, s][np.ix_(rows, columns)])
            V[h - 1, s], mu[h - 1, s] = solved.value, 0
            mu[h - 1, s, rows] = solved.row
            nu[h - 1, s, columns] = solved.column
    return Q, V, mu, nu


def draw(row: Array, uniform: float) -> int:
    """Where a uniform number falls."""
    return int(np.searchsorted(row.cumsum(), uniform * row.sum(), side="right"))


def walk(
    game: SafeGame, P: Array, mu: Array, nu: Array,
    moves: Array, choices: Array, replies: Array, noise: Array,
) -> Episode:
    """Live through one episode, with given luck."""
    s, a, b = [game.s1], [], []
    for i in range(game.H):
        a.append(draw(mu[i, s[-1]], choices[i]))
        b.append(draw(nu[i, s[-1]], replies[i]))
        s.append(draw(P[i, s[-1], a[-1], b[-1]], moves[i]))
    return Episode(
        states=np.array(s), actions=np.array(a), replies=np.array(b),
        rewards=game.r[np.arange(game.H), s[:-1], a, b],
        costs=game.c[s[:-1]] + noise,
    )


def by_hand(
    game: SafeGame, episodes: int, adversary: Adversary, seed: int, solve: Solver,
    delta: float = 0.005, scale: float = 0.003,
) -> Iterator[SimpleNamespace]:
    """Yield each episode with what was planned for it, then remember it."""
    known, seen, P = game.known, Memory(), game.P
    S, A, B, H = known.S, known.A, known.B, known.H
    alpha = alpha_of_one_visit(known, episodes, delta, scale)
    streams = np.random.SeedSequence(seed).spawn(5)
    moves, choices, replies, noises, ties = map(np.random.default_rng, streams)
    for _ in range(episodes):
        U = doomed(seen, known, flags(seen, known, delta), looks_safe)
        coins = ties.random((H, S, A + B))
        Q, V, mu, nu = make_plan(seen, known, U, alpha, coins, solve)
        luck = moves.random(H), choices.random(H), replies.random(H)
        noise = noises.standard_normal(H)
        episode = walk(game, P, mu, adversary(game, mu, nu), *luck, noise)
        yield SimpleNamespace(
            seen=seen, U=U, Q=Q, V=V, mu=mu, nu=nu, episode=episode
        )
        remember(seen, episode)
