r"""SRF-UCRL: explore without a reward, safely, until any reward can be planned for (Algorithm 2).

The learner keeps an *uncertainty* of each pair: how wrong the value of a policy through it can
still be, whatever the reward.  With :math:`n = N_h(s, a)`,

.. math::

   \bar W_h(s, a) = \min\Big\{H,\; M(n) + \sum_t \hat P_h(t \mid s, a) \max_b \bar W_{h+1}(t, b)
   \Big\}, \qquad M(n) = 2H\sqrt{2\gamma(n)/n} + SH\gamma(n)/n,

and plays the safe action of the largest uncertainty.  For a safe pair (s not in :math:`U_h^k`,
a in :math:`A_h^{k,safe}(s)`) the maximum is over the actions that look safe at t, for any other
pair over all.  It stops when :math:`\bar W_1(s_1, \pi_1(s_1)) \le \varepsilon/2`; the paper prints
the loop's test the other way round.  The mask is lifted where no action looks safe, as Algorithm 2
prints; SUCBVI lifts it in all of :math:`U_h^k`.

Theorem 6.2 of the paper; taught in the chapter *SRF-UCRL*.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from safeteach import bounds
from safeteach.arguments import number
from safeteach.kernels import best_of, compiled
from safeteach.learners.contract import Shown, check_same_world, check_settings
from safeteach.learners.doom import SeenDoom
from safeteach.learners.model import SeenCosts, SeenTransitions
from safeteach.learners.sucbvi import _flag
from safeteach.planning.induction import Plan
from safeteach.worlds.known import Episode, Known
from safeteach.worlds.mdp import SafeMDP
from safeteach.worlds.reading import read_rewards

__all__ = ["SRFUCRL"]


class SRFUCRL(Shown):
    """Safe reward-free exploration.

    Parameters
    ----------
    known : Known
        What is known of the world, ``mdp.known``; its rewards are never read.
    epsilon : float
        How far from optimal, and how unsafe, the plan for a reward may be; None to explore for a
        given number of episodes.
    delta : float
        Probability in (0, 1) that one of the events behind the theorem may fail.
    bonus_scale : float
        Factor on the bonus M; 1 is the theorem's.  The width β of the costs is never scaled.

    Attributes
    ----------
    W : (H, S, A) array
        The uncertainty, H where nothing was tried.
    cap : (H,) array
        The largest uncertainty of each step, H.
    bonus : (H*S*A,) array
        M(N_h(s, a)), infinite where N = 0.
    U : (H, S) bool array
        ``U[h-1]`` is U_h^k.
    policy : (H, S) int array
    transitions : SeenTransitions
    costs : SeenCosts

    Examples
    --------
    >>> import safeteach as st
    >>> mdp = st.instances.laboratory()
    >>> learner = st.SRFUCRL(mdp.known)
    >>> exploration = st.explore(learner, mdp, episodes=500)
    >>> st.evaluate(mdp, learner.plan_for(mdp.r).policy).violation < 0.05
    True
    """

    def __init__(
        self,
        known: Known,
        *,
        epsilon: float | None = None,
        delta: float = 0.1,
        bonus_scale: float = 1.0,
    ) -> None:
        check_settings(known, delta=delta, bonus_scale=bonus_scale)
        if epsilon is not None:
            number(epsilon, "epsilon", 0)
        self.known = known
        self.epsilon = epsilon
        self.delta = delta
        self.bonus_scale = bonus_scale
        S, A, H = known.S, known.A, known.H
        self.transitions = SeenTransitions(known)
        self.costs = SeenCosts(known)
        self.doom = SeenDoom(self.transitions)
        self.U = self.doom.U
        self.cap = self._caps()
        self.bonus = np.full(H * S * A, np.inf)
        self._table = np.array([np.inf])  # the bonus of n = 0, 1, ... visits, as a share of the cap
        self._observed = 0
        self.W = np.repeat(self.cap, S * A).reshape(H, S, A)
        self.policy = np.zeros((H, S), np.int64)
        self._allowed = np.ones((H, S, A), np.bool_)
        self._ties = np.empty((H, S))
        self._next = np.zeros((2, S))

    def plan(self, rng: np.random.Generator) -> NDArray[np.int64]:
        """Make ``policy`` for the next episode, (H, S); ``rng`` breaks ties."""
        seen = self.transitions
        self._look()
        _uncertainty(
            seen.span, seen.successor, seen.share, self.bonus, self.cap,
            self.U, self._allowed, rng.random(out=self._ties), self._next, self.W, self.policy,
        )  # fmt: skip
        return self.policy

    def observe(self, episode: Episode) -> None:
        """Take in what happened; the rewards are not looked at."""
        self.transitions.record(episode, self.costs)
        self.doom.observe(episode)
        self._observed += 1  # no pair has more visits than this
        if self._observed == len(self._table):
            n = np.arange(self._observed, 2 * self._observed)
            more = self.bonus_scale * self._bonus(n) / self.known.H
            self._table = np.concatenate([self._table, more])
        _look_up(episode.states, episode.actions, self.transitions.visits, self._table, self.cap,
                 self.known.S, self.known.A, self.bonus)  # fmt: skip

    @property
    def width(self) -> float:
        """The uncertainty W̄_1(s_1, π_1(s_1)) of the last plan: exploration ends at ε/2."""
        return float(self.W[0, self.known.s1, self.policy[0, self.known.s1]])

    def plan_for(self, r: ArrayLike) -> Plan:
        """The best feasible policy for a reward in what was seen, (P̂, Δ̂, Û_H).

        Among the actions that look safe an action that was never tried is taken only where none
        was, and a state from which nothing was tried is worth 0.

        Parameters
        ----------
        r : (S, A) or (H, S, A) array
            Rewards in [0, 1].

        Returns
        -------
        Plan
            Its V, Q and value are those of the estimated world.
        """
        S, A, H = self.known.S, self.known.A, self.known.H
        reward = read_reward(r, H, S, A)
        if not self.transitions.visits.any():
            raise ValueError("nothing has been explored yet: call explore(learner, mdp) first")
        seen = self.transitions
        self._look()
        V, Q = np.zeros((H + 1, S)), np.empty((H, S, A))
        policy = np.empty((H, S), np.int64)
        _plug_in(
            reward, seen.span, seen.successor, seen.share, self._allowed,
            V, Q, policy,
        )  # fmt: skip
        return Plan(V, Q, policy, float(V[0, self.known.s1]))

    def check_world(self, world: SafeMDP) -> None:
        """Raise an error for another world than the known one; rewards may be any."""
        check_same_world(self.known, world, rewards=False)

    @property
    def done(self) -> bool:
        """Whether the uncertainty of the last plan is at most ε/2."""
        return self.epsilon is not None and self.width <= self.epsilon / 2

    @property
    def flagged(self) -> NDArray[np.bool_]:
        """(S,) bool: U_H^k, the states whose cost cannot be bad luck."""
        return self.U[-1]

    @property
    def safe_actions(self) -> NDArray[np.bool_]:
        """(H, S, A) bool: A_h^{k,safe}(s), the actions with no seen successor in U_{h+1}^k."""
        return ~self.transitions.touches(self.U)

    def _look(self) -> None:
        """Fill in U and the allowed actions from what was seen."""
        self._flag()
        if self.doom.look():
            safe = self.doom.safe
            np.logical_or(safe, ~safe.any(axis=2, keepdims=True), out=self._allowed)

    def _flag(self) -> None:
        _flag(self.costs.N, self.costs.mean, self.known.tau, self.delta, self.flagged)

    def _caps(self) -> NDArray[np.float64]:
        """(H,): no uncertainty is above H."""
        return np.full(self.known.H, float(self.known.H))

    def _bonus(self, n: NDArray[np.int64]) -> NDArray[np.float64]:
        """The bonus of n visits where the cap is H; elsewhere it is in proportion to the cap."""
        known = self.known
        return bounds.exploration_bonus(n, known.S, known.A, known.H, self.delta)


def read_reward(r: ArrayLike, H: int, S: int, A: int) -> NDArray[np.float64]:
    """A reward, checked as a world's is, as the kernels read it: (H, S, A), contiguous."""
    return np.ascontiguousarray(read_rewards(r, H, (S, A), "SA"))


@compiled
def _look_up(
    states: Any, actions: Any, visits: Any, table: Any, cap: Any, S: int, A: int, bonus: Any
) -> None:
    """Set anew the bonus of the pairs of an episode."""
    for h in range(len(actions)):
        i = (h * S + states[h]) * A + actions[h]
        bonus[i] = cap[h] * table[visits[i]]


@compiled
def _uncertainty(
    span: Any, successor: Any, share: Any, bonus: Any, cap: Any,
    U: Any, allowed: Any, ties: Any, most: Any, W: Any, policy: Any,
) -> None:  # fmt: skip
    """Fill in W̄ and its greedy policy among the allowed actions.

    ``most`` (2, S) holds the largest uncertainty of the next step, over the allowed actions and
    over all.
    """
    H, S, A = W.shape
    most[:] = 0.0
    for h in range(H - 1, -1, -1):
        for s in range(S):
            for a in range(A):
                i = (h * S + s) * A + a
                w = cap[h]
                if span[i, 1] > span[i, 0]:
                    over = 0 if allowed[h, s, a] and not U[h, s] else 1
                    future = 0.0
                    for j in range(span[i, 0], span[i, 1]):
                        future += share[j] * most[over, successor[j]]
                    w = min(w, bonus[i] + future)
                W[h, s, a] = w
        for s in range(S):
            best, largest = -1.0, -1.0
            for a in range(A):
                largest = max(largest, W[h, s, a])
                if allowed[h, s, a]:
                    best = max(best, W[h, s, a])
            most[0, s], most[1, s] = best, largest
            policy[h, s] = best_of(W[h, s], allowed[h, s], best, ties[h, s])


@compiled
def _plug_in(
    r: Any, span: Any, successor: Any, share: Any, allowed: Any,
    V: Any, Q: Any, policy: Any,
) -> None:  # fmt: skip
    """Backward induction in the seen world, over the allowed actions; ties go to the first."""
    H, S, A = r.shape
    for h in range(H - 1, -1, -1):
        for s in range(S):
            best, chosen = -1.0, -1
            for a in range(A):
                i = (h * S + s) * A + a
                q = 0.0
                if span[i, 1] > span[i, 0]:
                    q = r[h, s, a]
                    for j in range(span[i, 0], span[i, 1]):
                        q += share[j] * V[h + 1, successor[j]]
                    if allowed[h, s, a] and q > best:
                        best, chosen = q, a
                Q[h, s, a] = q
            if chosen < 0:  # nothing that looks safe was tried
                best = 0.0
                for a in range(A - 1, -1, -1):
                    if allowed[h, s, a]:
                        chosen = a
            V[h, s], policy[h, s] = best, chosen
