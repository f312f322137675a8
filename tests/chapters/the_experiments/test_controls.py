"""Learning curves with controls: every learner of every measure can be looked at."""

import numpy as np
import pytest

import safeteach as st
from safeteach.chapters.the_experiments import controls

EPISODES = np.arange(0, 501, 10)


def measures():
    rng = np.random.default_rng(0)
    return {
        label: {name: rng.random((3, EPISODES.size)).cumsum(axis=1) for name in ("A", "B")}
        for label in ("reward", "violation")
    }


@pytest.mark.slow
def test_live_and_static_show_the_same_and_every_move_shows(check_both):
    check_both(controls.curves(EPISODES, measures(), {"reward": {"best": 9.0}}), settings=6)


def test_all_have_bands_and_one_shows_its_seeds():
    given = measures()
    widget = controls.curves(EPISODES, given, {"reward": {"best": 9.0}})
    every = widget.figure(measure="reward", learner=widget.controls["learner"].start)
    assert (
        every.alt
        == st.figures.learning_curves(EPISODES, given["reward"], "reward", {"best": 9.0}).alt
    )
    one = widget.figure(measure="violation", learner="B")
    assert "3 seeds and every seed" in one.alt and "best" not in one.alt and "A:" not in one.alt
