"""What figures with axes share: paper, letters, a legend above, and lines told apart by dashes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike, NDArray

from safeteach.figures.described import (
    BLUE,
    FONT,
    INK,
    PAPER,
    TEXT,
    VERMILION,
    DescribedFigure,
)

__all__ = ["CHART", "chart", "draw_averages", "legend_above", "running_averages"]

CHART = (5.7, 3.5)  # inches; narrow enough for its letters to be read on a phone
STYLES = ((BLUE, "solid"), (VERMILION, (0, (5, 2))), (INK, (0, (1, 1.5))))


def chart(figure: DescribedFigure, x: str, y: str) -> Axes:
    """Axes with labels, in the figure's middle; there is room for a legend above them."""
    axes = figure.add_axes((0.125, 0.165, 0.845, 0.62), facecolor=PAPER)
    axes.set_xlabel(x, fontsize=TEXT, fontfamily=FONT, color=INK)
    axes.set_ylabel(y, fontsize=TEXT, fontfamily=FONT, color=INK)
    axes.tick_params(labelsize=TEXT, colors=INK)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.spines[["top", "right"]].set_visible(False)
    return axes


def legend_above(axes: Axes, columns: int = 2) -> None:
    """Write the legend of the labelled lines and bars above the axes, long names one a line."""
    axes.legend(
        loc="lower center",
        bbox_to_anchor=(0.5, 1.0),
        ncols=columns,
        frameon=False,
        prop={"family": FONT, "size": TEXT},
        handlelength=1.8,
        columnspacing=1.4,
    )


def running_averages(samples: Mapping[str, ArrayLike]) -> dict[str, NDArray[np.float64]]:
    """The average of the first n numbers of each sample, for n = 1 .. N.

    Examples
    --------
    >>> running_averages({"coin": [1, 0, 0, 1]})["coin"].round(2).tolist()
    [1.0, 0.5, 0.33, 0.5]
    """
    if not 1 <= len(samples) <= len(STYLES):
        raise ValueError(f"{len(samples)} samples; one to {len(STYLES)} can be told apart")
    running = {}
    for name, sample in samples.items():
        x = np.asarray(sample, float)
        if x.ndim != 1 or not x.size:
            raise ValueError(f"the sample {name!r} has shape {x.shape}; expected (N,)")
        running[name] = x.cumsum() / np.arange(1, x.size + 1)
    return running


def draw_averages(axes: Axes, running: Mapping[str, NDArray[np.float64]]) -> None:
    """Draw running averages against n, each with its own colour and dashes."""
    for (name, mean), (color, dashes) in zip(running.items(), STYLES, strict=False):
        n = np.arange(1, mean.size + 1)
        axes.plot(n, mean, color=color, linewidth=2.0, linestyle=dashes, label=name, gid=name)
