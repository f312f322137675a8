"""The formulas of bounds: against their own inequalities, their limits and other ways to them."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as hs

from safeteach import bounds

SIZES = {"S": 25, "A": 4, "H": 10, "K": 20_000, "delta": 0.005}
WIDTHS = {
    "alpha": lambda n: bounds.alpha(n, **SIZES),
    "beta": lambda n: bounds.beta(n, S=25, delta=0.005),
    "beta_printed": lambda n: bounds.beta_printed(n, S=25, K=20_000, delta=0.005),
    "value_width": lambda n: bounds.value_width(n, **SIZES),
    "l1_width": lambda n: bounds.l1_width(n, **SIZES),
}


@pytest.mark.parametrize("width", WIDTHS.values(), ids=WIDTHS)
def test_a_width_is_infinite_at_no_visits_and_vanishes_in_the_end(width):
    n = np.array([0, 1, 10, 10**3, 10**6, 10**15])
    w = width(n)
    assert w.shape == n.shape and w[0] == math.inf
    assert (np.diff(w[1:]) < 0).all() and w[-1] < 1e-4
    assert np.array_equal(width(n.reshape(2, 3)), w.reshape(2, 3))
    assert all(float(width(int(one))) == two for one, two in zip(n, w, strict=True))


@pytest.mark.parametrize("name", ["alpha", "beta_printed", "value_width", "l1_width"])
def test_a_width_with_one_logarithm_halves_with_four_times_the_visits(name):
    n = np.array([1, 7, 300])
    assert np.allclose(WIDTHS[name](4 * n), WIDTHS[name](n) / 2)


@given(hs.integers(1, 10**6), hs.integers(1, 10**4), hs.floats(1e-12, 1, exclude_max=True))
def test_beta_spends_its_share_of_delta(n, S, delta):
    """exp(-n β²/2) is δ/(S n(n+1))."""
    spent = math.exp(-n * float(bounds.beta(n, S, delta)) ** 2 / 2)
    assert spent == pytest.approx(delta / (S * n * (n + 1)), rel=1e-6)


@given(
    hs.integers(1, 1000), hs.integers(1, 50), hs.integers(1, 10), hs.integers(1, 30),
    hs.integers(1, 10**5), hs.floats(1e-9, 0.99),
)  # fmt: skip
def test_the_other_widths_spend_theirs(n, S, A, H, K, delta):
    sizes = (S, A, H, K, delta)
    each = delta / (S * A * H * K)
    x = float(bounds.value_width(n, *sizes))
    assert 2 * math.exp(-2 * n * (x / H) ** 2) == pytest.approx(each, rel=1e-6)
    x = float(bounds.l1_width(n, *sizes))
    assert S * math.log(2) - n * x**2 / 2 == pytest.approx(math.log(each), rel=1e-9)
    x = float(bounds.beta_printed(n, S, K, delta))
    assert math.exp(-n * x**2 / 2) == pytest.approx(delta / (S * K), rel=1e-6)
    x = float(bounds.alpha(n, *sizes))
    assert math.exp(-n * (x / (7 * H)) ** 2) == pytest.approx(each / 5, rel=1e-6)
    assert x > bounds.value_width(n, *sizes)


@given(hs.floats(0.02, 1), hs.integers(1, 500), hs.floats(1e-9, 0.99))
@settings(deadline=None)
def test_visits_until_flagged_is_the_first_and_all_later_ones_do(gap, S, delta):
    n = bounds.visits_until_flagged(gap, S, delta)
    assert n == 1 or 2 * bounds.beta(n - 1, S, delta) >= gap
    later = np.concatenate([np.arange(n, n + 1000), n * 2 ** np.arange(30)])
    assert (2 * bounds.beta(later, S, delta) < gap).all()


@pytest.mark.parametrize("gap", [0, -0.5, 1.1, math.nan])
def test_a_gap_lies_between_0_and_1(gap):
    with pytest.raises(ValueError, match=r"gap is .*; (costs and thresholds in|expected a finite)"):
        bounds.visits_until_flagged(gap, S=25, delta=0.005)


@pytest.mark.parametrize("epsilon", [0, -1, 4.1, math.nan])
def test_epsilon_of_the_sample_complexity_lies_between_0_and_2H(epsilon):
    message = r"^epsilon is .*; (exploration is needed for|expected a finite)"
    with pytest.raises(ValueError, match=message):
        bounds.exploration_episodes(2, 2, 2, epsilon, 0.1)


def test_the_numbers_of_the_book():
    n = np.arange(1, 2000)
    assert n[bounds.beta(n, 25, 0.005) < 0.5][0] == 149
    assert n[bounds.beta_printed(n, 25, 20_000, 0.005) < 0.5][0] == 148
    assert n[bounds.alpha(n, **SIZES) < 10][0] == 1163


@given(hs.integers(1, 60), hs.integers(1, 10), hs.integers(1, 30), hs.integers(1, 10**6))
def test_the_masks_that_the_bonus_covers_are_the_most_that_it_covers(S, A, H, K):
    """Hoeffding with a union over 2^D functions is at most α for D, and above it for D + 1."""
    D = bounds.most_dangerous_pairs(S, A, H, K, 0.01)
    alpha = bounds.alpha(1, S, A, H, K, 0.01)
    log = math.log(2 * S * A * H * K / 0.01)
    assert H * math.sqrt((D * math.log(2) + log) / 2) <= alpha * (1 + 1e-12)
    assert H * math.sqrt(((D + 1) * math.log(2) + log) / 2) > alpha * (1 - 1e-12)


def right_hand_sides(K, S=25, A=4, H=12, delta=0.005, tau=0.5, unsafe=2, edges=3000, gap=0.5):
    common = (S, H, K, tau, unsafe, edges)
    return {
        "regret": bounds.regret_bound(S, A, H, K, delta),
        "regret, masks": bounds.regret_bound_masks(S, A, H, K, delta),
        "regret, variances": bounds.regret_bound_variances(S, A, H, K, delta, successors=4),
        "violation": bounds.violation_bound(*common, delta=delta),
        "violation, gap": bounds.violation_bound_gap(*common, gap=gap, delta=delta),
    }


@pytest.mark.parametrize(
    ("name", "power"),
    [
        ("regret", 0.5), ("regret, masks", 0.5), ("regret, variances", 0.5), ("violation", 0.5),
        ("violation, gap", 0),
    ],
)  # fmt: skip
def test_the_bounds_grow_as_the_theorems_say(name, power):
    """Up to logarithms √K, and no power of K with a gap."""
    one, two = right_hand_sides(10**14)[name], right_hand_sides(10**16)[name]
    assert 100**power <= two / one <= 100**power * 1.2


def test_the_regret_bound_is_the_sum_of_the_bonuses_and_the_rest():
    """Σ over (h,s,a) and visits of 2α is at most the third term; the widths of rows the fourth."""
    S, A, H, K, delta = 3, 2, 4, 50, 0.1
    visits = np.arange(1, K + 1)
    each = K / (S * A)  # the sum of roots is largest when all pairs are visited alike
    bonuses = S * A * H * bounds.alpha(visits[: int(each)], S, A, H, K, delta).sum()
    rows = S * A * H * H / 2 * bounds.l1_width(visits[: int(each)], S, A, H, K, delta).sum()
    T = H * K
    rest = S * A * H**2 + H * math.sqrt(2 * T * math.log(1 / delta))
    bound = bounds.regret_bound(S, A, H, K, delta)
    assert bonuses + rows + rest <= bound <= 1.5 * (bonuses + rows + rest)


@pytest.mark.parametrize("successors", [0.9, 25.1, math.nan])
def test_successors_are_from_1_to_S_on_average(successors):
    with pytest.raises(ValueError, match=r"^successors is "):
        bounds.regret_bound_variances(25, 4, 12, 1000, 0.005, successors)


def test_no_unsafe_state_costs_nothing_late():
    assert bounds.violation_bound(25, 12, 10**6, 0.5, 0, 100, 0.005) == 0.5 * 12 * 100
    assert bounds.violation_bound_gap(25, 12, 10**6, 0.5, 0, 100, 0.5, 0.005) == 0.5 * 12 * 100


# Part IV: γ and M of Theorem 6.2, and what its proof needs of them.


def test_gamma_is_the_theorems():
    S, A, H, delta, n = 3, 2, 4, 0.2, 7
    expected = 2 * (math.log(2 * 3 * 2 * 4 / 0.2) + 2 * math.log(math.e * (1 + 7 / 2)))
    assert float(bounds.gamma(n, S, A, H, delta)) == pytest.approx(expected, rel=1e-15)
    assert float(bounds.gamma(0, 1, 2, 4, 0.2)) == pytest.approx(2 * math.log(16 / 0.2))
    grid = np.arange(6).reshape(2, 3)
    assert bounds.gamma(grid, S, A, H, delta).shape == (2, 3)


def test_the_bonus_is_above_the_cap_all_through_the_papers_experiment():
    """500 episodes visit a pair 500 times at most: the rule of Algorithm 2 never comes near."""
    sizes = {"S": 11, "A": 5, "H": 10}
    assert round(float(bounds.exploration_bonus(500, **sizes, delta=0.005)), 1) == 41.2
    assert round(float(bounds.exploration_bonus(500, **sizes, delta=0.1)), 1) == 39.5
    n = np.arange(1, 10_000)
    assert n[bounds.exploration_bonus(n, **sizes, delta=0.1) < 10][0] == 3993


@given(hs.integers(1, 40), hs.integers(1, 10), hs.integers(1, 20), hs.floats(1e-6, 0.99))
def test_the_exploration_bonus_is_infinite_at_0_and_falls_to_nothing(S, A, H, delta):
    n = np.concatenate([np.arange(200), 10 ** np.arange(3, 14)])
    M = bounds.exploration_bonus(n, S, A, H, delta)
    assert M[0] == math.inf and (np.diff(M[1:]) < 0).all() and M[-1] < 0.01 * H * S
    g = bounds.gamma(n[1:], S, A, H, delta)
    expected = 2 * H * np.sqrt(2 * g / n[1:]) + S * H * g / n[1:]
    assert np.allclose(M[1:], expected, rtol=1e-12, atol=0)


COUNTS = np.concatenate([np.arange(1, 300), 10 ** np.arange(3, 13)]).astype(float)


@given(hs.integers(2, 60), hs.integers(1, 10), hs.integers(2, 30), hs.floats(1e-9, 0.999))
def test_the_bonus_covers_costs_rows_and_unseen_successors(S, A, H, delta):
    """Each with the constants that the proof needs, for H ≥ 2 and S ≥ 2.

    Of the two halves of 2H √(2γ/n), one covers H‖P̂ - P‖₁, by Pinsker with its 2, and the other
    twice the width of a cost; SHγ/n covers H times the probability of an unseen successor.
    """
    n, g = COUNTS, bounds.gamma(COUNTS, S, A, H, delta)
    half = H * np.sqrt(2 * g / n)
    kl = (math.log(S * A * H / delta) + (S - 1) * np.log(math.e * (1 + n / (S - 1)))) / n
    assert (H * np.sqrt(2 * kl) <= half).all()
    assert (2 * bounds.beta(n, S, delta) <= half).all()
    assert (np.log(S**2 * A * H * n * (n + 1) / delta) <= g).all()
    M = bounds.exploration_bonus(n, S, A, H, delta)
    assert (2 * bounds.beta(n, S, delta) + H * np.sqrt(2 * kl) <= M * (1 + 1e-12)).all()


def test_with_one_step_the_bonus_does_not_cover_the_costs():
    """At H = 1 the width of the costs is too large for its half, and in the end for all of M."""
    S, A, delta = 2, 2, 0.1
    half = np.sqrt(2 * bounds.gamma(COUNTS, S, A, 1, delta) / COUNTS)
    assert (2 * bounds.beta(COUNTS, S, delta) > half).any()
    beyond = 2 * bounds.beta(COUNTS, S, delta) + half
    assert (beyond > bounds.exploration_bonus(COUNTS, S, A, 1, delta)).any()


@given(hs.integers(2, 1000), hs.floats(1e-9, 1, exclude_max=True))
def test_more_visits_of_a_state_never_widen_its_cost(S, delta):
    """So β(N(s)) ≤ β(N_h(s, a)): a state has at least as many visits as a pair of it."""
    assert (np.diff(bounds.beta(COUNTS, S, delta)) < 0).all()


def test_with_one_state_a_second_visit_can_widen_it():
    one, two = bounds.beta([1, 2], S=1, delta=0.999)
    assert two > one


def test_who_may_regret_a_lot_need_not_violate():
    assert bounds.violation_lower_bound(8, 6, 1_000, gap=0.05, regret=6_000) == 0
    assert bounds.violation_lower_bound(8, 6, 1_000, gap=0.05, regret=600) > 0


@pytest.mark.parametrize("gap", [0.0, 0.25, -0.1, float("nan")])
def test_a_gap_that_one_visit_tells_is_refused(gap):
    message = rf"^gap is {gap}; (it must lie in \(0, ¼\)|expected a finite)"
    with pytest.raises(ValueError, match=message):
        bounds.regret_lower_bound(8, 5, 1_000, gap)
