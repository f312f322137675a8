"""The interactive figure of the chapter *Safe zero-sum games*: a matrix game to edit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import ipywidgets
import numpy as np

from safeteach.chapters.safe_zero_sum_games import figures
from safeteach.figures import DescribedFigure
from safeteach.widgets import Choice, Interactive, Slider, interactive

__all__ = ["matrix_game"]

ROWS, COLUMNS = ("left", "right", "ford"), ("guard left", "guard right")
MATRIX = ((0.0, 2.0), (4.0, 0.0), (3.0, 3.0))
NOTHING = -1  # the number of no row


@dataclass(frozen=True)
class _Entry:
    """A number to type in."""

    label: str
    start: float

    def live(self) -> ipywidgets.FloatText:
        return ipywidgets.FloatText(
            self.start,
            description=self.label,
            style={"description_width": "initial"},
            layout={"width": "16em"},
        )


@dataclass(frozen=True)
class _Ban:
    """A box to tick."""

    label: str
    start: bool

    def live(self) -> ipywidgets.Checkbox:
        return ipywidgets.Checkbox(
            self.start, description=self.label, indent=False, layout={"width": "8em"}
        )


class _Editor(Interactive):
    """In the page two entries and one ban move; with a kernel every entry and every ban does."""

    def live(self) -> ipywidgets.VBox:
        """The version for a kernel: a line of inputs for each row of the matrix."""
        controls: dict[str, Any] = {}
        for i, row in enumerate(ROWS):
            for j, column in enumerate(COLUMNS):
                controls[f"entry {i} {j}"] = _Entry(f"{row}, {column}", MATRIX[i][j])
            controls[f"ban {i}"] = _Ban(f"ban {row}", row == "ford")
        *inputs, shown = Interactive(_draw_all, controls, self.first, None).live().children
        per_row = len(COLUMNS) + 1
        lines = [inputs[i : i + per_row] for i in range(0, len(inputs), per_row)]
        wrap = {"flex_flow": "row wrap"}
        return ipywidgets.VBox([*(ipywidgets.HBox(line, layout=wrap) for line in lines), shown])


def matrix_game() -> Interactive:
    """Edit a matrix game and ban rows: both strategies and the value follow.

    Two bridges, left and right, with a guard who can be at one of them, and a ford.  In the page
    two entries and the banned row move; with a kernel every entry can be set and every row banned.

    Examples
    --------
    >>> import safeteach as st
    >>> from safeteach.chapters.safe_zero_sum_games import controls
    >>> widget = controls.matrix_game()
    >>> widget.figure(left=4, right=0, banned=2).alt.split(". ")[1]
    'Its value is 2'
    >>> widget.figure(left=4, right=0, banned=-1).alt.split(". ")[1]
    'Its value is 3'
    """
    made = interactive(
        _draw,
        left=Slider("left, guard right", (0, 1, 2, 4, 8), start=2),
        right=Slider("right, guard right", (0, 1, 4), start=0),
        banned=Choice("banned", {"none": NOTHING, **{r: i for i, r in enumerate(ROWS)}}, start=2),
    )
    return _Editor(made.figure, made.controls, made.first, made.page)


def _draw(left: float, right: float, banned: int) -> DescribedFigure:
    M = np.array(MATRIX)
    M[0, 1], M[1, 1] = left, right
    return figures.matrix_game(M, [banned] if banned != NOTHING else [], ROWS, COLUMNS)


def _draw_all(**setting: Any) -> DescribedFigure:
    M = [[setting[f"entry {i} {j}"] for j in range(len(COLUMNS))] for i in range(len(ROWS))]
    banned = [i for i in range(len(ROWS)) if setting[f"ban {i}"]]
    return figures.matrix_game(M, banned, ROWS, COLUMNS)
