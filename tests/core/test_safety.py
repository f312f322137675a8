"""U_h and the safe actions, against every policy there is and against the model checker Storm."""

import copy
import pickle
import re
import subprocess
import sys

import numpy as np
import pytest
from benchmarks.valleys import valleys
from hypothesis import given, settings
from hypothesis import strategies as hs
from looping import many
from oracles.brute_force import all_policies, meets_unsafe, worlds
from oracles.storm import minimal_risk, storm_model, unfold

import safeteach as st
from safeteach.worlds import rows


@pytest.mark.slow
@given(worlds())
@settings(max_examples=many(350, 1000), deadline=None)
def test_exact_sets_equal_brute_force_over_all_policies(mdp):
    check_against_all_policies(mdp)


@pytest.mark.thorough
@given(worlds(max_states=4))
@settings(max_examples=20_000, deadline=None, derandomize=False)
def test_exact_sets_equal_brute_force_on_worlds_never_tried_before(mdp):
    check_against_all_policies(mdp)


def check_against_all_policies(mdp):
    policies = all_policies(mdp)
    U, safe = st.potentially_unsafe(mdp), st.safe_actions(mdp)
    for h in range(1, mdp.H + 1):
        for s in range(mdp.S):
            alone = np.arange(mdp.S) == s
            assert U[h - 1, s] == meets_unsafe(mdp, policies, h, alone).all()
            for a in range(mdp.A):
                after = mdp.P[h - 1, s, a] > 0
                doomed = h < mdp.H and meets_unsafe(mdp, policies, h + 1, after).all()
                assert safe[h - 1, s, a] == (not doomed)
    assert st.is_feasible(mdp) == (not U[0, mdp.s1])


@given(worlds(max_states=6, max_policies=10**9))
@settings(max_examples=many(175, 500), deadline=None)
def test_invariants(mdp):
    U, safe = st.potentially_unsafe(mdp), st.safe_actions(mdp)
    printed = st.potentially_unsafe(mdp, recursion="paper")
    assert (mdp.unsafe == U[-1]).all()
    assert (mdp.unsafe <= U).all()
    assert safe[-1].all()
    assert (printed >= U).all()
    assert (printed[:-1] >= printed[1:]).all()
    has_way_out = safe.any(axis=2)
    has_way_out[-1] = True
    assert ((has_way_out & ~mdp.unsafe) == ~U).all()
    if mdp.stationary:
        assert (U[:-1] >= U[1:]).all()
        assert (printed == U).all()


@given(worlds(max_states=6, max_policies=10**9), hs.integers(0, 5))
@settings(max_examples=many(175, 500), deadline=None)
def test_more_hazards_never_shrink_the_sets(mdp, extra):
    c = mdp.c.copy()
    c[extra % mdp.S] = 1.0
    worse = st.SafeMDP(mdp.P, mdp.r, c, mdp.tau, mdp.H)
    assert (st.potentially_unsafe(worse) >= st.potentially_unsafe(mdp)).all()
    assert (st.safe_actions(worse) <= st.safe_actions(mdp)).all()


@given(worlds(max_states=6, max_policies=10**9))
@settings(max_examples=many(175, 500), deadline=None)
def test_every_witness_is_one(mdp):
    U = st.potentially_unsafe(mdp)
    for h, s in np.argwhere(U) + np.array([1, 0]):
        w = st.witness(mdp, s, h)
        assert w.root == (h, s)
        reached, frontier = set(), [w.root]
        while frontier:
            node = frontier.pop()
            if node in reached:
                continue
            reached.add(node)
            step, state = node
            assert step <= mdp.H
            answers = w.answers[node]
            if mdp.unsafe[state]:
                assert answers == ()
                continue
            assert len(answers) == mdp.A
            for a, t in enumerate(answers):
                assert mdp.P[step - 1, state, a, t] > 0
                frontier.append((step + 1, t))
        assert reached == set(w.answers)
    for h, s in np.argwhere(~U) + np.array([1, 0]):
        with pytest.raises(ValueError, match=f"not potentially unsafe at step {h}"):
            st.witness(mdp, s, h)


@pytest.mark.slow
def test_the_printed_recursion_is_wrong_for_step_dependent_worlds_only():
    wrong = 0
    for seed in range(many(300, 1000)):
        for stationary in (True, False):
            mdp = st.instances.random_mdp(3, 2, 4, seed, stationary=stationary)
            policies = all_policies(mdp)
            truth = [meets_unsafe(mdp, policies, 1, row).all() for row in np.eye(3, dtype=bool)]
            printed = st.potentially_unsafe(mdp, recursion="paper")[0]
            if stationary:
                assert (printed == truth).all()
            else:
                wrong += (printed != truth).sum()
    assert wrong > 0


FULL = [pytest.param(seed, marks=pytest.mark.thorough) for seed in range(2, 12)]


@pytest.mark.parametrize("seed", [0, 1, *FULL])
def test_sets_equal_storm_on_stationary_worlds(seed):
    mdp = st.instances.random_mdp(300, 3, 8, seed, unsafe=0.3)
    U = st.potentially_unsafe(mdp)
    assert mdp.unsafe.sum() < U[0].sum() < mdp.S
    model = storm_model(mdp)
    for h in range(1, mdp.H + 1):
        assert ((minimal_risk(model, mdp.H - h) > 0) == U[h - 1]).all()


@pytest.mark.parametrize("seed", [0, 1, *FULL])
def test_sets_equal_storm_on_unfolded_step_dependent_worlds(seed):
    mdp = st.instances.random_mdp(60, 3, 6, seed, unsafe=0.25, stationary=False)
    U = st.potentially_unsafe(mdp)
    assert mdp.unsafe.sum() < U[0].sum() < mdp.S
    risk = minimal_risk(storm_model(unfold(mdp)), mdp.H - 1).reshape(mdp.H, mdp.S)
    assert ((risk > 0) == U).all()


@pytest.mark.parametrize("H", [1, 2, 60, 300, 500])
def test_doom_that_comes_from_afar_equals_storm(monkeypatch, H):
    mdp = valleys(8_000, H, every=2)
    until = st.doomed_until(mdp)
    assert mdp.rows(1).pay_for_numba()
    assert ((minimal_risk(storm_model(mdp), H - 1) > 0) == (until > 0)).all()
    assert (until[mdp.unsafe] == H).all() and (until[:4_000] == 0).all()
    if H > 300:
        assert until.max() - until[4_000:].min() > 300
    monkeypatch.setattr(rows, "MANY", 10**9)
    assert (st.doomed_until(mdp) == until).all()


def test_doom_is_met_after_as_many_steps_as_the_chain_is_long():
    """State s is s steps from the hazard 0 by one action, and by the other it goes on for ever."""
    S = 120
    P = np.zeros((2 * S, 1, 2 * S))
    P[np.arange(1, S), 0, np.arange(S - 1)] = 1
    P[0, 0, 0] = 1
    P[np.arange(S, 2 * S), 0, np.arange(S, 2 * S)] = 1
    c = np.arange(2 * S) == 0
    for H in (1, 2, 119, 120, 121, 400):
        until = st.doomed_until(st.SafeMDP(P, np.zeros((2 * S, 1)), c, 0.5, H))
        assert (until[:S] == np.maximum(H - np.arange(S), 0)).all() and (until[S:] == 0).all()


def test_step_dependent_worlds_have_no_such_number():
    mdp = st.instances.union_counterexample()
    message = "world is SafeMDP(S=5, A=2, H=4, tau=0.5, s1=0, 1 unsafe state, step-dependent); "
    with pytest.raises(ValueError, match=re.escape(message + "expected one whose P is the same")):
        st.doomed_until(mdp)


DROWN = """
import pickle, sys
import safeteach as st
mdp = st.SafeMDP([[[0.5, 0.5]]] * 2, [[0], [0]], [0, 1], 0.5, H=2)
try:
    st.safe_optimal(mdp)
except st.InfeasibleError as error:
    error.add_note("seen before")
    sys.stdout.buffer.write(pickle.dumps(error))
"""


def test_an_infeasible_world_says_why_from_another_process_too():
    error = pickle.loads(subprocess.check_output([sys.executable, "-c", DROWN]))
    again = [copy.copy(error), copy.deepcopy(error)]
    again += [pickle.loads(pickle.dumps(error, n)) for n in range(pickle.HIGHEST_PROTOCOL + 1)]
    for other in (error, *again):
        assert type(other) is st.InfeasibleError and other.__notes__ == ["seen before"]
        assert str(other).startswith("no feasible policy: the initial state 0 is in U_1: action 0")
        assert other.witness == st.Witness((1, 0), {(1, 0): (1,), (2, 1): ()})


def test_infeasible_worlds_are_refused_with_their_witness():
    mdp = st.instances.grid_from_map("S X\nX G", H=3)
    assert st.is_feasible(mdp)  # leaning on the wall is safe
    ice = st.SafeMDP(np.full((2, 1, 2), 0.5), np.zeros((2, 1)), [0, 1], 0.5, H=2,
                     state_names=["shore", "hole"], action_names=["wait"])
    assert not st.is_feasible(ice)
    with pytest.raises(st.InfeasibleError) as caught:
        st.safe_optimal(ice)
    assert str(caught.value) == (
        "no feasible policy: the initial state shore is in U_1: action wait may lead to hole, "
        "each unsafe or doomed in turn (see the error's .witness)"
    )
    assert caught.value.witness.answers == {(1, 0): (1,), (2, 1): ()}
    drowned = st.SafeMDP(np.eye(2)[:, None], np.zeros((2, 1)), [0, 1], 0.5, H=2, s1=1)
    with pytest.raises(st.InfeasibleError, match="1 is in U_1: it is unsafe itself"):
        st.safe_optimal(drowned)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: st.potentially_unsafe(m, recursion="printed"),
         'recursion is \'printed\'; expected "exact" or "paper"'),
        (lambda m: st.witness(m, 99, 1), "s is 99; the states are 0..4"),
        (lambda m: st.witness(m, 0, 0), "h is 0; the steps are 1..4"),
        (lambda m: st.witness(m, 0, 5), "h is 5; the steps are 1..4"),
        (lambda m: st.witness(m, 0, 1), "state start is not potentially unsafe at step 1"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        call(st.instances.union_counterexample())


@pytest.mark.parametrize(
    "ask", [st.potentially_unsafe, st.safe_actions, st.safe_optimal, st.optimal]
)
def test_what_would_not_fit_is_refused_before_it_is_allocated(ask):
    P = np.zeros((2, 1, 2))
    P[:, :, 0] = 1
    long = st.SafeMDP(P, np.zeros((2, 1)), c=[0, 1], tau=0.5, H=10**15)
    with pytest.raises(ValueError, match=r"would take [\d.]+ TB \(shape .*GB are free"):
        ask(long)
    assert st.doomed_until(long).tolist() == [0, 10**15]
