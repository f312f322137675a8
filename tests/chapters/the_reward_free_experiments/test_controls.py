"""A painted reward with controls: every setting shows the plan of that learner for that reward."""

import html
from functools import cache

import numpy as np
import pytest

import safeteach as st
from safeteach.chapters.the_reward_free_experiments import controls, figures

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
def test_every_choice_in_the_page_shows(read):
    widget = controls.paint_reward(LAB, explorers(), PAINTINGS)
    static = read.static(widget.page)
    assert len(static) == len({src for src, _ in static.values()}) == 4
    assert len({alt for _, alt in static.values()}) == 4


def test_a_setting_shows_the_plan_for_the_painted_reward():
    widget = controls.paint_reward(LAB, explorers(), PAINTINGS)
    paint = np.zeros(LAB.S)
    paint[[6, 7]] = 0.5, 1.0
    assert [LAB.state_name(s) for s in (6, 7)] == ["shelf", "vault"]
    for name, learner in explorers().items():
        plan = learner.plan_for(np.repeat(paint[:, None], LAB.A, axis=1))
        alt = widget.figure(learner=name, painting="vault, shelf").alt
        assert alt == figures.painted(LAB, paint, plan.policy).alt


def test_whoever_forgets_safety_earns_more_and_pays():
    widget = controls.paint_reward(LAB, explorers(), PAINTINGS)
    for painting in PAINTINGS:
        wise, bold = (widget.figure(learner=name, painting=painting).alt for name in explorers())
        assert "expected violation 0.00" in wise
        assert "expected violation 0.00" not in bold


def test_two_paintings_hurt_for_want_of_visits():
    """What the text says: RF-UCRL loses with one of them, SRF-UCRL with the other."""
    paintings = {"spill, shelf": {"spill": 1, "shelf": 0.5}, "slide": {"slide": 1}}
    earned = {}
    for painting, rooms in paintings.items():
        r = np.zeros((LAB.S, LAB.A))
        for room, reward in rooms.items():
            r[[LAB.state_name(s) for s in range(LAB.S)].index(room)] = reward
        world = st.SafeMDP(LAB.P, r, LAB.c, LAB.tau, LAB.H)
        for name, learner in explorers().items():
            plan = learner.plan_for(world.r)
            earned[painting, name] = st.evaluate(world, plan.policy)
            earned[painting, "promised", name] = plan.value
        earned[painting, "best safe"] = st.safe_optimal(world).value
    bold, wise = (earned["spill, shelf", name] for name in ("RF-UCRL", "SRF-UCRL"))
    assert bold.value < wise.value - 1
    assert bold.violation > wise.violation + 1
    assert earned["spill, shelf", "promised", "RF-UCRL"] > bold.value + 2
    assert earned["slide", "SRF-UCRL"].value < earned["slide", "best safe"] - 0.05


def test_a_room_that_is_not_there():
    with pytest.raises(ValueError, match="there is no 'attic'; the rooms are room 0"):
        controls.paint_reward(LAB, explorers(), {"a": {"attic": 1}, "b": {"shelf": 1}})


def test_with_a_kernel_every_room_can_be_painted():
    widget = controls.paint_reward(LAB, explorers(), PAINTINGS)
    who, rooms, shown = widget.live().children
    assert [room.description for room in rooms.children] == [
        LAB.state_name(s) for s in range(LAB.S)
    ]
    assert [room.value for room in rooms.children] == [float(s == 6) for s in range(LAB.S)]
    assert widget.first.alt == widget.figure(learner="SRF-UCRL", painting="shelf").alt
    paint = np.eye(LAB.S)[6]
    for s, reward in [(7, 1.0), (6, 0.5), (3, 0.25)]:
        rooms.children[s].value = paint[s] = reward
        for name, learner in explorers().items():
            who.value = name
            plan = learner.plan_for(np.repeat(paint[:, None], LAB.A, axis=1))
            alt = figures.painted(LAB, paint, plan.policy).alt
            assert f'alt="{html.escape(alt)}"' in shown.value
