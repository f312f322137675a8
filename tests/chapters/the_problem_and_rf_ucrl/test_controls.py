"""The uncertainty of RF-UCRL with controls: every setting shows what the learner holds."""

import numpy as np
import pytest

import safeteach as st
from safeteach.chapters.the_problem_and_rf_ucrl import controls, figures


@pytest.mark.slow
def test_live_and_static_show_the_same_and_every_move_shows(check_both):
    check_both(controls.uncertainty(), settings=15)


def test_a_setting_shows_the_uncertainty_and_the_plan_after_k_episodes():
    mdp = st.instances.laboratory()
    learner = st.RFUCRL(mdp.known, bonus_scale=0.02)
    for k, _ in st.play(learner, mdp, seed=0):
        if k == 300:  # planned after 300 episodes, not yet observed
            break
    drawn = controls.uncertainty().figure(k=300, h=5)
    share = learner.W[4].max(axis=1) / (mdp.H - 4)
    assert 0 < share.min() < share.max() <= 1
    assert drawn.alt == figures.laboratory(mdp, share, learner.policy, h=5, most=1.0).alt


def test_uncertainty_falls_with_the_episodes():
    mdp = st.instances.laboratory()
    widths = []
    for k in controls.uncertainty().controls["k"].values:
        learner = st.RFUCRL(mdp.known, bonus_scale=0.02)
        widths.append(st.explore(learner, mdp, episodes=k).width[-1])
    assert (np.diff(widths) <= 0).all()
    assert widths[-1] < widths[0] / 2
