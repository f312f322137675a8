"""One step of SRF-UCRL as a table: which actions it has banned and how uncertain each still is."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from safeteach.classroom.drawing.laboratory import laboratory
from safeteach.figures.described import (
    DOOMED,
    INK,
    LINE,
    PALE_BLUE,
    PALE_ORANGE,
    PAPER,
    SAFE,
    UNSAFE,
    DescribedFigure,
    Entry,
    Point,
    draw_legend,
    draw_state,
    full_name,
    legend_height,
    listing,
    sheet,
    text_size,
    write,
)
from safeteach.learners.srf_ucrl import SRFUCRL
from safeteach.safety import safe_actions
from safeteach.worlds.mdp import SafeMDP

__all__ = ["laboratory", "mask"]


MOST_STATES, MOST_ACTIONS = 14, 6
LOW, GAP, MARGIN = 0.37, 0.05, 0.12  # inches: height of a row, between cells, around all
RADIUS = 0.12
LOOKS = {"safe": PALE_BLUE, "banned": PALE_ORANGE, "untried": PAPER}


def mask(mdp: SafeMDP, learner: SRFUCRL, h: int) -> DescribedFigure:
    r"""Draw the mask and the uncertainty of every pair at step ``h``, as they were last planned.

    A row is a state, with what the learner takes it for; a column is an action.  The number is
    :math:`\bar W_h(s, a)`, a dash where the pair was never tried.  A hatched cell is banned: its
    action has been seen to lead into :math:`U_{h+1}^k`.  A heavy frame marks the planned action,
    a broken one an action that can lead into the true :math:`U_{h+1}` and is not yet banned.

    Parameters
    ----------
    mdp : SafeMDP
        At most 14 states and 6 actions.
    learner : SRFUCRL or RFUCRL
        One that has planned; it is only read.
    h : int
        A step 1..H.

    Returns
    -------
    DescribedFigure

    Notes
    -----
    Algorithm 2 and Eq. (defW) of the paper.  Taught in the chapter *SRF-UCRL*.

    Examples
    --------
    >>> import safeteach as st
    >>> from safeteach.chapters.srf_ucrl import figures
    >>> mdp = st.instances.laboratory()
    >>> learner = st.SRFUCRL(mdp.known, bonus_scale=0.001)
    >>> exploration = st.explore(learner, mdp, episodes=500, seed=1)
    >>> figures.mask(mdp, learner, h=1).alt.split(". ")[:2]
    ['Before episode 501, step 1 of 10', 'Flagged: spill, furnace']
    """
    h = mdp.check_step(h)
    if mdp.S > MOST_STATES or mdp.A > MOST_ACTIONS:
        raise ValueError(
            f"the table would have {mdp.S} rows and {mdp.A} columns; more than {MOST_STATES} and "
            f"{MOST_ACTIONS} cannot be read"
        )
    looks_safe = learner.safe_actions[h - 1]
    tried = learner.transitions.N[h - 1] > 0
    unknown = looks_safe & ~safe_actions(mdp)[h - 1]
    names = [mdp.state_name(s) for s in range(mdp.S)]
    actions = [mdp.action_name(a) for a in range(mdp.A)]
    left = MARGIN + 2.4 * RADIUS + 0.1 + max(text_size(name)[0] for name in names) + 0.12
    wide = max(0.62, 0.12 + max(text_size(name)[0] for name in actions))
    width = left + mdp.A * wide + MARGIN
    entries = _entries()
    bottom = legend_height(entries, width)
    height = bottom + (mdp.S + 1) * LOW + 2 * MARGIN
    figure, axes = sheet(width, height, _describe(mdp, learner, h))
    top = height - MARGIN - LOW / 2
    for a, name in enumerate(actions):
        write(axes, (left + (a + 0.5) * wide, top), name)
    for s, name in enumerate(names):
        y = top - (s + 1) * LOW
        kind = UNSAFE if learner.flagged[s] else DOOMED if learner.U[h - 1, s] else SAFE
        draw_state(axes, (MARGIN + 1.2 * RADIUS, y), kind, RADIUS, gid=f"state/{s}/{kind.name}")
        write(axes, (MARGIN + 2.4 * RADIUS + 0.1, y), name, "left")
        for a in range(mdp.A):
            look = "untried" if not tried[s, a] else "safe" if looks_safe[s, a] else "banned"
            middle = (left + (a + 0.5) * wide, y)
            _draw_cell(axes, middle, wide, look, gid=f"cell/{s}/{a}/{look}")
            if unknown[s, a]:
                _draw_unknown(axes, middle, wide, gid=f"unknown/{s}/{a}")
            if learner.policy[h - 1, s] == a:
                _draw_chosen(axes, middle, wide, gid=f"chosen/{s}/{a}")
            number = _say(float(learner.W[h - 1, s, a])) if tried[s, a] else "–"
            write(axes, middle, number, halo=LOOKS[look] if look == "banned" else None)
    draw_legend(axes, entries, width)
    return figure


def _box(middle: Point, wide: float, inset: float) -> tuple[tuple[float, float], float, float]:
    """Corner, width and height of a cell; a narrow one is a legend's, and square."""
    size = wide - GAP - 2 * inset, min(wide, LOW) - GAP - 2 * inset
    return (middle[0] - size[0] / 2, middle[1] - size[1] / 2), *size


def _draw_cell(axes: Axes, middle: Point, wide: float, look: str, gid: str | None = None) -> None:
    cell = Rectangle(*_box(middle, wide, 0), facecolor=LOOKS[look], linewidth=0.8, gid=gid)
    cell.set(edgecolor=DOOMED.edge if look == "banned" else LINE, zorder=2)
    cell.set(hatch="////" if look == "banned" else None, hatch_linewidth=0.9)
    axes.add_artist(cell)


def _draw_unknown(axes: Axes, middle: Point, wide: float, gid: str | None = None) -> None:
    frame = Rectangle(*_box(middle, wide, 0.035), fill=False, edgecolor=INK, gid=gid)
    frame.set(linewidth=1.3, linestyle=(0, (2.2, 1.6)), zorder=3)
    axes.add_artist(frame)


def _draw_chosen(axes: Axes, middle: Point, wide: float, gid: str | None = None) -> None:
    frame = Rectangle(*_box(middle, wide, 0), fill=False, edgecolor=INK, linewidth=2.4, gid=gid)
    frame.set_zorder(3)
    axes.add_artist(frame)


def _say(value: float) -> str:
    return f"{value:.0f}" if value >= 9.95 else f"{value:.1f}" if value >= 0.95 else f"{value:.2f}"


def _entries() -> list[Entry]:
    wide = 0.3
    return [
        Entry(lambda axes, xy: _draw_cell(axes, xy, wide, "safe"), r"$\overline{W}$, looks safe"),
        Entry(lambda axes, xy: _draw_cell(axes, xy, wide, "banned"), "banned"),
        Entry(lambda axes, xy: _draw_cell(axes, xy, wide, "untried"), "never tried"),
        Entry(lambda axes, xy: _draw_chosen(axes, xy, wide), "planned"),
        Entry(lambda axes, xy: _draw_unknown(axes, xy, wide), "risky, not known"),
        Entry(lambda axes, xy: draw_state(axes, xy, UNSAFE, RADIUS), "flagged"),
        Entry(lambda axes, xy: draw_state(axes, xy, DOOMED, RADIUS), "known doomed"),
    ]


def _describe(mdp: SafeMDP, learner: SRFUCRL, h: int) -> str:
    def pairs(chosen: np.ndarray) -> str:
        return listing(
            [f"{full_name(mdp, s)} {mdp.action_name(a)}" for s, a in np.argwhere(chosen).tolist()]
        )

    def states(chosen: np.ndarray) -> str:
        return listing([full_name(mdp, int(s)) for s in np.flatnonzero(chosen)])

    looks_safe, tried = learner.safe_actions[h - 1], learner.transitions.N[h - 1] > 0
    unknown = looks_safe & ~safe_actions(mdp)[h - 1]
    k = int(learner.transitions.N[0].sum())
    start = int(learner.policy[h - 1, mdp.s1])
    return (
        f"Before episode {k + 1:,}, step {h} of {mdp.H}. Flagged: {states(learner.flagged)}. Known "
        f"to be doomed: {states(learner.U[h - 1] & ~learner.flagged)}. Banned: "
        f"{pairs(~looks_safe)}. Risky and not known to be: {pairs(unknown)}. Tried: "
        f"{int(tried.sum())} of {tried.size} pairs. In {full_name(mdp, mdp.s1)} the plan is "
        f"{mdp.action_name(start)}, uncertainty {learner.W[h - 1, mdp.s1, start]:.2f}."
    )
