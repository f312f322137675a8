"""What learners may have seen in small worlds, and what follows from it, as arrays.

For the checkers of exercises in which the reader writes a part of a learner.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safeteach.classroom.checking.worlds import random_world, small_worlds
from safeteach.worlds.mdp import SafeMDP

__all__ = ["Flags", "doomed", "largest", "looks_safe", "memories", "random_memory"]

Flags = NDArray[np.bool_]


def looks_safe(U: Flags, seen: Flags) -> Flags:
    """(H, S, A) bool: whether no seen successor is in U_{h+1}; always at the last step."""
    safe = np.ones(seen.shape[:3], np.bool_)
    safe[:-1] = ~(seen[:-1] & U[1:, None, None]).any(axis=3)
    return safe


def doomed(flagged: Flags, seen: Flags) -> Flags:
    """(H, S) bool: U_1^k .. U_H^k, of the flagged states and the seen successors."""
    U = np.tile(flagged, (len(seen), 1))
    for h in range(len(seen) - 1, 0, -1):
        U[h - 1] |= ~looks_safe(U, seen)[h - 1].any(axis=1)
    return U


def memories(seed: int) -> Iterator[tuple[SafeMDP, dict[str, Any]]]:
    """Yield small worlds and what may have been seen there: nothing, all, or a part of it.

    >>> mdp, memory = next(memories(seed=0))
    >>> list(memory)
    ['flagged', 'seen', 'counts', 'r']
    """
    for k, mdp in enumerate(small_worlds()):
        yield mdp, _memory_of(mdp, k, np.random.default_rng(seed + k))


def random_memory(k: int, rng: np.random.Generator) -> tuple[SafeMDP, dict[str, Any]]:
    """A random world of size k = 0 .. 59, and what may have been seen there."""
    mdp = random_world(k, rng)
    return mdp, _memory_of(mdp, k, rng)


def _memory_of(mdp: SafeMDP, k: int, rng: np.random.Generator) -> dict[str, Any]:
    share = (0.0, 1.0, 0.7, 0.4)[k % 4]
    seen = mdp.support() & (rng.random((mdp.H, mdp.S, mdp.A, mdp.S)) < share)
    counts = np.where(seen, rng.integers(1, 50, size=seen.shape), 0)
    flagged = mdp.unsafe & (rng.random(mdp.S) < 0.8)
    r = rng.integers(11, size=(mdp.H, mdp.S, mdp.A)) / 10
    return {"flagged": flagged, "seen": seen, "counts": counts, "r": r}


def largest(holds: Callable[[int], bool]) -> int:
    """The largest n >= 1 with ``holds(n)``, 0 if there is none; it holds up to some n.

    >>> largest(lambda n: n * n < 50), largest(lambda n: n < 1)
    (7, 0)
    """
    low, high = 0, 1
    while holds(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low
