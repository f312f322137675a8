"""The interactive figure of the bounds on regret: the same live and in the page."""

import pytest

import safeteach as st
from safeteach.chapters.why_regret_is_small import controls, figures

POND = st.instances.grid()


@pytest.mark.slow
def test_live_and_static_show_the_same_and_every_move_shows(check_both):
    check_both(controls.regret(POND))


def test_a_setting_is_that_of_the_figure():
    widget = controls.regret(POND)
    alt = widget.figure(power=10, S=1000).alt
    assert alt == figures.regret_bounds(1000, POND.A, POND.H, 10**10).alt
    assert list(widget.controls["S"].options.values()) == [25, 1000, 10**6]


def test_a_world_of_a_thousand_states_is_offered_once():
    mdp = st.instances.random_mdp(S=1000, A=2, H=2, seed=0)
    assert list(controls.regret(mdp).controls["S"].options.values()) == [1000, 10**6]
