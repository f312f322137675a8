"""Worlds from tables of Gymnasium: what they say is what the raw tables say."""

import copy
import pickle
import re
import sys
from types import SimpleNamespace

import gymnasium as gym
import numpy as np
import pytest
from looping import each
from oracles.raw_tables import best_safe, follow, never

import safeteach as st

LAKES = [(name, slips) for name in ("4x4", "8x8") for slips in (False, True)]


def lake(name, slips):
    return gym.make("FrozenLake-v1", map_name=name, is_slippery=slips)


def holes(env):
    return {s for s, cell in enumerate(env.unwrapped.desc.ravel()) if cell == b"H"}


def fell(_s, _a, _t, reward):
    return reward == -100


def table(P, starts=(1.0,), **more):
    """An environment that is only its table."""
    starts = np.append(starts, np.zeros(max(0, len(P) - len(starts))))
    return SimpleNamespace(P=P, initial_state_distrib=starts, **more)


def agree(env, H, world, bad=(), fall=never):
    feasible, value = best_safe(env, H, bad, fall)
    assert st.is_feasible(world) == feasible
    if feasible:
        found = world.outside(st.safe_optimal(world).value)
        assert found == pytest.approx(value, abs=1e-9)
    return feasible


@pytest.mark.parametrize(("name", "slips"), LAKES)
@pytest.mark.parametrize("H", [1, 2, 7, 20, 60])
def test_a_frozen_lake_is_as_its_raw_table_says(name, slips, H):
    env = lake(name, slips)
    assert agree(env, H, st.from_gymnasium(env, "H", H), holes(env))


def fewest_falls(env, n, episodes, seed):
    """How many of these episodes of n steps, by a safe plan for one more, meet a hole."""
    world = st.from_gymnasium(env, "H", H=n + 1)
    policy, bad, raw = st.safe_optimal(world).policy.tolist(), holes(env), env.unwrapped
    raw.reset(seed=seed)
    falls = steps = 0
    for _ in range(episodes):
        s, _ = raw.reset()
        for i in range(n):
            s, _, ends, _, _ = raw.step(policy[i][s])
            steps += 1
            if ends:
                break
        falls += s in bad
    return falls, steps


@pytest.mark.parametrize(("name", "slips"), LAKES)
def test_a_safe_plan_never_falls_in_the_real_environment(name, slips):
    falls, steps = fewest_falls(lake(name, slips), 20, 500, seed=1)
    assert falls == 0 and steps > 500


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "slips"), LAKES)
def test_a_safe_plan_never_falls_in_a_hundred_thousand_episodes(name, slips):
    assert fewest_falls(lake(name, slips), 30, 100_000, seed=2)[0] == 0


def test_what_is_not_safe_does_fall_there():
    env = lake("4x4", True)
    world = st.from_gymnasium(env, "H", H=21)
    risk = st.evaluate(world, st.optimal(world).policy).unsafe_probability
    assert risk > 0.3


@pytest.mark.parametrize("slips", [False, True])
@pytest.mark.parametrize("H", [1, 5, 14, 30])
def test_a_cliff_is_as_its_raw_table_says(slips, H):
    env = gym.make("CliffWalking-v1", is_slippery=slips)
    world = st.from_gymnasium(env, fell, H)
    assert agree(env, H, world, fall=fell)
    assert (world.S, world.low, world.high) == (49, -100.0, 0.0)
    assert world.unsafe.nonzero()[0].tolist() == [48] and world.stands_for[48] == 36
    np.testing.assert_array_equal(world.P[0, 48], world.P[0, 36])  # the same onward moves
    np.testing.assert_array_equal(world.r[0, 48], world.r[0, 36])


def test_a_taxi_starts_anywhere_in_one_more_step():
    env = gym.make("Taxi-v4")
    world = st.from_gymnasium(env, [], H=18)
    assert agree(env, 18, world)
    assert (world.S, world.H, world.s1, world.state_name(500)) == (501, 19, 500, "start")
    assert world.stands_for.tolist() == [*range(500), -1]
    np.testing.assert_array_equal(world.P[0, 500, 3, :500], env.unwrapped.initial_state_distrib)


def test_a_taxi_may_be_told_where_not_to_drive():
    env = gym.make("Taxi-v4")
    place = [tuple(env.unwrapped.decode(s))[:2] for s in range(500)]

    def enters(s, _a, t, _reward):
        return place[t] == (2, 1) != place[s]

    world = st.from_gymnasium(env, enters, H=18)
    assert agree(env, 18, world, fall=enters)
    assert 0 < world.unsafe.sum() <= 20
    there = [s for s in range(500) if place[s] == (2, 1)]
    assert not agree(env, 18, st.from_gymnasium(env, there, H=18), set(there)), "it may start there"


def random_table(seed):
    """Any table: outcomes twice, probability 0, ends in states that others pass through."""
    rng = np.random.default_rng(seed)
    S, A = rng.integers(2, 6), rng.integers(1, 4)
    ends = rng.choice([0.0, 0.2, 0.6])
    P = {}
    for s in range(S):
        P[s] = {}
        for a in range(A):
            n = rng.integers(1, 4)
            p = rng.dirichlet(np.ones(n))
            outcomes = [
                (float(x), int(rng.integers(S)), float(rng.integers(-3, 4)), rng.random() < ends)
                for x in p
            ]
            P[s][a] = [*outcomes, (0.0, 0, 99.0, False)]
    starts = rng.multinomial(rng.integers(1, 3), np.full(S, 1 / S))
    return table(P, starts / starts.sum()), rng


def random_danger(env, rng):
    S = len(env.P)
    if rng.random() < 0.5:
        return set(np.flatnonzero(rng.random(S) < 0.2).tolist()), never
    chosen = {(int(rng.integers(S)), int(rng.integers(S))) for _ in range(2)}
    return set(), lambda s, _a, t, _reward: (s, t) in chosen


def on_random_tables(seed):
    env, rng = random_table(seed)
    bad, fall = random_danger(env, rng)
    H = int(rng.integers(1, 7))
    world = st.from_gymnasium(env, fall if fall is not never else bad, H)
    agree(env, H, world, bad, fall)
    # a plan outside, and the same here: an added state does as the one that it stands for
    plan = rng.integers(world.A, size=(H, len(env.P)))
    later = world.H - H
    policy = np.zeros((world.H, world.S), int)
    policy[later:] = plan[:, world.stands_for]
    value, steps = follow(env, H, lambda s, h: plan[h - 1, s], bad, fall)
    found = st.evaluate(world, policy)
    assert world.outside(found.value) == pytest.approx(value, abs=1e-9)
    assert found.violation == pytest.approx(0.5 * steps, abs=1e-9)


@each("seed", range(150))
def test_any_table_is_as_it_says(seed):
    on_random_tables(seed)


@pytest.mark.thorough
@each("seed", range(150, 5000))
def test_many_more_tables_are_as_they_say(seed):
    on_random_tables(seed)


def test_an_end_that_is_also_passed_through_is_a_state_of_its_own():
    P = {0: {0: [(0.5, 1, 1, True), (0.5, 1, 1, False)]}, 1: {0: [(1.0, 0, 1, False)]}}
    world = st.from_gymnasium(table(P), [1], H=9)
    assert [world.state_name(s) for s in range(world.S)] == ["0", "1", "1, over"]
    assert world.c.tolist() == [0, 1, 1] and world.successors(1, 2, 0).tolist() == [2]


def test_what_has_probability_0_is_not_there():
    P = {0: {0: [(1.0, 1, 1, True), (0.0, 1, 9, False)]}, 1: {0: [(1.0, 0, 1, False)]}}
    world = st.from_gymnasium(table(P), lambda _s, _a, _t, reward: reward == 9, H=9)
    assert (world.S, world.unsafe.any(), world.high) == (2, False, 1)


def test_a_table_needs_no_scipy(monkeypatch):
    expected = st.from_gymnasium(lake("4x4", True), "H", H=5)
    monkeypatch.setitem(sys.modules, "scipy.sparse", None)
    assert st.from_gymnasium(lake("4x4", True), "H", H=5) == expected
    for rows in map(expected.rows, range(1, 6)):
        for i in range(64):
            assert (np.diff(rows.successors[rows.indptr[i] : rows.indptr[i + 1]]) > 0).all()


def test_danger_at_an_end_stays():
    P = {0: {0: [(1.0, 1, 1, True)]}, 1: {0: [(1.0, 0, 1, False)]}}
    world = st.from_gymnasium(table(P), lambda *_: True, H=9)
    assert [world.state_name(s) for s in range(world.S)] == ["0", "1", "1, unsafe, over"]
    assert world.unsafe.tolist() == [False, False, True]
    assert st.evaluate(world, np.zeros((9, 3), int)).violation == 4.0
    assert world.r[0].ravel().tolist() == [1, 0, 0], "an end pays nothing"


def test_an_action_that_is_missing_is_a_copy():
    P = {0: {0: [(1.0, 1, 0.5, False)], 1: [(1.0, 0, 0, False)]}, 1: {1: [(1.0, 0, 1, False)]}}
    world = st.from_gymnasium(table(P), (), H=3)
    assert world.copied.tolist() == [[1, 0, 1]]
    assert (world.P[0, 1, 0] == world.P[0, 1, 1]).all() and world.r[0, 1, 0] == 1


def test_a_table_may_be_lists():
    P = {0: {0: [(1.0, 1, 0.5, False)]}, 1: {0: [(1.0, 0, 1, False)]}}
    lists = [[P[0][0]], [P[1][0]]]
    assert st.from_gymnasium(table(P), [1], 3) == st.from_gymnasium(table(lists), [1], 3)


def test_rewards_in_the_unit_interval_stay_and_others_are_mapped_openly():
    def paid(*rewards):
        P = {0: {a: [(1.0, 0, r, False)] for a, r in enumerate(rewards)}}
        return st.from_gymnasium(table(P), [], H=4)

    assert paid(0.25, 0.5).r[0].tolist() == [[0.25, 0.5]] and paid(0.25, 0.5).low == 0
    assert (paid(-2, 2, 6).low, paid(-2, 2, 6).high) == (-2, 6)
    assert paid(-2, 2, 6).r[0].tolist() == [[0, 0.5, 1]]
    for same in (7.0, -9e299):
        world = paid(same)
        assert world.r.max() == 0
        assert world.outside(st.optimal(world).value) == pytest.approx(4 * same)
    world = paid(-2, 2, 6)
    V = st.optimal(world).V
    np.testing.assert_allclose(world.outside(V, np.arange(4, -1, -1)[:, None])[:, 0], V[:, 0] * 8
                               - 2 * np.arange(4, -1, -1))  # fmt: skip
    assert world.outside(0.5, steps=0) == 4.0  # a difference: regret


def test_an_imported_world_is_a_world():
    world = st.from_gymnasium(gym.make("CliffWalking-v1"), fell, H=15)
    assert pickle.loads(pickle.dumps(world)) == world and copy.copy(world) is world
    assert world == st.from_gymnasium(gym.make("CliffWalking-v1"), fell, H=15)
    with pytest.raises(AttributeError, match="low cannot be changed"):
        world.low = 0.0
    with pytest.raises(ValueError, match="read-only"):
        world.stands_for[0] = 1
    with pytest.raises(ValueError, match=r"stands_for has 2 states; expected S = 1"):
        st.ImportedMDP([[[1.0]]], [[0]], [0], 0.5, 3, low=0.0, high=1.0, stands_for=[0, 1],
                       copied=np.zeros((0, 3), int))  # fmt: skip
    for low, high, error in (
        ("a", 1, "low is 'a'; expected a number"),
        (0, None, "high is None; expected a number"),
        (1, 1, r"high is 1; expected a number in \(1, inf\)"),
        (float("nan"), 1, "low is nan; expected a finite number"),
    ):
        with pytest.raises((TypeError, ValueError), match=error):
            st.ImportedMDP([[[1.0]]], [[0]], [0], 0.5, 3, low=low, high=high, stands_for=[0],
                           copied=np.zeros((0, 3), int))  # fmt: skip
    learner = st.SUCBVI(world.known, episodes=20)
    assert st.run(learner, world, seed=0).reward.shape == (20,)


def test_time_that_fits_nowhere_is_refused_by_the_plan():
    world = st.from_gymnasium(lake("4x4", True), "H", H=10**13)
    with pytest.raises(ValueError, match="TB"):
        st.safe_optimal(world)


def test_a_world_with_every_action_everywhere_has_to_fit(monkeypatch):
    """Of 40 actions each of 40 states has one of its own, and that leads anywhere."""
    places = [(1 / 40, t, 0.0, False) for t in range(40)]
    env = table({s: {s: places} for s in range(40)})
    assert st.from_gymnasium(env, [], H=2).copied.shape == (40 * 39, 3)
    monkeypatch.setattr("safeteach.arguments._free_memory", lambda: 10**6)
    with pytest.raises(ValueError, match=r"^a world whose copied actions make 64000 arrows w"):
        st.from_gymnasium(env, [], H=2)
    monkeypatch.setattr("safeteach.arguments._free_memory", lambda: 10**5)
    with pytest.raises(ValueError, match=r"^a world with each of A = 40 actions in each of S = "):
        st.from_gymnasium(env, [], H=2)


ONE = {0: {0: [(1.0, 0, 0.0, False)]}}
NAN, INF = float("nan"), float("inf")
P00 = r"env\.unwrapped\.P\[0\]\[0\]"


def outcome(*x):
    return table({0: {0: [x]}})


@pytest.mark.parametrize(
    ("env", "error"),
    [
        (gym.make("CartPole-v1"), r"env is .*; expected an environment with a table"),
        (SimpleNamespace(P={}), r"env is namespace\(P=\{\}\); expected an environment"),
        (table({1: {0: ONE[0][0]}}), r"P has 1 keys, up to 1; expected 0..0"),
        (table({"a": {}}), r"a key of env\.unwrapped\.P is 'a'; expected a whole number"),
        (table({0: {}}), r"P\[0\] is \{\}; expected a dict with a key for each number"),
        (table({0: {0: []}}), rf"{P00} is \[\]; expected a list of outcomes"),
        (outcome(1.0, 0, 0.0), rf"{P00}\[0\] is .*; expected \(probability, next state, reward"),
        (outcome(0.9, 0, 0.0, False), rf"{P00} sums to 0\.9; its probabilities must sum to 1"),
        (outcome(NAN, 0, 0.0, False), rf"{P00}\[0\]\[0\] is nan; expected a number in"),
        (
            table({0: {0: 3 * [(np.float32(1 / 3), 0, 0.0, False)]}}),
            rf"{P00} sums to 1\.00000002.*; its probabilities must sum to 1; were they float32",
        ),
        (outcome(1.0, 0, 10**400, False), rf"{P00}\[0\]\[2\] is 1000.*; expected a number in"),
        (table({0: {10**11: ONE[0][0]}}), r"each of A = 100000000001 actions in .* would take"),
        (gym.make("Taxi-v4", fickle_passenger=True), "env has fickle_passenger=True, of which its"),
        (outcome(1.0, 2, 0.0, False), rf"{P00}\[0\]\[1\] is 2; the states are 0..0"),
        (outcome(1.0, 0, NAN, False), rf"{P00}\[0\]\[2\] is nan; expected a number in"),
        (outcome(1.0, 0, -INF, False), rf"{P00}\[0\]\[2\] is -inf; expected a number in"),
        (outcome(1.0, 0, 0.0, 0), rf"{P00}\[0\]\[3\] is 0; expected True or False"),
        (SimpleNamespace(P=ONE), r"initial_state_distrib is None; expected \(S,\) = \(1,\)"),
        (table(ONE, [0.5]), r"initial_state_distrib has shape \(1,\) and sums to 0\.5; expected"),
        (table(ONE, [1.0, 0.0]), r"initial_state_distrib has shape \(2,\)"),
    ],
)
def test_an_environment_that_cannot_be_read_is_refused(env, error):
    with pytest.raises((TypeError, ValueError), match=error):
        st.from_gymnasium(env, [], H=3)


@pytest.mark.parametrize(
    ("unsafe", "error"),
    [
        (None, "unsafe is None; expected several states, letters of the map of env, or a function"),
        ({}, r"unsafe is \{\}; expected several states"),
        (b"H", "unsafe is b'H'; expected several states"),
        ([3, 16], r"unsafe\[1\] is 16; the states are 0..15"),
        (["H"], r"unsafe\[0\] is 'H'; expected a whole number"),
        ("HQ", "unsafe is 'HQ'; expected letters of the map of env, which are FGHS"),
        ("", "unsafe is ''; expected letters of the map of env"),
        (lambda *_: 1, r"unsafe\(0, 0, 0, 0\) is 1; expected True or False"),
    ],
)
def test_danger_that_cannot_be_read_is_refused(unsafe, error):
    with pytest.raises((TypeError, ValueError), match=error):
        st.from_gymnasium(lake("4x4", False), unsafe, H=3)


def test_letters_need_a_map_with_one_for_each_state():
    for env in (gym.make("Taxi-v4"), gym.make("CliffWalking-v1")):
        with pytest.raises(ValueError, match=re.escape("env has no map with a letter for each")):
            st.from_gymnasium(env, "H", H=3)
