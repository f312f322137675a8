"""The interactive figure of the chapter on regret: from when on a theorem says something."""

from __future__ import annotations

from safeteach.chapters.why_regret_is_small import figures
from safeteach.widgets import Choice, Interactive, Slider, interactive
from safeteach.worlds.mdp import SafeMDP

__all__ = ["regret"]

LARGER = (10**3, 10**6)  # numbers of states to compare a world with


def regret(mdp: SafeMDP) -> Interactive:
    """Move the number of episodes K and the number of states under the bounds on regret.

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
        lambda power, S: figures.regret_bounds(S, mdp.A, mdp.H, 10**power),
        power=Slider(
            "episodes K, a power of ten", values=range(4, 26, 3), start=7, fine=range(2, 26)
        ),
        S=Choice("states", {f"{S:,}": S for S in sizes}, start=mdp.S),
    )
