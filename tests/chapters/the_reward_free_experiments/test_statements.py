"""The statements of the chapter: what no run can escape, and what one run says of every ε."""

import math

import numpy as np
import pytest

import safeteach as st
from safeteach.bounds import exploration_bonus, exploration_episodes, gamma

SIZES = [(2, 2, 2), (3, 2, 4), (11, 5, 10), (40, 3, 6)]


def random_world(S, A, H, seed, unsafe=True):
    rng = np.random.default_rng(seed)
    P = rng.dirichlet(np.full(S, 0.3), (S, A))
    c = np.where((rng.random(S) < 0.4) & unsafe, 1.0, 0.0)
    c[0] = 0.0
    return st.SafeMDP(P, np.zeros((S, A)), c, 0.2, H)


def floors(learner, k):
    """(H, 1, 1) the least uncertainty that the proposition allows after k episodes."""
    S, A, H = learner.known.S, learner.known.A, learner.known.H
    left = np.arange(H, 0, -1)
    if isinstance(learner, st.RFUCRL):
        rate = math.sqrt(gamma(k, S, A, H, learner.delta) / k)
        least = np.minimum(left, left * (left + 1) / 2 * rate)
    else:
        least = np.minimum(H, left * exploration_bonus(k, S, A, H, learner.delta))
    return least[:, None, None]


@pytest.mark.parametrize(("S", "A", "H"), SIZES)
def test_the_bonus_falls_up_to_large_n(S, A, H):
    for delta in (0.9, 0.1, 1e-9):
        n = np.concatenate([np.arange(1, 20_000), np.geomspace(2e4, 1e12, 400)])
        assert (np.diff(exploration_bonus(n, S, A, H, delta)) < 0).all()


@pytest.mark.parametrize("make", [st.SRFUCRL, st.RFUCRL])
def test_no_uncertainty_is_below_the_floor(make):
    """prop-never-stops; in worlds where the floor is far below the cap and nearly met."""
    tightest = np.inf
    for S, A, H, episodes in [(2, 1, 2, 4000), (2, 2, 3, 6000), (2, 1, 4, 9000), (4, 2, 2, 4000)]:
        for seed in range(2):
            world = random_world(S, A, H, seed)
            learner = make(world.known, delta=0.5)
            for k, _ in st.play(learner, world, seed=seed):
                if k and k % 50 == 0:
                    least = floors(learner, k)
                    assert (learner.W - least).min() >= -1e-9
                    if least.max() < H:
                        tightest = min(tightest, (learner.W / least)[0].min())
                if k == episodes:
                    break
    assert 1 <= tightest + 1e-9 < 1.6  # the test would notice a floor twice as high


@pytest.mark.parametrize("H", [2, 3])
def test_in_a_world_without_choice_the_floor_is_met(H):
    """One action and a ring of states: every visit goes to one pair, so the bound is equality."""
    P = np.eye(2)[[1, 0]][:, None, :]
    world = st.SafeMDP(P, np.zeros((2, 1)), [0, 0], 0.5, H)
    learner = st.SRFUCRL(world.known, delta=0.5)
    for k, _ in st.play(learner, world):
        if k == 5000:
            break
    assert floors(learner, k)[0, 0, 0] < H
    assert learner.W[0, 0, 0] == pytest.approx(floors(learner, k)[0, 0, 0], rel=1e-12)


def test_while_the_bonus_is_at_the_cap_the_policy_is_a_uniform_draw():
    lab = st.instances.laboratory()
    assert exploration_bonus(500, lab.S, lab.A, lab.H, 0.1) >= lab.H
    learner = st.SRFUCRL(lab.known)
    picks = {m: np.zeros(m) for m in range(1, lab.A + 1)}
    for k, _ in st.play(learner, lab, seed=5):
        assert (learner.W == lab.H).all()
        safe = learner.safe_actions
        safe |= ~safe.any(axis=2, keepdims=True)
        for h, s in np.ndindex(lab.H, lab.S):
            allowed = np.flatnonzero(safe[h, s])
            place = np.flatnonzero(allowed == learner.policy[h, s])
            assert place.size == 1
            picks[len(allowed)][place[0]] += 1
        if k == 500:
            break
    counted = {m: n for m, n in picks.items() if m > 1 and n.sum() > 1000}
    assert len(counted) >= 2  # masks are in force in some of the states
    for m, n in counted.items():
        chi2 = ((n - n.mean()) ** 2 / n.mean()).sum()
        assert chi2 < m - 1 + 5 * math.sqrt(2 * (m - 1)) + 5


@pytest.mark.parametrize("epsilon", [3.5, 2.0, 1.0])
def test_exploration_takes_as_long_as_said_and_no_longer_than_proved(epsilon):
    for seed in range(2):
        world = random_world(2, 2, 2, seed)
        learner = st.SRFUCRL(world.known, epsilon=epsilon, delta=0.1)
        K = st.explore(learner, world, seed=seed).episodes
        g = float(gamma(K, 2, 2, 2, 0.1))
        assert 2 * exploration_bonus(K, 2, 2, 2, 0.1) <= epsilon / 2
        floor = 32 * 2**4 * g / epsilon**2
        rough = 64 * 2**4 / epsilon**2 * (math.log(2 * 2 * 2 * 2 / 0.1) + 2 - 1)
        assert rough <= floor <= K <= exploration_episodes(2, 2, 2, epsilon, 0.1)
        assert 20 * floor > K  # not idle: runs come within this factor of it


def test_one_run_answers_for_every_epsilon():
    """prop-one-run: prefixes, and the plans after k episodes are as good as the width says."""
    world = st.SafeMDP(
        [[[1, 0], [0.3, 0.7]], [[0.5, 0.5], [0.5, 0.5]]], np.zeros((2, 2)), [0, 0.55], 0.5, H=2
    )
    long = st.explore(st.SRFUCRL(world.known, epsilon=1.0, delta=0.1), world, seed=3)
    ends = []
    for epsilon in (3.9, 3.0, 1.5, 1.0):
        run = st.explore(st.SRFUCRL(world.known, epsilon=epsilon, delta=0.1), world, seed=3)
        assert run.finished
        assert np.array_equal(run.width, long.width[: run.episodes + 1])
        assert np.array_equal(run.violation, long.violation[: run.episodes])
        assert run.episodes == (long.width <= epsilon / 2).argmax()
        ends.append(run.episodes)
    assert ends == sorted(ends)
    assert ends[0] < ends[-1]


def test_the_width_vouches_for_the_plans_at_any_time():
    world = st.SafeMDP(
        [[[1, 0], [0.05, 0.95]], [[0.5, 0.5], [0.5, 0.5]]], np.zeros((2, 2)), [0, 1], 0.1, H=2
    )
    rewards = (np.arange(256)[:, None] >> np.arange(8) & 1).reshape(-1, 2, 2, 2).astype(float)
    best = [st.safe_optimal(st.SafeMDP(world.P, r, world.c, world.tau, 2)).value for r in rewards]
    paid = []
    for seed in range(3):
        learner = st.SRFUCRL(world.known, epsilon=1.0, delta=0.1)
        for k, _ in st.play(learner, world, seed=seed):
            finished = learner.width <= 0.5
            if finished or k in (10, 100, 3000):
                for r, value in zip(rewards, best, strict=True):
                    here = st.SafeMDP(world.P, r, world.c, world.tau, 2)
                    e = st.evaluate(here, learner.plan_for(r).policy)
                    assert value - e.value <= 2 * learner.width + 1e-12
                    assert e.violation <= learner.width + 1e-12
                    paid.append(e.violation)
            if finished:
                assert learner.width < max(paid)  # so the last plans could break it
                break
    assert max(paid) > 0.8  # early plans walk into the brook and pay more than the last width
