"""The replay of a run: every stop shows the learner as it was then."""

import numpy as np
import pytest

import safeteach as st
from safeteach.chapters.the_algorithm import controls

ICE = st.instances.ice_corridor()


def learner(episodes=1_000, make=st.SUCBVI):
    return make(ICE.known, episodes=episodes, bonus_scale=0.01)


@pytest.mark.slow
def test_live_and_static_show_the_same_and_every_move_shows(check_both):
    check_both(controls.replay(ICE, learner(), seed=1))


@pytest.mark.slow
def test_every_stop_shows_the_learner_before_that_episode():
    widget = controls.replay(ICE, learner(), seed=1)
    stops = widget.controls["k"].fine
    assert set(widget.controls["k"].values) <= set(stops)
    assert (stops[0], stops[-1]) == (1, 1_000)
    again, paid, visits = learner(), 0.0, np.zeros((ICE.H, ICE.S), int)
    for k, episode in st.play(again, ICE, seed=1):
        if k + 1 in stops[::6]:
            alt = widget.figure(k=k + 1, h=5).alt
            assert f"Before episode {k + 1:,} of 1,000, step 5." in alt
            assert f"Violation so far: {paid:,.6g} of" in alt
            assert f", {visits[4].max():,} times." in alt
            assert f"leads {ICE.action_name(again.policy[4, ICE.s1])} from" in alt
            known = again.U[4] & ~again.flagged
            named = ", ".join(ICE.state_name(s) for s in np.flatnonzero(known)) or "none"
            assert f"Known to be doomed: {named}." in alt
        visits[np.arange(ICE.H), episode.states[:-1]] += 1
        paid += ICE.violation[episode.states[:-1]].sum()


def test_a_learner_that_flags_nothing_can_be_replayed():
    widget = controls.replay(ICE, learner(200, st.UCBVI))
    assert "Flagged: none. Known to be doomed: none." in widget.figure(k=200, h=None).alt


def test_what_cannot_be_replayed():
    with pytest.raises(ValueError, match="the run has 60 episodes of 10 steps; a replay needs 61"):
        controls.replay(ICE, learner(60))
    short = st.instances.grid_from_map("SG", H=1)
    with pytest.raises(ValueError, match="of 1 steps"):
        controls.replay(short, st.SUCBVI(short.known, episodes=100))
    world = st.instances.union_counterexample()
    with pytest.raises(TypeError, match="only a GridMDP has a map"):
        controls.replay(world, st.SUCBVI(world.known, episodes=100))
