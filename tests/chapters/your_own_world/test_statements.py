"""The statements of *Your own world*, one test each, on worlds that would show a false one."""

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as hs
from looping import each, many
from oracles.brute_force import all_policies, episodes, worlds
from oracles.remembering import remembering

import safeteach as st


def risks_of(mdp, policies):
    """(n, H, S) the risk of deterministic policies, from everywhere."""
    risk = np.empty((len(policies), mdp.H, mdp.S))
    risk[:, -1] = mdp.unsafe
    for i in reversed(range(mdp.H - 1)):
        moves = mdp.P[i][np.arange(mdp.S), policies[:, i]]
        risk[:, i] = np.where(mdp.unsafe, 1.0, np.einsum("nst,nt->ns", moves, risk[:, i + 1]))
    return risk


def forgetful(mdp, seed):
    """A policy that looks at all that has happened, and at nothing sensible."""

    def choose(x):
        return np.random.default_rng([seed, *x, len(x)]).dirichlet(np.full(mdp.A, 0.5))

    return choose


def ever_unsafe(mdp, x):
    return bool(mdp.unsafe[list(x[0 : 2 * mdp.H : 2])].any())


def by_recursion(mdp):
    rho = np.zeros((mdp.H, mdp.S))
    rho[-1] = mdp.unsafe
    for h in range(mdp.H - 1, 0, -1):
        later = [
            [sum(p * q for p, q in zip(row, rho[h], strict=True)) for row in rows]
            for rows in mdp.P[h - 1]
        ]
        rho[h - 1] = [1.0 if u else min(x) for u, x in zip(mdp.unsafe, later, strict=True)]
    return rho


@given(worlds(max_policies=256), hs.integers(0, 99))
@settings(max_examples=many(50, 150), deadline=None)
def test_the_least_risk(mdp, seed):
    """The recursion is the least of all policies, of one at once, and zero exactly off U_h."""
    rho, risks = by_recursion(mdp), risks_of(mdp, all_policies(mdp))
    assert np.allclose(rho, risks.min(axis=0), rtol=0, atol=1e-12)
    assert np.isclose(risks, rho, rtol=0, atol=1e-12).all(axis=(1, 2)).any()
    assert ((rho == 0) == ~st.potentially_unsafe(mdp)).all()
    if mdp.S**mdp.H * mdp.A**mdp.H <= 1500:  # who remembers and randomises has no less
        its = sum(p for x, p, _ in episodes(mdp, forgetful(mdp, seed)) if ever_unsafe(mdp, x))
        assert its >= rho[0, mdp.s1] - 1e-12


@given(worlds(max_states=2, max_actions=2, max_policies=64), hs.integers(0, 99))
@settings(max_examples=many(35, 100), deadline=None)
def test_one_bit_of_memory(mdp, seed):
    """Who forgets all but the state and the bit earns the same at the same risk."""
    lived = list(episodes(mdp, forgetful(mdp, seed)))
    law = np.zeros((mdp.H, 2, mdp.S, mdp.A))
    for x, p, _ in lived:
        bits = np.maximum.accumulate(mdp.unsafe[list(x[0:-1:2])]).astype(int)
        for h in range(mdp.H):
            law[h, bits[h], x[2 * h], x[2 * h + 1]] += p
    there = law.sum(axis=3, keepdims=True)
    bit = np.divide(law, there, out=np.full(law.shape, 1 / mdp.A), where=there > 0)

    P, r, c, s1 = remembering(mdp)  # its bit does not count the state itself
    bit[:, 0, mdp.unsafe] = bit[:, 1, mdp.unsafe]
    here, earned, risk = np.eye(2 * mdp.S)[s1], 0.0, 0.0
    for h in range(mdp.H):
        pairs = here[:, None] * bit[h].reshape(2 * mdp.S, mdp.A)
        earned, risk = earned + (pairs * r[h]).sum(), risk + (pairs * c[h]).sum()
        here = np.einsum("sa,sat->t", pairs, P[h])
    assert np.isclose(earned, sum(p * reward for _, p, reward in lived))
    assert np.isclose(risk, sum(p for x, p, _ in lived if ever_unsafe(mdp, x)))


def test_without_the_bit_it_is_false():
    """At the least risk of a quay, no Markov policy earns what one that remembers does."""
    P = [[[0.5, 0.5], [0, 1]], [[1, 0], [1, 0]]]
    quay = st.SafeMDP(P, [[0, 1], [0, 0]], [0, 1], tau=0.5, H=4)
    least = st.least_risk(quay).risk
    assert np.isclose(st.constrained_optimal(quay, risk=least).value, 0.875)
    every = np.stack([*np.ndindex(*[2] * 8)]).reshape(-1, 4, 2)
    found = [st.evaluate(quay, policy) for policy in every]
    assert np.isclose(max(e.value for e in found if e.unsafe_probability <= least), 0.625)


@each("seed", range(12))
def test_the_frontier_is_concave(seed):
    """F does not decrease and lies above its chords, which a coin attains."""
    mdp = st.instances.random_mdp(4, 2, 4, seed, unsafe=0.3, stationary=seed % 2 == 0)
    least = st.least_risk(mdp).risk
    q = np.linspace(least, 1.0, 9)
    F = np.array([st.constrained_optimal(mdp, risk=float(x)).value for x in q])
    assert (np.diff(F) >= -1e-9).all()
    for i, j in pairwise(range(0, 9, 2)):
        assert F[(i + j) // 2] >= (F[i] + F[j]) / 2 - 1e-9
    assert F[-1] <= st.optimal(mdp).value + 1e-9


@given(worlds(), hs.integers(0, 99), hs.floats(0, 1))
@settings(max_examples=many(35, 100), deadline=None)
def test_wrong_numbers(mdp, seed, epsilon):
    """Rows that differ by epsilon change the least risk by (H - h) epsilon at most."""
    other = np.random.default_rng(seed).dirichlet(np.full(mdp.S, 0.5), (mdp.H, mdp.S, mdp.A))
    P = (1 - epsilon) * mdp.P + epsilon * other
    moved = st.SafeMDP(P, mdp.r, mdp.c, mdp.tau, mdp.H, mdp.s1)
    apart = 0.5 * np.abs(P - mdp.P).sum(axis=-1).max()
    left = mdp.H - np.arange(1, mdp.H + 1)[:, None]
    assert (np.abs(by_recursion(mdp) - by_recursion(moved)) <= left * apart + 1e-12).all()


def test_a_verdict_from_wrong_numbers_may_be_wrong():
    for leak, feasible in ((0.0, True), (1e-9, False)):
        P = [[[1 - leak, leak]], [[0, 1]]]
        assert st.is_feasible(st.SafeMDP(P, [[0], [0]], [0, 1], tau=0.5, H=2)) == feasible
