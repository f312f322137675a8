"""The smoke is where its documentation says, and the threshold decides how one may walk."""

import numpy as np
import pytest

import safeteach as st

SMOKE = st.instances.smoke()
FIRE = (1, 3)


def at(i, j):
    return int(np.flatnonzero((SMOKE.cells == (i, j)).all(axis=1))[0])


def test_costs_fall_by_three_tenths_a_move():
    picture = """
         0   .3   .6   .9   .6   .3    0
        .3   .6   .9  nan   .9   .6   .3
         0   .3   .6   .9   .6   .3    0
         0    0   .3   .6   .3    0    0
         0    0    0   .3    0    0    0
    """
    costs = np.array(picture.split(), float).reshape(5, 7)
    assert [tuple(cell) for cell in np.argwhere(np.isnan(costs))] == [FIRE]
    np.testing.assert_array_equal(SMOKE.c, costs[tuple(SMOKE.cells.T)])


def test_it_is_a_grid_without_slips():
    assert isinstance(SMOKE, st.instances.GridMDP)
    assert SMOKE.stationary
    assert (SMOKE.P.max(axis=3) == 1).all()
    assert SMOKE.s1 == at(2, 0)
    assert SMOKE.state_name(at(2, 6)) == "(2,6)"
    assert SMOKE.action_name(3) == "right"


@pytest.mark.parametrize(
    ("tau", "value"),
    [(0.3, 4), (0.5, 4), (0.6, 6), (0.9, 8), (1, 8)],
)
def test_a_looser_threshold_allows_a_shorter_way(tau, value):
    world = st.SafeMDP(SMOKE.P, SMOKE.r, SMOKE.c, tau, SMOKE.H, SMOKE.s1)
    assert st.safe_optimal(world).value == value


def test_below_three_tenths_the_goal_is_out_of_safe_reach():
    world = st.SafeMDP(SMOKE.P, SMOKE.r, SMOKE.c, 0.29, SMOKE.H, SMOKE.s1)
    assert st.is_feasible(world)
    assert st.safe_optimal(world).value == 0
