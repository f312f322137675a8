"""The statements of the chapter, on learners whose laws are known exactly.

A *taster* tries some leaves for m episodes each and then goes for ever to the last of them whose
average cost was below a level, or to leaf 1.  With Gaussian costs its shares are values of Φ.
"""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as hs
from looping import many

import safeteach as st
from safeteach.divergence import bretagnolle_huber, kl_bernoulli, kl_gaussian, run_divergence

tree = st.instances.violation_tree


def Phi(z):
    return math.erfc(-z / math.sqrt(2)) / 2


def tradeoff(x, kappa):
    return math.exp(-kappa * x / 2) / 2 - x


def taster(K, m, level, gap, leaf_steps):
    """Tastes leaf 2 only.  E_1[t_2]/K, which is x, and P(leaf 1 after tasting) in τ_1 and τ_2."""
    root = math.sqrt(m * leaf_steps)
    stays_1, stays_2 = Phi((level - 0.5 - gap) * root), Phi((level - 0.5) * root)
    x = (m + (K - m) * stays_1) / K
    return x, (K - m) / K * (1 - stays_1), (K - m) / K * (1 - stays_2)


def tasters(kappas, n=2, leaf_steps=4):
    """Yield κ, K, gap, x and the regret shares y_2 and y_3 = ... = y_n."""
    for kappa, K in itertools.product(kappas, (100, 10_000)):
        gap = math.sqrt(kappa * (n - 1) / (K * leaf_steps))
        if gap <= 0.5:
            for share, z in itertools.product((0.01, 0.1, 0.25, 0.5, 0.9), np.linspace(-4, 4, 33)):
                m = round(share * K)
                level = 0.5 + gap / 2 + z / math.sqrt(m * leaf_steps)
                x, missed_1, y_2 = taster(K, m, level, gap, leaf_steps)
                yield kappa, K, gap, x, y_2, missed_1


# The trees ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("A", "depth"), [(2, 1), (2, 3), (3, 2), (7, 1)])
def test_the_trees(A, depth):
    """Counts, values, and violation and regret as multiples of the visits to leaf 1."""
    n, leaf_steps, gap, K = A**depth, 2 * depth, 0.125, 50
    tau_1 = tree(A, depth, gap)
    assert sum(A**d for d in range(depth + 1)) == tau_1.S
    assert n == (tau_1.S * (A - 1) + 1) / A >= tau_1.S / 2
    assert st.safe_optimal(tau_1).value == 0
    for j in {2, n}:
        tau_j = tree(A, depth, gap, j)
        assert st.safe_optimal(tau_j).value == leaf_steps == 2 * tau_j.H / 3
        assert st.safe_optimal(tau_j).value != tau_j.H  # as the paper prints
        for world in (tau_1, tau_j):
            learner = st.learners.UniformPolicy(world.known, episodes=K)
            ends = np.array([e.states[-1] for _, e in st.play(learner, world, seed=3)])
            t = np.array([(ends == leaf).sum() for leaf in world.leaves])
            assert t.sum() == K
            history = st.run(st.learners.UniformPolicy(world.known, episodes=K), world, seed=3)
            unsafe = K - t[0] - (t[j - 1] if world is tau_j else 0)
            assert history.violation.sum() == pytest.approx(gap * leaf_steps * unsafe)
            if world is tau_j:
                lost = K * leaf_steps - history.reward.sum()
                assert lost == pytest.approx(leaf_steps * t[0])
    # Regret is the expectation of what is lost, here of a policy that draws its actions.
    tau_2 = tree(A, depth, gap, 2)
    learner = st.learners.UniformPolicy(tau_2.known, episodes=K)
    assert st.run(learner, tau_2).regret.sum() == pytest.approx(leaf_steps * K / n)


# Bretagnolle and Huber ------------------------------------------------------------------------


@given(
    hs.lists(
        hs.tuples(hs.floats(0, 1), hs.floats(1e-4, 1), hs.floats(0, 1)), min_size=2, max_size=6
    ).filter(lambda rows: sum(row[0] for row in rows) > 1e-3)
)
@settings(max_examples=many(140, 400), deadline=None)
def test_bretagnolle_and_huber(rows):
    """For soft reports and for laws with outcomes that cannot happen under P."""
    p, q, report = np.array(rows).T
    p, q = p / p.sum(), q / q.sum()
    seen = p > 0
    KL = (p[seen] * np.log(p[seen] / q[seen])).sum()
    wrong = p @ report + q @ (1 - report)
    chain = [
        wrong, np.minimum(p, q).sum(), np.sqrt(p * q).sum() ** 2 / 2, float(bretagnolle_huber(KL))
    ]  # fmt: skip
    assert all(above >= below - 1e-12 for above, below in itertools.pairwise(chain))


def test_bretagnolle_and_huber_needs_less_than_one():
    """The best constant in the place of ½ is about 0.836: no two laws of two outcomes break it."""
    a, b = np.meshgrid(np.linspace(0.001, 0.999, 999), np.linspace(0.001, 0.999, 999))
    KL = kl_bernoulli(a, b)
    ratio = (1 - np.abs(a - b)) / np.exp(-KL)
    assert 0.8359 < ratio.min() < 0.836


# The divergence of runs -----------------------------------------------------------------------


def some_learner(seed, n):
    """Probabilities of the leaves after each history, drawn once for each; some are 0."""
    table = {}
    rng = np.random.default_rng(seed)

    def choose(past):
        if past not in table:
            weights = rng.random(n) * (rng.random(n) < 0.8)
            weights[0] += 0.1
            table[past] = weights / weights.sum()
        return table[past]

    return choose


def law(choose, costs, episodes, looks):
    runs = {(): 1.0}
    for _ in range(episodes):
        runs = {
            (*past, (leaf, seen)): p * chosen * math.prod(c if one else 1 - c for one in seen)
            for past, p in runs.items()
            for leaf, (chosen, c) in enumerate(zip(choose(past), costs, strict=True))
            if chosen > 0
            for seen in itertools.product((0, 1), repeat=looks)
        }
    return runs


@pytest.mark.parametrize("seed", range(6))
def test_the_divergence_of_runs(seed):
    """Listed runs of learners that do anything; and the trade-off's proof on their laws."""
    n, K, looks, gap = 3, 3, 2, 0.25
    choose = some_learner(seed, n)
    costs = np.array([0.5, 0.5 + gap, 0.5 + gap])
    first = law(choose, costs, K, looks)
    assert sum(first.values()) == pytest.approx(1)

    def mean_visits(runs, leaf):
        return sum(p * sum(went == leaf for went, _ in run) for run, p in runs.items())

    t = [mean_visits(first, leaf) for leaf in range(n)]
    x = 1 - t[0] / K
    assert sum(t) == pytest.approx(K)
    assert min(t[1:]) <= x * K / (n - 1) + 1e-12
    for j in (2, 3):
        other_costs = costs.copy()
        other_costs[j - 1] = 0.5
        other = law(choose, other_costs, K, looks)
        KL = sum(p * math.log(p / other[run]) for run, p in first.items())
        one = kl_bernoulli(0.5 + gap, 0.5)
        assert run_divergence(looks * t[j - 1], one) == pytest.approx(KL, abs=1e-12)
        assert abs(run_divergence(t[j - 1], one) - KL) > 1e-3  # without the looks of an episode
        y = mean_visits(other, 0) / K
        assert x + y >= bretagnolle_huber(KL)


def test_the_divergence_of_gaussian_runs():
    """Of a learner of the library, by sampling: ½H'Δ²E_1[t_j]; the paper's is 8 times that."""
    K, gap, seeds = 60, 0.3, range(150)
    mdp = tree(2, 2, gap)
    off, paper = [], []
    for seed in seeds:
        learner = st.learners.Informed(
            mdp.known, episodes=K, leaves=mdp.leaves, gap=gap, caution=0.0
        )
        ratio = visits = 0.0
        for _, episode in st.play(learner, mdp, seed):
            if episode.states[-1] == mdp.leaves[2]:
                visits += 1
                ratio += (gap * (episode.costs[2:] - 0.5) - gap**2 / 2).sum()
        off.append(ratio - 4 * visits * kl_gaussian(0.5 + gap, 0.5))
        paper.append(ratio - 4 * visits * 4 * gap**2)
    error = np.std(off) / math.sqrt(len(seeds))
    assert abs(np.mean(off)) < 3 * error
    assert np.mean(paper) < -3 * np.std(paper) / math.sqrt(len(seeds))


# The trade-off --------------------------------------------------------------------------------


def test_the_trade_off_with_two_leaves():
    """It holds for every taster, and would not with 1 in the place of ½."""
    kappas = (0.01, 0.05, 0.25, 1, 4, 16, 64)
    found = list(tasters(kappas))
    for kappa, _, _, x, y, _ in found:
        assert y >= tradeoff(x, kappa)
        assert float(st.bounds.tradeoff(x, kappa)) == pytest.approx(tradeoff(x, kappa))
    assert any(y < math.exp(-kappa * x / 2) - x for kappa, _, _, x, y, _ in found)
    assert any(tradeoff(x, kappa) > 0.3 for kappa, _, _, x, _, _ in found)


def test_the_trade_off_is_about_some_leaf_only():
    """A taster of leaf 2 can be better than the curve on τ_2, but then not on τ_3."""
    better = 0
    for kappa, _, _, x, y_2, y_3 in tasters((0.25, 1), n=64):
        assert max(y_2, y_3) >= tradeoff(x, kappa)
        better += y_2 < tradeoff(x, kappa)
    assert better


# The corollaries ------------------------------------------------------------------------------


def root_of(f):
    """The zero of a falling function on [0, 1]."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if f(middle) > 0 else (low, middle)
    return low


def test_violation_from_below():
    x_0 = root_of(lambda x: tradeoff(x, 0.25) - 1 / 16)
    assert x_0 == pytest.approx(0.412, abs=5e-4)
    tight = math.inf
    for _, K, gap, x, y, _ in tasters((0.25,)):
        if y <= 1 / 16:
            least = math.sqrt(K * 4)  # n - 1 = 1
            assert x * K * 4 * gap >= x_0 / 2 * least
            tight = min(tight, x * K * 4 * gap / least)
    assert tight < 0.45  # so that with a constant of 0.45 it would be false
    assert (1 / (2 * math.e) - 1 / 8) / 4 == pytest.approx(0.0147, abs=1e-4)
    for A, depth, K in itertools.product((2, 3, 5), (1, 2, 3), (100, 10_000)):
        n, H, S = A**depth, 3 * depth, sum(A**d for d in range(depth + 1))
        leaf_steps = 2 * depth
        gap = math.sqrt((n - 1) / (K * leaf_steps)) / 2
        assert (n - 1) * K * leaf_steps >= S * H * K / 6
        assert pytest.approx(K * leaf_steps / 16) == H * K / 24
        least = st.bounds.violation_lower_bound(n, leaf_steps, K, gap, H * K / 24)
        assert least == pytest.approx(x_0 / 2 * math.sqrt((n - 1) * K * leaf_steps))
        assert least >= 0.084 * math.sqrt(S * H * K)


@pytest.mark.parametrize("gap", [0.02, 0.1, 0.5])
def test_violation_from_below_with_one_gap(gap):
    """The bound of a fixed world rises to 2 ln 8 (n-1)/Δ and obeys its equation."""
    n, leaf_steps = 4, 4
    limit = 2 * math.log(8) * (n - 1) / gap
    before = 0.0
    for K in (10**e for e in range(1, 9)):
        least = st.bounds.violation_lower_bound(n, leaf_steps, K, gap, K * leaf_steps / 16)
        m = least / (leaf_steps * gap)
        left = math.exp(-leaf_steps * gap**2 / (2 * (n - 1)) * m) / 2
        assert left == pytest.approx(m / K + 1 / 16)
        assert before < least < limit
        before = least
    assert before == pytest.approx(limit, rel=0.01)
    for K, share, z in itertools.product((10**3, 10**5), (0.01, 0.1, 0.5), np.linspace(-4, 4, 17)):
        m = round(share * K)  # two leaves
        level = 0.5 + gap / 2 + z / math.sqrt(m * leaf_steps)
        x, _, y = taster(K, m, level, gap, leaf_steps)
        if y <= 1 / 16:
            least = st.bounds.violation_lower_bound(2, leaf_steps, K, gap, K * leaf_steps / 16)
            assert x * K * leaf_steps * gap >= least


@pytest.mark.parametrize("rho", [0.005, 1 / 16, 0.3])
def test_with_one_gap_the_floor_stops_if_a_share_of_the_reward_may_be_lost(rho):
    n, leaf_steps, gap = 4, 4, 0.05
    limit = 2 * math.log(1 / (2 * rho)) * (n - 1) / gap
    found = [
        st.bounds.violation_lower_bound(n, leaf_steps, K, gap, rho * K * leaf_steps)
        for K in (10**4, 10**6, 10**8, 10**10)
    ]
    assert all(low < high < limit for low, high in itertools.pairwise(found))
    assert found[-1] == pytest.approx(limit, rel=1e-3)


def test_with_one_gap_the_floor_grows_with_the_logarithm_if_the_regret_is_a_root():
    n, leaf_steps, gap = 4, 4, 0.05
    found = {
        K: st.bounds.violation_lower_bound(n, leaf_steps, K, gap, leaf_steps * math.sqrt(K) / 16)
        for K in (10**6, 10**9, 10**12, 10**14)
    }
    assert [found[10**e] for e in (6, 9, 12)] == pytest.approx([609.6, 1317.0, 1890.5], abs=0.1)
    for K, least in found.items():
        m = least / (leaf_steps * gap)
        rate = leaf_steps * gap**2 / (2 * (n - 1))
        left = math.log(8 * math.sqrt(K)) - math.log(1 + 16 * m / math.sqrt(K))
        assert rate * m == pytest.approx(left, rel=1e-3)
        assert least < (math.log(K) + 2 * math.log(8)) * (n - 1) / gap
    limit = (math.log(10**14) + 2 * math.log(8)) * (n - 1) / gap
    assert found[10**14] == pytest.approx(limit, rel=2e-3)


def test_the_two_bounds_part_like_the_root_of_a_logarithm():
    """Upper over lower bound at the gap that fits K, divided by √ln K, tends to a constant."""
    n, leaf_steps = 4, 4
    tau_1 = tree(2, 2, 0.1)
    size = {"S": tau_1.S, "H": tau_1.H, "tau": 0.5, "delta": 0.005, "unsafe": n - 1}
    size["edges"] = int(tau_1.support()[:-1].sum())
    ratios = {}
    for K in (10.0**e for e in (3, 9, 20, 40, 50)):
        gap = math.sqrt((n - 1) / (4 * K * leaf_steps))
        least = st.bounds.violation_lower_bound(n, leaf_steps, K, gap, K * leaf_steps / 16)
        ratios[K] = st.bounds.violation_bound(K=K, **size) / least
    assert [round(ratios[K]) for K in (1e3, 1e9)] == [247, 344]
    assert all(low < high for low, high in itertools.pairwise(ratios.values()))
    scaled = {K: ratio / math.sqrt(math.log(K)) for K, ratio in ratios.items()}
    assert scaled[1e50] == pytest.approx(scaled[1e40], rel=0.02)
