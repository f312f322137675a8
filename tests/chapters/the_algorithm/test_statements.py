"""The statements of the chapter, one test each, on runs that would show a false one.

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
    """prop-union: U_h^k is part of the union's set, on E_1 that of U_h, and keeps safe actions."""
    sooner = 0
    for seed in SEEDS:
        mdp = some_world(seed, stationary=True)
        true = truth(mdp)
        for learner in some_run(mdp, seed, noise=1.0):
            exact, union = sets(learner, mdp), sets(learner, mdp, union=True)
            assert all(e <= u for e, u in zip(exact, union, strict=True))
            if costs_are_low(learner, mdp):
                assert all(u <= t for u, t in zip(union, true, strict=True))
                assert all(
                    safe_ones(mdp.successors, true, mdp, h, s)
                    <= safe_ones(learner.transitions.successors, union, mdp, h, s)
                    for h in range(1, mdp.H + 1)
                    for s in range(mdp.S)
                )
            sooner += exact != union
    assert sooner > 25, "the two must differ now and then"


def pooled_sets(learner, mdp):
    """[W_1^k, .., W_H^k], spread through what was seen at any step."""
    flagged = sets(learner, mdp)[-1]
    steps = range(1, mdp.H + 1)
    seen = {
        (s, a): {t for h in steps for t in learner.transitions.successors(h, s, a)}
        for s in range(mdp.S)
        for a in range(mdp.A)
    }
    W = [flagged]
    for _ in range(mdp.H - 1):
        stuck = {s for s in range(mdp.S) if all(W[0] & seen[s, a] for a in range(mdp.A))}
        W.insert(0, flagged | stuck)
    return W, seen


def test_pooled_counts_raise_no_false_alarm_and_know_as_much():
    """ex-the-algorithm-pooled-counts: in stationary worlds on E_1; elsewhere it can fail."""
    more = 0
    for seed in SEEDS:
        mdp = some_world(seed, stationary=True)
        true = truth(mdp)
        for learner in some_run(mdp, seed, noise=1.0):
            W, seen = pooled_sets(learner, mdp)
            exact = sets(learner, mdp)
            assert all(e <= w for e, w in zip(exact, W, strict=True))
            more += exact != W
            if costs_are_low(learner, mdp):
                assert all(w <= t for w, t in zip(W, true, strict=True))
                assert not any(
                    h < mdp.H and W[h] & seen[s, a]
                    for h in range(1, mdp.H + 1)
                    for s in range(mdp.S)
                    for a in safe_ones(mdp.successors, true, mdp, h, s)
                )
    assert more > 25
    mdp = st.instances.union_counterexample()
    wrong = [
        not all(w <= t for w, t in zip(pooled_sets(one, mdp)[0], truth(mdp), strict=True))
        for one in some_run(mdp, seed=0, noise=1.0)
        if costs_are_low(one, mdp)
    ]
    assert any(wrong)


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


@pytest.mark.parametrize("scale", [0.01, 1.0])
@pytest.mark.parametrize("seed", range(3))
def test_the_printed_recursion_must_lose(seed, scale):
    """The argument of the text: UCBVI until the flag, then 1.5 in all episodes but one."""
    mdp = st.instances.union_counterexample()
    start, x, _, _, u = range(5)
    free = st.SafeMDP(mdp.P, mdp.r, c=mdp.c, tau=1.0, H=mdp.H, s1=mdp.s1)
    assert not st.potentially_unsafe(free).any()
    printed = st.SUCBVI(mdp.known, episodes=5_000, bonus_scale=scale, recursion="paper")
    unafraid = st.SUCBVI(free.known, episodes=5_000, bonus_scale=scale)
    runs = zip(st.play(printed, mdp, seed), st.play(unafraid, free, seed), strict=True)
    later = []
    for (_, episode), (_, other) in runs:
        if not later and not printed.flagged.any():
            assert (episode.states == other.states).all()
            assert (episode.actions == other.actions).all()
            earned = episode.rewards.sum()
            assert earned == 2.5 if u in episode.states[:-1] else earned <= 2
            continue
        if not later:
            assert np.flatnonzero(printed.flagged).tolist() == [u]
            assert (printed.transitions.N[2, x] > 0).all()
            assert printed.transitions.N[2, x].sum() == printed.costs.N[u]
            tried = printed.transitions.N[0, start, 0] > 0
        later.append(episode.rewards.sum())
    assert len(later) > 3_000
    assert sum(earned != 1.5 for earned in later) <= (not tried)


def test_on_the_pond_the_bonus_keeps_it_in_the_water():
    """Without any reward the same unsafe actions are as good as the best safe one, or better."""
    mdp = st.instances.grid()
    learner = st.SUCBVI(mdp.known, episodes=5_000, bonus_scale=0.01)
    for _ in st.play(learner, mdp, seed=1):
        pass
    N, P_hat = learner.transitions.N, learner.transitions.P_hat
    safe, U = learner.safe_actions, learner.U
    V, Q = np.zeros(mdp.S), np.empty(N.shape)
    for h in reversed(range(mdp.H)):
        q = P_hat[h] @ V + learner.alpha / np.sqrt(np.maximum(N[h], 1))
        Q[h] = np.where(N[h] > 0, np.minimum(mdp.H, q), mdp.H)
        V = np.where(safe[h] | U[h][:, None], Q[h], -np.inf).max(axis=1)
    stays = 0
    for h, s in np.argwhere((safe & (N > 0)).any(axis=2) & learner.flagged).tolist():
        a = learner.policy[h, s]
        if h < mdp.H - 1 and not safe[h, s, a]:
            assert Q[h, s, a] >= Q[h, s, safe[h, s]].max() - 1e-9
            stays += 1
    assert stays > 5


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
