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


def test_safe_plans_can_be_drawn_too():
    mdp = st.instances.union_counterexample()
    free, safe = (figures.timetable(mdp, plan(mdp)) for plan in (st.optimal, st.safe_optimal))
    assert "worth 2.5 from start. start: a1 at step 1, then a0." in free.alt
    assert "worth 2 from start. start: a0 throughout." in safe.alt


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
