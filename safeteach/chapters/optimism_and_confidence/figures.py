"""The pictures of the chapter *Optimism and confidence*.

- The server room: in how many runs each of its states was banned.
- Bands: the average of the first n looks, what chance leaves open, and who is flagged when.
- A moment: the estimates of a few states with their bars.
- Two players: how often each tosses the worse coin.
- Errors of a function that was fixed before the data, and of one that was chosen after them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle
from matplotlib.patheffects import withStroke
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike, NDArray

from safeteach.figures.chart import CHART, chart, running_averages
from safeteach.figures.described import (
    BLUE,
    FONT,
    GREY,
    INK,
    PALE_ORANGE,
    PALE_SKY,
    PAPER,
    SKY,
    TEXT,
    VERMILION,
    DescribedFigure,
    listing,
    sheet,
    write,
)
from safeteach.worlds.mdp import SafeMDP

__all__ = ["bans", "confidence", "confidence_frame", "errors", "tosses"]


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
    "zorder": 5,
}
OPEN: dict[str, Any] = {"facecolor": PALE_SKY, "edgecolor": BLUE, "linewidth": 1.2}
MOST_STATES = 8
FRAME = (6.2, 3.3)  # inches
# Two players, by colour and dashes, the greedy one first.
PLAYERS: tuple[tuple[str, Any], ...] = ((VERMILION, (0, (5, 2))), (BLUE, "solid"))
MIDDLE = (0.1, 0.9)  # quantiles between which the band of a player's runs is drawn
HALO = [withStroke(linewidth=3.5, foreground=PAPER)]

# The server room ------------------------------------------------------------------------------

CELL = 0.375  # inches
ROOM_LEFT, ROOM_BELOW, ROOM_ABOVE = 0.72, 0.62, 0.4


def bans(mdp: SafeMDP, shares: ArrayLike) -> DescribedFigure:
    """Draw the server room as a table of temperatures and fans, with the share of runs in each.

    Parameters
    ----------
    mdp : SafeMDP
        :func:`safeteach.instances.server_room`, whose states are named "27 low".
    shares : (S,) array
        The share of the runs in which a state was banned.

    Returns
    -------
    DescribedFigure

    Examples
    --------
    >>> import numpy as np
    >>> import safeteach as st
    >>> from safeteach.chapters.optimism_and_confidence.figures import bans
    >>> room = st.instances.server_room()
    >>> bans(room, np.arange(room.S) == room.state("31 low")).alt
    'Share of runs in which each state of the server room was banned. low fans: 31 °C 100%. \
middle fans: none. high fans: none. Unsafe: above 32 °C. Start: 27 middle.'
    """
    share = np.asarray(shares, float)
    if share.shape != (mdp.S,):
        raise ValueError(f"shares has shape {share.shape}; expected {(mdp.S,)}")
    names = [mdp.state_name(s).split() for s in range(mdp.S)]
    degrees = sorted({int(t) for t, _ in names})
    fans = list(dict.fromkeys(fan for _, fan in names))
    limit = max(int(t) for (t, _), bad in zip(names, mdp.unsafe, strict=True) if not bad)
    said = []
    for fan in fans:
        some = [f"{t} °C {p:.0%}" for (t, f), p in zip(names, share, strict=True) if f == fan and p]
        said.append(f"{fan} fans: {listing(some, most=160)}.")
    width = ROOM_LEFT + CELL * len(degrees) + 0.12
    height = ROOM_BELOW + CELL * len(fans) + ROOM_ABOVE
    figure, axes = sheet(
        width, height,
        "Share of runs in which each state of the server room was banned. "
        f"{' '.join(said)} Unsafe: above {limit} °C. Start: {mdp.state_name(mdp.s1)}.",
    )  # fmt: skip
    for s, (t, fan) in enumerate(names):
        x = ROOM_LEFT + CELL * degrees.index(int(t))
        y = ROOM_BELOW + CELL * fans.index(fan)
        shade = tuple((1 - share[s]) * np.array(to_rgb(PAPER)) + share[s] * np.array(to_rgb(SKY)))
        axes.add_artist(Rectangle((x, y), CELL, CELL, facecolor=shade, edgecolor=GREY,
                                  linewidth=0.6, gid=f"cell/{mdp.state_name(s)}"))  # fmt: skip
        if share[s]:
            write(axes, (x + CELL / 2, y + CELL / 2), f"{100 * share[s]:.0f}")
        if s == mdp.s1:
            axes.add_artist(Rectangle((x, y), CELL, CELL, fill=False, edgecolor=INK,
                                      linewidth=2.6, zorder=3))  # fmt: skip
    for i, degree in enumerate(degrees):
        write(axes, (ROOM_LEFT + CELL * (i + 0.5), ROOM_BELOW - 0.17), str(degree))
    for i, fan in enumerate(fans):
        write(axes, (ROOM_LEFT - 0.36, ROOM_BELOW + CELL * (i + 0.5)), fan)
    edge = ROOM_LEFT + CELL * (limit - degrees[0] + 1)
    top = ROOM_BELOW + CELL * len(fans)
    axes.plot([edge, edge], [ROOM_BELOW, top + 0.3], color=VERMILION, linewidth=2.4)
    write(axes, (edge + 0.08, top + 0.16), "unsafe", align="left")
    write(axes, (edge - 0.08, top + 0.16), "safe", align="right")
    below = "temperature in °C (in the heavy frame: the start)"
    write(axes, (ROOM_LEFT + CELL * len(degrees) / 2, 0.17), below)
    return figure


# Estimates and their bands --------------------------------------------------------------------


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
        axes.fill_between(n, LOW, LOW + 0.22, where=flagged,
                          **{**STRIP, "linewidth": 0}, gid=f"flagged/{name}")  # fmt: skip
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
    for x, (one, flag) in enumerate(zip(mean, flagged, strict=True)):
        seen = {**ESTIMATE, **(FLAG if flag else {})}
        if not LOW <= one <= HIGH:  # a triangle points to an estimate beyond the paper
            seen["marker"] = "^" if one > HIGH else "v"
        axes.plot([x], [np.clip(one, LOW + 0.08, HIGH - 0.08)], **seen)
    axes.plot(at, c, **TRUTH, markersize=30, zorder=4)
    axes.set(xlim=(-0.6, len(names) - 0.4), ylim=(LOW, HIGH))
    axes.set_xticks(at, [f"{name}\n$c$ = {one:.3g}" for name, one in zip(names, c, strict=True)])
    figure.legend(
        handles=[
            Line2D([], [], **ESTIMATE, label=r"$\hat c$"),
            Patch(**OPEN, label=rf"$\hat c \pm$ {width:.3g}"),
            Line2D([], [], **FLAG, label="flagged"),
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


# Two players ----------------------------------------------------------------------------------


def tosses(plays: Mapping[str, ArrayLike]) -> DescribedFigure:
    """Draw for two players how often each has tossed the worse coin so far.

    The greedy player's runs that are stuck are drawn apart from the others: for each kind of runs
    the median, and a band that four runs of five are in.

    Parameters
    ----------
    plays : mapping from str to (runs, rounds) arrays
        Tosses of the worse coin among the first 1 .. rounds tosses, for a greedy player and an
        optimistic one, by what is written at their lines.  A run is stuck if more than half of
        its tosses are of that coin.

    Returns
    -------
    DescribedFigure

    Examples
    --------
    >>> from safeteach.chapters.optimism_and_confidence.figures import tosses
    >>> tosses({"greedy": [[1, 2, 3, 4], [1, 1, 1, 1]], "optimistic": [[1, 1, 2, 2]]}).alt
    'Tosses of the worse coin in runs of 4 tosses. greedy: 2 runs, 1 stuck with it; the others \
toss it 1 to 1 times. optimistic: 1 run, 0 stuck with it; the others toss it 2 to 2 times.'
    """
    if len(plays) != len(PLAYERS):
        raise ValueError(f"{len(plays)} players; expected {len(PLAYERS)}")
    counts = {name: np.asarray(counted, float) for name, counted in plays.items()}
    said, where = [], {}
    for name, count in counts.items():
        runs, rounds = count.shape
        stuck = count[:, -1] > rounds / 2
        where[name] = stuck
        free = count[~stuck, -1]
        rest = f"; the others toss it {free.min():.0f} to {free.max():.0f} times" * bool(free.size)
        said.append(f"{name}: {runs} run{'s' * (runs > 1)}, {stuck.sum()} stuck with it{rest}.")
    figure = DescribedFigure(
        *CHART, f"Tosses of the worse coin in runs of {rounds} tosses. {' '.join(said)}"
    )
    axes = chart(figure, "tosses so far", "of these, the worse coin")
    axes.set_position((0.145, 0.165, 0.825, 0.8))
    t = np.arange(1, rounds + 1)
    for (name, count), (colour, dashes) in zip(counts.items(), PLAYERS, strict=True):
        for kind, those in (("stuck", where[name]), ("free", ~where[name])):
            if those.any():
                some, gid = count[those], f"{name}/{kind}"
                low, high = np.quantile(some, MIDDLE, axis=0)
                axes.fill_between(t, low, high, facecolor=colour, alpha=0.22, edgecolor="none",
                                  gid=f"band/{gid}")  # fmt: skip
                axes.plot(t, np.median(some, axis=0), color=colour, linestyle=dashes,
                          linewidth=2.0, gid=f"median/{gid}")  # fmt: skip
    axes.set(xscale="log", yscale="log", xlim=(1, rounds), ylim=(0.5, 1.3 * rounds))
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.yaxis.set_major_formatter("{x:,.0f}")
    greedy, hopeful = counts
    stuck = where[greedy]
    highest = counts[hopeful][:, -1].max()
    _label(axes, 0.11 * rounds, 0.32 * rounds, f"{greedy}, stuck: {stuck.mean():.0%}", VERMILION)
    _label(axes, 0.9 * rounds, 0.68, f"{greedy}, not stuck: {1 - stuck.mean():.0%}", VERMILION)
    _label(axes, 0.9 * rounds, 1.8 * highest, hopeful, BLUE)
    return figure


def _label(axes: Axes, x: float, y: float, text: str, colour: str) -> None:
    axes.text(x, y, text, ha="right", va="center", color=colour, fontsize=TEXT, fontfamily=FONT,
              fontweight="bold", path_effects=HALO, zorder=6)  # fmt: skip


# Before the data and after --------------------------------------------------------------------

BARS = 36


def errors(fixed: ArrayLike, chosen: ArrayLike, width: float) -> DescribedFigure:
    """Draw how large the errors of two functions are, against the width that one of them keeps.

    Parameters
    ----------
    fixed, chosen : (N,) arrays
        The errors of a function that was fixed before the data, and of one chosen after them.
    width : float
        What the errors of a fixed function seldom exceed.

    Returns
    -------
    DescribedFigure

    Examples
    --------
    >>> from safeteach.chapters.optimism_and_confidence.figures import errors
    >>> errors([0.1, 0.0], [0.3, 0.1], width=0.2).alt
    'Errors of 2 samples against the width 0.2. Fixed before the data: mean 0.05, beyond the \
width in 0%. Chosen after the data: mean 0.2, beyond the width in 50%.'
    """
    both = {"fixed before the data": fixed, "chosen after the data": chosen}
    seen = {name: np.abs(np.asarray(error, float)) for name, error in both.items()}
    said = " ".join(
        f"{name.capitalize()}: mean {error.mean():.2g}, beyond the width in "
        f"{(error > width).mean():.0%}."
        for name, error in seen.items()
    )
    (N,) = seen["fixed before the data"].shape
    figure = DescribedFigure(
        CHART[0], 2.9, f"Errors of {N} samples against the width {width:.3g}. {said}"
    )
    axes = chart(figure, r"$|(\hat P - P) f|$", "samples")
    axes.set_position((0.145, 0.2, 0.825, 0.7))
    edges = np.linspace(0, 1.05 * max(width, *(error.max() for error in seen.values())), BARS + 1)
    looks: tuple[dict[str, Any], ...] = (
        {"facecolor": PALE_SKY, "edgecolor": BLUE},
        {"facecolor": PALE_ORANGE, "edgecolor": VERMILION, "hatch": "///"},
    )
    top = 0.0
    for (name, error), look in zip(seen.items(), looks, strict=True):
        heights, _ = np.histogram(error, bins=edges)
        some = heights > 0
        axes.bar(edges[:-1][some], heights[some], edges[1] - edges[0], align="edge",
                 linewidth=0.8, gid=f"bar/{name}", **look)  # fmt: skip
        top = max(top, float(heights.max()))
    axes.axvline(width, color=INK, linewidth=1.8)
    axes.set(ylim=(0, 1.32 * top), xlim=(0, edges[-1]))
    axes.xaxis.set_major_locator(MaxNLocator(6))
    high = 1.2 * top
    axes.text(width, 1.33 * top, "Hoeffding's width", ha="center", va="bottom", color=INK,
              fontsize=TEXT, fontfamily=FONT)  # fmt: skip
    for (name, error), colour in zip(seen.items(), (BLUE, VERMILION), strict=True):
        axes.text(error.mean(), high, name.replace(" the", "\nthe"), ha="center", va="center",
                  color=colour, fontsize=TEXT, fontfamily=FONT, fontweight="bold",
                  path_effects=HALO)  # fmt: skip
    return figure
