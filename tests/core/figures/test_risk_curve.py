"""Reward against risk: the curve is the frontier, and words and marks say where it ends."""

import numpy as np
import pytest

import safeteach as st
from safeteach.planning.risk import risk_corners

RISKY = st.instances.random_mdp(30, 3, 8, 4, successors=5, unsafe=0.4)


def lines(mdp):
    (axes,) = st.figures.risk_curve(mdp).axes
    return {line.get_gid(): line.get_xydata() for line in axes.lines}


@pytest.mark.parametrize("mdp", [st.instances.grid(), RISKY], ids=["safe", "risky"])
def test_the_curve_is_the_frontier(mdp):
    drawn, corners = lines(mdp), risk_corners(mdp)
    assert np.array_equal(drawn["frontier"], corners) and len(corners) > 5
    assert np.array_equal(drawn["end/optimum"], corners[-1:])
    left = "end/safe optimum" if st.is_feasible(mdp) else "end/least risk"
    assert np.array_equal(drawn[left], corners[:1]) and len(drawn) == 3
    for x, y in corners:
        assert st.constrained_optimal(mdp, risk=x).value == pytest.approx(y)


def test_the_description_says_where_the_curve_begins_and_ends():
    least, best = st.least_risk(RISKY), st.optimal(RISKY).value
    at_least = st.constrained_optimal(RISKY, risk=least.risk).value
    alt = st.figures.risk_curve(RISKY).alt
    assert f"The least risk is {least.risk:.3g}, with reward {at_least:.3g} at most." in alt
    assert f"The optimum without regard to risk: reward {best:.3g} at risk" in alt
    half = float(alt.split()[-1].rstrip("."))
    reached = st.constrained_optimal(RISKY, risk=half).value
    assert reached == pytest.approx((at_least + best) / 2, abs=0.005)


def test_no_policy_has_less_than_the_least_risk():
    (axes,) = st.figures.risk_curve(RISKY).axes
    (nobody,) = [patch for patch in axes.patches if patch.get_gid() == "nobody"]
    assert (nobody.get_x(), nobody.get_width()) == (0, st.least_risk(RISKY).risk)
    (axes,) = st.figures.risk_curve(st.instances.grid()).axes
    assert not axes.patches


@pytest.mark.parametrize("unsafe", [0, 1])
def test_one_state_is_one_point(unsafe, apart):
    mdp = st.SafeMDP([[[1.0]]], [[0.25]], [unsafe], 0.5, H=2)
    figure = st.figures.risk_curve(mdp)
    apart(figure)
    assert lines(mdp)["frontier"].tolist() == [[unsafe, 0.5]]
    assert figure.alt.endswith("More risk earns nothing.")


@pytest.mark.parametrize(
    "mdp", [st.instances.grid(), RISKY, st.instances.ice_corridor(), st.instances.server_room()]
)
def test_nothing_is_cut_off_and_no_words_lie_on_others(mdp, apart):
    figure = st.figures.risk_curve(mdp)
    apart(figure)
    assert len(figure.alt) <= 600
