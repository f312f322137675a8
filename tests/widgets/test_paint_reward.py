"""A painted reward with controls: every setting shows the plan of that learner for that reward."""

from functools import cache

import numpy as np
import pytest

import safeteach as st

LAB = st.instances.laboratory()
PAINTINGS = {"shelf": {"shelf": 1}, "vault, shelf": {"vault": 1, "shelf": 0.5}}


@cache
def explorers():
    found = {"SRF-UCRL": st.SRFUCRL(LAB.known), "RF-UCRL": st.RFUCRL(LAB.known)}
    for learner in found.values():
        st.explore(learner, LAB, 500)
    return found


@pytest.mark.slow
@pytest.mark.usefixtures("building")
def test_live_and_static_show_the_same_and_every_move_shows(read):
    widget = st.widgets.paint_reward(LAB, explorers(), PAINTINGS)
    static = read.static(widget.page)
    assert static == read.live(widget)
    assert len(static) == len({src for src, _ in static.values()}) == 4
    assert len({alt for _, alt in static.values()}) == 4


def test_a_setting_shows_the_plan_for_the_painted_reward():
    widget = st.widgets.paint_reward(LAB, explorers(), PAINTINGS)
    paint = np.zeros(LAB.S)
    paint[[6, 7]] = 0.5, 1.0
    assert [LAB.state_name(s) for s in (6, 7)] == ["shelf", "vault"]
    for name, learner in explorers().items():
        plan = learner.plan_for(np.repeat(paint[:, None], LAB.A, axis=1))
        alt = widget.figure(learner=name, painting="vault, shelf").alt
        assert alt == st.figures.painted(LAB, paint, plan.policy).alt


def test_whoever_forgets_safety_earns_more_and_pays():
    widget = st.widgets.paint_reward(LAB, explorers(), PAINTINGS)
    for painting in PAINTINGS:
        wise, bold = (widget.figure(learner=name, painting=painting).alt for name in explorers())
        assert "expected violation 0.00" in wise
        assert "expected violation 0.00" not in bold


def test_a_room_that_is_not_there():
    with pytest.raises(ValueError, match="there is no 'attic'; the rooms are room 0"):
        st.widgets.paint_reward(LAB, explorers(), {"a": {"attic": 1}, "b": {"shelf": 1}})
