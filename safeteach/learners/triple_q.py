r"""Triple-Q: a model-free learner with a virtual queue (Wei, Liu and Ying 2022).

It keeps two tables, Q for reward and C for utility, g = 1 - c, and the length Z of a queue that
grows while the utility of an episode falls short of :math:`\rho = H - b` for the budget b.  It
takes the action with the largest :math:`Q_h + (Z/\eta) C_h` and moves both tables towards what it
saw, at the rate :math:`\alpha_t = (\chi + 1)/(\chi + t)` at the t-th visit of the frame,

.. math::

   Q_h(s, a) \leftarrow (1 - \alpha_t) Q_h(s, a) + \alpha_t (r + Q_{h+1}(s', a') + b_t), \qquad
   b_t = \tfrac14 \sqrt{H^2 \iota (\chi + 1)/(\chi + t)},

C likewise with g.  At the end of a frame of :math:`K^{0.6}` episodes the visits are forgotten, Q
gains :math:`2H^3\sqrt\iota/\eta`, both tables go back to H where one of them exceeds H, and
:math:`Z \leftarrow (Z + \rho + \epsilon - \bar C)_+` with the average C of the frame.

Published: :math:`\chi = \eta = K^{0.2}`, :math:`\iota = 128 \ln(\sqrt{2SAH} K)` and
:math:`\epsilon = 8\sqrt{SAH^6\iota^3}/K^{0.2}`, recalled from the original paper, not confirmed.
At a scale that can be run this :math:`\epsilon` is far above H, and no utility satisfies the
queue; so it is a parameter here.  Taught in the chapter *The experiments*.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safeteach.arguments import check_fits, number
from safeteach.kernels import best_of, compiled
from safeteach.learners.contract import Shown, check_settings
from safeteach.worlds.known import Episode, Known

__all__ = ["TripleQ"]


class TripleQ(Shown):
    """Triple-Q.

    Parameters
    ----------
    known : Known
    episodes : int
    delta : float
        Not used by this learner, which promises something about averages alone.
    bonus_scale : float
        Factor on b_t and on what Q gains at the end of a frame; 1 is the published one.
    budget : float
        Bound on the expected cost of an episode.
    epsilon : float, optional
        Tightening of the budget; by default the published one.

    Attributes
    ----------
    Q, C : (H, S, A) arrays
    Z : float
        Length of the queue.
    policy : (H, S) int array

    Examples
    --------
    >>> import safeteach as st
    >>> mdp = st.instances.grid()
    >>> learner = st.TripleQ(mdp.known, episodes=300, bonus_scale=0.01, epsilon=0.1)
    >>> history = st.run(learner, mdp, seed=0)
    >>> learner.policy.shape
    (12, 25)
    """

    def __init__(
        self,
        known: Known,
        *,
        episodes: int,
        delta: float = 0.005,
        bonus_scale: float = 1.0,
        budget: float = 0.5,
        epsilon: float | None = None,
    ) -> None:
        check_settings(
            known, episodes=episodes, delta=delta, bonus_scale=bonus_scale, budget=budget
        )
        S, A, H, K = known.S, known.A, known.H, episodes
        check_fits((4, H, S, A), float, "what this learner keeps", "take fewer steps or states")
        iota = 128 * math.log(math.sqrt(2 * S * A * H) * K)
        self.chi = self.eta = K**0.2
        if epsilon is None:
            epsilon = 8 * math.sqrt(S * A * H**6 * iota**3) / K**0.2
        number(epsilon, "epsilon", 0, ends="[)")
        self.known = known
        self.episodes = episodes
        self.delta = delta
        self.bonus_scale = bonus_scale
        self.budget = budget
        self.epsilon = epsilon
        self.wanted = H - budget + epsilon
        self.frame = max(1, round(K**0.6))
        self.bonus = bonus_scale * H * math.sqrt(iota) / 4
        self.gain = bonus_scale * 2 * H**3 * math.sqrt(iota) / self.eta
        self.Q = np.full((H, S, A), float(H))
        self.C = np.full((H, S, A), float(H))
        self.visits = np.zeros((H, S, A), np.int64)
        self.Z = 0.0
        self.policy = np.zeros((H, S), np.int64)
        self._utility = 0.0  # of the frame so far
        self._seen = 0

    def plan(self, rng: np.random.Generator) -> NDArray[np.int64]:
        """Make ``policy`` for the next episode, (H, S); ``rng`` breaks ties."""
        _choose(self.Q, self.C, self.Z / self.eta, rng.random(self.policy.shape), self.policy)
        return self.policy

    def observe(self, episode: Episode) -> None:
        """Take in what happened; at the end of a frame, start anew."""
        self._utility += _learn(
            episode.states, episode.actions, episode.rewards, episode.costs,
            self.chi, self.bonus, self.visits, self.Q, self.C,
        )  # fmt: skip
        self._seen += 1
        if self._seen % self.frame == 0:
            H = self.known.H
            self.visits[:] = 0
            self.Q += self.gain
            over = (self.Q >= H) | (self.C >= H)
            self.Q[over] = self.C[over] = H
            self.Z = max(self.Z + self.wanted - self._utility / self.frame, 0.0)
            self._utility = 0.0


@compiled
def _choose(Q: Any, C: Any, price: float, ties: Any, policy: Any) -> None:
    """An action with the largest Q + price C, chosen by ``ties`` among equals."""
    H, S, A = Q.shape
    worth = np.empty(A)
    for h in range(H):
        for s in range(S):
            best = -np.inf
            for a in range(A):
                worth[a] = Q[h, s, a] + price * C[h, s, a]
                best = max(best, worth[a])
            policy[h, s] = best_of(worth, None, best, ties[h, s])


@compiled
def _learn(
    states: Any, actions: Any, rewards: Any, costs: Any, chi: float, bonus: float,
    visits: Any, Q: Any, C: Any,
) -> float:  # fmt: skip
    """Move Q and C along an episode; C_1(s_1, a_1) as it was before."""
    H = len(actions)
    utility = C[0, states[0], actions[0]]
    for h in range(H):
        s, a = states[h], actions[h]
        visits[h, s, a] += 1
        rate = (chi + 1) / (chi + visits[h, s, a])
        b = bonus * math.sqrt(rate)
        V, W = 0.0, 0.0
        if h + 1 < H:
            V = Q[h + 1, states[h + 1], actions[h + 1]]
            W = C[h + 1, states[h + 1], actions[h + 1]]
        Q[h, s, a] += rate * (rewards[h] + V + b - Q[h, s, a])
        C[h, s, a] += rate * (1 - costs[h] + W + b - C[h, s, a])
    return utility
