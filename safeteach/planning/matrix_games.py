r"""Matrix games: what a table of payoffs is worth when both sides choose at the same time.

The agent picks a row, the adversary a column, and the adversary pays the agent M[a, b].  With
mixed strategies the order of the two does not matter (von Neumann),

.. math:: v = \max_\mu \min_b \sum_a \mu(a) M(a, b) = \min_\nu \max_a \sum_b M(a, b) \nu(b),

and an optimal pair is found by a linear program.  The simplex method is quantecon's, compiled.
We scale every matrix to [1, 2] first, look for a saddle point in pure strategies, and check what
comes back by its *exploitability*, the gap between the two sides of the equation: what each side
could still gain against the other, added up.  Where a first choice of tolerances leaves more than
1e-10 of the matrix's range we try others and keep the best.

Taught in the chapter *Safe zero-sum games*.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from safeteach.arguments import real_array
from safeteach.extras import extra
from safeteach.kernels import compiled
from safeteach.records import Record

with extra("games"):
    from quantecon.optimize import minmax
    from quantecon.optimize.linprog_simplex import PivOptions

__all__ = ["MatrixGame", "game_value", "solve_games"]

# (feasibility, pivot) tolerances of the simplex method, in the order in which they are tried.
_FIRST = PivOptions(fea_tol=1e-12, tol_piv=1e-9, tol_ratio_diff=1e-13)
_SECOND = PivOptions(fea_tol=1e-10, tol_piv=1e-10, tol_ratio_diff=1e-13)
_THIRD = PivOptions(fea_tol=1e-13, tol_piv=1e-11, tol_ratio_diff=1e-14)
_MAX_PIVOTS = 10_000


@dataclass(frozen=True, eq=False, repr=False)
class MatrixGame(Record):
    """The solution of a matrix game.

    Attributes
    ----------
    value : float
        What the agent can be sure of, and the adversary can hold it to.
    row : (m,) array
        An optimal mixed strategy of the agent.
    column : (n,) array
        An optimal mixed strategy of the adversary.

    Examples
    --------
    >>> import safeteach as st
    >>> game = st.game_value([[3, 0], [0, 1]])
    >>> game.value, game.row, game.column
    (0.75, array([0.25, 0.75]), array([0.25, 0.75]))
    """

    value: float
    row: NDArray[np.float64]
    column: NDArray[np.float64]


def game_value(matrix: ArrayLike) -> MatrixGame:
    """The value of a matrix game and an optimal mixed strategy of each side.

    Parameters
    ----------
    matrix : (m, n) array
        What the row player wins from the column player.

    Examples
    --------
    Matching pennies: any row that is known in advance wins nothing.

    >>> import safeteach as st
    >>> st.game_value([[1, 0], [0, 1]])
    MatrixGame(value=0.5, row=array([0.5, 0.5]), column=array([0.5, 0.5]))
    """
    M = np.array(real_array(matrix, "matrix"), np.float64, order="C")  # compiled for this
    if M.ndim != 2 or M.size == 0:
        raise ValueError(f"matrix has shape {M.shape}; expected m rows and n columns, at least one")
    bad = np.argwhere(~np.isfinite(M))
    if bad.size:
        i, j = bad[0]
        raise ValueError(
            f"matrix[{i}, {j}] is {M[i, j]}; payoffs must be finite: leave a forbidden row out"
        )
    row, column = np.empty(len(M)), np.empty(M.shape[1])
    return MatrixGame(float(_solve(M, row, column)), row, column)


@compiled
def _solve(M: Any, row: Any, column: Any) -> float:
    """Fill in optimal strategies and return the value; ties go to the first row and column."""
    m, n = M.shape
    low, high = M.min(), M.max()
    row[:], column[:] = 0.0, 0.0
    least, most = np.empty(m), np.empty(n)  # of each row and each column
    for i in range(m):
        least[i] = M[i].min()
    for j in range(n):
        most[j] = M[:, j].max()
    half = high / 2 - low / 2  # half the range: the range itself may overflow
    # A saddle point, or a range too small to be halved: the first that each side finds is optimal.
    if least.max() == most.min() or half == 0:
        row[least.argmax()] = 1.0
        column[most.argmin()] = 1.0
        return least.max()
    scaled = (M / 2 - low / 2) / half + 1.0
    value, gap = 0.0, np.inf
    for options in (_FIRST, _SECOND, _THIRD):
        _, x, y = minmax(scaled, _MAX_PIVOTS, options)
        x, y = np.maximum(x, 0.0), np.maximum(y, 0.0)
        x, y = x / x.sum(), y / y.sum()
        sure, held = np.inf, -np.inf  # what each side can be sure of
        for j in range(n):
            sure = min(sure, (x * scaled[:, j]).sum())
        for i in range(m):
            held = max(held, (scaled[i] * y).sum())
        if held - sure < gap:  # False for NaN
            gap, value = held - sure, (held + sure) / 2
            row[:], column[:] = x, y
        if gap <= 1e-10:
            break
    return low + half * (value - 1.0) + half * (value - 1.0)


@compiled
def solve_games(Q: Any, todo: Any, allowed: Any, ties: Any, V: Any, mu: Any, nu: Any) -> None:
    """Solve the games of one step, one for each state, over the rows that are allowed.

    Parameters
    ----------
    Q : (S, A, B) array
        One matrix for each state.
    todo : (S,) bool array
        Which states to solve; in the others nothing is written.
    allowed : (S, A) bool array
        Rows that the agent may play, at least one for each state to solve.
    ties : (S, A + B) array
        Rows and columns are looked at in the order of these numbers, which decides ties.
    V, mu, nu : (S,), (S, A) and (S, B) arrays, filled in
        Values and strategies.
    """
    S, A, B = Q.shape
    for s in range(S):
        if not todo[s]:
            continue
        rows = np.argsort(ties[s, :A])
        rows = rows[allowed[s][rows]]
        columns = np.argsort(ties[s, A:])
        M = np.empty((len(rows), B))
        for i in range(len(rows)):
            for j in range(B):
                M[i, j] = Q[s, rows[i], columns[j]]
        row, column = np.empty(len(rows)), np.empty(B)
        V[s] = _solve(M, row, column)
        mu[s] = 0.0
        for i in range(len(rows)):
            mu[s, rows[i]] = row[i]
        for j in range(B):
            nu[s, columns[j]] = column[j]
