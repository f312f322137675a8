"""The least risk, against all policies, Storm, linear programs and the sets that it defines."""

import numpy as np
import pytest
from benchmarks.valleys import valleys
from hypothesis import given, settings
from looping import each, many
from oracles.brute_force import all_policies, worlds
from oracles.linear_programs import model_lp
from oracles.remembering import remembering
from oracles.storm import minimal_risk, storm_model, unfold

import safeteach as st
from safeteach.planning import backward, least
from safeteach.worlds import rows


def both_from_everywhere(mdp, policy):
    """(H, S) risk and value of a deterministic policy from every state at every step."""
    risk, value = np.zeros((mdp.H + 1, mdp.S)), np.zeros((mdp.H + 1, mdp.S))
    here = np.arange(mdp.S)
    for i in reversed(range(mdp.H)):
        P = mdp.P[i, here, policy[i]]
        value[i] = mdp.r[i, here, policy[i]] + P @ value[i + 1]
        risk[i] = np.where(mdp.unsafe, 1, P @ risk[i + 1])
    return risk[:-1], value[:-1]


@given(worlds(max_policies=256))
@settings(max_examples=many(50, 150), deadline=None)
def test_no_policy_has_less_risk_and_none_of_so_little_has_more_reward(mdp):
    found = st.least_risk(mdp)
    policies = all_policies(mdp)
    policies[:, -1] = mdp.r[-1].argmax(axis=1)  # the last action leads nowhere that counts
    risks, values = zip(*(both_from_everywhere(mdp, one) for one in policies), strict=True)
    assert np.allclose(found.risks, np.min(risks, axis=0), rtol=1e-12, atol=0)
    risk, value = both_from_everywhere(mdp, found.policy)
    assert np.allclose(found.risks, risk, rtol=1e-12, atol=0)
    least_everywhere = np.isclose(risks, found.risks, rtol=1e-11, atol=0).all(axis=(1, 2))
    assert np.allclose(value, np.max(np.array(values)[least_everywhere], axis=0), atol=1e-12)
    assert found.risk == found.risks[0, mdp.s1]
    assert abs(found.value - value[0, mdp.s1]) < 1e-12


@given(worlds(max_states=6, max_actions=3, max_policies=10**9))
@settings(max_examples=many(105, 300), deadline=None)
def test_it_is_zero_exactly_outside_of_U_and_there_does_what_safe_optimal_does(mdp):
    found, U = st.least_risk(mdp), st.potentially_unsafe(mdp)
    assert ((found.risks > 0) == U).all() and (found.risks <= 1).all()
    assert (found.risks[:, mdp.unsafe] == 1).all()
    assert st.is_feasible(mdp) == (found.risk == 0)
    if st.is_feasible(mdp):
        safe = st.safe_optimal(mdp)
        assert found.value == safe.value
        assert (found.policy == safe.policy)[~U].all()


@pytest.mark.parametrize("seed", range(3))
def test_it_equals_storm_on_stationary_worlds(seed):
    mdp = st.instances.random_mdp(200, 3, 8, seed, successors=5, unsafe=0.3)
    model, risks = storm_model(mdp), st.least_risk(mdp).risks
    for h in range(1, mdp.H + 1):
        assert np.allclose(minimal_risk(model, mdp.H - h), risks[h - 1], rtol=1e-12, atol=0)


@pytest.mark.parametrize("seed", range(3))
def test_it_equals_storm_on_unfolded_step_dependent_worlds(seed):
    mdp = st.instances.random_mdp(40, 3, 6, seed, unsafe=0.3, stationary=False)
    theirs = minimal_risk(storm_model(unfold(mdp)), mdp.H - 1).reshape(mdp.H, mdp.S)
    assert np.allclose(theirs, st.least_risk(mdp).risks, rtol=1e-12, atol=0)


@each("seed", range(20))
def test_it_equals_the_linear_program(seed):
    mdp = st.instances.random_mdp(7, 3, 5, seed, unsafe=0.4, stationary=seed % 2 == 0)
    P, _r, c, s1 = remembering(mdp)
    assert abs(-model_lp(P, -c, c, s1, 2.0) - st.least_risk(mdp).risk) < 1e-9


@each("seed", range(20))
def test_a_longer_episode_never_has_less_risk(seed):
    mdp = st.instances.random_mdp(12, 3, 9, seed, unsafe=0.3)
    risks = st.least_risk(mdp).risks
    assert (np.diff(risks, axis=0) <= 0).all()  # not even by rounding
    for H in range(1, 9):
        shorter = st.SafeMDP(mdp.P[0], mdp.r[0], mdp.c, mdp.tau, H)
        assert (st.least_risk(shorter).risks == risks[-H:]).all()


@pytest.fixture(params=["numpy", "compiled"])
def either_way(request, monkeypatch):
    monkeypatch.setattr(rows, "MANY", 0 if request.param == "compiled" else 10**9)


@pytest.mark.usefixtures("either_way")
def test_a_risk_too_small_for_a_number_is_a_risk():
    """From 1 to 2 and on to the hole 3, with 1e-250 each; from 0 to 1 only by one action."""
    tiny, S = 1e-250, 4
    P = np.zeros((S, 2, S))
    P[0, 0, 0] = P[3, :, 3] = 1
    P[0, 1, [0, 1]] = 1 - tiny, tiny
    P[1, :, 1:3] = P[2, :, 2:] = 1 - tiny, tiny
    mdp = st.SafeMDP(P, np.tile([0, 1], (S, 1)), [0, 0, 0, 1], 0.5, H=3, s1=1)
    found = st.least_risk(mdp)
    assert 0 < found.risk < 1e-300
    assert ((found.risks > 0) == st.potentially_unsafe(mdp)).all()
    longer = st.least_risk(st.SafeMDP(P, mdp.r[0], mdp.c, 0.5, H=4, s1=0))
    assert longer.risk == 0 and longer.policy[0, 0] == 0  # though 1 pays, and costs 1e-750


def one_choice(risky, cautious, r):
    """At the start two actions with their chances to fall; then all is over."""
    P = np.zeros((3, 2, 3))
    P[0, 0], P[0, 1] = risky, cautious
    P[1:, :, 1:] = np.eye(2)[:, None]
    return st.SafeMDP(P, [r, [0, 0], [0, 0]], [0, 0, 1], 0.5, H=2)


@pytest.mark.usefixtures("either_way")
def test_of_equal_risks_the_better_paid_is_taken_then_the_lowest():
    even, worse = [0, 0.9, 0.1], [0, 0.8, 0.2]
    for first, second, r, chosen in (
        (even, even, [0.3, 0.4], 1),
        (even, even, [0.4, 0.4], 0),
        (even, worse, [0.3, 1.0], 0),
        (worse, even, [1.0, 0.0], 1),
    ):
        found = st.least_risk(one_choice(first, second, r))
        assert found.policy[0, 0] == chosen
        assert (found.risk, found.value) == (0.1, r[chosen])


@pytest.mark.usefixtures("either_way")
def test_what_is_added_up_in_two_ways_is_equal():
    """0.1 + 0.2 is a little more than 0.3."""
    P = np.zeros((5, 2, 5))
    P[0, 0, [1, 2]], P[0, 1, [1, 2, 3]] = [0.7, 0.3], [0.7, 0.1, 0.2]
    P[1:, :, 1:] = np.eye(4)[:, None]
    mdp = st.SafeMDP(P, [[0, 1]] + [[0, 0]] * 4, [0, 0, 1, 1, 1], 0.5, H=2)
    assert P[0, 1, 2:].sum() > P[0, 0, 2]
    found = st.least_risk(mdp)
    assert found.policy[0, 0] == 1 and found.risk == 0.3


def any_world(seed, stationary, S=45, A=3, H=5):
    """Long rows and short ones, some that sum to a little more than 1, coarse rewards."""
    rng = np.random.default_rng(seed)
    steps = 1 if stationary else H
    few = rng.random((steps, S, A, S)).argsort(axis=3) < rng.integers(1, 40, (steps, S, A, 1))
    P = few * rng.uniform(0.1, 1, few.shape)
    P /= P.sum(axis=3, keepdims=True)
    P *= rng.choice([1, 1 + 5e-9], (steps, S, A, 1))
    P[:, :3] = np.eye(S)[5] * (1 + 5e-9)  # there is no other way than into the hole 5
    r, c = rng.random((steps, S, A)).round(1), np.where(rng.random(S) < 0.15, 0.9, 0.1)
    c[:3], c[5] = 0.1, 0.9
    P, r = (P[0], r[0]) if stationary else (P, r)
    return st.SafeMDP(P, r, c, 0.5, H, int(rng.integers(S)))


@pytest.mark.parametrize("form", ["compiled", "plain"])
@each("seed", range(8))
def test_large_worlds_have_the_same_bits(seed, form):
    mdp = any_world(seed, stationary=seed % 2 == 0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rows, "MANY", 10**9)
        by_numpy = st.least_risk(mdp)
        patch.setattr(rows, "MANY", 0)
        if form == "plain":
            for module in (backward, least):
                for name, kernel in list(vars(module).items()):
                    if hasattr(kernel, "py_func"):
                        patch.setattr(module, name, kernel.py_func)
        assert st.least_risk(mdp) == by_numpy
    assert (by_numpy.risks[:-1, :3] == 1).all()


def test_many_states_and_steps():
    mdp = valleys(20_000, 60, every=2)
    assert mdp.rows(1).pay_for_numba()
    found = st.least_risk(mdp)
    assert ((found.risks > 0) == st.potentially_unsafe(mdp)).all()


def test_a_game_is_refused():
    with pytest.raises(TypeError, match=r"^mdp is SafeGame\(.*; expected a SafeMDP"):
        st.least_risk(st.instances.penny_bridge())
