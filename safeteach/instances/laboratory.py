"""The world of the reward-free experiments: eleven rooms, five ways to move.

The paper gives its sizes and nothing else; this one is ours.

::

        clockwise, back    one room on or back on a ring of six rooms; every tenth time nowhere
        dash               two rooms on; out of room 0 it passes the open furnace, and every
                           fifth dash from there ends in it
        wait               stay
        enter              through the door of the room, if it has one, else stay:

              room 1 ──▶ slide ──▶ spill ──▶ vault      the spill is left every second time
              room 2 ──▶ shelf
              room 5 ──▶ furnace ──▶ room 0             the furnace is left every second time

The start is room 0.  Vault and spill pay 1 a step, the shelf pays ½.  Spill and furnace are unsafe:
they cost 1 and the threshold is 0.2; all other costs are 0.  The slide costs nothing, but whatever
one does there, the spill is next: the slide is doomed at every step but the last.  Shelf and vault
keep whoever is there.

So the best plan slides through the spill into the vault, and the best safe plan walks, not dashes,
to the shelf.

Taught in the chapters *The problem and RF-UCRL* and *SRF-UCRL*.
"""

from __future__ import annotations

import numpy as np

from safeteach.worlds.mdp import SafeMDP

__all__ = ["laboratory"]

RING = 6
NAMES = [*(f"room {i}" for i in range(RING)), "shelf", "vault", "slide", "spill", "furnace"]
ACTIONS = ["clockwise", "back", "enter", "dash", "wait"]


def laboratory(H: int = 10) -> SafeMDP:
    """Eleven rooms, of which two are unsafe, and five actions.

    Parameters
    ----------
    H : int
        Number of steps.

    Examples
    --------
    >>> import safeteach as st
    >>> mdp = st.instances.laboratory()
    >>> mdp
    SafeMDP(S=11, A=5, H=10, tau=0.2, s1=0, 2 unsafe states, stationary)
    >>> round(st.safe_optimal(mdp).value, 3), round(st.optimal(mdp).value, 3)
    (3.389, 6.889)
    >>> round(st.evaluate(mdp, st.optimal(mdp).policy).violation, 2)
    1.59
    """
    shelf, vault, slide, spill, furnace = range(RING, RING + 5)
    clockwise, back, enter, dash, wait = range(5)
    P = np.zeros((RING + 5, 5, RING + 5))
    for i in range(RING):
        P[i, clockwise, [(i + 1) % RING, i]] = 0.9, 0.1
        P[i, back, [(i - 1) % RING, i]] = 0.9, 0.1
        P[i, dash, (i + 2) % RING] = 1.0
        P[i, [enter, wait], i] = 1.0
    P[0, dash, [2, furnace]] = 0.8, 0.2
    for i, behind in ((1, slide), (2, shelf), (5, furnace)):
        P[i, enter] = np.eye(RING + 5)[behind]
    P[slide, :, spill] = 1.0
    P[spill, :, [vault, spill]] = 0.5
    P[furnace, :, [0, furnace]] = 0.5
    P[[shelf, vault], :, [shelf, vault]] = 1.0
    r, c = np.zeros((RING + 5, 5)), np.zeros(RING + 5)
    r[shelf], r[[vault, spill]] = 0.5, 1.0
    c[[spill, furnace]] = 1.0
    return SafeMDP(P, r, c, 0.2, H, state_names=NAMES, action_names=ACTIONS)
