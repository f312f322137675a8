"""The statements of *Why every step counts*, one test each, on worlds that show a false one."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as hs
from oracles.brute_force import all_policies, worlds

import safeteach as st

COSTS = hs.lists(hs.floats(0, 1), min_size=1, max_size=12)


@given(worlds(), hs.data())
@settings(max_examples=300, deadline=None)
def test_stepwise_safety_is_the_stricter_rule(mdp, data):
    """With a budget of at least tau * H, the account is at most the expected violation."""
    policies = all_policies(mdp)
    e = st.evaluate(mdp, policies[data.draw(hs.integers(0, len(policies) - 1))])
    assert e.cost - mdp.tau * mdp.H <= e.violation + 1e-12


@given(COSTS, hs.floats(0, 1))
@settings(max_examples=500, deadline=None)
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


@given(worlds(), hs.data())
@settings(max_examples=200, deadline=None)
def test_a_budget_with_slack_forbids_nothing(mdp, data):
    """Mixing in any policy with probability (mu - C_0)/H keeps the budget mu > C_0."""
    policies = all_policies(mdp)
    pick = hs.integers(0, len(policies) - 1)
    C_0, C_1 = (st.evaluate(mdp, policies[data.draw(pick)]).cost for _ in range(2))
    mu = C_0 + data.draw(hs.floats(1e-3, 2))
    p = min(1.0, (mu - C_0) / mdp.H)
    assert p > 0 and (1 - p) * C_0 + p * C_1 <= mu + 1e-12
