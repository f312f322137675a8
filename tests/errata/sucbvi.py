"""Slips in Section 4.2, Theorem 4.2 and its proof (Appendix B.1): the algorithm and its events.

How to read these classes is said in ``model.py``.
"""

import math

import numpy as np

import safeteach as st
from safeteach.bounds import beta, beta_printed

CROSSING = st.instances.union_counterexample()


def brook():
    """A bank and a brook; from the brook one action leads back, and the other stays."""
    P = np.zeros((2, 2, 2))
    P[0, [0, 1], [0, 1]] = P[1, [0, 1], [0, 1]] = 1
    return st.SafeMDP(P, np.zeros((2, 2)), c=[0, 1], tau=0.5, H=3)


def after(episodes, mdp, *, scale=0.01, noise=0.0, **settings):
    """A SUCBVI that has been through some episodes and has planned the next one."""
    learner = st.SUCBVI(mdp.known, episodes=episodes + 1, bonus_scale=scale, **settings)
    for k, _ in st.play(learner, mdp, seed=0, noise=noise):
        if k == episodes:
            return learner
    return None


class LinearRegret:
    """The regret on the crossing, where a feasible policy exists, is less than a tenth of K."""

    def holds(recursion):
        learner = st.SUCBVI(CROSSING.known, episodes=2_000, bonus_scale=0.01, recursion=recursion)
        return st.is_feasible(CROSSING) and st.run(learner, CROSSING).regret.sum() < 200

    def printed():
        return LinearRegret.holds("paper")

    def corrected():
        return LinearRegret.holds("exact")


class SafeWord:
    """A learner that flags what is regarded as unsafe stops falling in: one learner, two readings.

    One that follows the sentence flags every state but the water, once it has found that out; so
    its masks are lifted, and whoever falls in tries to stay.
    """

    class AsTheSentenceSays(st.SUCBVI):
        def _flag(self):
            super()._flag()
            np.logical_not(self.flagged, out=self.flagged)

    def holds(make):
        pond = st.instances.grid()
        learner = make(pond.known, episodes=5_000, bonus_scale=0.01)
        return st.run(learner, pond, seed=1).violation[-1_000:].sum() < 5

    def printed():
        return SafeWord.holds(SafeWord.AsTheSentenceSays)

    def corrected():
        return SafeWord.holds(st.SUCBVI)


class Lifting:
    """The actions that Algorithms 1 and 2 allow in a state of U_h^k; they are the same, or not.

    In the brook, flagged, one action leads back to the bank.
    """

    def allowed():
        learner = after(1_500, brook())
        one = learner.safe_actions | learner.U[:, :, None]
        two = learner.safe_actions | ~learner.safe_actions.any(axis=2, keepdims=True)
        return learner, one, two

    def printed():
        _, one, two = Lifting.allowed()
        return (one == two).all()

    def corrected():
        learner, one, two = Lifting.allowed()
        differ = (one != two).any(axis=2)
        some = learner.safe_actions.any(axis=2) & ~learner.safe_actions.all(axis=2)
        return differ.any() and (differ == (learner.flagged & some)).all()


class ZeroCounts:
    """Lines 9 and 10 give a number before anything was tried, and it is at least Q*."""

    def holds(value_of_nothing):
        mdp = st.instances.random_mdp(4, 2, 3, seed=0)
        N, V = np.zeros((4, 2)), np.zeros(4)
        with np.errstate(divide="ignore", invalid="ignore"):
            P_hat = np.zeros((4, 2, 4)) / N[..., None]
            Q = np.minimum(mdp.H, mdp.r[0] + P_hat @ V + 1 / np.sqrt(N))
        Q = value_of_nothing(Q, N, mdp.H)
        return bool((st.optimal(mdp).Q[0] <= Q).all())

    def printed():
        return ZeroCounts.holds(lambda Q, _N, _H: Q)

    def corrected():
        return ZeroCounts.holds(lambda Q, N, H: np.where(N > 0, Q, H))


class PairsAndSteps:
    """Σ 1/√N_h^k over a run is at most 2√(SAT), or 2√(HSAT); every triple is visited evenly."""

    def holds(most):
        H, pairs, K = 9, 4, 400
        total = H * pairs * sum(1 / math.sqrt(i) for i in range(1, K // pairs))
        return total <= most(pairs, H, H * K)

    def printed():
        return PairsAndSteps.holds(lambda pairs, _H, T: 2 * math.sqrt(pairs * T))

    def corrected():
        return PairsAndSteps.holds(lambda pairs, H, T: 2 * math.sqrt(H * pairs * T))


class EveryCount:
    """At the start of episode K one state's average is too high with probability at most δ/K.

    The agent does not go back to a state whose average was too high: so the average of episode K
    is too high if it ever was.  The anytime width is asked for more: all counts at once, for δ.
    """

    K, DELTA = 100, 0.5

    def too_high(width):
        luck = np.random.default_rng(3).standard_normal((20_000, EveryCount.K - 1))
        n = np.arange(1, EveryCount.K)
        return (luck.cumsum(axis=1) / n > width(n)).any(axis=1).mean()

    def printed():
        K, delta = EveryCount.K, EveryCount.DELTA
        return EveryCount.too_high(lambda n: beta_printed(n, 1, K, delta)) <= 1.2 * delta / K

    def corrected():
        return EveryCount.too_high(lambda n: beta(n, 1, EveryCount.DELTA)) <= EveryCount.DELTA


class TwoSides:
    """|ĉ - c| ≤ √(2L) with probability 1 - e^{-L} after one look, for 1-sub-Gaussian noise.

    The noise is 0, or ±√(2L) as often as being 1-sub-Gaussian allows.
    """

    L = math.log(1000)

    def outside():
        x, lam = math.sqrt(2 * TwoSides.L), np.linspace(0.001, 12, 10**5)
        return (np.expm1(lam**2 / 2) / (np.cosh(lam * x) - 1)).min()

    def printed():
        return TwoSides.outside() <= math.exp(-TwoSides.L)

    def corrected():
        return TwoSides.outside() <= 2 * math.exp(-TwoSides.L)


class UpperSide:
    """Where the event holds, c ≤ c̄ + 2β: for all averages that the event allows."""

    def holds(event):
        n, S, c = 100, 2, 0.9
        width = float(beta(n, S, 0.1))
        mean = np.linspace(-1, 3, 4_001)
        mean = mean[event(mean, c, width)]
        return (c <= mean - width + 2 * width).all()

    def printed():
        return UpperSide.holds(lambda mean, c, width: mean - width <= c)

    def corrected():
        return UpperSide.holds(lambda mean, c, width: abs(mean - c) <= width)


class WaysOut:
    """The set that joins U_h^k is part of the true U_h, along a run with E_1."""

    def holds(joins):
        world = st.instances.union_counterexample()
        U = st.potentially_unsafe(world)
        learner = st.SUCBVI(world.known, episodes=600, bonus_scale=0.01)
        return all(
            (joins(learner.safe_actions) <= U)[:-1].all()
            for _ in st.play(learner, world, seed=0, noise=0.0)
        )

    def printed():
        return WaysOut.holds(lambda safe: safe.any(axis=2))

    def corrected():
        return WaysOut.holds(lambda safe: ~safe.any(axis=2))


class WhichStates:
    """The lemma on safe actions speaks of the states outside U_h, where optimism needs it.

    Along a run, at every such state: is it one that the statement is about?
    """

    def holds(about):
        U = st.potentially_unsafe(CROSSING)
        learner = st.SUCBVI(CROSSING.known, episodes=300, bonus_scale=0.01)
        return all(about(learner)[~U].all() for _ in st.play(learner, CROSSING, seed=0, noise=0.0))

    def printed():
        return WhichStates.holds(lambda learner: learner.U)

    def corrected():
        safe = st.safe_actions(CROSSING)
        return WhichStates.holds(lambda learner: (safe <= learner.safe_actions).all(axis=2))


class OptimismSigns:
    """The difference Q^k - Q* on safe pairs, in the first episode: at most 0, or at least 0."""

    def difference():
        learner = after(20, CROSSING)
        safe = st.safe_actions(CROSSING) & ~st.potentially_unsafe(CROSSING)[:, :, None]
        return (learner.Q - st.safe_optimal(CROSSING).Q)[safe]

    def printed():
        return (OptimismSigns.difference() <= 0).all()

    def corrected():
        return (OptimismSigns.difference() >= 0).all()


class ReversedInclusion:
    """A state outside U_h^k is outside U_h; or one outside U_h is outside U_h^k."""

    def printed():
        return (st.potentially_unsafe(CROSSING) <= after(20, CROSSING).U).all()

    def corrected():
        U = st.potentially_unsafe(CROSSING)
        return all((after(k, CROSSING).U <= U).all() for k in (20, 1_000))


def pier():
    """From x one action surely and the other rarely leads into the water; the water pays."""
    start, x, water, home = range(4)
    P = np.zeros((4, 2, 4))
    P[start, 0, x] = P[start, 1, home] = P[x, 0, water] = 1
    P[x, 1, [home, water]] = 1 - 1e-5, 1e-5
    P[water, :, water] = P[home, :, home] = 1
    r = np.zeros((3, 4, 2))
    r[1, x] = 0.5, 0.9
    r[2, water] = 1
    return st.SafeMDP(P, r, c=np.eye(4)[water], tau=0.5, H=3)


class OptimismEverywhere:
    """V^k ≥ V* in every state, or outside U_h, after the flag, with a bonus that is wide enough.

    V* lifts the mask in x, where all is lost; the agent does not know that yet, and keeps it.
    """

    def above():
        mdp = pier()
        learner = after(4_000, mdp, scale=0.101)
        return (learner.V >= st.safe_optimal(mdp).V - 1e-9)[:-1], st.potentially_unsafe(mdp)

    def printed():
        return OptimismEverywhere.above()[0].all()

    def corrected():
        above, U = OptimismEverywhere.above()
        return above[~U].all()


def chain(better, episodes=300):
    """Whether V* ≥ V^{π^k}, or what takes its place, at every state in all episodes."""
    learner = st.SUCBVI(CROSSING.known, episodes=episodes)
    for _ in st.play(learner, CROSSING, seed=0, noise=0.0):
        V = np.zeros((CROSSING.H + 1, CROSSING.S))
        for i in reversed(range(CROSSING.H)):
            at = np.arange(CROSSING.S), learner.policy[i]
            V[i] = CROSSING.r[i][at] + CROSSING.P[i][at] @ V[i + 1]
        if not (better(learner) >= V - 1e-9).all():
            return False
    return True


class Hole:
    """V^{π^k} ≤ V*, or ≤ the optimum of the true world under the mask of episode k."""

    def under_mask(learner):
        V = np.zeros((CROSSING.H + 1, CROSSING.S))
        for i in reversed(range(CROSSING.H)):
            allowed = learner.safe_actions[i] | learner.U[i][:, None]
            Q = np.where(allowed, CROSSING.r[i] + CROSSING.P[i] @ V[i + 1], -np.inf)
            V[i] = Q.max(axis=1)
        return V

    def printed():
        best = st.safe_optimal(CROSSING).V
        return chain(lambda _: best)

    def corrected():
        return chain(Hole.under_mask)


class LuckIndex:
    """G(s_h) = bonus + model - cap + G(s_{h+1}) + luck, with the printed luck or with ours.

    The pond slips, so that s_{h+1} is not certain; where a pair is new the sum ends.
    """

    def adds_up(where):
        mdp = st.instances.grid()
        learner = st.SUCBVI(mdp.known, episodes=60, bonus_scale=0.01)
        for k, e in st.play(learner, mdp, seed=0):
            if k < 40:
                continue
            at = np.arange(mdp.S)
            G = np.zeros((mdp.H + 1, mdp.S))
            V = np.zeros(mdp.S)
            for i in reversed(range(mdp.H)):
                a = learner.policy[i]
                V = mdp.r[i][at, a] + mdp.P[i][at, a] @ V
                G[i] = learner.V[i] - V
            for i in range(mdp.H):
                s, a, t = e.states[i], e.actions[i], e.states[i + 1]
                if not learner.transitions.N[i, s, a]:
                    break
                error = (learner.transitions.P_hat[i, s, a] - mdp.P[i, s, a]) @ learner.V[i + 1]
                expected = mdp.r[i, s, a] + learner.transitions.P_hat[i, s, a] @ learner.V[i + 1]
                rest = learner.V[i, s] - expected  # bonus - cap
                luck = mdp.P[i, s, a] @ G[i + 1] - G[i + 1, where(s, t)]
                if not np.isclose(G[i, s], rest + error + luck + G[i + 1, t]):
                    return False
        return True

    def printed():
        return LuckIndex.adds_up(lambda s, _t: s)

    def corrected():
        return LuckIndex.adds_up(lambda _s, t: t)


class LuckWeights:
    """Luck, which has both signs, with weight 1 + 1/H: at most twice itself; or twice its size."""

    def holds(most):
        luck = np.random.default_rng(0).uniform(-1, 1, 1_000)
        return ((1 + 1 / 4) * luck <= most(luck)).all()

    def printed():
        return LuckWeights.holds(lambda luck: 2 * luck)

    def corrected():
        return LuckWeights.holds(lambda luck: 2 * abs(luck))
