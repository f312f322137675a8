"""What a safe MDP and a safe game have in common: states, transitions, rewards, costs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from safeteach.worlds.reading import (
    frozen,
    read_costs,
    read_names,
    read_rewards,
    read_transitions,
    whole_number,
)
from safeteach.worlds.rows import Rows

__all__ = ["World"]

LARGEST_DENSE = 10**8


class World:
    """What a safe MDP and a safe game have in common: states, steps, costs and sparse rows.

    A row of transitions belongs to a state and the moves made in it, (s, a) in an MDP and
    (s, a, b) in a game; rows are numbered in that order.
    """

    S: int
    A: int
    r: NDArray[np.float64]

    def __init__(
        self,
        P: Any,
        r: ArrayLike,
        c: ArrayLike,
        tau: float,
        H: int,
        s1: int,
        letters: str,
        state_names: Sequence[str] | None,
    ) -> None:
        self.H = whole_number(H, "H", at_least=1)
        self._shape, self._steps = read_transitions(P, self.H, letters)
        self.S, self.A = self._shape[:2]
        self.stationary = len(self._steps) == 1
        self.r = read_rewards(r, self.H, self._shape, letters)
        self.c = read_costs(c, self.S)
        self.tau = float(tau)
        if not 0 <= self.tau <= 1:
            raise ValueError(f"tau is {tau}; the threshold must lie in [0, 1]")
        self.s1 = whole_number(s1, "s1", at_least=0)
        if self.s1 >= self.S:
            raise ValueError(f"s1 is {s1}; the states are 0..{self.S - 1}")
        self._state_names = read_names(state_names, "state_names", self.S)
        self.unsafe = frozen(self.c > self.tau)
        self.violation = frozen(np.maximum(self.c - self.tau, 0.0))

    def __repr__(self) -> str:
        n = int(self.unsafe.sum())
        kind = "stationary" if self.stationary else "step-dependent"
        sizes = ", ".join(f"{x}={n}" for x, n in zip("SAB", self._shape, strict=False))
        return (
            f"{type(self).__name__}({sizes}, H={self.H}, tau={self.tau:g}, "
            f"s1={self.s1}, {n} unsafe state{'' if n == 1 else 's'}, {kind})"
        )

    def rows(self, h: int) -> Rows:
        """The transitions of step ``h`` = 1..H as sparse rows."""
        self.check_step(h)
        return self._steps[0 if self.stationary else h - 1]

    def all_rows(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
        """The rows of all steps, one after the other, as the compiled kernels read them.

        Returns
        -------
        start, length : arrays, as long as one step has rows, or H times where P depends on it
            Row i is ``start[i] : start[i] + length[i]`` of the other two.  Unsigned, as long as
            that is enough: numba need not ask whether an index counts from the end.
        successor : uint32 array
        probability : array
        """
        return self._flat_rows

    @cached_property
    def _flat_rows(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
        room = np.cumsum([0, *(len(rows.successors) for rows in self._steps)])
        moved = [rows.indptr[:-1] + n for rows, n in zip(self._steps, room, strict=False)]
        index = np.uint32 if room[-1] < 2**32 else np.int64
        return (
            np.concatenate(moved).astype(index),
            np.concatenate([np.diff(rows.indptr) for rows in self._steps]).astype(index),
            np.concatenate([rows.successors for rows in self._steps]).astype(np.uint32),
            np.concatenate([rows.probability for rows in self._steps]),
        )

    def state_name(self, s: int) -> str:
        """What to call state ``s``: its given name, or its number."""
        return self._state_names[s] if self._state_names else str(s)

    @property
    def P(self) -> NDArray[np.float64]:
        """Transition probabilities, (H, S, A, S), or (H, S, A, B, S) of a game, if small enough."""
        return self._dense(np.float64, [rows.probability for rows in self._steps])

    def support(self) -> NDArray[np.bool_]:
        """Δ as a table of the same shape, bool: whether t can follow at step h; if small enough."""
        return self._dense(np.bool_, [True for _ in self._steps])

    def check_step(self, h: int) -> int:
        """``h`` if it is one of the steps 1..H, else an error that says so."""
        if not 1 <= h <= self.H:
            raise ValueError(f"h is {h}; the steps are 1..{self.H}")
        return h

    def check_state(self, s: int) -> int:
        """``s`` if it is one of the states 0..S-1, else an error that says so."""
        if not 0 <= s < self.S:
            raise ValueError(f"s is {s}; the states are 0..{self.S - 1}")
        return s

    def _row(self, h: int, *pair: int) -> NDArray[np.integer]:
        """The successors of one row, increasing."""
        rows, i = self.rows(h), int(np.ravel_multi_index(pair, self._shape))
        return rows.successors[rows.indptr[i] : rows.indptr[i + 1]]

    def _dense(self, dtype: Any, entries: Sequence[Any]) -> NDArray[Any]:
        pairs = math.prod(self._shape)
        size = len(self._steps) * pairs * self.S
        if size > LARGEST_DENSE:
            raise ValueError(
                f"a dense table of this world would hold {size:,} entries, more than "
                f"{LARGEST_DENSE:,}; use its rows(h) or successors(h, s, a)"
            )
        table = np.zeros((len(self._steps), pairs, self.S), dtype)
        for step, rows, entry in zip(table, self._steps, entries, strict=True):
            step[np.repeat(np.arange(pairs), np.diff(rows.indptr)), rows.successors] = entry
        table = table.reshape(-1, *self._shape, self.S)
        return frozen(np.broadcast_to(table, (self.H, *self._shape, self.S)))
