"""The transitions of one step as sparse rows.

Taught in *Bring a world*.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray

__all__ = ["Rows", "ranges"]

MANY = 10**5  # transitions; numpy is through with fewer before numba is imported


@dataclass(frozen=True)
class Rows:
    """The transitions of one step as sparse rows; row ``s*A + a`` belongs to the pair (s, a).

    In a game row ``(s*A + a)*B + b`` belongs to (s, a, b).

    Parameters
    ----------
    indptr : (S*A + 1,) int array
        Row i is the slice ``indptr[i]:indptr[i+1]`` of the other two arrays.
    successors : (n,) int array
        The states of Δ_h(s, a), in increasing order within a row.
    probability : (n,) float array
        P_h(t | s, a) > 0 for each of them.

    Examples
    --------
    >>> import safeteach as st
    >>> mdp = st.instances.ice_corridor()
    >>> rows, i = mdp.rows(1), 0 * mdp.A + 3                 # state 0, action 3
    >>> rows.successors[rows.indptr[i] : rows.indptr[i + 1]]
    array([1])
    """

    indptr: NDArray[np.integer]
    successors: NDArray[np.integer]
    probability: NDArray[np.float64]

    def expect(self, V: NDArray[np.float64]) -> NDArray[np.float64]:
        """The expectation Σ_t P(t | s, a) V(t) of every row, (S*A,) or (S*A, k) for V (S, k)."""
        weight = self.probability if V.ndim == 1 else self.probability[:, None]
        return np.add.reduceat(weight * V[self.successors], self.indptr[:-1], axis=0)

    def touches(self, states: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Whether Δ(s, a) meets a set of states, (S*A,) bool, for ``states`` (S,) bool."""
        return np.logical_or.reduceat(states[self.successors], self.indptr[:-1])

    def largest(self, x: NDArray[np.int64]) -> NDArray[np.int64]:
        """The largest x(t) in Δ(s, a), (S*A,), for ``x`` (S,)."""
        return np.maximum.reduceat(x[self.successors], self.indptr[:-1])

    def take(self, which: NDArray[np.int64]) -> Rows:
        """Some of the rows, in the order asked for."""
        start = self.indptr[which].astype(np.int64)
        length = self.indptr[which + 1] - start
        places = ranges(start, length)
        indptr = np.concatenate([[0], np.cumsum(length)])
        return Rows(indptr, self.successors[places], self.probability[places])

    def pay_for_numba(self) -> bool:
        """Whether numba is there, and the rows are so many that importing it pays."""
        return len(self.successors) >= MANY and find_spec("numba") is not None


def ranges(start: NDArray[np.int64], length: NDArray[np.int64]) -> NDArray[np.int64]:
    """``start[i], start[i] + 1, ...``, as many as ``length[i]``, for one i after the other.

    >>> ranges(np.array([7, 0]), np.array([2, 3]))
    array([7, 8, 0, 1, 2])
    """
    end = np.cumsum(length)
    return np.repeat(start - end + length, length) + np.arange(end[-1])
