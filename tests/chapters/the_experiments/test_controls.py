"""Learning curves with controls: every learner of every measure can be looked at."""

import numpy as np
import pytest

import safeteach as st
from safeteach.chapters.the_experiments import controls

EPISODES = np.arange(0, 501, 10)


def measures():
    rng = np.random.default_rng(0)

    def runs():
        return {name: rng.random((3, EPISODES.size)).cumsum(axis=1) for name in ("A", "B")}

    return {
        "reward": controls.Measure("reward per episode", runs(), {"best": 9.0}),
        "violation, all runs": controls.Measure("violation so far", runs(), log=True),
    }


@pytest.mark.slow
def test_live_and_static_show_the_same_and_every_move_shows(check_both):
    check_both(controls.curves(EPISODES, measures()), settings=6)


def test_all_have_bands_and_one_shows_its_seeds():
    given = measures()
    widget = controls.curves(EPISODES, given)
    assert {name: control.start for name, control in widget.controls.items()} == {
        "measure": "reward", "learner": controls.ALL,
    }  # fmt: skip
    every = widget.figure(measure="reward", learner=controls.ALL)
    assert (
        every.alt
        == st.figures.learning_curves(
            EPISODES, given["reward"].runs, "reward per episode", {"best": 9.0}
        ).alt
    )
    one = widget.figure(measure="reward", learner="B")
    assert "3 seeds and every seed" in one.alt and "best 9" in one.alt and "A:" not in one.alt


def test_on_the_logarithmic_axis_every_run_is_drawn():
    widget = controls.curves(EPISODES, measures())
    (axes,) = widget.figure(measure="violation, all runs", learner=controls.ALL).axes
    assert axes.get_yscale() == "log"
    drawn = [line.get_gid() for line in axes.lines]
    assert drawn.count("A/seed") == drawn.count("B/seed") == 3


def test_a_learner_keeps_its_look_when_it_is_alone():
    widget = controls.curves(EPISODES, measures())
    looks = [
        {line.get_gid(): (line.get_color(), line.get_marker()) for line in figure.axes[0].lines}
        for figure in (widget.figure(measure="reward", learner=who) for who in (controls.ALL, "B"))
    ]
    assert looks[0]["B"] == looks[1]["B"] != looks[0]["A"]
