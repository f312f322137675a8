"""The interactive figures of *Danger ahead*: the spread of danger, and why it spreads."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from safeteach import figures as shared
from safeteach.chapters.danger_ahead import figures
from safeteach.classroom.playground import playground
from safeteach.figures.propagation import panel_steps
from safeteach.instances import GridMDP
from safeteach.safety import potentially_unsafe, witness
from safeteach.widgets import Choice, Interactive, Slider, interactive
from safeteach.worlds.mdp import SafeMDP

__all__ = ["doom", "ice", "spread", "two_recursions"]


def spread(mdp: SafeMDP) -> Interactive:
    """Move step h back from H to 1 and watch U_h grow: on a grid's map, else on the graph.

    Parameters
    ----------
    mdp : SafeMDP
        With two steps or more.

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
    frame = figures.terrain if isinstance(mdp, GridMDP) else figures.looking_back
    every = range(mdp.H, 0, -1)
    return interactive(lambda h: frame(mdp, h), h=Slider("step h", values=every, start=mdp.H))


def ice(worlds: Mapping[str, GridMDP]) -> Interactive:
    """Watch U_h grow on maps: in the page a playground, where the reader paints on them too.

    Parameters
    ----------
    worlds : dict of GridMDP
        By names, with the same number of steps; one is chosen.

    Notes
    -----
    U_h is that of Section 4.1 of the paper.

    Examples
    --------
    >>> import safeteach as st
    >>> from safeteach.chapters.danger_ahead import controls
    >>> short = st.instances.grid_from_map("S ~ G", H=12)
    >>> list(controls.ice({"pond": st.instances.grid(), "short": short}).controls)
    ['world', 'h']
    """
    first, *others = worlds.values()
    if any(mdp.H != first.H for mdp in others):
        raise ValueError("the worlds differ in H; one slider has the same steps for all")
    columns = max(len(mdp.map[0]) for mdp in worlds.values())
    return playground(
        lambda world, h: figures.terrain(worlds[world], h, columns=columns),
        worlds,
        ["why", "paint"],
        first.H,
        world=Choice("map", {name: name for name in worlds}, start=next(iter(worlds))),
        h=Slider("step h", values=range(first.H, 0, -1), start=first.H),
    )


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
