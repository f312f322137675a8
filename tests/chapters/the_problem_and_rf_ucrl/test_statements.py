"""The statements of the chapter, one test each, by means that would show a false one.

The recursion of E is written here a second time; where a statement is about every row within a
width, the rows are pushed to the edge of that width.
"""

import functools
import itertools
import math

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.stats import binom

import safeteach as st


def log_row(n, S, A, H, delta):
    """L(n)."""
    return S * math.log(2) + math.log(S * A * H * n * (n + 1) / delta)


def beta(n, S, A, H, delta):
    rows = (S - 1) * math.log(math.e * (1 + n / (S - 1))) if S > 1 else 0
    return math.log(2 * S * A * H / delta) + rows


def uncertainty(P_hat, N, delta, scale=1.0):
    """E by its definition."""
    H, S, A = N.shape
    E = np.zeros((H + 1, S, A))
    for h in range(H - 1, -1, -1):
        for s, a in itertools.product(range(S), range(A)):
            n, cap = int(N[h, s, a]), H - h
            if n == 0:
                E[h, s, a] = cap
                continue
            bonus = scale * cap * math.sqrt(2 * beta(n, S, A, H, delta) / n)
            future = sum(P_hat[h, s, a, t] * max(E[h + 1, t]) for t in range(S))
            E[h, s, a] = min(cap, bonus + future)
    return E[:H]


def policies(H, S, A):
    for actions in itertools.product(range(A), repeat=H * S):
        yield np.array(actions).reshape(H, S)


def occupancy(P, N, policy, h, s, a):
    """(H*S*A,) expected visits from (h, s, a) on; a pair with N = 0 ends the walk unpaid."""
    H, S, A = N.shape
    d = np.zeros((H, S, A))
    now = {(s, a): 1.0}
    for i in range(h, H):
        after = {}
        for (x, b), p in now.items():
            if N[i, x, b]:
                d[i, x, b] += p
                if i < H - 1:
                    for t in range(S):
                        key = t, int(policy[i + 1, t])
                        after[key] = after.get(key, 0.0) + p * P[i, x, b, t]
        now = after
    return d.ravel()


def largest_error(P, P_hat, N, h, s, a):
    """max |Q̂ - Q| over all policies and all rewards in [0, 1]: it is linear in the reward."""
    worst = 0.0
    for policy in policies(*N.shape):
        apart = occupancy(P_hat, N, policy, h, s, a) - occupancy(P, N * 0 + 1, policy, h, s, a)
        worst = max(worst, apart.clip(0).sum(), (-apart).clip(0).sum())
    return worst


def largest_loss(P, P_hat, N, s1=0):
    """max over rewards of what the plan in P̂ loses, by linear programs."""
    true, guess = [], []
    for policy in policies(*N.shape):
        start = 0, s1, int(policy[0, s1])
        true.append(occupancy(P, N * 0 + 1, policy, *start))
        guess.append(occupancy(P_hat, N, policy, *start))
    true, guess = np.array(true), np.array(guess)
    _, one_each = np.unique(np.hstack([true, guess]), axis=0, return_index=True)
    true, guess = true[one_each], guess[one_each]
    worst = 0.0
    for plan, best in itertools.permutations(range(len(true)), 2):
        found = linprog(
            true[plan] - true[best], guess - guess[plan], np.zeros(len(true)), bounds=(0, 1)
        )
        worst = max(worst, -found.fun)
    return worst


def pushed(rng, row, radius):
    """A law at distance at most ``radius`` in ℓ1 from ``row``, at it where there is room."""
    row, left = row.copy(), radius / 2
    target = rng.integers(len(row))
    for t in rng.permutation(len(row)):
        if t != target:
            moved = min(left, row[t])
            row[t] -= moved
            row[target] += moved
            left -= moved
    return row


@functools.cache
def pushed_rows(S, count, delta=0.5, H=2, A=2, big=2000):
    """Worlds with counts and estimates at the edge of the event of lem-row-anytime."""
    cases = []
    for seed in range(count):
        rng = np.random.default_rng(seed)
        P = rng.dirichlet(np.full(S, 0.5), size=(H, S, A))
        N = rng.integers(0, big, size=(H, S, A)) * (rng.random((H, S, A)) < 0.9)
        P_hat = np.zeros_like(P)
        for i in np.ndindex(H, S, A):
            if N[i]:
                radius = math.sqrt(2 * log_row(int(N[i]), S, A, H, delta) / N[i])
                P_hat[i] = pushed(rng, P[i], radius)
        cases.append((P, P_hat, N))
    return cases


# lem-row-anytime ------------------------------------------------------------------------------


@pytest.mark.parametrize("p", [0.5, 0.1])
def test_the_whole_row_at_every_count(p):
    """S = 2, exactly: the chance that the row is ever outside, summed over the counts."""
    S, A, H, delta = 2, 1, 1, 0.9
    outside = 0.0
    for n in range(1, 400):
        radius = math.sqrt(2 * log_row(n, S, A, H, delta) / n)
        k = np.arange(n + 1)
        far = 2 * abs(k / n - p) > radius + 1e-12
        chance = binom.pmf(k, n, p)[far].sum()
        assert chance <= delta / (S * A * H * n * (n + 1)) + 1e-12
        outside += chance
    assert outside <= delta / S


def test_without_the_union_over_counts_a_row_leaves_its_width():
    """At one fixed n the width may do without n(n+1); at all n at once it may not."""
    S, delta, outside = 2, 0.9, 0
    rng = np.random.default_rng(0)
    n = np.arange(1, 20_001)
    for _ in range(400):
        share = (rng.random(n.size) < 0.5).cumsum() / n
        far = 2 * abs(share - 0.5)
        # even without the terms S ln 2 and SAH, to see it in so short a time
        outside += (far > np.sqrt(2 * math.log(2 / delta) / n)).any()
        assert not (far > np.sqrt(2 * np.log(2**S * S * n * (n + 1) / delta) / n)).any()
    assert outside / 400 > delta


def test_the_log_of_the_row_is_at_most_four_betas():
    largest = 0.0
    for S, A, H, delta in itertools.product((2, 3, 4, 11, 50), (1, 5), (1, 10), (0.001, 0.999)):
        for n in [*range(1, 200), 10**4, 10**9]:
            largest = max(largest, log_row(n, S, A, H, delta) / beta(n, S, A, H, delta))
    assert 1 < largest <= 4


# lem-error-below-e ----------------------------------------------------------------------------


@pytest.mark.parametrize("S", [2, 3])
def test_no_error_is_larger_than_the_uncertainty(S):
    tight = 0.0
    for P, P_hat, N in pushed_rows(S, 12 if S == 2 else 2):
        E = uncertainty(P_hat, N, delta=0.5)
        for h, s, a in np.ndindex(N.shape):
            error = largest_error(P, P_hat, N, h, s, a)
            assert error <= E[h, s, a] + 1e-9
            if N[h, s, a]:
                tight = max(tight, error / E[h, s, a])
    assert tight > 0.2  # the rows were far enough off to tell


def test_an_eighth_of_the_bonus_would_be_too_little():
    broken = 0
    for P, P_hat, N in pushed_rows(2, 12):
        E = uncertainty(P_hat, N, delta=0.5, scale=0.125)
        broken += any(
            largest_error(P, P_hat, N, *i) > E[i] + 1e-9 for i in map(tuple, np.argwhere(N > 0))
        )
    assert broken


def test_a_future_by_the_average_action_would_be_too_little():
    """With max_b replaced by the mean over b the lemma fails."""
    P = np.zeros((2, 2, 2, 2))
    P[..., 0] = 1
    N = np.full((2, 2, 2), 10**9)
    N[1, 0, 1] = 0  # after step 1 one action is known, the other was never tried
    error = largest_error(P, P * (N > 0)[..., None], N, 0, 0, 0)
    E = uncertainty(P * (N > 0)[..., None], N, delta=0.5)
    assert error <= E[0, 0, 0]
    assert error > (E[0, 0, 0] - E[1, 0].max()) + E[1, 0].mean()


def test_the_librarys_uncertainty_is_that_of_the_definition():
    mdp = st.instances.random_mdp(S=4, A=2, H=3, seed=0)
    learner = st.RFUCRL(mdp.known, delta=0.3)
    for k, _ in st.play(learner, mdp, seed=0):
        seen = learner.transitions
        if k in (0, 10, 400):
            assert abs(uncertainty(seen.P_hat, seen.N, 0.3) - learner.W).max() < 1e-9
        if k == 400:
            break


# thm-rf-ucrl ----------------------------------------------------------------------------------


def test_a_plan_loses_at_most_twice_the_uncertainty_for_every_reward():
    for P, P_hat, N in pushed_rows(2, 8):
        assert largest_loss(P, P_hat, N) <= 2 * uncertainty(P_hat, N, 0.5)[0, 0].max() + 1e-9


def test_once_the_error_is_not_enough():
    """Two actions, each off by e in its own direction: a plan loses 2e, not e."""
    P, N = np.zeros((2, 2, 2, 2)), np.ones((2, 2, 2), int)
    P[..., 0] = 1
    P_hat = P.copy()
    P[0, 0] = (0.55, 0.45), (0.45, 0.55)
    P_hat[0, 0] = (0.499, 0.501), (0.501, 0.499)
    e = max(largest_error(P, P_hat, N, 0, 0, a) for a in range(2))
    assert e == pytest.approx(0.051)
    assert largest_loss(P, P_hat, N) == pytest.approx(2 * e)


@pytest.mark.parametrize("seed", range(5))
def test_when_it_stops_every_reward_is_planned_for(seed):
    rng = np.random.default_rng(seed)
    P = rng.dirichlet(np.ones(2), size=(2, 2))
    mdp = st.SafeMDP(P, np.zeros((2, 2)), c=[0, 0], tau=0.5, H=2)
    learner = st.RFUCRL(mdp.known, epsilon=1.5, delta=0.1)
    assert st.explore(learner, mdp, seed=seed).finished
    seen = learner.transitions
    start = learner.W[0, mdp.s1].max()
    assert start <= 0.75
    assert largest_loss(mdp.P, seen.P_hat, seen.N) <= 2 * start <= 1.5
    for _ in range(20):
        r = rng.random((2, 2, 2))
        plan = learner.plan_for(r)
        paid = st.SafeMDP(P, r, c=[0, 0], tau=0.5, H=2)
        value = st.evaluate(paid, plan.policy).value
        assert st.optimal(paid).value - value <= 1.5
        assert abs(plan.value - value) <= 0.75


# prop-rf-stops --------------------------------------------------------------------------------


def test_it_stops_also_where_a_state_cannot_be_reached():
    P = np.zeros((3, 2, 3))
    P[0, 0, [0, 1]] = 0.9, 0.1
    P[0, 1, 1] = P[1, :, 0] = 1
    P[2, :, 2] = 1  # never reached
    mdp = st.SafeMDP(P, np.zeros((3, 2)), c=[0, 0, 0], tau=0.5, H=2)
    for epsilon, scale in ((2.0, 1.0), (0.5, 0.2), (0.05, 0.02)):
        learner = st.RFUCRL(mdp.known, epsilon=epsilon, bonus_scale=scale)
        exploration = st.explore(learner, mdp, episodes=200_000)
        assert exploration.finished
        assert exploration.width[-1] <= epsilon / 2 < exploration.width[-2]
        assert (learner.W[:, 2] == np.array([[2], [1]])).all()


def test_who_does_not_follow_the_uncertainty_may_never_stop():
    class Stubborn(st.RFUCRL):
        def plan(self, rng):
            super().plan(rng)
            self.policy[:] = 0
            return self.policy

        @property
        def width(self):
            return float(self.W[0, self.known.s1].max())

    mdp = st.instances.random_mdp(S=2, A=2, H=2, seed=0, successors=2)
    learner = Stubborn(mdp.known, epsilon=1.0, bonus_scale=0.2)
    assert not st.explore(learner, mdp, episodes=5_000).finished
    assert st.explore(
        st.RFUCRL(mdp.known, epsilon=1.0, bonus_scale=0.2), mdp, episodes=5_000
    ).finished


# prop-no-earlier ------------------------------------------------------------------------------


def needed(S, A, H, epsilon, delta):
    n = 1
    while H * math.sqrt(2 * beta(n, S, A, H, delta) / n) > epsilon / 2:
        n += 1
    return n


@pytest.mark.parametrize(("S", "A", "epsilon"), [(2, 2, 1.0), (3, 3, 0.8), (5, 1, 1.9)])
def test_with_one_step_it_stops_exactly_then(S, A, epsilon):
    mdp = st.instances.random_mdp(S=S, A=A, H=1, seed=0, successors=2)
    n = needed(S, A, 1, epsilon, 0.1)
    learner = st.RFUCRL(mdp.known, epsilon=epsilon, delta=0.1)
    assert st.explore(learner, mdp).episodes == A * n
    assert (learner.transitions.N[0, mdp.s1] == n).all()


def test_it_never_stops_earlier():
    for seed, (S, H, epsilon) in enumerate([(2, 2, 1.5), (3, 2, 2.5), (2, 3, 3.5)]):
        mdp = st.instances.random_mdp(S=S, A=2, H=H, seed=seed, successors=2)
        learner = st.RFUCRL(mdp.known, epsilon=epsilon, delta=0.1)
        exploration = st.explore(learner, mdp, seed=seed)
        assert exploration.episodes >= 2 * needed(S, 2, H, epsilon, 0.1)


def test_the_width_falls_with_the_visits():
    for S in (1, 2, 11):
        widths = [beta(n, S, 2, 3, 0.5) / n for n in range(1, 500)]
        assert all(later < now for now, later in itertools.pairwise(widths))


# prop-half-bonus ------------------------------------------------------------------------------


def test_the_log_of_the_row_is_at_most_beta_from_four_states_on():
    counts = [*range(1, 3000), 10**5, 10**8]
    for S in (4, 5, 11, 100):
        assert all(log_row(n, S, 1, 1, 0.9) <= beta(n, S, 1, 1, 0.9) for n in counts)
    for S in (2, 3):
        assert not all(log_row(n, S, 1, 1, 0.9) <= beta(n, S, 1, 1, 0.9) for n in counts)


def test_half_the_bonus_is_enough_for_four_states():
    tight = 0.0
    for P, P_hat, N in pushed_rows(4, 2, H=2, A=1, big=5000):
        E = uncertainty(P_hat, N, delta=0.5, scale=0.5)
        for i in np.ndindex(N.shape):
            error = largest_error(P, P_hat, N, *i)
            assert error <= E[i] + 1e-9
            if N[i]:
                tight = max(tight, error / E[i])
    assert tight > 0.4
