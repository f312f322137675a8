"""The statements of *Why every step counts*, one test each, on worlds that show a false one."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as hs
from looping import many
from oracles.brute_force import all_policies, worlds

import safeteach as st

COSTS = hs.lists(hs.floats(0, 1), min_size=1, max_size=12)


@given(worlds(), hs.data())
@settings(max_examples=many(105, 300), deadline=None)
def test_stepwise_safety_is_the_stricter_rule(mdp, data):
    """With a budget of at least tau * H, the account is at most the expected violation."""
    policies = all_policies(mdp)
    e = st.evaluate(mdp, policies[data.draw(hs.integers(0, len(policies) - 1))])
    assert e.cost - mdp.tau * mdp.H <= e.violation + 1e-12


@given(COSTS, hs.floats(0, 1))
@settings(max_examples=many(175, 500), deadline=None)
def test_what_a_budget_can_hide(costs, tau):
    """A legal episode hides at most max_m min(m(1-tau), (H-m)tau) <= tau(1-tau)H."""
    c = np.array(costs)
    H = len(c)
    bound = max(min(m * (1 - tau), (H - m) * tau) for m in range(H + 1))
    assert bound <= tau * (1 - tau) * H + 1e-12
    if c.sum() <= tau * H:
        assert np.maximum(c - tau, 0).sum() <= bound + 1e-12
    m = max(range(H + 1), key=lambda m: min(m * (1 - tau), (H - m) * tau))
    worst = np.zeros(H)
    if m:
        worst[:m] = tau + min(1 - tau, (H - m) * tau / m)
    assert worst.max(initial=0) <= 1 + 1e-12 and worst.sum() <= tau * H + 1e-9
    assert abs(np.maximum(worst - tau, 0).sum() - bound) < 1e-9


def occupancies(mdp, policy):
    """How likely it is to be in s at step h and take a there, (H, S, A)."""
    state, found = np.eye(mdp.S)[mdp.s1], []
    for h in range(mdp.H):
        found.append(state[:, None] * policy[h])
        state = np.einsum("sa,sat->t", found[-1], mdp.P[h])
    return np.array(found)


@given(worlds(), hs.data())
@settings(max_examples=many(70, 200), deadline=None)
def test_a_budget_with_slack_forbids_nothing(mdp, data):
    """Mixing in any policy with probability (mu - C_0)/H keeps the budget mu > C_0.

    The Markov policy that is where the coin flipper is has the same cost.
    """
    policies = all_policies(mdp)
    pick = hs.integers(0, len(policies) - 1)
    pi_0, pi_1 = (np.eye(mdp.A)[policies[data.draw(pick)]] for _ in range(2))
    C_0, C_1 = (st.evaluate(mdp, policy).cost for policy in (pi_0, pi_1))
    mu = C_0 + data.draw(hs.floats(1e-3, 2))
    p = min(1.0, (mu - C_0) / mdp.H)
    flipped = (1 - p) * occupancies(mdp, pi_0) + p * occupancies(mdp, pi_1)
    visited = flipped.sum(axis=2, keepdims=True)
    markov = np.where(visited > 0, flipped / np.where(visited > 0, visited, 1), 1 / mdp.A)
    np.testing.assert_allclose(occupancies(mdp, markov), flipped, atol=1e-12)
    cost = st.evaluate(mdp, markov).cost
    assert abs(cost - ((1 - p) * C_0 + p * C_1)) < 1e-9
    assert p > 0 and cost <= mu + 1e-9
    there = occupancies(mdp, markov).sum(axis=2)
    assert (there >= p * occupancies(mdp, pi_1).sum(axis=2) - 1e-12).all()


def test_flipping_the_coin_anew_at_every_step_is_another_policy():
    """The mean of two policies is not what the coin flipper does; the Markov policy is."""
    road = st.instances.school_road()
    slow, fast = (np.eye(2)[np.full((road.H, road.S), a)] for a in (0, 1))
    flipped = (occupancies(road, slow) + occupancies(road, fast)) / 2
    markov = flipped / np.maximum(flipped.sum(axis=2, keepdims=True), 1e-300)
    assert np.abs(occupancies(road, (slow + fast) / 2) - flipped).max() > 0.2
    assert np.allclose(occupancies(road, np.nan_to_num(markov)), flipped)
