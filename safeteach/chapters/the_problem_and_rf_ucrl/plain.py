"""RF-UCRL in plain Python, as the chapter *The problem and RF-UCRL* builds it.

Memory and walking are those of SUCBVI.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safeteach import bounds
from safeteach.chapters.the_algorithm.plain import Memory, remember, walk
from safeteach.worlds.known import Known
from safeteach.worlds.mdp import SafeMDP

__all__ = ["by_hand", "look", "uncertainty"]

Array = NDArray[Any]


def uncertainty(
    seen: Memory, known: Known, E_next: Array,
    scale: float, delta: float, h: int, s: int, a: int,
) -> float:
    """How wrong the value of a policy through this pair can be, for any reward."""
    cap = known.H - h + 1
    after = seen.after.get((h, s, a))
    if not after:
        return float(cap)
    n, future = after.total(), 0.0
    for t, m in after.items():
        future += m / n * max(E_next[t])
    width = math.sqrt(bounds.gamma(n, known.S, known.A, known.H, delta) / n)
    return min(cap, cap * (scale * known.H * width / known.H) + future)


def look(
    seen: Memory, known: Known, scale: float, delta: float, ties: Array
) -> tuple[Array, Array]:
    """E and the policy that goes where it is largest."""
    H, S, A = known.H, known.S, known.A
    E, policy = np.zeros((H + 1, S, A)), np.empty((H, S), int)
    for h in range(H, 0, -1):
        for s in range(S):
            e = [uncertainty(seen, known, E[h], scale, delta, h, s, a)
                 for a in range(A)]
            most = [a for a in range(A) if e[a] == max(e)]
            policy[h - 1, s] = most[int(ties[h - 1, s] * len(most))]
            E[h - 1, s] = e
    return E[:H], policy


def by_hand(
    mdp: SafeMDP, seed: int, scale: float = 1.0, delta: float = 0.1
) -> Iterator[SimpleNamespace]:
    """Yield each episode with the E it was planned with, then remember it."""
    known, seen, P = mdp.known, Memory(), mdp.P
    streams = np.random.SeedSequence(seed).spawn(4)
    moves, _, _, ties = map(np.random.default_rng, streams)
    while True:
        coins = ties.random((known.H, known.S))
        E, policy = look(seen, known, scale, delta, coins)
        no_noise = np.zeros(known.H)  # nobody reads the costs
        episode = walk(mdp, P, policy, moves.random(known.H), no_noise)
        yield SimpleNamespace(E=E, policy=policy, episode=episode)
        remember(seen, episode)
