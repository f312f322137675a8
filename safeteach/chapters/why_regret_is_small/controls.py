"""The interactive figures of the chapter *Why regret is small*: a run goes on; a world grows."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from safeteach.chapters.why_regret_is_small import figures
from safeteach.widgets import Choice, Interactive, Slider, interactive
from safeteach.worlds.mdp import SafeMDP

__all__ = ["regret", "trial"]

WATCHED = (100, 250, 500, 550, 600, 1_000, 2_000)  # episodes
LARGER = (10**3, 10**6)  # numbers of states to compare a world with


def trial(regret: ArrayLike, flagged: int) -> Interactive:
    """Watch a run for longer: move the number of episodes whose regret is drawn.

    Parameters
    ----------
    regret : (K,) array
        Of each episode, 2,000 or more; the first 2,000 are shown.
    flagged : int
        The first episode that is planned with an unsafe state flagged.

    Examples
    --------
    >>> import numpy as np
    >>> from safeteach.chapters.why_regret_is_small import controls
    >>> controls.trial(np.ones(2_000), flagged=508).controls["watched"].start
    500
    """
    shown = np.asarray(regret, float)[: WATCHED[-1]]
    return interactive(
        lambda watched: figures.trial(shown, watched, flagged),
        watched=Slider("episodes", values=WATCHED, start=500),
    )


def regret(mdp: SafeMDP) -> Interactive:
    """Choose the number of states under the bounds on regret.

    Parameters
    ----------
    mdp : SafeMDP
        Its A and H are kept, its S is the first of three choices.

    Notes
    -----
    The bounds are repairs of Theorem 4.2 of the paper.  Taught in the chapter *Why regret is
    small*.

    Examples
    --------
    >>> import safeteach as st
    >>> from safeteach.chapters.why_regret_is_small import controls
    >>> controls.regret(st.instances.grid()).controls["S"]
    Choice(label='states', options={'25': 25, '1,000': 1000, '1,000,000': 1000000}, start=25)
    """
    sizes = sorted({mdp.S, *LARGER})
    return interactive(
        lambda S: figures.regret_bounds(S, mdp.A, mdp.H),
        S=Choice("states", {f"{S:,}": S for S in sizes}, start=mdp.S),
    )
