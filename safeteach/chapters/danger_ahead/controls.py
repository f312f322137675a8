"""The interactive figures of *Danger ahead*: the spread of danger, and why it spreads."""

from __future__ import annotations

import numpy as np

from safeteach import figures
from safeteach.figures.propagation import panel_steps
from safeteach.instances import GridMDP
from safeteach.safety import potentially_unsafe
from safeteach.widgets import Choice, Interactive, Slider, interactive
from safeteach.worlds.mdp import SafeMDP

__all__ = ["doom", "spread"]


def spread(mdp: SafeMDP) -> Interactive:
    """Move step h back from H to 1 and watch U_h spread: on a grid's map, else on the Δ graph.

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
    draw = figures.propagation_frame if isinstance(mdp, GridMDP) else figures.delta_graph
    return interactive(
        lambda h: draw(mdp, h),
        h=Slider("step h", values=range(mdp.H, 0, -1), start=mdp.H),
    )


def doom(mdp: SafeMDP) -> Interactive:
    """Ask of a state at a step: why is it doomed?  A witness answers, or else a safe action.

    The states are s_1 and those that are in U_h for some h.  The page goes back through the
    steps for as long as U_h changes; a kernel goes back to step 1.

    Parameters
    ----------
    mdp : SafeMDP
        With a state that is potentially unsafe and not unsafe.

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
    doomed = U & ~mdp.unsafe
    if not doomed.any():
        raise ValueError("no state is potentially unsafe but the unsafe ones: nothing to explain")
    steps = panel_steps(mdp)
    start = min(h for h in steps if doomed[h - 1].any())
    asked = U.any(axis=0) | (np.arange(mdp.S) == mdp.s1)
    return interactive(
        lambda s, h: figures.witness(mdp, s, h) if U[h - 1, s] else figures.escape(mdp, s, h),
        s=Choice(
            "state",
            {mdp.state_name(s): s for s in np.flatnonzero(asked).tolist()},
            start=int(doomed[start - 1].argmax()),
        ),
        h=Slider("step h", values=steps, start=start, fine=range(mdp.H, 0, -1)),
    )
