"""What risk earns: the most that a policy can earn within each risk, from the least there is.

Taught in the chapter *Your own world*.
"""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from safeteach.arguments import instance
from safeteach.figures.chart import CHART, chart, legend_above
from safeteach.figures.described import BLUE, GREY, INK, ORANGE, VERMILION, DescribedFigure
from safeteach.planning.risk import risk_corners
from safeteach.worlds.mdp import SafeMDP

__all__ = ["risk_curve"]

AIR = 0.06  # of each axis, beyond what is drawn


def risk_curve(mdp: SafeMDP) -> DescribedFigure:
    """Draw the most reward that a policy can have against its risk, from s_1.

    The risk is the probability that some s_h, h = 1..H, is unsafe.  The curve is that of
    ``st.constrained_optimal(mdp, risk=...)``, from the least risk there is, which is the safe
    optimum where some policy is safe, to the optimum that minds no risk.  It is concave, and
    straight between its corners, which are small dots: there the best policy is drawn by a coin
    from those of the two corners.

    Parameters
    ----------
    mdp : SafeMDP

    Returns
    -------
    DescribedFigure

    Notes
    -----
    A corner that stands out by less than 1e-4 of the range of rewards is left out.

    Examples
    --------
    >>> import safeteach as st
    >>> print(st.figures.risk_curve(st.instances.ice_corridor()).alt)
    The most reward of a policy against its risk, the probability of ever being unsafe. The safe
    optimum: reward 3 at risk 0. The optimum without regard to risk: reward 4.15 at risk 0.0464.
    Concave, straight between 3 corners; half of what risk earns is there at risk 0.0231.
    """
    instance(mdp, "mdp", SafeMDP, "a SafeMDP")
    corners = risk_corners(mdp)
    (least, low), (most, high) = corners[0], corners[-1]
    figure = DescribedFigure(*CHART, _describe(corners))
    axes = chart(figure, "probability of ever being unsafe", "expected reward")
    axes.xaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
    axes.plot(*corners.T, color=INK, linewidth=2.0, marker="o", markersize=3, gid="frontier")
    axes.set_xlim(-AIR * most, (1 + AIR) * most or 1.0)
    _mark(axes, most, high, VERMILION, "s", 11, f"optimum, {high:.3g}")
    if least > 0:
        axes.axvspan(
            0, least, facecolor="#e3e1da", edgecolor=GREY, hatch="////", linewidth=0,
            label="no policy", gid="nobody", zorder=0,
        )  # fmt: skip
        _mark(axes, least, low, ORANGE, "D", 7, f"least risk, {least:.3g}")
    else:
        _mark(axes, least, low, BLUE, "o", 7, f"safe optimum, {low:.3g}")
    axes.margins(y=2 * AIR)
    legend_above(axes)
    return figure


def _mark(axes: Axes, x: float, y: float, color: str, marker: str, size: float, label: str) -> None:
    """Mark an end of the curve; where the two are one, the second lies on the first."""
    axes.plot(
        x, y, color=color, marker=marker, markersize=size, linestyle="none", label=label,
        gid=f"end/{label.partition(',')[0]}", clip_on=False, zorder=3,
    )  # fmt: skip


def _describe(corners: NDArray[np.float64]) -> str:
    (least, low), (most, high) = corners[0], corners[-1]
    start = f"The least risk is {least:.3g}, with reward {low:.3g} at most."
    if least == 0:
        start = f"The safe optimum: reward {low:.3g} at risk 0."
    rest = "More risk earns nothing."
    if len(corners) > 1:
        half = float(np.interp((low + high) / 2, corners[:, 1], corners[:, 0]))
        rest = (
            f"The optimum without regard to risk: reward {high:.3g} at risk {most:.3g}. Concave, "
            f"straight between {len(corners)} corners; half of what risk earns is there at risk "
            f"{half:.3g}."
        )
    about = "The most reward of a policy against its risk, the probability of ever being unsafe."
    return f"{about} {start} {rest}"
