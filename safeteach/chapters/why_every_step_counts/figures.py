"""The pictures of the chapter *Why every step counts*."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke
from numpy.typing import ArrayLike

from safeteach.classroom.drawing.steps import ledgers
from safeteach.classroom.drawing.track import track
from safeteach.figures.chart import chart
from safeteach.figures.described import (
    BLUE,
    FONT,
    INK,
    PALE_BLUE,
    PAPER,
    TEXT,
    VERMILION,
    DescribedFigure,
    listing,
)

__all__ = ["drives", "ledgers", "track"]

HALO = [withStroke(linewidth=3, foreground=PAPER)]


def drives(
    mornings: Mapping[str, ArrayLike], tau: float, place: tuple[int, str]
) -> DescribedFigure:
    """The cost of each step of two episodes, one above the other, with the excess hatched.

    Parameters
    ----------
    mornings : dict of two (H,) arrays
        c(s_1) .. c(s_H), by what is written above the bars.
    tau : float
        Threshold.
    place : (int, str)
        A step and what is written at it.

    Examples
    --------
    >>> from safeteach.chapters.why_every_step_counts.figures import drives
    >>> drives({"fast": [0.1, 0.9], "slow": [0.1, 0.2]}, tau=0.5, place=(2, "school")).alt
    'Costs of 2 steps against the threshold 0.5, step 2 is the school. fast: above it step 2 \
(0.9), mean cost 0.5. slow: above it none, mean cost 0.15.'
    """
    costs = {name: np.asarray(c, float) for name, c in mornings.items()}
    step, word = place
    said = []
    for name, c in costs.items():
        above = listing([f"step {i + 1} ({c[i]:.3g})" for i in np.flatnonzero(c > tau)])
        said.append(f" {name}: above it {above}, mean cost {c.mean():.3g}.")
    H = max(map(len, costs.values()))
    figure = DescribedFigure(
        5.7, 4.6,
        alt=f"Costs of {H} steps against the threshold {tau:.3g}, step {step} is the {word}."
        + "".join(said),
    )  # fmt: skip
    for row, (name, c) in enumerate(costs.items()):
        axes = chart(figure, "step $h$" if row else "", "cost")
        axes.set_position((0.125, 0.565 - 0.43 * row, 0.765, 0.375))
        axes.tick_params(labelbottom=row > 0)
        h, excess = np.arange(1, len(c) + 1), np.maximum(c - tau, 0)
        axes.bar(h, np.minimum(c, tau), color=PALE_BLUE, edgecolor=BLUE, linewidth=1.2)
        axes.bar(h[excess > 0], excess[excess > 0], bottom=tau, color=VERMILION, edgecolor=INK,
                 linewidth=1.2, hatch="xx")  # fmt: skip
        axes.axhline(tau, color=INK, linewidth=1.6)
        axes.axhline(c.mean(), color=BLUE, linewidth=1.6, linestyle=(0, (5, 2)))
        right = len(c) + 0.75
        _say(axes, 0.6, 1.1, name, INK, "left", "top")
        _say(axes, right, tau, "$\\tau$", INK, "left", "center")
        _say(axes, right, c.mean(), "mean", BLUE, "left", "top")
        _say(axes, step, max(c[step - 1], tau) + 0.04, word, INK, "center", "bottom")
        axes.set(xlim=(0.4, len(c) + 0.6), ylim=(0, 1.15), xticks=h, yticks=(0, 0.5, 1))
    return figure


def _say(
    axes: Axes, x: float, y: float, text: str, colour: str,
    across: Literal["left", "center"], along: Literal["bottom", "center", "top"],
) -> None:  # fmt: skip
    axes.text(x, y, text, color=colour, ha=across, va=along, fontsize=TEXT, fontfamily=FONT,
              path_effects=HALO)  # fmt: skip
