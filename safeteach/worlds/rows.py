"""The transitions of one step as sparse rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Rows"]


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
