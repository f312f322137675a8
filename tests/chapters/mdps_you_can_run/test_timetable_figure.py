"""A timetable shows a plan's actions and values, cell by cell."""

from dataclasses import replace

import numpy as np
import pytest

import safeteach as st
from safeteach.chapters.mdps_you_can_run import figures


def cells(drawn, figure):
    return {tuple(map(int, parts)) for parts in drawn(figure, "cell")}


@pytest.mark.parametrize("seed", range(4))
def test_cells_are_the_plan(seed, drawn, written, legible):
    mdp = st.instances.random_mdp(S=4, A=3, H=5, seed=seed, stationary=seed % 2 == 0)
    plan = st.optimal(mdp)
    figure = figures.timetable(mdp, plan)
    expected = {(h + 1, s, int(a)) for (h, s), a in np.ndenumerate(plan.policy)}
    assert cells(drawn, figure) == expected
    texts = sorted(text.get_text() for text in written(figure))
    for (h, s), a in np.ndenumerate(plan.policy):
        assert f"{mdp.action_name(int(a))}\n{plan.V[h, s]:.2f}" in texts
    legible(figure)


def test_actions_differ_in_shade():
    mdp = st.instances.union_counterexample()
    figure = figures.timetable(mdp, st.optimal(mdp))
    shades = {}
    for patch in figure.axes[0].patches:
        shades.setdefault(patch.get_gid().split("/")[-1], set()).add(patch.get_facecolor())
    assert set(shades) == {"0", "1"}
    assert len(shades["0"]) == len(shades["1"]) == len(shades["0"] ^ shades["1"]) / 2 == 1


def test_the_description_says_what_the_cells_say(drawn, written):
    mdp = st.instances.union_counterexample()
    figure = figures.timetable(mdp, st.optimal(mdp))
    assert "of value 2.5 from start. start: a1 at step 1, then either." in figure.alt
    assert "y: either at step 1, a1 at step 2, then either." in figure.alt
    assert {("1", "0", "1"), ("2", "2", "1")} <= set(drawn(figure, "cell"))
    words = [text.get_text().split("\n")[0] for text in written(figure)]
    assert words.count("a1") == 2
    assert words.count("either") == mdp.H * mdp.S - 2


def test_equally_good_actions_leave_a_cell_blank_and_their_names_out():
    P = np.eye(2)[[[0, 0, 1], [1, 1, 1]]]  # in the first state two of three are as good
    mdp = st.SafeMDP(P, [[0.5, 0.5, 0], [0, 0, 0]], np.zeros(2), tau=0.5, H=2)
    figure = figures.timetable(mdp, st.optimal(mdp))
    assert figure.alt.endswith("0: 0 throughout. 1: any throughout.")
    first, second = (
        [p for p in figure.axes[0].patches if p.get_gid().split("/")[2] == s] for s in "01"
    )
    assert {p.get_facecolor() for p in first} == {p.get_facecolor() for p in second}


def test_a_plan_that_forbids_actions_is_refused():
    """What is best in it is a question of what is safe, and that it does not say."""
    mdp = st.instances.union_counterexample()
    with pytest.raises(ValueError, match="an action is better than the best; expected one by opt"):
        figures.timetable(mdp, st.safe_optimal(mdp))


@pytest.mark.parametrize("first", [1, 4, 8])
def test_a_table_can_be_filled_in_from_a_step_on(first, drawn, written, legible):
    mdp = st.instances.random_mdp(S=3, A=2, H=8, seed=1)
    plan = st.optimal(mdp)
    figure = figures.timetable(mdp, plan, look=1, first=first)
    legible(figure)
    values = [text.get_text() for text in written(figure) if "\n" in text.get_text()]
    assert len(values) == (mdp.H - first + 1) * mdp.S
    assert drawn(figure, "look") == [("1",)]
    assert ("of value" in figure.alt) == (first == 1)
    assert first == 1 or f"filled in from step {first} on." in figure.alt


def test_the_smallest_world():
    mdp = st.SafeMDP([[[1.0]]], r=[[0.5]], c=[0], tau=0.5, H=1)
    assert "0: 0 throughout." in figures.timetable(mdp, st.optimal(mdp)).alt


def test_too_large_a_table_is_refused():
    wide = st.instances.random_mdp(S=3, A=2, H=40, seed=0)
    tall = st.instances.random_mdp(S=30, A=2, H=2, seed=0)
    for mdp in (wide, tall):
        with pytest.raises(ValueError, match="does not fit: at most 12 states and"):
            figures.timetable(mdp, st.optimal(mdp))


def test_a_plan_of_another_world_is_refused():
    mdp = st.instances.union_counterexample()
    plan = st.optimal(mdp)
    with pytest.raises(ValueError, match=r"the plan is for \(H, S\) = \(3, 5\), the world has"):
        figures.timetable(mdp, replace(plan, policy=plan.policy[:3]))
