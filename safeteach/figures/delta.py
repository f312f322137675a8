"""The Δ graph: which states can follow which action, and where danger waits.

Taught in the chapter *MDPs you can run*.
"""

from __future__ import annotations

import functools
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from safeteach.arguments import instance
from safeteach.figures.described import (
    GREY,
    INK,
    VERMILION,
    WIDEST,
    DescribedFigure,
    Entry,
    Point,
    arrow,
    box_size,
    describe_kinds,
    draw_box,
    draw_legend,
    draw_state,
    full_name,
    kind_entries,
    kinds_at,
    legend_height,
    listing,
    sheet,
    shorten,
    state_radius,
)
from safeteach.figures.layout import check_drawable, state_positions
from safeteach.figures.routing import (
    Junction,
    Paper,
    Route,
    choices_around,
    choices_on_grid,
    find_routes,
    junctions,
)
from safeteach.instances import GridMDP
from safeteach.instances.grids import MOVES
from safeteach.safety import potentially_unsafe, safe_actions
from safeteach.worlds.mdp import SafeMDP

__all__ = ["delta_graph"]

MARGIN = 0.62  # room around the outermost states for their boxes and loops
INTO_START = np.array([-0.66, 0.75])  # the side of s_1 on which the mark of the start stands
GLYPHS = {"up": "↑", "down": "↓", "left": "←", "right": "→"}


def delta_graph(mdp: SafeMDP, h: int = 1) -> DescribedFigure:
    r"""Draw the Δ graph of step ``h``: from each state by each action to all possible successors.

    A line leads from a state to a small box with the action's name, and an arrow from the box
    to each state of :math:`\Delta_h(s, a)`.  Actions of a state with the same successors share
    a box ("any" when they are all of three or more).  Arrows into :math:`U_{h+1}` are dashed.
    The states' kinds are those of step h.  States stand at the same places at every step: a
    grid's on their cells, others in layers by their distance from :math:`s_1`.

    Parameters
    ----------
    mdp : SafeMDP
        With at most 40 states; 4 to 8 read best.
    h : int
        A step 1..H.

    Returns
    -------
    DescribedFigure

    Notes
    -----
    :math:`\Delta_h` and :math:`U_h` are those of Section 4.1 of the paper.

    Examples
    --------
    >>> import safeteach as st
    >>> figure = st.figures.delta_graph(st.instances.union_counterexample(), h=3)
    >>> print(figure.alt)
    Δ graph at step 3: 5 states, 2 actions; s_1 is start. Unsafe: u. Doomed but not
    unsafe: x. Safe: start, y, g. Actions that can lead into U_4: a0 and a1 at x; a0 and a1 at u.
    """
    instance(mdp, "mdp", SafeMDP, "a SafeMDP")
    check_drawable(mdp)
    kinds = kinds_at(mdp, h)
    next_doomed = doomed_next(mdp, h)
    plan = _arrange(mdp, 1 if mdp.stationary else h)
    figure, axes = sheet(plan.width, plan.height, _describe(mdp, h))
    for box, label, route in zip(plan.boxes, plan.labels, plan.routes, strict=True):
        home, a = plan.states[box.s], ",".join(map(str, box.actions))
        arrow(axes, home, route.spot, bend=route.stem, head=False, gap=(0.8 * plan.radius, 0))
        for t, bend in zip(box.successors, route.bends, strict=True):
            doomed = bool(next_doomed[t])
            arrow(
                axes,
                route.spot,
                plan.states[t],
                bend=bend,
                gap=(0, 1.1 * plan.radius),
                gid=f"delta/{box.s}/{a}/{t}/{'doomed' if doomed else 'free'}",
                **edge_style(doomed),
            )
        draw_box(axes, route.spot, label)
    for s, kind in enumerate(kinds):
        name = shorten(mdp.state_name(s))
        draw_state(axes, plan.states[s], kind, plan.radius, name, gid=f"state/{s}/{kind.name}")
    start = plan.states[mdp.s1]
    draw_start(axes, start + INTO_START * 1.1 * plan.radius, gid=f"start/{mdp.s1}")
    draw_legend(axes, _entries(h), plan.width)
    return figure


@dataclass(frozen=True)
class Arrangement:
    """Where everything of a Δ graph stands, in inches."""

    width: float
    height: float
    radius: float
    states: NDArray[np.float64]
    boxes: list[Junction]
    labels: list[str]
    routes: list[Route]


@functools.lru_cache(maxsize=32)  # for who moves a slider over the steps of one world
def _arrange(mdp: SafeMDP, h: int) -> Arrangement:
    boxes = junctions(mdp, h)
    labels = [action_label(mdp, box.actions) for box in boxes]
    sizes = np.array([box_size(label) for label in labels])
    radius = state_radius([shorten(mdp.state_name(s)) for s in range(mdp.S)])
    places = state_positions(mdp)
    columns, rows = places.max(axis=0)
    margin = MARGIN + radius
    below = margin if isinstance(mdp, GridMDP) else margin - 0.2  # loops stand above where they can
    across = min(1.9, (WIDEST - 2 * margin) / max(columns, 1))
    down = across if isinstance(mdp, GridMDP) else 1.65
    width = max(columns * across + 2 * margin, 4.5)
    bottom = legend_height(_entries(mdp.H), width)
    height = bottom + below + rows * down + margin
    states = places * [across, down] + [(width - columns * across) / 2, bottom + below]
    moves = np.array([(right, -down) for down, right in MOVES.values()])
    marks = (states[mdp.s1] + INTO_START * (radius + 0.2))[None]
    corners = np.array([[0.05, bottom], [width - 0.05, height - 0.05]])
    paper = Paper(states, radius, marks, corners)
    choices = [
        choices_on_grid(paper, box, size, across, moves)
        if isinstance(mdp, GridMDP)
        else choices_around(paper, box, size)
        for box, size in zip(boxes, sizes, strict=True)
    ]
    routes = find_routes(paper, boxes, choices, sizes)
    return Arrangement(width, height, radius, states, boxes, labels, routes)


def doomed_next(mdp: SafeMDP, h: int) -> NDArray[np.bool_]:
    """(S,) bool: U_{h+1}, empty after the last step, where no cost is paid any more."""
    return potentially_unsafe(mdp)[h] if h < mdp.H else np.zeros(mdp.S, np.bool_)


def edge_style(doomed: bool) -> dict[str, Any]:
    """How an arrow into U_{h+1} looks, and one that stays out of it."""
    return {"color": VERMILION, "dashed": True, "width": 1.8} if doomed else {"color": GREY}


def action_label(mdp: SafeMDP, actions: Sequence[int]) -> str:
    """The names of actions that share an arrow, short: a grid's moves as arrows."""
    if len(actions) == mdp.A >= 3:
        return "any"
    if isinstance(mdp, GridMDP):
        return "".join(GLYPHS[mdp.action_name(a)] for a in actions)
    names = ", ".join(shorten(mdp.action_name(a)) for a in actions)
    return "\n".join(textwrap.wrap(names, 12, break_long_words=False))


def actions_phrase(mdp: SafeMDP, actions: Sequence[int]) -> str:
    """The names of actions in words."""
    if len(actions) == mdp.A >= 3:
        return "every action"
    return listing([mdp.action_name(a) for a in actions], 40, comma=" and ")


def draw_start(axes: Axes, tip: Point, gid: str | None = None) -> None:
    """Draw the short heavy arrow that leads into s_1."""
    arrow(axes, np.asarray(tip) + INTO_START * 0.36, tip, color=INK, width=2.2, gid=gid)


def _entries(h: int) -> list[Entry]:
    def sample(axes: Axes, xy: Point) -> None:
        start, end = (xy[0] - 0.2, xy[1]), (xy[0] + 0.15, xy[1])
        arrow(axes, start, end, **edge_style(doomed=True))

    return [
        *kind_entries(),
        Entry(lambda axes, xy: draw_box(axes, xy, "a"), "action"),
        Entry(sample, f"into $U_{{{h + 1}}}$"),
        Entry(lambda axes, xy: draw_start(axes, (xy[0] + 0.12, xy[1] - 0.13)), "start $s_1$"),
    ]


def _describe(mdp: SafeMDP, h: int) -> str:
    safe = safe_actions(mdp)[h - 1]
    risky = [
        f"{actions_phrase(mdp, np.flatnonzero(~safe[s]).tolist())} at {full_name(mdp, s)}"
        for s in range(mdp.S)
        if not safe[s].all()
    ]
    count = f"{mdp.S} state{'s' * (mdp.S > 1)}, {mdp.A} action{'s' * (mdp.A > 1)}"
    return (
        f"Δ graph at step {h}: {count}; s_1 is {full_name(mdp, mdp.s1)}. "
        f"{describe_kinds(mdp, kinds_at(mdp, h))} "
        f"Actions that can lead into U_{h + 1}: {listing(risky, 140, comma='; ')}."
    )
