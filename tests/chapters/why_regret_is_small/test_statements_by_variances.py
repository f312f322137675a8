"""The theorem of *Long episodes*; its lemmas are tried beside the page that proves them."""

import functools
import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as hs
from oracles.squares import walk

import safeteach as st
from safeteach.bounds import regret_bound_variances


def scaled(S, A, H, episodes, lg_delta, share):
    return S, A, H, 10**episodes, 10**lg_delta, 1 + share * (S - 1)


SIZES = hs.builds(
    scaled, hs.integers(1, 60), hs.integers(2, 9), hs.integers(1, 300), hs.floats(0, 14),
    hs.floats(-9, -0.01), hs.floats(0, 1),
)  # fmt: skip


def parts(S, A, H, K, delta, successors):
    """Luck, √(H³SAT·L), √(TJ), J and Γ."""
    T, L = H * K, math.log(5 * S * A * H * K / delta)
    rows = 2 * (successors - 1) * math.log(3) + 2 * math.log(S * A * H * K / delta)
    J = H**2 * S * A * rows * (1 + math.log(K))
    luck = H * math.sqrt(2 * T * math.log(1 / delta))
    return luck, math.sqrt(H**3 * S * A * T * L), math.sqrt(T * J), J, rows


@given(SIZES)
@settings(max_examples=200)
def test_the_bound_by_variances_is_what_its_proof_adds_up(sizes):
    """Luck, bonuses and the circle; the constants are rounded up by a tenth or so."""
    luck, root, mixed, J, _ = parts(*sizes)
    bound = regret_bound_variances(*sizes)
    assert bound == pytest.approx(luck + 14 * root + 3 * mixed + 5 * J)
    proved = luck + 14 * root + math.sqrt(57 / 7) * mixed
    proved += (7 / 3 + math.sqrt(16 / 3 + 1 / 33) + 1 / 66) * J
    assert proved <= bound <= 1.1 * proved


@given(SIZES)
@settings(max_examples=200)
def test_for_every_K_the_last_term_is_not_needed(sizes):
    """As R(K) ≤ T, the second form bounds what the first does; and Γ ≤ 2.2 ω + 2 L."""
    S, A, H, K, delta, successors = sizes
    luck, root, _, _, rows = parts(*sizes)
    second = luck + (14 + 4 * math.sqrt(rows / H)) * root
    assert min(H * K, regret_bound_variances(*sizes)) <= second
    assert rows <= 2.2 * successors + 2 * math.log(5 * S * A * H * K / delta)


def test_the_four_of_the_second_form_cannot_be_two():
    """Where J is a small part of T, and all but the model errors still less."""
    sizes = 10**6, 1, 10**3, 4e18, 0.5, 10**6
    luck, root, _, J, rows = parts(*sizes)
    assert 0.01 < J / (10**3 * 4e18) < 0.1
    half = luck + (14 + 2 * math.sqrt(rows / 10**3)) * root
    assert half < min(10**3 * 4e18, regret_bound_variances(*sizes))


@functools.cache
def runs():
    worlds = [st.instances.random_mdp(S=5, A=2, H=4, seed=seed, unsafe=0.25, stationary=False)
              for seed in range(4)]  # fmt: skip
    worlds += [st.instances.ice_corridor(), st.instances.union_counterexample()]
    made = itertools.product(worlds, (0.003, 0.1))
    return [(mdp, walk(mdp, 200, scale, seed=2)) for mdp, scale in made]


def test_regret_by_variances_line_by_line():
    """In every episode the plan exaggerates by at most H if it ends early, and Σα + Σ|m| + Σξ.

    Each of the four is needed; luck is a fair bet of at most 2H, and H alone would not do.
    """
    broken, luckiest = np.zeros(4, int), 0.0
    for mdp, steps in runs():
        terms = np.array([
            steps.last, *(steps.total(x) for x in (steps.bonus, abs(steps.model), steps.luck)),
        ])  # fmt: skip
        most = terms.sum(axis=0)
        assert (steps.gap <= most + 1e-6).all()
        broken += [(steps.gap > most - term + 1e-6).sum() for term in terms]
        assert (abs(steps.luck) <= 2 * mdp.H).all()
        luckiest = max(luckiest, np.ptp(steps.luck) / mdp.H)
    assert (broken > 0).all(), broken
    assert luckiest > 1
