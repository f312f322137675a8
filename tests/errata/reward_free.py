"""Slips in Section 6, in the proof of Theorem 6.2 (Appendix B.2) and in Appendix D.

How to read these classes is said in ``model.py``.
"""

import itertools
import math

import numpy as np
from chapters.why_the_output_is_safe.test_statements import Snapshot, attains, doomed
from oracles.brute_force import all_policies

import safeteach as st
from safeteach.bounds import beta, gamma


def brook():
    """A bank and a brook: one action stays, the other leads into the brook and back."""
    P = np.zeros((2, 2, 2))
    P[0, [0, 1], [0, 1]] = P[1, :, 0] = 1
    return st.SafeMDP(P, np.zeros((2, 2)), c=[0, 1], tau=0.5, H=2)


def divergence(Q, P):
    """KL(Q, P) along the last axis; 0 ln 0 is 0."""
    return (Q * np.log(np.where(Q > 0, Q, P) / P)).sum(axis=-1)


def sequences():
    """Increments of at most 1, as expected visits have them."""
    rng = np.random.default_rng(0)
    yield np.ones(2)
    for _ in range(300):
        yield rng.uniform(0, 1, rng.integers(1, 100)) ** rng.choice([0.1, 1, 5])


class WhileTest:
    """Exploration plays some episodes and then stops, if ε < 2H and W̄ comes down."""

    def stops(goes_on):
        mdp = brook()
        learner = st.SRFUCRL(mdp.known, bonus_scale=1e-3)
        for k, _ in st.play(learner, mdp):
            if not goes_on(learner.width, 0.5) or k == 300:
                return 0 < k < 300
        return False

    def printed():
        return WhileTest.stops(lambda width, epsilon: width <= epsilon / 2)

    def corrected():
        return WhileTest.stops(lambda width, epsilon: width > epsilon / 2)


class AnyReward:
    """An algorithm that keeps the definition is good for a reward chosen after it has ended.

    It plans well for each of a hundred rewards but one, and which one is a matter of luck.
    """

    def keeps_and_is_good(asked):
        delta, runs, rewards = 0.05, 2_000, 100
        bad = np.random.default_rng(0).integers(rewards, size=runs)
        fails = bad[:, None] == np.arange(rewards)
        keeps = asked(fails) <= delta
        return not keeps or fails[np.arange(runs), bad].mean() <= delta

    def printed():
        return AnyReward.keeps_and_is_good(lambda fails: fails.mean(axis=0).max())

    def corrected():
        return AnyReward.keeps_and_is_good(lambda fails: fails.any(axis=1).mean())


class ExplorationClaim:
    """Exploring violates by at most ε in all; or by the theorem's bound, and its output by ε."""

    EPSILON = 0.5

    def explored():
        mdp = brook()
        learner = st.SRFUCRL(
            mdp.known, epsilon=ExplorationClaim.EPSILON, delta=0.1, bonus_scale=0.02
        )
        exploration = st.explore(learner, mdp, episodes=20_000)
        assert exploration.finished
        return mdp, learner, exploration

    def printed():
        _, _, exploration = ExplorationClaim.explored()
        return exploration.violation.sum() <= ExplorationClaim.EPSILON

    def corrected():
        mdp, learner, exploration = ExplorationClaim.explored()
        plan = learner.plan_for(np.ones((mdp.H, mdp.S, mdp.A)))
        edges = int((mdp.P > 0).sum())
        most = st.bounds.violation_bound(
            mdp.S, mdp.H, exploration.episodes, mdp.tau, unsafe=1, edges=edges, delta=0.1
        )
        small = st.evaluate(mdp, plan.policy).violation <= ExplorationClaim.EPSILON
        return small and exploration.violation.sum() <= most


class TwoGammas:
    """The theorem's γ is its proof's; or the theorem's alone is wide enough for every n at once.

    With half of it as threshold, n·KL stays below in all but a share δ of the runs.
    """

    S, A, H, K, DELTA = 4, 2, 3, 300, 0.2

    def printed():
        S, A, H, K, delta = TwoGammas.S, TwoGammas.A, TwoGammas.H, TwoGammas.K, TwoGammas.DELTA
        n = np.arange(1, K)
        proof = 2 * math.log(S * A * H * K / delta) + (S - 1) * np.log(math.e * (1 + n / (S - 1)))
        return np.allclose(gamma(n, S, A, H, delta), proof)

    def corrected():
        P, n = np.array([0.6, 0.3, 0.09, 0.01]), np.arange(1, TwoGammas.K)
        draws = np.random.default_rng(0).choice(TwoGammas.S, size=(1_000, n.size), p=P)
        P_hat = np.eye(TwoGammas.S)[draws].cumsum(axis=1) / n[:, None]
        # One row alone: A = H = 1, and S of the union over the states is given back.
        most = gamma(n, TwoGammas.S, 1, 1, TwoGammas.DELTA * TwoGammas.S) / 2
        return (n * divergence(P_hat, P) > most).any(axis=1).mean() <= TwoGammas.DELTA


class Pinsker:
    """‖Q - P‖₁ ≤ √KL; or √(2 KL)."""

    def holds(factor):
        rng = np.random.default_rng(0)
        P, Q = rng.dirichlet(np.ones(3), size=(2, 2_000))
        return (abs(Q - P).sum(axis=1) <= np.sqrt(factor * divergence(Q, P)) + 1e-12).all()

    def printed():
        return Pinsker.holds(1)

    def corrected():
        return Pinsker.holds(2)


class TwoBeta:
    """A state that is not flagged is at most β above the threshold; or 2β.  Both sides hold."""

    def holds(times):
        n, S, tau = 400, 2, 0.2
        width = float(beta(n, S, 0.1))
        cost, mean = np.meshgrid(np.linspace(0, 1, 201), np.linspace(0, 1, 201))
        possible = (abs(mean - cost) <= width) & (mean - width <= tau)
        return (cost[possible] - tau <= times * width).all()

    def printed():
        return TwoBeta.holds(1)

    def corrected():
        return TwoBeta.holds(2)


class CapOfF:
    """F ≤ F̄ on a chain without luck, where F̄ is capped at H; f is a width, or at most 1."""

    def holds(cut):
        H, K, S, delta = 4, 100, 4, 0.1
        for N in (1, 10, 1_000, 10**6):
            f = cut(math.sqrt(2 / N * math.log(S * K / delta)))
            F = F_bar = 0.0
            for _ in range(H):
                F, F_bar = f + F, min(H, f + F_bar)
            if F_bar + 1e-9 < F:
                return False
        return True

    def printed():
        return CapOfF.holds(lambda f: f)

    def corrected():
        return CapOfF.holds(lambda f: min(1, f))


class CapOfG:
    """g ≤ G̃, where g is capped at the end and G̃ at every step; or H·G ≤ G̃ with no g between.

    Random chains: in each state something new happens with a probability below x/H.
    """

    def chains():
        rng = np.random.default_rng(0)
        for _ in range(300):
            H, S = 4, 3
            x = rng.choice([0.01, 0.5, 10.0], size=(H, S))
            new = np.minimum(1, x / H) * rng.random((H, S))
            P = rng.dirichlet(np.ones(S), size=(H, S))
            total, capped, G = np.zeros(S), np.zeros(S), np.zeros(S)
            for h in reversed(range(H)):
                total = x[h] + P[h] @ total
                capped = np.minimum(H, x[h] + P[h] @ capped)
                G = new[h] + (1 - new[h]) * (P[h] @ G)
            yield np.minimum(H, total), capped, H * G

    def printed():
        return all((g <= capped + 1e-9).all() for g, capped, _ in CapOfG.chains())

    def corrected():
        return all((capped + 1e-9 >= H_times_G).all() for _, capped, H_times_G in CapOfG.chains())


NEW = 0.02, 0.01, 0.05  # the chance of something new at each of three steps


def probability(event):
    """Of an event of a plan's steps, over all that can happen: at each, something new or not."""
    return sum(
        math.prod(p if new else 1 - p for new, p in zip(steps, NEW, strict=True))
        for steps in itertools.product([True, False], repeat=3)
        if event(steps)
    )


def surprise():
    """G_1, step by step from the end."""
    G = 0.0
    for p in reversed(NEW):
        G = p + (1 - p) * G
    return G


class HTimesG:
    """The line that begins with H·G_1: it is the probability of a surprise; or H times that."""

    H = 4

    def printed():
        return math.isclose(HTimesG.H * surprise(), probability(any))

    def corrected():
        return math.isclose(HTimesG.H * surprise(), HTimesG.H * probability(any))


class SurpriseEvent:
    """The probability in the display is at most G_1: of 𝓟_π, nothing new; or of its complement."""

    def printed():
        return probability(lambda steps: not any(steps)) <= surprise() + 1e-12

    def corrected():
        return probability(any) <= surprise() + 1e-12


class PoliciesInclusion:
    """Policies that look feasible along a run are feasible; or the feasible ones look it."""

    def safe(policies, moves, unsafe):
        """(n,) bool: whether what ``moves`` allows keeps a policy out of unsafe states."""
        here = np.tile(np.arange(2) == 0, (len(policies), 1))
        for i in range(policies.shape[1] - 1):
            after = moves[i][np.arange(2), policies[:, i]]
            here = (here[:, :, None] & after).any(axis=1)
        return ~(here & unsafe).any(axis=1)

    def holds(inside):
        mdp = brook()
        policies = all_policies(mdp)
        truly = PoliciesInclusion.safe(policies, mdp.P > 0, mdp.unsafe)
        learner = st.SRFUCRL(mdp.known, bonus_scale=0.01)
        for k, _ in st.play(learner, mdp, noise=0.0):
            seen = learner.transitions.P_hat > 0
            looks = PoliciesInclusion.safe(policies, seen, learner.flagged)
            if not inside(looks, truly).all():
                return False
            if k == 500:
                return True
        return True

    def printed():
        return PoliciesInclusion.holds(lambda looks, truly: looks <= truly)

    def corrected():
        return PoliciesInclusion.holds(lambda looks, truly: truly <= looks)


class CountEvent:
    """𝓔_cnt, for one pair, happens with probability at most δ; or fails with at most δ."""

    def share():
        rng, delta = np.random.default_rng(0), 0.2
        p = rng.random((2_000, 400))
        made, expected = (rng.random(p.shape) < p).cumsum(axis=1), p.cumsum(axis=1)
        return (made >= expected / 2 - math.log(1 / delta)).all(axis=1).mean(), delta

    def printed():
        share, delta = CountEvent.share()
        return share <= delta

    def corrected():
        share, delta = CountEvent.share()
        return 1 - share <= delta


class Unrolled:
    """W̄ = min(H, M + P̂W̄) along the policy in every state; or outside U_h^k.

    From a flagged state one gets to a state with a safe action and one that leads back.
    """

    def holds(everywhere):
        P = np.zeros((3, 3, 2, 3))
        P[:, 0, :, 1] = P[:, 1, 0, 1] = P[:, 1, 1, 2] = P[:, 2, :, 1] = 1
        mdp = st.SafeMDP(P, np.zeros((3, 2)), c=[0, 0, 1], tau=0.5, H=3)
        n = np.full((3, 3, 2), 10**7)
        n[1, 1, 1] = 10  # hardly known, and banned
        flagged = np.array([False, False, True])
        shot = Snapshot(mdp, n, P, n.sum(axis=(0, 2)), flagged, *doomed(P > 0, flagged, n.shape))
        states = [s for s in range(3) if everywhere or s not in shot.U[0]]
        return all(attains(shot, 0, s) for s in states)

    def printed():
        return Unrolled.holds(everywhere=True)

    def corrected():
        return Unrolled.holds(everywhere=False)


class RootEight:
    """Σ √8 z/√N is at most Σ √2 z/√N; or at most 2(2 + √2)√N, which ends where the paper ends."""

    def holds(most):
        for z in sequences():
            N = np.cumsum(z)
            terms = z / np.sqrt(np.maximum(N - z, 1))
            if math.sqrt(8) * terms.sum() > most(terms, N[-1]) + 1e-9:
                return False
        return True

    def printed():
        return RootEight.holds(lambda terms, _: math.sqrt(2) * terms.sum())

    def corrected():
        return RootEight.holds(lambda _, N: 2 * (2 + math.sqrt(2)) * math.sqrt(N))


class LostFour:
    """Σ 4z/N is at most 4 ln(N + 1); or (8/ln 2) ln(N + 1)."""

    def holds(constant):
        return all(
            4 * (z / np.maximum(np.cumsum(z) - z, 1)).sum() <= constant * math.log1p(z.sum()) + 1e-9
            for z in sequences()
        )

    def printed():
        return LostFour.holds(4)

    def corrected():
        return LostFour.holds(8 / math.log(2))


def largest(may):
    """The largest K with may(K), by halving."""
    low, high = 1.0, 1e40
    for _ in range(300):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if may(middle) else (low, middle)
    return low


class ForgottenTerm:
    """The largest K is a²/ε² ln(1/δ) up to logarithms; or that with ln(1/δ) + S.  Here b = 0.

    Between S = 10 and S = 10⁶ the share of the two may change by the logarithms, not like S.
    """

    def holds(order):
        a, epsilon, delta = 1.0, 0.1, 0.01

        def share(S):
            def may(K):
                wide = 2 * math.log(S * K / delta) + (S - 1) * math.log(math.e * (1 + K / (S - 1)))
                return K * epsilon / 2 <= a * math.sqrt(K * wide)

            logarithms = math.log(S / (delta * epsilon)) ** 3
            return largest(may) / (a**2 / epsilon**2 * order(S, math.log(1 / delta)) * logarithms)

        return share(10**6) <= 10 * share(10)

    def printed():
        return ForgottenTerm.holds(lambda _S, log: log)

    def corrected():
        return ForgottenTerm.holds(lambda S, log: log + S)


class Subcases:
    """K ≤ (4b/ε) ln(4K)(2S ln(4K) + ℓ) puts K into one of the two subcases of Case 2."""

    def holds(first):
        for S, ell, b in [(2, 3.0, 1.0), (5, 40.0, 2.0), (20, 100.0, 1.0), (50, 5.0, 10.0)]:

            def right(K, S=S, ell=ell, b=b):
                return 4 * b * math.log(4 * K) * (2 * S * math.log(4 * K) + ell)

            most = largest(lambda K, right=right: right(K) >= K)
            log = math.log(4 * most)
            if most > first * b * S * log**2 and most > 8 * b * log * ell:
                return False
        return True

    def printed():
        return Subcases.holds(8)

    def corrected():
        return Subcases.holds(16)


class LogFactor:
    """2 ln(SAHK/δ) + S ln(4K) ≤ 2S ln(4K) + ln(SAH/δ); or with 2 ln(SAH/δ)."""

    def holds(times):
        rng = np.random.default_rng(0)
        S = rng.integers(2, 50, 100_000)
        K = rng.integers(4, 10**4, S.size)
        log = rng.uniform(0, 40, S.size) + np.log(S)  # ln(SAH/δ)
        left = 2 * (log + np.log(K)) + S * np.log(4 * K)
        return (left <= 2 * S * np.log(4 * K) + times * log + 1e-9).all()

    def printed():
        return LogFactor.holds(1)

    def corrected():
        return LogFactor.holds(2)


class Increasing:
    """x/ln²(4x) increases from 1 on; or from e²/4 on."""

    def holds(start):
        x = np.geomspace(start, 1e6, 10_000)
        return (np.diff(x / np.log(4 * x) ** 2) > 0).all()

    def printed():
        return Increasing.holds(1)

    def corrected():
        return Increasing.holds(math.e**2 / 4)
