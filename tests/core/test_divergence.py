"""The divergences, against sums and integrals; the inequality, against laws that can be listed."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as hs
from looping import many

from safeteach.divergence import bretagnolle_huber, kl_bernoulli, kl_gaussian, run_divergence


def normal(x, mean, sigma):
    return np.exp(-(((x - mean) / sigma) ** 2) / 2) / (sigma * math.sqrt(2 * math.pi))


@pytest.mark.parametrize(
    ("p", "q", "sigma"), [(0.6, 0.5, 1.0), (0.0, 1.0, 0.5), (0.5, 0.5, 2.0), (-3, 2, 1.5)]
)
def test_gaussians_by_integration(p, q, sigma):
    x = np.linspace(min(p, q) - 12 * sigma, max(p, q) + 12 * sigma, 200_001)
    f, g = normal(x, p, sigma), normal(x, q, sigma)
    KL = np.trapezoid(f * np.log(f / g), x)
    assert kl_gaussian(p, q, sigma) == pytest.approx(KL, abs=1e-9)
    assert kl_gaussian(0.5 + 0.1, 0.5) == pytest.approx(0.1**2 / 2)  # the paper: at most 4·0.1²


def test_the_overlap_of_gaussians_by_integration():
    """2Φ(-√(D/2)) for N costs, which the figure of the two worlds draws, is above ½exp(-D)."""
    for D in (1e-3, 0.1, 1.0, 5.0):
        mean = math.sqrt(2 * D)  # of unit normals D apart
        x = np.linspace(-10, mean + 10, 400_001)
        shared = np.trapezoid(np.minimum(normal(x, 0, 1), normal(x, mean, 1)), x)
        assert kl_gaussian(mean, 0) == pytest.approx(D)
        assert shared == pytest.approx(math.erfc(math.sqrt(D) / 2), abs=1e-8)
        assert shared >= bretagnolle_huber(D)


@pytest.mark.parametrize("p", [0.0, 0.01, 0.3, 0.5, 1.0])
@pytest.mark.parametrize("q", [0.02, 0.5, 0.9])
def test_coins_by_summation(p, q):
    KL = sum(a * math.log(a / b) for a, b in ((p, q), (1 - p, 1 - q)) if a > 0)
    assert kl_bernoulli(p, q) == pytest.approx(KL, abs=1e-15)


def test_coins_that_rule_each_other_out():
    assert kl_bernoulli(0.5, 0.0) == math.inf
    assert kl_bernoulli(0.5, 1.0) == math.inf
    assert kl_bernoulli(0.0, 0.0) == 0
    assert kl_bernoulli(1.0, 1.0) == 0
    assert kl_bernoulli(1.0, 0.0) == math.inf
    assert np.array_equal(kl_bernoulli([0.5, 0.0], 1.0), [math.inf, math.inf])


@pytest.mark.parametrize("gap", [0.001, 0.01, 0.1, 0.24])
def test_a_fair_coin_against_one_that_wins_more_often(gap):
    """-½ ln(1 - 16Δ²), at least 8Δ²; the paper's 2Δ² is false."""
    exact = kl_bernoulli(0.5, 0.5 + 2 * gap)
    assert exact == pytest.approx(-math.log(1 - 16 * gap**2) / 2)
    assert exact >= 8 * gap**2 > 2 * gap**2


def test_shapes():
    assert kl_gaussian([0.0, 1.0], [[0.0], [1.0]]).shape == (2, 2)
    assert kl_bernoulli([[0.5, 0.2]], 0.5).shape == (1, 2)
    assert bretagnolle_huber([0.0, 1.0]) == pytest.approx([0.5, 0.5 / math.e])
    assert bretagnolle_huber(math.inf) == 0
    assert run_divergence([2, 3], [0.5, 0.0]) == 1
    assert run_divergence([2, 3], 0.5) == 2.5


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: kl_gaussian(0, 1, 0.0), "sigma is 0.0; expected a number in"),
        (lambda: kl_gaussian(0, 1, -1.0), "sigma is -1.0"),
        (lambda: kl_gaussian(0, 1, math.nan), "sigma is nan"),
        (lambda: kl_bernoulli(-0.1, 0.5), "p is -0.1; expected a number in"),
        (lambda: kl_bernoulli(0.5, 1.1), "q is 1.1; expected a number in"),
        (lambda: kl_bernoulli(math.nan, 0.5), "p is nan"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()


laws = hs.integers(2, 5).flatmap(
    lambda m: hs.tuples(
        *[hs.lists(hs.floats(1e-6, 1), min_size=m, max_size=m) for _ in range(2)],
        hs.lists(hs.floats(0, 1), min_size=m, max_size=m),
    )
)


@given(laws)
@settings(max_examples=many(105, 300), deadline=None)
def test_no_report_on_a_listed_law_beats_the_inequality(drawn):
    p, q, report = (np.array(one) for one in drawn)
    p, q = p / p.sum(), q / q.sum()
    KL = (p * np.log(p / q)).sum()
    wrong = (p * report).sum() + (q * (1 - report)).sum()
    shared = np.minimum(p, q).sum()
    assert wrong >= shared - 1e-12
    assert shared >= np.sqrt(p * q).sum() ** 2 / 2 - 1e-12
    assert np.sqrt(p * q).sum() ** 2 / 2 >= bretagnolle_huber(KL) - 1e-12
    best = (p * (p < q)).sum() + (q * (p >= q)).sum()
    assert best == pytest.approx(shared)


def test_without_the_half_it_is_false():
    p, q = np.array([0.745, 0.255]), np.array([0.3725, 0.6275])
    KL = (p * np.log(p / q)).sum()
    assert np.minimum(p, q).sum() < 0.84 * math.exp(-KL)


def runs_of(coins, episodes, looks):
    """Every run of a learner that avoids the arm with the most ones, and its probability."""
    runs = {(): 1.0}
    for _ in range(episodes):
        longer = {}
        for past, p in runs.items():
            ones = [1 + sum(sum(seen) for arm, seen in past if arm == i) for i in range(len(coins))]
            for arm, coin in enumerate(coins):
                chosen = (1 / ones[arm]) / sum(1 / o for o in ones)
                for seen in itertools.product((0, 1), repeat=looks):
                    drawn = math.prod(coin if one else 1 - coin for one in seen)
                    longer[(*past, (arm, seen))] = p * chosen * drawn
        runs = longer
    return runs


@pytest.mark.parametrize("changed", [{1: 0.5}, {2: 0.9}, {0: 0.2, 2: 0.5}])
def test_the_divergence_of_whole_runs_by_listing_them(changed):
    coins = [0.5, 0.8, 0.7]
    others = [changed.get(i, coin) for i, coin in enumerate(coins)]
    first, second = runs_of(coins, 3, 2), runs_of(others, 3, 2)
    assert sum(first.values()) == pytest.approx(1)
    asked = [sum(p * sum(a == i for a, _ in run) for run, p in first.items()) for i in range(3)]
    KL = sum(p * math.log(p / second[run]) for run, p in first.items())
    decomposed = run_divergence(2 * np.array(asked), kl_bernoulli(coins, others))
    assert decomposed == pytest.approx(KL, abs=1e-12)
    turned = run_divergence(2 * np.array(asked), kl_bernoulli(others, coins))
    assert abs(turned - KL) > 1e-3  # the order matters


def test_the_divergence_of_runs_with_gaussian_costs_by_sampling():
    """A learner that leaves an arm for good when its mean is high: 20,000 runs of 30 looks."""
    rng = np.random.default_rng(0)
    runs, looks, gap = 20_000, 30, 0.4
    total, count, ratio = np.zeros(runs), np.zeros(runs), np.zeros(runs)
    stays = np.ones(runs, bool)
    for _ in range(looks):
        cost = 0.5 + gap + rng.standard_normal(runs)
        ratio += stays * (gap * (cost - 0.5) - gap**2 / 2)
        count += stays
        total += stays * cost
        stays &= total < 0.9 * count + 1
    off = ratio - count * kl_gaussian(0.5 + gap, 0.5)
    assert count.mean() < 0.8 * looks  # it does leave
    assert abs(off.mean()) < 3 * off.std() / math.sqrt(runs)
    wrong = ratio - looks * kl_gaussian(0.5 + gap, 0.5)  # as if it always stayed
    assert abs(wrong.mean()) > 10 * wrong.std() / math.sqrt(runs)
