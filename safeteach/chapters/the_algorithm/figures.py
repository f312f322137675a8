"""One moment of a run: what the learner believes, where it has been, and what it has cost."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike, NDArray

from safeteach.figures.chart import chart
from safeteach.figures.described import (
    BLUE,
    DOOMED,
    GREY,
    INK,
    KINDS,
    LINE,
    PAPER,
    SAFE,
    UNSAFE,
    VERMILION,
    DescribedFigure,
    Entry,
    Kind,
    Point,
    draw_legend,
    draw_state,
    full_name,
    legend_height,
    listing,
    sheet,
    write,
)
from safeteach.figures.grid import (
    GROUND,
    cell_letter,
    cell_middles,
    check_grid,
    draw_ground,
    draw_move,
    ground_entries,
)
from safeteach.instances import GridMDP
from safeteach.instances.grids import MOVES
from safeteach.safety import potentially_unsafe
from safeteach.worlds.mdp import SafeMDP

__all__ = ["replay"]


CELL, RADIUS = 0.8125, 0.15  # a cell is 156 pixels, so that equal cells have equal pixels
MOST_CELLS = 8  # either way; the numbers of visits need room
HEADLINE, CHART = 0.36, 1.55
BELIEVED = {DOOMED: "known to be doomed", UNSAFE: "flagged"}


def replay(
    mdp: SafeMDP,
    U: ArrayLike,
    policy: ArrayLike,
    visits: ArrayLike,
    violation: ArrayLike,
    k: int,
    h: int | None = None,
) -> DescribedFigure:
    """Draw the map as a learner sees it before episode k, over the violation of the run.

    Each cell shows what the learner takes it for, if not for safe, the number of its visits so
    far and the policy's arrow.  A dashed ring is the truth: this state is doomed, and the learner
    does not know it yet.

    Parameters
    ----------
    mdp : GridMDP
        At most 8 cells wide and high.
    U : (H, S) bool array
        ``U[h-1]`` is U_h^k, for a learner that flags nothing all False.
    policy : (H, S) int array
        The actions of episode k.
    visits : (H, S) int array
        How often each state was visited at each step before episode k.
    violation : (K,) array
        The violation of each episode of the run.
    k : int
        An episode 1..K.
    h : int, optional
        A step 1..H; by default all steps together, without arrows: a state is known to be
        doomed if it is so at some step.

    Returns
    -------
    DescribedFigure

    Notes
    -----
    U_h^k is that of Algorithm 1 of the paper.  Taught in the chapter *The algorithm*.

    Examples
    --------
    >>> import safeteach as st
    >>> from safeteach.chapters.the_algorithm import figures
    >>> mdp = st.instances.ice_corridor()
    >>> learner = st.SUCBVI(mdp.known, episodes=1_000, bonus_scale=0.01)
    >>> paid = []
    >>> for _, episode in st.play(learner, mdp, seed=1):
    ...     paid.append(mdp.violation[episode.states[:-1]].sum())
    ...     visits = learner.transitions.N.sum(axis=2)  # without this episode
    >>> print(figures.replay(mdp, learner.U, learner.policy, visits, paid, k=1000, h=8).alt)
    Before episode 1,000 of 1,000, step 8. Flagged: (2,3). Known to be doomed: (1,3). Doomed and
    not yet known: (1,2). Most visited: (1,5), 237 times. The policy leads right from the start.
    Violation so far: 85 of 85 in the whole run.
    """
    world = _check(mdp)
    believed, visited = _table(mdp, "U", U) > 0, _table(mdp, "visits", visits)
    actions = mdp.check_policy(policy)
    if actions.ndim != 2:
        raise ValueError("policy holds probabilities of actions; expected (H, S) actions")
    paid = np.asarray(violation, float)
    if paid.ndim != 1 or not 1 <= k <= paid.size:
        raise ValueError(f"k is {k} and violation has shape {paid.shape}; k must be one of 1..K")
    steps = slice(None) if h is None else slice(mdp.check_step(h) - 1, h)
    doomed = np.any(potentially_unsafe(mdp)[steps], axis=0)
    known, flagged = np.any(believed[steps], axis=0), believed[-1]
    kinds = [KINDS[int(known[s]) + int(flagged[s])] for s in range(mdp.S)]
    unknown = doomed & ~known
    times = visited[steps].sum(axis=0)
    arrows = None if h is None else actions[h - 1]

    rows, columns = len(world.map), len(world.map[0])
    entries = [*_entries(), *ground_entries(world)]
    width = max(columns * CELL + 0.3, 4.6)
    legend = legend_height(entries, width)
    bottom = CHART + legend
    height = bottom + rows * CELL + HEADLINE + 0.1
    alt = _describe(world, kinds, unknown, times, arrows, paid, k, h)
    figure, axes = sheet(width, height, alt)
    corner = ((width - columns * CELL) / 2, bottom + 0.05)
    draw_ground(axes, world, corner, CELL)
    for s, middle in enumerate(cell_middles(world, corner, CELL)):
        _draw_cell(axes, world, s, middle, kinds[s], unknown[s], int(times[s]))
        if arrows is not None:
            move = list(MOVES)[arrows[s]]
            draw_move(axes, middle, move, 1.0, CELL, f"policy/{s}/{arrows[s]}")
    at = "all steps" if h is None else f"step $h = {h}$"
    headline = f"before episode $k = {k}$, {at}"
    write(axes, (width / 2, height - 0.55 * HEADLINE), headline, math=True)
    _draw_violation(figure, paid, k, (width, height), legend)
    draw_legend(axes, entries, width)
    return figure


def _check(mdp: SafeMDP) -> GridMDP:
    world = check_grid(mdp)
    if max(len(world.map), len(world.map[0])) > MOST_CELLS:
        raise ValueError(
            f"the map is {len(world.map)} by {len(world.map[0])} cells; with numbers in its cells "
            f"one of more than {MOST_CELLS} either way cannot be read"
        )
    return world


def _table(mdp: SafeMDP, name: str, table: ArrayLike) -> NDArray[np.int64]:
    array = np.asarray(table)
    if array.shape != (mdp.H, mdp.S):
        raise ValueError(f"{name} has shape {array.shape}; expected (H, S) = {(mdp.H, mdp.S)}")
    return array.astype(np.int64)


def _draw_cell(
    axes: Axes,
    mdp: GridMDP,
    s: int,
    middle: NDArray[np.float64],
    kind: Kind,
    unknown: bool,
    times: int,
) -> None:
    """A state as the learner sees it, the truth around it, and its visits in the corner."""
    letter = cell_letter(mdp, s)
    if kind is not SAFE:
        draw_state(axes, middle, kind, RADIUS, letter, gid=f"state/{s}/{BELIEVED[kind]}")
    elif letter:
        write(axes, middle, letter)
    if unknown:
        _draw_unknown(axes, middle, RADIUS, gid=f"unknown/{s}")
    i, j = mdp.cells[s]
    ground = mdp.map[i][j]
    corner = middle + np.array([-0.46, -0.36]) * CELL
    write(axes, corner, _short(times), "left", halo=GROUND[ground] if ground in "~X" else None)


def _draw_unknown(axes: Axes, xy: Point, radius: float, gid: str | None = None) -> None:
    line = SAFE.outline(xy, 1.4 * radius)
    line.set(fill=False, edgecolor=INK, linewidth=1.4, linestyle=(0, (2, 1.5)), zorder=4, gid=gid)
    axes.add_artist(line)


def _short(n: int) -> str:
    """A number in at most four letters."""
    for unit, name in ((10**6, "M"), (10**3, "k")):
        if n >= 0.9995 * unit:
            return f"{n / unit:.1f}{name}" if n < 9.95 * unit else f"{n / unit:.0f}{name}"
    return str(n)


def _draw_violation(
    figure: DescribedFigure,
    paid: NDArray[np.float64],
    k: int,
    size: tuple[float, float],
    legend: float,
) -> None:
    """The violation of the run so far, and faintly of what is still to come."""
    width, height = size
    axes = chart(figure, "episode", "violation")
    left, low, tall = 0.95, legend + 0.48, CHART - 0.6
    axes.set_position((left / width, low / height, (width - left - 0.35) / width, tall / height))
    total = np.concatenate([[0.0], paid.cumsum()])
    axes.plot(total, color=LINE, linewidth=1.6, gid="to come")
    axes.plot(total[:k], color=VERMILION, linewidth=2.4, gid="so far")
    axes.plot(
        [k - 1], [total[k - 1]], marker="o", color=BLUE, markeredgecolor=PAPER, markersize=9,
        clip_on=False, gid="now",
    )  # fmt: skip
    axes.set_xlim(0, paid.size)
    axes.set_ylim(0, max(1.05 * total[-1], 1.0))
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.yaxis.set_major_formatter("{x:,g}")
    axes.locator_params(nbins=4)
    axes.spines[["left", "bottom"]].set_color(GREY)


def _entries() -> list[Entry]:
    seen = [
        Entry(lambda axes, xy, kind=kind: draw_state(axes, xy, kind, 0.13), name)  # type: ignore[misc]
        for kind, name in BELIEVED.items()
    ]
    return [*seen, Entry(lambda axes, xy: _draw_unknown(axes, xy, 0.1), "doomed, not known")]


def _describe(
    mdp: GridMDP,
    kinds: list[Kind],
    unknown: NDArray[np.bool_],
    times: NDArray[np.int64],
    arrows: NDArray[np.int64] | None,
    paid: NDArray[np.float64],
    k: int,
    h: int | None,
) -> str:
    def named(chosen: ArrayLike) -> str:
        return listing([full_name(mdp, int(s)) for s in np.flatnonzero(chosen)], 60)

    doomed, flagged = (named([one is kind for one in kinds]) for kind in BELIEVED)
    most = int(times.argmax())
    way = "" if arrows is None else list(MOVES)[arrows[mdp.s1]]
    return (
        f"Before episode {k:,} of {paid.size:,}, {'all steps' if h is None else f'step {h}'}. "
        f"Flagged: {flagged}. Known to be doomed: {doomed}. "
        f"Doomed and not yet known: {named(unknown)}. "
        f"Most visited: {full_name(mdp, most)}, {times[most]:,} times. "
        + (f"The policy leads {way} from the start. " if way else "")
        + f"Violation so far: {paid[: k - 1].sum():,.6g} of {paid.sum():,.6g} in the whole run."
    )
