"""What luck leaves open: estimates of costs with their bands, and who is flagged when."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike, NDArray

from safeteach.figures.chart import chart, running_averages
from safeteach.figures.described import (
    BLUE,
    FONT,
    GREY,
    INK,
    PALE_SKY,
    PAPER,
    TEXT,
    VERMILION,
    DescribedFigure,
    listing,
)

__all__ = ["confidence", "confidence_frame"]


WIDTH, PANEL, ABOVE, BELOW = 5.7, 1.62, 0.68, 0.55  # inches
LOW, HIGH = -0.75, 1.75  # costs lie in [0, 1]; bands go on beyond the paper
TRUE_COST = (0, (1, 1.5))
FLAG: dict[str, Any] = {
    "marker": "8",
    "markersize": 10,
    "color": VERMILION,
    "markeredgecolor": INK,
    "linestyle": "none",
    "zorder": 5,
}
TRUTH: dict[str, Any] = {
    "marker": "_",
    "markeredgewidth": 2.4,
    "color": GREY,
    "linestyle": "none",
}
STRIP: dict[str, Any] = {"facecolor": VERMILION, "edgecolor": INK, "linewidth": 0.8, "hatch": "xx"}
ESTIMATE: dict[str, Any] = {
    "marker": "o",
    "markersize": 9,
    "color": BLUE,
    "markeredgecolor": INK,
    "linestyle": "none",
}
OPEN: dict[str, Any] = {"facecolor": PALE_SKY, "edgecolor": BLUE, "linewidth": 1.2}
MOST_STATES = 8
FRAME = (6.2, 3.3)  # inches


def confidence(
    samples: Mapping[str, ArrayLike], costs: Sequence[float], tau: float, width: ArrayLike
) -> DescribedFigure:
    r"""Draw the average of the first n looks at each state with its band, and when it is flagged.

    A state is flagged where the lower edge :math:`\hat c_n - \beta(n)` is above the threshold.

    Parameters
    ----------
    samples : mapping from str to (N,) arrays
        The noisy costs seen in one to three states, by the names of the states.
    costs : sequence of float
        The true cost of each of them, in the same order.
    tau : float
        Threshold.
    width : (N,) array
        The widths β(1) .. β(N).

    Returns
    -------
    DescribedFigure

    Notes
    -----
    The lower edge is the c̄ of Algorithm 1 of the paper.  Taught in the chapter *Optimism and
    confidence*.

    Examples
    --------
    >>> import safeteach as st
    >>> from safeteach.chapters.optimism_and_confidence import figures
    >>> looks = {"hot": [1.0, 0.8, 0.9], "cold": [0.4, 0.0, 0.2]}
    >>> print(figures.confidence(looks, [0.9, 0.2], tau=0.5, width=[0.7, 0.45, 0.3]).alt)
    Estimates with their bands over 3 looks against the threshold 0.5. hot (cost 0.9): 0.9 ± 0.3
    after 3 looks, flagged from look 3 on. cold (cost 0.2): 0.2 ± 0.3 after 3 looks, never flagged.
    """
    running = running_averages(samples)
    beta = np.asarray(width, float)
    if beta.ndim != 1:
        raise ValueError(f"width has shape {beta.shape}; expected (N,)")
    if len(costs) != len(running):
        raise ValueError(f"{len(costs)} costs for {len(running)} samples")
    for name, mean in running.items():
        if mean.size != beta.size:
            raise ValueError(f"the sample {name!r} has {mean.size} looks and width {beta.size}")
    said = " ".join(
        f"{name} (cost {c:.3g}): {_describe(mean, beta, tau)}"
        for (name, mean), c in zip(running.items(), costs, strict=True)
    )
    height = ABOVE + PANEL * len(running) + BELOW
    figure = DescribedFigure(
        WIDTH,
        height,
        f"Estimates with their bands over {beta.size} looks against the threshold {tau:.3g}. "
        f"{said}",
    )
    for i, ((name, mean), c) in enumerate(zip(running.items(), costs, strict=True)):
        bottom = height - ABOVE - PANEL * (i + 1)
        axes = chart(figure, "", "cost")
        axes.set_position((0.125, (bottom + 0.12) / height, 0.805, (PANEL - 0.12) / height))
        _draw_band(axes, name, mean, beta, float(c), tau)
        axes.set_ylim(LOW, HIGH)
        axes.set_xscale("log")
        axes.set_xlim(1, max(2, beta.size))
        axes.xaxis.set_major_formatter("{x:,.0f}")
        axes.yaxis.set_major_locator(MaxNLocator(3))
        if i < len(running) - 1:
            axes.tick_params(labelbottom=False)
    axes.set_xlabel("number of looks $n$", fontsize=TEXT, fontfamily=FONT, color=INK)
    _legend(figure, tau, height)
    return figure


def _draw_band(
    axes: Axes,
    name: str,
    mean: NDArray[np.float64],
    beta: NDArray[np.float64],
    c: float,
    tau: float,
) -> None:
    n = np.arange(1, mean.size + 1)
    low, high = mean - beta, mean + beta
    axes.fill_between(n, low, high, color=PALE_SKY, linewidth=0)
    axes.plot(n, low, color=BLUE, linewidth=1.0, gid=f"low/{name}")
    axes.plot(n, high, color=BLUE, linewidth=1.0, gid=f"high/{name}")
    axes.axhline(c, color=GREY, linewidth=1.6, linestyle=TRUE_COST, gid=f"cost/{name}")
    axes.axhline(tau, color=INK, linewidth=1.6, gid=f"threshold/{name}")
    axes.plot(n, mean, color=BLUE, linewidth=2.0, gid=f"mean/{name}")
    flagged = low > tau
    if flagged.any():
        first = flagged.argmax()
        axes.fill_between(n, LOW, LOW + 0.22, where=flagged, **STRIP, gid=f"flagged/{name}")
        axes.plot([n[first]], [low[first]], **FLAG, gid=f"flag/{name}")
    axes.text(0.985, 0.9, f"{name}, $c$ = {c:.3g}", transform=axes.transAxes, ha="right", va="top",
              fontsize=TEXT, fontfamily=FONT, color=INK, zorder=6,
              bbox={"facecolor": PAPER, "edgecolor": "none", "pad": 1.5})  # fmt: skip


def _legend(figure: DescribedFigure, tau: float, height: float) -> None:
    """Write what the lines of a band are, above all panels."""
    entries = [
        Line2D([], [], color=BLUE, linewidth=2.0, label=r"average $\hat c_n$"),
        Patch(**OPEN, label=r"$\hat c_n \pm \beta(n)$"),
        Line2D([], [], color=GREY, linewidth=1.6, linestyle=TRUE_COST, label="true cost $c$"),
        Line2D([], [], color=INK, linewidth=1.6, label=rf"$\tau$ = {tau:.3g}"),
        Line2D([], [], **FLAG, label="first flagged"),
        Patch(**STRIP, label="flagged"),
    ]
    figure.legend(
        handles=entries,
        loc="upper center",
        bbox_to_anchor=(0.5, 1 - 0.02 / height),
        ncols=3,
        frameon=False,
        prop={"family": FONT, "size": TEXT},
        handlelength=1.8,
        columnspacing=1.4,
    )


def _describe(mean: NDArray[np.float64], beta: NDArray[np.float64], tau: float) -> str:
    """Say where an estimate ends, and from which look on its state is flagged."""
    n = mean.size
    end = f"{mean[-1]:.3g} ± {beta[-1]:.3g} after {n} look{'s' * (n > 1)}"
    flagged = mean - beta > tau
    if not flagged.any():
        return f"{end}, never flagged."
    first = int(flagged.argmax()) + 1
    if flagged[first - 1 :].all():
        return f"{end}, flagged from look {first} on."
    if not flagged[-1]:
        return f"{end}, first flagged at look {first} and not at the last."
    kept = int(np.flatnonzero(~flagged)[-1]) + 2
    return f"{end}, first flagged at look {first}, without a break from look {kept} on."


def confidence_frame(
    means: Mapping[str, float], costs: Sequence[float], tau: float, width: float
) -> DescribedFigure:
    r"""Draw the estimates of a few states at one moment, with their bars, and who is flagged.

    Parameters
    ----------
    means : mapping from str to float
        The average cost seen in one to eight states, by the names of the states.
    costs : sequence of float
        The true cost of each of them, in the same order.
    tau : float
        Threshold.
    width : float
        The width β, the same for all.

    Returns
    -------
    DescribedFigure

    Notes
    -----
    The lower ends of the bars are the c̄ of Algorithm 1 of the paper.  Taught in the chapter
    *Optimism and confidence*.

    Examples
    --------
    >>> from safeteach.chapters.optimism_and_confidence import figures
    >>> print(figures.confidence_frame({"hot": 0.9, "cold": 0.2}, [0.8, 0.3], 0.5, 0.3).alt)
    Estimates of 2 states, each give or take 0.3, against the threshold 0.5: hot 0.9, cold 0.2.
    Flagged: hot. Unsafe and not flagged: none. Safe and flagged: none. Bars that miss the true
    cost: none.
    """
    names, mean, c = list(means), np.array(list(means.values()), float), np.asarray(costs, float)
    if not 1 <= len(names) <= MOST_STATES:
        raise ValueError(f"{len(names)} states; one to {MOST_STATES} fit beside each other")
    if c.shape != mean.shape:
        raise ValueError(f"{c.size} costs for {len(names)} states")
    flagged = mean - width > tau
    figure = DescribedFigure(*FRAME, _describe_frame(names, mean, c, tau, width, flagged))
    axes = chart(figure, "", "cost")
    axes.set_position((0.125, 0.2, 0.845, 0.62))
    at = np.arange(len(names))
    low, high = np.maximum(mean - width, LOW - 1), np.minimum(mean + width, HIGH + 1)
    bars = axes.bar(at, high - low, bottom=low, width=0.28)
    for bar, name, flag in zip(bars, names, flagged, strict=True):
        bar.set(**(STRIP if flag else OPEN), gid=f"{'flagged' if flag else 'open'}/{name}")
    axes.axhline(tau, color=INK, linewidth=1.6, gid="threshold")
    for x, one in enumerate(mean):  # a triangle points to an estimate beyond the paper
        marker = "^" if one > HIGH else "v" if one < LOW else "o"
        axes.plot([x], [np.clip(one, LOW + 0.08, HIGH - 0.08)], **{**ESTIMATE, "marker": marker})
    axes.plot(at, c, **TRUTH, markersize=30)
    axes.set(xlim=(-0.6, len(names) - 0.4), ylim=(LOW, HIGH))
    axes.set_xticks(at, [f"{name}\n$c$ = {one:.3g}" for name, one in zip(names, c, strict=True)])
    figure.legend(
        handles=[
            Line2D([], [], **ESTIMATE, label=r"$\hat c$"),
            Patch(**OPEN, label=rf"$\hat c \pm$ {width:.3g}"),
            Patch(**STRIP, label="flagged"),
            Line2D([], [], **TRUTH, markersize=18, label="true $c$"),
            Line2D([], [], color=INK, linewidth=1.6, label=rf"$\tau$ = {tau:.3g}"),
        ],
        loc="upper center",
        ncols=5,
        frameon=False,
        prop={"family": FONT, "size": TEXT},
        handlelength=1.8,
        columnspacing=1.4,
    )
    return figure


def _describe_frame(
    names: Sequence[str],
    mean: NDArray[np.float64],
    c: NDArray[np.float64],
    tau: float,
    width: float,
    flagged: NDArray[np.bool_],
) -> str:
    def those(mask: NDArray[np.bool_]) -> str:
        return listing([name for name, one in zip(names, mask, strict=True) if one])

    values = ", ".join(f"{name} {one:.3g}" for name, one in zip(names, mean, strict=True))
    return (
        f"Estimates of {len(names)} state{'s' * (len(names) > 1)}, each give or take {width:.3g}, "
        f"against the threshold {tau:.3g}: {values}. Flagged: {those(flagged)}. Unsafe and not "
        f"flagged: {those((c > tau) & ~flagged)}. Safe and flagged: {those((c <= tau) & flagged)}. "
        f"Bars that miss the true cost: {those(np.abs(mean - c) > width)}."
    )
