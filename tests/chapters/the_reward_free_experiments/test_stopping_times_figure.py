"""Episodes against ε: the lines are those given, the slopes are said, and all can be read."""

import numpy as np
import pytest

from safeteach.chapters.the_reward_free_experiments import figures

EPSILONS = np.array([0.5, 1.0, 2.0])
CURVES = {
    "bound": 4e6 / EPSILONS**2,
    "one": 1e5 / EPSILONS,
    "two": [9e4, 3e4, 1e4],
    "brook": [8e4, 2e4, 5e3],
    "harmless": [9e4, 2e4, 5e3],
    "not before": [1e4, 3e3, 1e3],
}


def test_the_lines_are_those_given_and_the_slopes_are_theirs():
    figure = figures.stopping_times(EPSILONS, CURVES)
    lines = {line.get_gid(): line.get_data() for line in figure.axes[0].lines}
    assert list(lines) == list(CURVES)
    for name, values in CURVES.items():
        assert np.array_equal(lines[name][0], EPSILONS)
        assert np.array_equal(lines[name][1], values)
    assert "bound: 1.6e+07 to 1e+06, slope -2.0." in figure.alt
    assert "one: 200,000 to 50,000, slope -1.0." in figure.alt
    assert figure.axes[0].get_xscale() == figure.axes[0].get_yscale() == "log"


def test_lines_differ_without_colour_and_can_be_read(on_paper):
    figure = figures.stopping_times(EPSILONS, CURVES)
    lines = figure.axes[0].lines
    assert len({(line.get_marker(), str(line._dash_pattern)) for line in lines}) == len(lines)
    on_paper(figure)


@pytest.mark.parametrize(
    ("epsilons", "curves", "message"),
    [
        ([1.0], {"a": [1.0]}, "at least two increasing numbers"),
        ([2.0, 1.0], {"a": [1.0, 2.0]}, "at least two increasing numbers"),
        ([0.0, 1.0], {"a": [1.0, 2.0]}, "above 0"),
        ([1.0, 2.0], {}, "0 curves; one to 6"),
        ([1.0, 2.0], {"a": [1.0, 0.0]}, "'a' must have 2 numbers above 0"),
        ([1.0, 2.0], {"a": [1.0]}, "'a' must have 2 numbers"),
    ],
)
def test_bad_input(epsilons, curves, message):
    with pytest.raises(ValueError, match=message):
        figures.stopping_times(epsilons, curves)
