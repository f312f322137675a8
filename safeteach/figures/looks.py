"""Noisy looks at a few states: how their averages find their side of the threshold."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.patheffects import withStroke
from numpy.typing import ArrayLike, NDArray

from safeteach.figures.chart import CHART, chart, draw_averages, legend_above, running_averages
from safeteach.figures.described import FONT, INK, PAPER, TEXT, DescribedFigure

__all__ = ["looks"]


def looks(samples: Mapping[str, ArrayLike], tau: float) -> DescribedFigure:
    r"""Draw the average of the first n looks at each state against n, with the threshold.

    The axis of n is logarithmic: what n must be depends on the gap :math:`|c(s) - \tau|` by its
    square, so that states differ by factors.

    Parameters
    ----------
    samples : mapping from str to (N,) arrays
        The noisy costs seen in one to three states, by what the legend calls the states.
    tau : float
        Threshold.

    Returns
    -------
    DescribedFigure

    Notes
    -----
    The noisy costs are the z(s) of Section 3 of the paper.  Taught in the chapter *Costs,
    thresholds, violation*.

    Examples
    --------
    >>> import safeteach as st
    >>> print(st.figures.looks({"hot": [0.4, 1.0, 1.0], "cold": [0.0, 0.1, 0.2]}, tau=0.5).alt)
    Running averages of noisy looks against the threshold 0.5. hot: 0.8 after 3 looks, above the
    threshold from look 2 on. cold: 0.1 after 3 looks, not above it from look 1 on.
    """
    running = running_averages(samples)
    said = " ".join(f"{name}: {_describe(mean, tau)}" for name, mean in running.items())
    figure = DescribedFigure(
        *CHART, f"Running averages of noisy looks against the threshold {tau:.3g}. {said}"
    )
    axes = chart(figure, "number of looks $n$", "average of the first $n$")
    axes.axhline(tau, color=INK, linewidth=1.6, gid="threshold")
    draw_averages(axes, running)
    axes.set_xscale("log")
    axes.set_xlim(1, max(2, *(mean.size for mean in running.values())))
    axes.xaxis.set_major_formatter("{x:,.0f}")
    label = axes.annotate(rf"$\tau$ = {tau:.3g}", (1, tau), (4, 4), textcoords="offset points")
    label.set(fontsize=TEXT, fontfamily=FONT, color=INK)
    label.set_path_effects([withStroke(linewidth=3.5, foreground=PAPER)])
    legend_above(axes)
    return figure


def _describe(mean: NDArray[np.float64], tau: float) -> str:
    """Say where an average ends, and from which look on it is on that side of the threshold."""
    above = mean > tau
    elsewhere = np.flatnonzero(above != above[-1])
    first = 1 if not elsewhere.size else int(elsewhere[-1]) + 2
    side = "above the threshold" if above[-1] else "not above it"
    n = mean.size
    return f"{mean[-1]:.3g} after {n} look{'s' * (n > 1)}, {side} from look {first} on."
