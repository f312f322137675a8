r"""OptPess-LP: optimistic about reward, pessimistic about cost, and it starts from a safe policy.

Liu, Zhou, Kalathil, Kumar and Tian (2021).  The learner is *given* a policy π⁰ and its expected
cost c⁰ below the budget b: knowledge that SUCBVI does not have.  With

.. math::

   \bar r = r + \alpha_r\,\beta_h, \qquad \underline c = \hat c + (1 + SH)\,\beta_h, \qquad
   \beta_h(s, a) = \sqrt{Z/(N_h(s, a) \vee 1)}, \qquad Z = \ln(16S^2AHK/\delta),

and :math:`\alpha_r = 1 + SH + 4H(1 + SH)/(b - c^0)`, it plays π⁰ for as long as π⁰ itself looks
too dear, :math:`V_1^{\pi^0}(\underline c; \hat P) \ge (b + c^0)/2`, and from then on the best
policy within the budget of the model.  Rows of P̂ that were never tried are 0.

Taught in the chapter *The experiments*.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from safeteach.arguments import number
from safeteach.learners.contract import Shown, check_same_world, check_settings
from safeteach.learners.model import SeenCosts, SeenTransitions
from safeteach.planning.evaluation import evaluate
from safeteach.planning.forward import worth
from safeteach.planning.pricing import best_within
from safeteach.worlds.known import Episode, Known
from safeteach.worlds.mdp import SafeMDP
from safeteach.worlds.reading import read_policy

__all__ = ["OptPess"]


class OptPess(Shown):
    """OptPess-LP.

    Parameters
    ----------
    known : Known
    episodes : int
    safe_policy : (H, S) actions or (H, S, A) probabilities of actions
        π⁰, a policy known to be safe on average.
    safe_cost : float
        c⁰, its expected cost for an episode, less than the budget.
    delta : float
    bonus_scale : float
        Factor on β_h; 1 is the published one.
    budget : float
        Bound on the expected cost of an episode.

    Attributes
    ----------
    policy : (H, S, A) array
        Probabilities of actions.
    cautious : bool
        Whether the last plan was π⁰.

    Examples
    --------
    >>> import safeteach as st
    >>> mdp = st.instances.grid()
    >>> home = st.safe_optimal(mdp).policy
    >>> learner = st.OptPess(mdp.known, episodes=300, safe_policy=home, safe_cost=0.0)
    >>> history = st.run(learner, mdp, seed=0)
    >>> learner.cautious, float(history.violation.sum())      # as published it never dares
    (True, 0.0)
    """

    def __init__(
        self,
        known: Known,
        *,
        episodes: int,
        safe_policy: ArrayLike,
        safe_cost: float,
        delta: float = 0.005,
        bonus_scale: float = 1.0,
        budget: float = 0.5,
    ) -> None:
        check_settings(
            known, episodes=episodes, delta=delta, bonus_scale=bonus_scale, budget=budget
        )
        S, A, H = known.S, known.A, known.H
        home = read_policy(safe_policy, "safe_policy", H, S, A, "A").copy()
        if not 0 <= number(safe_cost, "safe_cost") < budget:
            raise ValueError(
                f"safe_cost is {safe_cost:g} and budget {budget:g}; the known policy must cost "
                f"less than the budget"
            )
        self.known = known
        self.episodes = episodes
        self.safe_policy = home
        self.safe_cost = safe_cost
        self.delta = delta
        self.bonus_scale = bonus_scale
        self.budget = budget
        self.home = np.eye(A)[home.astype(np.int64)] if home.ndim == 2 else home.astype(np.float64)
        self.beta = bonus_scale * math.sqrt(math.log(16 * S**2 * A * H * episodes / delta))
        self.pessimism = 1 + S * H
        self.optimism = 1 + S * H + 4 * H * (1 + S * H) / (budget - safe_cost)
        self.transitions = SeenTransitions(known)
        self.costs = SeenCosts(known)
        self.policy = self.home
        self.cautious = True
        self._laws = np.zeros((2, S))

    def plan(self, rng: np.random.Generator) -> NDArray[np.float64]:
        """Make ``policy`` for the next episode, (H, S, A); ``rng`` breaks ties."""
        seen, s1 = self.transitions, self.known.s1
        model = (seen.span, seen.successor, seen.share)
        budget, safe_cost = self.budget, self.safe_cost
        width = self.beta * np.minimum(seen.inverse_root, 1).reshape(seen.shape)
        high = self.costs.mean[:, None] + self.pessimism * width
        ties = rng.random(seen.shape[:2])
        home_cost, _ = worth(*model, high, None, s1, self.home, None, self._laws)
        self.cautious = home_cost >= (budget + safe_cost) / 2
        if self.cautious:
            self.policy = self.home
        else:
            _found, _value, _cost, self.policy = best_within(
                *model, self.known.r + self.optimism * width, high, s1, float(budget), ties
            )
        return self.policy

    def observe(self, episode: Episode) -> None:
        """Take in what happened."""
        self.transitions.record(episode, self.costs)

    def check_world(self, mdp: SafeMDP) -> None:
        """Raise an error if the promise was false: in this world π⁰ costs more than c⁰."""
        check_same_world(self.known, mdp)
        true = evaluate(mdp, self.safe_policy).cost
        if true > self.safe_cost + 1e-9:
            raise ValueError(
                f"safe_policy costs {true:.6g} in this world, more than the promised safe_cost "
                f"{self.safe_cost:g}"
            )

