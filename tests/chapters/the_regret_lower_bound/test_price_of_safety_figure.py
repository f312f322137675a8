"""The price of safety: lines are the two sides of the corollary, on either tree."""

import math

import numpy as np
import pytest

import safeteach as st
from safeteach.chapters.the_regret_lower_bound import figures

NAMES = ("floor", "repaired tree", "printed tree")


def sides(K, n, alpha, depth):
    """The floor and what is bought back, from the worlds themselves where they can be built."""
    H, T = 3 * depth, 3 * depth * K
    gap, unsafe_gap = math.sqrt((n - 1) / K) / 4, T ** ((alpha - 1) / 2)
    allowed = T ** (1 - alpha)
    half_floor = (2 * depth - 1) * gap * K / 8
    # An unsafe episode from the root, against a fair coin, for each step in danger.
    root = ((H - 1) * (0.5 + unsafe_gap) - (2 * depth - 1) * 0.5) / (H - 1)
    return half_floor, allowed * unsafe_gap, allowed * root


@pytest.mark.parametrize(
    ("K", "n", "alpha", "depth"),
    [(10_000, 8, 0.25, 3), (10**6, 64, 0.5, 3), (2_000, 2, 0.75, 1), (10**8, 500, 0.4, 2)],
)
def test_lines_are_the_terms_of_the_corollary(K, n, alpha, depth):
    figure = figures.price_of_safety(K, n, alpha, depth)
    (axes,) = figure.axes
    lines = {line.get_gid(): line.get_xydata() for line in axes.lines if line.get_gid()}
    for name, here in zip(NAMES, sides(K, n, alpha, depth), strict=True):
        assert lines[f"{name}, here"] == pytest.approx(np.array([[K, here]]))
        for k, drawn in lines[name][::25]:
            expected = dict(zip(NAMES, sides(k, n, alpha, depth), strict=True))[name]
            assert drawn == pytest.approx(expected)


def test_the_floor_is_half_of_the_proved_bound_or_less():
    (axes,) = figures.price_of_safety(10**4, 8, 0.5, 3).axes
    (floor,) = (line.get_ydata()[0] for line in axes.lines if line.get_gid() == "floor, here")
    bound = st.bounds.regret_lower_bound(8, 5, 10**4, math.sqrt(7 / 10**4) / 4)
    assert 0.8 * bound < 2 * floor <= bound


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ((10**4, 8, 0.25, 3), "more than the floor, and 1,046 on the printed one, more than"),
        ((10**7, 8, 0.25, 3), "less than the floor, and 174,215 on the printed one, more than"),
        ((10**7, 8, 0.25, 3), "the second swamps it."),
        ((10**7, 8, 0.5, 3), "the second keeps pace with it."),
        ((10**7, 8, 0.75, 3), "less than the floor. In the long run the first loses to the floor, "
         "and the second loses as well."),
        ((10**3, 8, 0.25, 3), "At this K danger does not pay best yet"),
    ],
)  # fmt: skip
def test_what_is_said(setting, said):
    assert said in figures.price_of_safety(*setting).alt


@pytest.mark.parametrize("K", [6_836, 6_838])
def test_the_shaded_part_ends_where_danger_pays_best(K):
    """At n = 8, H = 9 and alpha = ¼ this is (9·7/4)^4/9 = 6,837.25."""
    figure = figures.price_of_safety(K, 8, 0.25, 3)
    (shaded,) = (patch for patch in figure.axes[0].patches if patch.get_gid() == "early")
    assert shaded.get_extents().transformed(figure.axes[0].transData.inverted()).x1 == (
        pytest.approx(6_837.25, abs=1)
    )
    gap, unsafe_gap = math.sqrt(7 / K) / 4, (9 * K) ** -0.375
    assert ("not pay best yet" in figure.alt) == (unsafe_gap < 2 * gap) == (K < 6_837)


def test_nothing_is_shaded_where_danger_always_pays_best():
    figure = figures.price_of_safety(10**3, 8, 0.75, 3)
    assert not [patch for patch in figure.axes[0].patches if patch.get_gid() == "early"]


def test_lines_differ_without_colour(on_paper):
    figure = figures.price_of_safety(10**5, 27, 0.4, 3)
    (axes,) = figure.axes
    lines = {line.get_gid(): line for line in axes.lines}
    assert len({str(lines[name]._dash_pattern) for name in NAMES}) == 3
    assert len({lines[f"{name}, here"].get_marker() for name in NAMES}) == 3
    on_paper(figure)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((999, 8, 0.5, 3), "K is 999; from 1,000 to 100,000,000 it is drawn"),
        ((10**9, 8, 0.5, 3), "K is 1000000000"),
        ((10**4, 1, 0.5, 3), "n is 1; a tree of 2 to 500 leaves"),
        ((10**4, 501, 0.5, 3), "n is 501"),
        ((10**4, 8, 0, 3), r"alpha is 0; it must lie in \(0, 0.75\]"),
        ((10**4, 8, 0.8, 3), "alpha is 0.8"),
        ((10**4, 8, math.nan, 3), "alpha is nan"),
        ((10**4, 8, 0.5, 0), "depth is 0; it must be at least 1"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(ValueError, match=message):
        figures.price_of_safety(*arguments)
