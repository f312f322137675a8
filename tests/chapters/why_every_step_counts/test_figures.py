"""Both mornings are drawn with the costs that they have."""

import numpy as np

import safeteach as st
from safeteach.chapters.why_every_step_counts.figures import drives

COSTS = {"fast": np.array([0.1, 0.4, 1.0]), "careful": np.array([0.1, 0.4, 0.1])}


def test_bars_add_up_to_the_costs_and_only_an_excess_is_hatched():
    figure = drives(COSTS, tau=0.5, place=(3, "school"))
    for axes, costs in zip(figure.axes, COSTS.values(), strict=True):
        below, above = axes.containers
        total = dict.fromkeys(range(1, 4), 0.0)
        for bar in (*below, *above):
            total[round(bar.get_center()[0])] += bar.get_height()
        assert np.allclose(list(total.values()), costs)
        assert len(above) == (costs > 0.5).sum()
        assert all(bar.get_hatch() for bar in above)
    assert "fast: above it step 3 (1), mean cost 0.5." in figure.alt
    assert "careful: above it none, mean cost 0.2." in figure.alt


def test_both_panels_name_the_place_the_threshold_and_the_mean():
    for axes, name in zip(drives(COSTS, 0.5, (3, "school")).axes, COSTS, strict=True):
        assert {text.get_text() for text in axes.texts} == {name, "$\\tau$", "mean", "school"}


def test_both_mornings_can_be_read(legible, on_paper):
    road = st.instances.school_road()
    drawn = {}
    for name, policy in (("fast", np.ones((10, 20), int)), ("safe", st.safe_optimal(road).policy)):
        drawn[name] = st.rollout(road, policy, seed=0, noise=0).costs
    figure = drives(drawn, road.tau, (6, "school"))
    legible(figure)
    on_paper(figure)
