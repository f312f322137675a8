"""The controls of the chapter: penalties in two worlds, and the moves before some episodes."""

import itertools
import json

import numpy as np
import pytest
from bs4 import BeautifulSoup
from looping import each

import safeteach as st
from safeteach.chapters.the_algorithm import controls
from safeteach.widgets import Choice

ICE = st.instances.ice_corridor()
FIRM = st.instances.grid_from_map("\n".join(ICE.map), H=ICE.H, slip=0.02)


def learner(episodes=700):
    return st.SUCBVI(ICE.known, episodes=episodes, bonus_scale=0.01)


@pytest.mark.slow
def test_live_and_static_show_the_same_and_every_move_shows(check_both):
    check_both(controls.penalties({"ours": ICE, "firm": FIRM}, [0, 100], start=0))
    check_both(controls.three_moves(ICE, learner(), seed=5, episodes=[1, 300, 700]))


@each("mdp", [st.instances.random_mdp(3, 2, 2, seed, unsafe=0.5) for seed in range(6)])
@pytest.mark.parametrize("penalty", [0, 0.3, 10])
def test_no_policy_does_better_with_the_penalty(mdp, penalty):
    counted = st.SafeMDP(mdp.P, mdp.r, mdp.unsafe.astype(float), 0.5, mdp.H, mdp.s1)

    def after_penalty(policy):
        found = st.evaluate(counted, policy)
        return found.value - penalty * found.cost

    shape = (mdp.H, mdp.S)
    every = itertools.product(range(mdp.A), repeat=mdp.H * mdp.S)
    best = max(after_penalty(np.array(actions).reshape(shape)) for actions in every)
    assert np.isclose(after_penalty(controls.best_with_penalty(mdp, penalty)), best)


def test_the_headline_says_how_often_the_planner_falls():
    widget = controls.penalties({"ours": ICE, "firm": FIRM}, [0, 100], start=100)
    assert list(widget.controls["world"].options) == ["ours", "firm"]
    for name, mdp in (("ours", ICE), ("firm", FIRM)):
        policy = controls.best_with_penalty(mdp, 100)
        risk = 100 * st.evaluate(mdp, policy).unsafe_probability
        alt = widget.figure(world=name, penalty=100).alt
        assert f"penalty 100: falls in with probability {risk:.1f}%" in alt


def test_every_stop_shows_the_learner_before_that_episode():
    stops = [1, 450, 600, 700]
    widget = controls.three_moves(ICE, learner(), seed=5, episodes=stops)
    assert list(widget.controls["k"].values) == stops
    again = learner()
    for k, _ in st.play(again, ICE, seed=5):
        if k + 1 in stops:
            alt = widget.figure(k=k + 1).alt
            flagged = ", ".join(map(ICE.state_name, np.flatnonzero(again.flagged))) or "none"
            risk = st.evaluate(ICE, again.policy).unsafe_probability
            assert alt.startswith(f"Before episode {k + 1}. Flagged: {flagged}.")
            assert alt.endswith(f"with probability {risk:.2g}.")


def test_what_cannot_be_stepped_through():
    with pytest.raises(ValueError, match="700 episodes, none with number 701"):
        controls.three_moves(ICE, learner(), seed=1, episodes=[1, 701])
    with pytest.raises(TypeError, match="learner"):
        controls.three_moves(ICE, "SUCBVI", seed=1, episodes=[1, 2])


def test_learners_are_live_in_the_page_and_curves_with_a_kernel(building):  # noqa: ARG001
    figures = {scale: st.figures.grid(ICE, h=h) for h, scale in ((1, 0.01), (10, 1.0))}
    choice = Choice("bonus", {"small": 0.01, "full": 1.0}, 1.0)
    widget = controls.learners(ICE, lambda scale: figures[scale], choice)
    place = BeautifulSoup(widget.page, "html.parser").find(class_="playground")
    assert place["data-tools"] == "learn"
    (world,) = json.loads(place["data-worlds"]).values()
    assert tuple(world["rows"]) == ICE.map
    assert place.img["alt"] == figures[1.0].alt
    assert widget.picture(scale=0.01).alt == figures[0.01].alt
