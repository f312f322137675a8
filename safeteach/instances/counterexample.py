"""A world in which the paper's printed recursion forbids the best safe policy.

Taught in the chapter *Danger ahead*.
"""

from __future__ import annotations

import numpy as np

from safeteach.worlds.mdp import SafeMDP

__all__ = ["union_counterexample"]


def union_counterexample() -> SafeMDP:
    r"""Five states, two actions, four steps; x is doomed at step 3 and a way through at step 2.

    ::

        step        1            2              3            4

                            x ── both ──▶ g ── both ──▶ g     rewards 0 + 0 + 1 + 1 = 2
                  ↗ a0
            start
                  ↘ a1
                            y ── a0 ────▶ y ── both ──▶ y     rewards 0 + ½ + ½ + ½ = 1.5
                              ╲
                               a1 ──────▶ x ── both ──▶ u     rewards 0 + ½ + 1 + 1 = 2.5

    Only u is unsafe (c = 1, tau = .5); where no move is drawn every state stays put.  At step 3
    both actions of x lead to u, so x is in U_3.  At step 2 both lead to g, so x is not in U_2.
    The union U_2 ⊇ U_3 of the printed recursion says otherwise and bans a0 at the start.

    Examples
    --------
    >>> import safeteach as st
    >>> mdp = st.instances.union_counterexample()
    >>> st.safe_optimal(mdp).value, st.optimal(mdp).value
    (2.0, 2.5)
    """
    start, x, y, g, u = range(5)
    H, S, A = 4, 5, 2
    to = np.broadcast_to(np.arange(S)[:, None], (H, S, A)).copy()
    to[0, start] = x, y
    to[1, x] = g
    to[1, y] = y, x
    to[2, x] = u
    r = np.zeros((H, S, A))
    r[2:, g] = 1
    r[1:, y] = 0.5
    r[2, x] = 1
    r[3, u] = 1
    return SafeMDP(
        P=np.eye(S)[to],
        r=r,
        c=np.eye(S)[u],
        tau=0.5,
        H=H,
        s1=start,
        state_names=["start", "x", "y", "g", "u"],
        action_names=["a0", "a1"],
    )
