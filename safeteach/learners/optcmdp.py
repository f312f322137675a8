r"""OptCMDP with bonuses: optimism about reward and about an episode's expected cost.

Efroni, Mannor and Pirotta (2020).  In each episode the learner solves the constrained MDP

.. math:: \max_\pi V_1^\pi(\tilde r; \hat P) \quad\text{s.t.}\quad V_1^\pi(\tilde c; \hat P) \le b,

of optimistic rewards :math:`\tilde r = r + b_h` and optimistic costs
:math:`\tilde c = \hat c - \beta - b_h`, with

.. math::

   b_h(s, a) = H \sum_t \Bigl( 2\sqrt{L\,\hat p(1 - \hat p)/n} + \frac{14 L}{3 n} \Bigr), \qquad
   L = \ln(6SAHK/\delta),

where p̂ = P̂_h(t | s, a) and n = N_h(s, a) or 1.  If no policy meets the budget in the model, the
cheapest one is played.  The constant L is recalled from the original paper, not confirmed.

It bounds what an *average* episode costs: cost may be spent on one bad episode and earned back
by many good ones.  Taught in the chapter *The experiments*.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safeteach.arguments import instance
from safeteach.bounds import beta, cost_width
from safeteach.kernels import compiled
from safeteach.learners.contract import Shown, check_settings
from safeteach.learners.model import SeenCosts, SeenTransitions
from safeteach.planning.pricing import best_within
from safeteach.worlds.known import Episode, Known

__all__ = ["OptCMDP"]


class OptCMDP(Shown):
    """OptCMDP with bonuses.

    Parameters
    ----------
    known : Known
    episodes : int
    delta : float
    bonus_scale : float
        Factor on b_h; 1 is the published one.
    budget : float
        Bound on the expected cost of an episode.
    clip : bool
        Whether to raise optimistic costs below 0 to 0, which no cost lies below; the published
        learner does not.

    Attributes
    ----------
    policy : (H, S, A) array
        Probabilities of actions.
    found : bool
        Whether some policy met the budget in the model of the last plan.

    Examples
    --------
    >>> import safeteach as st
    >>> mdp = st.instances.grid()
    >>> learner = st.OptCMDP(mdp.known, episodes=300, bonus_scale=1e-3)
    >>> history = st.run(learner, mdp, seed=0)
    >>> learner.policy.shape
    (12, 25, 4)
    """

    def __init__(
        self,
        known: Known,
        *,
        episodes: int,
        delta: float = 0.005,
        bonus_scale: float = 1.0,
        budget: float = 0.5,
        clip: bool = False,
    ) -> None:
        check_settings(
            known, episodes=episodes, delta=delta, bonus_scale=bonus_scale, budget=budget
        )
        instance(clip, "clip", bool, "True or False")
        self.known = known
        self.episodes = episodes
        self.delta = delta
        self.bonus_scale = bonus_scale
        self.budget = budget
        self.clip = clip
        S, A, H = known.S, known.A, known.H
        self.log = math.log(6 * S * A * H * episodes / delta)
        self.transitions = SeenTransitions(known)
        self.costs = SeenCosts(known)
        self.policy = np.full((H, S, A), 1 / A)
        self.found = True
        self.factor = bonus_scale * H
        self.bonus = np.full((H, S, A), self.factor * S * 14 * self.log / 3)
        self.low = np.full(S, -float(beta(1, S, delta)))  # ĉ - β, at n = 0 as at n = 1
        self._r = np.ascontiguousarray(known.r)

    def plan(self, rng: np.random.Generator) -> NDArray[np.float64]:
        """Make ``policy`` for the next episode, (H, S, A); ``rng`` breaks ties."""
        seen = self.transitions
        low = self.low[:, None] - self.bonus
        self.found, _value, _cost, self.policy = best_within(
            seen.span, seen.successor, seen.share,
            self._r + self.bonus, np.maximum(low, 0.0) if self.clip else low,
            self.known.s1, float(self.budget), rng.random(self.bonus.shape[:2]),
        )  # fmt: skip
        return self.policy

    def observe(self, episode: Episode) -> None:
        """Take in what happened."""
        seen, costs = self.transitions, self.costs
        seen.record(episode, costs)
        _update_bonus(
            episode.states, episode.actions, seen.span, seen.share, seen.visits,
            self.factor, self.log, self.bonus,
        )  # fmt: skip
        here = episode.states[:-1]
        width = cost_width(costs.N[here].astype(np.float64), self.known.S, self.delta)
        self.low[here] = costs.mean[here] - width


@compiled
def _update_bonus(
    states: Any, actions: Any, span: Any, share: Any, visits: Any,
    factor: float, log: float, bonus: Any,
) -> None:  # fmt: skip
    """Renew b_h(s, a) of the pairs of an episode; a successor not seen has p̂ = 0."""
    _H, S, A = bonus.shape
    for h in range(len(actions)):
        i = (h * S + states[h]) * A + actions[h]
        total = S * 14 * log / (3 * visits[i])
        for j in range(span[i, 0], span[i, 1]):
            total += 2 * math.sqrt(log * share[j] * (1 - share[j]) / visits[i])
        bonus[h, states[h], actions[h]] = factor * total
