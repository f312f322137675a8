"""The pictures of the chapter *Why violation is small*.

- What one unsafe state costs before it is flagged, against how far above the threshold it is.
- Why a learner was unsafe: after a surprise, or in states that it had not flagged yet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from safeteach.bounds import beta
from safeteach.figures.chart import CHART, chart, legend_above
from safeteach.figures.described import BLUE, GREY, INK, PAPER, VERMILION, DescribedFigure

if TYPE_CHECKING:
    from safeteach.running.auditing import Audit

__all__ = ["gap_price", "reasons"]


GAPS = np.geomspace(0.01, 1, 121)
LOWEST, HIGHEST = 10.0, 1e4  # violation


def gap_price(gap: float, S: int, delta: float, visits: int) -> DescribedFigure:
    r"""Draw the violation paid in one unsafe state that is visited for as long as it may be.

    On the event :math:`E_1'` the state is flagged once :math:`2\beta(n) < g`, where g = c(s) - tau
    is its gap.  An estimate without luck, good or bad, is flagged once :math:`\beta(n) < g`.

    Parameters
    ----------
    gap : float
        c(s) - tau of the state to mark, in [.01, 1].
    S : int
        Number of states, at least 2.
    delta : float
        Probability with which the event may fail.
    visits : int
        The most visits that there are.

    Returns
    -------
    DescribedFigure

    Notes
    -----
    The two sides of the hill are the two bounds of Theorem 4.2 of the paper.  Taught in the
    chapter *Why violation is small*.

    Examples
    --------
    >>> from safeteach.chapters.why_violation_is_small import figures
    >>> print(figures.gap_price(0.5, S=25, delta=0.005, visits=100_000).alt)
    An unsafe state 0.5 above the threshold, S = 25, δ = 0.005, at most 100,000 visits.
    Flagged for sure after 692 visits, 346 paid; without luck after 149 visits, 74.5 paid.
    The most is paid at a gap of about 0.05: 5,012.
    """
    if not GAPS[0] <= gap <= GAPS[-1]:
        raise ValueError(f"gap is {gap}; from {GAPS[0]:g} to {GAPS[-1]:g} it is drawn")
    if S < 2 or visits < 1:
        raise ValueError(f"S is {S} and visits {visits}; at least 2 and 1 are expected")
    width = beta(np.arange(1, visits + 1), S, delta)  # decreasing, since S is at least 2
    widths = {"at most": 2 * width, "without luck": width}
    said = []
    for side, needed in zip(("for sure", "without luck"), widths.values(), strict=True):
        n = int(_visits(needed, gap))
        when = "after" if n < visits else "not within"
        said.append(f"{side} {when} {n:,} visits, {gap * n:,.4g} paid")
    most = GAPS * _visits(2 * width, GAPS)
    worst = GAPS[most.argmax()]
    figure = DescribedFigure(
        *CHART,
        f"An unsafe state {gap:g} above the threshold, S = {S}, δ = {delta:g}, at most {visits:,} "
        f"visits. Flagged {'; '.join(said)}. The most is paid at a gap of about {worst:.2g}: "
        f"{most.max():,.4g}.",
    )
    axes = chart(figure, r"gap $c(s) - \tau$", "violation paid")
    axes.set_position((0.155, 0.165, 0.815, 0.62))  # its numbers are long
    axes.axvline(gap, color=INK, linewidth=0.8, linestyle=(0, (4, 3)))
    for (name, needed), color, dashes, mark in zip(
        widths.items(), (BLUE, VERMILION), ("solid", (0, (5, 2))), "os", strict=True
    ):
        axes.plot(
            GAPS, GAPS * _visits(needed, GAPS),
            color=color, linestyle=dashes, linewidth=2.0, label=name, gid=name,
        )  # fmt: skip
        axes.plot(
            [gap], [gap * _visits(needed, gap)],
            color=color, marker=mark, markersize=8, markeredgecolor=PAPER, gid=f"{name}, here",
        )  # fmt: skip
    axes.set(xscale="log", yscale="log", xlim=(GAPS[0], GAPS[-1]), ylim=(LOWEST, HIGHEST))
    axes.xaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_major_formatter("{x:,g}")
    legend_above(axes)
    return figure


def _visits(width: NDArray[np.float64], gap: ArrayLike) -> NDArray[np.float64]:
    """The first n with width(n) < gap, or as many as there are."""
    n = width.size - np.searchsorted(width[::-1], gap) + 1
    return np.minimum(n, width.size).astype(float)


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
        As :func:`safeteach.audit` returns it; its arrays ``violation``, ``violation_flagged``,
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
    >>> from safeteach.chapters.why_violation_is_small import figures
    >>> mdp = st.instances.ice_corridor()
    >>> a = st.audit(st.SUCBVI(mdp.known, episodes=500, bonus_scale=0.01), mdp, seed=0)
    >>> figures.reasons(a).alt.split(":")[0]
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
