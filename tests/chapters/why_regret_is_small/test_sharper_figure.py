"""The picture of four bounds draws what they are, and says so in words."""

import numpy as np
import pytest
from looping import each

from safeteach import bounds
from safeteach.chapters.why_regret_is_small.figures import regret_with_successors
from safeteach.chapters.why_regret_is_small.sharper import BOUNDS, NEW, sharper_bounds, speaks

WORLD = {"S": 10**5, "A": 3, "H": 2_000, "b": 10**4}
FORMULAS = {
    "every world": lambda S, A, H, K, _: bounds.regret_bound(S, A, H, K, 0.005),
    "few successors": lambda S, A, H, K, b: regret_with_successors(S, A, H, K, 0.005, b),
    "few dangerous pairs": lambda S, A, H, K, _: bounds.regret_bound_masks(S, A, H, K, 0.005),
    NEW: lambda S, A, H, K, b: bounds.regret_bound_variances(S, A, H, K, 0.005, b),
}


def drawn(axes):
    return {
        line.get_gid(): {round(x): y for x, y in line.get_xydata()}
        for line in axes.lines
        if line.get_gid()
    }


def first(name, S, A, H, b):
    """The K of :func:`speaks`, and whether it is the first at which the bound is below K H."""
    K = speaks(name, S, A, H, b)
    below = [FORMULAS[name](S, A, H, k, b) <= k * H for k in (K - 1, K)]
    assert below == [False, True]
    return K


@each("name", BOUNDS)
def test_lines_are_the_bounds_and_where_they_say_something(name):
    S, A, H, b = WORLD.values()
    shares, states, successors, steps = map(drawn, sharper_bounds(**WORLD).axes)
    for K, share in shares[name].items():
        assert share == pytest.approx(FORMULAS[name](S, A, H, K, b) / (K * H))
    for n, K in states[name].items():
        assert pytest.approx(first(name, n, A, H, n // 10)) == K
    for n, K in successors[name].items():
        assert pytest.approx(first(name, S, A, H, n)) == K
    for n, K in steps[name].items():
        assert pytest.approx(first(name, S, A, n, b)) == K
    assert max(successors[name]) == S


def test_the_description_says_where_the_new_bound_is_the_lowest():
    alt = sharper_bounds(**WORLD).alt
    assert f"by variances, from K = {speaks(NEW, **WORLD):.2g}" in alt
    _, states, _, steps = map(drawn, sharper_bounds(**WORLD).axes)
    for letter, panel in (("S", states), ("H", steps)):
        lowest = [n for n in panel[NEW] if panel[NEW][n] == min(panel[x][n] for x in BOUNDS)]
        above = min(lowest)
        assert [n for n in panel[NEW] if n >= above] == lowest
        assert f"{letter} = {above:,}" in alt
    assert len(alt) <= 600


def test_in_a_small_world_it_is_the_lowest_only_for_long_episodes():
    alt = sharper_bounds(S=25, A=4, H=12, b=4).alt
    assert alt.endswith("By variances is the lowest from H = 1,000 on.")


@each("name", BOUNDS)
def test_bounds_differ_without_colour(name):
    axes = sharper_bounds(**WORLD).axes[0]
    looks = {line.get_gid(): (str(line._dash_pattern), line.get_marker()) for line in axes.lines}
    assert sum(look[0] == looks[name][0] for look in looks.values()) == 1
    assert sum(look[1] == looks[name][1] for look in looks.values()) == 1
    assert np.unique([line.get_color() for line in axes.lines]).size == len(BOUNDS)


@each("S", [25, 10**6])
def test_nothing_of_the_bounds_is_cut_off(S, on_paper, legible):
    on_paper(sharper_bounds(S=S, b=S // 5))
    legible(sharper_bounds(S=S, b=S // 5))
