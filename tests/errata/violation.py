"""Slips in the proof of the violation bounds of Theorem 4.2 (the end of Appendix B.1).

How to read these classes is said in ``model.py``.
"""

import itertools
import math

import numpy as np

import safeteach as st
from safeteach.bounds import beta, beta_printed


def sum_over_visits(visits):
    """Σ m_k/√max(N^k, 1), and √N, for m_k visits in episode k."""
    visits = np.asarray(visits)
    before = np.cumsum(visits) - visits
    return (visits / np.sqrt(np.maximum(before, 1))).sum(), math.sqrt(visits.sum())


class Jaksch:
    """The sum is at most (1 + √2)√N when an episode brings up to H visits to one state.

    What takes its place looks at the visits before the state has been seen H times apart.
    """

    def runs():
        yield 12, [12]
        rng = np.random.default_rng(0)
        for _ in range(500):
            H = int(rng.integers(1, 13))
            yield H, rng.choice([0, 1, H // 2, H], size=rng.integers(1, 30))

    def printed():
        found = [sum_over_visits(visits) for _, visits in Jaksch.runs()]
        return all(total <= (1 + math.sqrt(2)) * root + 1e-9 for total, root in found)

    def corrected():
        for H, visits in Jaksch.runs():
            before = np.cumsum(visits) - visits
            late = before >= H
            total = (np.asarray(visits)[late] / np.sqrt(before[late])).sum()
            if sum(itertools.compress(visits, ~late)) > 2 * H:
                return False
            if total > 2 * math.sqrt(2 * sum(visits)) + 1e-9:
                return False
        return True


class JakschConstant:
    """The constant of the lemma, with visits that at most double the count: 2, or 1 + √2."""

    def holds(constant):
        total, root = sum_over_visits([1, 1, 2, 4, 8, 16])
        return total <= constant * root

    def printed():
        return JakschConstant.holds(2)

    def corrected():
        return JakschConstant.holds(1 + math.sqrt(2))


def run_with_danger():
    """C(K) along a run, and the visits to each state."""
    P = np.zeros((2, 2, 2))
    P[0, [0, 1], [0, 1]] = P[1, :, 1] = 1
    mdp = st.SafeMDP(P, np.zeros((2, 2)), c=[0, 1], tau=0.5, H=3)
    learner = st.SUCBVI(mdp.known, episodes=400, delta=0.5, bonus_scale=0.01)
    steps = [(k, int(s)) for k, e in st.play(learner, mdp, noise=0.0) for s in e.states[:-1]]
    return mdp, steps


class GapSum:
    """C(K) is at most the sum of N(s)(c(s) - τ)+ over the states outside U; or in U."""

    def holds(over):
        mdp, steps = run_with_danger()
        N = np.bincount([s for _, s in steps], minlength=mdp.S)
        paid = sum(mdp.violation[s] for _, s in steps)
        return 0 < paid <= (N * mdp.violation)[over(mdp)].sum() + 1e-9

    def printed():
        return GapSum.holds(lambda mdp: ~mdp.unsafe)

    def corrected():
        return GapSum.holds(lambda mdp: mdp.unsafe)


class LastEpisode:
    """The visits to s in all episodes up to k_s are at most N^{k_s}(s); or that and H more.

    N^k counts what was before episode k.
    """

    def holds(more):
        mdp, steps = run_with_danger()
        last = max(k for k, s in steps if s == 1)
        before = sum(s == 1 for k, s in steps if k < last)
        return sum(s == 1 for _, s in steps) <= before + more(mdp)

    def printed():
        return LastEpisode.holds(lambda _: 0)

    def corrected():
        return LastEpisode.holds(lambda mdp: mdp.H)


class QuietEpisodes:
    """In an episode of the set K no flagged state is met; K looks at s_h^{k+1}, or at s_{h+1}^k.

    One action surely leads into the water, and makes it known; another does so once in a while.
    """

    def holds(next_state):
        P = np.zeros((2, 3, 2))
        P[0, 0, 0] = P[0, 2, 1] = P[1, :, 1] = 1
        P[0, 1] = 0.99, 0.01
        r = np.zeros((2, 2, 3))
        r[0, 0] = 0, 0.5, 1
        mdp = st.SafeMDP(P, r, c=[0, 1], tau=0.5, H=2)
        learner = st.SUCBVI(mdp.known, episodes=1_000, delta=0.9, bonus_scale=0.001)
        states, flags, seen = [], [], []
        for _, e in st.play(learner, mdp, seed=0, noise=0.0):
            states.append(e.states)
            flags.append(learner.flagged[e.states[1]])
            seen.append(set(learner.transitions.successors(1, e.states[0], e.actions[0])))
        pairs = zip(itertools.pairwise(states), seen, strict=False)
        quiet = [next_state(this, following) in found for (this, following), found in pairs]
        return any(flags) and not any(np.logical_and(flags[:-1], quiet))

    def printed():
        return QuietEpisodes.holds(lambda _this, following: following[0])

    def corrected():
        return QuietEpisodes.holds(lambda this, _following: this[1])


class ForEver:
    """The visits until the flag, with the width for K episodes, do not depend on K."""

    def visits(width):
        return next(n for n in itertools.count(1) if 2 * width(n) < 0.5)

    def printed():
        K = 10**3, 10**6, 10**9
        return len({ForEver.visits(lambda n, k=k: beta_printed(n, 25, k, 0.005)) for k in K}) == 1

    def corrected():
        K = 10**3, 10**6, 10**9
        return len({ForEver.visits(lambda n, _=k: beta(n, 25, 0.005)) for k in K}) == 1
