"""A train's way towards a curve: distance and speed, what is unsafe and what is doomed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from matplotlib.patheffects import withStroke
from numpy.typing import ArrayLike

from safeteach.figures.chart import chart
from safeteach.figures.described import (
    BLUE,
    FONT,
    INK,
    ORANGE,
    PALE_ORANGE,
    PAPER,
    TEXT,
    VERMILION,
    DescribedFigure,
    listing,
)
from safeteach.instances.railway import CURVE, LIMIT, SPEEDS, STRAIGHT, railway
from safeteach.safety import potentially_unsafe

__all__ = ["track"]

SIZE = (5.7, 3.7)  # inches
METRES = 250  # a block
EDGES = np.array([30, 42, 50.5, 66, 75, 83, 90.5, 97, 103, 109.0])  # between the speeds
HALO = [withStroke(linewidth=3, foreground=PAPER)]


def track(runs: Mapping[str, ArrayLike] | None = None, doomed: bool = False) -> DescribedFigure:
    """The straight track and the curve of :func:`safeteach.instances.railway`, block by speed.

    Parameters
    ----------
    runs : dict of (n,) int arrays, optional
        States that a train passes, by what is written at its line; one that is unsafe is dashed.
    doomed : bool
        Mark doomed states too.  A train is in block h at step h, so in block h those of U_h.

    Examples
    --------
    >>> from safeteach.classroom.drawing.track import track
    >>> track(doomed=True).alt[:144]
    'Speed against the distance to a curve for 50 mph. Unsafe: more than 50 mph in the curve. \
Doomed when a train is there: 106 mph or more 1500 m be'
    """
    line, runs = railway(), runs or {}
    shape = (STRAIGHT + CURVE, len(SPEEDS))
    unsafe = line.unsafe.reshape(shape)
    U = potentially_unsafe(line).reshape(-1, *shape)
    too_late = U[np.arange(len(U)), np.arange(len(U))] & ~unsafe & doomed
    figure = DescribedFigure(*SIZE, alt=_describe(runs, too_late))
    axes = chart(figure, "metres to the curve", "speed in mph")
    axes.set_position((0.125, 0.16, 0.855, 0.81))
    left = METRES * (np.arange(len(unsafe)) - STRAIGHT)
    for b, j in np.argwhere(unsafe | too_late):
        kind = "unsafe" if unsafe[b, j] else "doomed"
        cell = Rectangle((left[b], EDGES[j]), METRES, EDGES[j + 1] - EDGES[j])
        cell.set_gid(f"{kind}/{b}/{j}")
        if kind == "unsafe":
            cell.set(facecolor=VERMILION, edgecolor=PAPER, linewidth=0.8)
        else:
            cell.set(facecolor=PALE_ORANGE, edgecolor=ORANGE, linewidth=0.8, hatch="///")
        axes.add_patch(cell)
    axes.axvline(0, color=INK, linewidth=1.2)
    axes.plot([0, METRES * CURVE], [EDGES[2]] * 2, color=INK, linewidth=2.2)
    _say(axes, METRES * CURVE / 2, LIMIT - 3, f"limit {LIMIT}", INK, "center", "top")
    _say(axes, METRES * CURVE / 2, EDGES[-1] + 1, "curve", INK, "center", "bottom")
    for name, states in runs.items():
        block, speed = np.divmod(np.asarray(states), len(SPEEDS))
        x, y = left[block] + METRES / 2, np.asarray(SPEEDS)[speed]
        colour, dashes = (INK, (0, (5, 2))) if unsafe[block, speed].any() else (BLUE, "solid")
        axes.plot(x, y, color=colour, linewidth=2.2, linestyle=dashes, marker="o", markersize=4.5,
                  path_effects=HALO, gid=f"run/{name}")  # fmt: skip
        if colour == INK:
            _say(axes, -METRES / 2, EDGES[-1] + 1, name, colour, "right", "bottom")
        else:
            at = STRAIGHT * 2 // 3
            _say(axes, x[at] - METRES / 2, y[at] - 3, name, colour, "right", "top")
    axes.set(xlim=(left[0], METRES * CURVE), ylim=(EDGES[0], EDGES[-1] + 9))
    ticks = np.arange(-STRAIGHT, 1, 4) * METRES
    axes.set_xticks(ticks, [f"{-x:,}" for x in ticks])
    axes.set_yticks((*SPEEDS[1::2], SPEEDS[-1]))
    return figure


def _say(
    axes: Axes, x: float, y: float, text: str, colour: str,
    across: Literal["center", "right"], along: Literal["bottom", "top"],
) -> None:  # fmt: skip
    axes.text(x, y, text, color=colour, ha=across, va=along, fontsize=TEXT, fontfamily=FONT,
              path_effects=HALO)  # fmt: skip


def _describe(runs: Mapping[str, ArrayLike], too_late: ArrayLike) -> str:
    text = (
        f"Speed against the distance to a curve for {LIMIT} mph. "
        f"Unsafe: more than {LIMIT} mph in the curve."
    )
    columns = [
        f"{SPEEDS[row.argmax()]} mph or more {METRES * (STRAIGHT - b)} m before it"
        for b, row in enumerate(np.asarray(too_late))
        if row.any()
    ]
    if columns:
        text += f" Doomed when a train is there: {listing(columns, 400)}."
    for name, states in runs.items():
        speeds = np.asarray(SPEEDS)[np.asarray(states) % len(SPEEDS)]
        text += f" Run {name}: at most {speeds.max()} mph, in the curve {speeds[-1]}."
    return text
