"""SRF-UCRL and RF-UCRL: against a plain one, each other, and the plan of one who knows all."""

import importlib
import re
from types import SimpleNamespace

import numpy as np
import pytest
from looping import each
from oracles.omniscient import teach, world_in_eighths
from oracles.plain_arrays import masks

import safeteach as st
from safeteach.chapters.srf_ucrl import plain
from safeteach.chapters.the_algorithm.plain import looks_safe
from safeteach.chapters.the_problem_and_rf_ucrl import plain as plain_rf
from safeteach.worlds.known import Episode

LOUD = {"delta": 0.5, "bonus_scale": 0.001}  # few visits flag, and W̄ comes off its cap
LABORATORY = st.instances.laboratory()


def sharp(mdp):
    """The same world with costs 0 and 1 and a threshold near 0: danger is noticed in 20 visits."""
    P, r = (mdp.P[0], mdp.r[0]) if mdp.stationary else (mdp.P, mdp.r)
    return st.SafeMDP(P, r, mdp.unsafe.astype(float), 0.05, mdp.H, mdp.s1)


def without_rewards(known):
    """What is known of a world, where nobody may ask for the rewards."""

    class Known(SimpleNamespace):
        @property
        def r(self):
            raise AssertionError("a reward-free learner asked for the rewards")

    return Known(**{name: getattr(known, name) for name in ("S", "A", "H", "tau", "s1")})


class WithThoseOfRF(st.SRFUCRL):
    """SRF-UCRL with RF-UCRL's bonus and cap."""

    _bonus = st.RFUCRL._bonus
    _caps = st.RFUCRL._caps


def compare_with_plain(mdp, episodes, seed, noise):
    """Side by side; episodes with a flag, a doom, a mask, and W̄ below its cap for a safe pair."""
    learner = st.SRFUCRL(mdp.known, **LOUD)
    delta, scale = LOUD.values()
    by_hand = plain.by_hand(mdp, episodes, seed, scale, delta, noise=noise)
    met = np.zeros(4, int)
    for mine, (k, episode) in zip(by_hand, st.play(learner, mdp, seed, noise), strict=False):
        U, safe = masks(looks_safe, mine.seen, mdp.known, mine.U)
        assert np.abs(learner.W - mine.W).max() < 1e-9, k
        assert (learner.U == U).all() and (learner.flagged == U[-1]).all(), k
        assert (learner.safe_actions == safe).all(), k
        assert (learner.policy == mine.policy).all(), k
        assert learner.width == learner.W[0, mdp.s1, learner.policy[0, mdp.s1]]
        assert learner.width == pytest.approx(mine.width, abs=1e-9)
        for part in ("states", "actions", "costs"):
            assert (getattr(episode, part) == getattr(mine.episode, part)).all(), k
        if k > 0:
            V = plain.plan_by_hand(mine.seen, mdp.known, mine.U, mdp.r)
            assert np.abs(learner.plan_for(mdp.r).V - V).max() < 1e-9, k
        masked = ~U & ~safe.all(axis=2)
        met += U[-1].any(), (U & ~U[-1]).any(), masked.any(), (mine.W[masked] < mdp.H).any()
    assert k == episodes - 1
    return met


@pytest.mark.parametrize("world", ["stationary", "step-dependent", "laboratory"])
def test_it_equals_a_plain_one_in_every_episode(world):
    if world == "laboratory":
        met = compare_with_plain(LABORATORY, 120, seed=1, noise=0.3)
    else:
        mdp = st.instances.random_mdp(5, 3, 4, 0, unsafe=0.3, stationary=world == "stationary")
        met = compare_with_plain(sharp(mdp), 150, seed=0, noise=0.3)
    assert (met > 20).all(), met  # all that can be compared was there


@pytest.mark.slow
@each("seed", range(12))
def test_it_equals_a_plain_one_in_many_worlds(seed):
    mdp = st.instances.random_mdp(4, 3, 1 + seed % 5, seed, unsafe=0.3, stationary=seed % 2 == 0)
    compare_with_plain(sharp(mdp), 100, seed, noise=0.1)


def test_a_plain_one_stops_when_it_stops():
    mdp = sharp(st.instances.random_mdp(3, 2, 2, 1, unsafe=0.3))
    learner = st.SRFUCRL(mdp.known, epsilon=1.0, **LOUD)
    stopped = st.explore(learner, mdp, seed=1).episodes
    delta, scale = LOUD.values()
    by_hand = plain.by_hand(mdp, 10 * stopped, 1, scale, delta, epsilon=1.0)
    assert sum(1 for _ in by_hand) == stopped > 5


@pytest.mark.parametrize("stationary", [True, False])
def test_rf_ucrl_equals_a_plain_one_in_every_episode(stationary):
    mdp = st.instances.random_mdp(5, 3, 4, 0, stationary=stationary)
    learner = st.RFUCRL(mdp.known, bonus_scale=0.02)
    plays = plain_rf.by_hand(mdp, seed=2, scale=0.02), st.play(learner, mdp, seed=2)
    for mine, (k, episode) in zip(*plays, strict=True):
        assert np.abs(learner.W - mine.E).max() < 1e-9, k
        assert (learner.policy == mine.policy).all(), k
        for part in ("states", "actions"):
            assert (getattr(episode, part) == getattr(mine.episode, part)).all(), k
        if k == 150:
            break
    assert ((learner.cap > learner.W.T) & (learner.transitions.N.T > 0)).mean() > 0.5


@pytest.mark.parametrize("stationary", [True, False])
def test_where_nothing_is_unsafe_it_differs_from_rf_ucrl_by_bonus_and_cap_alone(stationary):
    mdp = st.instances.random_mdp(5, 3, 4, seed=1, unsafe=0.5, stationary=stationary)
    P, r = (mdp.P[0], mdp.r[0]) if stationary else (mdp.P, mdp.r)
    harmless = st.SafeMDP(P, r, mdp.c, tau=1.0, H=4)
    how = {"delta": 0.1, "bonus_scale": 0.02}
    makers = {"srf": st.SRFUCRL, "rf": st.RFUCRL, "between": WithThoseOfRF}
    learners = {name: make(harmless.known, **how) for name, make in makers.items()}
    plays = (st.play(learner, harmless, seed=5) for learner in learners.values())
    same = set()
    for (k, srf), (_, rf), (_, between) in zip(*plays, strict=True):
        if k == 600:
            break
        assert learners["rf"].policy.tobytes() == learners["between"].policy.tobytes()
        assert learners["rf"].W.tobytes() == learners["between"].W.tobytes()
        assert rf.states.tobytes() == between.states.tobytes()
        assert not learners["srf"].U.any() and learners["srf"].safe_actions.all()
        same.add(bool((srf.states == rf.states).all()))
    assert same == {True, False}
    one, other = (learners[name].plan_for(r) for name in ("rf", "between"))
    assert one.policy.tobytes() == other.policy.tobytes() and one.value == other.value
    N = learners["rf"].transitions.N
    assert (learners["rf"].W[N > 5] < learners["rf"].W.max()).any()


def test_where_something_is_unsafe_bonus_and_cap_are_not_the_only_difference():
    learners = [make(LABORATORY.known) for make in (st.RFUCRL, WithThoseOfRF)]
    rf, between = (st.explore(learner, LABORATORY, 400, noise=0.1) for learner in learners)
    first = int(np.argmax(rf.violation != between.violation))
    assert 10 < first < 300 and (rf.violation[:first] == between.violation[:first]).all()
    assert between.violation[-100:].sum() < rf.violation[-100:].sum() / 10


def test_the_cap_and_the_bonus_are_those_of_the_two_papers():
    S, A, H, delta = LABORATORY.S, LABORATORY.A, LABORATORY.H, 0.2
    srf, rf = (make(LABORATORY.known, delta=delta) for make in (st.SRFUCRL, st.RFUCRL))
    assert (srf.W == H).all() and (np.arange(H, 0, -1) == rf.W.T).all()
    waiting = Episode(np.zeros(H + 1, int), np.full(H, 4), np.zeros(H), np.zeros(H))
    for n in range(1, 41):
        for learner in (srf, rf):
            learner.observe(waiting)
        bonus = srf.bonus.reshape(H, S, A)
        M = float(st.bounds.exploration_bonus(n, S, A, H, delta))
        assert np.allclose(bonus[:, 0, 4], M, rtol=1e-12, atol=0)
        half = np.log(2 * S * A * H / delta) + (S - 1) * np.log(np.e * (1 + n / (S - 1)))
        expected = np.arange(H, 0, -1) * np.sqrt(2 * half / n)
        assert np.allclose(rf.bonus.reshape(H, S, A)[:, 0, 4], expected, rtol=1e-12, atol=0)
        assert np.isinf(bonus).sum() == H * S * A - H


@pytest.mark.parametrize("stationary", [True, False])
def test_with_the_true_model_its_plan_is_the_best_safe_one(stationary):
    """For the world's reward and for others: the model is learnt once and planned in often."""
    feasible = lifted = 0
    for seed in range(60):
        mdp = world_in_eighths(seed, stationary=stationary)
        learner = teach(st.SRFUCRL(without_rewards(mdp.known)), mdp)
        rng = np.random.default_rng(seed)
        P = mdp.P[0] if stationary else mdp.P
        for r in (mdp.r, rng.random((mdp.H, mdp.S, mdp.A)), rng.random((mdp.S, mdp.A)).round()):
            plan = learner.plan_for(r)
            assert (st.potentially_unsafe(mdp) == learner.U).all()
            assert (learner.safe_actions == st.safe_actions(mdp)).all()
            world = st.SafeMDP(P, r, mdp.c, mdp.tau, mdp.H)
            if not st.is_feasible(world):
                continue
            best = st.safe_optimal(world)
            safe = ~learner.U  # elsewhere the two lift masks by different rules
            assert np.abs(plan.V[:-1] - best.V[:-1])[safe].max() < 1e-12
            assert (plan.policy == best.policy)[safe].all()
            assert plan.value == pytest.approx(best.value, abs=1e-12)
            e = st.evaluate(world, plan.policy)
            assert abs(e.value - best.value) < 1e-12 and e.unsafe_probability == 0
            feasible += learner.U[0].any()
            lifted += (learner.U & learner.safe_actions.any(axis=2)).any()
    assert feasible > 10 and lifted > 10


def test_without_costs_the_plan_of_the_true_model_is_the_unconstrained_one():
    for seed in range(10):
        mdp = world_in_eighths(seed)
        plan = teach(st.RFUCRL(without_rewards(mdp.known)), mdp).plan_for(mdp.r)
        best = st.optimal(mdp)
        assert np.abs(plan.Q - best.Q).max() < 1e-12 and (plan.policy == best.policy).all()


def test_the_mask_is_lifted_only_where_no_safe_action_is_left():
    """In a flagged state with a way out Algorithm 1 allows everything and Algorithm 2 the way out.

    From the flagged state 1, action 0 leads to the safe 0 and action 1 stays; at the last step
    all is allowed.  Rewards and uncertainty both favour action 1.
    """
    P = np.zeros((2, 2, 2))
    P[0, 0, 0] = P[0, 1, 1] = P[1, 0, 0] = P[1, 1, 1] = 1
    mdp = st.SafeMDP(P, [[0, 0], [0, 1]], [0, 1], 0.5, H=3)
    srf = teach(st.SRFUCRL(mdp.known), mdp)
    sucbvi = teach(st.SUCBVI(mdp.known, episodes=1, bonus_scale=0.0), mdp)
    for learner in (srf, sucbvi):
        learner.plan(np.random.default_rng(0))
        assert learner.U.tolist() == [[False, True]] * 3
        assert learner.safe_actions[:2, 1].tolist() == [[True, False]] * 2
    assert (sucbvi.policy[:, 1] == 1).all()
    assert srf.policy[:2, 1].tolist() == [0, 0]
    assert srf.plan_for(mdp.r).policy[:, 1].tolist() == [0, 0, 1]
    assert st.safe_optimal(mdp).policy[:, 1].tolist() == [1, 1, 1]  # Algorithm 1's rule

    P[1, 0] = [0, 1]  # no way out: now both lift it
    closed = st.SafeMDP(P, [[0, 0], [0, 1]], [0, 1], 0.5, H=3)
    srf = teach(st.SRFUCRL(closed.known), closed)
    assert (srf.plan_for(closed.r).policy[:, 1] == 1).all()


def test_an_unsafe_pair_looks_at_all_actions_and_a_safe_one_at_the_safe_ones():
    """Eq. (defW) and the sentence below it, on three states by hand.

    At step 2 in state 1 action 0 stays there and is well known, action 1 leads to the unsafe
    state 2 and was tried twice.  From state 0 at step 1, action 0 leads to state 1.  It looks
    ahead to action 0 alone while it is safe, and to both once state 1 is flagged too.
    """
    known = SimpleNamespace(S=3, A=2, H=3, tau=0.5, s1=0)
    W = {}
    for flagged in ((2,), (1, 2)):
        learner = st.SRFUCRL(known, bonus_scale=0.003)
        for times, second, then in ((200, 0, 1), (1, 1, 2)):
            for last in (0, 1) * times:
                states, actions = np.array([0, 1, then, then]), np.array([0, second, last])
                learner.observe(Episode(states, actions, np.zeros(3), np.zeros(3)))
        learner.costs.N[list(flagged)], learner.costs.mean[list(flagged)] = 10**8, 1.0
        learner.plan(np.random.default_rng(0))
        W[flagged] = learner.W
        assert learner.safe_actions[1, 1].tolist() == [1 not in flagged, False]
    small, large = W[2,][1, 1]
    assert small < large < 3
    bonus = learner.bonus.reshape(3, 3, 2)[0, 0, 0]
    assert W[2,][0, 0, 0] == bonus + small
    assert W[1, 2][0, 0, 0] == bonus + W[1, 2][1, 1].max() > W[2,][0, 0, 0]


def test_it_never_reads_the_rewards():
    for make in (st.SRFUCRL, st.RFUCRL):
        blind = make(without_rewards(LABORATORY.known), bonus_scale=0.001)
        told = make(LABORATORY.known, bonus_scale=0.001)
        one, other = (st.explore(x, LABORATORY, 60, watch=LABORATORY.r) for x in (blind, told))
        assert one.planned.tobytes() == other.planned.tobytes()


def test_the_rewards_that_an_episode_brings_change_nothing():
    player, learner = (st.SRFUCRL(LABORATORY.known, bonus_scale=0.001) for _ in range(2))
    ties = np.random.default_rng(np.random.SeedSequence(2).spawn(4)[3])
    for k, episode in st.play(player, LABORATORY, seed=2):
        assert learner.plan(ties).tobytes() == player.policy.tobytes()
        assert learner.W.tobytes() == player.W.tobytes()
        nothing = np.full(LABORATORY.H, np.nan)
        learner.observe(Episode(episode.states, episode.actions, nothing, episode.costs))
        if k == 80:
            break
    assert (learner.W < LABORATORY.H).any()


def test_any_number_of_rewards_and_the_learner_is_as_before():
    learner, other = (st.SRFUCRL(LABORATORY.known) for _ in range(2))
    for one in (learner, other):
        st.explore(one, LABORATORY, 200)
    rng = np.random.default_rng(0)
    rewards = [rng.random((10, 11, 5)) for _ in range(20)]
    first = [learner.plan_for(r).value for r in rewards]
    assert first == [learner.plan_for(r).value for r in rewards]
    assert len(set(first)) == 20
    for one in (learner, other):
        one.plan(np.random.default_rng(3))
    assert learner.W.tobytes() == other.W.tobytes() and (learner.policy == other.policy).all()


def test_a_plan_goes_where_it_has_been():
    """An action that was never tried is not chosen where one that looks safe was."""
    learner = st.SRFUCRL(LABORATORY.known)
    st.explore(learner, LABORATORY, 150, noise=0.1)
    plan = learner.plan_for(np.zeros((11, 5)))
    tried = learner.transitions.N > 0
    some = (tried & learner.safe_actions).any(axis=2) & ~learner.U
    chosen = np.take_along_axis(tried, plan.policy[..., None], axis=2)[..., 0]
    assert some.any() and not some.all() and chosen[some].all()
    ones = learner.plan_for(np.ones((11, 5)))
    assert (plan.V == 0).all() and (ones.V[:-1][~tried.any(axis=2)] == 0).all()


def test_after_500_episodes_the_laboratory_is_safe_for_those_who_look_at_costs():
    best, free = st.safe_optimal(LABORATORY).value, st.optimal(LABORATORY).value
    assert free > best + 3
    ends = {}
    for make in (st.SRFUCRL, st.RFUCRL):
        learners = [make(LABORATORY.known) for _ in range(5)]
        for seed, learner in enumerate(learners):
            st.explore(learner, LABORATORY, 500, seed)
        ends[make] = [
            st.evaluate(LABORATORY, learner.plan_for(LABORATORY.r).policy) for learner in learners
        ]
    assert all(e.violation < 0.01 and abs(e.value - best) < 0.05 for e in ends[st.SRFUCRL])
    assert all(e.violation > 1.5 and abs(e.value - free) < 0.05 for e in ends[st.RFUCRL])


@pytest.mark.parametrize("name", ["SRFUCRL", "RFUCRL"])
def test_compiled_and_plain_kernels_give_the_same_bits(name, monkeypatch):
    mdp = st.instances.random_mdp(20, 2, 4, seed=4, successors=20, unsafe=0.4, stationary=False)

    def explored():
        learner = getattr(st, name)(mdp.known, bonus_scale=0.003)
        return st.explore(learner, mdp, 120, seed=3, noise=0.2, watch=mdp.r), learner

    fast, fast_learner = explored()
    plain = 0
    for module in ("running.playing", "running.exploring", "learners.model", "learners.sucbvi",
                   "learners.srf_ucrl"):  # fmt: skip
        module = importlib.import_module(f"safeteach.{module}")
        for attribute, value in vars(module).copy().items():
            if hasattr(value, "py_func"):
                monkeypatch.setattr(module, attribute, value.py_func)
                plain += 1
    assert plain >= 9
    slow, slow_learner = explored()
    for part in ("width", "violation", "planned"):
        assert getattr(fast, part).tobytes() == getattr(slow, part).tobytes(), part
    for part in ("W", "U", "bonus", "policy"):
        one, other = (getattr(x, part) for x in (fast_learner, slow_learner))
        assert one.tobytes() == other.tobytes(), part
    assert (fast_learner.W < 4).any()


@pytest.mark.parametrize("make", [st.SRFUCRL, st.RFUCRL])
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"epsilon": 0}, "epsilon is 0; expected a number in (0, inf)"),
        ({"epsilon": -1.0}, "epsilon is -1.0; expected a number in (0, inf)"),
        ({"epsilon": float("nan")}, "epsilon is nan; expected a number in (0, inf)"),
        ({"epsilon": float("inf")}, "epsilon is inf; expected a number in (0, inf)"),
        ({"delta": 0.0}, "delta is 0.0; expected a number in (0, 1)"),
        ({"delta": 1}, "delta is 1; expected a number in (0, 1)"),
        ({"delta": -0.1}, "delta is -0.1; expected a number in (0, 1)"),
        ({"delta": float("nan")}, "delta is nan; expected a number in (0, 1)"),
        ({"bonus_scale": -1}, "bonus_scale is -1; expected a number in [0, inf)"),
    ],
)
def test_settings_that_make_no_sense_are_refused(make, settings, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        make(LABORATORY.known, **settings)


@pytest.mark.parametrize(
    ("r", "message"),
    [
        (np.zeros((5, 11)), "r has shape (5, 11); expected (S, A) = (11, 5) or (H, S, A) = "),
        (np.zeros((9, 11, 5)), "r has shape (9, 11, 5); expected (S, A) = (11, 5) or (H, S, A) = "),
        (np.zeros(55), "r has shape (55,); expected (S, A) = (11, 5) or (H, S, A) = (10, 11, 5)"),
        (1.0, "r has shape (); expected"),
        (np.full((11, 5), 1.5), "r[0, 0] is 1.5; it must lie in [0, 1]"),
        (np.eye(11, 5) - 0.5, "r[0, 1] is -0.5; it must lie in [0, 1]"),
        (np.where(np.eye(11, 5) > 0, np.nan, 0), "r[0, 0] is nan; it must lie in [0, 1]"),
        ([[1, 2], [3]], "r is not a rectangular array of numbers"),
        ("reward", "r is not a rectangular array of numbers"),
        (None, "r "),
    ],
)
def test_a_reward_that_makes_no_sense_is_refused(r, message):
    learner = st.SRFUCRL(LABORATORY.known)
    st.explore(learner, LABORATORY, 3)
    with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
        learner.plan_for(r)


def test_nothing_can_be_planned_before_something_was_explored():
    with pytest.raises(ValueError, match=r"^nothing has been explored yet: call explore"):
        st.SRFUCRL(LABORATORY.known).plan_for(LABORATORY.r)
