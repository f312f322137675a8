r"""RF-UCRL: explore without a reward (Kaufmann et al. 2021).

.. math::

   E_h(s, a) = \min\Big\{H - h + 1,\; (H - h + 1)\sqrt{2\beta(n)/n}
   + \sum_t \hat P_h(t \mid s, a) \max_b E_{h+1}(t, b)\Big\},

with :math:`\beta(n) = \ln(2SAH/\delta) + (S-1)\ln(e(1 + n/(S-1)))`; it plays the action of the
largest uncertainty and stops when :math:`\max_a E_1(s_1, a) \le \varepsilon/2`.  It is SRF-UCRL
with another bonus and another cap and with no state ever flagged, and so it is written.  The
constants are recalled from the original paper.

Taught in the chapter *The problem and RF-UCRL*.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from safeteach import bounds
from safeteach.learners.srf_ucrl import SRFUCRL

__all__ = ["RFUCRL"]


class RFUCRL(SRFUCRL):
    """Reward-free exploration that does not look at costs.

    Parameters
    ----------
    known, epsilon, delta, bonus_scale
        As of :class:`SRFUCRL`.

    Examples
    --------
    >>> import safeteach as st
    >>> mdp = st.instances.laboratory()
    >>> learner = st.RFUCRL(mdp.known)
    >>> exploration = st.explore(learner, mdp, episodes=500)
    >>> st.evaluate(mdp, learner.plan_for(mdp.r).policy).violation > 0.5
    True
    """

    def _flag(self) -> None:
        """Flag nothing."""

    def _caps(self) -> NDArray[np.float64]:
        """(H,): H - h + 1, the steps that are left."""
        return np.arange(self.known.H, 0, -1, dtype=np.float64)

    def _bonus(self, n: NDArray[np.int64]) -> NDArray[np.float64]:
        known = self.known
        half = bounds.gamma(n, known.S, known.A, known.H, self.delta) / 2
        return known.H * np.sqrt(2 * half / n)
