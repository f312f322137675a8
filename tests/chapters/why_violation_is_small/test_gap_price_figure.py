"""The price of a gap: the lines are gap times visits, and the visits are those of the widths."""

import math

import pytest

import safeteach as st
from safeteach.chapters.why_violation_is_small import figures


def width(n, S, delta):
    return math.sqrt(2 * math.log(S * n * (n + 1) / delta) / n)


def first_below(gap, S, delta, visits, twice):
    """By trying n = 1, 2, 3, ..."""
    for n in range(1, visits + 1):
        if (2 if twice else 1) * width(n, S, delta) < gap:
            return n
    return visits


@pytest.mark.parametrize(("S", "delta", "visits"), [(25, 0.005, 3_000), (2, 0.9, 500), (3, 0.5, 1)])
def test_lines_are_the_gap_times_the_visits(S, delta, visits):
    (axes,) = figures.gap_price(0.3, S, delta, visits).axes
    lines = {line.get_gid(): line.get_xydata() for line in axes.lines if line.get_gid()}
    for name, twice in (("at most", True), ("without luck", False)):
        for gap, paid in [*lines[name][::15], *lines[f"{name}, here"]]:
            assert paid == pytest.approx(gap * first_below(gap, S, delta, visits, twice))
        assert lines[f"{name}, here"][0][0] == 0.3


def test_for_sure_is_what_the_bounds_say():
    for gap in (0.2, 0.5, 1):
        n = st.bounds.visits_until_flagged(gap, 25, 0.005)
        alt = figures.gap_price(gap, 25, 0.005, 20_000).alt
        assert f"for sure after {n:,} visits, {gap * n:,.4g} paid" in alt


def test_a_gap_too_small_for_the_visits_is_said_to_be():
    alt = figures.gap_price(0.02, 25, 0.005, 1_000).alt
    assert "for sure not within 1,000 visits, 20 paid; without luck not within 1,000" in alt


def test_lines_differ_without_colour(on_paper):
    figure = figures.gap_price(0.1, 25, 0.005, 20_000)
    (axes,) = figure.axes
    lines = {line.get_gid(): line for line in axes.lines}
    assert lines["at most"]._dash_pattern != lines["without luck"]._dash_pattern
    assert lines["at most, here"].get_marker() != lines["without luck, here"].get_marker()
    on_paper(figure)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, 25, 0.005, 100), "gap is 0; from 0.01 to 1 it is drawn"),
        ((1.5, 25, 0.005, 100), "gap is 1.5"),
        ((0.5, 1, 0.005, 100), "S is 1 and visits 100; at least 2 and 1"),
        ((0.5, 2, 0.005, 0), "visits 0"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(ValueError, match=message):
        figures.gap_price(*arguments)
