"""The statements of the chapter: tails, stacks, widths for every count, flags, hope, whole rows."""

import itertools
import math
from collections import defaultdict
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as hs
from looping import each, many

import safeteach as st


def tail_of_sum(values, chances, n, least):
    """Pr[X_1 + ... + X_n >= least] for whole values, exactly up to rounding."""
    low = min(values)
    one = np.zeros(max(values) - low + 1)
    for value, chance in zip(values, chances, strict=True):
        one[value - low] += chance
    law = np.ones(1)
    for _ in range(n):
        law = np.convolve(law, one)
    return law[max(0, math.ceil(least - n * low - 1e-9)) :].sum()


@pytest.mark.parametrize("n", [1, 2, 7, 40])
@pytest.mark.parametrize("x", [0, 0.1, 0.5, 1])
def test_chernoff(n, x):
    """lem-subgaussian, with exact tails: normal noise, signs, and rare large signs."""
    bound = math.exp(-n * x**2 / 2)
    assert math.erfc(x * math.sqrt(n / 2)) / 2 <= bound
    assert tail_of_sum([-1, 1], [0.5, 0.5], n, n * x) <= bound + 1e-12
    # 0 or ±3 as often as 1-sub-Gaussian noise may: the tail at 3 comes near the bound.
    lam = np.linspace(1e-3, 12, 10**5)
    q = (np.expm1(lam**2 / 2) / (np.cosh(3 * lam) - 1)).min()
    for y in (x, 3 * x):
        tail = tail_of_sum([-3, 0, 3], [q / 2, 1 - q, q / 2], n, n * y)
        assert tail <= math.exp(-n * y**2 / 2) + 1e-12
    assert tail_of_sum([-3, 0, 3], [q / 2, 1 - q, q / 2], 1, 3) > 0.98 * math.exp(-9 / 2)


@given(
    hs.lists(hs.integers(0, 10), min_size=5, max_size=5),
    hs.integers(1, 30),
    hs.floats(0, 1),
)
@settings(max_examples=many(105, 300), deadline=None)
def test_hoeffding(weights, n, share):
    """lem-hoeffding, both sides, for laws on {0, 1, 2, 3, 4} and exact tails."""
    if not sum(weights):
        weights = [1, 0, 0, 0, 1]
    chances = np.array(weights) / sum(weights)
    mean = chances @ np.arange(5)
    x = 4 * share
    bound = math.exp(-2 * n * x**2 / 16)
    assert tail_of_sum(range(5), chances, n, n * (mean + x)) <= bound + 1e-9
    assert tail_of_sum(range(5), chances[::-1], n, n * (4 - mean + x)) <= bound + 1e-9
    lam = np.linspace(-6, 6, 49)
    moments = np.exp(lam[:, None] * (np.arange(5) - mean)) @ chances
    assert (moments <= np.exp(lam**2 * 16 / 8) * (1 + 1e-12)).all()  # Hoeffding's lemma


@each("p", [0, 0.001, 0.02, 0.3, 0.5, 0.9, 1])
@each("n", [1, 5, 60, 400])
def test_bernstein(p, n):
    """lem-bernstein, with exact tails of the binomial law."""
    k = np.arange(n + 1)
    log_choose = math.lgamma(n + 1) - np.array(
        [math.lgamma(i + 1) + math.lgamma(n - i + 1) for i in k]
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = np.where(k > 0, k * np.log(p), 0) + np.where(k < n, (n - k) * np.log(1 - p), 0)
    law = np.exp(log_choose + parts)
    assert law.sum() == pytest.approx(1)
    for ell in (0.1, 1, 3, 8):
        width = math.sqrt(2 * p * (1 - p) * ell / n) + ell / (3 * n)
        assert law[abs(k / n - p) >= width].sum() <= 2 * math.exp(-ell) + 1e-12


def decide(history):
    """An agent of two states: it comes back to a state while it has looked cheap there."""
    mean = [sum(z for s, z in history if s == i) for i in (0, 1)]
    return 0 if mean[0] <= mean[1] else 1


def test_stacks():
    """lem-stack: a run on fresh noise and a run on stacks have the same law, exactly."""
    laws = [{-1: Fraction(1, 3), 1: Fraction(2, 3)}, {0: Fraction(1, 4), 2: Fraction(3, 4)}]
    steps = 4
    fresh = {(): Fraction(1)}
    for _ in range(steps):
        grown = defaultdict(Fraction)
        for history, chance in fresh.items():
            s = decide(history)
            for z, one in laws[s].items():
                grown[(*history, (s, z))] += chance * one
        fresh = grown
    on_stacks = defaultdict(Fraction)
    for stacks in itertools.product(
        itertools.product(laws[0], repeat=steps), itertools.product(laws[1], repeat=steps)
    ):
        chance = math.prod((laws[i][z] for i in (0, 1) for z in stacks[i]), start=Fraction(1))
        history, read = (), [0, 0]
        for _ in range(steps):
            s = decide(history)
            history = (*history, (s, stacks[s][read[s]]))
            read[s] += 1
        on_stacks[history] += chance
    assert dict(fresh) == dict(on_stacks)
    counts = {sum(s == 0 for s, _ in history) for history in fresh}
    assert len(counts) > 1, "the number of visits is random, or there is nothing to show"


@pytest.mark.parametrize("noise", ["normal", "signs"])
@pytest.mark.parametrize(("S", "delta"), [(1, 0.9), (4, 0.3)])
def test_a_width_for_every_count(noise, S, delta):
    """thm-anytime: both events fail in at most a share δ of the runs; a width for one n fails."""
    rng = np.random.default_rng(0)
    n = np.arange(1, 2001)
    beta = np.sqrt(2 * np.log(S * n * (n + 1) / delta) / n)
    once = np.sqrt(2 * np.log(1 / delta) / n)
    runs, high, low, naive = 300, 0, 0, 0
    for _ in range(runs):
        shape = (S, n.size)
        z = rng.standard_normal(shape) if noise == "normal" else rng.choice([-1.0, 1.0], shape)
        mean = z.cumsum(axis=1) / n
        high += (mean - beta > 0).any()
        low += (mean + beta < 0).any()
        naive += (mean - once > 0).any()
    slack = 4 * math.sqrt(delta * (1 - delta) / runs)
    assert high / runs <= delta + slack and low / runs <= delta + slack
    assert naive / runs > delta + slack / 4


def test_the_shares_of_the_union_add_up_to_delta():
    """thm-anytime, its proof: Σ_n S exp(-n β²/2) is δ (1 - 1/(N + 1)) for n up to N."""
    n = np.arange(1, 10**5 + 1)
    for S, delta in ((1, 0.9), (25, 0.005), (1000, 1e-9)):
        spent = S * np.exp(-n * st.bounds.beta(n, S, delta) ** 2 / 2).sum()
        assert spent == pytest.approx(delta * (1 - 1 / (n.size + 1)), rel=1e-9)


@given(hs.integers(0, 10**6), hs.floats(0, 1), hs.integers(1, 60), hs.floats(1e-6, 0.99))
@settings(max_examples=many(70, 200), deadline=None)
def test_who_is_flagged(seed, tau, S, delta):
    """cor-flag: on the events, no safe state ever, an unsafe one for good once 2β < gap."""
    rng = np.random.default_rng(seed)
    n = np.arange(1, 20_001)
    beta = np.sqrt(2 * np.log(S * n * (n + 1) / delta) / n)
    for c in (tau, min(1, tau + 0.3), rng.random()):
        # Any averages inside the band, not only those of honest noise.
        kinds = rng.choice([-1, 1, 0], n.size), rng.uniform(-1, 1, n.size)
        mean = c + beta * kinds[seed % 2]
        flagged = mean - beta > tau + 1e-12
        if c <= tau:
            assert not flagged.any()
        else:
            due = 2 * beta < c - tau - 1e-9
            assert flagged[due].all()
            if due.any():
                first = due.argmax()
                assert due[first:].all()
                library = st.bounds.visits_until_flagged(c - tau, S, delta)
                assert abs(library - n[first]) <= 1


@given(hs.integers(0, 10**6), hs.integers(2, 5))
@settings(max_examples=many(35, 100), deadline=None)
def test_hope_is_right_or_it_learns(seed, arms):
    """lem-optimism-toy: for averages anywhere within the width, however they move."""
    rng = np.random.default_rng(seed)
    mu = rng.random(arms)
    n = np.arange(0, 2001)
    w = np.full(n.size, np.inf)
    w[1:] = 0.5 / np.sqrt(n[1:]) * rng.uniform(0.5, 1)
    N, rounds = np.zeros(arms, int), 2000
    for _ in range(rounds):
        inside = np.where(N > 0, w[N], 0)
        mean = mu + inside * rng.choice([-1, 1, 0.3], arms)
        a = int(np.where(N > 0, mean + w[N], np.inf).argmax())
        assert mu.max() - mu[a] <= 2 * w[N[a]] + 1e-12
        N[a] += 1
    for a in range(arms):
        gap = mu.max() - mu[a]
        enough = np.flatnonzero(2 * w < gap - 1e-12)
        if enough.size:
            assert N[a] <= enough[0]


def counts(rng, P, K):
    """(H, S, A, K, S) the successors among the first 1 .. K entries of each stack."""
    H, S, A, _ = P.shape
    u = rng.random((H, S, A, K))
    successor = (P.cumsum(axis=3)[:, :, :, None, :] < u[..., None]).sum(axis=4)
    return (successor[..., None] == np.arange(S)).cumsum(axis=3)


def test_one_fixed_function():
    """lem-fixed-function: for V* at every (h, s, a) and n; not for functions of the data."""
    S, A, H, K, delta = 4, 2, 3, 60, 0.5
    n = np.arange(1, K + 1)
    width = H * np.sqrt(np.log(2 * S * A * H * K / delta) / (2 * n))
    assert np.allclose(width, st.bounds.value_width(n, S, A, H, K, delta))
    assert (width <= st.bounds.alpha(n, S, A, H, K, delta)).all()
    fails = largest = 0
    runs = 100
    for seed in range(runs):
        mdp = st.instances.random_mdp(S, A, H, seed, stationary=False)
        V = st.optimal(mdp).V
        P_hat = counts(np.random.default_rng(seed), mdp.P, K) / n[:, None]
        off = P_hat - mdp.P[:, :, :, None, :]
        error = abs(np.einsum("hsant,ht->hsan", off, V[1:]))
        fails += (error > width).any()
        largest = max(largest, (error / width).max())
    assert fails / runs <= delta
    assert largest > 0.1, "the errors are of another order: the check would not notice"
    # One row, many successors: what is fixed in advance is inside, what is chosen after is not.
    rng = np.random.default_rng(0)
    P = np.full(50, 0.02)
    P_hat = rng.multinomial(100, P, size=2000) / 100
    one = math.sqrt(math.log(2 / 0.05) / 200)
    assert (abs((P_hat - P)[:, :25].sum(axis=1)) > one).mean() <= 0.05
    assert (np.maximum(P_hat - P, 0).sum(axis=1) > one).mean() > 0.95


def test_the_whole_row():
    """lem-l1: the norm is twice the best subset, and inside the width at all rows and counts."""
    rng = np.random.default_rng(1)
    for _ in range(50):
        P = rng.dirichlet(np.ones(6))
        off = rng.multinomial(20, P) / 20 - P
        best = max(
            off[list(B)].sum() for size in range(7) for B in itertools.combinations(range(6), size)
        )
        assert abs(off).sum() == pytest.approx(2 * best)
    S, A, H, K, delta = 3, 2, 2, 60, 0.5
    n = np.arange(1, K + 1)
    width = np.sqrt(2 * np.log(2**S * S * A * H * K / delta) / n)
    assert np.allclose(width, st.bounds.l1_width(n, S, A, H, K, delta))
    fails = largest = 0
    for seed in range(100):
        P = np.random.default_rng(seed).dirichlet(np.ones(S), size=(H, S, A))
        P_hat = counts(np.random.default_rng(seed + 1000), P, K) / n[:, None]
        norm = abs(P_hat - P[:, :, :, None, :]).sum(axis=4)
        fails += (norm > width).any()
        largest = max(largest, (norm / width).max())
    assert fails / 100 <= delta
    assert largest > 0.3
    # The price √S is real: four times the successors, about twice the norm.
    norms = []
    for size in (16, 64, 256):
        P = np.full(size, 1 / size)
        P_hat = rng.multinomial(5000, P, size=200) / 5000
        norms.append(np.median(abs(P_hat - P).sum(axis=1)))
        assert (abs(P_hat - P).sum(axis=1) <= math.sqrt(2 * (size * math.log(2) + 3) / 5000)).all()
    assert np.allclose(np.divide(norms[1:], norms[:-1]), 2, atol=0.15)


def test_the_printed_lemma():
    """Slips of Lemma B.1: at a count chosen by the data, at every count, and on two sides."""
    rng = np.random.default_rng(3)
    K, delta = 100, 0.5
    z = rng.standard_normal((20_000, K - 1)).cumsum(axis=1)
    high = z / np.arange(1, K) > st.bounds.beta_printed(np.arange(1, K), 1, K, delta)
    assert high[:, -1].mean() <= delta / K  # a count fixed in advance
    assert high.any(axis=1).mean() > 1.3 * delta / K  # a count that stops at bad luck
    n = np.unique(np.geomspace(1, 10**6, 400).astype(int))
    steps = np.sqrt(np.diff(n, prepend=0))
    mean = (rng.standard_normal((2000, n.size)) * steps).cumsum(axis=1) / n
    assert (mean > st.bounds.beta_printed(n, 1, 2, delta)).any(axis=1).mean() > 1.1 * delta
    assert (mean > st.bounds.beta(n, 1, delta)).any(axis=1).mean() <= delta
    x = math.sqrt(2 * math.log(1000))
    lam = np.linspace(0.001, 12, 10**5)
    q = (np.expm1(lam**2 / 2) / (np.cosh(lam * x) - 1)).min()
    assert 1.9 / 1000 < q <= 2 / 1000
