r"""What a learner has seen: successors with their counts, and costs.

The seen successors of a pair *are* the paper's :math:`\Delta_h^k(s, a)`, and their shares are
:math:`\hat P_h^k(t \mid s, a)`.  They stand one after the other in a pool, each pair's in a
stretch of its own, in the order in which they were first seen.  A stretch that is full moves to
the end of the pool and gets twice the room.  So a world with four successors a pair costs four
numbers a pair, whatever S is, and a pair that was never tried costs none.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from safeteach.arguments import check_fits
from safeteach.kernels import compiled
from safeteach.worlds.known import Episode, Known

__all__ = ["SeenCosts", "SeenTransitions"]

FIRST_ROOM = 4  # a stretch has room for 4, 8, 16, ... successors


class SeenTransitions:
    """Counts of transitions, per step, as sparse rows that grow.

    Row ``i = ((h-1)*S + s)*A + a`` belongs to (h, s, a).

    Attributes
    ----------
    reached : (H, S) bool array
        Whether the learner was ever in s at step h.
    visits : (H*S*A,) int array
        N_h(s, a).
    inverse_root : (H*S*A,) array
        1/√N_h(s, a), infinite where N = 0: every bonus is a multiple of it.
    span : (H*S*A, 2) uint32 array
        Row i is ``span[i, 0] : span[i, 1]`` of the pool.
    successor, count, share : (room,) arrays, the pool
        A seen successor t, N_h(s, a, t) and P̂_h(t | s, a).
    """

    def __init__(self, known: Known) -> None:
        self.shape = (known.H, known.S, known.A)
        # Its counts, and the rewards and values that a learner keeps beside them.
        check_fits((5, *self.shape), float, "what this learner keeps", "take fewer steps or states")
        rows = known.H * known.S * known.A
        self.reached = np.zeros(self.shape[:2], np.bool_)
        self.visits = np.zeros(rows, np.int64)
        self.inverse_root = np.full(rows, np.inf)
        self.span = np.zeros((rows, 2), np.uint32)
        self.successor = np.empty(FIRST_ROOM * known.H, np.uint32)
        self.count = np.empty(FIRST_ROOM * known.H, np.int64)
        self.share = np.empty(FIRST_ROOM * known.H, np.float64)
        self.used = 0

    def record(self, episode: Episode, costs: SeenCosts) -> None:
        """Count the H transitions of an episode, and take its costs in."""
        h = 0
        while True:
            h, self.used = _record(
                episode.states, episode.actions, episode.costs, h, self.shape[1], self.shape[2],
                self.reached, self.visits, self.inverse_root, self.span,
                self.successor, self.count, self.share, self.used,
                costs.N, costs.total, costs.mean,
            )  # fmt: skip
            if h == self.shape[0]:
                return
            for name in ("successor", "count", "share"):  # twice the pool, and go on from step h
                pool = getattr(self, name)
                setattr(self, name, np.concatenate([pool, np.empty_like(pool)]))

    @property
    def length(self) -> NDArray[np.int64]:
        """(H*S*A,) numbers of seen successors."""
        return self.span[:, 1].astype(np.int64) - self.span[:, 0]

    @property
    def N(self) -> NDArray[np.int64]:
        """(H, S, A) numbers of visits N_h(s, a)."""
        return self.visits.reshape(self.shape)

    def successors(self, h: int, s: int, a: int) -> NDArray[np.int64]:
        """Δ_h^k(s, a): the seen successors at step ``h`` = 1..H, increasing."""
        i = int(np.ravel_multi_index((h - 1, s, a), self.shape))
        seen = self.successor[slice(*self.span[i])]
        return np.sort(seen).astype(np.int64)

    @property
    def P_hat(self) -> NDArray[np.float64]:
        """(H, S, A, S) shares P̂_h(t | s, a), zero where nothing was tried; for small worlds."""
        rows = np.repeat(np.arange(self.visits.size), self.length)
        places = self.pool_places()
        table = np.zeros((self.visits.size, self.shape[1]))
        table[rows, self.successor[places]] = self.share[places]
        return table.reshape(*self.shape, self.shape[1])

    def touches(self, U: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """(H, S, A) bool: whether Δ_h^k(s, a) meets U_{h+1}, of U (H, S); not at the last step."""
        rows = np.repeat(np.arange(self.visits.size), self.length)
        step = rows // (self.shape[1] * self.shape[2])
        before_the_last = step < self.shape[0] - 1
        rows, step = rows[before_the_last], step[before_the_last]
        seen = self.successor[self.pool_places()][before_the_last]
        touched = np.zeros(self.visits.size, np.bool_)
        np.logical_or.at(touched, rows, U[step + 1, seen])
        return touched.reshape(self.shape)

    def pool_places(self) -> NDArray[np.int64]:
        """Where the seen successors of row 0, 1, ... stand in the pool."""
        length = self.length
        first = np.cumsum(length) - length
        return np.arange(length.sum()) + np.repeat(self.span[:, 0] - first, length)


class SeenCosts:
    """Averages of the costs seen in each state, pooled over steps; transitions record them too.

    Attributes
    ----------
    N : (S,) int array
        Visits.
    mean : (S,) array
        ĉ(s), 0 where nothing was seen.
    """

    def __init__(self, known: Known) -> None:
        self.N = np.zeros(known.S, np.int64)
        self.mean = np.zeros(known.S)
        self.total = np.zeros(known.S)


@compiled
def _record(
    states: Any, actions: Any, costs: Any, h: int, S: int, A: int, reached: Any, visits: Any,
    inverse_root: Any, span: Any, successor: Any, count: Any, share: Any, used: int,
    N: Any, total: Any, mean: Any,
) -> tuple[int, int]:  # fmt: skip
    """Count from step index h on; stop where the pool is full.  The step reached, the room used."""
    for step in range(h, len(actions)):
        s = states[step]
        i = np.uint64((step * S + s) * A + actions[step])
        first: Any = np.int64(span[i, 0])
        n: Any = np.int64(span[i, 1]) - first
        full = n == 0 or (n >= FIRST_ROOM and n & (n - 1) == 0)
        room = max(FIRST_ROOM, 2 * n)
        place = -1
        for j in range(first, first + n):
            if successor[j] == states[step + 1]:
                place = j
        if place < 0:
            if full and used + room > len(successor):
                return step, used
            if full:
                for j in range(n):
                    successor[used + j] = successor[first + j]
                    count[used + j] = count[first + j]
                span[i, 0] = first = used
                used += room
            place = first + n
            successor[place] = states[step + 1]
            count[place] = 0
            n += 1
            span[i, 1] = first + n
        reached[step, s] = True
        visits[i] += 1
        count[place] += 1
        inverse_root[i] = 1 / np.sqrt(visits[i])
        for j in range(first, first + n):
            share[j] = count[j] / visits[i]
        N[s] += 1
        total[s] += costs[step]
        mean[s] = total[s] / N[s]
    return len(actions), used

