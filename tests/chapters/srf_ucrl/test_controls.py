"""The mask with controls: every stop shows the learner before that episode."""

import numpy as np
import pytest

import safeteach as st
from safeteach.chapters.srf_ucrl import controls, figures

LAB = st.instances.laboratory()


def learner(make=st.SRFUCRL):
    return make(LAB.known, bonus_scale=0.0003)


@pytest.mark.slow
def test_live_and_static_show_the_same_and_every_move_shows(check_both):
    check_both(controls.mask(LAB, learner(), episodes=400, seed=1))


def test_every_stop_shows_the_learner_before_that_episode():
    widget = controls.mask(LAB, learner(), episodes=300, seed=1)
    stops = widget.controls["k"].fine
    assert set(widget.controls["k"].values) <= set(stops)
    assert (stops[0], stops[-1]) == (1, 301)
    assert list(widget.controls["h"].options.values()) == [5, 9]
    again = learner()
    for k, _ in st.play(again, LAB, seed=1):
        if k + 1 in stops[::8]:
            assert widget.figure(k=k + 1, h=9).alt == figures.mask(LAB, again, 9).alt
        if k == 300:
            break
    assert np.flatnonzero(again.flagged).size == 2


def test_what_cannot_be_moved_through():
    with pytest.raises(ValueError, match="39 episodes of 10 steps; at least 40 of 4"):
        controls.mask(LAB, learner(), episodes=39)
    short = st.instances.laboratory(H=3)
    with pytest.raises(ValueError, match="of 3 steps"):
        controls.mask(short, st.SRFUCRL(short.known), episodes=100)
