"""The statements of the chapter, one test each, on runs that would show a false one.

Sets and uncertainties are computed here from what a learner has counted, in plain loops.
"""

import itertools

import numpy as np
import pytest

import safeteach as st

SEEDS = range(12)
DELTA = 0.5  # large, so that states are flagged soon
LOUD = {"delta": DELTA, "bonus_scale": 0.001}
LAB = st.instances.laboratory()


def sharp_world(seed):
    """Costs of 0 and 1 and a low threshold: danger is noticed after a few visits."""
    mdp = st.instances.random_mdp(5, 3, 4, seed, unsafe=0.3, stationary=seed % 2 == 0)
    P, r = (mdp.P[0], mdp.r[0]) if mdp.stationary else (mdp.P, mdp.r)
    return st.SafeMDP(P, r, mdp.unsafe.astype(float), 0.05, mdp.H)


def moments(learner, mdp, seed, episodes=200, every=20, noise=0.3):
    """Yield k before every twentieth episode of a run, when the learner has planned it."""
    for k, _ in st.play(learner, mdp, seed, noise):
        if k % every == every - 1:
            yield k
        if k == episodes:
            return


def doubts(learner, mdp, look_at="safe"):
    """W̄ by the recursion of the algorithm; all maxima over all actions if ``look_at`` is all."""
    H, S, A = mdp.H, mdp.S, mdp.A
    N, P_hat, safe, U = (
        learner.transitions.N,
        learner.transitions.P_hat,
        learner.safe_actions,
        learner.U,
    )
    W = np.zeros((H + 1, S, A))
    for h in range(H - 1, -1, -1):
        for s, a in itertools.product(range(S), range(A)):
            n = N[h, s, a]
            if n == 0:
                W[h, s, a] = H
                continue
            M = learner.bonus_scale * float(st.bounds.exploration_bonus(n, S, A, H, learner.delta))
            future = 0.0
            for t in np.flatnonzero(P_hat[h, s, a]):
                among = range(A)
                if h + 1 < H and look_at == "safe" and safe[h, s, a] and not U[h, s]:
                    among = np.flatnonzero(safe[h + 1, t])
                    assert among.size, "a safe pair has only seen successors with a safe action"
                future += P_hat[h, s, a, t] * max(W[h + 1, t, b] for b in among)
            W[h, s, a] = min(H, M + future)
    return W[:-1]


def doomed(learner, mdp):
    """(H, S) bool: the flags, and at each step the states all of whose actions end badly."""
    N, mean, seen = learner.costs.N, learner.costs.mean, learner.transitions.P_hat > 0
    beta = st.bounds.beta(np.maximum(N, 1), mdp.S, learner.delta)
    U = np.tile((N > 0) & (mean - beta > mdp.tau), (mdp.H, 1))
    for h in range(mdp.H - 2, -1, -1):
        U[h] |= (seen[h] & U[h + 1]).any(axis=2).all(axis=1)
    return U


# alg-srf-ucrl ----------------------------------------------------------------------------------


def test_the_algorithm_is_the_librarys():
    """alg-srf-ucrl: U_h, W̄, the mask that is lifted where nothing looks safe, the choice."""
    masked = lifted = 0
    for seed in SEEDS:
        mdp = sharp_world(seed)
        learner = st.SRFUCRL(mdp.known, **LOUD)
        for _ in moments(learner, mdp, seed):
            assert (doomed(learner, mdp) == learner.U).all()
            W = doubts(learner, mdp)
            assert np.abs(W - learner.W).max() < 1e-9
            safe = learner.safe_actions
            allowed = np.where(safe.any(axis=2, keepdims=True), safe, True)
            best = np.where(allowed, W, -1).max(axis=2)
            taken = np.take_along_axis(W, learner.policy[..., None], axis=2)[..., 0]
            assert np.abs(taken - best).max() < 1e-9
            assert np.take_along_axis(allowed, learner.policy[..., None], axis=2).all()
            masked += (np.abs(doubts(learner, mdp, "all") - W) > 1e-6).any()
            lifted += (~safe.any(axis=2)).any()
    assert masked > 20 and lifted > 20, (masked, lifted)


# prop-printed-loop -----------------------------------------------------------------------------


def played(mdp, epsilon, goes_on, most=300):
    learner = st.SRFUCRL(mdp.known, bonus_scale=1e-6)  # so that W̄ does come down
    for k, _ in st.play(learner, mdp):
        if not goes_on(learner.width, epsilon) or k == most:
            return k
    return None


@pytest.mark.parametrize("mdp", [LAB, sharp_world(0), sharp_world(1)])
def test_the_printed_loop_never_begins_or_never_ends(mdp):
    """prop-printed-loop; the corrected test plays some episodes and then stops."""

    def printed(width, epsilon):
        return width <= epsilon / 2

    def corrected(width, epsilon):
        return width > epsilon / 2

    for epsilon in (1e-3, 1.0, 2 * mdp.H - 1e-9):
        assert played(mdp, epsilon, printed) == 0
    for epsilon in (2 * mdp.H, 3 * mdp.H):
        assert played(mdp, epsilon, printed) == 300
        assert played(mdp, epsilon, corrected) == 0
    assert 0 < played(mdp, 2 * mdp.H - 1e-9, corrected) < 300


# prop-lifting ----------------------------------------------------------------------------------


class LiftAsInAlgorithm1(st.SRFUCRL):
    def _look(self):
        super()._look()
        self._allowed |= self.U[:, :, None]


def test_the_lifting_changes_neither_doubts_nor_plans_outside():
    """prop-lifting, on the same data; inside the two rules do differ."""
    rng = np.random.default_rng(0)
    inside = policies = 0
    for seed in SEEDS:
        mdp = sharp_world(seed)
        one, other = st.SRFUCRL(mdp.known, **LOUD), LiftAsInAlgorithm1(mdp.known, **LOUD)
        for _, episode in itertools.islice(st.play(one, mdp, seed, noise=0.3), 250):
            other.plan(np.random.default_rng(seed))
            assert other.W.tobytes() == one.W.tobytes()
            assert (other.U == one.U).all()
            policies += (other.policy != one.policy)[one.U].any()
            if one.transitions.N.any():
                r = rng.random((mdp.H, mdp.S, mdp.A))
                mine, its = one.plan_for(r), other.plan_for(r)
                outside = ~one.U
                assert (mine.V[:-1] == its.V[:-1])[outside].all()
                assert (mine.policy == its.policy)[outside].all()
                inside += (mine.policy != its.policy)[one.U].any()
            other.observe(episode)
    assert inside > 50 and policies > 50, (inside, policies)


# prop-look-at-safe -----------------------------------------------------------------------------


class LooksEverywhere(st.SRFUCRL):
    def plan(self, rng):
        self._look()
        self.W[:] = doubts(self, self.known, "all")
        for h, s in np.ndindex(self.policy.shape):
            allowed = np.flatnonzero(self._allowed[h, s])
            self.policy[h, s] = allowed[self.W[h, s, allowed].argmax()]
        rng.random(self.policy.shape)
        return self.policy


def bounds_on_the_width(learner, mdp):
    """The right-hand sides of the proposition, with the pair (t, b) of each."""
    N, P_hat, safe = learner.transitions.N, learner.transitions.P_hat, learner.safe_actions
    H, S, A = mdp.H, mdp.S, mdp.A
    if learner.U[0, mdp.s1]:
        return
    for a in np.flatnonzero(safe[0, mdp.s1] & (N[0, mdp.s1] > 0)):
        for t in np.flatnonzero(P_hat[0, mdp.s1, a] > 0):
            for b in np.flatnonzero(~safe[1, t]) if not learner.U[1, t] else ():
                n = int(N[1, t, b])
                M = learner.bonus_scale * float(
                    st.bounds.exploration_bonus(n, S, A, H, learner.delta)
                )
                yield (int(t), int(b)), n, P_hat[0, mdp.s1, a, t] * min(H, M)


def test_over_all_actions_the_width_does_not_come_down():
    """prop-look-at-safe, and that SRF-UCRL's own width does fall below its right-hand side."""
    mdp = st.SafeMDP(
        [[[1, 0, 0], [0.1, 0.9, 0]], [[0, 1, 0], [0, 0, 1]], [[0, 0, 1], [0, 0, 1]]],
        np.zeros((3, 2)), c=[0, 0, 1], tau=0.2, H=3,
    )  # fmt: skip
    leasts, frozen = [], {}
    learner = LooksEverywhere(mdp.known, **LOUD)
    for _ in moments(learner, mdp, seed=0, episodes=1000, every=10):
        for pair, n, least in bounds_on_the_width(learner, mdp):
            assert learner.width >= least - 1e-12
            assert frozen.setdefault(pair, n) == n, "a banned action was tried again"
            leasts.append(least)
    assert len(leasts) > 40 and min(leasts) > 0.01
    careful = st.explore(st.SRFUCRL(mdp.known, **LOUD), mdp, 2000, noise=0.3)
    assert careful.width[-1] < min(leasts), "over safe actions it comes down"


# prop-masks-vanish -----------------------------------------------------------------------------


class WithThoseOfRF(st.SRFUCRL):
    _bonus = st.RFUCRL._bonus
    _caps = st.RFUCRL._caps


def calm(mdp):
    P, r = (mdp.P[0], mdp.r[0]) if mdp.stationary else (mdp.P, mdp.r)
    return st.SafeMDP(P, r, mdp.c, 1.0, mdp.H)


@pytest.mark.parametrize("seed", range(4))
def test_without_danger_only_bonus_and_cap_are_different(seed):
    """prop-masks-vanish: no mask, the same bits as RF-UCRL with its two numbers, E below W̄."""
    mdp = calm(sharp_world(seed))
    settings = {"delta": 0.1, "bonus_scale": 0.01}
    rf, between, srf = (
        make(mdp.known, **settings) for make in (st.RFUCRL, WithThoseOfRF, st.SRFUCRL)
    )
    shadow = st.RFUCRL(mdp.known, **settings)  # RF-UCRL's uncertainty of SRF-UCRL's data
    plays = zip(*(st.play(one, mdp, seed) for one in (rf, between, srf)), strict=True)
    lower = 0
    for (_, a), (_, b), (_, c) in itertools.islice(plays, 400):
        assert a.states.tobytes() == b.states.tobytes()
        assert rf.W.tobytes() == between.W.tobytes()
        assert not srf.U.any() and srf.safe_actions.all()
        shadow.plan(np.random.default_rng(0))
        assert (shadow.W <= srf.W + 1e-12).all()
        lower += (srf.W < mdp.H).any()
        shadow.observe(c)
    assert lower > 100


def test_with_danger_the_masks_are_a_difference_too():
    """The hypothesis is needed: in the laboratory the same two learners part ways."""
    runs = [
        st.explore(make(LAB.known, bonus_scale=0.01), LAB, 300, seed=1)
        for make in (st.RFUCRL, WithThoseOfRF)
    ]
    assert (runs[0].violation != runs[1].violation).any()


def test_off_the_event_a_mask_may_appear_without_danger():
    """E_1 is needed: with noise far above what β allows for, a safe state is flagged."""
    mdp = calm(sharp_world(0))
    learner = st.SRFUCRL(mdp.known, **LOUD)
    flagged = [learner.U.any() for _ in moments(learner, mdp, 0, noise=20.0)]
    assert any(flagged)
