"""The statements of chapter 6, one test each, on runs that would show a false one.

Flags, sets and values are computed here from what a learner has counted, in plain loops.
"""

import math

import numpy as np
import pytest

import safeteach as st

SEEDS = range(24)
DELTA = 0.5  # large, so that events fail and unsafe states are flagged soon


def some_world(seed, stationary=None):
    if stationary is None:
        stationary = seed % 2 == 0
    return st.instances.random_mdp(5, 2, 4, seed, unsafe=0.4, stationary=stationary)


def some_run(mdp, seed, noise, recursion="exact", every=10):
    """Yield the learner before every tenth episode of a run."""
    learner = st.SUCBVI(mdp.known, episodes=250, delta=DELTA, bonus_scale=0.01, recursion=recursion)
    for k, _ in st.play(learner, mdp, seed, noise):
        if k % every == every - 1:
            yield learner


def low(learner, s):
    """ĉ(s) - β(N(s)), minus infinity where nothing was seen."""
    n = int(learner.costs.N[s])
    S = learner.known.S
    width = math.sqrt(2 * math.log(S * n * (n + 1) / DELTA) / n) if n else math.inf
    return learner.costs.mean[s] - width


def costs_are_low(learner, mdp):
    """The event E_1, at this moment."""
    return all(low(learner, s) <= mdp.c[s] for s in range(mdp.S))


def sets(learner, mdp, union=False):
    """[U_1^k, .., U_H^k] as Python sets, by the exact or by the printed recursion."""
    flagged = {s for s in range(mdp.S) if low(learner, s) > mdp.tau}
    U = [flagged]
    for h in range(mdp.H - 1, 0, -1):
        stuck = {
            s
            for s in range(mdp.S)
            if all(U[0] & set(learner.transitions.successors(h, s, a)) for a in range(mdp.A))
        }
        U.insert(0, (U[0] if union else flagged) | stuck)
    return U


def truth(mdp):
    return [set(np.flatnonzero(U_h).tolist()) for U_h in st.potentially_unsafe(mdp)]


def safe_ones(successors, U, mdp, h, s):
    """The actions of step h none of whose successors is in U_{h+1}."""
    if h == mdp.H:
        return set(range(mdp.A))
    return {a for a in range(mdp.A) if not U[h] & set(successors(h, s, a))}


def test_what_is_believed_is_contained_in_what_is_true():
    """lem-contained: on E_1 both inclusions hold for all s and h; off E_1 they can fail."""
    on, off, doomed = 0, 0, 0
    for seed in SEEDS:
        mdp = some_world(seed)
        true = truth(mdp)
        for learner in some_run(mdp, seed, noise=1.0 if seed % 3 else 4.0):
            believed = sets(learner, mdp)
            contained = all(b <= t for b, t in zip(believed, true, strict=True))
            kept = all(
                safe_ones(mdp.successors, true, mdp, h, s)
                <= safe_ones(learner.transitions.successors, believed, mdp, h, s)
                for h in range(1, mdp.H + 1)
                for s in range(mdp.S)
            )
            if costs_are_low(learner, mdp):
                assert contained
                assert kept
                on += 1
                doomed += any(b > believed[-1] for b in believed)
            else:
                off += not (contained and kept)
    assert on > 100, "the event must hold now and then"
    assert doomed > 50, "and something must have been found doomed"
    assert off > 20, "without the event the inclusions must be able to fail"


def test_the_sets_of_the_library_are_these():
    for seed in SEEDS:
        mdp = some_world(seed)
        for recursion in ("exact", "paper"):
            for learner in some_run(mdp, seed, noise=1.0, recursion=recursion, every=50):
                expected = sets(learner, mdp, union=recursion == "paper")
                assert [set(np.flatnonzero(U_h).tolist()) for U_h in learner.U] == expected


def test_in_a_stationary_world_the_union_is_right_and_sooner():
    """prop-union: on the same data U_h^k is part of the union's, which on E_1 is part of U_h."""
    sooner = 0
    for seed in SEEDS:
        mdp = some_world(seed, stationary=True)
        true = truth(mdp)
        for learner in some_run(mdp, seed, noise=1.0):
            exact, union = sets(learner, mdp), sets(learner, mdp, union=True)
            assert all(e <= u for e, u in zip(exact, union, strict=True))
            if costs_are_low(learner, mdp):
                assert all(u <= t for u, t in zip(union, true, strict=True))
            sooner += exact != union
    assert sooner > 25, "the two must differ now and then"


def test_in_a_step_dependent_world_the_union_can_be_wrong():
    """The same claim is false for the world of the counterexample, on E_1."""
    mdp = st.instances.union_counterexample()
    true = truth(mdp)
    wrong = [
        not all(u <= t for u, t in zip(sets(learner, mdp, union=True), true, strict=True))
        for learner in some_run(mdp, seed=0, noise=1.0, recursion="paper")
        if costs_are_low(learner, mdp)
    ]
    assert any(wrong)


def with_infinite_price(learner, mdp):
    """V and Q of a plain optimistic plan that pays minus infinity in every flagged state."""
    H, S, A = mdp.H, mdp.S, mdp.A
    N, P_hat = learner.transitions.N, learner.transitions.P_hat
    flagged = sets(learner, mdp)[-1]
    V, Q = np.zeros((H + 1, S)), np.empty((H, S, A))
    for h in range(H, 0, -1):
        for s in range(S):
            for a in range(A):
                n = N[h - 1, s, a]
                seen = learner.transitions.successors(h, s, a)
                future = sum(P_hat[h - 1, s, a, t] * V[h, t] for t in seen)
                q = mdp.r[h - 1, s, a] + future + learner.alpha / math.sqrt(n) if n else H
                Q[h - 1, s, a] = -math.inf if s in flagged else min(H, q)
            V[h - 1, s] = Q[h - 1, s].max()
    return V, Q


def test_a_mask_is_an_infinite_price():
    """prop-price: V is minus infinity exactly on U_h^k, elsewhere V and the safe Q agree."""
    doomed = 0
    for seed in SEEDS:
        mdp = some_world(seed)
        for learner in some_run(mdp, seed, noise=1.0, every=25):
            V, Q = with_infinite_price(learner, mdp)
            U = learner.U
            assert ((V[:-1] == -math.inf) == U).all()
            assert np.allclose(V[:-1][~U], learner.V[:-1][~U], rtol=0, atol=1e-9)
            free = learner.safe_actions & ~U[:, :, None]
            assert np.allclose(Q[free], learner.Q[free], rtol=0, atol=1e-9)
            assert (Q[~learner.safe_actions] == -math.inf).all()
            doomed += U[:-1].any()
    assert doomed > 30


@pytest.mark.parametrize("seed", range(3))
def test_the_set_in_the_printed_proof_is_the_complement(seed):
    """ERRATA C1: {s : some a has no seen successor in U_{h+1}} is all states at the start."""
    mdp = some_world(seed)
    learner = st.SUCBVI(mdp.known, episodes=1)
    learner.plan(np.random.default_rng(0))
    printed = learner.safe_actions.any(axis=2)
    assert printed.all()
    assert not learner.U.any()
