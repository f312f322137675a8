"""The best policy within a budget, against the linear program over occupancies (HiGHS)."""

import re

import numpy as np
import pytest
from looping import each
from oracles.linear_programs import occupancy_lp

import safeteach as st


def least_cost(mdp):
    V = np.zeros(mdp.S)
    for i in reversed(range(mdp.H)):
        V = (mdp.c[:, None] + mdp.P[i] @ V).min(axis=1)
    return V[mdp.s1]


def world(seed):
    """A random world; every third has coarse rewards and costs, so that ties abound."""
    mdp = st.instances.random_mdp(7, 3, 5, seed, unsafe=0.4, stationary=seed % 2 == 0)
    if seed % 3:
        return mdp
    return st.SafeMDP(mdp.P, (2 * mdp.r).round() / 2, (2 * mdp.c).round() / 2, mdp.tau, mdp.H)


@each("seed", range(60))  # all that `world` and `where` can combine, twice
def test_value_equals_the_linear_program_and_the_policy_delivers_it(seed):
    mdp = world(seed)
    low, high = least_cost(mdp), st.evaluate(mdp, st.optimal(mdp).policy).cost
    where = [0.0, 1.0, 1.3, *np.random.default_rng(seed).random(2)][seed % 5]
    budget = low + where * (high - low)
    plan = st.constrained_optimal(mdp, budget)
    best = occupancy_lp(mdp, budget + (1e-12 if where == 0 else 0))
    assert best is not None and abs(plan.value - best) < 1e-9
    e = st.evaluate(mdp, plan.policy)
    assert abs(e.value - plan.value) < 1e-9
    assert abs(e.cost - plan.cost) < 1e-9
    assert e.cost <= budget + 1e-9


def test_a_loose_budget_costs_nothing_and_a_tight_one_is_the_cheapest_policy():
    mdp = st.instances.grid()
    assert abs(st.constrained_optimal(mdp, mdp.H).value - st.optimal(mdp).value) < 1e-12
    tight = st.constrained_optimal(mdp, least_cost(mdp))
    assert tight.cost == 0 and tight.value == st.safe_optimal(mdp).value


def test_the_three_optima_of_the_pond_differ():
    mdp = st.instances.grid()
    safe, within, best = (
        st.safe_optimal(mdp).value, st.constrained_optimal(mdp, 0.5).value, st.optimal(mdp).value,
    )  # fmt: skip
    assert safe < within - 0.1 and within < best - 0.1


def test_value_is_concave_in_the_budget():
    mdp = st.instances.random_mdp(10, 3, 6, seed=3, unsafe=0.4)
    low, high = least_cost(mdp), st.evaluate(mdp, st.optimal(mdp).policy).cost
    values = [st.constrained_optimal(mdp, b).value for b in np.linspace(low, high, 30)]
    steps = np.diff(values)
    assert (steps >= -1e-12).all() and (np.diff(steps) <= 1e-9).all()


@pytest.mark.parametrize("budget", [0.0, 0.5, -1.0, -np.inf])
def test_a_budget_that_nobody_meets_is_refused(budget):
    mdp = st.SafeMDP(np.ones((1, 2, 1)), [[0, 1]], [0.5], 0.5, H=2)
    message = f"budget is {budget:g}; the least expected cost of any policy is 1"
    with pytest.raises(st.BudgetError, match="^" + re.escape(message)):
        st.constrained_optimal(mdp, budget)


@pytest.mark.parametrize("budget", [float("nan"), "4", True, None, [1.0]])
def test_a_budget_is_a_number(budget):
    with pytest.raises((TypeError, ValueError), match=r"^budget is .*; expected a number"):
        st.constrained_optimal(st.instances.school_road(), budget)
