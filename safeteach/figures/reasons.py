"""Why a learner was unsafe: after a surprise, or in states that it had not flagged yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from safeteach.figures.chart import CHART, chart, legend_above
from safeteach.figures.described import BLUE, GREY, INK, VERMILION, DescribedFigure

if TYPE_CHECKING:
    from safeteach.auditing import Audit

__all__ = ["reasons"]

LOOKS = {  # colour, dashes
    "not yet flagged": (BLUE, "solid"),
    "flagged: after a surprise": (VERMILION, (0, (5, 2))),
    "what the proof allows": (INK, (0, (1, 1.5))),
}


def reasons(audit: Audit) -> DescribedFigure:
    """Draw the running violation by its two reasons, and the sum that the proof allows.

    Both axes are logarithmic: most of it is paid early, and what comes late comes very late.  A
    tick at the foot stands for an episode with a surprise.

    Parameters
    ----------
    audit : Audit
        As :func:`safeteach.auditing` returns it; its arrays ``violation``, ``violation_flagged``,
        ``allowed`` and ``surprise`` are read.

    Returns
    -------
    DescribedFigure

    Notes
    -----
    The two reasons are those of the proof of Theorem 4.2 of the paper.  Taught in the chapter
    *Why violation is small*.

    Examples
    --------
    >>> import safeteach as st
    >>> mdp = st.instances.ice_corridor()
    >>> a = st.audit(st.SUCBVI(mdp.known, episodes=500, bonus_scale=0.01), mdp, seed=0)
    >>> st.figures.reasons(a).alt.split(":")[0]
    'Running violation of 500 episodes, by its reason'
    """
    sums = {
        name: np.cumsum(part)
        for name, part in zip(
            LOOKS,
            (audit.violation - audit.violation_flagged, audit.violation_flagged, audit.allowed),
            strict=True,
        )
    }
    surprised = np.flatnonzero(audit.surprise) + 1
    last = {name: f"{total[-1]:,.4g}" for name, total in sums.items()}
    unsafe = np.flatnonzero(audit.violation) + 1
    end = f", the last in episode {unsafe[-1]:,}" if unsafe.size else ""
    figure = DescribedFigure(
        *CHART,
        f"Running violation of {audit.violation.size:,} episodes, by its reason: "
        f"{last['not yet flagged']} in states not yet flagged, "
        f"{last['flagged: after a surprise']} in flagged states, after a surprise; the proof "
        f"allows {last['what the proof allows']}. {unsafe.size:,} episodes were unsafe{end}. "
        f"{surprised.size:,} had a surprise"
        + (f", the last one episode {surprised[-1]:,}." if surprised.size else "."),
    )
    axes = chart(figure, "episodes", "running violation")
    axes.set_position((0.155, 0.165, 0.815, 0.62))  # its numbers are long
    for name, total in sums.items():
        color, dashes = LOOKS[name]
        axes.plot(
            np.arange(1, total.size + 1),
            np.where(total > 0, total, np.nan),  # a sum of 0 has no place on a logarithmic axis
            color=color,
            linestyle=dashes,
            linewidth=2.0,
            label=name,
            gid=name,
        )
    axes.set(xscale="log", yscale="log", xlim=(1, max(2, audit.violation.size)))
    foot = axes.get_xaxis_transform()  # of x in data, of y in the height of the axes
    axes.plot(
        surprised, np.full(surprised.size, 0.03), "|",
        color=GREY, markersize=9, transform=foot, gid="surprise", label="a surprise",
    )  # fmt: skip
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.yaxis.set_major_formatter("{x:,g}")
    legend_above(axes)
    return figure
