"""The interactive figures of *Danger ahead*: the spread of danger, and why it spreads."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from safeteach import figures as shared
from safeteach.chapters.danger_ahead import figures
from safeteach.figures.described import DescribedFigure
from safeteach.figures.propagation import panel_steps
from safeteach.instances import GridMDP
from safeteach.safety import potentially_unsafe, witness
from safeteach.widgets import Choice, Interactive, Slider, interactive
from safeteach.worlds.mdp import SafeMDP

__all__ = ["doom", "spread", "two_recursions"]


def spread(worlds: SafeMDP | Mapping[str, SafeMDP]) -> Interactive:
    """Move step h back from H to 1 and watch U_h grow: on a grid's map, else on the graph.

    Parameters
    ----------
    worlds : SafeMDP, or dict of SafeMDP
        With two steps or more.  Of several, by their names, with the same number of steps, one is
        chosen, and the page goes back one step further than the last change in any of them.

    Notes
    -----
    U_h is that of Section 4.1 of the paper.

    Examples
    --------
    >>> import safeteach as st
    >>> from safeteach.chapters.danger_ahead import controls
    >>> controls.spread(st.instances.ice_corridor()).controls["h"]
    Slider(label='step h', values=range(10, 0, -1), start=10, fine=())
    """
    if isinstance(worlds, SafeMDP):
        every = range(worlds.H, 0, -1)
        return interactive(
            lambda h: _frame(worlds, h), h=Slider("step h", values=every, start=worlds.H)
        )
    first, *others = worlds.values()
    if any(mdp.H != first.H for mdp in others):
        raise ValueError("the worlds differ in H; one slider has the same steps for all")
    last = max(1, min(panel_steps(mdp)[-1] for mdp in worlds.values()) - 1)
    columns = max(len(mdp.map[0]) if isinstance(mdp, GridMDP) else 0 for mdp in worlds.values())
    return interactive(
        lambda world, h: _frame(worlds[world], h, columns),
        world=Choice("map", {name: name for name in worlds}, start=next(iter(worlds))),
        h=Slider(
            "step h",
            values=range(first.H, last - 1, -1),
            start=first.H,
            fine=range(first.H, 0, -1),
        ),
    )


def _frame(mdp: SafeMDP, h: int, columns: int = 0) -> DescribedFigure:
    on_a_map = isinstance(mdp, GridMDP)
    return (figures.terrain(mdp, h, columns=columns) if on_a_map else figures.looking_back(mdp, h))


def two_recursions(mdp: SafeMDP) -> Interactive:
    """Look backwards step by step, with sets that start from U or, as printed, from U_{h+1}.

    The slider begins at the last step at which the two differ.

    Parameters
    ----------
    mdp : SafeMDP
        With at most 12 states, in which the two differ.

    Examples
    --------
    >>> import safeteach as st
    >>> from safeteach.chapters.danger_ahead import controls
    >>> list(controls.two_recursions(st.instances.union_counterexample()).controls)
    ['recursion', 'h']
    """
    starts = {"the unsafe states": "exact", "the set after it, as printed": "paper"}
    exact, printed = potentially_unsafe(mdp), potentially_unsafe(mdp, recursion="paper")
    differ = np.flatnonzero((exact != printed).any(axis=1))
    if not differ.size:
        raise ValueError("both recursions give the same sets: nothing to compare")
    return interactive(
        lambda recursion, h: figures.looking_back(mdp, h, recursion),
        recursion=Choice("each set starts from", starts, start="exact"),
        h=Slider("step h", values=range(mdp.H, 0, -1), start=1 + int(differ.max())),
    )


def doom(mdp: SafeMDP) -> Interactive:
    """Ask of a state at a step: why is it doomed?  A witness answers, or else a safe action.

    The states are s_1 and those that are in U_h for some h.  The first question is one whose
    answer differs from action to action, if there is such a state.  The page goes back through
    the steps for as long as U_h changes; a kernel goes back to step 1.

    Parameters
    ----------
    mdp : SafeMDP
        With a state that is doomed and not unsafe.

    Notes
    -----
    U_h is that of Section 4.1 of the paper.

    Examples
    --------
    >>> import safeteach as st
    >>> from safeteach.chapters.danger_ahead import controls
    >>> widget = controls.doom(st.instances.union_counterexample())
    >>> widget.controls["s"]
    Choice(label='state', options={'start': 0, 'x': 1, 'u': 4}, start=1)
    """
    U = potentially_unsafe(mdp)
    steps = panel_steps(mdp)
    doomed = [
        (s, h) for h in reversed(steps) for s in np.flatnonzero(U[h - 1] & ~mdp.unsafe).tolist()
    ]
    if not doomed:
        raise ValueError("no state is doomed but the unsafe ones: nothing to explain")
    branching = [(s, h) for s, h in doomed if len(set(witness(mdp, s, h).answers[h, s])) > 1]
    state, step = (branching or doomed)[0]
    asked = U.any(axis=0) | (np.arange(mdp.S) == mdp.s1)
    return interactive(
        lambda s, h: shared.witness(mdp, s, h) if U[h - 1, s] else shared.escape(mdp, s, h),
        s=Choice(
            "state",
            {mdp.state_name(s): s for s in np.flatnonzero(asked).tolist()},
            start=state,
        ),
        h=Slider("step h", values=steps, start=step, fine=range(mdp.H, 0, -1)),
    )
