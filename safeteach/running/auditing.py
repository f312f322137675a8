r"""The analysis of SUCBVI as code: watch a run and check each event and lemma, episode by episode.

The auditor knows the world.  Before each episode is played it compares what the learner believes
with what is true; afterwards it splits the learner's excess, :math:`V_1^k(s_1) - V_1^{\pi^k}(s_1)`,
along the trajectory into exact parts,

.. math::

   V_1^k(s_1) - V_1^{\pi^k}(s_1) = \sum_h \bigl[ \alpha(N_h(s_h, a_h))
       + (\hat P_h - P_h) V_{h+1}^k(s_h, a_h) + \xi_h - \kappa_h \bigr],

with the luck :math:`\xi_h = P_h f_{h+1}(s_h, a_h) - f_{h+1}(s_{h+1})` of
:math:`f = V^k - V^{\pi^k}` and :math:`\kappa_h \ge 0` what the cap min{H, ·} took away.  At the
first pair that was never tried Q is H: there the sum ends, with H as the bonus and
:math:`V_h^{\pi^k}(s_h)` as what the cap took.

Taught in the chapters *Why regret is small* and *Why violation is small*.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from safeteach.arguments import instance
from safeteach.bounds import beta
from safeteach.learners.contract import check_learner_of
from safeteach.learners.sucbvi import SUCBVI
from safeteach.planning.evaluation import values
from safeteach.planning.induction import safe_optimal
from safeteach.records import Kept
from safeteach.running.playing import play
from safeteach.safety import potentially_unsafe, safe_actions
from safeteach.worlds.environments import refuse_environment
from safeteach.worlds.known import Episode
from safeteach.worlds.mdp import SafeMDP

__all__ = ["Audit", "audit"]

ROUNDING = 1e-9
Whole = NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class Audit(Kept):
    r"""What was found; (episodes,) arrays.

    Attributes
    ----------
    costs_low, costs_high : bool
        E_1 and E_1': ĉ(s) - β(N(s)) ≤ c(s), and c(s) ≤ ĉ(s) + β(N(s)), in every state seen.
    transitions : bool
        E_2: \|P̂ - P\| ≤ √(2Pℓ/n) + 2ℓ/(3n) for every (h, s, a, t) tried, ℓ = ln(2S²AHK/δ).
    contained : bool
        U_h^k ⊆ U_h for all h.
    kept : bool
        A_h^safe(s) ⊆ A_h^{k,safe}(s) for all h and s.
    optimistic : bool
        Q_h^k(s, a) ≥ Q*_h(s, a) for all h, s not in U_h and a in A_h^safe(s).
    surprises : int
        Steps h < H with s_{h+1} not in Δ_h^k(s_h, a_h).
    violation : float
        Of the episode, as it came.
    violation_flagged : float
        The part of it paid in states that were flagged when the episode was planned.
    allowed : float
        What the proof allows: H(1 - tau) after a surprise, else the sum of
        min{1 - tau, 2β(N(s_h))} over the unsafe states visited.
    value : float
        V_1^{π^k}(s_1).
    gap : float
        V_1^k(s_1) - V_1^{π^k}(s_1) = bonus + model + luck - cap.
    bonus, model, luck, cap : float
        The parts of the gap, see the module.

    Examples
    --------
    >>> import safeteach as st
    >>> mdp = st.instances.ice_corridor()
    >>> found = st.audit(st.SUCBVI(mdp.known, episodes=300), mdp)
    >>> found.surprises[0], found.surprise[-1]      # at first all is new
    (np.int64(9), np.False_)
    """

    costs_low: NDArray[np.bool_]
    costs_high: NDArray[np.bool_]
    transitions: NDArray[np.bool_]
    contained: NDArray[np.bool_]
    kept: NDArray[np.bool_]
    optimistic: NDArray[np.bool_]
    surprises: NDArray[np.int64]
    violation: NDArray[np.float64]
    violation_flagged: NDArray[np.float64]
    allowed: NDArray[np.float64]
    value: NDArray[np.float64]
    gap: NDArray[np.float64]
    bonus: NDArray[np.float64]
    model: NDArray[np.float64]
    luck: NDArray[np.float64]
    cap: NDArray[np.float64]

    @property
    def surprise(self) -> NDArray[np.bool_]:
        """Whether the episode held a surprise."""
        return self.surprises > 0


def audit(learner: SUCBVI, mdp: SafeMDP, seed: int = 0, noise: float = 1.0) -> Audit:
    """Run a new SUCBVI (or UCBVI) and check the analysis as it goes.

    The parameters are those of :func:`safeteach.run`; the run is the same, bit for bit.

    Raises
    ------
    InfeasibleError
        If there is no feasible policy to compare with.

    Examples
    --------
    >>> import numpy as np
    >>> import safeteach as st
    >>> mdp = st.instances.ice_corridor()
    >>> a = st.audit(st.SUCBVI(mdp.known, episodes=300), mdp)
    >>> bool(a.costs_low.all() and a.contained.all() and a.kept.all() and a.optimistic.all())
    True
    >>> bool((a.violation <= a.allowed).all())
    True
    >>> bool(np.allclose(a.gap, a.bonus + a.model + a.luck - a.cap))
    True
    """
    refuse_environment(
        mdp, "mdp", "an audit compares what a learner believes with transitions and costs, which "
        "it does not tell",
    )  # fmt: skip
    check_learner_of(learner, mdp, "mdp")
    instance(learner, "learner", SUCBVI, "a SUCBVI, or a subclass of it")
    played, auditor = play(learner, mdp, seed, noise), _Auditor(learner, mdp)
    rows = []
    for _k, episode in played:
        rows.append({**auditor.beliefs(), **auditor.trajectory(episode)})
        auditor.changed = episode
    return Audit(**{f.name: np.array([row[f.name] for row in rows]) for f in fields(Audit)})


class _Auditor:
    """The world written out, and which rows of the learner's model are off."""

    def __init__(self, learner: SUCBVI, mdp: SafeMDP) -> None:
        self.learner, self.mdp = learner, mdp
        self.P = mdp.P
        self.Q = safe_optimal(mdp).Q
        self.U = potentially_unsafe(mdp)
        self.safe = safe_actions(mdp)
        self.delta = learner.delta
        S, A, H, K = mdp.S, mdp.A, mdp.H, learner.episodes
        self.log = math.log(2 * S**2 * A * H * K / self.delta)
        self.off = np.zeros((H, S, A), np.bool_)
        self.changed: Episode | None = None

    def beliefs(self) -> dict[str, bool]:
        """What the learner believes before an episode, against the truth."""
        learner, mdp = self.learner, self.mdp
        self._check_changed_rows()
        seen = learner.costs.N > 0
        width = beta(learner.costs.N[seen], mdp.S, self.delta)
        mean, c = learner.costs.mean[seen], mdp.c[seen]
        enough = learner.Q >= self.Q - ROUNDING
        return {
            "costs_low": bool((mean - width <= c).all()),
            "costs_high": bool((c <= mean + width).all()),
            "transitions": not self.off.any(),
            "contained": bool((learner.U <= self.U).all()),
            "kept": bool((self.safe <= learner.doom.safe).all()),
            "optimistic": bool((enough | ~self.safe | self.U[:, :, None]).all()),
        }

    def _check_changed_rows(self) -> None:
        if self.changed is None:
            return
        h, s, a = np.arange(self.mdp.H), self.changed.states[:-1], self.changed.actions
        n = self.learner.transitions.N[h, s, a][:, None]
        P, P_hat = self.P[h, s, a], self._shares(h, s, a)
        width = np.sqrt(2 * P * self.log / n) + 2 * self.log / (3 * n)
        self.off[h, s, a] = (np.abs(P_hat - P) > width + ROUNDING).any(axis=1)

    def _shares(self, h: Whole, s: Whole, a: Whole) -> NDArray[np.float64]:
        """(n, S) rows P̂_h(· | s, a) for index arrays of length n."""
        seen = self.learner.transitions
        first, last = seen.span[np.ravel_multi_index((h, s, a), seen.shape)].astype(np.int64).T
        row = np.repeat(np.arange(len(h)), last - first)
        ends = np.cumsum(last - first)
        places = np.arange(len(row)) + (last - ends)[row]
        shares = np.zeros((len(h), self.mdp.S))
        shares[row, seen.successor[places]] = seen.share[places]
        return shares

    def trajectory(self, episode: Episode) -> dict[str, float]:
        """What an episode cost and where the learner's excess came from."""
        learner, mdp, H = self.learner, self.mdp, self.mdp.H
        h, s, a, t = np.arange(H), episode.states[:-1], episode.actions, episode.states[1:]
        V_pi = values(mdp, learner.policy)
        n = learner.transitions.N[h, s, a]
        P, P_hat = self.P[h, s, a], self._shares(h, s, a)
        known = int(np.argmin(n)) if n.min() == 0 else H  # steps before the first pair never tried
        early = slice(0, known)
        excess = learner.V - V_pi
        bonus = learner.alpha / np.sqrt(n[early])
        model = ((P_hat - P) * learner.V[1:])[early].sum(axis=1)
        luck = ((P * excess[1:]).sum(axis=1) - excess[h + 1, t])[early]
        future = (P_hat * learner.V[1:])[early].sum(axis=1)
        uncapped = mdp.r[h, s, a][early] + future + bonus
        cap = uncapped - learner.Q[h, s, a][early]
        unseen = (P_hat[h, t] == 0)[:-1]
        paid = mdp.violation[s]
        wet = s[mdp.unsafe[s]]
        lenient = np.minimum(1 - mdp.tau, 2 * beta(learner.costs.N[wet], mdp.S, self.delta))
        ended = known < H
        return {
            "surprises": int(unseen.sum()),
            "violation": float(paid.sum()),
            "violation_flagged": float(paid[learner.flagged[s]].sum()),
            "allowed": float(H * (1 - mdp.tau) if unseen.any() else lenient.sum()),
            "value": float(V_pi[0, mdp.s1]),
            "gap": float(excess[0, mdp.s1]),
            "bonus": float(bonus.sum() + (H if ended else 0)),
            "model": float(model.sum()),
            "luck": float(luck.sum()),
            "cap": float(cap.sum() + (V_pi[known, s[known]] if ended else 0)),
        }
