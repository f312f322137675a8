"""The eleven rooms of the laboratory: its doors, its dangers, numbers in it and ways through it."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from numpy.typing import ArrayLike, NDArray

from safeteach.figures.delta import INTO_START, doomed_next, edge_style
from safeteach.figures.described import (
    INK,
    LINE,
    PAPER,
    DescribedFigure,
    Entry,
    Point,
    arrow,
    describe_kinds,
    draw_legend,
    draw_state,
    full_name,
    kind_entries,
    kinds_at,
    legend_height,
    listing,
    sheet,
    state_radius,
)
from safeteach.figures.layout import laboratory_places
from safeteach.safety import potentially_unsafe
from safeteach.worlds.mdp import SafeMDP

__all__ = ["laboratory"]

MARGIN = 0.12


def laboratory(
    mdp: SafeMDP,
    values: ArrayLike | None = None,
    policy: ArrayLike | None = None,
    h: int = 1,
    most: float | None = None,
) -> DescribedFigure:
    r"""Draw the laboratory: the kinds of its states at step ``h``, values, a policy's arrows.

    An arrow joins two rooms if some action leads from one to the other; it is broken if it leads
    into :math:`U_{h+1}`.  With a policy the heavy arrows are the moves it makes at step h, the
    darker the likelier, with a loop where it stays at least every second time; the others fade.

    Parameters
    ----------
    mdp : SafeMDP
        The laboratory, or another world with states of the same names.
    values : (S,) array, optional
        A number of at least 0 for each state, such as visits or an uncertainty; it stands in the
        state, above a bar as long as its share of ``most``.
    policy : (H, S) int array, optional
    h : int
        A step 1..H.
    most : float, optional
        The value with a full bar; the largest of the values if it is not given.

    Returns
    -------
    DescribedFigure

    Notes
    -----
    The world is this book's own; the paper gives only the sizes of its reward-free experiment
    (Section 7).  Drawn in the chapters on exploring without reward.

    Examples
    --------
    >>> import safeteach as st
    >>> from safeteach.classroom.drawing.laboratory import laboratory
    >>> print(laboratory(st.instances.laboratory()).alt)
    The laboratory at step 1, eleven rooms; s_1 is room 0. Unsafe: spill, furnace. Doomed
    but not unsafe: slide. Safe: room 0, room 1, room 2, room 3, room 4, room 5, shelf, vault. Moves
    that can lead into U_2: room 0 to furnace, room 1 to slide, room 5 to furnace.
    """
    places = _places(mdp)
    kinds = kinds_at(mdp, h)
    numbers = _read_values(mdp, values)
    actions = None if policy is None else _read_policy(mdp, policy)[h - 1]
    labels = [mdp.state_name(s) for s in range(mdp.S)]
    if numbers is not None:
        labels = [f"{name}\n{_say(x)}" for name, x in zip(labels, numbers, strict=True)]
    radius = state_radius(labels)
    low, high = places.min(axis=0), places.max(axis=0)
    width = float(high[0] - low[0]) + 2 * (radius + MARGIN)
    entries = _entries(h, actions is not None)
    bottom = legend_height(entries, width)
    loops = 0.0 if actions is None else 0.3  # above the highest rooms
    height = bottom + float(high[1] - low[1]) + 2 * radius + 3 * MARGIN + loops
    places = places - low + [radius + MARGIN, bottom + radius + 2 * MARGIN]
    alt = _describe(mdp, numbers, actions, h)
    figure, axes = sheet(width, height, alt)
    _draw_moves(axes, mdp, places, radius, h, faded=actions is not None)
    if actions is not None:
        _draw_policy(axes, mdp, places, radius, h, actions)
    scale = 1.0 if numbers is None else (float(numbers.max()) if most is None else most)
    for s, kind in enumerate(kinds):
        draw_state(axes, places[s], kind, radius, labels[s], gid=f"state/{s}/{kind.name}")
        if numbers is not None:
            share = min(1.0, float(numbers[s]) / scale) if scale > 0 else 0.0
            _draw_bar(axes, places[s], radius, share, gid=f"value/{s}")
    start = places[mdp.s1] + INTO_START * 1.1 * radius
    arrow(axes, start + INTO_START * 0.36, start, color=INK, width=2.2, gid=f"start/{mdp.s1}")
    draw_legend(axes, entries, width)
    return figure


def _places(mdp: SafeMDP) -> NDArray[np.float64]:
    """(S, 2) middles of the rooms, in inches."""
    names = [mdp.state_name(s) for s in range(mdp.S)]
    places = laboratory_places(names)
    if places is None:
        raise ValueError(
            f"mdp has the states {listing(names, 60)}; only the rooms of "
            f"st.instances.laboratory() have a place in the drawing"
        )
    return places


def _read_values(mdp: SafeMDP, values: ArrayLike | None) -> NDArray[np.float64] | None:
    if values is None:
        return None
    numbers = np.asarray(values, np.float64)
    if numbers.shape != (mdp.S,):
        raise ValueError(f"values has shape {numbers.shape}; expected (S,) = {(mdp.S,)}")
    if not (np.isfinite(numbers) & (numbers >= 0)).all():
        raise ValueError("values must be finite and at least 0")
    return numbers


def _read_policy(mdp: SafeMDP, policy: ArrayLike) -> NDArray[np.int64]:
    checked = mdp.check_policy(policy)
    if checked.ndim != 2:
        raise ValueError("policy draws its actions at random; one action a state can be drawn")
    return checked.astype(np.int64)


def _say(value: float) -> str:
    """A number of at most five letters or so."""
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.2g}"


def _pairs(mdp: SafeMDP, h: int) -> set[tuple[int, int]]:
    """The pairs of different states of which the second can follow the first at step ``h``."""
    return {
        (s, int(t))
        for s in range(mdp.S)
        for a in range(mdp.A)
        for t in mdp.successors(h, s, a)
        if t != s
    }


def _draw_moves(
    axes: Axes, mdp: SafeMDP, places: NDArray[np.float64], radius: float, h: int, faded: bool
) -> None:
    """Draw an arrow from each state to each other one that some action may lead to."""
    doomed, pairs = doomed_next(mdp, h), _pairs(mdp, h)
    for s, t in sorted(pairs):
        style: dict[str, Any] = {"color": LINE} if faded else edge_style(bool(doomed[t]))
        arrow(
            axes, places[s], places[t],
            bend=0.14 if (t, s) in pairs else 0.0, gap=(1.08 * radius, 1.12 * radius),
            gid=f"move/{s}/{t}/{'doomed' if doomed[t] else 'free'}", **style,
        )  # fmt: skip


def _draw_policy(
    axes: Axes, mdp: SafeMDP, places: NDArray[np.float64], radius: float, h: int,
    actions: NDArray[np.int64],
) -> None:  # fmt: skip
    """Draw the moves of a policy: heavy arrows, and a loop where it likely stays."""
    pairs, gap = _pairs(mdp, h), (1.08 * radius, 1.12 * radius)
    chance = mdp.P[h - 1, np.arange(mdp.S), actions]
    for s, t in np.argwhere(chance > 0).tolist():
        start, end, bend = places[s], places[t], 0.14 if (t, s) in pairs else 0.0
        if s == t:
            if chance[s, s] < 0.5:
                continue
            start, end = places[s] + radius * np.array([[-0.5, 1.0], [0.5, 1.0]])
            bend = -1.1
        arrow(
            axes, start, end, bend=bend, gap=gap if s != t else (0.0, 0.0), color=INK, width=2.6,
            alpha=0.3 + 0.7 * float(chance[s, t]), gid=f"policy/{s}/{actions[s]}/{t}",
        )  # fmt: skip


def _draw_bar(axes: Axes, xy: Point, radius: float, share: float, gid: str) -> None:
    """Draw a bar at the foot of a state, full for a share of 1."""
    length, thick = 1.1 * radius, 0.09
    corner = (xy[0] - length / 2, xy[1] - 0.78 * radius)
    frame = Rectangle(corner, length, thick, facecolor=PAPER, edgecolor=INK, linewidth=0.8)
    bar = Rectangle(corner, share * length, thick, facecolor=INK, edgecolor="none", gid=gid)
    for layer, patch in enumerate((frame, bar)):
        patch.set_zorder(6 + layer)
        axes.add_artist(patch)


def _entries(h: int, has_policy: bool) -> list[Entry]:
    def move(axes: Axes, xy: Point) -> None:
        ends = (xy[0] - 0.2, xy[1]), (xy[0] + 0.15, xy[1])
        if has_policy:
            arrow(axes, *ends, color=INK, width=2.6)
        else:
            arrow(axes, *ends, **edge_style(doomed=True))

    def start(axes: Axes, xy: Point) -> None:
        tip = np.array([xy[0] + 0.12, xy[1] - 0.13])
        arrow(axes, tip + INTO_START * 0.36, tip, color=INK, width=2.2)

    words = f"the policy, step {h}" if has_policy else f"into $U_{{{h + 1}}}$"
    return [*kind_entries(), Entry(move, words), Entry(start, "start $s_1$")]


def _describe(
    mdp: SafeMDP,
    numbers: NDArray[np.float64] | None,
    actions: NDArray[np.int64] | None,
    h: int,
) -> str:
    def name(s: int) -> str:
        return full_name(mdp, s)

    text = f"The laboratory at step {h}, eleven rooms; s_1 is {name(mdp.s1)}. "
    text += describe_kinds(mdp, kinds_at(mdp, h))
    if numbers is not None:
        said = [f"{name(s)} {_say(x)}" for s, x in enumerate(numbers)]
        text += f" Values: {listing(said, 200)}."
    if actions is not None:
        said = []
        for a in np.unique(actions).tolist():
            where = ", ".join(name(s) for s in np.flatnonzero(actions == a).tolist())
            said.append(f"{mdp.action_name(a)} in {where}")
        return f"{text} The policy: {'; '.join(said)}."
    doomed = doomed_next(mdp, h)
    into = dict.fromkeys(
        f"{name(s)} to {name(int(t))}"
        for s in np.flatnonzero(~potentially_unsafe(mdp)[h - 1]).tolist()
        for a in range(mdp.A)
        for t in mdp.successors(h, s, a)
        if doomed[t]
    )
    return f"{text} Moves that can lead into U_{h + 1}: {listing(list(into), 140)}."
