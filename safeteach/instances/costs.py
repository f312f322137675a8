"""A world whose costs come in degrees, so that the threshold decides what is unsafe.

Taught in the chapter *Costs, thresholds, violation*.
"""

from __future__ import annotations

import numpy as np

from safeteach.instances.grids import GridMDP, grid_from_map

__all__ = ["smoke"]

FIRE = (1, 3)


def smoke() -> GridMDP:
    """Rooms around a fire: 34 cells, 4 actions, 14 steps; the closer to it, the more smoke.

    ::

        map                         costs
        . . . . . . .                0   .3   .6   .9   .6   .3    0
        . . . # . . .               .3   .6   .9   fire .9   .6   .3
        S . . . . . G                0   .3   .6   .9   .6   .3    0
        . . . . . . .                0    0   .3   .6   .3    0    0
        . . . . . . .                0    0    0   .3    0    0    0

    It burns behind the wall ``#``, which nobody can enter.  A cell d moves away from it costs
    1.2 - .3 d, and 0 from four moves on.  The straight way to the goal takes six moves and
    passes the fire; ten moves lead around the worst of it.  Nothing slips here.  At the
    threshold tau = .5 eleven cells are unsafe; below .3 no way from the start to the goal is safe.

    Examples
    --------
    >>> import safeteach as st
    >>> mdp = st.instances.smoke()
    >>> mdp
    GridMDP(S=34, A=4, H=14, tau=0.5, s1=13, 11 unsafe states, stationary)
    >>> st.optimal(mdp).value, st.safe_optimal(mdp).value
    (8.0, 4.0)
    """
    mdp = grid_from_map(
        """
        . . . . . . .
        . . . # . . .
        S . . . . . G
        . . . . . . .
        . . . . . . .
        """,
        H=14,
    )
    away = np.abs(mdp.cells - FIRE).sum(axis=1)
    return GridMDP(
        mdp.P[0],
        mdp.r[0],
        c=np.maximum(12 - 3 * away, 0) / 10,
        tau=mdp.tau,
        H=mdp.H,
        s1=mdp.s1,
        state_names=[mdp.state_name(s) for s in range(mdp.S)],
        action_names=[mdp.action_name(a) for a in range(mdp.A)],
        map=mdp.map,
        cells=mdp.cells,
    )
