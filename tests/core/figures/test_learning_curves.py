"""Learning curves: lines are means over seeds, bands their t-intervals, words say both."""

from itertools import combinations

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


def names(figure):
    (axes,) = figure.axes
    return {text.get_gid().removeprefix("name/"): text for text in axes.texts}


def test_each_name_stands_beside_the_end_of_its_curve():
    """In the order of the ends, each as near as the others leave room."""
    curves, references = runs(), {"best": 4.0, "drift": EPISODES / 400}
    figure = learning_curves(EPISODES, curves, "reward", references)
    (axes,) = figure.axes
    written = names(figure)
    ends = {name: y[:, -1].mean() for name, y in curves.items()} | {"best": 4.0, "drift": 50.0}
    assert written.keys() == ends.keys()
    assert written["best"].get_text() == "best 4" and written["drift"].get_text() == "drift"
    by_place = sorted(written, key=lambda name: written[name].get_position()[1])
    assert by_place == sorted(ends, key=lambda name: ends[name])
    for name in ("UCBVI", "OptPess"):  # far from the others
        x, y = axes.transLimits.transform((EPISODES[-1], ends[name]))
        assert written[name].get_position()[1] == pytest.approx(y, abs=0.03)
        assert written[name].get_position()[0] > x == 1


def test_names_whose_curves_end_together_do_not_lie_on_each_other():
    curves = {name: np.full((2, EPISODES.size), 1.0) for name in ("one", "two", "three of them")}
    for log in (False, True):
        figure = learning_curves(EPISODES, curves, "reward", {"the same": 1.0, "zero": 0}, log=log)
        figure.draw_without_rendering()
        boxes = [text.get_window_extent() for text in figure.axes[0].texts]
        assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))


def test_one_learner_alone_looks_as_it_does_among_the_others():
    curves = runs()
    (all_of_them,) = learning_curves(EPISODES, curves, "reward").axes
    look = {
        line.get_gid(): (line.get_color(), line.get_marker(), line._dash_pattern)
        for line in all_of_them.lines
    }
    assert len({color for color, _, _ in look.values()}) == len(curves)
    for name in curves:
        (axes,) = learning_curves(EPISODES, curves, "reward", only=name, each=True).axes
        *seeds, mean = axes.lines
        assert (mean.get_gid(), {seed.get_gid() for seed in seeds}) == (name, {f"{name}/seed"})
        assert (mean.get_color(), mean.get_marker(), mean._dash_pattern) == look[name]
        assert {seed.get_color() for seed in seeds} == {mean.get_color()}
    with pytest.raises(ValueError, match="only is 'Sarsa'; the learners are SUCBVI, UCBVI"):
        learning_curves(EPISODES, curves, "reward", only="Sarsa")


def test_a_reference_may_be_a_curve():
    figure = learning_curves(EPISODES, runs(), "violation", {"perfect": 0.25 * EPISODES})
    (axes,) = figure.axes
    (line,) = [line for line in axes.lines if line.get_gid() == "reference/perfect"]
    assert np.array_equal(line.get_ydata(), 0.25 * EPISODES)
    assert figure.alt.endswith(" Reference: perfect 5,000 at the end.")
    with pytest.raises(ValueError, match=r"references\['perfect'\] must be a number, or 21"):
        learning_curves(EPISODES, runs(), "violation", {"perfect": [1.0, 2.0]})


def test_a_single_run_is_told_as_one():
    alt = learning_curves([0, 5, 10], {"x": [[0, 1, 4]]}, "violation").alt
    assert alt == (
        "Learning curves: violation, one run each, up to episode 10. "
        "x: 1 at episode 5, 4 at the end."
    )


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
