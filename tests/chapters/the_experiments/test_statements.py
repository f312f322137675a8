"""The statement of the chapter, on worlds that would show a false one."""

import numpy as np
import pond
import pytest
from hypothesis import given, settings
from hypothesis import strategies as hs
from looping import many
from oracles.brute_force import all_policies, worlds

import safeteach as st


@given(worlds(), hs.floats(0, 0.99), hs.data())
@settings(max_examples=many(105, 300), deadline=None)
def test_a_budget_that_is_spent_is_violation(world, tau, data):
    """With costs 0 and 1: v = (1 - tau) C and C/H <= Pr[unsafe] <= C, path by path."""
    mdp = st.SafeMDP(world.P, world.r, world.unsafe.astype(float), tau, world.H, s1=world.s1)
    policies = all_policies(mdp)
    policy = policies[data.draw(hs.integers(0, len(policies) - 1))]
    law, cost, violation = {((mdp.s1,), 1.0)}, 0.0, 0.0
    for h in range(mdp.H):  # every path with its probability
        law = {
            ((*path, t), p * mdp.P[h, path[-1], policy[h, path[-1]], t])
            for path, p in law
            for t in range(mdp.S)
            if mdp.P[h, path[-1], policy[h, path[-1]], t] > 0
        }
    unsafe = 0.0
    for path, p in law:
        c = mdp.c[list(path[:-1])]
        cost += p * c.sum()
        violation += p * np.maximum(c - tau, 0).sum()
        unsafe += p * bool((c > tau).any())
    e = st.evaluate(mdp, policy)
    assert (e.cost, e.violation, e.unsafe_probability) == pytest.approx((cost, violation, unsafe))
    assert violation == pytest.approx((1 - tau) * cost)
    assert cost / mdp.H - 1e-12 <= unsafe <= cost + 1e-12


def test_a_learner_that_spends_its_budget_violates_along_a_line():
    """The constrained optimum, played from the first episode on, violates (1 - tau) mu K."""
    pond, K = st.instances.grid(), 4000
    plan = st.constrained_optimal(pond, 0.5)
    assert plan.cost == pytest.approx(0.5)
    rng = np.random.default_rng(0)
    paid = [pond.violation[st.rollout(pond, plan.policy, rng).states[:-1]].sum() for _ in range(K)]
    error = np.std(paid) / np.sqrt(K)
    assert abs(np.mean(paid) - 0.25) < 4 * error
    assert 0.5 / pond.H <= np.mean(np.array(paid) > 0) <= 0.5


@pytest.mark.parametrize("name", pond.TUNED)
def test_the_identity_holds_for_the_policy_with_which_a_learner_ends(name):
    study = pond.studies()["figure1"]
    learner = study.learner(name)
    for k, _ in st.play(learner, study.mdp, seed=0):
        if k == 300:
            break
    e = st.evaluate(study.mdp, learner.policy)
    assert e.violation == pytest.approx((1 - study.mdp.tau) * e.cost, abs=1e-12)
    assert e.cost / study.mdp.H - 1e-12 <= e.unsafe_probability <= e.cost + 1e-12


@pytest.mark.parametrize("name", pond.TUNED)
def test_a_negative_regret_says_how_many_policies_were_not_feasible(name):
    """On the pond a policy is feasible if and only if it is never unsafe."""
    study, episodes = pond.studies()["figure1"], 300
    mdp = study.mdp
    best, most = st.safe_optimal(mdp).value, st.optimal(mdp).value
    regret, infeasible = 0.0, 0
    learner = study.learner(name)
    for k, _ in st.play(learner, mdp, seed=1):
        if k == episodes:
            break
        e = st.evaluate(mdp, learner.policy)
        regret += best - e.value
        infeasible += e.unsafe_probability > 0
    assert infeasible / episodes >= -regret / episodes / (most - best) - 1e-12
