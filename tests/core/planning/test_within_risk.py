"""The best policy within a risk, against linear programs over worlds that remember."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from looping import each, many
from oracles.brute_force import episodes, worlds
from oracles.linear_programs import model_lp
from oracles.remembering import remembering

import safeteach as st
from safeteach.planning.risk import risk_corners


def world(seed):
    """A random world; every third has coarse rewards, so that ties abound."""
    mdp = st.instances.random_mdp(7, 3, 5, seed, unsafe=0.4, stationary=seed % 2 == 0)
    r = mdp.r if seed % 3 else (2 * mdp.r).round() / 2
    safest = int(np.argmin(mdp.c))
    return st.SafeMDP(mdp.P, r, mdp.c, mdp.tau, mdp.H, safest if seed % 5 else 0)


def best_by_lp(mdp, risk):
    P, r, c, s1 = remembering(mdp)
    return model_lp(P, r, c, s1, risk)


@each("seed", range(60))
def test_value_equals_the_linear_program_and_the_policy_delivers_it(seed):
    mdp = world(seed)
    least = st.least_risk(mdp).risk
    share = [1e-6, 0.1, 0.3, 0.7, 1][seed // 4 % 5]
    risk = least + share * (1 - least)
    plan = st.constrained_optimal(mdp, risk=risk)
    assert abs(plan.value - best_by_lp(mdp, risk)) < 1e-9
    found = st.evaluate(*plan.with_memory(mdp))
    assert abs(found.value - plan.value) < 1e-11
    assert abs(found.unsafe_probability - plan.risk) < 1e-11
    assert plan.risk <= risk + 1e-11
    assert (plan.policy >= 0).all() and np.abs(plan.policy.sum(axis=3) - 1).max() < 1e-12
    without = st.evaluate(mdp, plan.policy[0])
    assert abs(without.unsafe_probability - plan.risk) < 1e-11
    assert without.value <= plan.value + 1e-11


@given(worlds(max_states=3, max_actions=2, max_policies=64))
@settings(max_examples=many(20, 60), deadline=None)
def test_all_episodes_of_the_policy_add_up_to_what_it_says(mdp):
    risk = (1 + st.least_risk(mdp).risk) / 2
    plan = st.constrained_optimal(mdp, risk=risk)

    def choose(history):
        states = history[::2]
        been = int(mdp.unsafe[list(states)].any())
        return plan.policy[been, len(states) - 1, states[-1]]

    played = episodes(mdp, choose)
    value = sum(p * earned for _, p, earned in played)
    unsafe = sum(p for x, p, _ in played if mdp.unsafe[list(x[:-1:2])].any())
    assert abs(value - plan.value) < 1e-12 and abs(unsafe - plan.risk) < 1e-12
    found = st.evaluate(*plan.with_memory(mdp))
    assert abs(found.value - value) < 1e-12 and abs(found.unsafe_probability - unsafe) < 1e-12


@given(worlds(max_states=5, max_policies=10**9))
@settings(max_examples=many(50, 150), deadline=None)
def test_no_risk_is_safe_optimal_and_any_risk_is_optimal(mdp):
    any_risk, best = st.constrained_optimal(mdp, risk=1), st.optimal(mdp)
    assert abs(any_risk.value - best.value) < 1e-12
    assert any_risk.risk <= st.evaluate(mdp, best.policy).unsafe_probability + 1e-12
    least = st.least_risk(mdp)
    plan = st.constrained_optimal(mdp, risk=least.risk)
    assert plan.value >= least.value - 1e-11 and plan.risk <= least.risk + 1e-11
    if st.is_feasible(mdp):
        safe = st.safe_optimal(mdp)
        assert (plan.value, plan.risk) == (safe.value, 0.0)
        assert st.evaluate(mdp, plan.policy[0]).unsafe_probability == 0
    else:
        with pytest.raises(st.BudgetError, match=r"^risk is 0; the least risk of any policy is "):
            st.constrained_optimal(mdp, risk=0)


def test_who_has_been_unsafe_need_not_mind_any_more():
    """A path with a hole; care keeps out of it more often, and pays nothing."""
    P = np.zeros((3, 2, 3))
    P[:2, 0] = [0.0, 0.9, 0.1]
    P[:2, 1] = [0.0, 0.5, 0.5]
    P[2, :, 1] = 1  # from the hole back to the path
    mdp = st.SafeMDP(P, [[0, 1], [0, 1], [0, 0]], [0, 0, 1], 0.5, H=4)
    least = st.least_risk(mdp)
    plan = st.constrained_optimal(mdp, risk=least.risk)
    assert least.risk == pytest.approx(1 - 0.9**3)
    # Careful until the last step, after which nothing follows.  Who is in the hole at step 2 earns
    # at step 3 when careless, and at step 4 if not in the hole again.
    assert least.value == pytest.approx(0.9**3 + 0.9 * 0.1 + 0.1 * 0.9)
    assert plan.value - least.value == pytest.approx(0.1 * (1 + 0.5 - 0.9))
    assert plan.policy[1, 2, 1].tolist() == [0, 1] and plan.policy[0, 2, 1].tolist() == [1, 0]


@each("seed", range(10))
def test_where_an_accident_costs_one_and_ends_all_the_risk_is_the_expected_cost(seed):
    mdp = st.instances.random_mdp(8, 3, 6, seed, unsafe=0.4, stationary=seed % 2 == 0)
    S, start = mdp.S, int(np.argmin(mdp.c))
    P = np.zeros((mdp.H, S + 1, mdp.A, S + 1))
    P[:, :S, :, :S] = mdp.P
    P[:, mdp.unsafe.nonzero()[0]] = P[:, S] = np.eye(S + 1)[S]
    r = np.concatenate([mdp.r, np.zeros((mdp.H, 1, mdp.A))], axis=1)
    once = st.SafeMDP(P, r, np.append(1.0 * mdp.unsafe, 0), 0.5, mdp.H, start)
    least = st.least_risk(once).risk
    for x in least + np.array([0.01, 0.2, 0.6]) * (1 - least):
        by_risk, by_cost = st.constrained_optimal(once, risk=x), st.constrained_optimal(once, x)
        assert abs(by_risk.value - by_cost.value) < 1e-11
        assert abs(by_risk.risk - by_cost.cost) < 1e-11
        # Once it is over there is nothing to do otherwise, and so nothing to remember.
        assert abs(st.evaluate(once, by_risk.policy[0]).value - by_risk.value) < 1e-11


def test_who_starts_unsafe_has_risk_1():
    mdp = st.SafeMDP(np.eye(2)[[[0, 1], [0, 1]]], [[0, 0], [0, 1]], [0, 1], 0.5, H=3, s1=1)
    plan = st.constrained_optimal(mdp, risk=1)
    assert (plan.value, plan.risk) == (3.0, 1.0)
    assert st.evaluate(*plan.with_memory(mdp)).value == 3
    assert risk_corners(mdp).tolist() == [[1, 3]]
    with pytest.raises(st.BudgetError, match=r"^risk is 0.5; the least risk of any policy is 1$"):
        st.constrained_optimal(mdp, risk=0.5)


@each("seed", range(20))
def test_the_least_risk_that_an_error_names_can_be_asked_for(seed):
    mdp = world(seed)
    least = st.least_risk(mdp).risk
    if least:
        with pytest.raises(st.BudgetError, match=r"^risk is .*; the least risk of any") as told:
            st.constrained_optimal(mdp, risk=0.999 * least)
        named = float(re.split(" ", str(told.value))[-1])
        assert st.constrained_optimal(mdp, risk=named).risk == pytest.approx(least)


@each("seed", range(24))
def test_the_frontier_is_concave_and_its_corners_are_best(seed):
    mdp = world(seed)
    corners = risk_corners(mdp)
    (least, low), (most, high) = corners[0], corners[-1]
    assert abs(least - st.least_risk(mdp).risk) < 1e-11
    assert abs(high - st.optimal(mdp).value) < 1e-11
    if len(corners) == 1:
        return
    steps = np.diff(corners, axis=0)
    assert (steps > 0).all() and (np.diff(steps[:, 1] / steps[:, 0]) < 1e-9).all()
    for x, y in corners:
        assert abs(y - best_by_lp(mdp, x)) < 1e-8
    for x in least + np.array([0.05, 0.5, 0.9]) * (most - least):
        between = np.interp(x, *corners.T)
        value = st.constrained_optimal(mdp, risk=x).value
        assert -1e-9 <= value - between <= 1e-4 * (high - low) + 1e-9


def test_only_corners_that_nobody_could_see_are_left_out(monkeypatch):
    mdp = st.instances.server_room()
    seen = risk_corners(mdp)
    monkeypatch.setattr("safeteach.planning.risk.FLAT", 0)
    every = risk_corners(mdp)
    assert 20 < len(seen) < len(every)
    above = every[:, 1] - np.interp(every[:, 0], *seen.T)
    assert above.min() > -1e-9 and above.max() < 1e-4 * (seen[-1, 1] - seen[0, 1])


@given(worlds(max_states=4, max_policies=10**6))
@settings(max_examples=many(20, 60), deadline=None)
def test_the_world_that_remembers_moves_and_pays_as_before(mdp):
    plan = st.constrained_optimal(mdp, risk=1)
    twice, policy = plan.with_memory(mdp)
    assert policy.shape == (mdp.H, 2 * mdp.S, mdp.A) and twice.stationary == mdp.stationary
    both = twice.P.reshape(mdp.H, 2, mdp.S, mdp.A, 2, mdp.S)
    assert (both.sum(axis=4) == mdp.P[:, None]).all()
    assert (both[:, 0, :, :, 1][..., ~mdp.unsafe] == 0).all()
    assert (both[:, 0, :, :, 0][..., mdp.unsafe] == 0).all() and (both[:, 1, :, :, 0] == 0).all()
    assert (twice.r.reshape(mdp.H, 2, mdp.S, mdp.A) == mdp.r[:, None]).all()
    assert (twice.c.reshape(2, mdp.S) == mdp.c).all()
    assert twice.s1 == mdp.s1 + mdp.S * mdp.unsafe[mdp.s1]
    assert twice.state_name(mdp.S) == "0, after" and twice.tau == mdp.tau


def cliff_walk(H, *actions):
    """One safe state and a fall that ends all; actions are (reward, risk of a step)."""
    P = [[[1 - p, p] for _, p in actions], [[0, 1]] * len(actions)]
    return st.SafeMDP(P, [[r for r, _ in actions], [0] * len(actions)], [0, 1], 0.5, H)


def least_price_of(mdp, risk):
    """What no policy within a risk can exceed: the least, over prices, of worth + price * risk."""
    r, p = mdp.r[0, 0], mdp.P[0, 0, :, 1]

    low, high = -10.0, np.log(4 * mdp.H / risk) + 12  # of the logarithm of the price
    for _ in range(9):
        price = np.exp(np.linspace(low, high, 65))
        V = np.full(65, r.max())
        for _ in range(mdp.H - 1):
            V = (r - price[:, None] * p + (1 - p) * V[:, None]).max(axis=1)
        bound = V + price * risk
        best = bound.argmin()  # it is convex in the price, and so the best is next to this one
        low, high = np.log(price[[max(best - 1, 0), min(best + 1, 64)]])
    return bound.min()


@pytest.mark.parametrize(
    ("H", "actions", "risk"),
    [
        (1000, [(0, 0), (1, 9e-10)], 1e-8),
        (10_000, [(0, 0), (1, 9e-9)], 1e-6),
        (1000, [(0, 0), (0.027, 5.16e-10), (0.203, 2.59e-9), (0.835, 5.73e-9)], 7.2e-7),
        (200, [(0, 0), (0.001, 3.38e-11), (0.195, 1.29e-9), (0.715, 4.89e-9)], 3.4e-7),
        (1000, [(0, 1e-12), (1, 5e-10)], 2e-9),
        (50, [(0, 0), (0.5, 1e-200), (1, 1e-100)], 1e-150),
        (10, [(0, 0), (0.5, 0.01), (1, 0.2)], 0.1),
    ],
)
def test_a_tiny_risk_is_kept_and_all_is_earned_that_it_allows(H, actions, risk):
    mdp = cliff_walk(H, *actions)
    plan = st.constrained_optimal(mdp, risk=risk)
    found = st.evaluate(*plan.with_memory(mdp))
    assert max(plan.risk, found.unsafe_probability) <= risk * (1 + 1e-12 * H)
    assert found.value == pytest.approx(plan.value, rel=1e-11)
    assert plan.value == pytest.approx(least_price_of(mdp, risk), rel=1e-10)


@each("seed", range(40))
def test_how_small_a_risk_is_does_not_matter(seed):
    rng = np.random.default_rng(seed)
    scale, H = 10.0 ** -rng.integers(1, 200), int(rng.integers(5, 60))
    sizes = scale / H * np.sort(rng.random(3)) * [rng.choice([0, 1e-3, 1]), 1, 1]
    mdp = cliff_walk(H, *zip(np.sort(rng.random(3)).tolist(), sizes.tolist(), strict=True))
    least = st.least_risk(mdp).risk
    risk = least + rng.choice([1e-3, 0.3, 0.8]) * (H * sizes[-1] - least)
    plan = st.constrained_optimal(mdp, risk=risk)
    assert st.evaluate(mdp, plan.policy[0]).unsafe_probability <= risk * (1 + 1e-12 * H)
    assert plan.value == pytest.approx(least_price_of(mdp, risk), rel=1e-9)


def test_the_least_risk_is_met_however_small_it_is():
    mdp = cliff_walk(1000, (0, 1e-12), (1, 5e-10))
    least = st.least_risk(mdp)
    plan = st.constrained_optimal(mdp, risk=least.risk)
    assert plan.risk == pytest.approx(least.risk, rel=1e-12, abs=0)
    assert plan.value == pytest.approx(1)  # at the last step
    assert risk_corners(mdp)[0].tolist() == pytest.approx([least.risk, 1], rel=1e-9, abs=0)


def test_a_risk_that_hardly_is_a_number_is_kept():
    mdp = cliff_walk(100, (0, 0), (1, 1e-300))
    plan = st.constrained_optimal(mdp, risk=1e-320)
    assert plan.risk <= 1e-320 and plan.value == pytest.approx(1)
    mdp = cliff_walk(5, (0, 0), (1, 1e-320))  # no number is the price of this
    plan = st.constrained_optimal(mdp, risk=2e-320)
    assert plan.value == pytest.approx(3, rel=1e-3)


def test_of_equal_rewards_the_lowest_risk_is_taken_and_of_equal_risks_the_best_paid():
    mdp = cliff_walk(9, (0.5, 1e-13), (0.5, 0), (0.1, 0))
    plan = st.constrained_optimal(mdp, risk=1)
    assert (plan.value, plan.risk) == (4.5, 0.0)
    assert risk_corners(mdp).tolist() == [[0, 4.5]]
    mdp = cliff_walk(9, (0.1, 1e-13), (0.5, 1e-13), (0.9, 0.1))
    plan = st.constrained_optimal(mdp, risk=st.least_risk(mdp).risk)
    assert plan.value == pytest.approx(8 * 0.5 + 0.9)


def test_what_differs_by_more_than_rounding_differs():
    mdp = cliff_walk(9, (1 - 1e-8, 0), (1, 1e-9))
    assert st.constrained_optimal(mdp, risk=1).value == pytest.approx(9, rel=1e-8, abs=0)
    assert st.constrained_optimal(mdp, risk=1).risk == pytest.approx(8e-9)
    mdp = cliff_walk(9, (0, 1e-9), (1, (1 + 1e-6) * 1e-9))
    least = st.least_risk(mdp).risk
    plan = st.constrained_optimal(mdp, risk=least * (1 - 5e-12))  # copied off an error
    assert plan.risk == pytest.approx(least, rel=1e-11, abs=0)
    assert (plan.policy >= 0).all() and plan.value == pytest.approx(1)


def test_rewards_that_are_added_up_in_two_ways_are_equal():
    """0.1 + 0.2 is a little more than 0.3, and no reason to risk anything."""
    P = np.zeros((5, 2, 5))
    P[0, 0, [1, 3]], P[0, 1, [1, 2, 3, 4]] = [0.3, 0.7], [0.1, 0.2, 0.6, 0.1]
    P[1:, :, 1:] = np.eye(4)[:, None]
    r = [[0, 0], [1, 1], [1, 1], [0, 0], [0, 0]]
    mdp = st.SafeMDP(P, r, [0, 0, 0, 0, 1], 0.5, H=2)
    plan = st.constrained_optimal(mdp, risk=1)
    assert (plan.value, plan.risk) == (pytest.approx(0.3), 0)


def test_dust_in_the_rows_of_unsafe_states_says_nothing():
    """In the hole one action pays and one has a row that sums to a little less than 1."""
    dust = 9e-9
    P = [[[0.9, 0, 0.1], [0.5, 0, 0.5]], [[0, 1, 0]] * 2, [[0, 0, 1 - dust], [0, 0, 1]]]
    mdp = st.SafeMDP(P, [[0, 1], [0, 0], [0, 1]], [0, 0, 1], 0.5, H=5)
    least = st.least_risk(mdp).risk
    for risk in (least, 0.35, 0.6, 1):
        plan = st.constrained_optimal(mdp, risk=risk)
        assert st.evaluate(mdp, plan.policy[0]).value == pytest.approx(plan.value, abs=1e-7)


def test_an_error_shows_as_many_digits_as_it_takes():
    mdp = cliff_walk(5, (0, 0.1))
    with pytest.raises(st.BudgetError, match=r"^risk is 0\.34389999; the least .* is 0\.3439$"):
        st.constrained_optimal(mdp, risk=0.34389999)
    with pytest.raises(st.BudgetError, match=r"^budget is 0\.99999999; the least .* is 1$"):
        st.constrained_optimal(st.instances.school_road(), budget=0.99999999)


def test_a_plan_for_another_world_is_refused():
    plan = st.constrained_optimal(st.instances.school_road(), risk=0.25)
    with pytest.raises(
        ValueError, match=r"^mdp has \(H, S, A\) = \(10, 13, 4\); expected \(10, 20"
    ):
        plan.with_memory(st.instances.ice_corridor())


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "budget is None; expected a number, or in its place a risk"),
        ({"budget": 1.0, "risk": 0.5}, "budget is 1.0 and risk is 0.5; expected one of the two"),
        ({"risk": 1.5}, "risk is 1.5; expected a number in [0, 1]"),
        ({"risk": -0.1}, "risk is -0.1; expected a number in [0, 1]"),
        ({"risk": float("nan")}, "risk is nan; expected a number in [0, 1]"),
        ({"risk": True}, "risk is True; expected a number"),
    ],
)
def test_one_of_the_two_is_given_and_is_a_number(given, message):
    with pytest.raises((TypeError, ValueError), match="^" + re.escape(message)):
        st.constrained_optimal(st.instances.school_road(), **given)
