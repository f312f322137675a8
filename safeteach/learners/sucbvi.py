r"""SUCBVI: optimism about reward, and optimism about safety (Algorithm 1 of the paper).

In each episode the learner

1. flags the states whose cost is too high for bad luck to explain,
   :math:`U_H^k = \{s : \hat c(s) - \beta(N(s)) > \tau\}`;
2. finds who is doomed in the transitions it has seen, for h = H-1 .. 1,
   :math:`U_h^k = U_H^k \cup \{s : \Delta_h^k(s, a) \cap U_{h+1}^k \neq \emptyset\ \forall a\}`;
3. plans by optimistic backward induction over the actions that look safe,
   :math:`Q_h^k(s, a) = \min\{H, r_h(s, a) + \hat P_h^k V_{h+1}^k(s, a) + \alpha(N_h(s, a))\}`.

In a doomed state all actions are allowed.  A pair that was never tried has Q = H.

Theorem 4.2 of the paper; taught in the chapter *The algorithm*.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safeteach.arguments import one_of
from safeteach.kernels import best_of, compiled
from safeteach.learners.contract import Shown, check_settings
from safeteach.learners.doom import SeenDoom
from safeteach.learners.model import SeenCosts, SeenTransitions
from safeteach.safety import Recursion
from safeteach.worlds.known import Episode, Known

__all__ = ["SUCBVI"]


class SUCBVI(Shown):
    """Safe UCBVI.

    Parameters
    ----------
    known : Known
        What is known of the world, ``mdp.known``.
    episodes : int
        K, which enters the bonus.
    delta : float
        Probability in (0, 1) that one of the events behind the theorem may fail.
    bonus_scale : float
        Factor on the bonus α; 1 is the theorem's.  The width β of the costs is never scaled.
    recursion : "exact" or "paper"
        Whether U_h^k starts from U_H^k, or from U_{h+1}^k as Algorithm 1 prints.

    Attributes
    ----------
    V : (H + 1, S) array
    Q : (H, S, A) array
    U : (H, S) bool array
        ``U[h-1]`` is U_h^k.
    policy : (H, S) int array
    transitions : SeenTransitions
    costs : SeenCosts

    Examples
    --------
    >>> import safeteach as st
    >>> mdp = st.instances.ice_corridor()
    >>> learner = st.SUCBVI(mdp.known, episodes=2_000, bonus_scale=0.01)
    >>> history = st.run(learner, mdp, seed=0)
    >>> history.violation[:1000].sum() > 50, history.violation[-500:].sum()        # it stops
    (np.True_, np.float64(0.0))
    """

    def __init__(
        self,
        known: Known,
        *,
        episodes: int,
        delta: float = 0.005,
        bonus_scale: float = 1.0,
        recursion: Recursion = "exact",
    ) -> None:
        check_settings(known, episodes=episodes, delta=delta, bonus_scale=bonus_scale)
        one_of(recursion, "recursion", ("exact", "paper"))
        self.known = known
        self.episodes = episodes
        self.delta = delta
        self.bonus_scale = bonus_scale
        self.recursion = recursion
        S, A, H = known.S, known.A, known.H
        self.alpha = bonus_scale * 7 * H * math.sqrt(math.log(5 * S * A * H * episodes / delta))
        self.transitions = SeenTransitions(known)
        self.costs = SeenCosts(known)
        self.doom = SeenDoom(self.transitions, union=recursion == "paper")
        self.U = self.doom.U
        self.V = np.full((H + 1, S), float(H))
        self.V[-1] = 0.0
        self.Q = np.full((H, S, A), float(H))
        self.policy = np.zeros((H, S), np.int64)
        self._allowed = np.ones((H, S, A), np.bool_)
        self._ties = np.empty((H, S))
        self._r = np.ascontiguousarray(known.r)

    def plan(self, rng: np.random.Generator) -> NDArray[np.int64]:
        """Make ``policy`` for the next episode, (H, S); ``rng`` breaks ties."""
        seen = self.transitions
        self._look()
        _plan(
            self._r, seen.reached, seen.span, seen.successor, seen.share,
            seen.inverse_root, self.alpha, self._allowed, rng.random(out=self._ties),
            self.Q, self.V, self.policy,
        )  # fmt: skip
        return self.policy

    def observe(self, episode: Episode) -> None:
        """Take in what happened."""
        self.transitions.record(episode, self.costs)
        self.doom.observe(episode)

    def _look(self) -> None:
        """Flag, and find out who is doomed; in a doomed state all actions are allowed."""
        self._flag()
        if self.doom.look():
            np.logical_or(self.doom.safe, self.U[:, :, None], out=self._allowed)

    def _flag(self) -> None:
        _flag(self.costs.N, self.costs.mean, self.known.tau, self.delta, self.flagged)

    @property
    def flagged(self) -> NDArray[np.bool_]:
        """(S,) bool: U_H^k, the states whose cost cannot be bad luck."""
        return self.U[-1]

    @property
    def safe_actions(self) -> NDArray[np.bool_]:
        """(H, S, A) bool: A_h^{k,safe}(s), the actions with no seen successor in U_{h+1}^k."""
        return ~self.transitions.touches(self.U)


@compiled
def _flag(N: Any, mean: Any, tau: float, delta: float, flagged: Any) -> None:
    """U_H^k = {s : ĉ(s) - β(N(s)) > tau}."""
    S = len(N)
    for s in range(S):
        n = N[s]
        flagged[s] = n > 0 and mean[s] - math.sqrt(2 * math.log(S * n * (n + 1) / delta) / n) > tau


@compiled
def _plan(
    r: Any, reached: Any, span: Any, successor: Any, share: Any,
    inverse_root: Any, alpha: float, allowed: Any, ties: Any, Q: Any, V: Any, policy: Any,
) -> None:  # fmt: skip
    """Lines 10 to 18 of Algorithm 1: fills Q, V and policy."""
    H, S, A = r.shape
    for h in range(H - 1, -1, -1):
        V_next = V[h + 1]
        for s in range(S):
            if not reached[h, s]:  # nothing was tried: Q and V are H from the start
                policy[h, s] = int(A * ties[h, s])
                continue
            best = -1.0
            for a in range(A):
                i = np.uint64((h * S + s) * A + a)  # unsigned: see World.all_rows
                q = float(H)
                if span[i, 1] > span[i, 0]:
                    future = 0.0
                    for j in range(span[i, 0], span[i, 1]):
                        future += share[j] * V_next[successor[j]]
                    q = min(q, r[h, s, a] + future + alpha * inverse_root[i])
                Q[h, s, a] = q
                if allowed[h, s, a]:
                    best = max(best, q)
            V[h, s] = best
            policy[h, s] = best_of(Q[h, s], allowed[h, s], best, ties[h, s])
