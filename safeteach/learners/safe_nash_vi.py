r"""SafeNashVI: SUCBVI with an adversary (Algorithms 3 and 4 of the paper, repaired).

In each episode the learner

1. flags the states whose cost is too high for bad luck to explain, as SUCBVI does;
2. finds who is doomed in the transitions it has seen, for h = H-1 .. 1: s is in
   :math:`U_h^k` if it is flagged, or if to every a there is a b with
   :math:`\Delta_h^k(s, a, b) \cap U_{h+1}^k \neq \emptyset`;
3. plans by optimistic backward induction,
   :math:`Q_h^k(s, a, b) = \min\{H, r_h + \hat P_h^k V_{h+1}^k + \alpha(N_h(s, a, b))\}`, and plays
   in each state an equilibrium of the matrix game whose rows are the actions that look safe
   against every b.

A banned row is left out, not set to -∞ as Algorithm 4 prints: a mixed strategy gives it weight 0,
and 0·∞ has no value.  In a doomed state all rows are allowed.  A triple that was never tried has
Q = H; a state that was never reached is played uniformly.

Appendix C of the paper; taught in the chapter *Learning to play safely*.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safeteach.kernels import compiled
from safeteach.learners.contract import Shown, check_settings
from safeteach.learners.doom import SeenDoom
from safeteach.learners.model import SeenCosts, SeenTransitions
from safeteach.learners.sucbvi import _flag
from safeteach.worlds.known import Episode, Known

__all__ = ["NashVI", "SafeNashVI"]


class SafeNashVI(Shown):
    """Optimistic Nash value iteration over the actions that look safe.

    Parameters
    ----------
    known : Known
        What is known of the game, ``game.known``.
    episodes : int
        K, which enters the bonus.
    delta : float
        Probability in (0, 1) that one of the events behind the theorem may fail.
    bonus_scale : float
        Factor on the bonus α; 1 is the theorem's.  The width β of the costs is never scaled.

    Attributes
    ----------
    V : (H + 1, S) array
    Q : (H, S, A, B) array
    U : (H, S) bool array
        ``U[h-1]`` is U_h^k.
    mu : (H, S, A) array
        The agent's strategy.
    nu : (H, S, B) array
        The strategy that the plan expects of the adversary.
    transitions : SeenTransitions
        Of joint actions: the pair (a, b) has number ``a*B + b``.
    costs : SeenCosts

    Examples
    --------
    >>> import safeteach as st
    >>> game = st.instances.pursuit()
    >>> learner = st.SafeNashVI(game.known, episodes=300, bonus_scale=0.01)
    >>> history = st.run(learner, game, seed=0, adversary="hazard seeker")
    >>> history.violation[:150].sum() > history.violation[-150:].sum()
    np.True_
    """

    def __init__(
        self,
        known: Known,
        *,
        episodes: int,
        delta: float = 0.005,
        bonus_scale: float = 1.0,
    ) -> None:
        from safeteach.planning.matrix_games import (
            solve_games,  # needs quantecon, as no other learner does
        )

        check_settings(
            known, game=True, episodes=episodes, delta=delta, bonus_scale=bonus_scale
        )
        self._solve_games = solve_games
        self.known = known
        self.episodes = episodes
        self.delta = delta
        self.bonus_scale = bonus_scale
        S, A, B, H = known.S, known.A, known.B, known.H
        pairs = A * B
        self._r = np.ascontiguousarray(known.r).reshape(H, S, pairs)
        self.alpha = bonus_scale * 7 * H * math.sqrt(math.log(5 * S * pairs * H * episodes / delta))
        joint = Known(S, pairs, H, self._r, known.tau, known.s1)
        self.transitions = SeenTransitions(joint)
        self.costs = SeenCosts(joint)
        self.doom = SeenDoom(self.transitions, replies=B)
        self.U = self.doom.U
        self.V = np.full((H + 1, S), float(H))
        self.V[-1] = 0.0
        self.Q = np.full((H, S, A, B), float(H))
        self.mu = np.full((H, S, A), 1 / A)
        self.nu = np.full((H, S, B), 1 / B)
        self._allowed = np.ones((H, S, A), np.bool_)
        self._ties = np.empty((H, S, A + B))

    def plan(self, rng: np.random.Generator) -> NDArray[np.float64]:
        """Make ``mu`` and ``nu`` for the next episode; ``rng`` breaks ties."""
        seen, H = self.transitions, self.known.H
        self._look()
        rng.random(out=self._ties)
        for h in range(H - 1, -1, -1):
            _back_up(
                h, self._r, seen.reached[h], seen.span, seen.successor, seen.share,
                seen.inverse_root, self.alpha, self.V[h + 1], self.Q[h],
            )  # fmt: skip
            self._solve_games(
                self.Q[h], seen.reached[h], self._allowed[h], self._ties[h],
                self.V[h], self.mu[h], self.nu[h],
            )  # fmt: skip
        return self.mu

    def observe(self, episode: Episode) -> None:
        """Take in what happened."""
        assert episode.replies is not None
        both = episode.actions * self.Q.shape[3] + episode.replies
        joint = Episode(episode.states, both, episode.rewards, episode.costs)
        self.transitions.record(joint, self.costs)
        self.doom.observe(episode)

    def _look(self) -> None:
        """Flag, and find out who is doomed; in a doomed state all rows are allowed."""
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
        """(H, S, A) bool: no reply was ever seen to lead from (s, a) into U_{h+1}^k."""
        H, S, A, B = self.Q.shape
        seen_to_touch = self.transitions.touches(self.U).reshape(H, S, A, B)
        return np.asarray(~seen_to_touch.any(axis=3))


class NashVI(SafeNashVI):
    """The same without a thought of safety: no state is ever flagged.

    Parameters
    ----------
    known, episodes, delta, bonus_scale
        As of :class:`SafeNashVI`.

    Examples
    --------
    >>> import safeteach as st
    >>> game = st.instances.penny_bridge()
    >>> for make in (st.NashVI, st.SafeNashVI):
    ...     learner = make(game.known, episodes=300, bonus_scale=0.01)
    ...     print(st.run(learner, game, adversary="hazard seeker").violation[-100:].sum())
    47.5
    0.0
    """

    def _flag(self) -> None:
        """Flag nothing."""


@compiled
def _back_up(
    h: int, r: Any, reached: Any, span: Any, successor: Any, share: Any,
    inverse_root: Any, alpha: float, V_next: Any, Q: Any,
) -> None:  # fmt: skip
    """Fill in Q of step index h, given V of the next step."""
    H, S, pairs = r.shape
    B = Q.shape[2]
    for s in range(S):
        if not reached[s]:  # nothing was tried: Q and V are H from the start
            continue
        for pair in range(pairs):
            i = (h * S + s) * pairs + pair
            q = float(H)
            if span[i, 1] > span[i, 0]:
                future = 0.0
                for j in range(span[i, 0], span[i, 1]):
                    future += share[j] * V_next[successor[j]]
                q = min(q, r[h, s, pair] + future + alpha * inverse_root[i])
            Q[s, pair // B, pair % B] = q
