"""Where an estimate's excess comes from: bonus, model, luck and cap, summed over the episodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.ticker import EngFormatter
from numpy.typing import NDArray

from safeteach.figures.chart import CHART, chart, legend_above
from safeteach.figures.described import BLUE, INK, ORANGE, SKY, VERMILION, DescribedFigure

if TYPE_CHECKING:
    from safeteach.auditing import Audit

__all__ = ["decomposition"]

LOOKS = {  # colour, dashes, width
    "bonus": (BLUE, "solid", 2.0),
    "model": (ORANGE, (0, (6, 1.5, 1, 1.5)), 2.0),
    "luck": (SKY, (0, (1, 1.2)), 2.4),
    "minus cap": (VERMILION, (0, (5, 2)), 2.0),
    "gap, their sum": (INK, "solid", 3.0),
}


def decomposition(audit: Audit) -> DescribedFigure:
    """Draw the running sums of bonus, model, luck and minus cap, and of the gap they make up.

    Parameters
    ----------
    audit : Audit
        As :func:`safeteach.auditing` returns it; its arrays ``bonus``, ``model``, ``luck``, ``cap``
        and ``gap`` are read.

    Returns
    -------
    DescribedFigure

    Notes
    -----
    The exact form of the decomposition in the proof of Theorem 4.2 of the paper.  Taught in the
    chapter *Why regret is small*.

    Examples
    --------
    >>> import safeteach as st
    >>> mdp = st.instances.union_counterexample()
    >>> a = st.audit(st.SUCBVI(mdp.known, episodes=200, bonus_scale=0.01), mdp, seed=0)
    >>> st.figures.decomposition(a).alt[:66]
    'Running sums over 200 episodes of the excess of the estimate and i'
    """
    sums = {
        name: np.cumsum(part)
        for name, part in zip(
            LOOKS, (audit.bonus, audit.model, audit.luck, -audit.cap, audit.gap), strict=True
        )
    }
    figure = DescribedFigure(CHART[0], 3.8, _describe(sums))
    axes = chart(figure, "episodes", "running sum")
    axes.set_position((0.155, 0.155, 0.815, 0.61))  # the legend has three lines
    axes.axhline(0, color=INK, linewidth=0.8)
    for name, total in sums.items():
        color, dashes, width = LOOKS[name]
        axes.plot(
            np.arange(1, total.size + 1),
            total,
            color=color,
            linestyle=dashes,
            linewidth=width,
            label=name,
            gid=name,
        )
    axes.set_xlim(0, audit.gap.size + 1)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.yaxis.set_major_formatter(EngFormatter(sep=" "))  # 2 k, or 2 M with the full α
    legend_above(axes)
    return figure


def _describe(sums: dict[str, NDArray[np.float64]]) -> str:
    episodes = sums["bonus"].size
    stops = sorted({max(1, episodes // 10), episodes})
    said = [
        f"{name} " + ", ".join(f"{total[n - 1]:,.4g} after {n:,}" for n in stops)
        for name, total in sums.items()
    ]
    return (
        f"Running sums over {episodes:,} episodes of the excess of the estimate and its parts: "
        f"{'; '.join(said)}."
    )
