"""The envelope: the lowest mean at each place, its interval, and the bound below it."""

import numpy as np
import pytest
from scipy import stats

from safeteach.classroom.drawing.envelope import envelope, slope

AT = np.array([100, 316, 1000, 3162, 10_000])
FLOOR = 2 * np.sqrt(AT)


def paid(seed=0):
    rng = np.random.default_rng(seed)
    noise = 1 + 0.1 * rng.standard_normal((3, 16, AT.size))
    told = {
        "low early": noise[0] * 3 * AT**0.7,
        "low late": noise[1] * 30 * AT**0.3,
        "high": noise[2] * 50 * np.sqrt(AT),
    }
    told["high"][10:] = np.nan
    return told


def means(told):
    return {name: np.nanmean(values, axis=0) for name, values in told.items()}


def test_it_is_the_lowest_mean_with_its_t_interval():
    told = paid()
    (axes,) = envelope(AT, told, FLOOR, "episodes", "violation").axes
    table = np.array(list(means(told).values()))
    (container,) = axes.containers
    line, _caps, (bars,) = container
    assert np.allclose(line.get_xdata(), AT)
    assert np.allclose(line.get_ydata(), table.min(axis=0))
    for i, segment in enumerate(bars.get_segments()):
        y = list(told.values())[table[:, i].argmin()][:, i]
        y = y[~np.isnan(y)]
        ends = stats.t.interval(0.95, y.size - 1, loc=y.mean(), scale=stats.sem(y))
        assert np.allclose(segment[:, 1], ends)
    assert {int(column.argmin()) for column in table.T} == {0, 1}


def test_every_learner_and_the_bound_are_drawn():
    told = paid()
    (axes,) = envelope(AT, told, FLOOR, "episodes", "violation").axes
    lines = {line.get_gid(): line.get_ydata() for line in axes.lines if line.get_gid()}
    assert np.allclose(lines["floor"], FLOOR)
    for name, mean in means(told).items():
        assert np.allclose(lines[f"learner/{name}"], mean)
    assert axes.get_xscale() == axes.get_yscale() == "log"


def test_who_is_left_out_somewhere_is_not_the_lowest_there():
    told = paid()
    told["low early"][:, 0] = np.nan
    alt = envelope(AT, told, FLOOR, "episodes", "violation").alt
    first = told["low late"][:, 0].mean()
    assert f"{first:,.0f} ±" in alt and "(low late) against 20 at 100" in alt
    assert "among 3 learners" in alt and len(alt) <= 600


def test_a_run_that_paid_nothing_counts_in_the_mean():
    told = {"x": [[4, 0], [4, 6]], "y": [[5, 5], [5, 5]]}
    alt = envelope([10, 40], told, [1, 1], "episodes", "violation").alt
    assert "against 1 at 10; 3 ±" in alt


def test_the_description_says_how_far_above_the_bound_it_is():
    told = {"x": np.tile(3 * FLOOR, (4, 1)), "y": np.tile(9 * FLOOR, (2, 1)).repeat(2, axis=0)}
    alt = envelope(AT, told, FLOOR, "episodes", "violation").alt
    assert "The envelope is 3 to 3 times the bound. Slope on logarithmic axes 0.5 ± 0, of" in alt


def test_the_slope_is_that_of_a_power_and_its_interval_covers_it():
    assert slope(AT, 7 * AT**0.4, np.zeros(5)) == (pytest.approx(0.4), 0.0)
    rng = np.random.default_rng(1)
    covered = 0
    for _ in range(2_000):
        mean = 7 * AT**0.4 * (1 + 0.02 * rng.standard_normal(5))
        value, half = slope(AT, mean, 1.96 * 0.02 * 7 * AT**0.4)
        covered += abs(value - 0.4) <= half
    assert covered / 2_000 == pytest.approx(0.95, abs=0.015)
    assert slope(AT, mean, 0 * mean)[0] == pytest.approx(np.polyfit(np.log(AT), np.log(mean), 1)[0])


@pytest.mark.parametrize("factor", [0.01, 1, 100])
def test_it_is_legible(factor, apart):
    told = {name: factor * values for name, values in paid().items()}
    apart(envelope(AT, told, factor * FLOOR, "episodes", "regret and priced violation"))
    apart(envelope([4, 7, 13, 31, 63], told, factor * FLOOR, "states", "violation"))


@pytest.mark.parametrize(
    ("at", "told", "floor", "message"),
    [
        ([1], {"x": [[1]]}, [1], "at must be at least two increasing numbers above 0"),
        ([2, 1], {"x": [[1, 1]]}, [1, 1], "at must be"),
        ([0, 1], {"x": [[1, 1]]}, [1, 1], "at must be"),
        ([1, 2], {"x": [[1, 1]]}, [1], "floor must be 2 numbers above 0"),
        ([1, 2], {"x": [[1, 1]]}, [1, 0], "floor must be"),
        ([1, 2], {"x": [1, 1]}, [1, 1], r"'x' has shape \(2,\); expected \(runs, 2\)"),
        ([1, 2], {"x": [[1, 0], [1, 0]]}, [1, 1], "'x' paid nothing on average"),
        ([1, 2], {"x": [[1, np.nan]]}, [1, 1], "somewhere there is no run of any learner"),
        ([1, 2], {}, [1, 1], "somewhere there is no run"),
    ],
)
def test_bad_input(at, told, floor, message):
    with pytest.raises(ValueError, match=message):
        envelope(at, told, floor, "episodes", "violation")
