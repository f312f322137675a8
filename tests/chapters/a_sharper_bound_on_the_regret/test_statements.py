"""The claims of the proof, one test each or more, on rows, on runs and on numbers.

What holds in every run is tried in every episode of some, and each of its terms is needed there.
What fails with a small probability is computed exactly, on coins and small rows; on runs it is
tried with a probability of 1e-7 that a right claim fails.
"""

import functools
import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as hs
from looping import each
from oracles.squares import divergence, walk
from scipy.special import gammaln, xlogy

import safeteach as st

ROUNDING = 1e-9
RARE = 1e-7  # with which a claim that is right may fail here

# Rows -----------------------------------------------------------------------------------------


def tosses(m, p):
    """Of each number of heads in m tosses the logarithm of its probability, and m kl(p̂, p)."""
    heads = np.arange(m + 1)
    chances = gammaln(m + 1) - gammaln(heads + 1) - gammaln(m - heads + 1)
    chances += heads * math.log(p) + (m - heads) * math.log1p(-p)
    q = heads / m
    kl = xlogy(q, q / p) + xlogy(1 - q, (1 - q) / (1 - p))
    return chances, m * np.maximum(kl, 0)


COINS = list(itertools.product([1, 2, 3, 5, 17, 100, 1000], [0.5, 0.4, 0.2, 0.03, 1e-3, 1e-6]))


def excess(chances, values):
    """The largest Pr[X ≥ y] / e^-y over y > 0, which is attained at one of the values."""
    order = np.argsort(values)
    tail = np.exp(chances)[order][::-1].cumsum()[::-1]
    _, first = np.unique(values[order].round(12), return_index=True)
    y, at = values[order][first], tail[first]
    told = (y > ROUNDING) & (y < 500)  # beyond, a probability is no number any more
    return (at[told] * np.exp(y[told])).max()


def test_a_coin_is_seldom_far_from_itself():
    """Pr[m kl(p̂, p) ≥ y] ≤ 2e^-y; one toss of a fair coin attains it."""
    most = [excess(*tosses(m, p)) for m, p in COINS]
    assert max(most) <= 2 + ROUNDING
    assert max(most) > 2 - ROUNDING


def test_the_exponential_of_a_coins_divergence_has_a_small_mean():
    """E e^(m kl/2) ≤ 3; coins have been found with more than half of that, and none with 2."""
    means = [np.exp(sum(np.divide(tosses(m, p), [[1], [2]]))).sum() for m, p in COINS]
    assert max(means) <= 3
    assert 1.5 < max(means) < 2


def draws(n, P):
    """Of each way in which n draws can fall on the outcomes of P: its probability, the counts."""
    counts = np.array([
        c for c in itertools.product(range(n + 1), repeat=len(P)) if sum(c) == n
    ])  # fmt: skip
    chances = gammaln(n + 1) - gammaln(counts + 1).sum(axis=1) + (counts * np.log(P)).sum(axis=1)
    return np.exp(chances), counts


def by_coins(counts, P):
    """The terms n_i kl(p̂_i, p_i) of the coins that make a row."""
    left, mass = counts.sum(), P.sum()
    for count, p in zip(counts[:-1], P[:-1], strict=True):
        if left:
            q, chance = count / left, p / mass
            yield left * divergence(np.array([q, 1 - q]), np.array([chance, 1 - chance]))
        left, mass = left - count, mass - p


ROWS = [np.array(row) / sum(row) for row in (
    [1], [1, 1], [1, 9], [1, 1, 1], [1, 2, 30], [1, 1, 1, 1], [100, 10, 2, 1],
)]  # fmt: skip


def test_a_row_is_a_series_of_coins():
    """n KL is the sum over the coins, exactly; with one coin less it is not."""
    rng, apart = np.random.default_rng(0), 0.0
    for _ in range(300):
        P = rng.dirichlet(np.ones(rng.integers(2, 7)))
        counts = rng.multinomial(rng.integers(1, 40), P)
        terms = list(by_coins(counts, P))
        whole = counts.sum() * divergence(counts / counts.sum(), P)
        assert sum(terms) == pytest.approx(whole, abs=1e-9)
        apart = max(apart, whole - sum(terms[:-1]))
    assert apart > 1


def test_the_whole_row_coin_by_coin():
    """E e^(n KL/2) ≤ 3^(ω-1), and Pr[n KL ≥ y] is at most that times e^(-y/2), exactly.

    With ω-1 left out both are false.  Half of ln 3 would do in the tail: it is not tight.
    """
    without = 0
    for P, n in itertools.product(ROWS, (1, 2, 5, 12)):
        chances, counts = draws(n, P)
        far = np.array([n * divergence(c / n, P) for c in counts])
        mean = chances @ np.exp(far / 2)
        assert mean <= 3 ** (len(P) - 1) + ROUNDING
        without += mean > 1 + ROUNDING
        for y in far[far > ROUNDING]:
            assert chances[far >= y - ROUNDING].sum() <= 3 ** (len(P) - 1) * math.exp(-y / 2)
    assert without > 10


# Near in the mean -------------------------------------------------------------------------------


def tilted(P, g, steepness):
    """The law with the largest mean of g among all that are as far from P, in divergence."""
    weights = P * np.exp(steepness * (g - g.max()))
    return weights / weights.sum()


def far_and_off(P, g, steepness):
    Q = tilted(P, g, steepness)
    v = P @ g**2 - (P @ g) ** 2
    return divergence(Q, P), (Q - P) @ g, v


def test_near_in_divergence_near_in_the_mean():
    """(P̂-P)g ≤ √(2vκ) + Hκ/3 for the P̂ with the largest mean at each divergence κ; nearly =."""
    rng, nearest, above_the_root = np.random.default_rng(1), 0.0, 0
    for H, _ in itertools.product((1, 7), range(60)):
        size = int(rng.integers(2, 8))
        P, g = rng.dirichlet(np.full(size, 0.4)), H * rng.random(size)
        for side, steepness in itertools.product((g, H - g), (1e-3, 0.1, 1, 5, 30)):
            kappa, off, v = far_and_off(P, side, steepness / H)
            bound = math.sqrt(2 * v * kappa) + H * kappa / 3
            assert off <= bound + ROUNDING
            nearest = max(nearest, off / bound)
            above_the_root += off > math.sqrt(2 * v * kappa) + 1e-6
    assert nearest > 0.99  # so half of the root would not do, nor one of v and κ without its 2
    assert above_the_root > 20  # nor the root alone


def test_the_third_is_needed_and_cannot_be_halved():
    """For a rare outcome and a divergence small beside it the excess over the root is Hκ/3."""
    H, P = 5.0, np.array([1 - 1e-6, 1e-6])
    shares = []
    for steepness in (0.5, 0.1, 0.02):
        kappa, off, v = far_and_off(P, H * np.array([0.0, 1.0]), steepness / H)
        shares.append((off - math.sqrt(2 * v * kappa)) / (H * kappa / 3))
    assert max(shares) <= 1 + 1e-6
    assert shares[-1] > 0.98


# Runs -------------------------------------------------------------------------------------------


def gate(H=8):
    """Nothing at the gate; behind it, more often than not, all that there is, at every step."""
    P = np.zeros((3, 2, 3))
    P[0, :, 1], P[0, :, 2] = (0.9, 0.8), (0.1, 0.2)
    P[1, :, 1] = P[2, :, 2] = 1
    r = np.zeros((3, 2))
    r[1] = 1
    return st.SafeMDP(P, r, c=[0, 0, 0], tau=0.5, H=H)


def rich(seed):
    """A random world of which all states are safe but one, and each pays nearly as much."""
    m = st.instances.random_mdp(S=5, A=2, H=6, seed=seed, stationary=seed % 2 == 0)
    return st.SafeMDP(m.P, 1 - m.r / 10, m.c, m.tau, m.H)


WORLDS = {
    "random": lambda: st.instances.random_mdp(S=6, A=2, H=5, seed=3, stationary=False),
    "rich": lambda: rich(4),
    "gate": gate,
    "pond": st.instances.grid,
    "corridor": st.instances.ice_corridor,
}
SCALES = (0.002, 0.05)
EPISODES = 250


@functools.cache
def run(name, scale):
    mdp = WORLDS[name]()
    return mdp, walk(mdp, EPISODES, scale, seed=7)


RUNS = list(itertools.product(WORLDS, SCALES))


def test_the_runs_are_worth_testing():
    """Steps of several successors, model errors of both signs, and variances of every size."""
    everything = [steps for _, steps in (run(name, scale) for name, scale in RUNS)]
    assert sum(len(steps.n) for steps in everything) > 10_000
    for mdp, steps in (run(name, scale) for name, scale in RUNS):
        assert (steps.variance <= mdp.H**2 / 4 + ROUNDING).all()
        assert (steps.successors > 1).any()
    assert sum(steps.variance.max() > 1 for steps in everything) >= 5
    assert sum(min(steps.model.max(), -steps.model.min()) > 0.1 for steps in everything) >= 5


@each("name", WORLDS)
def test_the_rows_of_a_run_are_near_the_truth(name):
    """n KL ≤ Γ_hsa with δ = 1e-7, at all counts of a run.  They stay far below it: not tight."""
    for scale in SCALES:
        mdp, steps = run(name, scale)
        sizes = math.log(mdp.S * mdp.A * mdp.H * EPISODES / RARE)
        assert (steps.n * steps.kl <= 2 * (steps.successors - 1) * math.log(3) + 2 * sizes).all()


def test_model_errors_of_a_run_are_near_in_the_mean():
    """|m_h| ≤ √(2 v KL) + H KL/3 with the divergence of the row itself, and often nearly so."""
    for name, scale in RUNS:
        mdp, steps = run(name, scale)
        bound = np.sqrt(2 * steps.variance * steps.kl) + mdp.H * steps.kl / 3
        assert (abs(steps.model) <= bound + ROUNDING).all()
        assert (abs(steps.model) > 0.9 * bound - ROUNDING).mean() > 0.05


def sums(steps):
    return steps.bonus.sum(), abs(steps.model).sum(), steps.variance.sum()


def looks_over(steps, of):
    """The sum of Γ_h/n_h, given what a step's Γ_h is."""
    return (of / steps.n).sum()


def numbers(mdp, K, delta):
    """Γ_hsa of all triples, and J."""
    count, rest = mdp.support().sum(axis=3), 2 * math.log(mdp.S * mdp.A * mdp.H * K / delta)
    average = 2 * (count.mean() - 1) * math.log(3) + rest
    J = mdp.H**2 * mdp.S * mdp.A * average * (1 + math.log(K))
    return 2 * (count - 1) * math.log(3) + rest, J


def test_model_errors_by_variances():
    """Σ_m ≤ √(2 Σ_v Σκ) + (H/3) Σκ with the divergences κ of the run, and Σ(Γ_h/n_h) ≤ J/H.

    Then also with J, by far, so that neither term is needed: κ is small beside Γ_h/n_h.  With the
    divergences it is within a factor of 3, and both terms are needed, the second after a rare draw.
    """
    used = []
    for name, scale in RUNS:
        mdp, steps = run(name, scale)
        _, model, variance = sums(steps)
        root, rest = math.sqrt(2 * variance * steps.kl.sum()), mdp.H / 3 * steps.kl.sum()
        assert model <= root + rest
        used.append((model / (root + rest), model / rest))
        _, J = numbers(mdp, EPISODES, RARE)
        gamma = 2 * (steps.successors - 1) * math.log(3)
        gamma += 2 * math.log(mdp.S * mdp.A * mdp.H * EPISODES / RARE)
        assert looks_over(steps, gamma) <= J / mdp.H
        assert model <= math.sqrt(2 * variance * J / mdp.H) + J / 3
    assert max(share for share, _ in used) > 1 / 3
    assert max(share for _, share in used) > 1
    p, H = 1e-4, 5.0  # one visit to a row, and the next state was the rare one of value H
    model, variance, kl = H * (1 - p), H**2 * p * (1 - p), -math.log(p)
    root = math.sqrt(2 * variance * kl)
    assert root < model / 5 and model <= root + H / 3 * kl < 4 * model


def test_a_triple_pays_its_own_and_all_pay_the_average():
    """ΣΓ_hsa = SAH Γ; and Σ1/n nearly reaches 1 + ln K where a triple is visited each time."""
    for make in WORLDS.values():
        mdp = make()
        each_, J = numbers(mdp, EPISODES, 0.1)
        assert each_.sum() * (1 + math.log(EPISODES)) == pytest.approx(J / mdp.H)
    for K in (3, 40, 10_000):
        visits = (1 / np.arange(1, K)).sum()
        assert visits <= 1 + math.log(K)
        assert K == 3 or visits > math.log(K)  # the 1 is needed
    assert visits > 0.9 * (1 + math.log(K))


# Squares ----------------------------------------------------------------------------------------


def step_terms(mdp, steps):
    """v_h less the difference of squares; and 2H times reward, bonus and model error."""
    parts = 2 * mdp.H * np.array([steps.reward, steps.bonus, abs(steps.model)])
    return steps.variance - steps.square + steps.now**2, parts


def test_one_step_of_the_squares():
    for name, scale in RUNS:
        mdp, steps = run(name, scale)
        left, parts = step_terms(mdp, steps)
        assert (left <= parts.sum(axis=0) + 1e-6).all()


def test_no_term_of_the_step_can_be_left_out():
    """Nor the 2H be halved, nor the squares be dropped."""
    broken = np.zeros(5, int)
    for name, scale in RUNS:
        mdp, steps = run(name, scale)
        left, parts = step_terms(mdp, steps)
        without = [parts.sum(axis=0) - part for part in parts]
        broken += [(left > less + 1e-6).sum() for less in (*without, parts.sum(axis=0) / 2,
                   parts.sum(axis=0) - steps.square + steps.now**2)]  # fmt: skip
    assert (broken > 0).all(), broken


def episode_terms(mdp, steps):
    """Of each episode Σv + V_1², and what bounds it: bets, the end, rewards, α and |m|."""
    bets = steps.total(steps.square - steps.next**2)
    rest = [2 * mdp.H * steps.total(x) for x in (steps.reward, steps.bonus, abs(steps.model))]
    left = steps.total(steps.variance) + steps.first**2
    return left, np.array([bets, steps.last**2, *rest])


def test_the_squares_telescope():
    """In every episode; the ends are H² in at most SAH of them, the rewards come to at most H."""
    for name, scale in RUNS:
        mdp, steps = run(name, scale)
        left, terms = episode_terms(mdp, steps)
        assert (left <= terms.sum(axis=0) + 1e-6).all()
        ended = steps.last > 0
        assert set(steps.last[ended]) == {mdp.H}
        assert ended.sum() <= mdp.S * mdp.A * mdp.H
        assert (terms[2] <= 2 * mdp.H**2 + ROUNDING).all()
        assert (abs(steps.square - steps.next**2) <= mdp.H**2).all()


def test_no_term_of_an_episode_can_be_left_out():
    """And the larger part of an episode's rewards is used where each step pays."""
    broken, rewards = np.zeros(5, int), 0.0
    for name, scale in RUNS:
        mdp, steps = run(name, scale)
        left, terms = episode_terms(mdp, steps)
        broken += [(left > terms.sum(axis=0) - term + 1e-6).sum() for term in terms]
        rewards = max(rewards, (terms[2] / (2 * mdp.H**2)).max())
    assert (broken > 0).all(), broken
    assert rewards > 0.8


def test_the_squares_of_a_run():
    """Σ_v ≤ 2HT + SAH³ + H²√(T/2 ln 1/δ) + 2H(Σ_α + Σ_m), and Σχ is within the third, δ = 1e-7.

    Not tight: rewards add up to less than T, and few episodes end early.  A fair bet on squares
    has the length H², and not H.
    """
    stakes = 0.0
    for name, scale in RUNS:
        mdp, steps = run(name, scale)
        bonus, model, variance = sums(steps)
        H, T = mdp.H, mdp.H * EPISODES
        luck = H**2 * math.sqrt(T / 2 * math.log(1 / RARE))
        assert (steps.square - steps.next**2).sum() <= luck
        ends = mdp.S * mdp.A * H**3
        assert variance <= 2 * H * T + ends + luck + 2 * H * (bonus + model)
        stakes = max(stakes, (abs(steps.square - steps.next**2) / H).max())
    assert stakes > 1.5


# The circle -------------------------------------------------------------------------------------


def J_of(S, A, H, K, delta, successors):
    rows = 2 * (successors - 1) * math.log(3) + 2 * math.log(S * A * H * K / delta)
    return H**2 * S * A * rows * (1 + math.log(K))


def bonuses_of(S, A, H, K, delta):
    """The most that bonuses come to, 14X."""
    return 14 * math.sqrt(H**3 * S * A * H * K * math.log(5 * S * A * H * K / delta))


def largest_errors(S, A, H, K, delta, successors, bonuses):
    """The largest Σ_m that two lemmas allow, with the larger root of the games."""
    T, J = H * K, J_of(S, A, H, K, delta, successors)
    known = 2 * H * T + S * A * H**3 + H**2 * math.sqrt(T * math.log(1 / delta)) + 2 * H * bonuses

    def allowed(m):
        return math.sqrt(2 * (known + 2 * H * m) * J / H) + J / 3

    # m = √(p + q m) + c has one solution, that of a quadratic equation.
    p, q, c = 2 * known * J / H, 4 * J, J / 3
    m = c + q / 2 + math.sqrt(q**2 / 4 + q * c + p)
    assert allowed(m) == pytest.approx(m)
    return m


def long_runs(S, A, H, longer, lg_delta, share, used):
    """Sizes with T > 14X: the least K with that, and so many powers of ten more."""
    delta, K = 10**lg_delta, 1.0
    while bonuses_of(S, A, H, K, delta) >= H * K:
        K *= 1.01
    K *= 10**longer
    sizes = {"S": S, "A": A, "H": H, "K": K, "delta": delta, "successors": 1 + share * (S - 1)}
    return sizes, used * bonuses_of(S, A, H, K, delta)


LONG = hs.builds(
    long_runs, hs.integers(1, 60), hs.integers(1, 9), hs.integers(1, 300), hs.floats(0, 12),
    hs.floats(-12, 0), hs.floats(0, 1), hs.floats(0, 1),
)  # fmt: skip


@given(LONG)
@settings(max_examples=400)
def test_the_circle_is_closed(run):
    """The largest Σ_m that they allow is within both claims, whatever of the bonuses is used."""
    sizes, bonuses = run
    T, J = sizes["H"] * sizes["K"], J_of(**sizes)
    ends = sizes["S"] * sizes["A"] * sizes["H"] ** 2
    m = largest_errors(**sizes, bonuses=bonuses)
    assert bonuses < T and 66 * ends < J
    assert ends + m <= 2.86 * math.sqrt(T * J) + 4.67 * J
    if 16 * J <= T:
        assert ends + m <= 3.5 * math.sqrt(T * J)


def test_no_constant_of_the_circle_can_be_halved_or_left_out():
    """3 cannot be 3/2, 5 cannot be 5/2, 4 cannot be 2; and where T ≤ 14X it may be false."""
    sizes, bonuses = long_runs(1, 1, 300, 12, -1, 0, 1)  # T is large against J
    T, J = sizes["H"] * sizes["K"], J_of(**sizes)
    m = largest_errors(**sizes, bonuses=bonuses)
    assert m > 1.5 * math.sqrt(T * J) + 5 * J
    sizes, bonuses = long_runs(10**4, 9, 1, 0, 0, 1, 1)  # T is small against J
    T, J = sizes["H"] * sizes["K"], J_of(**sizes)
    m = largest_errors(**sizes, bonuses=bonuses)
    assert J > T and m > 3 * math.sqrt(T * J) + 2.5 * J
    sizes, bonuses = long_runs(1, 1, 300, 0, -1, 0, 1)  # bonuses come to nearly T
    T, J = sizes["H"] * sizes["K"], J_of(**sizes)
    m = largest_errors(**sizes, bonuses=bonuses)
    assert 16 * J <= T and m > 2 * math.sqrt(T * J)
    short = {"S": 1, "A": 1, "H": 10**5, "K": 1e7, "delta": 0.1}
    T, J = short["H"] * short["K"], J_of(**short, successors=1)
    m = largest_errors(**short, successors=1, bonuses=bonuses_of(**short))
    assert m > 3 * math.sqrt(T * J) + 5 * J


def test_what_is_small_in_a_long_run():
    """H²√(T ln 1/δ) ≤ HT/14 and SAH² ≤ J/66 where T > 14X, also in the smallest world."""
    least = math.inf
    for S, H, lg_delta in itertools.product((1, 7), (1, 40), (0, -0.3, -9)):
        sizes, _ = long_runs(S, 1, H, 0, lg_delta, 0, 1)
        T = H * sizes["K"]
        assert H**2 * math.sqrt(T * math.log(1 / sizes["delta"])) <= H * T / 14
        least = min(least, J_of(**sizes) / (S * H**2))
    assert 66 < least < 2 * 66


# More worlds ------------------------------------------------------------------------------------


@pytest.mark.thorough
@each("seed", range(40))
def test_every_line_in_many_worlds(seed):
    """What holds in every run, on random worlds of other sizes and on longer runs."""
    mdp = st.instances.random_mdp(
        S=3 + seed % 7, A=2 + seed % 2, H=2 + seed % 6, seed=seed, stationary=seed % 2 == 0
    )
    steps = walk(mdp, 1_000, scale=0.001 * 2 ** (seed % 8), seed=seed)
    far = np.sqrt(2 * steps.variance * steps.kl) + mdp.H * steps.kl / 3
    assert (abs(steps.model) <= far + ROUNDING).all()
    left, parts = step_terms(mdp, steps)
    assert (left <= parts.sum(axis=0) + 1e-6).all()
    left, terms = episode_terms(mdp, steps)
    assert (left <= terms.sum(axis=0) + 1e-6).all()
    assert (steps.square - steps.next**2).sum() <= mdp.H**2 * math.sqrt(
        mdp.H * 1_000 / 2 * math.log(1 / RARE)
    )
    rows = 2 * (steps.successors - 1) * math.log(3)
    rows += 2 * math.log(mdp.S * mdp.A * mdp.H * 1_000 / RARE)
    assert (steps.n * steps.kl <= rows).all()
    assert (rows / steps.n).sum() <= numbers(mdp, 1_000, RARE)[1] / mdp.H
