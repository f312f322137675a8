"""The pictures of the chapter *Danger ahead*: doomed states on a graph, and on a map."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import FancyBboxPatch, Polygon
from numpy.typing import ArrayLike, NDArray

from safeteach.arguments import instance
from safeteach.classroom.drawing.track import track
from safeteach.figures.delta import action_label, actions_phrase, draw_start, edge_style
from safeteach.figures.described import (
    BLUE,
    DOOMED,
    GREY,
    INK,
    LINE,
    PALE_ORANGE,
    PAPER,
    SAFE,
    UNSAFE,
    VERMILION,
    DescribedFigure,
    Entry,
    Kind,
    Point,
    arrow,
    box_size,
    draw_legend,
    draw_state,
    full_name,
    legend_height,
    listing,
    ring,
    sheet,
    shorten,
    state_radius,
    write,
)
from safeteach.figures.grid import (
    cell_letter,
    cell_middles,
    check_grid,
    draw_ground,
    ground_entries,
)
from safeteach.figures.layout import state_positions
from safeteach.figures.routing import (
    Junction,
    Paper,
    Route,
    choices_around,
    find_routes,
    junctions,
)
from safeteach.instances import GridMDP
from safeteach.safety import potentially_unsafe
from safeteach.worlds.mdp import SafeMDP

__all__ = ["looking_back", "terrain", "track"]

MOST_STATES = 12
RECORD_LINE = 0.23
ORIGINS = {"exact": "the unsafe states", "paper": "the set after it"}
MARGIN = 0.62
# The walker's world as a landscape, in inches: the road above, the river at the bottom.
LANDSCAPE = {
    "start": (0.6, 2.75),
    "bridge": (2.25, 2.6),
    "ledge": (3.45, 1.55),
    "road": (1.3, 4.15),
    "lane": (3.2, 4.15),
    "far": (4.55, 2.9),
    "river": (2.2, 0.5),
}
CELL, MAP_WIDTH = 0.85, 5.5
EDGE = 0.15


def looking_back(
    mdp: SafeMDP, h: int, recursion: Literal["exact", "paper"] = "exact"
) -> DescribedFigure:
    r"""Draw one step of the look backwards: which arrows convict which states at step ``h``.

    From each state a line leads to a box for each action, and from there an arrow to each
    possible successor.  An arrow into :math:`U_{h+1}` is dashed, and its action's box is filled;
    a state is doomed if all its boxes are.  Below the graph stands what is known so far:
    :math:`U_H`, back to :math:`U_h`; where transitions depend on the step, it matters what each
    of the sets starts from, so that is said too.

    Parameters
    ----------
    mdp : SafeMDP
        With at most 12 states.
    h : int
        A step 1..H.
    recursion : {"exact", "paper"}
        See :func:`safeteach.potentially_unsafe`.

    Examples
    --------
    >>> import safeteach as st
    >>> from safeteach.chapters.danger_ahead.figures import looking_back
    >>> print(looking_back(st.instances.union_counterexample(), h=3).alt)
    Step 3 of 4: 5 states and their actions. Unsafe: u. Doomed but not unsafe: x. New in U_3: x.
    No longer in it: none. Actions that may end in U_4: a0 and a1 at x; a0 and a1 at u. Each set
    starts from the unsafe states.
    """
    instance(mdp, "mdp", SafeMDP, "a SafeMDP")
    if mdp.S > MOST_STATES:
        raise ValueError(f"the MDP has {mdp.S} states; only {MOST_STATES} can be followed by eye")
    U = potentially_unsafe(mdp, recursion)
    mdp.check_step(h)
    after = U[h] if h < mdp.H else np.zeros(mdp.S, np.bool_)
    plan = _arrange(mdp, 1 if mdp.stationary else h)
    entries = _graph_entries(h, mdp.H)
    steps = range(1, mdp.H + 1)  # the sheet has the same size at all of them
    legend = max(legend_height(_graph_entries(k, mdp.H), plan.width) for k in steps)
    record = RECORD_LINE * (1.4 + U.sum(axis=1).max()) + 0.1
    origin = "" if mdp.stationary else f"Each set starts from {ORIGINS[recursion]}."
    below = legend + record + (1.4 * RECORD_LINE if origin else 0)
    lift = np.array([0, below])
    alt = f"{_describe_step(mdp, h, U, after)} {origin}".rstrip()
    figure, axes = sheet(plan.width, plan.height + below, alt)
    for box, label, route in zip(plan.boxes, plan.labels, plan.routes, strict=True):
        home, a = plan.states[box.s] + lift, ",".join(map(str, box.actions))
        spot = route.spot + lift
        arrow(axes, home, spot, bend=route.stem, head=False, gap=(0.8 * plan.radius, 0))
        for t, bend in zip(box.successors, route.bends, strict=True):
            doomed = bool(after[t])
            arrow(
                axes, spot, plan.states[t] + lift, bend=bend, gap=(0, 1.1 * plan.radius),
                gid=f"delta/{box.s}/{a}/{t}/{'doomed' if doomed else 'free'}",
                **edge_style(doomed),
            )  # fmt: skip
        risky = bool(after[list(box.successors)].any())
        _box(axes, spot, label, risky, gid=f"box/{box.s}/{a}/{'risky' if risky else 'free'}")
    for s, kind in enumerate(_kinds(mdp, U[h - 1])):
        xy = plan.states[s] + lift
        name = shorten(mdp.state_name(s))
        draw_state(axes, xy, kind, plan.radius, name, gid=f"state/{s}/{kind.name}")
        if h < mdp.H and U[h - 1, s] and not after[s]:
            ring(axes, xy, kind, 0.9 * plan.radius, gid=f"new/{s}")
    side = np.array([-0.66, 0.75]) * 1.1 * plan.radius
    draw_start(axes, plan.states[mdp.s1] + lift + side, gid=f"start/{mdp.s1}")
    write(axes, (plan.width / 2, below - 0.6 * RECORD_LINE), origin)
    _draw_record(axes, mdp, h, U, (0.0, legend), plan.width, record)
    draw_legend(axes, entries, plan.width)
    return figure


def terrain(
    mdp: SafeMDP,
    h: int | None = None,
    routes: Mapping[str, ArrayLike] | None = None,
    columns: int = 0,
) -> DescribedFigure:
    """Draw the map of a grid world; with ``h``, what is doomed at that step; with routes, ways.

    Parameters
    ----------
    mdp : GridMDP
    h : int, optional
        A step 1..H.  Without it nothing but the ground is drawn.
    routes : dict of one or two policies, optional
        By what the legend calls them.  Each is drawn as the way that it leads from the start
        where every step goes as it is likeliest to go, up to where it stays.
    columns : int, optional
        Of a wider map beside which this one is shown: cells and sheet are as large as there.

    Examples
    --------
    >>> import safeteach as st
    >>> from safeteach.chapters.danger_ahead.figures import terrain
    >>> ice = st.instances.ice_corridor()
    >>> print(terrain(ice, h=8, routes={"safe": st.safe_optimal(ice).policy}).alt)
    Map of a grid world, 3 rows by 6 columns, start at (1,0), goal at (1,5). Ice: (1,1), (1,2),
    (1,3). Water: (2,3). Doomed at step 8 but not unsafe: (1,2), (1,3); new among them: (1,2).
    The way of safe: (1,0), (0,0), (0,1), (0,2), (0,3), (0,4), (1,4), (1,5).
    """
    world = check_grid(mdp)
    if h is not None:
        world.check_step(h)
    ways = {name: way(world, policy) for name, policy in (routes or {}).items()}
    if len(ways) > len(ROUTE_STYLES):
        raise ValueError(f"{len(ways)} routes; a map has room for {len(ROUTE_STYLES)}")
    across, rows = len(world.map[0]), len(world.map)
    most = max(across, columns)
    size = min(CELL, (MAP_WIDTH - 2 * EDGE) / most)
    width = max(most * size + 2 * EDGE, 4.5)
    marks = _map_entries(h, world, moving=not ways)
    entries = [*marks, *(_route_entry(number, name) for number, name in enumerate(ways))]
    bottom = (legend_height(entries, width) if entries else EDGE) + 0.05
    corner = ((width - across * size) / 2, bottom)
    figure, axes = sheet(width, bottom + rows * size + EDGE, _describe_map(world, h, ways))
    draw_ground(axes, world, corner, size)
    middles = cell_middles(world, corner, size)
    if h is not None:
        _draw_doomed(axes, world, h, middles, size)
    for number, (name, cells) in enumerate(ways.items()):
        _draw_route(axes, middles[cells], number, gid=f"route/{name}")
    for s in range(world.S):
        if letter := cell_letter(world, s):
            write(axes, middles[s], letter, halo=PAPER)
    if entries:
        draw_legend(axes, entries, width)
    return figure


def way(mdp: SafeMDP, policy: ArrayLike) -> list[int]:
    """The states of an episode in which the likeliest always happens, until it stays or ends.

    Examples
    --------
    >>> import safeteach as st
    >>> from safeteach.chapters.danger_ahead.figures import way
    >>> ice = st.instances.ice_corridor()
    >>> way(ice, st.optimal(ice).policy)
    [6, 7, 8, 9, 10, 11]
    """
    chosen = mdp.check_policy(policy)
    states = [mdp.s1]
    for h in range(1, mdp.H):
        here = chosen[h - 1, states[-1]]
        a = int(here.argmax()) if chosen.ndim == 3 else int(here)
        t = int(mdp.P[h - 1, states[-1], a].argmax())
        if t == states[-1]:
            break
        states.append(t)
    return states


# the graph -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Arrangement:
    """Where everything of a graph stands, in inches."""

    width: float
    height: float
    radius: float
    states: NDArray[np.float64]
    boxes: list[Junction]
    labels: list[str]
    routes: list[Route]


@functools.lru_cache(maxsize=16)  # for who moves a slider over the steps of one world
def _arrange(mdp: SafeMDP, h: int) -> Arrangement:
    boxes = junctions(mdp, h)
    labels = [action_label(mdp, box.actions) for box in boxes]
    sizes = np.array([box_size(label) for label in labels])
    names = [mdp.state_name(s) for s in range(mdp.S)]
    radius = state_radius([shorten(name) for name in names])
    if sorted(names) == sorted(LANDSCAPE):
        states = np.array([LANDSCAPE[name] for name in names])
    else:
        places = state_positions(mdp)
        states = places * [1.75, 1.5] + MARGIN + radius
    width, height = states.max(axis=0) + MARGIN + radius * 0.8
    width = max(width, 4.5)
    marks = (states[mdp.s1] + np.array([-0.66, 0.75]) * (radius + 0.2))[None]
    corners = np.array([[0.05, 0.05], [width - 0.05, height - 0.05]])
    paper = Paper(states, radius, marks, corners)
    choices = [choices_around(paper, box, size) for box, size in zip(boxes, sizes, strict=True)]
    routes = find_routes(paper, boxes, choices, sizes)
    return Arrangement(width, height, radius, states, boxes, labels, routes)


def _kinds(mdp: SafeMDP, U_h: NDArray[np.bool_]) -> list[Kind]:
    of = (SAFE, DOOMED, UNSAFE)
    return [of[int(now) + int(bad)] for now, bad in zip(U_h, mdp.unsafe, strict=True)]


def _box(axes: Axes, xy: Point, label: str, risky: bool, gid: str | None = None) -> None:
    """An action; one that may end in a doomed state is filled and has a heavy line."""
    width, height = box_size(label)
    box = FancyBboxPatch(
        (xy[0] - width / 2, xy[1] - height / 2), width, height,
        boxstyle="round,pad=0,rounding_size=0.07",
    )  # fmt: skip
    box.set(facecolor=PALE_ORANGE if risky else PAPER, edgecolor=VERMILION if risky else GREY)
    box.set(linewidth=1.8 if risky else 1.0, zorder=5, gid=gid)
    axes.add_artist(box)
    write(axes, xy, label)


def _draw_record(
    axes: Axes, mdp: SafeMDP, h: int, U: NDArray[np.bool_], corner: Point, width: float, tall: float
) -> None:
    """The sets that are known so far, a column for each step, the last step on the right."""
    across = (width - 2 * EDGE) / mdp.H
    top = corner[1] + tall - 0.05
    for step in range(1, mdp.H + 1):
        x = EDGE + (step - 0.5) * across
        if step == h:
            frame = FancyBboxPatch(
                (x - 0.46 * across, corner[1] + 0.04), 0.92 * across, tall - 0.05,
                boxstyle="round,pad=0,rounding_size=0.07",
            )  # fmt: skip
            frame.set(facecolor=PALE_ORANGE, edgecolor=INK, linewidth=1.4, zorder=1, gid=f"now/{h}")
            axes.add_artist(frame)
        write(axes, (x, top - 0.6 * RECORD_LINE), f"step {step}")
        names = [shorten(mdp.state_name(s)) for s in _since(U) if U[step - 1, s]]
        for i, name in enumerate(names if step >= h else ["?"]):
            write(axes, (x, top - (1.75 + i) * RECORD_LINE), name)
    axes.plot([EDGE, width - EDGE], [top + 0.05] * 2, color=LINE, linewidth=0.8)


def _since(U: NDArray[np.bool_]) -> list[int]:
    """The states in the order in which the look backwards dooms them."""
    return sorted(np.flatnonzero(U.any(axis=0)).tolist(), key=lambda s: U[::-1, s].argmax())


def _graph_entries(h: int, H: int) -> list[Entry]:
    def new(axes: Axes, xy: Point) -> None:
        draw_state(axes, xy, DOOMED, 0.1)
        ring(axes, xy, DOOMED, 0.1)

    def sample(axes: Axes, xy: Point) -> None:
        arrow(axes, (xy[0] - 0.2, xy[1]), (xy[0] + 0.15, xy[1]), **edge_style(doomed=True))

    kinds = ((UNSAFE, "unsafe"), (DOOMED, f"doomed at step {h}"))
    entries = [
        Entry(lambda axes, xy, kind=kind: draw_state(axes, xy, kind, 0.13), said)  # type: ignore[misc]
        for kind, said in kinds
    ]
    entries.append(Entry(new, "new"))
    later = f"doomed at step {h + 1}" if h < H else "doomed at the next step"
    return [*entries, Entry(sample, f"may end in a state {later}")]


def _names(mdp: SafeMDP, states: NDArray[np.bool_], most: int = 90) -> str:
    return listing([full_name(mdp, int(s)) for s in np.flatnonzero(states)], most)


def _describe_step(mdp: SafeMDP, h: int, U: NDArray[np.bool_], after: NDArray[np.bool_]) -> str:
    risky = []
    for s in range(mdp.S):
        actions = [a for a in range(mdp.A) if after[mdp.successors(h, s, a)].any()]
        if actions:
            risky.append(f"{actions_phrase(mdp, actions)} at {full_name(mdp, s)}")
    now = U[h - 1]
    before = after if h < mdp.H else now
    follows = (
        f"Actions that may end in U_{h + 1}: {listing(risky, 200, comma='; ')}."
        if h < mdp.H
        else "After the last step nothing counts."
    )
    return (
        f"Step {h} of {mdp.H}: {mdp.S} states and their actions. "
        f"Unsafe: {_names(mdp, mdp.unsafe)}. "
        f"Doomed but not unsafe: {_names(mdp, now & ~mdp.unsafe)}. "
        f"New in U_{h}: {_names(mdp, now & ~before)}. "
        f"No longer in it: {_names(mdp, before & ~now)}. {follows}"
    )


# the map ---------------------------------------------------------------------------------------

ROUTE_STYLES = (
    {"color": VERMILION, "linestyle": (0, (2.2, 1.2))},
    {"color": BLUE, "linestyle": "solid"},
)


def _draw_doomed(
    axes: Axes, mdp: GridMDP, h: int, middles: NDArray[np.float64], size: float
) -> None:
    U = potentially_unsafe(mdp)
    now = U[h - 1]
    later = U[min(h, mdp.H - 1)]
    for s, kind in enumerate(_kinds(mdp, now)):
        if kind is not SAFE:
            draw_state(axes, middles[s], kind, 0.32 * size, gid=f"state/{s}/{kind.name}")
            if not later[s]:
                ring(axes, middles[s], kind, 0.32 * size, gid=f"new/{s}")


def _draw_route(
    axes: Axes,
    points: NDArray[np.float64],
    number: int,
    gid: str,
    gaps: tuple[float, float] = (0.22, 0.3),
) -> None:
    """A way from the first point to the last, whose ends leave room for a letter."""
    style = ROUTE_STYLES[number]
    if len(points) < 2:
        return
    ways = np.diff(points, axis=0)
    ways /= np.hypot(*ways.T)[:, None]
    points = points.copy()
    points[0] += gaps[0] * ways[0]
    points[-1] -= gaps[1] * ways[-1]
    for color, width, dashes in ((PAPER, 6.5, "solid"), (style["color"], 3.2, style["linestyle"])):
        axes.plot(
            *points.T, color=color, linewidth=width, linestyle=dashes, zorder=5.4,
            solid_joinstyle="round", gid=gid if color != PAPER else None,
        )  # fmt: skip
    tip, aside = points[-1] + 0.16 * ways[-1], 0.1 * ways[-1][::-1] * [1, -1]
    head = Polygon([tip, points[-1] + aside, points[-1] - aside], closed=True)
    head.set(facecolor=style["color"], edgecolor=PAPER, linewidth=1.0, zorder=5.5)
    axes.add_artist(head)


def _map_entries(h: int | None, mdp: GridMDP, moving: bool) -> list[Entry]:
    if h is None:
        return ground_entries(mdp)

    def new(axes: Axes, xy: Point) -> None:
        draw_state(axes, xy, DOOMED, 0.1)
        ring(axes, xy, DOOMED, 0.1)

    kinds = ((UNSAFE, "unsafe"), (DOOMED, f"doomed at step {h}"))
    marks = [
        Entry(lambda axes, xy, kind=kind: draw_state(axes, xy, kind, 0.13), said)  # type: ignore[misc]
        for kind, said in kinds
    ]
    dry = [entry for entry in ground_entries(mdp) if entry.text != "water"]
    return [*marks, *([Entry(new, "new")] if moving else []), *dry]


def _route_entry(number: int, name: str) -> Entry:
    def sample(axes: Axes, xy: Point) -> None:
        ends = np.array([(xy[0] - 0.2, xy[1]), (xy[0] + 0.16, xy[1])])
        _draw_route(axes, ends, number, "key", gaps=(0.0, 0.16))

    return Entry(sample, name)


def _describe_map(mdp: GridMDP, h: int | None, ways: Mapping[str, Sequence[int]]) -> str:
    ground = np.array([mdp.map[i][j] for i, j in mdp.cells])
    text = (
        f"Map of a grid world, {len(mdp.map)} rows by {len(mdp.map[0])} columns, start at "
        f"{mdp.state_name(mdp.s1)}, goal at {_names(mdp, ground == 'G', 30)}. "
        f"Ice: {_names(mdp, ground == '~', 70)}. Water: {_names(mdp, ground == 'X')}."
    )
    if h is not None:
        U = potentially_unsafe(mdp)
        now, later = U[h - 1], U[min(h, mdp.H - 1)]
        text += (
            f" Doomed at step {h} but not unsafe: {_names(mdp, now & ~mdp.unsafe, 120)}; "
            f"new among them: {_names(mdp, now & ~later, 90)}."
        )
    for name, cells in ways.items():
        text += f" The way of {name}: {listing([mdp.state_name(s) for s in cells], 120)}."
    return text
