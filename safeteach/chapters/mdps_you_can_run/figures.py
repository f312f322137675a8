"""The pictures of the chapter *MDPs you can run*.

- The boat: its states, with the probability and the reward on each arrow.
- Trials: of two policies, which one looks better when each is tried for some days.
- One step back: what an action earns now, and the values of the states that it leads to.
- The timetable of a plan: what to do in each state at each step, and what is still to earn.
- A map with the value of each cell and the moves that attain it.
- Running averages: how slowly they settle.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import PathPatch, Polygon, Rectangle
from matplotlib.path import Path
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike, NDArray

from safeteach.figures.chart import CHART, chart, draw_averages, running_averages
from safeteach.figures.described import (
    BLUE,
    FONT,
    GREY,
    HALF_LETTER,
    INK,
    LINE,
    PALE_SKY,
    PAPER,
    SAFE,
    SKY,
    TEXT,
    VERMILION,
    WIDEST,
    DescribedFigure,
    Entry,
    Point,
    arrow,
    bow,
    draw_box,
    draw_legend,
    draw_state,
    legend_height,
    listing,
    sheet,
    shorten,
    state_radius,
    text_size,
    write,
)
from safeteach.figures.grid import (
    cell_letter,
    cell_middles,
    check_grid,
    draw_ground,
    draw_move,
    ground_entries,
)
from safeteach.instances.grids import MOVES
from safeteach.planning.induction import Plan
from safeteach.worlds.mdp import SafeMDP

__all__ = ["averages", "boat", "map_of_values", "one_step_back", "timetable", "trials"]

EXACT = 1e-12  # actions whose values differ by less are equally good


def best_actions(mdp: SafeMDP, plan: Plan) -> NDArray[np.bool_]:
    """(H, S, A) the actions at which the maximum is attained, in a plan made by ``optimal``."""
    if plan.policy.shape != (mdp.H, mdp.S):
        raise ValueError(
            f"the plan is for (H, S) = {plan.policy.shape}, the world has {(mdp.H, mdp.S)}"
        )
    lost = plan.V[:-1, :, None] - plan.Q
    if (lost < -EXACT).any():
        raise ValueError("in this plan an action is better than the best; expected one by optimal")
    best: NDArray[np.bool_] = lost <= EXACT
    return best


# The boat -------------------------------------------------------------------------------------

RADIUS = 0.36  # of a state, inches
# Where the states stand, in the order harbour, bank, laden, full, torn.
PLACES = np.array([(0.75, 2.3), (2.25, 2.3), (3.75, 2.3), (5.25, 2.3), (3.0, 0.95)])
BOATS_SIZE = (5.85, 4.5)
# The angle, in degrees, at which the loop of a state stands.
LOOPS = {0: 250, 1: 90, 2: 60, 3: 60, 4: 0}
# How far an arrow bends to the right of its way; 0 for all others.
BENDS = {
    (0, 1): -0.22, (1, 0): -0.22, (2, 0): 0.72, (3, 0): 0.8, (4, 0): -0.2,
    (1, 4): 0.22, (4, 1): 0.22, (2, 4): 0.0,
}  # fmt: skip
# By how much an arrow misses the middle of its state, so that two of them end side by side.
ENDS = {(3, 0): (-0.22, 0.02)}
ALONG = np.linspace(0, 1, 81)


def boat(mdp: SafeMDP) -> DescribedFigure:
    """Draw the boat's world: solid arrows for its first action, dashed ones for the second.

    On each arrow stands its probability, if that is not 1, and in bold type its reward, if there
    is one.

    Parameters
    ----------
    mdp : SafeMDP
        The boat, or another stationary world of five states with arrows between the same ones.

    Returns
    -------
    DescribedFigure

    Notes
    -----
    Taught in the chapter *MDPs you can run*.
    """
    if (mdp.S, mdp.A) != (5, 2) or not mdp.stationary:
        raise ValueError(f"{mdp} is not the boat: expected 5 states, 2 actions, the same each hour")
    width, height = BOATS_SIZE
    figure, axes = sheet(width, height, _describe_boat(mdp))
    for s, a, t in np.argwhere(mdp.P[0] > 0).tolist():
        gid = f"arrow/{s}/{a}/{t}"
        spot, off = _loop(axes, s, a, gid) if s == t else _way(axes, s, a, t, gid)
        _write_on_arrow(axes, spot, off, float(mdp.P[0, s, a, t]), float(mdp.r[0, s, a]))
    for s, place in enumerate(PLACES):
        draw_state(axes, place, SAFE, RADIUS, shorten(mdp.state_name(s)), gid=f"state/{s}")
    draw_legend(axes, _actions_legend(mdp), width)
    return figure


def _style(a: int) -> dict[str, Any]:
    return {"color": BLUE, "dashed": True} if a else {"color": INK, "dashed": False}


def _way(axes: Axes, s: int, a: int, t: int, gid: str) -> tuple[Point, Point]:
    """Draw an arrow between two states; its middle, and the way from there to its words."""
    bend = BENDS.get((s, t), 0.0)
    gap = (1.05 * RADIUS, 1.1 * RADIUS)
    end = PLACES[t] + ENDS.get((s, t), (0.0, 0.0))
    arrow(axes, PLACES[s], end, bend=bend, gap=gap, width=1.5, gid=gid, **_style(a))
    points = bow(PLACES[s], end, np.array(bend), ALONG)
    way = PLACES[t] - PLACES[s]
    aside = np.array([way[1], -way[0]]) / np.hypot(*way)
    if bend < 0 or (not bend and abs(way[1]) < EXACT):
        aside = -aside
    return points[len(points) // 2], aside


def _loop(axes: Axes, s: int, a: int, gid: str) -> tuple[Point, Point]:
    """Draw an arrow from a state to itself; its furthest point, and the way from there on."""
    angle, size = np.radians(LOOPS[s]), 0.2
    out = np.array([np.cos(angle), np.sin(angle)])
    middle = PLACES[s] + (RADIUS + 0.75 * size) * out
    turn = angle + np.radians(np.linspace(-128, 118, 61))
    points = middle + size * np.stack([np.cos(turn), np.sin(turn)], axis=1)
    style = _style(a)
    line = PathPatch(Path(points), fill=False, edgecolor=style["color"], linewidth=1.5, gid=gid)
    line.set(linestyle=(0, (3.2, 1.8)) if style["dashed"] else "solid", zorder=2)
    axes.add_artist(line)
    way = (points[-1] - points[-4]) / np.hypot(*(points[-1] - points[-4]))
    aside = np.array([way[1], -way[0]]) * 0.05
    head = Polygon([points[-1] + 0.1 * way, points[-1] + aside, points[-1] - aside], closed=True)
    head.set(facecolor=style["color"], edgecolor="none", zorder=3.5)
    axes.add_artist(head)
    return middle + size * out, out


def _write_on_arrow(axes: Axes, spot: Point, aside: Point, chance: float, reward: float) -> None:
    words = [f"{chance:.3g}"] * (chance < 1) + [f"+{reward:.3g}"] * (reward > 0)
    if words:
        text = ", ".join(words)
        half = np.array(text_size(text)) / 2 + 0.03
        xy = np.asarray(spot) + np.asarray(aside) * (np.abs(aside) @ half)
        (_write_bold if reward else write)(axes, xy, text)


def _write_bold(axes: Axes, xy: Point, text: str) -> None:
    axes.text(
        xy[0], xy[1] - HALF_LETTER, text, ha="center", zorder=6,
        fontsize=TEXT, fontfamily=FONT, fontweight="bold", color=INK,
    )  # fmt: skip


def _actions_legend(mdp: SafeMDP) -> list[Entry]:
    def entry(a: int) -> Entry:
        def sample(axes: Axes, xy: Point) -> None:
            start, end = (xy[0] - 0.22, xy[1]), (xy[0] + 0.16, xy[1])
            arrow(axes, start, end, width=1.5, **_style(a))

        return Entry(sample, mdp.action_name(a))

    def chance(axes: Axes, xy: Point) -> None:
        write(axes, xy, "0.6")

    def reward(axes: Axes, xy: Point) -> None:
        _write_bold(axes, xy, "+1")

    return [entry(0), entry(1), Entry(chance, "probability"), Entry(reward, "reward")]


def _describe_boat(mdp: SafeMDP) -> str:
    said = []
    for s, a in np.ndindex(mdp.S, mdp.A):
        ends = np.flatnonzero(mdp.P[0, s, a])
        to = " or ".join(
            mdp.state_name(int(t)) + f" ({mdp.P[0, s, a, t]:.3g})" * (len(ends) > 1) for t in ends
        )
        earns = f" earns {mdp.r[0, s, a]:.3g} and" if mdp.r[0, s, a] else ""
        said.append(f"{mdp.state_name(s)}, {mdp.action_name(a)}:{earns} leads to {to}.")
    return " ".join(["The world of the boat as a graph.", *said])


# Trials ---------------------------------------------------------------------------------------

DOTS_SIZE = (5.7, 3.3)


def trials(first: ArrayLike, second: ArrayLike, names: tuple[str, str]) -> DescribedFigure:
    """Draw a dot for each trial, at the difference between what two policies earned in it.

    Parameters
    ----------
    first, second : (n,) arrays
        What the two earned on average in each trial.
    names : pair of str
        Of the two policies.

    Returns
    -------
    DescribedFigure

    Notes
    -----
    Taught in the chapter *MDPs you can run*.

    Examples
    --------
    >>> from safeteach.chapters.mdps_you_can_run import figures
    >>> print(figures.trials([1, 1, 0.5], [0.5, 0.9, 0.5], ("Ann", "Bob")).alt)
    A dot for each of 3 trials: how much more Bob earned than Ann, from -0.5 to 0. Ann looks better
    in 2 trials, Bob in 0, and in 1 they are level.
    """
    more = (np.asarray(second, float) - np.asarray(first, float)).round(9) + 0.0
    if more.ndim != 1 or not more.size:
        raise ValueError(f"the trials have shape {more.shape}; expected (n,)")
    counts = {-1: int((more < 0).sum()), 0: int((more == 0).sum()), 1: int((more > 0).sum())}
    figure = DescribedFigure(*DOTS_SIZE, _describe_trials(more, counts, names))
    axes = figure.add_axes((0.03, 0.17, 0.94, 0.8), facecolor=PAPER)
    height: Counter[float] = Counter()
    for x in more.tolist():
        height[x] += 1
        color = {-1: BLUE, 0: GREY, 1: VERMILION}[int(np.sign(x))]
        face = color if x else PAPER
        axes.plot(
            x, height[x], "o", markersize=5.2, color=color, markerfacecolor=face,
            gid=f"trial/{x:g}/{height[x]}",
        )  # fmt: skip
    top, reach = max(height.values()), float(np.abs(more).max()) or 1.0
    axes.axvline(0, color=INK, linewidth=1, zorder=1)
    axes.set(xlim=(-1.08 * reach, 1.08 * reach), ylim=(0, 1.3 * top + 1))
    for sign, name, color in ((-1, names[0], BLUE), (1, names[1], VERMILION)):
        said = f"{name} looks better:\n{counts[sign]} trials"
        axes.text(
            sign * 0.56 * reach, 1.3 * top + 1, said, color=color, ha="center", va="top",
            fontsize=TEXT, fontfamily=FONT, fontweight="bold",
        )  # fmt: skip
    label = f"how much more {names[1]} earned than {names[0]}, mean of a trial"
    axes.set_xlabel(label, fontsize=TEXT, fontfamily=FONT, color=INK)
    axes.tick_params(labelsize=TEXT, colors=INK)
    axes.xaxis.set_major_locator(MaxNLocator(7))
    axes.set_yticks([])
    axes.spines[["top", "right", "left"]].set_visible(False)
    return figure


def _describe_trials(
    more: NDArray[np.float64], counts: Mapping[int, int], names: tuple[str, str]
) -> str:
    return (
        f"A dot for each of {more.size} trials: how much more {names[1]} earned than {names[0]}, "
        f"from {more.min():.3g} to {more.max():.3g}. {names[0]} looks better in {counts[-1]} "
        f"trials, {names[1]} in {counts[1]}, and in {counts[0]} they are level."
    )


# One step back --------------------------------------------------------------------------------


def one_step_back(mdp: SafeMDP, plan: Plan, h: int, s: int) -> DescribedFigure:
    """Draw what the actions of a state lead to, with the values of the states one step later.

    Parameters
    ----------
    mdp : SafeMDP
        With a few states and actions.
    plan : Plan
        Made for this world by ``optimal``.
    h : int
        A step 1..H.
    s : int
        The state to look at.

    Returns
    -------
    DescribedFigure

    Notes
    -----
    Taught in the chapter *MDPs you can run*.
    """
    i, is_best = mdp.check_step(h) - 1, best_actions(mdp, plan)
    names = [shorten(mdp.state_name(t)) for t in range(mdp.S)]
    radius = state_radius(names)
    pitch = 2 * radius + 0.1
    width, height = 5.7, 0.5 + mdp.S * pitch
    left, middle, right = radius + 0.15, 2.35, 4.45
    values = right + radius + 0.45
    figure, axes = sheet(width, height, _describe_step(mdp, plan, h, s))
    rows = height - 0.42 - pitch * (np.arange(mdp.S) + 0.5)
    home = np.array([left, rows.mean()])
    for x, text in ((left, f"$h={h}$"), (right, f"$h={h + 1}$"), (values, "value")):
        write(axes, (x, height - 0.2), text, math=True)
    # The boxes stand in the order of what they lead to, so that arrows do not cross.
    order = np.argsort(-(mdp.P[i, s] @ rows), kind="stable")
    heights = np.linspace(rows[0] - 0.35, rows[-1] + 0.35, mdp.A) if mdp.A > 1 else home[1:]
    for a, y in zip(order.tolist(), heights, strict=True):
        spot = np.array([middle, y])
        best = bool(is_best[i, s, a])
        heavy = 3.2 if best else 1.4
        arrow(axes, home, spot, head=False, gap=(radius, 0), width=heavy, gid=f"action/{a}/{best}")
        for t in np.flatnonzero(mdp.P[i, s, a]).tolist():
            end = np.array([right, rows[t]])
            arrow(axes, spot, end, gap=(0, 1.1 * radius), width=1.4, gid=f"arrow/{a}/{t}")
            if mdp.P[i, s, a, t] < 1:
                at = spot + 0.7 * (end - spot) + [-0.06, 0.13]
                write(axes, at, f"{mdp.P[i, s, a, t]:.3g}")
        words = mdp.action_name(a) + (f", +{mdp.r[i, s, a]:.3g}" if mdp.r[i, s, a] else "")
        draw_box(axes, spot, f"{words}\n{plan.Q[i, s, a]:.3g} in all")
    draw_state(axes, home, SAFE, radius, names[s], gid=f"state/{s}")
    for t in range(mdp.S):
        draw_state(axes, (right, rows[t]), SAFE, radius, names[t], gid=f"next/{t}")
        write(axes, (values, rows[t]), f"{plan.V[i + 1, t]:.3g}")
    return figure


def _describe_step(mdp: SafeMDP, plan: Plan, h: int, s: int) -> str:
    i = h - 1
    said = []
    for a in range(mdp.A):
        ends = [
            f"{mdp.state_name(int(t))} (probability {mdp.P[i, s, a, t]:.3g}, value "
            f"{plan.V[i + 1, t]:.3g})"
            for t in np.flatnonzero(mdp.P[i, s, a])
        ]
        said.append(
            f"{mdp.action_name(a)} earns {mdp.r[i, s, a]:.3g} and leads to {listing(ends, 200)}: "
            f"{plan.Q[i, s, a]:.3g} in all."
        )
    return f"One step back, from {mdp.state_name(s)} at step {h}. {' '.join(said)}"


# The timetable --------------------------------------------------------------------------------

ROW, MARGIN, GAP = 0.52, 0.12, 0.1  # inches
SHADES = (PAPER, PALE_SKY, LINE, SKY)  # of the actions, in turn; each cell names its own too
MOST_STATES = 12


def timetable(
    mdp: SafeMDP, plan: Plan, look: int | None = None, first: int = 1
) -> DescribedFigure:
    """Draw a plan as a table: a row for each state, a column for each step.

    Each cell names the action and, below it, the value :math:`V_h(s)` that goes with it.  The
    shade of a cell is that of its action, so that changes over time stand out; where all actions
    are equally good it says so.

    Parameters
    ----------
    mdp : SafeMDP
        With at most 12 states and about 8 steps; the names of the actions decide how many fit.
    plan : Plan
        Made for this world by ``optimal``.
    look : int, optional
        A state whose row is framed.
    first : int
        The first step that is filled in; the columns before it are empty.

    Returns
    -------
    DescribedFigure

    Notes
    -----
    Taught in the chapter *MDPs you can run*.

    Examples
    --------
    >>> import safeteach as st
    >>> from safeteach.chapters.mdps_you_can_run import figures
    >>> mdp = st.SafeMDP([[[1], [1]]], r=[[0.5, 0]], c=[0], tau=0.5, H=2)
    >>> print(figures.timetable(mdp, st.optimal(mdp)).alt)
    Timetable of a plan, 1 state by 2 steps, of value 1 from 0. 0: 0 throughout.
    """
    tied = np.asarray(best_actions(mdp, plan).all(axis=2)) & (mdp.A > 1)
    states = [shorten(mdp.state_name(s)) for s in range(mdp.S)]
    words = _words(mdp, plan, tied)
    left = max(text_size(name)[0] for name in states) + MARGIN + GAP
    widest = [shorten(mdp.action_name(a)) for a in range(mdp.A)]
    cell = max(text_size(name)[0] for name in [*widest, *words.flat, "0.00"]) + 2 * GAP
    width = left + mdp.H * cell + MARGIN
    if width > WIDEST or mdp.S > MOST_STATES:
        raise ValueError(
            f"a timetable of {mdp.S} states and {mdp.H} steps does not fit: at most {MOST_STATES} "
            f"states and, with these names, {int((WIDEST - left - MARGIN) / cell)} steps"
        )
    height = (mdp.S + 1) * ROW + MARGIN
    start = mdp.check_step(first) - 1
    figure, axes = sheet(width, height, _describe_timetable(mdp, plan, words, start))
    for i in range(mdp.H):
        x = left + i * cell
        write(axes, (x + cell / 2, height - ROW / 2), f"$h={i + 1}$", math=True)
        for s, a in enumerate(plan.policy[i]):
            y = height - (s + 2) * ROW
            box = Rectangle((x, y), cell, ROW, gid=f"cell/{i + 1}/{s}/{a}")
            bare = i < start or tied[i, s]
            box.set(facecolor=PAPER if bare else SHADES[a % len(SHADES)])
            box.set(edgecolor=LINE, linewidth=0.8, zorder=1)
            axes.add_artist(box)
            if i >= start:
                write(axes, (x + cell / 2, y + ROW / 2), f"{words[i, s]}\n{plan.V[i, s]:.2f}")
    for s, name in enumerate(states):
        write(axes, (left - GAP, height - (s + 1.5) * ROW), name, align="right")
    if look is not None:
        frame = Rectangle((left, height - (look + 2) * ROW), mdp.H * cell, ROW, gid=f"look/{look}")
        frame.set(fill=False, edgecolor=INK, linewidth=2.0, zorder=7)
        axes.add_artist(frame)
    return figure


def _words(mdp: SafeMDP, plan: Plan, tied: NDArray[np.bool_]) -> NDArray[np.str_]:
    """(H, S) what each cell of the timetable says to do."""
    actions = np.array([shorten(mdp.action_name(a)) for a in range(mdp.A)])
    return np.where(tied, "either" if mdp.A == 2 else "any", actions[plan.policy])


def _describe_timetable(mdp: SafeMDP, plan: Plan, words: NDArray[np.str_], start: int) -> str:
    rows = [f"{mdp.state_name(s)}: {_changes(words[:, s].tolist(), start)}" for s in range(mdp.S)]
    value = f"of value {plan.value:.4g} from {mdp.state_name(mdp.s1)}"
    return (
        f"Timetable of a plan, {mdp.S} state{'s' * (mdp.S > 1)} by {mdp.H} steps, "
        f"{f'filled in from step {start + 1} on' if start else value}. "
        f"{listing(rows, 480, comma='. ')}."
    )


def _changes(words: list[str], start: int) -> str:
    """Say what the plan does in one state over time."""
    said, h = [], start + 1
    for word, run in itertools.groupby(words[start:]):
        last = h + len(list(run)) - 1
        when = f"at step {h}" if h == last else f"at steps {h} to {last}"
        said.append(f"{word} {when}")
        h = last + 1
    if len(said) == 1:
        return f"{words[-1]} throughout"
    return ", ".join([*said[:-1], f"then {words[-1]}"])


# A map of values ------------------------------------------------------------------------------

CELL = 1.0  # inches


def map_of_values(mdp: SafeMDP, plan: Plan, h: int) -> DescribedFigure:
    """Draw a map with the value of each cell at a step, and the moves that attain it.

    A cell in which all moves are equally good has no arrow.

    Parameters
    ----------
    mdp : GridMDP
        At most 6 cells wide.
    plan : Plan
        Made for this world by ``optimal``.
    h : int
        A step 1..H.

    Returns
    -------
    DescribedFigure

    Notes
    -----
    Taught in the chapter *MDPs you can run*.
    """
    world = check_grid(mdp)
    i, columns, rows = mdp.check_step(h) - 1, len(world.map[0]), len(world.map)
    width = columns * CELL + 0.3
    if width > WIDEST:
        raise ValueError(f"a map of {columns} columns with values does not fit: at most 6")
    entries = ground_entries(world)
    corner = (0.15, (legend_height(entries, width) if entries else 0.1) + 0.05)
    best = best_actions(mdp, plan)[i]
    shown = best & ~best.all(axis=1, keepdims=True)
    alt = _describe_map(mdp, plan, h, shown)
    figure, axes = sheet(width, corner[1] + rows * CELL + 0.15, alt)
    draw_ground(axes, world, corner, CELL)
    for s, middle in enumerate(cell_middles(world, corner, CELL)):
        letter = cell_letter(world, s)
        if letter:
            write(axes, middle + np.array([-0.36, 0.36]) * CELL, letter)
        for a, move in enumerate(MOVES):
            if shown[s, a]:
                draw_move(axes, middle, move, 1.0, CELL, f"move/{s}/{a}")
        aside = sum(MOVES[move][1] for a, move in enumerate(MOVES) if shown[s, a])
        spot = middle - np.array([0.05 * aside * CELL, 0])  # away from the arrow
        write(axes, spot, f"{plan.V[i, s]:.2f}", halo=PAPER if not shown[s].any() else None)
    if entries:
        draw_legend(axes, entries, width)
    return figure


def _describe_map(mdp: SafeMDP, plan: Plan, h: int, shown: NDArray[np.bool_]) -> str:
    said = []
    for s in range(mdp.S):
        moves = [name for name, is_best in zip(MOVES, shown[s], strict=True) if is_best]
        best = f", best {' or '.join(moves)}" if moves else ""
        said.append(f"{mdp.state_name(s)} {plan.V[h - 1, s]:.2f}{best}")
    return f"Values of the cells at step {h}: {listing(said, 500, comma='; ')}."


# Running averages -----------------------------------------------------------------------------


def averages(samples: Mapping[str, ArrayLike]) -> DescribedFigure:
    """Draw the average of the first n numbers of each sample against n.

    Parameters
    ----------
    samples : mapping from str to (N,) arrays
        One to three samples by their names, such as what policies earned in each episode.

    Returns
    -------
    DescribedFigure

    Notes
    -----
    Taught in the chapter *MDPs you can run*.

    Examples
    --------
    >>> from safeteach.chapters.mdps_you_can_run import figures
    >>> print(figures.averages({"coin": [1, 0, 0, 1]}).alt)
    Running averages over 4 episodes. coin: 1 after 1, 0.5 after 4.
    """
    running = running_averages(samples)
    figure = DescribedFigure(*CHART, _describe_averages(running))
    axes = chart(figure, "episodes $n$", "average of the first $n$")
    axes.set_position((0.125, 0.165, 0.72, 0.8))
    draw_averages(axes, running)
    longest = max(mean.size for mean in running.values())
    axes.set_xlim(0, longest + 1)
    for line, (name, mean) in zip(axes.lines, running.items(), strict=True):
        axes.annotate(
            name, (mean.size, mean[-1]), xytext=(6, 0), textcoords="offset points", va="center",
            color=line.get_color(), fontsize=TEXT, fontfamily=FONT, fontweight="bold",
            annotation_clip=False,
        )  # fmt: skip
    return figure


def _describe_averages(running: Mapping[str, NDArray[np.float64]]) -> str:
    longest = max(mean.size for mean in running.values())
    said = []
    for name, mean in running.items():
        stops = sorted({1, max(1, mean.size // 10), mean.size})
        after = ", ".join(f"{mean[n - 1]:.3g} after {n}" for n in stops)
        said.append(f"{name}: {after}.")
    return f"Running averages over {longest} episodes. {' '.join(said)}"
