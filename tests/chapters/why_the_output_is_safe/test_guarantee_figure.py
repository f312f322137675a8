"""The picture of a guarantee: the curves are those given, and it says whether they cross."""

import numpy as np
import pytest

from safeteach.chapters.why_the_output_is_safe import figures

K = np.array([10, 100, 1000])
CURVES = {"width": [2, 1, 0.4], "ledger": [1.5, 0.3, 0.1], "violation": [0.1, 0, 0]}


def lines_of(figure):
    return {line.get_gid(): line for line in figure.axes[0].lines if line.get_gid()}


def test_the_curves_are_those_given():
    lines = lines_of(figures.guarantee(K, CURVES, 0.5))
    for name, values in CURVES.items():
        x, y = lines[name].get_data()
        assert np.array_equal(x, K)
        assert np.array_equal(y, np.maximum(values, 1e-6))
    assert lines["level"].get_ydata()[0] == 0.5


def test_it_says_whether_the_first_is_the_largest():
    alt = figures.guarantee(K, CURVES, 0.5).alt
    assert "width from 2 to 0.4, ledger from 1.5 to 0.1" in alt
    assert "The first is nowhere below another" in alt
    crossed = figures.guarantee(K, {"width": [2, 1, 0.4], "ledger": [1.5, 1.1, 0.1]}, 0.5)
    assert "The first is somewhere below another" in crossed.alt


def test_lines_differ_without_colour_and_letters_can_be_read(on_paper):
    figure = figures.guarantee(K, CURVES, 0.5)
    lines = lines_of(figure)
    looks = {(line.get_marker(), str(line._dash_pattern)) for line in lines.values()}
    assert len(looks) == len(lines)
    on_paper(figure)


@pytest.mark.parametrize(
    ("curves", "message"),
    [
        ({}, "0 curves; one to 4"),
        ({str(i): [1, 1, 1] for i in range(5)}, "5 curves"),
        ({"width": [1, 2]}, r"the curve 'width' has shape \(2,\); expected \(3,\)"),
    ],
)
def test_bad_input(curves, message):
    with pytest.raises(ValueError, match=message):
        figures.guarantee(K, curves, 0.5)
