"""Running averages: how slowly dice find out what a policy is worth."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from safeteach.figures.chart import CHART, chart, draw_averages, legend_above, running_averages
from safeteach.figures.described import DescribedFigure

__all__ = ["averages"]


def averages(samples: Mapping[str, ArrayLike]) -> DescribedFigure:
    """Draw the average of the first n numbers of each sample against n.

    Parameters
    ----------
    samples : mapping from str to (N,) arrays
        One to three samples by their names, such as what policies earned in each episode.

    Returns
    -------
    DescribedFigure

    Notes
    -----
    Taught in the chapter *MDPs you can run*.

    Examples
    --------
    >>> from safeteach import figures
    >>> print(figures.averages({"coin": [1, 0, 0, 1]}).alt)
    Running averages over 4 episodes. coin: 1 after 1, 0.5 after 4.
    """
    running = running_averages(samples)
    figure = DescribedFigure(*CHART, _describe(running))
    axes = chart(figure, "episodes $n$", "average of the first $n$")
    draw_averages(axes, running)
    axes.set_xlim(0, max(mean.size for mean in running.values()) + 1)
    legend_above(axes)
    return figure


def _describe(running: Mapping[str, NDArray[np.float64]]) -> str:
    longest = max(mean.size for mean in running.values())
    said = []
    for name, mean in running.items():
        stops = sorted({1, max(1, mean.size // 10), mean.size})
        after = ", ".join(f"{mean[n - 1]:.3g} after {n}" for n in stops)
        said.append(f"{name}: {after}.")
    return f"Running averages over {longest} episodes. {' '.join(said)}"
