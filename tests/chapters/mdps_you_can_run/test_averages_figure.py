"""Running averages are drawn as they are, and told in words."""

import numpy as np
import pytest

from safeteach.chapters.mdps_you_can_run import figures

EARNED = dict(zip(["first", "second"], np.random.default_rng(3).random((2, 150)), strict=True))


def test_lines_are_the_running_means():
    figure = figures.averages(EARNED)
    (axes,) = figure.axes
    assert [line.get_label() for line in axes.lines] == list(EARNED)
    for line, sample in zip(axes.lines, EARNED.values(), strict=True):
        assert line.get_xdata().tolist() == list(range(1, 151))
        assert np.allclose(line.get_ydata(), [sample[:n].mean() for n in range(1, 151)])
    first, second = axes.lines
    assert first.get_color() != second.get_color()
    assert not second.get_linestyle() == first.get_linestyle() == "-"


def test_the_description_follows_the_data():
    alt = figures.averages(EARNED).alt
    first, second = EARNED.values()
    assert f"first: {first[0]:.3g} after 1, {first[:15].mean():.3g} after 15, " in alt
    assert f"{second.mean():.3g} after 150." in alt
    assert len(alt) <= 600
    assert alt != figures.averages({"first": second, "second": first}).alt


def test_samples_may_differ_in_length():
    assert "over 2 episodes. a: 1 after 1. b: 0 after 1, 1 after 2." in (
        figures.averages({"a": [1], "b": [0, 2]}).alt
    )


@pytest.mark.parametrize(
    ("samples", "message"),
    [
        ({}, "0 samples; one to 3 can be told apart"),
        ({name: [1.0] for name in "abcd"}, "4 samples"),
        ({"a": []}, r"the sample 'a' has shape \(0,\); expected \(N,\)"),
        ({"a": [[1.0]]}, r"the sample 'a' has shape \(1, 1\)"),
    ],
)
def test_bad_input(samples, message):
    with pytest.raises(ValueError, match=message):
        figures.averages(samples)
