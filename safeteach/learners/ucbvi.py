r"""UCBVI: optimism about reward alone (Azar, Osband and Munos 2017, as the paper uses it).

.. math:: Q_h^k(s, a) = \min\{H, r_h(s, a) + \hat P_h^k V_{h+1}^k(s, a) + \alpha(N_h(s, a))\},

and the policy takes any best action.  It is SUCBVI with no state ever flagged, and so it is
written: the two share every line, and on the same random numbers they take the same actions for
as long as SUCBVI flags nothing.

Taught in the chapters *Optimism and confidence* and *The algorithm*.
"""

from __future__ import annotations

from safeteach.learners.sucbvi import SUCBVI
from safeteach.worlds.known import Known

__all__ = ["UCBVI"]


class UCBVI(SUCBVI):
    """UCBVI with Hoeffding bonuses.

    Parameters
    ----------
    known, episodes, delta, bonus_scale
        As of :class:`SUCBVI`.

    Examples
    --------
    >>> import safeteach as st
    >>> mdp = st.instances.grid()
    >>> history = st.run(st.UCBVI(mdp.known, episodes=500, bonus_scale=0.01), mdp, seed=0)
    >>> bool(history.violation[-100:].mean() > 0.1)       # it crosses the ice, and falls in
    True
    """

    def __init__(
        self, known: Known, *, episodes: int, delta: float = 0.005, bonus_scale: float = 1.0
    ) -> None:
        super().__init__(known, episodes=episodes, delta=delta, bonus_scale=bonus_scale)

    def _look(self) -> None:
        """Flag nothing, so that nothing is doomed."""
