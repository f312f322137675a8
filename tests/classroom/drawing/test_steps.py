"""Bars and ledgers show the numbers that they are given."""

import numpy as np
import pytest

import safeteach.classroom.drawing.steps as module
from safeteach.classroom.drawing.steps import ledgers, steps


def test_bars_add_up_to_the_costs_and_the_excess_is_hatched():
    costs = np.array([0.1, 0.9, 0.5, 0.6])
    figure = steps(costs, tau=0.5)
    (axes,) = figure.axes
    below, above = axes.containers
    assert np.allclose([bar.get_height() for bar in below], [0.1, 0.5, 0.5, 0.5])
    assert np.allclose([bar.get_height() for bar in above], [0.4, 0.1])
    assert [bar.get_center()[0] for bar in above] == [2, 4]
    assert all(bar.get_hatch() for bar in above)
    assert "Above it: step 2 (0.9), step 4 (0.6)." in figure.alt
    assert "Mean cost 0.525, step-wise violation 0.5." in figure.alt


def test_the_legend_names_only_what_is_drawn():
    named = [
        [text.get_text() for text in steps(costs, tau=0.5).axes[0].get_legend().get_texts()]
        for costs in ([0.1, 0.9], [0.1, 0.5])
    ]
    assert [any("violation" in text for text in texts) for texts in named] == [True, False]
    assert [len(texts) for texts in named] == [3, 2]


def test_ledgers_draw_both_totals():
    costs = np.random.default_rng(0).random((7, 4))
    figure = ledgers(costs, tau=0.5, budget=2.0, limits=(-3, 9))
    (axes,) = figure.axes
    _, stepwise, account = axes.lines
    assert np.allclose(stepwise.get_ydata(), np.cumsum(np.maximum(costs - 0.5, 0).sum(axis=1)))
    assert np.allclose(account.get_ydata(), np.cumsum(costs.sum(axis=1) - 2.0))
    assert axes.get_ylim() == (-3, 9)
    assert f"ends at {stepwise.get_ydata()[-1]:.3g}" in figure.alt
    assert stepwise.get_linestyle() != account.get_linestyle()


@pytest.mark.parametrize("budget", [3.45, 10])
def test_both_can_be_read(budget, legible, on_paper):
    costs = np.random.default_rng(0).random((60, 10))
    for figure in (ledgers(costs, 0.5, budget, limits=(-45, 35)), steps(costs[0], tau=0.5)):
        legible(figure)
        on_paper(figure)


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda f: f.steps([], 0.5), r"costs has shape \(0,\); expected \(H,\)"),
        (lambda f: f.steps([[0.1]], 0.5), r"costs has shape \(1, 1\); expected \(H,\)"),
        (lambda f: f.ledgers([0.1], 0.5, 1), r"costs has shape \(1,\); expected \(K, H\)"),
    ],
)
def test_bad_input(draw, message):
    with pytest.raises(ValueError, match=message):
        draw(module)
