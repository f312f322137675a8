"""Learning curves: lines are means over seeds, bands their t-intervals, words say both."""

import numpy as np
import pytest
from matplotlib.collections import PolyCollection
from scipy import stats

from safeteach.figures import learning_curves
from safeteach.figures.learning_curves import half_width

EPISODES = np.arange(0, 20_001, 1000)


def runs(names=("SUCBVI", "UCBVI", "OptCMDP", "OptPess", "Triple-Q"), seeds=10):
    rng = np.random.default_rng(3)
    steps = {name: (i + 1) * rng.random((seeds, EPISODES.size)) for i, name in enumerate(names)}
    return {name: np.cumsum(y, axis=1) - y[:, :1] for name, y in steps.items()}


def test_lines_are_means_over_seeds():
    curves = runs()
    (axes,) = learning_curves(EPISODES, curves, "violation so far").axes
    lines = {line.get_gid(): line for line in axes.lines}
    assert lines.keys() == curves.keys()
    for name, y in curves.items():
        assert np.array_equal(lines[name].get_xdata(), EPISODES)
        assert np.allclose(lines[name].get_ydata(), y.mean(axis=0))


def test_bands_are_the_t_intervals_that_scipy_gives():
    y = runs(seeds=7)["OptPess"]
    low, high = stats.t.interval(0.95, 6, loc=y.mean(axis=0)[1:], scale=stats.sem(y)[1:])
    assert np.allclose(half_width(y)[1:], (high - low) / 2)
    (axes,) = learning_curves(EPISODES, {"OptPess": y}, "reward").axes
    (band,) = axes.findobj(PolyCollection)
    edge = band.get_paths()[0].vertices
    for k, top, bottom in zip(EPISODES[1:], high, low, strict=True):
        at = edge[edge[:, 0] == k, 1]
        assert at.max() == pytest.approx(top) and at.min() == pytest.approx(bottom)


def test_a_band_covers_the_mean_as_often_as_it_says():
    rng = np.random.default_rng(0)
    y = rng.standard_normal((10, 20_000))  # as many experiments of ten seeds
    assert np.mean(np.abs(y.mean(axis=0)) <= half_width(y)) == pytest.approx(0.95, abs=0.01)


def test_one_seed_has_no_band():
    assert (half_width(np.ones((1, 3))) == 0).all()


def test_lines_differ_without_colour():
    (axes,) = learning_curves(EPISODES, runs(), "reward").axes
    assert len({str(line._dash_pattern) for line in axes.lines}) == 5
    assert len({line.get_marker() for line in axes.lines}) == 5


def test_every_seed_is_drawn_in_place_of_a_band():
    y = runs()["UCBVI"]
    (axes,) = learning_curves(EPISODES, {"UCBVI": y}, "reward", each=True).axes
    thin = [line.get_ydata() for line in axes.lines if line.get_gid() == "UCBVI/seed"]
    assert np.array_equal(thin, y)
    assert not axes.findobj(PolyCollection)


def test_references_are_drawn_and_told():
    figure = learning_curves(EPISODES, runs(), "reward", {"safe": 4.0, "unconstrained": 7.32})
    (axes,) = figure.axes
    lines = {line.get_gid(): set(line.get_ydata()) for line in axes.lines}
    assert lines["reference/safe"] == {4.0} and lines["reference/unconstrained"] == {7.32}
    assert figure.alt.endswith(" References: safe 4, unconstrained 7.32.")


def test_a_logarithmic_axis_leaves_out_what_is_zero():
    y = np.array([[0.0, 0.0, 10.0], [0.0, 2.0, 20.0]])
    (axes,) = learning_curves([0, 1, 2], {"x": y}, "violation", log=True).axes
    assert axes.get_yscale() == "log"
    assert np.array_equal(axes.lines[0].get_ydata(), [np.nan, 1.0, 15.0], equal_nan=True)
    (band,) = axes.findobj(PolyCollection)
    assert (band.get_paths()[0].vertices[:, 1] > 0).all()
    learning_curves([0, 1], {"x": [[0.0, 0.0]]}, "violation", log=True).image()  # never above 0


def test_the_description_says_where_the_curves_end():
    y = np.linspace(0, 5000, EPISODES.size) * np.array([[1.0], [3.0]])
    alt = learning_curves(EPISODES, {"x": y}, "violation").alt
    # the quantile is 12.7, the standard error of 5,000 and 15,000 is 5,000
    assert alt == (
        "Learning curves: violation, mean over 2 seeds with its 95% t-interval, up to episode "
        "20,000. x: 1,000 at episode 2,000, 10,000 ± 63,531 at the end."
    )
    each = learning_curves(EPISODES, {"x": y}, "violation", each=True).alt
    assert each.endswith("mean over 2 seeds and every seed, up to episode 20,000. "
                         "x: 1,000 at episode 2,000, from 5,000 to 15,000 at the end.")  # fmt: skip


@pytest.mark.parametrize(("factor", "log"), [(1, False), (1, True), (-1000, False)])
def test_nothing_is_cut_off_and_no_text_is_small(factor, log, on_paper):
    curves = {name: factor * y for name, y in runs().items()}
    figure = learning_curves(
        EPISODES, curves, "reward per episode", {"safe": 4.0, "constrained": 25.5}, log=log
    )
    on_paper(figure)
    assert len(figure.alt) <= 600


@pytest.mark.parametrize(
    ("episodes", "curves", "message"),
    [
        ([0, 0], {"x": [[1, 1]]}, "episodes must be at least two increasing numbers"),
        ([0], {"x": [[1]]}, "episodes must be"),
        ([0, 1], {}, "0 curves; one to 5 can be told apart"),
        ([0, 1], {str(i): [[1, 1]] for i in range(6)}, "6 curves"),
        ([0, 1], {"x": [1, 1]}, r"the curve 'x' has shape \(2,\); expected \(seeds, 2\)"),
        ([0, 1], {"x": [[1, 1, 1]]}, r"has shape \(1, 3\)"),
        ([0, 1], {"x": [[1, np.nan]]}, "holds a number that is not finite"),
    ],
)
def test_bad_input(episodes, curves, message):
    with pytest.raises(ValueError, match=message):
        learning_curves(episodes, curves, "reward")
