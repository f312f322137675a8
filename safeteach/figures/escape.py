"""Why a state is not doomed, drawn: an action after which every successor is out of danger.

Taught in the chapter *Danger ahead*.
"""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from safeteach.arguments import instance
from safeteach.figures.delta import action_label, edge_style
from safeteach.figures.described import (
    SAFE,
    WIDEST,
    DescribedFigure,
    Entry,
    Point,
    arrow,
    box_size,
    draw_box,
    draw_legend,
    draw_state,
    kind_entries,
    legend_height,
    listing,
    sheet,
    shorten,
    state_radius,
    text_size,
    write,
)
from safeteach.safety import potentially_unsafe, safe_actions
from safeteach.worlds.mdp import SafeMDP

__all__ = ["escape"]

HEADLINE = 0.4
EDGE = 0.2
MOST_SUCCESSORS = 8


def escape(mdp: SafeMDP, s: int, h: int) -> DescribedFigure:
    r"""Draw why state ``s`` is not in U_h: a safe action, and all that may follow it.

    It is the other answer to the question of :func:`safeteach.figures.witness`.  The action is
    the first of :math:`A_h^{\mathrm{safe}}(s)`; none of its successors is in :math:`U_{h+1}`.
    After the last step no cost is paid, so there every action is safe.

    Parameters
    ----------
    mdp : SafeMDP
    s : int
        A state outside U_h.
    h : int
        A step 1..H.

    Returns
    -------
    DescribedFigure

    Raises
    ------
    ValueError
        If s is in U_h, or if its safe action has more than 8 successors.

    Notes
    -----
    :math:`U_h` and the safe actions are those of Section 4.1 of the paper.

    Examples
    --------
    >>> import safeteach as st
    >>> print(st.figures.escape(st.instances.union_counterexample(), s=2, h=2).alt)
    Why y is not in U_2: it is not unsafe, and its action a0 may lead to y alone, outside U_3. Safe
    actions at y in step 2: a0.
    """
    instance(mdp, "mdp", SafeMDP, "a SafeMDP")
    if potentially_unsafe(mdp)[mdp.check_step(h) - 1, mdp.check_state(s)]:
        raise ValueError(f"state {mdp.state_name(s)} is doomed at step {h}")
    safe = np.flatnonzero(safe_actions(mdp)[h - 1, s])
    successors = mdp.successors(h, s, safe[0]) if h < mdp.H else np.array([], int)
    if len(successors) > MOST_SUCCESSORS:
        raise ValueError(
            f"action {mdp.action_name(safe[0])} has {len(successors)} successors; a picture of "
            f"more than {MOST_SUCCESSORS} cannot be read"
        )
    names = {t: shorten(mdp.state_name(t)) for t in (s, *successors)}
    label = action_label(mdp, [int(safe[0])])
    radius = state_radius(list(names.values()))
    across = 2 * radius + box_size(label)[0] + 0.9
    down = 2 * radius + 0.15
    said = _answer(mdp, s, h)
    entries = _entries(len(successors) > 0)
    width = min(max(text_size(said, math=True)[0] + 2 * EDGE, across + 2 * radius, 4.0), WIDEST)
    bottom = legend_height(entries, width) + 0.1
    middle = bottom + max(len(successors), 1) * down / 2
    height = bottom + max(len(successors), 1) * down + 2 * HEADLINE

    figure, axes = sheet(width, height, _describe(mdp, s, h, safe, successors))
    write(axes, (width / 2, height - 0.5 * HEADLINE), said, math=True)
    here = np.array([width / 2 - (across / 2 if len(successors) else 0), middle])
    box = here + np.array([radius + 0.35 + box_size(label)[0] / 2, 0])
    _headline(axes, here[0], height, h)
    for i, t in enumerate(successors):
        there = here + np.array([across, ((len(successors) - 1) / 2 - i) * down])
        gap = (0, 1.1 * radius)
        arrow(axes, box, there, gap=gap, gid=f"escape/{t}", **edge_style(doomed=False))
        draw_state(axes, there, SAFE, radius, names[t], gid=f"node/{h + 1}/{t}/{SAFE.name}")
    if len(successors):
        _headline(axes, here[0] + across, height, h + 1)
        arrow(axes, here, box, head=False, gap=(0.8 * radius, 0))
        draw_box(axes, box, label)
    draw_state(axes, here, SAFE, radius, names[s], gid=f"node/{h}/{s}/{SAFE.name}")
    draw_legend(axes, entries, width)
    return figure


def _headline(axes: Axes, x: float, height: float, h: int) -> None:
    write(axes, (x, height - 1.5 * HEADLINE), f"$h = {h}$", math=True)


def _answer(mdp: SafeMDP, s: int, h: int) -> str:
    name = shorten(mdp.state_name(s)).replace("$", r"\$")
    why = "no step follows" if h == mdp.H else "it has a safe action"
    return rf"{name} $\notin U_{{{h}}}$: {why}"


def _entries(acts: bool) -> list[Entry]:
    def sample(axes: Axes, xy: Point) -> None:
        arrow(axes, (xy[0] - 0.2, xy[1]), (xy[0] + 0.18, xy[1]), **edge_style(doomed=False))

    action = Entry(lambda axes, xy: draw_box(axes, xy, "a"), "action")
    return [kind_entries()[0], *([action, Entry(sample, "what may follow")] if acts else [])]


def _describe(
    mdp: SafeMDP,
    s: int,
    h: int,
    safe: np.ndarray[tuple[int], np.dtype[np.intp]],
    successors: np.ndarray[tuple[int], np.dtype[np.integer]],
) -> str:
    name = mdp.state_name(s)
    opening = f"Why {name} is not in U_{h}: it is not unsafe, and "
    if h == mdp.H:
        return f"{opening}after the last step no cost is paid."
    follow = listing([mdp.state_name(int(t)) for t in successors])
    actions = listing([mdp.action_name(int(a)) for a in safe])
    alone = " alone" if len(successors) == 1 else ""
    return (
        f"{opening}its action {mdp.action_name(int(safe[0]))} may lead to {follow}{alone}, outside "
        f"U_{h + 1}. Safe actions at {name} in step {h}: {actions}."
    )
