"""A matrix game: its payoffs, the rows that are banned, and how both sides mix."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.patches import Rectangle
from numpy.typing import ArrayLike, NDArray

from safeteach.figures.described import (
    BLUE,
    INK,
    LINE,
    ORANGE,
    PALE_ORANGE,
    PAPER,
    DescribedFigure,
    sheet,
    text_size,
    write,
)

if TYPE_CHECKING:
    from safeteach.planning.matrix_games import MatrixGame
from safeteach.classroom.drawing.board import board

__all__ = ["board", "matrix_game"]


CELL = (0.84, 0.5)
BAR, THICK = 0.8, 0.24  # inches of a bar for probability 1, and across it
NUMBER = 0.55  # room for a percentage beside a bar
MARGIN, CAPTION = 0.15, 0.62
MOST_ROWS, MOST_COLUMNS = 8, 5


def matrix_game(
    matrix: ArrayLike,
    banned: Collection[int] = (),
    rows: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
) -> DescribedFigure:
    """Draw a matrix game with its banned rows hatched and both optimal strategies as bars.

    The agent picks a row that is not banned, and its bars stand beside the rows.  The adversary
    picks a column, and its bars stand above the columns.  If every row is banned the agent has
    lost all choice that matters, and the whole matrix is played.

    Parameters
    ----------
    matrix : (m, n) array
        What the agent wins; at most 8 rows and 5 columns.
    banned : collection of int
        The numbers of the rows that the agent may not play, from 0.
    rows, columns : sequences of str, optional
        What to call them; numbers from 1 by default.

    Returns
    -------
    DescribedFigure

    Notes
    -----
    Line 10 of Algorithm 4 of the paper, with the banned rows left out.  Taught in the chapter
    *Safe zero-sum games*.

    Examples
    --------
    >>> import safeteach as st
    >>> from safeteach.chapters.safe_zero_sum_games import figures
    >>> print(figures.matrix_game([[0, 4], [4, 0], [3, 3]], banned=[2]).alt)
    A matrix game, row by row: row 1: 0, 4; row 2: 4, 0; row 3 (banned): 3, 3. Its value is 2. The
    agent plays row 1 50%, row 2 50%; the adversary plays column 1 50%, column 2 50%. By one row
    alone the agent is sure of 0.
    """
    M, out, free, solved = _solve(matrix, banned)
    m, n = M.shape
    names = (_names("rows", rows, m, "row"), _names("columns", columns, n, "column"))
    mu = np.zeros(m)
    mu[free] = solved.row
    wide = max([CELL[0], *(text_size(name)[0] + 0.16 for name in names[1])])
    aside = max(text_size(name)[0] for name in names[0]) + 0.12
    left = MARGIN + aside
    width = left + n * wide + 0.1 + BAR + NUMBER + MARGIN
    bottom = CAPTION
    top = bottom + m * CELL[1]
    figure, axes = sheet(width, top + 0.32 + BAR + 0.3, _describe(M, out, free, solved, names))

    for i in range(m):
        low = bottom + (m - 1 - i) * CELL[1]
        middle = low + CELL[1] / 2
        write(axes, (left - 0.1, middle), names[0][i], align="right")
        for j in range(n):
            cell = Rectangle((left + j * wide, low), wide, CELL[1])
            cell.set(facecolor=PAPER, edgecolor=LINE, linewidth=0.9, zorder=1)
            cell.set(gid=f"entry/{i},{j}/{'banned' if out[i] else 'free'}")
            if out[i]:
                cell.set(facecolor=PALE_ORANGE, edgecolor=ORANGE, hatch="////", hatch_linewidth=0.9)
            axes.add_artist(cell)
            halo = PALE_ORANGE if out[i] else None
            write(axes, (left + (j + 0.5) * wide, middle), _short(M[i, j]), halo=halo)
        start = left + n * wide + 0.1
        bar = Rectangle((start, middle - THICK / 2), BAR * mu[i], THICK)
        bar.set(facecolor=BLUE, edgecolor="none", zorder=2, gid=f"agent/{i}")
        axes.add_artist(bar)
        said = f"{100 * mu[i]:.0f}%" if free[i] else "banned"
        write(axes, (start + BAR * mu[i] + 0.06, middle), said, align="left")
    for j, chance in enumerate(solved.column):
        middle = left + (j + 0.5) * wide
        write(axes, (middle, top + 0.15), names[1][j])
        bar = Rectangle((middle - THICK / 2, top + 0.32), THICK, BAR * chance)
        bar.set(facecolor=INK, edgecolor="none", zorder=2, gid=f"adversary/{j}")
        axes.add_artist(bar)
        write(axes, (middle, top + 0.32 + BAR * chance + 0.13), f"{100 * chance:.0f}%")
    sure = _short(M[free].min(axis=1).max())
    lines = [f"value {_short(solved.value)}", f"sure of {sure} by one row alone"]
    if out.all():
        lines[1] = "every row is banned: all are played"
    for i, line in enumerate(lines):
        write(axes, (width / 2, CAPTION - 0.2 - 0.25 * i), line)
    return figure


def _solve(
    matrix: ArrayLike, banned: Collection[int]
) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], MatrixGame]:
    """The matrix, which rows are banned, which are played, and the solution over those."""
    from safeteach.planning.matrix_games import game_value  # compiled: loaded when first needed

    game_value(matrix)  # says what is wrong with it, if anything
    M = np.array(matrix, float)
    m, n = M.shape
    if m > MOST_ROWS or n > MOST_COLUMNS:
        raise ValueError(
            f"matrix has {m} rows and {n} columns; at most {MOST_ROWS} and {MOST_COLUMNS} are drawn"
        )
    bad = [i for i in banned if i not in range(m)]
    if bad:
        raise ValueError(f"banned has row {bad[0]}; the rows are 0..{m - 1}")
    out = np.isin(np.arange(m), list(banned))
    free = ~out | out.all()
    return M, out, free, game_value(M[free])


def _names(what: str, names: Sequence[str] | None, count: int, word: str) -> list[str]:
    if names is None:
        return [f"{word} {i + 1}" for i in range(count)]
    if len(names) != count:
        raise ValueError(f"{what} has {len(names)} names; the matrix has {count}")
    return list(names)


def _short(x: float) -> str:
    return f"{x + 0.0:.4g}"


def _describe(
    M: NDArray[np.float64],
    out: NDArray[np.bool_],
    free: NDArray[np.bool_],
    solved: MatrixGame,
    names: tuple[list[str], list[str]],
) -> str:
    def mix(chances: NDArray[np.float64], of: list[str]) -> str:
        pairs = zip(of, chances, strict=True)
        return ", ".join(f"{name} {100 * p:.0f}%" for name, p in pairs if p >= 0.005)

    entries = "; ".join(
        f"{name}{' (banned)' if no else ''}: {', '.join(map(_short, line))}"
        for name, no, line in zip(names[0], out, M, strict=True)
    )
    free_names = [name for name, ok in zip(names[0], free, strict=True) if ok]
    why = "Every row is banned, so all are played. " if out.all() else ""
    agent, adversary = mix(solved.row, free_names), mix(solved.column, names[1])
    return (
        f"A matrix game, row by row: {entries}. {why}Its value is {_short(solved.value)}. "
        f"The agent plays {agent}; the adversary plays {adversary}. "
        f"By one row alone the agent is sure of {_short(M[free].min(axis=1).max())}."
    )
