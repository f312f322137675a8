"""What figures with axes share: paper, letters, a legend above, and lines told apart by dashes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

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

__all__ = ["CHART", "chart", "draw_averages", "legend_above", "running_averages", "spread"]

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


def spread(
    places: Sequence[float],
    least: float,
    heights: Sequence[float] | None = None,
    top: float = np.inf,
) -> list[float]:
    """Move places apart, as little as that takes, until each two differ by ``least``.

    With heights, in units of ``least``, each place is the middle of something that high; nothing
    reaches above the top.

    >>> spread([1.0, 0.0, 0.1], least=0.5)
    [1.0, -0.2, 0.3]
    >>> spread([1.0, 1.0], least=0.5, heights=[1, 3])
    [0.5, 1.5]
    >>> spread([1.0, 2.0], least=0.5, top=1.5)
    [0.75, 1.25]
    """
    order = np.argsort(places, kind="stable")
    at = np.array(places, float)[order]
    high = np.ones(len(at)) if heights is None else np.array(heights, float)[order]
    room = least * (high[1:] + high[:-1]) / 2
    for _ in range(200):
        lack = room - np.diff(at)
        if (lack <= 1e-9).all():
            break
        at[:-1] -= np.maximum(lack, 0) / 2
        at[1:] += np.maximum(lack, 0) / 2
    for i in range(len(at) - 1, -1, -1):
        top -= least * high[i] / 2
        at[i] = top = min(at[i], top)
        top -= least * high[i] / 2
    found = np.empty(len(at))
    found[order] = at
    return [round(y, 9) for y in found.tolist()]
