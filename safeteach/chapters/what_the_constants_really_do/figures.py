"""The pictures of the chapter *What the constants really do*.

- Where a learner was, on the map.
- The two widths against the number of looks, and from where on each says something.
- Reward and violation of many runs against the factor on the bonus.
- Violation with the width of the costs scaled, too.
- From how many episodes on each bound says something.
- The regret of every run, against the factor on the bonus.
- Unsafe episodes so far, for learners that know more and more.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from matplotlib.patheffects import withStroke
from matplotlib.ticker import FixedLocator, NullLocator
from numpy.typing import ArrayLike, NDArray

from safeteach.bounds import (
    alpha,
    beta,
    regret_bound,
    regret_bound_masks,
    regret_bound_variances,
    violation_bound,
    violation_bound_gap,
    visits_until_flagged,
)
from safeteach.figures.chart import chart
from safeteach.figures.described import (
    BLUE,
    FONT,
    GREY,
    INK,
    LINE,
    ORANGE,
    PALE_BLUE,
    PALE_ORANGE,
    PAPER,
    TEXT,
    VERMILION,
    DescribedFigure,
    draw_legend,
    legend_height,
    listing,
    sheet,
    write,
)
from safeteach.figures.grid import (
    cell_letter,
    cell_middles,
    check_grid,
    draw_ground,
    ground_entries,
)
from safeteach.safety import potentially_unsafe
from safeteach.worlds.mdp import SafeMDP

__all__ = ["doors", "room", "shore", "speaks", "sweep", "whereabouts", "widths"]

LEAST_PROVED = 1 / (7 * math.sqrt(2))  # of the factors on the bonus

WIDE = 5.7  # inches, as all charts
HALO = [withStroke(linewidth=3.5, foreground=PAPER)]
LEARNERS = {  # colour, marker, dashes
    "SUCBVI": (BLUE, "o", "solid"),
    "UCBVI": (VERMILION, "s", (0, (5, 2))),
}


def _say(axes: Axes, x: float, y: float, text: str, color: str = INK, **where: str) -> None:
    axes.text(
        x, y, text, color=color, fontsize=TEXT, fontfamily=FONT, path_effects=HALO, zorder=7,
        ha=where.get("ha", "left"), va=where.get("va", "center"),
    )  # fmt: skip


# where a learner was ---------------------------------------------------------------------------

CELL, EDGE = 0.66, 0.08


def whereabouts(mdp: SafeMDP, visits: ArrayLike) -> DescribedFigure:
    """Draw the map of a grid world with the share of its time that a learner spent in each cell.

    Parameters
    ----------
    mdp : GridMDP
    visits : (S,) array
        How often it was in each state.

    Examples
    --------
    >>> import safeteach as st
    >>> from safeteach.chapters.what_the_constants_really_do.figures import whereabouts
    >>> ice = st.instances.ice_corridor()
    >>> print(whereabouts(ice, [3, 1] + [0] * (ice.S - 2)).alt)
    Map of a grid world, 3 rows by 6 columns, with shares of the visits: (0,0) 75%, (0,1) 25%.
    All other cells: none.
    """
    world = check_grid(mdp)
    share = 100 * np.asarray(visits) / np.sum(visits)
    been = np.flatnonzero(share).tolist()
    said = listing([f"{world.state_name(s)} {share[s]:.3g}%" for s in been], 300)
    rows, across = len(world.map), len(world.map[0])
    entries = ground_entries(world)
    width = across * CELL + 2 * EDGE
    bottom = legend_height(entries, width) + 0.05
    figure, axes = sheet(
        width, bottom + rows * CELL + EDGE,
        f"Map of a grid world, {rows} rows by {across} columns, with shares of the visits: "
        f"{said}. All other cells: none.",
    )  # fmt: skip
    corner = (EDGE, bottom)
    draw_ground(axes, world, corner, CELL)
    middles = cell_middles(world, corner, CELL)
    for s in been:
        cell = Rectangle(middles[s] - 0.46 * CELL, 0.92 * CELL, 0.92 * CELL)
        cell.set(facecolor=ORANGE, alpha=0.1 + 0.9 * share[s] / 100, zorder=2, gid=f"visits/{s}")
        axes.add_artist(cell)
        write(axes, middles[s], f"{share[s]:.0f}%", halo=PAPER)
    for s in range(world.S):
        if letter := cell_letter(world, s):
            aside = np.array([-0.3, 0.3]) * CELL if share[s] else 0
            write(axes, middles[s] + aside, letter, halo=PAPER)
    draw_legend(axes, entries, width)
    return figure


# two widths ------------------------------------------------------------------------------------

LOOKS = np.unique(np.geomspace(1, 50_000, 400).round())
SCALES = (1.0, 0.1, 0.01)


def widths(mdp: SafeMDP, episodes: int, delta: float) -> DescribedFigure:
    """Draw α, also scaled, against the cap H, and β against the least gap, over the looks.

    Parameters
    ----------
    mdp : SafeMDP
        With an unsafe state.
    episodes : int
        K, which enters α, and says how many visits there are for each (h, s, a).
    delta : float

    Examples
    --------
    >>> import safeteach as st
    >>> from safeteach.chapters.what_the_constants_really_do.figures import widths
    >>> print(widths(st.instances.grid(), 20_000, 0.005).alt)
    Two widths against the number of looks n. The bonus α(n) is below the cap H = 12 from n =
    1,172 on; times 0.1 from n = 12; times 0.01 from n = 1. There are 200 visits for each (h, s,
    a) on average in 20,000 episodes. The width β(n) is below the gap 0.5 from n = 149 on.
    """
    S, A, H = mdp.S, mdp.A, mdp.H
    gap = float((mdp.c - mdp.tau)[mdp.unsafe].min())
    first = float(alpha(1, S, A, H, episodes, delta))
    heard = {scale: int((scale * first / H) ** 2) + 1 for scale in SCALES}
    flags = int(LOOKS[-1]) - int((beta(np.arange(1, LOOKS[-1] + 1), S, delta) < gap).sum()) + 1
    each = episodes / (S * A)
    others = "; ".join(f"times {scale:g} from n = {heard[scale]:,}" for scale in SCALES[1:])
    figure = DescribedFigure(
        WIDE, 5.2,
        f"Two widths against the number of looks n. The bonus α(n) is below the cap H = {H} from "
        f"n = {heard[1.0]:,} on; {others}. There are {each:,.0f} visits for each (h, s, a) on "
        f"average in {episodes:,} episodes. The width β(n) is below the gap {gap:g} from n = "
        f"{flags:,} on.",
    )  # fmt: skip
    above = chart(figure, "", "")
    above.set_position((0.125, 0.53, 0.845, 0.42))
    below = chart(figure, "looks $n$", "")
    below.set_position((0.125, 0.115, 0.845, 0.31))
    for axes in (above, below):
        axes.set(xscale="log", yscale="log", xlim=(1, LOOKS[-1]))
        axes.xaxis.set_major_formatter("{x:,.0f}")
        axes.yaxis.set_major_formatter("{x:,g}")
    above.axhspan(H, 1e4, color=GREY, alpha=0.16, linewidth=0, gid="deaf")
    above.axhline(H, color=INK, linewidth=1.4, gid="cap")
    for scale, label in zip(SCALES, ("bonus α", "α / 10", "α / 100"), strict=True):
        above.plot(
            LOOKS, scale * first / np.sqrt(LOOKS), color=BLUE, linewidth=2.2 if scale == 1 else 1.4,
            linestyle="solid" if scale == 1 else (0, (5, 2)), gid=f"alpha/{scale:g}",
        )  # fmt: skip
        _say(above, 1.25, scale * first * 1.05, label, BLUE, va="bottom")
    above.plot(
        [heard[1.0]], [H], "o", color=BLUE, markersize=9, markeredgecolor=PAPER, zorder=6,
        gid="heard",
    )  # fmt: skip
    _say(above, heard[1.0] * 1.25, H * 1.5, f"{heard[1.0]:,}", BLUE, va="bottom")
    above.axvline(each, color=INK, linewidth=1.2, linestyle=(0, (1, 1.5)), gid="each")
    _say(above, each * 0.87, 0.1, f"{each:,.0f} visits on average\nto each (h, s, a)", ha="right")
    _say(above, LOOKS[-1] / 1.2, 2_200, "bonus above the cap: deaf", GREY, ha="right")
    _say(above, LOOKS[-1] / 1.2, H * 1.08, f"cap H = {H}", va="bottom", ha="right")
    above.set_ylim(0.03, 5_000)
    below.axhspan(1e-3, gap, color=PALE_ORANGE, linewidth=0, gid="flags")
    below.axhline(gap, color=INK, linewidth=1.4, gid="gap")
    below.plot(LOOKS, beta(LOOKS, S, delta), color=VERMILION, linewidth=2.2, gid="beta")
    below.plot(
        [flags], [gap], "s", color=VERMILION, markersize=9, markeredgecolor=PAPER, zorder=6,
        gid="flagged",
    )  # fmt: skip
    _say(below, flags * 1.25, gap * 1.25, f"{flags:,}", VERMILION, va="bottom")
    _say(below, 3, 3.2, "width β", VERMILION)
    water = f"gap, c − τ = {gap:g}"
    _say(below, LOOKS[-1] / 1.2, gap * 1.1, water, va="bottom", ha="right")
    _say(below, 1.25, 0.06, "below the gap: water is flagged, luck aside", GREY)
    below.set_ylim(0.03, 8)
    return figure


# the sweep -------------------------------------------------------------------------------------


def sweep(
    scales: Sequence[float],
    reward: Mapping[str, ArrayLike],
    violation: Mapping[str, ArrayLike],
    references: Mapping[str, float],
    proved: float,
) -> DescribedFigure:
    """Draw what runs end with against the factor on their bonus, a mark for each run.

    Parameters
    ----------
    scales : sequence of n numbers
        Decreasing; their distances are not drawn to scale.
    reward, violation : dict of (n, R) arrays
        For SUCBVI and UCBVI: the reward of a late episode and the violation in all.
    references : dict from str to float
        Lines across the picture of the reward.
    proved : float
        Down to this factor the regret of SUCBVI is proved.

    Examples
    --------
    >>> from safeteach.chapters.what_the_constants_really_do.figures import sweep
    >>> runs = {"SUCBVI": [[0, 0], [4, 3]], "UCBVI": [[0, 0], [7, 7]]}
    >>> many = {"SUCBVI": [[9, 8], [9, 7]], "UCBVI": [[90, 80], [90, 95]]}
    >>> print(sweep([1, 0.01], runs, many, {"safe optimum": 4}, proved=0.1).alt)
    What runs end with, against the factor on their bonus. Reward an episode, mean over the runs:
    SUCBVI 0 at 1, 3.5 at 0.01; UCBVI 0 at 1, 7 at 0.01; safe optimum 4. Violation in all: SUCBVI
    7 to 9; UCBVI 80 to 95. The regret of SUCBVI is proved at 1 only.
    """
    x = np.arange(len(scales))
    rows = {name: np.asarray(runs, float) for name, runs in reward.items()}
    sums = {name: np.asarray(runs, float) for name, runs in violation.items()}
    said = [
        f"{name} " + ", ".join(f"{y:.3g} at {s:g}" for s, y in zip(scales, r.mean(1), strict=True))
        for name, r in rows.items()
    ]
    said += [f"{name} {value:.3g}" for name, value in references.items()]
    spans = [
        f"{name} {math.floor(v.min()):,} to {math.ceil(v.max()):,}" for name, v in sums.items()
    ]
    held = [s for s in scales if s >= proved]
    figure = DescribedFigure(
        WIDE, 5.6,
        "What runs end with, against the factor on their bonus. Reward an episode, mean over the "
        f"runs: {'; '.join(said)}. Violation in all: {'; '.join(spans)}. The regret of SUCBVI is "
        f"proved at {listing([f'{s:g}' for s in held], 60)} only.",
    )  # fmt: skip
    above = chart(figure, "", "reward an episode")
    above.set_position((0.165, 0.54, 0.805, 0.41))
    below = chart(figure, "factor on the bonus", "violation in all")
    below.set_position((0.165, 0.105, 0.805, 0.37))
    for axes, values in ((above, rows), (below, sums)):
        axes.axvspan(-0.5, len(held) - 0.5, color=PALE_BLUE, linewidth=0, zorder=0, gid="proved")
        axes.xaxis.set_major_locator(FixedLocator(x.tolist()))
        axes.set_xticklabels([f"{s:g}" for s in scales])
        axes.set_xlim(-0.5, len(scales) - 0.5)
        for name, runs in values.items():
            color, marker, dashes = LEARNERS[name]
            for run in runs.T:
                axes.plot(
                    x, run, linestyle="none", color=color, marker=marker, markersize=5, alpha=0.5,
                    markeredgecolor="none", gid=f"run/{name}",
                )  # fmt: skip
            axes.plot(x, runs.mean(1), color=color, linestyle=dashes, linewidth=1.8, gid=name)
    above.set_xticklabels([])
    for name, value in references.items():
        above.axhline(value, color=GREY, linewidth=1.0, linestyle=(0, (1, 1.5)), gid=name)
        _say(above, -0.4, value, f"{name} {value:.2f}", GREY, va="bottom")
    top = max(references.values())
    above.set_ylim(-0.35, 1.2 * top)
    last = len(scales) - 1
    for name, runs in rows.items():
        end, color = runs[-1].mean(), LEARNERS[name][0]
        _say(above, last + 0.4, end - 0.07 * top, name, color, ha="right", va="top")
    for name, runs in sums.items():
        _say(below, last + 0.4, runs[-1].mean() / 1.5, name, LEARNERS[name][0], ha="right",
             va="top")  # fmt: skip
    below.set(yscale="log", ylim=(20, 40_000))
    below.yaxis.set_major_formatter("{x:,.0f}")
    _say(below, -0.4, 1_100, f"regret proved\ndown to {proved:.2g}", BLUE)
    return figure


# the other width -------------------------------------------------------------------------------

SHADES = (BLUE, INK, "#a04500", VERMILION)
DASHES = ("solid", (0, (1, 1.5)), (0, (7, 2, 1.5, 2)), (0, (5, 2)))


def shore(violation: Mapping[str, ArrayLike], broken: Mapping[str, int], runs: int) -> (
    DescribedFigure
):  # fmt: skip
    """Draw the mean violation so far for several factors on β, and how many runs lost the promise.

    Parameters
    ----------
    violation : dict of (K,) arrays
        By what stands at a curve.
    broken : dict of int
        In how many of the runs the start was believed to be doomed.
    runs : int

    Examples
    --------
    >>> from safeteach.chapters.what_the_constants_really_do.figures import shore
    >>> print(shore({"β": [1, 2, 2], "β / 10": [1, 3, 5]}, {"β": 0, "β / 10": 9}, runs=10).alt)
    Mean violation of 3 episodes. β: 2 in all, 2 after 1; false alarm in 0 of 10 runs. β / 10: 5
    in all, 3 after 1; false alarm in 9 of 10 runs.
    """
    sums = {name: np.asarray(total, float) for name, total in violation.items()}
    K = len(next(iter(sums.values())))
    half = K // 2
    said = [
        f"{name}: {total[-1]:.4g} in all, {total[half]:.4g} after {half:,}; false alarm in "
        f"{broken[name]} of {runs} runs."
        for name, total in sums.items()
    ]
    figure = DescribedFigure(WIDE, 3.9, f"Mean violation of {K:,} episodes. {' '.join(said)}")
    axes = chart(figure, "episodes", "violation so far")
    axes.set_position((0.125, 0.15, 0.845, 0.81))
    top = max(total.max() for total in sums.values())
    ends = _apart([float(total[-1]) for total in sums.values()], 0.085 * top)
    styles = zip(sums.items(), ends, SHADES, DASHES, strict=False)
    for (name, total), y, color, dashes in styles:
        axes.plot(
            np.arange(1, K + 1), total, color=color, linestyle=dashes, linewidth=2.2, gid=name
        )
        alarm = f"{name}: false alarm in {broken[name]} of {runs}"
        _say(axes, 1.03 * K, y, alarm, color)
    axes.set(xlim=(0, 1.97 * K), ylim=(0, 1.08 * top))
    axes.xaxis.set_major_locator(FixedLocator([0, half, K]))
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.spines["bottom"].set_bounds(0, K)
    return figure


def _apart(values: Sequence[float], least: float) -> list[float]:
    """The values, moved up where two are nearer than ``least``.

    >>> _apart([5.0, 1.0, 1.5], least=2.0)
    [5.0, 1.0, 3.0]
    """
    order = np.argsort(values)
    found = np.asarray(values, float).copy()
    for lower, upper in pairwise(order):
        found[upper] = max(found[upper], found[lower] + least)
    return [float(value) for value in found]


# where each bound begins to speak --------------------------------------------------------------


def proved_regret(
    kappa: float, S: int, A: int, H: int, K: float, delta: float, successors: int = 0
) -> float:
    """What is proved of the regret with a factor kappa >= 1/(7 √2) on the bonus.

    With ``successors`` no pair may have more of them; without, there may be S.

    >>> from safeteach.bounds import regret_bound
    >>> sizes = {"S": 25, "A": 4, "H": 12, "K": 20_000, "delta": 0.005}
    >>> regret_bound(**sizes) == proved_regret(1, **sizes)
    True
    >>> f"{proved_regret(0.1011, **sizes):,.0f}"
    '3,255,533'
    """
    log = math.log(S * A * H * K / delta)
    whole = 14 * math.sqrt(H**4 * S * A * K * (math.log(5) + log))
    fewer = math.sqrt((successors or S) * math.log(2) + log) - math.sqrt(S * math.log(2) + log)
    model = math.sqrt(2 * H**4 * S * A * K) * fewer
    return regret_bound(S, A, H, K, delta) - (1 - kappa) * whole + model


def begin_to_speak(mdp: SafeMDP, delta: float) -> dict[str, dict[str, int]]:
    """From which K on each bound is below what is true anyway, for :func:`speaks`.

    An episode loses at most H, and violates at most (1 - tau)(H - 1) if its start is safe.

    Examples
    --------
    >>> import safeteach as st
    >>> from safeteach.chapters.what_the_constants_really_do.figures import begin_to_speak
    >>> begin = begin_to_speak(st.instances.ice_corridor(), 0.005)
    >>> begin["regret"]["in every world"], begin["violation"]["map, for ever"]
    (38776669, 956)
    """
    S, A, H = mdp.S, mdp.A, mdp.H
    support = mdp.support()
    most = S**2 * A * (H - 1)
    edges = int(support[:-1].sum())
    into_doom = int((support[:-1] & potentially_unsafe(mdp)[1:, None, None]).sum())
    gaps = (mdp.c - mdp.tau)[mdp.unsafe]
    unsafe, gap = gaps.size, float(gaps.min())
    of: dict[str, Any] = {"S": S, "A": A, "H": H, "delta": delta}
    wet: dict[str, Any] = {"S": S, "H": H, "tau": mdp.tau, "delta": delta}
    looks = sum(g * (visits_until_flagged(float(g), S, delta) - 1 + H) for g in gaps)

    def for_ever(edges: int) -> float:
        return float((1 - mdp.tau) * H * edges + looks)

    regret = {
        "in every world": lambda K: regret_bound(K=K, **of),
        "few successors": lambda K: proved_regret(
            1, K=K, successors=int(support.sum(axis=-1).max()), **of
        ),
        "few dangerous pairs": lambda K: regret_bound_masks(K=K, **of),
        "by variances": lambda K: regret_bound_variances(
            K=K, successors=float(support.sum(axis=-1).mean()), **of
        ),
        "a tenth of the bonus": lambda K: proved_regret(LEAST_PROVED, K=K, **of),
    }
    violation = {
        "sizes only, root": lambda K: violation_bound(K=K, unsafe=S - 1, edges=most, **wet),
        "the water, for ever": lambda _: for_ever(most),
        "map, root": lambda K: violation_bound(K=K, unsafe=unsafe, edges=edges, **wet),
        "map, gap": lambda K: violation_bound_gap(K=K, unsafe=unsafe, edges=edges, gap=gap, **wet),
        "map, for ever": lambda _: for_ever(edges),
        "map, into doom": lambda _: for_ever(into_doom),
    }
    worst = (1 - mdp.tau) * (H - 1)
    return {
        "regret": {name: begins(bound, H) for name, bound in regret.items()},
        "violation": {name: begins(bound, worst) for name, bound in violation.items()},
    }


IN_SHORT = {  # what the lesson shows of begin_to_speak
    "regret": {
        "the whole bonus": "in every world",
        "a tenth of the bonus": "a tenth of the bonus",
    },
    "violation": {
        "knowing S, A and H": "sizes only, root",
        "… and the water": "the water, for ever",
        "… and the map": "map, into doom",
    },
}


def in_short(begin: Mapping[str, Mapping[str, int]]) -> dict[str, dict[str, int]]:
    """Of what :func:`begin_to_speak` found, the best bound for each kind of knowledge.

    Examples
    --------
    >>> import safeteach as st
    >>> from safeteach.chapters.what_the_constants_really_do import figures
    >>> begin = figures.begin_to_speak(st.instances.ice_corridor(), 0.005)
    >>> short = figures.in_short(begin)
    >>> short["violation"]["… and the map"] == begin["violation"]["map, into doom"]
    True
    """
    return {
        about: {label: begin[about][name] for label, name in rows.items()}
        for about, rows in IN_SHORT.items()
    }


def begins(bound: Callable[[int], float], trivial: float) -> int:
    """The least K from which on bound(K) < trivial K; the two cross once.

    >>> begins(lambda K: 10 * K**0.5, trivial=1)
    101
    """
    low, high = 0, 1
    while bound(high) >= trivial * high:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if bound(middle) < trivial * middle else (middle, high)
    return high


def speaks(begin: Mapping[str, Mapping[str, int]], played: int) -> DescribedFigure:
    """Draw from how many episodes on each bound is below what is true without it.

    Parameters
    ----------
    begin : dict of dicts
        By what the bounds are about ("regret", "violation"): by name, the number of episodes.
    played : int
        The episodes of an experiment.

    Examples
    --------
    >>> from safeteach.chapters.what_the_constants_really_do.figures import speaks
    >>> print(speaks({"regret": {"always": 10**8}, "violation": {"gap": 2500}}, 20_000).alt)
    From how many episodes on a bound says something. regret: always 100,000,000. violation: gap
    2,500. An experiment has 20,000.
    """
    said = [
        f"{about}: " + ", ".join(f"{name} {K:,}" for name, K in rows.items())
        for about, rows in begin.items()
    ]
    count = sum(map(len, begin.values())) + 2 * len(begin) - 1
    height = 0.75 + 0.29 * count
    figure = DescribedFigure(
        WIDE, height,
        f"From how many episodes on a bound says something. {'. '.join(said)}. An experiment has "
        f"{played:,}.",
    )  # fmt: skip
    axes = chart(figure, "says something from so many episodes on", "")
    axes.set_position((0.365, 0.55 / height, 0.605, 1 - 0.63 / height))
    y = 0.0
    styles = {"regret": (BLUE, "o"), "violation": (VERMILION, "s")}
    for about, rows in begin.items():
        color, marker = styles[about]
        _beside(axes, y, about, color, weight="bold")
        y -= 1
        for name, K in rows.items():
            axes.plot([1, K], [y, y], color=LINE, linewidth=1.2, zorder=1)
            axes.plot(
                [K], [y], marker, color=color, markersize=9, markeredgecolor=PAPER,
                gid=f"{about}/{name}",
            )  # fmt: skip
            _beside(axes, y, name, INK)
            _say(axes, 1.5 * K, y, f"{K:,}", color)
            y -= 1
        y -= 1
    axes.axvline(played, color=INK, linewidth=1.2, linestyle=(0, (1, 1.5)), gid="played")
    _say(axes, played * 1.3, 0.0, f"{played:,} episodes")
    last = max(max(rows.values()) for rows in begin.values())
    axes.set(xscale="log", xlim=(3e2, 300 * last), ylim=(y + 1.4, 0.7))
    axes.xaxis.set_major_locator(FixedLocator([1e3, 1e6, 1e9]))
    axes.set_xticklabels(["1,000", "a million", "a billion"])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_locator(NullLocator())
    axes.spines["left"].set_visible(False)
    return figure


def _beside(axes: Axes, y: float, text: str, color: str, weight: str = "normal") -> None:
    axes.text(
        -0.03, y, text, transform=axes.get_yaxis_transform(), ha="right", va="center", color=color,
        fontsize=TEXT, fontfamily=FONT, fontweight=weight,
    )  # fmt: skip


# two doors -------------------------------------------------------------------------------------


def doors(scales: Sequence[float], regret: ArrayLike, stuck: ArrayLike) -> DescribedFigure:
    """Draw the regret of every run against the factor on the bonus; runs that are stuck stand out.

    Parameters
    ----------
    scales : sequence of n numbers
        Decreasing; their distances are not drawn to scale.
    regret : (n, R) array
    stuck : (n, R) array of bool

    Examples
    --------
    >>> from safeteach.chapters.what_the_constants_really_do.figures import doors
    >>> print(doors([1, 0], [[30, 31], [2, 60]], [[0, 0], [0, 1]]).alt)
    Regret of 2 runs for each factor on the bonus. 1: mean 30.5, at most 31, 0 stuck. 0: mean 31,
    at most 60, 1 stuck.
    """
    lost, caught = np.asarray(regret, float), np.asarray(stuck, bool)
    runs = lost.shape[1]
    said = [
        f"{s:g}: mean {row.mean():.3g}, at most {row.max():.3g}, {bad.sum()} stuck."
        for s, row, bad in zip(scales, lost, caught, strict=True)
    ]
    figure = DescribedFigure(
        WIDE, 3.9, f"Regret of {runs} runs for each factor on the bonus. {' '.join(said)}"
    )
    axes = chart(figure, "factor on the bonus", "regret of a run")
    axes.set_position((0.125, 0.15, 0.845, 0.69))
    aside = 0.5 * (((np.arange(runs) * 0.618034) % 1) - 0.5)  # spread evenly, the same each time
    top = 1.08 * lost.max()
    for i, (row, bad) in enumerate(zip(lost, caught, strict=True)):
        for some, color, marker, gid in ((~bad, BLUE, "o", "free"), (bad, VERMILION, "s", "stuck")):
            axes.plot(
                i + aside[some], row[some], marker, color=color, markersize=5, alpha=0.55,
                markeredgecolor="none", gid=f"{gid}/{i}",
            )  # fmt: skip
        _say(
            axes, i, 1.04 * top, f"{bad.sum()}", VERMILION if bad.any() else INK, ha="center",
            va="bottom",
        )  # fmt: skip
    axes.plot(np.arange(len(scales)), lost.mean(1), color=INK, linewidth=1.8, gid="mean")
    _say(axes, 0.08, lost[0].mean() + 0.07 * top, "mean", va="bottom")
    axes.text(
        0.0, 1.13, f"of {runs} runs, stuck at the left door:", transform=axes.transAxes, ha="left",
        va="bottom", color=INK, fontsize=TEXT, fontfamily=FONT,
    )  # fmt: skip
    axes.xaxis.set_major_locator(FixedLocator(list(range(len(scales)))))
    axes.set_xticklabels([f"{s:g}" for s in scales])
    axes.set(xlim=(-0.5, len(scales) - 0.5), ylim=(0, top))
    return figure


# the server room -------------------------------------------------------------------------------


def room(unsafe: Mapping[str, ArrayLike]) -> DescribedFigure:
    """Draw the number of unsafe episodes so far, on logarithmic scales, a curve for each learner.

    Parameters
    ----------
    unsafe : dict of (K,) arrays of bool
        By what stands at the curve, which episodes were unsafe.

    Examples
    --------
    >>> from safeteach.chapters.what_the_constants_really_do.figures import room
    >>> print(room({"UCBVI": [1, 1, 1, 1], "told": [1, 0, 0, 0]}).alt)
    Unsafe hours of 4. UCBVI: 4, 2 of them in the second half. told: 1, 0 of them in the second
    half.
    """
    sums = {name: np.cumsum(np.asarray(bad, bool)) for name, bad in unsafe.items()}
    K = len(next(iter(sums.values())))
    said = [
        f"{name.replace(chr(10), ' ')}: {total[-1]:,}, {total[-1] - total[K // 2 - 1]:,} of them "
        f"in the second half."
        for name, total in sums.items()
    ]
    figure = DescribedFigure(WIDE, 4.2, f"Unsafe hours of {K:,}. {' '.join(said)}")
    axes = chart(figure, "hours so far", "unsafe hours so far")
    axes.set_position((0.165, 0.14, 0.815, 0.82))
    heights = _apart([float(np.log(max(total[-1], 1))) for total in sums.values()], 0.62)
    styles = zip(sums.items(), heights, SHADES[::-1], DASHES[::-1], strict=False)
    for (name, total), height, color, dashes in styles:
        seen = _thinned(total)
        axes.plot(seen + 1, total[seen], color=color, linestyle=dashes, linewidth=2.2, gid=name)
        _say(axes, 1.15 * K, float(np.exp(height)), f"{name}: {total[-1]:,}", color)
    axes.set(xscale="log", yscale="log", xlim=(10, 300 * K), ylim=(1, 2 * K))
    axes.xaxis.set_major_locator(FixedLocator([10, 100, 1_000, K]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.spines["bottom"].set_bounds(10, K)
    return figure


def _thinned(total: NDArray[np.int_]) -> NDArray[np.int_]:
    """Which points of a curve to draw on a logarithmic axis."""
    return np.unique(np.geomspace(1, len(total), 400).round().astype(int)) - 1
