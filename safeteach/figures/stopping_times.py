"""How many episodes exploration takes until the plans are good to ε, for many ε."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from safeteach.figures.chart import chart, legend_above
from safeteach.figures.described import BLUE, GREY, INK, PAPER, VERMILION, DescribedFigure

__all__ = ["stopping_times"]

SIZE = (5.7, 4.3)  # inches, with room for three lines of legend
GREEN = "#009e73"
STYLES = (  # colour, dashes, marker
    (INK, "solid", ""),
    (BLUE, (0, (5, 2)), ""),
    (VERMILION, (0, (1, 1.5)), ""),
    (GREEN, "solid", "o"),
    (BLUE, "solid", "s"),
    (GREY, (0, (7, 2, 1.5, 2)), ""),
)


def stopping_times(epsilons: ArrayLike, curves: Mapping[str, ArrayLike]) -> DescribedFigure:
    r"""Draw numbers of episodes against ε, both in logarithms.

    A number that falls as :math:`\varepsilon^{-2}` is a straight line of slope -2.

    Parameters
    ----------
    epsilons : (n,) increasing array
    curves : mapping from str to (n,) arrays
        One to six numbers of episodes for each ε; 0 and less have no place on the axis.

    Returns
    -------
    DescribedFigure

    Notes
    -----
    Taught in the chapter *The reward-free experiments*.

    Examples
    --------
    >>> from safeteach import figures
    >>> curves = {"bound": [4e6, 1e6], "measured": [4e4, 1e4]}
    >>> print(figures.stopping_times([0.5, 1.0], curves).alt)
    Episodes against ε from 0.5 to 1. bound: 4e+06 to 1e+06, slope -2.0.
    measured: 40,000 to 10,000, slope -2.0.
    """
    x = np.asarray(epsilons, float)
    if x.ndim != 1 or x.size < 2 or not (np.diff(x) > 0).all() or x[0] <= 0:
        raise ValueError("epsilons must be at least two increasing numbers above 0")
    if not 1 <= len(curves) <= len(STYLES):
        raise ValueError(f"{len(curves)} curves; one to {len(STYLES)} can be told apart")
    lines = {name: np.asarray(y, float) for name, y in curves.items()}
    said = []
    for name, y in lines.items():
        if y.shape != x.shape or not (y > 0).all():
            raise ValueError(f"the curve {name!r} must have {x.size} numbers above 0")
        slope = np.log(y[-1] / y[0]) / np.log(x[-1] / x[0])
        said.append(f"{name}: {_number(y[0])} to {_number(y[-1])}, slope {slope:.1f}.")
    figure = DescribedFigure(
        *SIZE, f"Episodes against ε from {x[0]:g} to {x[-1]:g}. {' '.join(said)}"
    )
    axes = chart(figure, "ε", "episodes")
    axes.set_position((0.135, 0.14, 0.83, 0.62))
    for (name, y), (color, dashes, marker) in zip(lines.items(), STYLES, strict=False):
        axes.plot(
            x, y, color=color, linestyle=dashes, linewidth=2.0, marker=marker, markersize=6,
            markeredgecolor=PAPER, label=name, gid=name,
        )  # fmt: skip
    axes.set(xscale="log", yscale="log", xlim=(x[0], x[-1]))
    axes.xaxis.set_major_formatter("{x:g}")
    ticks = [tick for tick in (0.1, 0.2, 0.5, 1, 2, 3, 5, 10) if x[0] <= tick <= x[-1]]
    axes.set_xticks(ticks)
    axes.set_xticks([], minor=True)
    legend_above(axes)
    return figure


def _number(y: float) -> str:
    return f"{y:,.0f}" if y < 10**6 else f"{y:.2g}"
