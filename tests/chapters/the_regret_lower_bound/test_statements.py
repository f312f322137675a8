"""Accounts of the regret tree, coins, the price, doors, and the printed tree."""

import itertools
import math

import numpy as np
import pytest
from looping import each

import safeteach as st

SIZES = [(3, 1), (3, 2), (3, 3), (4, 1), (4, 2), (6, 1), (5, 2)]


def random_policies(tree, seed, count=40):
    """Half of them random actions, half random probabilities, danger as likely as not."""
    rng = np.random.default_rng(seed)
    for i in range(count):
        if i % 2:
            yield np.eye(tree.A)[rng.integers(0, tree.A, (tree.H, tree.S))]
        else:
            yield rng.dirichlet(np.full(tree.A, 0.5), (tree.H, tree.S))


def doors_of(tree, policy):
    """Probabilities of the doors 1..n, and of being in sU for v = 0..H steps, by following it."""
    P, sU = tree.P[0], tree.S - 1
    law, inside = np.eye(tree.S)[tree.s1], np.zeros(tree.H + 1)
    leaf = np.zeros(len(tree.leaves))
    for h in range(tree.H):
        through = law[:, None] * policy[h]
        leaf += through[tree.leaves, :-1].sum(axis=1)
        after = np.einsum("sa,sat->t", through, P)
        inside[tree.H - h - 1] += after[sU] - law[sU]  # enters now
        law = after
    return leaf, inside


@pytest.mark.parametrize(("A", "d"), SIZES)
def test_what_happens_in_the_tree(A, d):
    gap, unsafe_gap, K = 0.03, 0.2, 17
    H, behind, n = 3 * d, 2 * d - 1, (A - 1) ** d
    for j in {None, 2, n}:
        tree = st.instances.regret_tree(A, d, gap, unsafe_gap, j)
        assert n == len(tree.leaves)
        assert (A - 1) * n == (tree.S - 3) * (A - 2) + 1
        assert n > (tree.S - 3) / 2
        assert behind == 2 * H / 3 - 1
        top = 2 * gap if j else gap
        best = st.safe_optimal(tree).value
        assert best == pytest.approx(behind * (0.5 + top))
        assert st.optimal(tree).value == pytest.approx(behind * (0.5 + unsafe_gap))
        for policy in random_policies(tree, seed=d):
            done = st.evaluate(tree, policy)
            leaf, inside = doors_of(tree, policy)
            danger = inside[behind]
            assert leaf.sum() + danger == pytest.approx(1)
            assert done.violation == pytest.approx(behind * danger)
            R, C, T = K * (best - done.value), K * done.violation, K * leaf
            if j is None:
                account = behind * gap * (K - T[0]) - unsafe_gap * C
            else:
                others = T.sum() - T[0] - T[j - 1]
                account = behind * gap * (T[0] + 2 * others) - (unsafe_gap - 2 * gap) * C
            assert pytest.approx(account) == R


def test_one_look_at_a_coin():
    for gap in np.linspace(0.001, 0.249, 60):
        p, q = np.array([0.5, 0.5]), np.array([0.5 + 2 * gap, 0.5 - 2 * gap])
        kl = p @ np.log(p / q)
        assert kl == pytest.approx(-0.5 * math.log(1 - 16 * gap**2), rel=1e-9)
        assert kl == pytest.approx(float(st.divergence.kl_bernoulli(0.5, 0.5 + 2 * gap)), rel=1e-9)
        assert kl >= 8 * gap**2 > 2 * gap**2  # the paper's bound is false at every gap
        if 16 * gap**2 <= 0.5:
            assert kl <= 16 * math.log(2) * gap**2 <= 11.1 * gap**2
    assert float(st.divergence.kl_bernoulli(0.5, 0.7)) > 4 * 0.02


# The price: every run of small learners, listed.


class Whim:
    """A learner of doors whose choice is any function of what it has seen."""

    def __init__(self, doors, seed):
        self.doors, self.seed = doors, seed

    def choose(self, seen):
        return int(np.random.default_rng((self.seed, *itertools.chain(*seen))).integers(self.doors))


class Round:
    """All leaves but the first in turn; what it sees is nothing to it."""

    def __init__(self, n):
        self.n = n

    def choose(self, seen):
        return 1 + len(seen) % (self.n - 1)


class Loyal:
    """Leaf 1 as long as it wins, then danger."""

    def __init__(self, n):
        self.n = n

    def choose(self, seen):
        return 0 if all(answer for _, answer in seen) else self.n


def all_runs(learner, worlds, n, K):
    """(runs, doors) tries and (worlds, runs) probabilities."""
    runs = [((), np.ones(len(worlds)))]
    for _ in range(K):
        longer = []
        for seen, chance in runs:
            i = learner.choose(seen)
            if i == n:
                longer.append(((*seen, (i, 1)), chance))
            else:
                longer.append(((*seen, (i, 1)), chance * worlds[:, i]))
                longer.append(((*seen, (i, 0)), chance * (1 - worlds[:, i])))
        runs = longer
    T = np.array([np.bincount([i for i, _ in seen], minlength=n + 1) for seen, _ in runs])
    return T, np.array([chance for _, chance in runs]).T


def coins(n, gap):
    """(n, n) chances to win, row j - 1 in τ_j."""
    worlds = np.full((n, n), 0.5)
    worlds[:, 0] += gap
    worlds[np.arange(1, n), np.arange(1, n)] += 2 * gap
    return worlds


def learners(n):
    yield from (Whim(n + 1, seed) for seed in range(6))
    yield from (Whim(n, seed) for seed in range(4))
    yield from (Round(n), Loyal(n))


def sides(learner, n, K, behind, gap, unsafe_gap):
    """Left side of the theorem for the proof's j, E_1[T_j], and KL(P_1, P_j)."""
    T, P = all_runs(learner, coins(n, gap), n, K)
    tried = P[0] @ T
    j = 2 + int(tried[1:n].argmin())
    lost_1 = behind * gap * np.array([0, *[1] * (n - 1), 1 - unsafe_gap / gap])
    lost_j = behind * gap * np.array([1, *[2] * (n - 1), 2 - unsafe_gap / gap])
    lost_j[j - 1] = 0
    R_1, R_j = P[0] @ T @ lost_1, P[j - 1] @ T @ lost_j
    C_1, C_j = behind * P[0] @ T[:, n], behind * P[j - 1] @ T[:, n]
    left = R_1 + R_j + unsafe_gap * C_1 + (unsafe_gap - 2 * gap) * C_j
    both = (P[0] > 0) & (P[j - 1] > 0)
    kl = P[0, both] @ np.log(P[0, both] / P[j - 1, both])
    assert kl == pytest.approx(-0.5 * math.log(1 - 16 * gap**2) * tried[j - 1], abs=1e-12)
    return left, tried[j - 1], kl


@pytest.mark.parametrize(("n", "K"), [(2, 6), (3, 8), (4, 7)])
@pytest.mark.parametrize("gap", [0.02, 0.125, 0.2, 0.24])
def test_the_price_of_safety(n, K, gap):
    behind, tightest = 3, math.inf
    for unsafe_gap in (0.0, 0.1, 0.5):
        for learner in learners(n):
            left, tried, kl = sides(learner, n, K, behind, gap, unsafe_gap)
            right = behind * gap * K / 2 * (1 - 16 * gap**2) ** (K / (2 * (n - 1)))
            assert right == pytest.approx(st.bounds.regret_lower_bound(n, behind, K, gap))
            assert tried <= K / (n - 1) + 1e-12
            step = behind * gap * K * math.exp(-kl) / 2
            assert left >= step >= right * (1 - 1e-12)
            tightest = min(tightest, left / step)
    assert tightest < 8  # the sides are of one size


def test_with_the_chapters_gap_the_price_is_a_root():
    for n, ratio in itertools.product((2, 3, 8, 100), (2, 2.5, 10, 1e4)):
        K = math.ceil(ratio * (n - 1))
        gap, root = math.sqrt((n - 1) / K) / 4, 5 * math.sqrt((n - 1) * K) / 16
        assert st.bounds.regret_lower_bound(n, 5, K, gap) >= root * (1 - 1e-12)
    # K >= 2(n-1) is needed: just above n - 1 one look tells nearly all
    gap = math.sqrt(7 / 7.01) / 4
    assert st.bounds.regret_lower_bound(8, 5, 7.01, gap) < 5 * math.sqrt(7 * 7.01) / 16


@pytest.mark.parametrize(("n", "K", "gap"), [(2, 6, 0.1), (4, 6, 0.1), (4, 7, 0.2)])
def test_the_paper_may_assume_that_some_leaf_is_tried_half_as_often(n, K, gap):
    """E_1[T_j] <= K/(2(n-1)) for some j, or R_1 + Δ'C_1 >= H'ΔK/2 at once."""
    behind, assumed, at_once = 3, 0, 0
    for learner in learners(n):
        T, P = all_runs(learner, coins(n, gap), n, K)
        tried = P[0] @ T
        if tried[1:n].min() <= K / (2 * (n - 1)):
            assumed += 1
        else:
            assert behind * gap * (K - tried[0]) > behind * gap * K / 2
            at_once += 1
    assert assumed and at_once  # among the latter: all leaves but the first in turn
    T, P = all_runs(Round(n), coins(n, gap), n, K)
    assert (P[0] @ T)[1:n].min() > K / (2 * (n - 1))


# The corollary


def fixed_learners(n):
    """Shares of the doors, learners that do the same for ever."""
    for q in (0, 0.01, 0.3, 1):
        for first in (1, 0.5, 1 / n, 0):
            share = np.full(n + 1, (1 - q) * (1 - first) / (n - 1))
            share[0], share[n] = (1 - q) * first, q
            yield share


def regrets(share, n, behind, gap, unsafe_gap):
    """Regret an episode in τ_1 .. τ_n."""
    worth = np.column_stack([coins(n, gap), np.full(n, 0.5 + unsafe_gap)])
    worth[0, 0] = 0.5 + gap
    best = worth[:, :n].max(axis=1)
    return behind * (best - worth @ share)


@each("alpha", [0.2, 0.5, 0.8])
@each(("A", "d"), SIZES)
def test_small_violation_costs_a_root(alpha, A, d):
    H, behind, n = 3 * d, 2 * d - 1, (A - 1) ** d
    S = st.instances.regret_tree(A, d, 0.1, 0.2).S
    tight = math.inf
    for K in (10, 10**3, 10**5, 10**8, 10**12):
        T, gap = H * K, math.sqrt((n - 1) / K) / 4
        unsafe_gap = T ** ((alpha - 1) / 2)
        assert (unsafe_gap >= 2 * gap) == (T**alpha >= H * (n - 1) / 4)
        assert (unsafe_gap <= 0.5) == (2 ** (2 / (1 - alpha)) <= T)
        root = behind * math.sqrt((n - 1) * K) / 32
        assert root >= math.sqrt(H * S * T) / 272
        if 2 * (n - 1) > K or not 2 * gap <= unsafe_gap <= 0.5:
            continue
        for share in fixed_learners(n):
            c = K * behind * share[n] / T ** (1 - alpha)
            worst = K * regrets(share, n, behind, gap, unsafe_gap).max()
            assert worst >= root - c * T ** ((1 - alpha) / 2)
            tight = min(tight, worst / root if share[n] == 0 else math.inf)
    assert tight < 33  # what leaf 1 for ever pays is a constant times the root


# Doors


def ucb_runs(p, sure, K, toss):
    """UCB over coins and a sure door; yields (door, N, mean) at every choice of a tried coin."""
    n = len(p)
    N, total = np.zeros(n + 1), np.zeros(n + 1)
    for _ in range(K):
        mean = total / np.maximum(N, 1)
        index = np.where(N > 0, mean + np.sqrt(math.log(K) / np.maximum(N, 1)), np.inf)
        i = int(index.argmax())
        if i < n and N[i] > 0:
            yield i, N[i], mean[i]
        N[i] += 1
        total[i] += sure if i == n else toss(i, int(N[i]))
    yield None, N, None


@pytest.mark.parametrize("luck", ["fair", "good", "alternating"])
def test_a_coin_is_chosen_only_by_luck_or_early(luck):
    p, sure, K = np.array([0.55, 0.5, 0.6]), 0.9, 2_000
    rng = np.random.default_rng(1)
    tosses = {
        "fair": lambda i, _: float(rng.random() < p[i]),
        "good": lambda i, N: float(N < 40 or rng.random() < p[i]),
        "alternating": lambda _, N: float(N % 2),
    }
    gaps, lucky, latest = sure - p, 0, 0.0
    for i, N, mean in ucb_runs(p, sure, K, tosses[luck]):
        if i is None:
            break
        width = math.sqrt(math.log(K) / N)
        if mean > p[i] + width:
            lucky += 1
        else:
            assert 4 * math.log(K) / gaps[i] ** 2 >= N
            latest = max(latest, N * gaps[i] ** 2 / math.log(K))
    assert (lucky > 0) == (luck == "good")
    assert latest > 0.5  # nor is the 4 out of all proportion


def test_ucb_finds_the_door_to_danger():
    K, behind, gap, unsafe_gap = 1_500, 5, 0.05, 0.4
    p = np.array([0.5 + gap, 0.5, 0.5, 0.5 + 2 * gap])
    rng = np.random.default_rng(0)
    runs = []
    for _ in range(12):
        *_, (_, N, _) = ucb_runs(p, 0.5 + unsafe_gap, K, lambda i, _: float(rng.random() < p[i]))
        runs.append(N)
    tried, g = np.mean(runs, axis=0)[:4], 0.5 + unsafe_gap - p
    assert (tried <= 4 * math.log(K) / g**2 + 2).all()
    regret = behind * g @ tried
    fine = behind * (4 * math.log(K) / g + 2 * g).sum()
    assert regret <= fine <= 4 * behind * (4 * math.log(K) / (unsafe_gap - 2 * gap) + 1)
    assert regret > fine / 40
    assert regret < behind * g.mean() * K / 4  # far less than who never learns


def test_the_doors_bound_has_the_power_of_T():
    n, H, behind = 8, 9, 5
    for alpha, K in itertools.product((0.3, 0.5, 0.8), (10**4, 10**6, 10**9)):
        T, gap = H * K, math.sqrt((n - 1) / K) / 4
        unsafe_gap = T ** ((alpha - 1) / 2)
        assert (unsafe_gap >= 4 * gap) == (T**alpha >= H * (n - 1))
        if unsafe_gap >= 4 * gap:
            bound = n * behind * (4 * math.log(K) / (unsafe_gap - 2 * gap) + 1)
            assert bound <= n * behind * (8 * T ** ((1 - alpha) / 2) * math.log(K) + 1)


# The printed tree


@pytest.mark.parametrize(("A", "d"), [(3, 1), (3, 2), (3, 3), (4, 2)])
def test_the_price_on_the_printed_tree(A, d):
    gap, unsafe_gap, H, behind = 0.02, 0.06, 3 * d, 2 * d - 1
    price = unsafe_gap + H / (6 * (H - 1))
    n, tightest, beats_the_proof = (A - 1) ** d, math.inf, 0
    for j in (None, 2, n):
        tree = st.instances.regret_tree(A, d, gap, unsafe_gap, j, printed=True)
        best = st.safe_optimal(tree).value
        assert best == pytest.approx(behind * (0.5 + (2 * gap if j else gap)))
        dive = np.eye(A)[np.full((tree.H, tree.S), A - 1)]
        for policy in [dive, *random_policies(tree, seed=d)]:
            done = st.evaluate(tree, policy)
            leaf, inside = doors_of(tree, policy)
            assert leaf.sum() + inside[1:].sum() == pytest.approx(1)
            assert done.violation == pytest.approx(inside @ np.arange(H + 1))
            share = 1 - leaf[0] if j is None else leaf[0]
            slack = best - done.value + price * done.violation - behind * gap * share
            assert slack >= -1e-12
            if j is None:
                tightest = min(tightest, slack)
                paper = behind * gap * share - unsafe_gap * done.violation
                beats_the_proof += best - done.value < paper - 1e-9
    assert tightest < 1e-9  # in τ_1 the price cannot be lower: from the root it is paid
    assert beats_the_proof > 0  # with the price of the proof the account does not hold


@pytest.mark.parametrize(("A", "d"), [(3, 1), (3, 2), (3, 3), (4, 2)])
def test_the_printed_price_can_be_lowered_by_a_multiple_of_the_gap_at_most(A, d):
    """Who enters danger from the root in every episode has 3H'ΔK on the left side."""
    gap, unsafe_gap, H, behind = 0.02, 0.06, 3 * d, 2 * d - 1
    price, lower, left = unsafe_gap + H / (6 * (H - 1)), 3 * behind * gap / (2 * (H - 1)), {}
    for paid in (price, price - lower, price - 1.01 * lower):
        left[paid] = 0.0
        for j in (None, 2):
            tree = st.instances.regret_tree(A, d, gap, unsafe_gap, j, printed=True)
            done = st.evaluate(tree, np.full((H, tree.S), A - 1))
            left[paid] += st.safe_optimal(tree).value - done.value + paid * done.violation
    assert left[price] == pytest.approx(3 * behind * gap)
    assert left[price - lower] == pytest.approx(0, abs=1e-12)
    assert left[price - 1.01 * lower] < 0


@pytest.mark.parametrize(("A", "d"), [(3, 1), (3, 3), (4, 2)])
@pytest.mark.parametrize(("alpha", "c"), [(0.2, 0.5), (0.4, 2.0), (0.7, 1.0)])
def test_a_coin_in_the_root_beats_the_printed_tree(A, d, alpha, c):
    H, behind, n = 3 * d, 2 * d - 1, (A - 1) ** d
    worst = []
    for K in (10**8, 10**12, 10**16, 10**20):
        T, gap = H * K, math.sqrt((n - 1) / K) / 4
        unsafe_gap, allowed = T ** ((alpha - 1) / 2), c * T ** (1 - alpha)
        q = allowed / ((H - 1) * K)
        assert q <= 1
        assert unsafe_gap >= 2 * gap
        most = behind * math.sqrt((n - 1) * K) / 4 - allowed / 6
        found = []
        for j in (None, 2, n):
            tree = st.instances.regret_tree(A, d, gap, unsafe_gap, j, printed=True)
            policy = np.zeros((H, tree.S, A))
            policy[:, :, 0] = 1
            policy[:, 0, 0], policy[:, 0, -1] = 1 - q, q
            done = st.evaluate(tree, policy)
            assert K * done.violation == pytest.approx(allowed)
            # V* - V drowns in rounding at such K: from the two doors
            top = 2 * gap if j else gap
            lost = (1 - q) * behind * (top - gap) + q * (
                behind * (0.5 + top) - (H - 1) * (0.5 + unsafe_gap)
            )
            assert st.safe_optimal(tree).value - done.value == pytest.approx(lost, abs=1e-12)
            found.append(K * lost)
        assert max(found) <= most + 1e-9 * abs(most)
        worst.append(max(found))
    falls = all(b < 10 * a < 0 for a, b in itertools.pairwise(worst[1:]))
    assert falls == (alpha < 0.5)  # to minus infinity, faster than ten times a step


def test_the_difference_is_no_multiple_of_the_gaps():
    for gap, unsafe_gap in ((0.01, 0.05), (1e-4, 1e-3), (1e-6, 1e-5)):
        for printed, constant in ((True, 1.5), (False, 0.0)):
            tree = st.instances.regret_tree(3, 3, gap, unsafe_gap, printed=printed)
            excess = st.optimal(tree).value - st.safe_optimal(tree).value
            assert excess == pytest.approx(constant, abs=9 * unsafe_gap)
