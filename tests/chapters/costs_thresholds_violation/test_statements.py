"""The statements of the chapter: how much and whether, moving the threshold, and noisy looks."""

import math
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as hs
from looping import many

import safeteach as st


@hs.composite
def trials(draw):
    """A world with costs in degrees, a threshold that may equal one of them, and a policy."""
    seed = draw(hs.integers(0, 10**6))
    rng = np.random.default_rng(seed)
    H = draw(hs.integers(1, 5))
    base = st.instances.random_mdp(5, 2, H, rng, stationary=draw(hs.booleans()))
    c = rng.integers(0, 5, size=5) / 4
    tau = draw(hs.sampled_from([0.0, 0.2, 0.25, 0.5, 0.6, 1.0]))
    policy = rng.dirichlet(np.ones(2), size=(H, 5))
    if draw(hs.booleans()):
        policy = policy.round()
    return st.SafeMDP(base.P, base.r, c, tau, H), policy


def unsafe_steps(mdp, policy):
    """E[N], the expected number of unsafe steps."""
    law, total = np.eye(mdp.S)[mdp.s1], 0.0
    for i in range(mdp.H):
        total += law[mdp.c > mdp.tau].sum()
        law = np.einsum("s,sa,sat->t", law, policy[i], mdp.P[i])
    return total


@given(trials())
@settings(max_examples=many(140, 400), deadline=None)
def test_how_much_and_whether(trial):
    """prop-sandwich: gap Pr[N >= 1] <= gap E[N] <= v <= (c_max - tau) E[N] <= ... H Pr."""
    mdp, policy = trial
    assume(mdp.unsafe.any())
    e, N = st.evaluate(mdp, policy), unsafe_steps(mdp, policy)
    gap, most = mdp.c[mdp.unsafe].min() - mdp.tau, mdp.c.max() - mdp.tau
    chain = [gap * e.unsafe_probability, gap * N, e.violation, most * N,
             most * mdp.H * e.unsafe_probability]  # fmt: skip
    assert (np.diff(chain) >= -1e-12).all()


@given(trials())
@settings(max_examples=many(140, 400), deadline=None)
def test_zero_violation(trial):
    """cor-zero-violation: the violation is zero exactly for feasible policies."""
    mdp, policy = trial
    e = st.evaluate(mdp, policy)
    assert (e.violation == 0) == (e.unsafe_probability == 0)


def at(mdp, tau):
    return st.SafeMDP(mdp.P, mdp.r, mdp.c, tau, mdp.H, mdp.s1)


@given(trials())
@settings(max_examples=many(50, 150), deadline=None)
def test_moving_the_threshold(trial):
    """prop-moving-tau: violation convex with slope -E[N]; the best safe value climbs in jumps."""
    mdp, policy = trial
    taus = np.arange(0, 1.0001, 1 / 16)
    worlds = [at(mdp, tau) for tau in taus]
    v = np.array([st.evaluate(world, policy).violation for world in worlds])
    assert abs(v[0] - st.evaluate(mdp, policy).cost) < 1e-12
    assert (v[taus >= mdp.c.max()] == 0).all()
    slopes = np.diff(v) * 16  # the costs lie on this grid, so v is a straight line between
    assert (np.diff(slopes) >= -1e-9).all() and (slopes <= 1e-9).all()
    assert np.allclose(slopes, [-unsafe_steps(world, policy) for world in worlds[:-1]], atol=1e-9)
    values = [st.safe_optimal(world).value if st.is_feasible(world) else None for world in worlds]
    for before, after, tau in zip(values, values[1:], taus[1:], strict=False):
        if before is not None:
            assert after is not None and after >= before - 1e-12
            if tau not in mdp.c:
                assert abs(after - before) < 1e-12


@pytest.mark.parametrize("gap", [1.0, 0.4, 0.15])
@pytest.mark.parametrize("delta", [0.3, 0.05, 0.001])
def test_how_many_looks(gap, delta):
    """prop-looks: the exact error of n normal looks, the least n, and the sub-Gaussian bound."""
    normal = NormalDist()
    n = math.ceil((normal.inv_cdf(delta) / gap) ** 2)
    error = [normal.cdf(-gap * math.sqrt(m)) for m in range(max(n, 2) + 1)]
    assert error[n] <= delta and (n == 1 or error[n - 1] > delta)
    assert all(error[m] <= math.exp(-m * gap**2 / 2) for m in range(1, len(error)))
    enough = math.ceil(2 * math.log(1 / delta) / gap**2)
    assert enough >= n
    rng = np.random.default_rng(0)
    repeats = 4000
    for noise in (rng.standard_normal, lambda shape: rng.choice([-1.0, 1.0], shape)):
        average = noise((repeats, enough)).mean(axis=1)
        wrong = (average >= gap).mean()
        assert wrong <= delta + 4 * math.sqrt(delta * (1 - delta) / repeats)
    exact = normal.cdf(-gap * math.sqrt(n))
    wrong = (rng.standard_normal((repeats, n)).mean(axis=1) > gap).mean()
    assert abs(wrong - exact) <= 4 * math.sqrt(exact * (1 - exact) / repeats) + 1e-12


@given(
    hs.lists(hs.integers(-8, 16), min_size=1, max_size=6),
    hs.sampled_from([0.0, 0.25, 0.5, 1.0]),
)
def test_never_cut_before_you_average(quarters, tau):
    """The proof exercise: cutting each look is never too little, exact only on one side of tau."""
    z = np.array(quarters) / 4  # equally likely looks; quarters, so that sums are exact
    cut, true = np.maximum(z - tau, 0).mean(), max(z.mean() - tau, 0)
    assert cut >= true - 1e-12
    assert (abs(cut - true) < 1e-12) == bool((z >= tau).all() or (z <= tau).all())
