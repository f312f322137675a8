"""How danger travels back in time: U_H, U_{H-1}, .., U_1, one picture a step.

Taught in the chapter *Danger ahead*.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from safeteach.arguments import instance
from safeteach.figures.described import (
    DOOMED,
    LONGEST_ALT,
    WIDEST,
    DescribedFigure,
    Entry,
    Point,
    describe_kinds,
    draw_legend,
    draw_state,
    full_name,
    kind_entries,
    kinds_at,
    legend_height,
    listing,
    ring,
    sheet,
    shorten,
    state_radius,
    write,
)
from safeteach.figures.grid import cell_letter, cell_middles, check_grid, draw_ground
from safeteach.figures.layout import check_drawable, state_positions
from safeteach.instances import GridMDP
from safeteach.safety import potentially_unsafe
from safeteach.worlds.mdp import SafeMDP

__all__ = ["propagation", "propagation_frame"]

MOST_PANELS = 12
HEADLINE = 0.36  # the line of text above a panel
BETWEEN = 0.3
EDGE = 0.2


def propagation(mdp: SafeMDP) -> DescribedFigure:
    r"""Draw U_H, U_{H-1}, .., U_1 as small multiples, in the order in which they are computed.

    States stand at the same place in every panel.  Those that have just entered
    :math:`U_h` have a heavy line around them.  Where the same P serves all steps and U_h has
    stopped growing at step m, one panel "h ≤ m" stands for all the rest.

    Parameters
    ----------
    mdp : SafeMDP
        With at most 40 states unless it is a GridMDP, and at most 12 panels.

    Returns
    -------
    DescribedFigure

    Notes
    -----
    The recursion for :math:`U_h` is that of Section 4.1 of the paper, corrected: see
    :func:`safeteach.potentially_unsafe`.

    Examples
    --------
    >>> import safeteach as st
    >>> print(st.figures.propagation(st.instances.ice_corridor()).alt)
    Doomed states from step 10 back to step 1. U_10: (2,3). U_9 gains (1,3). U_8
    gains (1,2). U_7 gains (1,1). From step 7 back to step 1 nothing changes.
    """
    instance(mdp, "mdp", SafeMDP, "a SafeMDP")
    steps = panel_steps(mdp)
    if len(steps) > MOST_PANELS:
        raise ValueError(
            f"{len(steps)} panels are needed, one for each U_h that differs; more than "
            f"{MOST_PANELS} cannot be read. Draw single steps with propagation_frame(mdp, h)"
        )
    ground = _ground(mdp, abreast=3)
    panel = ground.size + np.array([0, HEADLINE])
    abreast = min(len(steps), max(1, int((WIDEST - 2 * EDGE + BETWEEN) / (panel[0] + BETWEEN))))
    lines = -(-len(steps) // abreast)
    abreast = -(-len(steps) // lines)
    entries = _entries()
    width = max(abreast * (panel[0] + BETWEEN) - BETWEEN + 2 * EDGE, 4.0)
    bottom = legend_height(entries, width) + 0.1
    height = bottom + lines * (panel[1] + BETWEEN) - BETWEEN + 0.1
    figure, axes = sheet(width, height, _describe(mdp, steps))
    left = (width - abreast * (panel[0] + BETWEEN) + BETWEEN) / 2
    for i, h in enumerate(steps):
        line, place = divmod(i, abreast)
        x = left + place * (panel[0] + BETWEEN)
        y = height - 0.1 - panel[1] - line * (panel[1] + BETWEEN)
        rest = mdp.stationary and h == steps[-1] > 1
        _draw_panel(axes, mdp, h, ground, (x, y), rf"$h \leq {h}$" if rest else f"$h = {h}$")
    draw_legend(axes, entries, width)
    return figure


def propagation_frame(mdp: SafeMDP, h: int) -> DescribedFigure:
    r"""Draw :math:`U_h` for one step: one panel of :func:`propagation`, larger.

    Frames of the same MDP have the same size and the same places, so that they can be leafed
    through.

    Parameters
    ----------
    mdp : SafeMDP
        With at most 40 states unless it is a GridMDP.
    h : int
        A step 1..H.

    Returns
    -------
    DescribedFigure

    Examples
    --------
    >>> import safeteach as st
    >>> print(st.figures.propagation_frame(st.instances.union_counterexample(), h=3).alt)
    States at step 3 of 4. Unsafe: u. Doomed but not unsafe: x. Safe: start, y, g.
    New in U_3: x. No longer in it: none.
    """
    instance(mdp, "mdp", SafeMDP, "a SafeMDP")
    kinds = kinds_at(mdp, h)
    ground = _ground(mdp, abreast=1)
    entries = _entries()
    width = max(ground.size[0] + 2 * EDGE, 4.5)
    bottom = legend_height(entries, width) + 0.1
    gained, lost = (_names(mdp, states) for states in _changes(mdp, h))
    alt = (
        f"States at step {h} of {mdp.H}. {describe_kinds(mdp, kinds)} "
        f"New in U_{h}: {gained}. No longer in it: {lost}."
    )
    figure, axes = sheet(width, bottom + ground.size[1] + HEADLINE + 0.1, alt)
    corner = ((width - ground.size[0]) / 2, bottom)
    _draw_panel(axes, mdp, h, ground, corner, f"$h = {h}$")
    draw_legend(axes, entries, width)
    return figure


def panel_steps(mdp: SafeMDP) -> list[int]:
    """The steps that get a panel: H .. 1, or H .. m if nothing changes before step m."""
    last = 1
    if mdp.stationary:
        U_1, *later = potentially_unsafe(mdp)
        last += sum(np.array_equal(U_1, U_h) for U_h in later)  # U_2 .. U_m, one after the other
    return list(range(mdp.H, last - 1, -1))


@dataclass(frozen=True)
class Ground:
    """A panel to draw states on.

    Attributes
    ----------
    size : (2,) array
        Inches.
    places : (S, 2) array
        Of the states, from the panel's lower left corner.
    radius : float
    names : tuple of str
        What is written into the states; little on a map, where the cell tells which they are.
    cell : float
        Of a grid's map; 0 for others.
    """

    size: NDArray[np.float64]
    places: NDArray[np.float64]
    radius: float
    names: tuple[str, ...]
    cell: float


def _ground(mdp: SafeMDP, abreast: int) -> Ground:
    """A panel of which ``abreast`` fit beside each other, if it can still be read then."""
    room = (WIDEST - 2 * EDGE + BETWEEN) / abreast - BETWEEN
    if isinstance(mdp, GridMDP):
        check_grid(mdp)
        rows, columns = len(mdp.map), len(mdp.map[0])
        cell = min(0.8, max(0.3, room / columns))
        places = cell_middles(mdp, (0, 0), cell)
        letters = tuple(cell_letter(mdp, s) for s in range(mdp.S))
        return Ground(np.array([columns, rows]) * cell, places, 0.28 * cell, letters, cell)
    check_drawable(mdp)
    names = tuple(shorten(mdp.state_name(s)) for s in range(mdp.S))
    radius = state_radius(names)
    places = state_positions(mdp)
    columns, rows = places.max(axis=0)
    edge = 1.4 * radius  # the ring of a new state included
    least = 2.2 * edge
    across = min(max(least, (room - 2 * edge) / max(columns, 1)), 1.3)
    across = min(across, (WIDEST - 2 * EDGE - 2 * edge) / max(columns, 1))
    pitch = np.array([across, min(across, least * 1.1)])
    return Ground(places.max(axis=0) * pitch + 2 * edge, places * pitch + edge, radius, names, 0.0)


def _draw_panel(
    axes: Axes, mdp: SafeMDP, h: int, ground: Ground, corner: Point, headline: str
) -> None:
    if isinstance(mdp, GridMDP):
        draw_ground(axes, mdp, corner, ground.cell)
    gained, _ = _changes(mdp, h)
    for s, kind in enumerate(kinds_at(mdp, h)):
        xy = np.asarray(corner) + ground.places[s]
        gid = f"state/{h}/{s}/{kind.name}"
        draw_state(axes, xy, kind, ground.radius, ground.names[s], gid=gid)
        if gained[s]:
            ring(axes, xy, kind, ground.radius, gid=f"new/{h}/{s}")
    count = int(potentially_unsafe(mdp)[h - 1].sum())
    y = corner[1] + ground.size[1] + 0.55 * HEADLINE
    text = rf"{headline},  $|U_h| = {count}$"
    write(axes, (corner[0] + ground.size[0] / 2, y), text, math=True)


def _changes(mdp: SafeMDP, h: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which states are in U_h and not in U_{h+1}, and the other way round; none at h = H."""
    U = potentially_unsafe(mdp)
    now, later = U[h - 1], U[min(h, mdp.H - 1)]
    return now & ~later, later & ~now


def _entries() -> list[Entry]:
    def new(axes: Axes, xy: Point) -> None:
        draw_state(axes, xy, DOOMED, 0.1)
        ring(axes, xy, DOOMED, 0.1)

    return [*kind_entries(), Entry(new, "new in $U_h$")]


def _names(mdp: SafeMDP, states: NDArray[np.bool_], most: int = 60) -> str:
    return listing([full_name(mdp, s) for s in range(mdp.S) if states[s]], most)


def _describe(mdp: SafeMDP, steps: list[int]) -> str:
    U = potentially_unsafe(mdp)
    parts = [
        f"Doomed states from step {mdp.H} back to step 1.",
        f"U_{mdp.H}: {_names(mdp, U[-1])}.",
    ]
    for h in steps[1:]:
        gained, lost = _changes(mdp, h)
        changes = [
            f"{verb} {_names(mdp, states, most=24)}"
            for verb, states in (("gains", gained), ("loses", lost))
            if states.any()
        ]
        if changes:
            parts.append(f"U_{h} {' and '.join(changes)}.")
    if mdp.stationary and steps[-1] > 1:
        parts.append(f"From step {steps[-1]} back to step 1 nothing changes.")
    elif len(parts) == 2:
        parts.append("Nothing changes.")
    text = " ".join(parts)
    if len(text) <= LONGEST_ALT:
        return text
    sizes = ", ".join(str(U[h - 1].sum()) for h in steps)
    return f"{parts[0]} {parts[1]} Sizes of U_h from h = {mdp.H} down to {steps[-1]}: {sizes}."
