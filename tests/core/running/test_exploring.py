"""Exploring: when it stops, what it reports, and what it refuses."""

import re

import numpy as np
import pytest

import safeteach as st

LABORATORY = st.instances.laboratory()
MAKERS = [st.SRFUCRL, st.RFUCRL]
SMALL = st.SafeMDP(
    [[[1, 0], [0.5, 0.5]], [[1, 0], [1, 0]]], np.zeros((2, 2)), c=[0, 1], tau=0.2, H=2
)


def explored(make, mdp=LABORATORY, settings=None, **how):
    learner = make(mdp.known, **(settings or {}))
    return learner, st.explore(learner, mdp, **how)


@pytest.mark.parametrize("make", MAKERS)
def test_the_same_seed_gives_the_same_bits_and_another_seed_others(make):
    runs = [
        explored(make, settings={"bonus_scale": 0.001}, episodes=300, seed=seed, watch=LABORATORY.r)
        for seed in (3, 3, 4)
    ]
    for part in ("width", "violation", "planned"):
        one, same, other = (getattr(run, part).tobytes() for _, run in runs)
        assert one == same != other
    one, same, _ = (learner for learner, _ in runs)
    assert one.W.tobytes() == same.W.tobytes() and one.policy.tobytes() == same.policy.tobytes()


@pytest.mark.parametrize("make", MAKERS)
def test_watching_changes_nothing(make):
    learner, plain = explored(make, episodes=120)
    other, watched = explored(make, episodes=120, watch=np.full((11, 5), 0.3))
    assert plain.planned is None and watched.planned.shape == (120, 2)
    assert plain.width.tobytes() == watched.width.tobytes()
    assert plain.violation.tobytes() == watched.violation.tobytes()
    assert learner.transitions.N.tobytes() == other.transitions.N.tobytes()


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("seed", range(3))
def test_a_smaller_epsilon_stops_no_sooner_and_comes_by_the_same_way(make, seed):
    runs = {
        epsilon: explored(make, SMALL, {"epsilon": epsilon, "bonus_scale": 0.1}, seed=seed)[1]
        for epsilon in (3.9, 2.0, 1.0, 0.5)
    }
    lengths = [run.episodes for run in runs.values()]
    assert lengths == sorted(set(lengths))
    last = runs[0.5]
    for epsilon, run in runs.items():
        k = run.episodes
        assert run.finished and run.width.shape == (k + 1,) and run.violation.shape == (k,)
        assert (run.width[:-1] > epsilon / 2).all() and run.width[-1] <= epsilon / 2
        assert run.width.tobytes() == last.width[: k + 1].tobytes()
        assert run.violation.tobytes() == last.violation[:k].tobytes()


def test_enough_from_the_start_is_no_exploration_at_all():
    learner, run = explored(st.SRFUCRL, SMALL, {"epsilon": 4.0})
    assert run.episodes == 0 and run.finished and run.width.tolist() == [2.0]
    assert run.violation.shape == (0,)
    with pytest.raises(ValueError, match=r"^nothing has been explored yet"):
        learner.plan_for(SMALL.r)
    watched = st.explore(st.SRFUCRL(SMALL.known, epsilon=4.0), SMALL, watch=SMALL.r)
    assert watched.planned.shape == (0, 2)


def test_a_number_of_episodes_ends_it_too():
    settings = {"epsilon": 0.5, "bonus_scale": 0.1}
    K = explored(st.SRFUCRL, SMALL, settings)[1].episodes
    assert K > 300  # more than one block of random numbers
    for episodes, finished in ((1, False), (255, False), (256, False), (257, False), (K - 1, False),
                               (K, True), (K + 1, True)):  # fmt: skip
        learner, run = explored(st.SRFUCRL, SMALL, settings, episodes=episodes)
        k = min(episodes, K)
        assert run.finished == finished and run.episodes == k
        assert run.width.shape == (k + finished,) and run.violation.shape == (k,)
        assert learner.transitions.N[0].sum() == k
    _, run = explored(st.SRFUCRL, SMALL, episodes=7)
    assert not run.finished and run.episodes == 7 and run.width.shape == (7,)


def test_the_width_and_the_violation_are_those_of_the_episodes():
    mdp = st.instances.laboratory(H=4)
    settings = {"bonus_scale": 1e-4}
    _, run = explored(st.SRFUCRL, mdp, settings, episodes=200, seed=5, noise=0.3)
    learner = st.SRFUCRL(mdp.known, **settings)
    over = np.maximum(mdp.c - mdp.tau, 0)
    for k, episode in st.play(learner, mdp, seed=5, noise=0.3):
        if k == 200:
            break
        assert run.width[k] == learner.W[0, 0].max(where=learner.safe_actions[0, 0], initial=0)
        assert abs(run.violation[k] - over[episode.states[:-1]].sum()) < 1e-12
    assert run.violation.sum() > 10 and run.width.min() < 4


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("stationary", [True, False])
def test_what_is_watched_is_the_plan_evaluated(make, stationary):
    mdp = st.instances.random_mdp(6, 3, 5, seed=0, unsafe=0.4, stationary=stationary)
    P = mdp.P[0] if stationary else mdp.P
    watch = np.random.default_rng(8).random((5, 6, 3))  # not the reward of the world
    judged = st.SafeMDP(P, watch, mdp.c, mdp.tau, mdp.H)
    _, run = explored(make, mdp, episodes=60, seed=2, noise=0.1, watch=watch)
    learner = make(mdp.known)
    seen = []
    for k, _ in st.play(learner, mdp, seed=2, noise=0.1):
        if k > 0:
            e = st.evaluate(judged, learner.plan_for(watch).policy)
            seen.append((e.value, e.violation))
        if k == 60:
            break
    assert np.abs(run.planned - seen).max() < 1e-12
    assert len(np.unique(run.planned, axis=0)) > 5


def test_a_reward_of_one_step_is_that_of_all_steps():
    r = np.random.default_rng(1).random((11, 5))
    one, all_ = (
        explored(st.SRFUCRL, episodes=40, watch=watch)[1].planned
        for watch in (r, np.broadcast_to(r, (10, 11, 5)))
    )
    assert one.tobytes() == all_.tobytes()


def test_neither_epsilon_nor_episodes_is_refused():
    learner = st.SRFUCRL(LABORATORY.known)
    with pytest.raises(ValueError, match=r"^give the learner an epsilon, or explore a number"):
        st.explore(learner, LABORATORY)
    assert st.explore(learner, LABORATORY, 2).episodes == 2  # it is still new


@pytest.mark.parametrize(
    ("how", "error", "message"),
    [
        ({"episodes": 0}, ValueError, "episodes is 0; it must be at least 1"),
        ({"episodes": -1}, ValueError, "episodes is -1; it must be at least 1"),
        ({"episodes": 2.5}, TypeError, "episodes is 2.5; expected a whole number"),
        ({"episodes": True}, TypeError, "episodes is True; expected a whole number"),
        ({"noise": -1.0}, ValueError, "noise is -1.0; expected a number in [0, inf)"),
        ({"noise": float("nan")}, ValueError, "noise is nan; expected a number in [0, inf)"),
        ({"watch": np.zeros((5, 11))}, ValueError, "watch: r has shape (5, 11); expected"),
        ({"watch": np.full((11, 5), np.nan)}, ValueError, "watch: r[0, 0] is nan; it must lie in"),
        ({"watch": np.full((11, 5), 2.0)}, ValueError, "watch: r[0, 0] is 2.0; it must lie in"),
    ],
)
def test_what_makes_no_sense_is_refused_and_the_learner_stays_new(how, error, message):
    learner = st.SRFUCRL(LABORATORY.known)
    with pytest.raises(error, match=f"^{re.escape(message)}"):
        st.explore(learner, LABORATORY, **({"episodes": 5} | how))
    assert st.explore(learner, LABORATORY, 5).episodes == 5


def test_a_learner_explores_once():
    learner, _ = explored(st.SRFUCRL, episodes=5)
    with pytest.raises(ValueError, match=r"^this learner has run before; build"):
        st.explore(learner, LABORATORY, 5)


@pytest.mark.parametrize(
    ("world", "message"),
    [
        (st.instances.laboratory(H=9), "the learner was built for a world with H = 10; this one"),
        (SMALL, "the learner was built for a world with S = 11; this one has 2"),
    ],
)
def test_another_world_than_the_one_it_was_built_for_is_refused(world, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        st.explore(st.SRFUCRL(LABORATORY.known), world, 5)


def test_the_same_world_with_another_reward_is_the_same_world():
    r = np.random.default_rng(0).random((11, 5))
    other = st.SafeMDP(LABORATORY.P[0], r, LABORATORY.c, LABORATORY.tau, LABORATORY.H)
    one, two = (
        explored(st.SRFUCRL, mdp, episodes=50)[0].transitions.N for mdp in (LABORATORY, other)
    )
    assert one.tobytes() == two.tobytes()


def test_who_has_no_number_of_episodes_is_sent_to_explore():
    mdp = st.instances.ice_corridor()
    with pytest.raises(ValueError, match=r"no number of episodes; let it explore\(learner, mdp\)"):
        st.run(st.SRFUCRL(mdp.known), mdp)


def test_a_learner_of_one_reward_is_told_to_run():
    with pytest.raises(ValueError, match=r"^SUCBVI plans for one reward; explore takes a learner"):
        st.explore(st.SUCBVI(LABORATORY.known, episodes=5), LABORATORY, 5)
