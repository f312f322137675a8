"""The frontier: points are means, bars their intervals, and the shaded region is the bound's."""

import numpy as np
import pytest
from scipy import stats

import safeteach as st
from safeteach.chapters.the_violation_lower_bound.figures import frontier

FAMILIES = {
    "published": ["SUCBVI", "UCBVI", "OptPess"],
    "informed": ["Informed -1", "Informed 0", "Informed 0.5"],
    "fixed": ["leaf 1", "leaf 2", "coin"],
}


def points(seed=0):
    rng = np.random.default_rng(seed)

    def runs(mean, spread=0.1, R=20):
        return np.clip(mean + spread * rng.standard_normal(R), 0, 1)

    return {
        "SUCBVI": (runs(1, 0), runs(0, 0)),
        "UCBVI": (runs(0.99, 0), runs(0.01, 0)),
        "OptPess": (runs(0.7), runs(0.3)),
        "Informed -1": (runs(0.1), runs(0.8)),
        "Informed 0": (np.r_[runs(0.3), np.nan], np.r_[runs(0.5), np.nan]),
        "Informed 0.5": (runs(0.5), runs(0.3)),
        "leaf 1": (np.zeros(2), np.ones(2)),
        "leaf 2": (np.ones(2), np.zeros(2)),
        "coin": (np.full(2, 0.5), np.full(2, 0.5)),
    }


def drawn_at(figure):
    """From gid to the line's points."""
    (axes,) = figure.axes
    return {line.get_gid(): line.get_xydata() for line in axes.lines if line.get_gid()}


@pytest.mark.parametrize("kappa", [0.25, 4.0, 16.0])
def test_the_region_is_what_the_trade_off_forbids(kappa):
    figure = frontier(points(), kappa, FAMILIES)
    edge = drawn_at(figure)["edge"]
    x, y = edge[::50].T
    assert np.allclose(y, np.exp(-kappa * x / 2) / 2 - x) and (y > 0).all()
    (region,) = [a for a in figure.findobj() if a.get_gid() == "forbidden"]
    inside = region.get_paths()[0]
    for share in (0.02, 0.1, 0.2, 0.4):
        least = float(st.bounds.tradeoff(share, kappa))
        assert not inside.contains_point((share, max(least, 0) + 0.01))
        assert least < 0.02 or inside.contains_point((share, least - 0.01))


def test_points_are_means_over_the_runs_that_there_are():
    told = points()
    at = drawn_at(frontier(told, 4.0, FAMILIES))
    for family, names in FAMILIES.items():
        means = [[np.nanmean(values) for values in told[name]] for name in names]
        assert np.allclose(at[f"points/{family}"], means)
    dial = [[np.nanmean(values) for values in told[name]] for name in FAMILIES["informed"]]
    assert np.allclose(at["dial/informed"], dial)
    assert "dial/fixed" not in at and "dial/published" not in at


def test_bars_are_t_intervals_within_the_shares_that_there_are():
    told = points()
    figure = frontier(told, 4.0, FAMILIES)
    segments = [bars.get_segments()[0] for pair in figure.axes[0].containers for bars in pair[2]]
    assert len(segments) == 2 * len(told)
    ends = np.array(segments)
    assert ends.min() >= 0 and ends.max() <= 1
    x = told["OptPess"][0]
    low, high = stats.t.interval(0.95, x.size - 1, loc=x.mean(), scale=stats.sem(x))
    flat = [bar for bar in ends if bar[0, 1] == bar[1, 1]]
    assert any(np.allclose(bar[:, 0], (low, high)) for bar in flat)


def test_the_description_says_who_is_nearest_and_who_is_inside():
    alt = frontier(points(), 4.0, FAMILIES).alt
    assert "of 9 learners with 95% intervals, κ = 4" in alt
    assert "and at (0.284, 0); nobody is. SUCBVI (1, 0)" in alt
    assert len(alt) <= 600
    told = points() | {"leaf 1": ([0.1, 0.1], [0.1, 0.1])}
    alt = frontier(told, 4.0, FAMILIES).alt
    assert "leaf 1 is." in alt and "Nearest to that curve: leaf 1, -0.21 above it." in alt
    assert st.bounds.tradeoff(0.1, 4.0) == pytest.approx(0.31, abs=0.01)


def test_a_point_below_the_edge_only_by_luck_is_not_called_inside():
    told = points() | {"leaf 1": ([0.0, 0.2], [0.1, 0.5])}  # an interval as wide as everything
    assert "nobody is" in frontier(told, 4.0, FAMILIES).alt


def test_names_of_points_in_one_place_stand_together(written):
    texts = {text.get_text() for text in written(frontier(points(), 4.0, FAMILIES))}
    assert "SUCBVI\nUCBVI\nleaf 2" in texts
    assert {"OptPess", "leaf 1", "\N{MINUS SIGN}1", "0.5"} <= texts
    assert "Informed 0.5" not in texts


@pytest.mark.parametrize("kappa", [0.25, 16.0])
@pytest.mark.parametrize("seed", range(4))
def test_it_is_legible(seed, kappa, apart):
    apart(frontier(points(seed), kappa, FAMILIES))


def test_a_crowd_is_legible_too(apart):
    rng = np.random.default_rng(0)
    told = {f"Dial {i}": ([u, u], [v, v]) for i, (u, v) in enumerate(rng.random((40, 2)) / 5)}
    told |= {f"learner {c}": ([0.1, 0.1], [0.1, 0.1]) for c in "abcdef"}
    dials = [name for name in told if name.startswith("Dial")]
    apart(frontier(told, 4.0, {"dial": dials, "other": [n for n in told if n not in dials]}))


def test_families_differ_without_colour():
    (axes,) = frontier(points(), 4.0, FAMILIES).axes
    lines = [line for line in axes.lines if (line.get_gid() or "").startswith("points/")]
    assert len({line.get_marker() for line in lines}) == 3


@pytest.mark.parametrize(
    ("changed", "families", "message"),
    [
        ({}, {}, "0 families; one to 5 can be told apart"),
        ({}, {str(i): [] for i in range(6)}, "6 families"),
        ({}, {"published": ["SUCBVI"]}, "every point must be in one family"),
        ({"leaf 3": ([0], [1])}, FAMILIES, "every point must be in one family"),
        ({"SUCBVI": ([np.nan], [1])}, FAMILIES, "'SUCBVI' must have runs on two worlds"),
        ({"SUCBVI": ([1.5], [1])}, FAMILIES, "'SUCBVI' has a share that is not in"),
    ],
)
def test_bad_input(changed, families, message):
    with pytest.raises(ValueError, match=message):
        frontier(points() | changed, 4.0, families)
