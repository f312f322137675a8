"""The pictures of the chapter *Costs, thresholds, violation*.

- The laws of the cost under two policies: equal means, and only one of them is ever unsafe.
- The map of costs: what a threshold calls unsafe, and the violation of one walk across it.
- Which steps of an episode count.
- Noisy looks at a few states, and how the probability of error falls with their number.
- What moves with the threshold, and which gap is the worst for a learner.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from statistics import NormalDist
from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.patches import Rectangle
from matplotlib.patheffects import withStroke
from numpy.typing import ArrayLike, NDArray

from safeteach.figures.chart import CHART, chart, draw_averages, running_averages, spread
from safeteach.figures.described import (
    BLUE,
    FONT,
    GREY,
    INK,
    LINE,
    PALE_BLUE,
    PAPER,
    TEXT,
    UNSAFE,
    VERMILION,
    WIDEST,
    DescribedFigure,
    Point,
    arrow,
    draw_state,
    listing,
    sheet,
    state_radius,
    write,
)
from safeteach.figures.grid import cell_letter, cell_middles, check_grid, draw_ground
from safeteach.instances import GridMDP
from safeteach.planning.evaluation import evaluate
from safeteach.planning.induction import safe_optimal
from safeteach.safety import is_feasible
from safeteach.worlds.mdp import SafeMDP

__all__ = ["costs", "counted", "errors", "laws", "looks", "moving", "worst_gap"]

CELL = 0.72  # inches
MARGIN = 0.2
BETWEEN = 0.1  # least room between the states of two cells
HEADING = 0.42
STRIP, AXIS = 1.15, 0.5  # of the bars below the map: their height for cost 1, and what is below
SMOKE = "#8a8a8a"  # the shade of cost 1; black numbers stay readable on it
DASHES = (0, (5, 2))
BELOW: dict[str, Any] = {"facecolor": PALE_BLUE, "edgecolor": BLUE, "linewidth": 1.2}
EXCESS: dict[str, Any] = {"facecolor": VERMILION, "edgecolor": INK, "linewidth": 1.2, "hatch": "xx"}
LETTER = 0.2  # inches from one line of text to the next, at least


def laws(mdp: SafeMDP, policies: Mapping[str, ArrayLike]) -> DescribedFigure:
    """Draw how likely each cost is at each step under two policies, side by side.

    A block stands at its cost and is as wide as the cost is likely; the dashed line is the mean.

    Parameters
    ----------
    mdp : SafeMDP
        With few different costs and few steps.
    policies : mapping from str to (H, S) actions or (H, S, A) probabilities
        Two, by what is written above them.

    Returns
    -------
    DescribedFigure

    Examples
    --------
    >>> import safeteach as st
    >>> from safeteach.chapters.costs_thresholds_violation import figures
    >>> coin = st.SafeMDP([[[1, 0], [0.5, 0.5]]] * 2, [[0, 0]] * 2, c=[0, 1], tau=0.5, H=2)
    >>> print(figures.laws(coin, {"stay": [[0, 0]] * 2, "toss": [[1, 1]] * 2}).alt)
    How likely each cost is at each of 2 steps, against the threshold 0.5. stay: mean costs 0, 0;
    violation 0; ever above the threshold 0%. toss: mean costs 0, 0.5; violation 0.25; ever above
    the threshold 50%.
    """
    if len(policies) != 2:
        raise ValueError(f"{len(policies)} policies; two can be drawn side by side")
    found = {name: (evaluate(mdp, policy), _laws(mdp, policy)) for name, policy in policies.items()}
    said = [
        f" {name}: mean costs {', '.join(f'{mean:.3g}' for mean in law @ mdp.c)}; violation "
        f"{e.violation:.3g}; ever above the threshold {e.unsafe_probability:.0%}."
        for name, (e, law) in found.items()
    ]
    figure = DescribedFigure(
        5.7, 3.7,
        alt=f"How likely each cost is at each of {mdp.H} steps, against the threshold "
        f"{mdp.tau:.3g}.{''.join(said)}",
    )  # fmt: skip
    for column, (name, (e, law)) in enumerate(found.items()):
        axes = chart(figure, "step $h$", "" if column else "cost")
        axes.set_position((0.105 + 0.415 * column, 0.145, 0.37, 0.66))
        axes.tick_params(labelleft=not column)
        axes.set(xlim=(0.5, mdp.H + 0.5), ylim=(-0.08, 1.22), xticks=np.arange(1, mdp.H + 1),
                 yticks=(0, 0.5, 1))  # fmt: skip
        axes.axhline(mdp.tau, color=INK, linewidth=1.6)
        for h, cost in itertools.product(range(1, mdp.H + 1), np.unique(mdp.c)):
            _draw_block(axes, h, float(cost), float(law[h - 1, mdp.c == cost].sum()), mdp.tau)
        axes.plot(range(1, mdp.H + 1), law @ mdp.c, color=BLUE, linestyle=DASHES, linewidth=1.8,
                  marker="o", markersize=5, gid=f"mean/{name}", zorder=5)  # fmt: skip
        heading = (
            f"{name}: violation {e.violation:.2g}\n"
            f"ever above $\\tau$: {e.unsafe_probability:.0%}"
        )
        _say(axes, (mdp.H + 1) / 2, 1.3, heading, at=("center", "bottom"))
        if column:
            _say(axes, mdp.H + 0.6, mdp.tau, r"$\tau$")
            last = float(law[-1] @ mdp.c)
            least = LETTER * 1.3 / (0.66 * 3.7)
            apart = math.copysign(max(abs(last - mdp.tau), least), last - mdp.tau)
            _say(axes, mdp.H + 0.6, mdp.tau + apart, "mean", colour=BLUE)
    return figure


def _laws(mdp: SafeMDP, policy: ArrayLike) -> NDArray[np.float64]:
    """(H, S) the probability of each state at each step."""
    chosen = np.asarray(policy)
    chances = np.eye(mdp.A)[chosen] if chosen.ndim == 2 else chosen
    law = np.zeros((mdp.H, mdp.S))
    law[0, mdp.s1] = 1
    for i in range(mdp.H - 1):
        law[i + 1] = np.einsum("s,sa,sat->t", law[i], chances[i], mdp.P[i])
    return law


def _draw_block(axes: Axes, h: int, cost: float, chance: float, tau: float) -> None:
    if chance == 0:
        return
    width, height = 0.84 * chance, 0.075
    look = EXCESS if cost > tau else BELOW
    gid = f"block/{h}/{cost:.3g}/{chance:.3g}"
    block = Rectangle((h - width / 2, cost - height / 2), width, height, zorder=3, gid=gid, **look)
    axes.add_artist(block)
    if chance < 1:
        _say(axes, h, cost + 0.06, f"{chance:.0%}", at=("center", "bottom"))


def _say(
    axes: Axes,
    x: float,
    y: float,
    text: str,
    colour: str = INK,
    at: tuple[Literal["left", "center", "right"], Literal["bottom", "center", "top"]] = (
        "left",
        "center",
    ),
) -> None:
    """Write at a place of a chart, with paper around the letters."""
    axes.text(x, y, text, color=colour, ha=at[0], va=at[1], fontsize=TEXT, fontfamily=FONT,
              linespacing=1.3, zorder=6,
              path_effects=[withStroke(linewidth=3, foreground=PAPER)])  # fmt: skip


def costs(mdp: SafeMDP, tau: float | None = None, path: Sequence[int] = ()) -> DescribedFigure:
    r"""Draw the cost of every cell of a map, and which of them a threshold makes unsafe.

    Each cell holds its :math:`c(s)`, as a number and as a shade of grey.  A state with
    :math:`c(s) > \tau` is unsafe; one with :math:`c(s) = \tau` is not.

    Parameters
    ----------
    mdp : GridMDP
        About 10 cells wide at most.
    tau : float, optional
        A threshold in [0, 1]; the world's own by default.
    path : sequence of int, optional
        The states of one episode, :math:`s_1 \ldots s_H`.  Its way is drawn, below the map stands
        the cost of each of its steps, and above it its violation
        :math:`\sum_h (c(s_h) - \tau)_+`.

    Returns
    -------
    DescribedFigure

    Notes
    -----
    The cost, the threshold and the violation are those of Section 3 of the paper.

    Examples
    --------
    >>> import safeteach as st
    >>> from safeteach.chapters.costs_thresholds_violation import figures
    >>> mdp = st.instances.smoke()
    >>> walk = st.rollout(mdp, st.optimal(mdp).policy, seed=0).states[:-1]
    >>> print(figures.costs(mdp, tau=0.6, path=walk).alt)
    Map of 34 cells with costs from 0 to 0.9. At the threshold τ = 0.6, 4 are unsafe: (0,3), (1,2),
    (1,4), (2,3). An episode of 14 steps passes (2,0), (2,1), (2,2), (2,3), (2,4), (2,5), (2,6). Its
    steps above the threshold: step 4 (0.9). Its violation is 0.3.
    """
    world = check_grid(mdp)
    tau = mdp.tau if tau is None else tau
    if not 0 <= tau <= 1:
        raise ValueError(f"tau is {tau}; the threshold must lie in [0, 1]")
    path = [mdp.check_state(int(s)) for s in path]

    labels = [f"{cost:.3g}" for cost in mdp.c]
    radius = state_radius(labels)
    rows, columns = len(world.map), len(world.map[0])
    most = int((WIDEST - 2 * MARGIN) / (2 * radius + BETWEEN))
    if columns > most:
        raise ValueError(
            f"the map is {columns} cells wide; at most {most} leave room for these costs"
        )
    size = min(CELL, (WIDEST - 2 * MARGIN) / columns)
    width = max(columns * size + 2 * MARGIN, 5.4)
    bottom = STRIP + AXIS + 0.15 if path else MARGIN
    height = bottom + rows * size + HEADING
    corner = ((width - columns * size) / 2, bottom)
    middles = cell_middles(world, corner, size)

    figure, axes = sheet(width, height, _describe_costs(mdp, tau, path))
    draw_ground(axes, world, corner, size)
    _draw_shades(axes, world, corner, size)
    for s, middle in enumerate(middles):
        if mdp.c[s] > tau:
            draw_state(axes, middle, UNSAFE, radius, labels[s], gid=f"state/{s}/{UNSAFE.name}")
        else:  # no kind: it may still be doomed, and this figure does not know
            write(axes, middle, labels[s])
        if letter := cell_letter(world, s):
            write(axes, middle + np.array([-0.36, 0.36]) * size, letter)
    gap = 1.12 * radius
    for s, t in _ways(path):
        ends = middles[s], middles[t]
        arrow(axes, *ends, color=INK, width=2.2, gap=(gap, gap), gid=f"path/{s}/{t}")
    write(axes, (width / 2, height - HEADING / 2), _heading(mdp, tau, path))
    if path:
        _draw_strip(axes, mdp.c[path], tau, width)
    return figure


def _draw_strip(axes: Axes, c: NDArray[np.float64], tau: float, width: float) -> None:
    """Draw the costs of the steps of an episode as bars along the bottom of a sheet."""
    left, right, foot = 0.62, width - 0.42, AXIS
    step = (right - left) / c.size
    for i, cost in enumerate(c.tolist()):
        x = left + (i + 0.12) * step
        if cost:
            bar = Rectangle((x, foot), 0.76 * step, STRIP * min(cost, tau), **BELOW)
            axes.add_artist(bar)
        if cost > tau:
            excess = Rectangle((x, foot + STRIP * tau), 0.76 * step, STRIP * (cost - tau), **EXCESS)
            excess.set(gid=f"excess/{i + 1}/{cost - tau:.3g}")
            axes.add_artist(excess)
        write(axes, (left + (i + 0.5) * step, foot - 0.14), f"{i + 1}")
    axes.plot([left, right], [foot, foot], color=GREY, linewidth=1)
    line = [foot + STRIP * tau] * 2
    axes.plot([left, right], line, color=INK, linewidth=1.6, gid="threshold", zorder=3)
    write(axes, (right + 0.06, line[0]), "τ", align="left")
    write(axes, ((left + right) / 2, foot - 0.36), "cost of each step of the walk")
    for cost in (0, 1):
        write(axes, (left - 0.1, foot + STRIP * cost), f"{cost}", align="right")


def _violation(mdp: SafeMDP, tau: float, path: Sequence[int]) -> float:
    return float(np.maximum(mdp.c[list(path)] - tau, 0).sum())


def _ways(path: Sequence[int]) -> list[tuple[int, int]]:
    """The moves of a path from one state to another, each once."""
    return list(dict.fromkeys((s, t) for s, t in itertools.pairwise(path) if s != t))


def _draw_shades(axes: Axes, mdp: GridMDP, corner: Point, size: float) -> None:
    """Lay the shade of its cost over each cell, as one mesh: much quicker than cell by cell."""
    rows, columns = len(mdp.map), len(mdp.map[0])
    shades = np.zeros((rows, columns, 4))  # walls stay clear
    white, full = np.ones(4), np.array(to_rgba(SMOKE))
    shades[tuple(mdp.cells.T)] = white + mdp.c[:, None] * (full - white)
    x = corner[0] + np.arange(columns + 1) * size
    y = corner[1] + np.arange(rows, -1, -1) * size
    axes.pcolormesh(x, y, shades, edgecolors=LINE, linewidth=0.8, zorder=1.2, gid="shades")


def _heading(mdp: SafeMDP, tau: float, path: Sequence[int]) -> str:
    # Plain text: mathematics that is new in every picture takes a third of its time.
    said = f"τ = {tau:g}:  {int((mdp.c > tau).sum())} of {mdp.S} cells unsafe"
    if path:
        said += f",  violation of the walk {_violation(mdp, tau, path):.3g}"
    return said


def _describe_costs(mdp: SafeMDP, tau: float, path: Sequence[int]) -> str:
    unsafe = [mdp.state_name(int(s)) for s in np.flatnonzero(mdp.c > tau)]
    said = (
        f"Map of {mdp.S} cells with costs from {mdp.c.min():g} to {mdp.c.max():g}. "
        f"At the threshold τ = {tau:g}, {len(unsafe)} {'is' if len(unsafe) == 1 else 'are'} unsafe"
        f"{': ' + listing(unsafe, 150) if unsafe else ''}."
    )
    if path:
        visited = [mdp.state_name(s) for s in dict.fromkeys(path)]
        above = [f"step {h} ({mdp.c[s]:.3g})" for h, s in enumerate(path, 1) if mdp.c[s] > tau]
        said += (
            f" An episode of {len(path)} step{'s' * (len(path) > 1)} passes "
            f"{listing(visited, 150)}. Its steps above the threshold: {listing(above)}. "
            f"Its violation is {_violation(mdp, tau, path):.3g}."
        )
    return said


def counted(costs: ArrayLike, tau: float) -> DescribedFigure:
    r"""Draw which of the H + 1 states of an episode count, and what each adds to the violation.

    Parameters
    ----------
    costs : (H + 1,) array
        :math:`c(s_1) \ldots c(s_{H+1})`; the last one comes after the last step.
    tau : float
        Threshold.

    Returns
    -------
    DescribedFigure

    Examples
    --------
    >>> from safeteach.chapters.costs_thresholds_violation import figures
    >>> print(figures.counted([0.8, 0.5, 0.2, 1.0], tau=0.5).alt)
    Costs of 3 steps and of the state after them, against the threshold 0.5. Step 1: 0.8, adds 0.3.
    Step 2: 0.5, equal to the threshold, adds 0. Step 3: 0.2, below it, adds 0. After the last step:
    1, not counted.
    """
    c = np.asarray(costs, float)
    if c.ndim != 1 or c.size < 2:
        raise ValueError(f"costs has shape {c.shape}; expected (H + 1,) with H >= 1")
    H = c.size - 1
    said = [f"Step {h}: {cost:.3g}, {_says(cost, tau)}." for h, cost in enumerate(c[:-1], 1)]
    figure = DescribedFigure(
        *CHART,
        alt=f"Costs of {H} step{'s' * (H > 1)} and of the state after them, against the threshold "
        f"{tau:.3g}. {' '.join(said)} After the last step: {c[-1]:.3g}, not counted.",
    )
    axes = chart(figure, "", "cost")
    axes.set_position((0.17, 0.1, 0.82, 0.85))
    states = [f"$s_{{{h}}}$" for h in range(1, H + 2)]
    axes.set(xlim=(0.45, H + 1.6), ylim=(0, max(1.15, c[-1] + 0.5)))
    axes.set_xticks(np.arange(1, H + 2), states)
    for h, cost in enumerate(c[:-1].tolist(), 1):
        axes.add_artist(Rectangle((h - 0.36, 0), 0.72, min(cost, tau), **BELOW))
        if cost > tau:
            excess = Rectangle((h - 0.36, tau), 0.72, cost - tau, gid=f"excess/{h}", **EXCESS)
            axes.add_artist(excess)
        words = _says(cost, tau).replace(" to the threshold, ", ":\n").replace(" it, ", ":\n")
        words = f"first step:\n{words}" if h == 1 else words
        _say(axes, h, cost + 0.04, words, at=("center", "bottom"))
    after = Rectangle((H + 0.64, 0), 0.72, c[-1], fill=False, edgecolor=GREY, linewidth=1.2)
    after.set(linestyle=(0, (2, 2)), gid="after")
    axes.add_artist(after)
    words = "after the\nlast step:\nnot counted"
    _say(axes, H + 1, c[-1] + 0.04, words, GREY, ("center", "bottom"))
    axes.plot([0.45, H + 0.5], [tau, tau], color=INK, linewidth=1.6, gid="threshold")
    axes.set_yticks([0, tau, 1], ["0", rf"$\tau$ = {tau:.3g}", "1"])
    return figure


def _says(cost: float, tau: float) -> str:
    if cost > tau:
        return f"adds {cost - tau:.3g}"
    return "equal to the threshold, adds 0" if cost == tau else "below it, adds 0"


def looks(samples: Mapping[str, ArrayLike], tau: float) -> DescribedFigure:
    r"""Draw the average of the first n looks at each state against n, with the threshold.

    The axis of n is logarithmic: what n must be depends on the gap :math:`|c(s) - \tau|` by its
    square, so that states differ by factors.  A dot marks the look from which on an average stays
    on its side.

    Parameters
    ----------
    samples : mapping from str to (N,) arrays
        The noisy costs seen in one to three states, by what is written at their lines.
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
    >>> from safeteach.chapters.costs_thresholds_violation import figures
    >>> print(figures.looks({"hot": [0.4, 1.0, 1.0], "cold": [0.0, 0.1, 0.2]}, tau=0.5).alt)
    Running averages of noisy looks against the threshold 0.5. hot: 0.8 after 3 looks, above the
    threshold from look 2 on. cold: 0.1 after 3 looks, not above it from look 1 on.
    """
    running = running_averages(samples)
    said = " ".join(f"{name}: {_describe_looks(mean, tau)}" for name, mean in running.items())
    figure = DescribedFigure(
        *CHART, f"Running averages of noisy looks against the threshold {tau:.3g}. {said}"
    )
    axes = chart(figure, "number of looks $n$", "average of the first $n$")
    axes.set_position((0.16, 0.165, 0.66, 0.79))
    axes.axhline(tau, color=INK, linewidth=1.6, gid="threshold")
    draw_averages(axes, running)
    for line in axes.lines[1:]:
        mean = np.asarray(line.get_ydata())
        n = settled(mean, tau)
        (dot,) = axes.plot([n], [mean[n - 1]], "o", color=line.get_color(), markersize=8)
        dot.set(markeredgecolor=INK, gid=f"settled/{line.get_gid()}", zorder=5, clip_on=False)
    axes.set_xscale("log")
    most = max(2, *(mean.size for mean in running.values()))
    axes.set_xlim(1, most)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    low, high = axes.get_ylim()
    ticks = [y for y in np.arange(-3, 3.1, 0.5) if low < y < high and abs(y - tau) > 0.2]
    axes.set_yticks([*ticks, tau], [*(f"{y:g}" for y in ticks), rf"$\tau$ = {tau:.3g}"])
    axes.set_ylim(low, high)
    ends = spread([mean[-1] for mean in running.values()], LETTER * (high - low) / (0.79 * 3.5))
    for line, (name, mean), y in zip(
        [line for line in axes.lines if line.get_gid() in running], running.items(), ends,
        strict=True,
    ):  # fmt: skip
        _say(axes, mean.size * most**0.02, y, name, str(line.get_color()))
    return figure


def settled(mean: NDArray[np.float64], tau: float) -> int:
    """From which look on an average is on the side of the threshold on which it ends.

    >>> settled(np.array([0.0, 1.0, 0.9]), tau=0.5)
    2
    """
    above = mean > tau
    elsewhere = np.flatnonzero(above != above[-1])
    return 1 if not elsewhere.size else int(elsewhere[-1]) + 2


def _describe_looks(mean: NDArray[np.float64], tau: float) -> str:
    """Say where an average ends, and from which look on it is on that side of the threshold."""
    side = "above the threshold" if mean[-1] > tau else "not above it"
    n = mean.size
    return (
        f"{mean[-1]:.3g} after {n} look{'s' * (n > 1)}, {side} from look {settled(mean, tau)} on."
    )


def errors(
    gaps: Sequence[float],
    delta: float,
    simulated: Mapping[float, Mapping[int, float]] | None = None,
) -> DescribedFigure:
    r"""Draw the probability that an average of n normal looks is on the wrong side, against n.

    Parameters
    ----------
    gaps : sequence of float
        A line for each, :math:`\Phi(-g \sqrt n)`.
    delta : float
        The level at which is marked how many looks each gap needs.
    simulated : mapping from gap to (mapping from n to share of errors), optional
        Drawn as crosses.

    Returns
    -------
    DescribedFigure

    Examples
    --------
    >>> from safeteach.chapters.costs_thresholds_violation import figures
    >>> print(figures.errors([0.4, 0.2], delta=0.05).alt)
    Probability that the average of n looks is on the wrong side of the threshold, against n on a
    logarithmic axis. It falls to 0.05 at n = 17 for the gap 0.4, n = 68 for the gap 0.2.
    """
    normal = NormalDist()
    q = -normal.inv_cdf(delta)
    needed = {gap: math.ceil((q / gap) ** 2) for gap in gaps}
    told = ", ".join(f"n = {n:,} for the gap {gap:g}" for gap, n in needed.items())
    figure = DescribedFigure(
        *CHART,
        alt="Probability that the average of n looks is on the wrong side of the threshold, "
        f"against n on a logarithmic axis. It falls to {delta:g} at {told}.",
    )
    axes = chart(figure, "number of looks $n$", "probability of error")
    axes.set_position((0.125, 0.165, 0.845, 0.79))
    least, most = 1.0, 4.0 * max(needed.values())
    n = np.geomspace(least, most, 240)
    axes.axhline(delta, color=INK, linewidth=1.2, linestyle=DASHES, gid="delta")
    _say(axes, least * 1.1, delta, rf"$\delta$ = {delta:g}", at=("left", "bottom"))
    for gap in gaps:
        error = [normal.cdf(-gap * math.sqrt(m)) for m in n]
        axes.plot(n, error, color=BLUE, linewidth=2, gid=f"gap/{gap:g}")
        axes.plot([needed[gap]], [delta], "o", color=PAPER, markeredgecolor=BLUE, markersize=11,
                  markeredgewidth=1.8, zorder=5, gid=f"needed/{gap:g}/{needed[gap]}")  # fmt: skip
        _say(axes, needed[gap] * 1.14, delta + 0.012, f"{needed[gap]:,}", at=("left", "bottom"))
        on_it = (-normal.inv_cdf(0.29) / gap) ** 2
        label = axes.text(on_it, 0.29, f"$g$ = {gap:g}", color=BLUE, ha="center", va="center")
        label.set(fontsize=TEXT, fontfamily=FONT, zorder=5)
        label.set_bbox({"facecolor": PAPER, "edgecolor": "none", "pad": 2})
        if seen := (simulated or {}).get(gap):
            axes.plot(list(seen), list(seen.values()), "x", color=VERMILION, markersize=8,
                      markeredgewidth=2, zorder=6, gid=f"simulated/{gap:g}")  # fmt: skip
    axes.set_xscale("log")
    axes.set(xlim=(least, most), ylim=(0, 0.5))
    axes.xaxis.set_major_formatter("{x:,.0f}")
    return figure


def moving(mdp: SafeMDP, policy: ArrayLike) -> DescribedFigure:
    r"""Draw the violation of a policy and the best safe value against the threshold.

    Parameters
    ----------
    mdp : SafeMDP
        Its own threshold plays no part.
    policy : (H, S) actions or (H, S, A) probabilities

    Returns
    -------
    DescribedFigure

    Examples
    --------
    >>> import safeteach as st
    >>> from safeteach.chapters.costs_thresholds_violation import figures
    >>> mdp = st.instances.smoke()
    >>> print(figures.moving(mdp, st.optimal(mdp).policy).alt)
    Against the threshold τ from 0 to 1. Violation of the policy: 2.7 at 0, 1.2 at 0.3, 0.3 at 0.6,
    0 at 0.9, and straight lines between. Value of the best safe policy: 0 from 0 on, 4 from 0.3 on,
    6 from 0.6 on, 8 from 0.9 on.
    """
    kinks = np.unique([0.0, *mdp.c])
    worlds = [SafeMDP(mdp.P, mdp.r, mdp.c, float(tau), mdp.H, mdp.s1) for tau in kinks]
    violation = [evaluate(world, policy).violation for world in worlds]
    best = [safe_optimal(world).value if is_feasible(world) else math.nan for world in worlds]
    said = ", ".join(f"{v:.3g} at {tau:g}" for v, tau in zip(violation, kinks, strict=True))
    climbs = ", ".join(
        f"{'none' if math.isnan(v) else f'{v:.3g}'} from {tau:g} on"
        for v, tau in zip(best, kinks, strict=True)
    )
    figure = DescribedFigure(
        5.7, 4.3,
        alt=f"Against the threshold τ from 0 to 1. Violation of the policy: {said}, and straight "
        f"lines between. Value of the best safe policy: {climbs}.",
    )  # fmt: skip
    above = chart(figure, "", "violation")
    below = chart(figure, r"threshold $\tau$", "value")
    for axes, row in ((above, 1), (below, 0)):
        axes.set_position((0.125, 0.135 + 0.45 * row, 0.835, 0.36))
        axes.set_xlim(0, 1)
        axes.set_xticks([*kinks, 1.0] if kinks[-1] < 0.95 else kinks)
    above.tick_params(labelbottom=False)
    above.plot([*kinks, 1.0], [*violation, 0.0], color=VERMILION, linewidth=2.2, marker="o",
               markersize=5, gid="violation", clip_on=False)  # fmt: skip
    above.set_ylim(0, 1.12 * max(*violation, 0.1))
    near = min(1, len(kinks) - 1)
    _say(above, float(kinks[near]) + 0.02, violation[near] + 0.04 * violation[0],
         "violation of the policy", VERMILION, ("left", "bottom"))  # fmt: skip
    for v, left, right in zip(best, kinks, [*kinks[1:], 1.0], strict=True):
        below.plot([left, right], [v, v], color=BLUE, linewidth=2.4, gid="value", clip_on=False)
        below.plot([left], [v], "o", color=BLUE, markersize=6, clip_on=False)
    most = np.nanmax(best) if not np.isnan(best).all() else 1.0
    below.set_ylim(0, 1.15 * max(float(most), 0.1))
    _say(below, 0.02, 0.72 * float(most), "value of the best safe policy", BLUE)
    return figure


def worst_gap(q: float, T: int) -> DescribedFigure:
    r"""Draw the violation of a learner that visits a state until it knows its side, by the gap.

    Parameters
    ----------
    q : float
        To know takes :math:`(q/g)^2` visits.
    T : int
        The visits that there are at most.

    Returns
    -------
    DescribedFigure

    Examples
    --------
    >>> from safeteach.chapters.costs_thresholds_violation import figures
    >>> print(figures.worst_gap(2.0, 100).alt)
    Violation until the side is known, or time is up after 100 visits, against the gap g, both on
    logarithmic axes. It climbs like 100 g up to 20 at g = 0.2, and then falls like 4 / g.
    """
    worst = q / math.sqrt(T)
    figure = DescribedFigure(
        *CHART,
        alt=f"Violation until the side is known, or time is up after {T:,} visits, against the gap "
        f"g, both on logarithmic axes. It climbs like {T:,} g up to {q * math.sqrt(T):.3g} at g = "
        f"{worst:.3g}, and then falls like {q * q:.3g} / g.",
    )
    axes = chart(figure, "gap $g$", "violation")
    axes.set_position((0.14, 0.165, 0.82, 0.79))
    g = np.array([worst / 100, worst, min(1.0, worst * 60)])
    axes.plot(g, g * np.minimum((q / g) ** 2, T), color=VERMILION, linewidth=2.4, gid="violation")
    axes.plot([worst], [q * math.sqrt(T)], "o", color=VERMILION, markeredgecolor=INK, markersize=9)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(g[0], g[-1])
    axes.set_ylim(top=q * math.sqrt(T) * 4)
    axes.xaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_major_formatter("{x:g}")
    peak = rf"worst: $q\sqrt{{T}}$ = {q * math.sqrt(T):.0f} at $g$ = {worst:.2g}"
    _say(axes, worst, q * math.sqrt(T) * 1.35, peak, at=("center", "bottom"))
    _say(axes, worst / 5, T * worst / 3, "time is up first:\n$g\\,T$", at=("right", "center"))
    right = math.sqrt(worst * g[-1])  # below the line, where there is room however short it is
    _say(axes, right, q * q / right / 1.5, "knows first:\n$q^2/g$", at=("right", "top"))
    return figure
