"""A world that is stepped through Gymnasium's interface is the same world."""

import warnings

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import safeteach as st

WORLDS = {
    "a corridor": st.instances.ice_corridor(),
    "a pond": st.instances.grid(),
    "step-dependent": st.instances.union_counterexample(),
    "random": st.instances.random_mdp(5, 3, 4, seed=3),
    "a cliff": st.from_gymnasium(gym.make("CliffWalking-v1"), lambda *x: x[3] == -100, H=15),
}


def told(world):
    """All that a world says, whatever its class."""
    names = [world.state_name(s) for s in range(world.S)]
    actions = [world.action_name(a) for a in range(world.A)]
    rows = [(x.indptr.tolist(), x.successors.tolist(), x.probability.tolist())
            for x in map(world.rows, range(1, world.H + 1))]  # fmt: skip
    return names, actions, rows, world.r.tolist(), world.c.tolist(), world.tau, world.H, world.s1


@pytest.mark.parametrize("name", WORLDS)
def test_gymnasium_has_nothing_to_complain_of(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(st.to_gymnasium(WORLDS[name]))


@pytest.mark.parametrize("seed", range(30))
def test_there_and_back_is_the_same_world(seed):
    world = st.instances.random_mdp(
        S=2 + seed % 5, A=1 + seed % 3, H=1 + seed % 4, seed=seed, successors=2, stationary=True
    )
    again = st.from_gymnasium(st.to_gymnasium(world))
    assert told(again) == told(world)
    assert (again.low, again.high, len(again.copied)) == (0.0, 1.0, 0)


def test_names_come_back_and_what_is_given_goes_first():
    corridor = WORLDS["a corridor"]
    env = st.to_gymnasium(corridor)
    assert told(st.from_gymnasium(env)) == told(corridor)
    other = st.from_gymnasium(env, [1], H=3, tau=0.25)
    assert (other.unsafe.nonzero()[0].tolist(), other.H, other.tau) == ([1], 3, 0.25)
    with pytest.raises(TypeError, match="H is None; expected a whole number"):
        st.from_gymnasium(env, [1])
    with pytest.raises(ValueError, match=r"tau is 1; in \[0, 1\) what is unsafe"):
        st.from_gymnasium(env, [1], 3, 1)


def test_a_world_that_changes_with_the_step_has_no_table():
    P = st.instances.random_mdp(3, 2, 4, seed=1, stationary=True).P[0]
    r = np.linspace(0, 1, 24).reshape(4, 3, 2)
    for world in (WORLDS["step-dependent"], st.SafeMDP(P, r, [0, 0, 1], 0.5, 4)):
        env = st.to_gymnasium(world)
        with pytest.raises(AttributeError, match=r"has no table P\[s\]\[a\]"):
            env.P  # noqa: B018
        with pytest.raises(TypeError, match="expected an environment with a table"):
            st.from_gymnasium(env)


def test_a_translation_is_told_by_the_world_and_not_by_its_table():
    cliff = WORLDS["a cliff"]
    env = st.to_gymnasium(cliff)
    again = st.from_gymnasium(env)
    assert told(again) == told(cliff) and again != cliff
    assert (again.low, again.high, again.stands_for[48]) == (0, 1, 48)
    assert env.unwrapped.world.outside(0.0, steps=1) == cliff.low == -100


def test_many_steps_of_one_table_take_no_memory():
    world = st.SafeMDP([[[1.0]]], [[0.5]], [0], 0.5, H=10**12)
    env = st.to_gymnasium(world)
    assert env.P == {0: {0: [(1.0, 0, 0.5, False)]}}
    assert st.from_gymnasium(env).H == 10**12


def play(env, policy, seed=None):
    s, info = env.reset(seed=seed)
    assert info == {}
    states, actions, rewards, costs = [s], [], [], []
    truncated = False
    while not truncated:
        actions.append(int(policy[len(actions), s]))
        s, reward, terminated, truncated, info = env.step(actions[-1])
        assert not terminated
        states.append(s)
        rewards.append(reward)
        costs.append(info["cost"])
    return states, actions, rewards, costs


@pytest.mark.parametrize("name", WORLDS)
def test_the_cost_of_a_step_is_that_of_the_state_it_was_taken_in(name):
    world = WORLDS[name]
    policy = np.random.default_rng(0).integers(world.A, size=(world.H, world.S))
    env = st.to_gymnasium(world, noise=0.0)
    for seed in range(5):
        states, actions, rewards, costs = play(env, policy, seed)
        assert len(costs) == world.H and states[0] == world.s1
        assert costs == world.c[states[:-1]].tolist()
        assert rewards == world.r[range(world.H), states[:-1], actions].tolist()
        for h, (s, a, t) in enumerate(zip(states, actions, states[1:], strict=False), 1):
            assert t in world.successors(h, s, a)


def test_costs_are_noisy_as_asked():
    world = st.SafeMDP([[[1.0]]], [[0]], [0.4], 0.5, H=4000)
    costs = np.array(play(st.to_gymnasium(world, noise=0.5), np.zeros((4000, 1), int), 0)[3])
    assert costs.mean() == pytest.approx(0.4, abs=4 * 0.5 / 4000**0.5)
    assert costs.std() == pytest.approx(0.5, rel=0.06)


@pytest.mark.parametrize("name", ["a pond", "step-dependent", "random"])
def test_episodes_are_as_probable_as_they_should_be(name):
    world = WORLDS[name]
    policy = np.random.default_rng(1).integers(world.A, size=(world.H, world.S))
    env, n = st.to_gymnasium(world), 2000
    env.reset(seed=7)
    played = [play(env, policy) for _ in range(n)]
    values = np.array([sum(rewards) for _, _, rewards, _ in played])
    violation = np.array([world.violation[states[:-1]].sum() for states, *_ in played])
    exact = st.evaluate(world, policy)
    for seen, expected in ((values, exact.value), (violation, exact.violation)):
        assert abs(seen.mean() - expected) <= 4 * seen.std() / n**0.5 + 1e-12


def test_the_same_seed_gives_the_same_episodes():
    world = WORLDS["a pond"]
    policy = np.zeros((world.H, world.S), int)
    one, other = (st.to_gymnasium(world) for _ in range(2))
    first = [play(one, policy, 3), play(one, policy)]
    assert first == [play(other, policy, 3), play(other, policy)]
    assert first[0] != first[1]


def test_no_step_before_and_after_an_episode():
    env = st.to_gymnasium(st.SafeMDP([[[1.0]]], [[0]], [0], 0.5, H=1))
    for _ in range(2):
        with pytest.raises(ValueError, match=r"no step of H = 1 is left; expected reset\(\) first"):
            env.step(0)
        env.reset()
        with pytest.raises(ValueError, match=r"action is 1; the actions are 0..0"):
            env.step(1)
        assert env.step(0)[3] is True


def test_wrong_arguments_are_refused():
    with pytest.raises(TypeError, match=r"world is .*; expected a SafeMDP"):
        st.to_gymnasium(st.instances.quay())
    with pytest.raises(ValueError, match="noise is -1; a standard deviation must be"):
        st.to_gymnasium(WORLDS["a pond"], noise=-1)
