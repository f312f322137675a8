"""The pictures of the chapter *The algorithm*: where an agent goes, what it earns and believes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike, NDArray

from safeteach.arguments import instance
from safeteach.bounds import beta
from safeteach.figures.chart import chart
from safeteach.figures.described import (
    BLUE,
    DOOMED,
    FONT,
    GREY,
    INK,
    LINE,
    PAPER,
    SAFE,
    TEXT,
    UNSAFE,
    VERMILION,
    DescribedFigure,
    Entry,
    Point,
    arrow,
    draw_legend,
    draw_state,
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
from safeteach.instances import GridMDP
from safeteach.learners import SUCBVI
from safeteach.planning.evaluation import evaluate
from safeteach.running.playing import History
from safeteach.safety import potentially_unsafe
from safeteach.worlds.mdp import SafeMDP

__all__ = ["expected_moves", "lives", "moves", "ways"]

CELL, SMALL_CELL, MARGIN = 0.85, 0.62, 0.15
WIDTH, HEADLINE = 5.5, 0.36
CORNER = np.array([-0.38, 0.34])  # of a cell, where its letter stands
SELDOM = 0.03  # moves that are made less often in an episode are not drawn
NAMES = 1.2  # inches for the names of cells, left of what is said of them
ROW, ROUND = 0.27, 0.4  # inches: a line of the first panel, an entry of the second
LIVES = (5.7, 4.7)
WINDOW = 50  # parts of a run over which its rewards are averaged
STYLES = ((VERMILION, (0, (5, 2))), (BLUE, "solid"))


# where an agent goes ---------------------------------------------------------------------------


def expected_moves(mdp: SafeMDP, policy: ArrayLike) -> NDArray[np.float64]:
    """(S, S): how often a policy goes from one state to another in an episode, on average.

    Examples
    --------
    >>> import safeteach as st
    >>> from safeteach.chapters.the_algorithm.figures import expected_moves
    >>> ice = st.instances.ice_corridor()
    >>> moved = expected_moves(ice, st.optimal(ice).policy)
    >>> moved[ice.s1].argmax(), moved[ice.s1].max().round(2)  # it may slide back, and go again
    (np.int64(7), np.float64(1.06))
    """
    actions = mdp.check_policy(policy)
    here, moved = np.eye(mdp.S)[mdp.s1], np.zeros((mdp.S, mdp.S))
    for h in range(mdp.H):
        step = here[:, None] * mdp.P[h, np.arange(mdp.S), actions[h]]
        moved += step
        here = step.sum(axis=0)
    return moved


def ways(mdp: SafeMDP, moved: ArrayLike, headline: str) -> DescribedFigure:
    """Draw on a map how often an agent goes from cell to cell: the wider, the more often.

    Parameters
    ----------
    mdp : GridMDP
    moved : (S, S) array
        Moves from each state to each other one, in an episode on average.
    headline : str
        What is written above the map.

    Examples
    --------
    >>> import safeteach as st
    >>> from safeteach.chapters.the_algorithm.figures import expected_moves, ways
    >>> ice = st.instances.ice_corridor()
    >>> print(ways(ice, expected_moves(ice, st.safe_optimal(ice).policy), "safe").alt)
    Map of a grid world, 3 rows by 6 columns, safe. Moves made in at least half of the episodes:
    (0,0) to (0,1), (0,1) to (0,2), (0,2) to (0,3), (0,3) to (0,4), (0,4) to (1,4), (1,0) to
    (0,0), (1,4) to (1,5). Into the water: 0 an episode.
    """
    world = check_grid(mdp)
    often = _square(mdp, moved)
    rows, columns = len(world.map), len(world.map[0])
    width = round(max(columns * CELL + 2 * MARGIN, 4.6), 2)
    entries = [*_move_entries("the wider, the more often"), *ground_entries(world)]
    bottom = legend_height(entries, width)
    usual = [
        f"{mdp.state_name(s)} to {mdp.state_name(t)}"
        for s, t in np.argwhere(often >= 0.5).tolist()
        if s != t
    ]
    alt = (
        f"Map of a grid world, {rows} rows by {columns} columns, {headline}. Moves made in at "
        f"least half of the episodes: {listing(usual, 300)}. "
        f"Into the water: {_into_water(mdp, often):.2g} an episode."
    )
    height = _up(bottom + rows * CELL + HEADLINE + MARGIN)
    figure, axes = sheet(width, height, alt)
    corner = ((width - columns * CELL) / 2, bottom + 0.05)
    _draw_ways(axes, world, often, corner, CELL)
    write(axes, (width / 2, bottom + rows * CELL + 0.05 + 0.55 * HEADLINE), headline)
    draw_legend(axes, entries, width)
    return figure


def _up(inches: float) -> float:
    """To the next eighth, which a computer holds exactly: nothing is drawn a hair too high."""
    return math.ceil(8 * inches) / 8


def _square(mdp: SafeMDP, moved: ArrayLike) -> NDArray[np.float64]:
    array = np.asarray(moved, float)
    if array.shape != (mdp.S, mdp.S):
        raise ValueError(f"moved has shape {array.shape}; expected (S, S) = {(mdp.S, mdp.S)}")
    return array


def _into_water(mdp: SafeMDP, often: NDArray[np.float64]) -> float:
    return float(often[np.ix_(~mdp.unsafe, mdp.unsafe)].sum())


def _move_entries(words: str) -> list[Entry]:
    """The legend of the two sorts of arrows, on dry ground and ice and into the water."""

    def sample(colour: str) -> Callable[[Axes, Point], None]:
        return lambda axes, xy: arrow(
            axes, (xy[0] - 0.17, xy[1]), (xy[0] + 0.17, xy[1]), color=colour, width=4.0
        )

    return [Entry(sample(INK), words), Entry(sample(VERMILION), "into the water")]


def _draw_ways(
    axes: Axes, world: GridMDP, often: NDArray[np.float64], corner: Point, size: float
) -> None:
    """The ground with its letters, and an arrow for each move that is made now and then."""
    draw_ground(axes, world, corner, size)
    middles = cell_middles(world, corner, size)
    for s, middle in enumerate(middles):
        if cell_letter(world, s):
            write(axes, middle + CORNER * size, cell_letter(world, s))
    for s, t in np.argwhere(often >= SELDOM).tolist():
        if s != t:
            arrow(
                axes, middles[s], middles[t], gap=(0.1 * size, 0.1 * size),
                bend=0.22 if often[t, s] >= SELDOM else 0.0,
                color=VERMILION if world.unsafe[t] else INK,
                width=(0.8 + 6.0 * min(1.0, often[s, t])) * size / CELL, gid=f"way/{s}/{t}",
            )  # fmt: skip


# what it earns and violates ----------------------------------------------------------------------


def lives(runs: Mapping[str, History], best: float) -> DescribedFigure:
    """Draw the violation C(k) and the rewards of one or two runs of equal length.

    Of two runs the violation stands on a logarithmic axis.  Rewards are averages over a fiftieth
    of the run.

    Parameters
    ----------
    runs : dict of History
        By the names of their learners.
    best : float
        The value of the best safe policy, drawn as a line.

    Examples
    --------
    >>> import safeteach as st
    >>> from safeteach.chapters.the_algorithm.figures import lives
    >>> ice = st.instances.ice_corridor()
    >>> run = st.run(st.SUCBVI(ice.known, episodes=1_000, bonus_scale=0.01), ice, seed=1)
    >>> print(lives({"SUCBVI": run}, st.safe_optimal(ice).value).alt)
    Violation and reward over 1,000 episodes. SUCBVI: violation 74 halfway and 85 at the end,
    reward 1.1 an episode at the end. The best safe policy earns 3.
    """
    if not 1 <= len(runs) <= len(STYLES):
        raise ValueError(f"{len(runs)} runs; one or {len(STYLES)} can be drawn")
    lengths = {run.violation.size for run in runs.values()}
    if len(lengths) > 1 or min(lengths) < WINDOW:
        raise ValueError(f"runs of {sorted(lengths)} episodes; expected one length from {WINDOW}")
    (K,) = lengths
    said = []
    for name, run in runs.items():
        total = run.violation.cumsum()
        said.append(
            f"{name}: violation {total[K // 2 - 1]:,.4g} halfway and {total[-1]:,.6g} at the "
            f"end, reward {_rewards(run)[-1]:.2g} an episode at the end."
        )
    alt = (
        f"Violation and reward over {K:,} episodes. {' '.join(said)} "
        f"The best safe policy earns {best:.3g}."
    )
    figure = DescribedFigure(*LIVES, alt)
    above, below = (chart(figure, "", label) for label in ("violation $C(k)$", "reward"))
    above.set_position((0.155, 0.555, 0.69, 0.415))
    below.set_position((0.155, 0.125, 0.69, 0.36))
    below.set_xlabel("episode $k$", fontsize=TEXT, fontfamily=FONT, color=INK)
    middles = (np.arange(WINDOW) + 0.5) * K / WINDOW
    for (name, run), (colour, dashes) in zip(runs.items(), STYLES, strict=False):
        style: dict[str, Any] = {"color": colour, "linestyle": dashes, "linewidth": 2.2}
        total, rewards = run.violation.cumsum(), _rewards(run)
        k = np.arange(1, K + 1)
        above.plot(k[total > 0], total[total > 0], gid=f"violation/{name}", **style)
        below.plot(middles, rewards, gid=f"reward/{name}", **style)
        _label(above, (K, total[-1]), name, colour)
        _label(below, (K, rewards[-1]), name, colour)
    below.axhline(best, color=GREY, linewidth=1.2, zorder=1, gid="best")
    place = (0.98 * K, best)
    text = below.annotate("best safe policy", place, (0, 4), textcoords="offset points", ha="right")
    text.set(fontsize=TEXT, fontfamily=FONT, color=INK)
    text.set_path_effects([withStroke(linewidth=3.5, foreground=PAPER)])
    if len(runs) > 1:
        above.set_yscale("log")
    else:
        above.set_ylim(0)
    for axes in (above, below):
        axes.set_xlim(0, K)
        axes.xaxis.set_major_locator(MaxNLocator(4, integer=True))
        axes.xaxis.set_major_formatter("{x:,.0f}")
    above.yaxis.set_major_formatter("{x:,g}")
    above.set_xticklabels([])
    below.set_ylim(0, 1.15 * max(best, *(_rewards(run).max() for run in runs.values())))
    return figure


def _rewards(run: History) -> NDArray[np.float64]:
    """(WINDOW,): the mean reward of each part of a run."""
    return np.array([part.mean() for part in np.array_split(run.reward, WINDOW)])


def _label(axes: Axes, xy: tuple[float, float], name: str, colour: str) -> None:
    text = axes.annotate(name, xy, (5, 0), textcoords="offset points", va="center")
    text.set(fontsize=TEXT, fontfamily=FONT, color=colour, annotation_clip=False)


# the three moves ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Moment:
    """What a learner believed before an episode, and what it planned.

    Attributes
    ----------
    k : int
        The episode, from 1.
    mean, visits : (S,) arrays
        ĉ^k and N^k of each state.
    U : (H, S) bool array
    bad : (H, S) int array
        How many actions of s have been seen to lead into U_{h+1}^k.
    policy : (H, S) int array
    """

    k: int
    mean: NDArray[np.float64]
    visits: NDArray[np.int64]
    U: NDArray[np.bool_]
    bad: NDArray[np.int64]
    policy: NDArray[np.int64]

    @classmethod
    def of(cls, learner: SUCBVI, k: int) -> Moment:
        """Keep what a learner believes now, before episode ``k``."""
        return cls(
            k, learner.costs.mean.copy(), learner.costs.N.copy(), learner.U.copy(),
            (~learner.safe_actions).sum(axis=2), learner.policy.copy(),
        )  # fmt: skip


def moves(mdp: SafeMDP, moment: Moment, delta: float) -> DescribedFigure:
    """Draw what a learner flags, how it spreads the flags, and where its plan leads.

    The cells are those that are doomed at some step.  Of each there is the average of its costs
    with the lowest cost that it allows; then an entry for each step at which an agent can be
    there: the number of actions that have been seen to lead into what is doomed one step later,
    in a square once these are all.

    Parameters
    ----------
    mdp : GridMDP
    moment : Moment
    delta : float
        The learner's, for the width β.

    Examples
    --------
    >>> import safeteach as st
    >>> from safeteach.chapters.the_algorithm.figures import Moment, moves
    >>> ice = st.instances.ice_corridor()
    >>> learner = st.SUCBVI(ice.known, episodes=1_000, bonus_scale=0.01)
    >>> for k, _ in st.play(learner, ice, seed=1):
    ...     moment = Moment.of(learner, k + 1)
    >>> print(moves(ice, moment, learner.delta).alt)
    Before episode 1,000. Flagged: (2,3). Believed to be doomed: (1,3) at steps 8. Doomed and not
    yet known: (1,1) at steps 2, 3, 4, 5, 6, 7; (1,2) at steps 3, 4, 5, 6, 7, 8; (1,3) at steps 4,
    5, 6, 7, 9. The plan ends in the water with probability 0.
    """
    world = check_grid(mdp)
    instance(moment, "moment", Moment, "a Moment")
    truth, reach = potentially_unsafe(mdp), _reached(mdp)
    cells = sorted(np.flatnonzero(truth.any(axis=0)).tolist(), key=lambda s: (~mdp.unsafe[s], -s))
    entries = _entries(world)
    bottom = legend_height(entries, WIDTH)
    tall = (len(world.map) * SMALL_CELL, (len(cells) + 0.8) * ROUND, (len(cells) + 1.1) * ROW)
    floors = bottom + 0.05 + np.cumsum([0, *(part + HEADLINE + 0.1 for part in tall)])
    alt = _describe(mdp, moment, truth & reach, reach)
    figure, axes = sheet(WIDTH, _up(float(floors[-1])), alt)
    heads = (
        "3. Plan: where the policy goes",
        "2. Spread: how many actions were seen to lead to danger",
        "1. Flag: is even the lowest likely cost above τ?",
    )
    for head, floor, part in zip(heads, floors[:-1], tall, strict=True):
        write(axes, (MARGIN, floor + part + 0.45 * HEADLINE), head, "left")
    often = expected_moves(mdp, moment.policy)
    _draw_ways(axes, world, often, (NAMES, floors[0]), SMALL_CELL)
    _draw_spread(axes, mdp, moment, cells, (truth, reach), floors[1])
    _draw_flags(axes, mdp, moment, cells, delta, floors[2])
    draw_legend(axes, entries, WIDTH)
    return figure


def _reached(mdp: SafeMDP) -> NDArray[np.bool_]:
    """(H, S): where an agent can be at each step."""
    reach = np.zeros((mdp.H, mdp.S), np.bool_)
    reach[0, mdp.s1] = True
    for h in range(mdp.H - 1):
        reach[h + 1] = (mdp.P[h, reach[h]] > 0).any(axis=(0, 1))
    return reach


def _draw_flags(
    axes: Axes, mdp: SafeMDP, moment: Moment, cells: list[int], delta: float, floor: float
) -> None:
    """A line a cell: its average cost, and to the left of it the lowest that is likely."""
    low, high = -1.0, 1.5
    left, right = NAMES, WIDTH - 0.95
    top = floor + len(cells) * ROW + 0.8 * ROW

    def place(cost: float) -> float:
        return left + (min(max(cost, low), high) - low) / (high - low) * (right - left)

    foot = floor + 0.8 * ROW
    axes.plot([left, right], [foot] * 2, color=LINE, linewidth=1.0)
    axes.plot([place(mdp.tau)] * 2, [foot, top], color=INK, linewidth=1.6, gid="tau")
    for cost, words in ((-1, "−1"), (0, "0"), (mdp.tau, "τ"), (1, "1")):
        write(axes, (place(cost), floor + 0.35 * ROW), words)
    for i, s in enumerate(cells):
        y, n = top - (i + 0.5) * ROW, int(moment.visits[s])
        write(axes, (NAMES - 0.1, y), _name(mdp, s), "right")
        write(axes, (WIDTH - MARGIN, y), "not seen" if n == 0 else f"{n:,} visits", "right")
        if n:
            mean = float(moment.mean[s])
            least = mean - float(beta(n, mdp.S, delta))
            colour = VERMILION if moment.U[-1, s] else BLUE
            axes.plot([place(least), place(mean)], [y] * 2, color=colour, linewidth=2.2,
                      gid=f"cost/{s}")  # fmt: skip
            axes.plot([place(mean)], [y], color=colour, marker="o", markersize=6)
            if least > low:
                axes.plot([place(least)] * 2, [y - 0.07, y + 0.07], color=colour, linewidth=2.2)


def _draw_spread(
    axes: Axes, mdp: SafeMDP, moment: Moment, cells: list[int],
    known: tuple[NDArray[np.bool_], NDArray[np.bool_]], floor: float,
) -> None:  # fmt: skip
    """A row a cell and a column a step: what is believed, and how many actions convict it."""
    truth, reach = known
    across = (WIDTH - MARGIN - NAMES) / mdp.H
    top = floor + (len(cells) + 0.8) * ROUND
    for h in range(mdp.H):
        write(axes, (NAMES + (h + 0.5) * across, floor + 0.3 * ROUND), str(h + 1))
    write(axes, (NAMES - 0.1, floor + 0.3 * ROUND), "step", "right")
    for i, s in enumerate(cells):
        y = top - (i + 0.5) * ROUND
        write(axes, (NAMES - 0.1, y), _name(mdp, s), "right")
        for h in np.flatnonzero(reach[:, s]).tolist():  # after the last step nothing is doomed
            xy = np.array([NAMES + (h + 0.5) * across, y])
            flagged, believed = moment.U[-1, s], moment.U[h, s]
            count = "" if flagged else str(moment.bad[h, s])
            if believed:
                kind = UNSAFE if flagged else DOOMED
                word = "flagged" if flagged else "doomed"
                draw_state(axes, xy, kind, 0.15, count, gid=f"state/{s}/{h + 1}/{word}")
                continue
            if truth[h, s]:
                _draw_unknown(axes, xy, gid=f"unknown/{s}/{h + 1}")
            write(axes, xy, count)


def _draw_unknown(axes: Axes, xy: Point, gid: str | None = None) -> None:
    line = SAFE.outline(xy, 0.155)
    line.set(fill=False, edgecolor=INK, linewidth=1.4, linestyle=(0, (2, 1.5)), zorder=4, gid=gid)
    axes.add_artist(line)


def _entries(world: GridMDP) -> list[Entry]:
    def doomed(axes: Axes, xy: Point) -> None:
        draw_state(axes, xy, DOOMED, 0.13, str(world.A))

    return [
        Entry(lambda axes, xy: draw_state(axes, xy, UNSAFE, 0.13), "flagged"),
        Entry(doomed, "believed doomed"),
        Entry(_draw_unknown, "doomed, not known"),
        *_move_entries("the plan's moves"),
    ]


def _name(mdp: SafeMDP, s: int) -> str:
    return f"{'water' if mdp.unsafe[s] else 'ice'} {mdp.state_name(s)}"


def _describe(
    mdp: SafeMDP, moment: Moment, truth: NDArray[np.bool_], reach: NDArray[np.bool_]
) -> str:
    flagged = moment.U[-1]

    def steps(table: NDArray[np.bool_]) -> str:
        said = [
            f"{mdp.state_name(s)} at steps {', '.join(map(str, np.flatnonzero(table[:, s]) + 1))}"
            for s in np.flatnonzero(table.any(axis=0)).tolist()
        ]
        return listing(said, 240, comma="; ")

    risk = evaluate(mdp, moment.policy).unsafe_probability
    return (
        f"Before episode {moment.k:,}. "
        f"Flagged: {listing([mdp.state_name(int(s)) for s in np.flatnonzero(flagged)], 60)}. "
        f"Believed to be doomed: {steps(moment.U & reach & ~flagged)}. "
        f"Doomed and not yet known: {steps(truth & ~moment.U)}. "
        f"The plan ends in the water with probability {risk:.2g}."
    )
