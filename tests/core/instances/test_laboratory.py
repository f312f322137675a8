"""The laboratory is the one that its documentation draws."""

import numpy as np
import pytest

import safeteach as st

LAB = st.instances.laboratory()
ROOM = {LAB.state_name(s): s for s in range(LAB.S)}
ACTION = {LAB.action_name(a): a for a in range(LAB.A)}


def law(state, action):
    row = LAB.P[0, ROOM[state], ACTION[action]]
    return {LAB.state_name(t): float(row[t]) for t in np.flatnonzero(row)}


def test_it_has_the_sizes_of_the_paper_and_a_safe_policy():
    assert (LAB.S, LAB.A, LAB.H, LAB.s1) == (11, 5, 10, 0)
    assert st.is_feasible(LAB) and LAB.stationary


@pytest.mark.parametrize(
    ("state", "action", "ends"),
    [
        ("room 0", "clockwise", {"room 1": 0.9, "room 0": 0.1}),
        ("room 5", "clockwise", {"room 0": 0.9, "room 5": 0.1}),
        ("room 0", "back", {"room 5": 0.9, "room 0": 0.1}),
        ("room 0", "dash", {"room 2": 0.8, "furnace": 0.2}),
        ("room 1", "dash", {"room 3": 1}),
        ("room 5", "dash", {"room 1": 1}),
        ("room 3", "wait", {"room 3": 1}),
        ("room 0", "enter", {"room 0": 1}),
        ("room 1", "enter", {"slide": 1}),
        ("room 2", "enter", {"shelf": 1}),
        ("room 5", "enter", {"furnace": 1}),
    ],
)
def test_the_doors_are_where_they_are_drawn(state, action, ends):
    assert law(state, action) == ends


@pytest.mark.parametrize(
    ("state", "ends"),
    [
        ("slide", {"spill": 1}),
        ("spill", {"vault": 0.5, "spill": 0.5}),
        ("furnace", {"room 0": 0.5, "furnace": 0.5}),
        ("vault", {"vault": 1}),
        ("shelf", {"shelf": 1}),
    ],
)
def test_behind_the_doors_no_action_changes_anything(state, ends):
    assert all(law(state, action) == ends for action in ACTION)


def test_rewards_and_costs_are_those_of_the_text():
    pays = {"shelf": 0.5, "vault": 1.0, "spill": 1.0}
    for name, s in ROOM.items():
        assert (LAB.r[:, s] == pays.get(name, 0.0)).all()
        assert LAB.c[s] == (name in ("spill", "furnace"))
    assert LAB.tau == 0.2


def test_the_slide_is_doomed_at_every_step_but_the_last():
    doomed = st.potentially_unsafe(LAB) & ~LAB.unsafe
    assert doomed[:-1, ROOM["slide"]].all() and not doomed[-1].any()
    doomed[:, ROOM["slide"]] = False
    assert not doomed.any()


def path(plan):
    """Where a policy most likely is, step by step."""
    s, states = LAB.s1, []
    for h in range(LAB.H):
        states.append(LAB.state_name(s))
        s = int(LAB.P[h, s, plan.policy[h, s]].argmax())
    return states


def test_the_best_plan_slides_and_the_best_safe_plan_walks():
    assert path(st.optimal(LAB))[:4] == ["room 0", "room 1", "slide", "spill"]
    assert path(st.safe_optimal(LAB)) == ["room 0", "room 1", "room 2"] + ["shelf"] * 7
    reckless = st.evaluate(LAB, st.optimal(LAB).policy)
    assert reckless.violation > 1.5 and reckless.unsafe_probability > 0.999
    careful = st.evaluate(LAB, st.safe_optimal(LAB).policy)
    assert careful.violation == careful.unsafe_probability == 0


def test_without_the_furnace_one_would_dash():
    P = LAB.P[0].copy()
    P[0, ACTION["dash"]] = np.eye(LAB.S)[2]
    open_way = st.SafeMDP(P, LAB.r[0], LAB.c, LAB.tau, LAB.H)
    assert st.safe_optimal(open_way).policy[0, 0] == ACTION["dash"]
    assert st.safe_optimal(open_way).value == 4.0


def test_another_number_of_steps_can_be_asked_for():
    assert st.instances.laboratory(H=3).H == 3


def test_dangers_are_met_often_enough_to_be_noticed_in_500_episodes():
    """β is below c - τ = .8 from 38 visits on; all that dash and enter blindly pass it soon."""
    n = np.arange(1, 200)
    needed = n[st.bounds.beta(n, LAB.S, 0.1) < 0.8][0]
    assert needed == 38
    for seed in range(3):
        learner = st.RFUCRL(LAB.known)
        st.explore(learner, LAB, 250, seed)
        assert (learner.costs.N[LAB.unsafe] > needed).all()
