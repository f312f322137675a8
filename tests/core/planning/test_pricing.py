"""The search for the right price in models that no world is: gaps, any sign, any size, ties."""

import numpy as np
import pytest
from looping import each
from oracles.linear_programs import model_lp, model_worth
from scipy.stats import chisquare

from safeteach.planning.pricing import best_within


def rows(P):
    """(H, S, A, S) probabilities as the search reads them."""
    flat = P.reshape(-1, P.shape[-1])
    ends = np.concatenate([[0], (flat > 0).sum(axis=1).cumsum()])
    successors = np.ascontiguousarray(flat.nonzero()[1])  # the layout that is compiled already
    return np.stack([ends[:-1], ends[1:]], axis=1), successors, flat[flat > 0]


def random_model(seed, S=6, A=3, H=4):
    """Rows of which some are empty and some sum to less than 1."""
    rng = np.random.default_rng(seed)
    weight = rng.exponential(size=(H, S, A, S)) * (rng.random((H, S, A, S)) < 0.5)
    P = weight / np.maximum(weight.sum(axis=3, keepdims=True), 1e-300)
    P *= rng.choice([0.0, 0.5, 1.0, 1.0], (H, S, A, 1))
    assert (P.sum(axis=3) == 0).any()
    return P, rng.random((H, S, A)), rng.random((H, S, A)), rng


def extremes(P, r, c):
    """The least cost of a policy, and the cost of one with the most reward."""
    none = np.zeros(r.shape[:2])
    low = best_within(*rows(P), r, c, 0, -np.inf, none)[2]
    return low, best_within(*rows(P), r, c, 0, np.inf, none)[2]


@each("seed", range(60))
def test_value_equals_the_linear_program_in_any_model(seed):
    P, r, c, rng = random_model(seed)
    kind = seed % 5
    r = [r, r - 2, 1e6 * r, r, (4 * r).round() / 4][kind]
    c = [c, c - 0.5, c, -1e3 * c, (4 * c).round() / 4 - 0.5][kind]
    size_r, size_c = max(1, np.abs(r).max()), max(1, np.abs(c).max())
    low, high = extremes(P, r, c)
    budget = low + [1e-6, 0.3, 0.7, 1 - 1e-4, 1.1][seed // 5 % 5] * (high - low)
    found, value, cost, policy = best_within(*rows(P), r, c, 0, budget, rng.random((4, 6)))
    best = model_lp(P, r / size_r, c / size_c, 0, budget / size_c)  # scaled, as HiGHS likes it
    assert found and best is not None
    assert abs(value / size_r - best) < 1e-9
    assert abs(model_worth(P, r, 0, policy) - value) < 1e-9 * size_r
    assert abs(model_worth(P, c, 0, policy) - cost) < 1e-9 * size_c
    assert cost <= budget + 1e-11 * size_c
    assert (policy >= 0).all() and np.abs(policy.sum(axis=2) - 1).max() < 1e-12


@pytest.mark.parametrize("seed", range(5))
def test_a_budget_that_no_policy_meets_gives_the_cheapest(seed):
    P, r, c, rng = random_model(seed)
    c -= 0.5
    low, _high = extremes(P, r, c)
    V = np.zeros(6)
    for i in reversed(range(4)):
        V = (c[i] + P[i] @ V).min(axis=1)
    assert abs(low - V[0]) < 1e-12
    found, _value, cost, policy = best_within(*rows(P), r, c, 0, low - 0.01, rng.random((4, 6)))
    assert not found and abs(cost - low) < 1e-12
    assert abs(model_worth(P, c, 0, policy) - low) < 1e-12
    for budget in (low, np.nextafter(low, -np.inf)):  # rounding alone refuses nobody
        assert best_within(*rows(P), r, c, 0, budget, rng.random((4, 6)))[0]


def test_an_empty_model_is_one_step():
    r, c = np.array([[[0.0, 1.0, 0.6]]] * 2), np.array([[[0.0, 1.0, 0.2]]] * 2)
    found, value, cost, policy = best_within(
        *rows(np.zeros((2, 1, 3, 1))), r, c, 0, 0.6, np.zeros((2, 1))
    )
    assert found and value == pytest.approx(0.8) and cost == pytest.approx(0.6)
    assert policy[0, 0].tolist() == pytest.approx([0, 0.5, 0.5])


def test_ties_are_broken_uniformly_after_cost_and_reward():
    """Of five actions 0 earns less and 1 costs more; the others are equals at every price."""
    P = np.full((2, 2, 5, 2), 0.5)
    r, c = np.ones((2, 2, 5)), np.full((2, 2, 5), 0.25)
    r[..., 0], c[..., 1] = 0.5, 0.5
    rng = np.random.default_rng(0)
    for budget in (9.0, 0.1):  # nobody minds the cost; nobody meets the budget
        plans = np.array(
            [best_within(*rows(P), r, c, 0, budget, rng.random((2, 2)))[3] for _ in range(3000)]
        )
        assert ((plans == 0) | (plans == 1)).all()
        for counts in plans.sum(axis=0).reshape(4, 5):
            assert counts[:2].tolist() == [0, 0] and chisquare(counts[2:]).pvalue > 1e-4


def test_zeros_for_ties_take_the_lowest_action():
    P = np.full((2, 2, 5, 2), 0.5)
    one = np.ones((2, 2, 5))
    policy = best_within(*rows(P), one, one, 0, 9.0, np.zeros((2, 2)))[3]
    assert (policy.argmax(axis=2) == 0).all()


def test_the_rows_of_one_step_serve_all_where_the_model_is_stationary():
    P, r, c, _rng = random_model(3)
    P[:] = P[0]
    budget, none = sum(extremes(P, r, c)) / 2, np.zeros((4, 6))
    once, often = (best_within(*rows(Q), r, c, 0, budget, none) for Q in (P[:1], P))
    assert once[:3] == often[:3] and (once[3] == often[3]).all()
