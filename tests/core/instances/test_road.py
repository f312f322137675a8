"""The road past the school: a legal average, one unsafe step, and what safety costs."""

import numpy as np

import safeteach as st


def test_the_road_is_the_one_drawn():
    road = st.instances.school_road()
    assert (road.S, road.A, road.H) == (20, 2, 10)
    assert [road.state_name(s) for s in np.flatnonzero(road.unsafe)] == ["6 fast"]
    for action, costs in [(0, [0.1] * 10), (1, [0.1] + [0.4] * 4 + [1.0] + [0.4] * 4)]:
        episode = st.rollout(road, np.full((10, 20), action), seed=0, noise=0)
        speed = ["slow"] + [road.action_name(action)] * 9
        names = [road.state_name(s) for s in episode.states[:-1]]
        assert names == [f"{i + 1} {v}" for i, v in enumerate(speed)]
        assert np.allclose(episode.costs, costs)
        assert np.allclose(episode.rewards, [0.5] + [1.0 if action else 0.5] * 9)


def test_the_budget_is_met_and_a_step_is_a_disaster():
    road = st.instances.school_road()
    best = st.optimal(road)
    e = st.evaluate(road, best.policy)
    assert e.cost < road.tau * road.H and e.unsafe_probability == 1
    assert st.safe_optimal(road).value == best.value - 0.5
