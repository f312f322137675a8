"""The interactive figures of the chapter: the same live and in the page."""

import numpy as np
import pytest

import safeteach as st
from safeteach.chapters.why_regret_is_small import controls, figures

POND = st.instances.grid()
REGRET = np.sin(np.arange(2_500) / 300) + 0.4


@pytest.mark.slow
def test_live_and_static_show_the_same_and_every_move_shows(check_both):
    check_both(controls.regret(POND))
    check_both(controls.trial(REGRET, flagged=508))


def test_a_setting_is_that_of_the_figure():
    alt = controls.regret(POND).figure(S=1000).alt
    assert alt == figures.regret_bounds(1000, POND.A, POND.H).alt
    alt = controls.trial(REGRET, flagged=508).figure(watched=550).alt
    assert alt == figures.trial(REGRET[:2_000], 550, 508).alt


def test_a_world_of_a_thousand_states_is_offered_once():
    assert list(controls.regret(POND).controls["S"].options.values()) == [25, 1000, 10**6]
    mdp = st.instances.random_mdp(S=1000, A=2, H=2, seed=0)
    assert list(controls.regret(mdp).controls["S"].options.values()) == [1000, 10**6]
