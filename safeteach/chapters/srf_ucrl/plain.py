"""SRF-UCRL in plain Python, close to the lines of Algorithm 2: what differs from SUCBVI.

The chapter *SRF-UCRL* shows it, and tests compare the library's learner with it.  Memory, flags,
spreading and walking are those of SUCBVI.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from safeteach.chapters.the_algorithm.plain import (
    Memory,
    Sets,
    doomed,
    flags,
    looks_safe,
    remember,
    walk,
)
from safeteach.worlds.known import Known
from safeteach.worlds.mdp import SafeMDP

__all__ = ["bonus_table", "by_hand", "doubt", "plan_by_hand"]

Array = NDArray[Any]
Actions = Literal["safe", "all"]


def doubt(
    seen: Memory, known: Known, U: Sets, M: list[float], ties: Array,
    look_at: Actions = "safe",
) -> tuple[Array, Array]:
    """W̄ (H, S, A) and the policy (H, S) that goes where it is largest."""
    H, S, A = known.H, known.S, known.A
    W, policy = np.full((H, S, A), float(H)), np.empty((H, S), int)
    over_safe, over_all = [0.0] * S, [0.0] * S
    for h in range(H, 0, -1):
        safe = [looks_safe(seen, known, U, h, s) for s in range(S)]
        for s, a in itertools.product(range(S), range(A)):
            after = seen.after.get((h, s, a))
            if not after:
                continue  # never tried: W̄ stays at H
            safe_pair = s not in U[h] and a in safe[s]
            most = over_safe if safe_pair and look_at == "safe" else over_all
            n, future = after.total(), 0.0
            for t, m in after.items():
                future += m / n * most[t]
            W[h - 1, s, a] = min(H, M[n] + future)
        allowed = [safe[s] or range(A) for s in range(S)]  # Algorithm 2's mask
        over_safe = [max(W[h - 1, s, a] for a in allowed[s]) for s in range(S)]
        over_all = W[h - 1].max(axis=1).tolist()
        for s in range(S):
            best = [a for a in allowed[s] if W[h - 1, s, a] == over_safe[s]]
            policy[h - 1, s] = best[int(ties[h - 1, s] * len(best))]
    return W, policy


def bonus_table(
    known: Known, delta: float, scale: float, most: int
) -> list[float]:
    """M(0), M(1), .., M(most), scaled; M(0) is infinite."""
    S, A, H = known.S, known.A, known.H
    n = np.arange(1, most + 1, dtype=float)
    rows = (S - 1) * np.log(math.e * (1 + n / (S - 1)))
    gamma = 2 * (math.log(2 * S * A * H / delta) + rows)
    M = 2 * H * np.sqrt(2 * gamma / n) + S * H * np.sqrt(gamma / n) ** 2
    return [math.inf, *(H * (scale * M / H)).tolist()]


def by_hand(
    mdp: SafeMDP, episodes: int, seed: int, scale: float, delta: float = 0.1,
    epsilon: float = 0.0, look_at: Actions = "safe", noise: float = 1.0,
) -> Iterator[SimpleNamespace]:
    """Yield what was planned, the memory behind it and the episode."""
    known, seen, P = mdp.known, Memory(), mdp.P
    M = bonus_table(known, delta, scale, episodes)
    streams = np.random.SeedSequence(seed).spawn(4)
    moves, _, noises, ties = map(np.random.default_rng, streams)
    for _ in range(episodes):
        U = doomed(seen, known, flags(seen, known, delta))
        coins = ties.random((known.H, known.S))
        W, policy = doubt(seen, known, U, M, coins, look_at)
        width = W[0, known.s1, policy[0, known.s1]]
        if width <= epsilon / 2:
            return
        luck = moves.random(known.H), noise * noises.standard_normal(known.H)
        episode = walk(mdp, P, policy, *luck)
        yield SimpleNamespace(
            seen=seen, U=U, W=W, policy=policy, width=width, episode=episode
        )
        remember(seen, episode)


def plan_by_hand(seen: Memory, known: Known, U: Sets, r: Array) -> Array:
    """The value of the best plan at each step and state, (H + 1, S)."""
    H, S, A = known.H, known.S, known.A
    V = np.zeros((H + 1, S))
    for h, s in itertools.product(range(H, 0, -1), range(S)):
        for a in looks_safe(seen, known, U, h, s) or range(A):
            after = seen.after.get((h, s, a))
            if after:  # what was never tried is worth 0
                q = float(r[h - 1, s, a])
                for t, m in after.items():
                    q += m / after.total() * V[h, t]
                V[h - 1, s] = max(V[h - 1, s], q)
    return V
