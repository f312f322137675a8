"""Plans and evaluations, against quantecon, all policies, a forward computation and dice."""

import copy
import pickle
import re
import warnings

import numpy as np
import pytest
import quantecon as qe
from hypothesis import assume, given, settings
from looping import each, many
from oracles.brute_force import all_policies, worlds

import safeteach as st


def random_policy(mdp, seed):
    return np.random.default_rng(seed).dirichlet(np.ones(mdp.A), size=(mdp.H, mdp.S))


def forward(mdp, policy):
    """Value, violation, cost and danger by carrying the law of s_h forward."""
    law, still_safe = np.eye(mdp.S)[mdp.s1], np.eye(mdp.S)[mdp.s1] * ~mdp.unsafe
    value = violation = cost = 0.0
    for h in range(mdp.H):
        value += np.einsum("s,sa,sa->", law, policy[h], mdp.r[h])
        violation += law @ mdp.violation
        cost += law @ mdp.c
        move = np.einsum("sa,sat->st", policy[h], mdp.P[h])
        if h < mdp.H - 1:
            still_safe = (still_safe @ move) * ~mdp.unsafe
        law = law @ move
    return value, violation, cost, 1 - still_safe.sum()


@each("seed", range(20))
def test_optimal_equals_quantecon(seed):
    mdp = st.instances.random_mdp(30, 4, 9, seed, successors=5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # quantecon says that beta = 1 has no infinite horizon
        ddp = qe.markov.DiscreteDP(mdp.r[0], mdp.P[0], 1.0)
    V, _ = qe.markov.backward_induction(ddp, mdp.H)
    plan = st.optimal(mdp)
    assert np.abs(plan.V - V).max() < 1e-12
    assert plan.value == plan.V[0, mdp.s1]
    assert abs(st.evaluate(mdp, plan.policy).value - plan.value) < 1e-12


@pytest.mark.parametrize("stationary", [True, False])
@each("seed", range(20))
def test_evaluate_equals_a_forward_computation(seed, stationary):
    mdp = st.instances.random_mdp(12, 3, 7, seed, stationary=stationary)
    policy = random_policy(mdp, seed)
    e = st.evaluate(mdp, policy)
    found = e.value, e.violation, e.cost, e.unsafe_probability
    assert np.allclose(found, forward(mdp, policy), rtol=0, atol=1e-12)
    actions = policy.argmax(axis=2)
    assert st.evaluate(mdp, actions) == st.evaluate(mdp, np.eye(mdp.A)[actions])


@pytest.mark.parametrize("seed", range(3))
def test_evaluate_agrees_with_dice(seed):
    mdp = st.instances.random_mdp(8, 3, 6, seed, stationary=False)
    policy = random_policy(mdp, seed)
    rng = np.random.default_rng(seed)
    n = 4000
    samples = np.empty((n, 4))
    for row in samples:
        episode = st.rollout(mdp, policy, rng)
        visited = episode.states[:-1]
        row[:] = (episode.rewards.sum(), mdp.violation[visited].sum(), mdp.c[visited].sum(),
                  mdp.unsafe[visited].any())
    e = st.evaluate(mdp, policy)
    exact = np.array([e.value, e.violation, e.cost, e.unsafe_probability])
    standard_error = samples.std(axis=0, ddof=1) / np.sqrt(n)
    assert (standard_error > 0).all()
    assert (np.abs(samples.mean(axis=0) - exact) < 4.5 * standard_error).all()


@given(worlds(max_policies=256))
@settings(max_examples=many(70, 200), deadline=None)
def test_safe_optimal_is_the_best_of_all_feasible_policies(mdp):
    assume(st.is_feasible(mdp))
    last = st.optimal(mdp).policy[-1]  # every action is safe at the last step
    policies = all_policies(mdp)
    policies[:, -1] = last
    values = [st.evaluate(mdp, policy) for policy in policies]
    best = max(e.value for e in values if e.unsafe_probability == 0)
    plan = st.safe_optimal(mdp)
    assert abs(plan.value - best) < 1e-12
    assert st.evaluate(mdp, plan.policy).unsafe_probability == 0
    assert abs(st.optimal(mdp).value - max(e.value for e in values)) < 1e-12


@given(worlds(max_states=6, max_policies=10**9))
@settings(max_examples=many(70, 200), deadline=None)
def test_safe_plan_obeys_the_bellman_equation_and_the_mask(mdp):
    assume(st.is_feasible(mdp))
    plan, U, safe = st.safe_optimal(mdp), st.potentially_unsafe(mdp), st.safe_actions(mdp)
    assert (plan.V[-1] == 0).all()
    for i in range(mdp.H):
        Q = mdp.r[i] + mdp.P[i] @ plan.V[i + 1]
        assert np.allclose(plan.Q[i], Q, rtol=0, atol=1e-12)
        for s in range(mdp.S):
            allowed = np.ones(mdp.A, bool) if U[i, s] else safe[i, s]
            assert allowed[plan.policy[i, s]]
            assert plan.V[i, s] == plan.Q[i, s, plan.policy[i, s]] == plan.Q[i, s, allowed].max()


def test_with_no_unsafe_state_the_two_plans_coincide():
    mdp = st.instances.random_mdp(10, 3, 5, seed=0, unsafe=0.0)
    a, b = st.optimal(mdp), st.safe_optimal(mdp)
    assert (a.V == b.V).all() and (a.policy == b.policy).all()


def test_plans_are_compared_and_shown():
    mdp, game = st.instances.grid(), st.instances.penny_bridge()
    for world, shown in (
        (mdp, "Plan(V=<float64 (13, 25)>, policy=<int64 (12, 25)>, value=4.0)"),
        (game, "GamePlan(V=<float64 (6, 3)>, mu=<float64 (5, 3, 3)>, nu=<float64 (5, 3, 2)>, "
               "value=3.0625)"),
    ):
        plan = st.safe_optimal(world)
        assert repr(plan) == shown
        sent = pickle.loads(pickle.dumps(plan))
        for other in (st.safe_optimal(world), copy.deepcopy(plan), sent):
            assert plan == other and (other.Q == plan.Q).all()
        assert plan != st.optimal(world) and plan != shown
        with pytest.raises(TypeError, match="unhashable"):
            hash(plan)
    cheap = st.constrained_optimal(mdp, budget=0.1)
    assert cheap == st.constrained_optimal(mdp, budget=0.1) != st.constrained_optimal(mdp, 0.2)
    assert repr(cheap).endswith(", policy=<float64 (12, 25, 4)>)")
    mu = st.safe_optimal(game).mu
    assert st.best_response(game, mu=mu) == st.best_response(game, mu=mu)
    assert st.best_response(game, mu=mu) != st.best_response(game, mu=st.optimal(game).mu)


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        (np.zeros((4, 4), int), "policy has shape (4, 4); expected (H, S) = (4, 5) actions or"),
        (np.zeros((4, 5)), "policy holds float64; actions are whole numbers"),
        (np.full((4, 5), 2), "policy[0, 0] is 2; the actions are 0..1"),
        (np.full((4, 5, 2), 0.4), "policy[0, 0] is [0.4 0.4]; probabilities of actions must be"),
        (np.full((4, 5, 2), np.nan), "policy[0, 0] is [nan nan]; probabilities of actions must"),
        (np.tile([1.5, -0.5], (4, 5, 1)), "policy[0, 0] is [ 1.5 -0.5]; probabilities of"),
    ],
)
def test_bad_policies(policy, message):
    mdp = st.instances.union_counterexample()
    for use in (st.evaluate, lambda m, p: st.rollout(m, p, seed=0)):
        with pytest.raises(ValueError, match=re.escape(message)):
            use(mdp, policy)
