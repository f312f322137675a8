"""What a reward-free learner promises after each episode, and what its plans can do wrong."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from safeteach.figures.chart import CHART, chart, legend_above
from safeteach.figures.described import BLUE, INK, PAPER, VERMILION, DescribedFigure

__all__ = ["guarantee"]

STYLES = (
    (INK, "solid", ""),
    (BLUE, (0, (5, 2)), "o"),
    (VERMILION, (0, (1, 1.5)), "s"),
    (INK, (0, (3, 1, 1, 1)), "^"),
)
LOWEST = 1e-6  # what is below is drawn here


def guarantee(
    episodes: ArrayLike, curves: Mapping[str, ArrayLike], level: float
) -> DescribedFigure:
    """Draw quantities that should lie one below the other, against the episodes, both in logs.

    Parameters
    ----------
    episodes : (n,) array
        Numbers of episodes, increasing.
    curves : mapping from str to (n,) arrays
        Up to four, what is said to be the largest first.
    level : float
        A line across, such as ε/2.

    Returns
    -------
    DescribedFigure

    Notes
    -----
    Taught in the chapter *Why the output is safe*.

    Examples
    --------
    >>> from safeteach import figures
    >>> print(figures.guarantee([10, 100], {"width": [2, 0.4], "violation": [0.2, 0.1]}, 0.5).alt)
    After 10 to 100 episodes: width from 2 to 0.4, violation from 0.2 to 0.1.
    The first is nowhere below another. A line across at 0.5.
    """
    k = np.asarray(episodes, float)
    lines = {name: np.asarray(values, float) for name, values in curves.items()}
    if not 1 <= len(lines) <= len(STYLES):
        raise ValueError(f"{len(lines)} curves; one to {len(STYLES)} can be told apart")
    for name, y in lines.items():
        if y.shape != k.shape:
            raise ValueError(f"the curve {name!r} has shape {y.shape}; expected {k.shape}")
    first = next(iter(lines.values()))
    crossed = any((y > first).any() for y in lines.values())
    said = ", ".join(f"{name} from {y[0]:.3g} to {y[-1]:.3g}" for name, y in lines.items())
    figure = DescribedFigure(
        *CHART,
        f"After {k[0]:,.0f} to {k[-1]:,.0f} episodes: {said}. The first is "
        f"{'somewhere' if crossed else 'nowhere'} below another. A line across at {level:g}.",
    )
    axes = chart(figure, "episodes $k$", "per episode")
    axes.set_position((0.155, 0.165, 0.795, 0.62))
    axes.axhline(
        level, color=INK, linewidth=0.8, linestyle=(0, (4, 3)), label=f"{level:g}", gid="level"
    )
    for (name, y), (color, dashes, mark) in zip(lines.items(), STYLES, strict=False):
        axes.plot(
            k, np.maximum(y, LOWEST),
            color=color, linestyle=dashes, linewidth=2.0, marker=mark, markersize=5,
            markeredgecolor=PAPER, label=name, gid=name,
        )  # fmt: skip
    axes.set(xscale="log", yscale="log", xlim=(k[0], k[-1]))
    axes.yaxis.set_major_formatter("{x:g}")
    legend_above(axes)
    return figure
