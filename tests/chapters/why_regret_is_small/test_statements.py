"""The statements of the chapter, one test each, on runs and models that would show a false one.

The theorems speak of events.  Each test looks at whether the event has come about, by its
definition, and then at what is said to follow; the bonuses are small enough for both to happen and
for the conclusion to be able to fail.
"""

import functools
import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as hs
from looping import each, many

import safeteach as st
from safeteach import bounds

ROUNDING = 1e-9
DELTA = 0.5  # flags come early, and the events fail now and then


def feasible_worlds(count, **sizes):
    """Random worlds with a feasible policy and something to fear, half of them step-dependent."""
    found = (
        st.instances.random_mdp(**sizes, seed=seed, unsafe=0.25, stationary=seed % 2 == 0)
        for seed in itertools.count()
    )
    fearful = (m for m in found if st.is_feasible(m) and not st.safe_actions(m).all())
    return [  # with costs of 0 and 1, so that flags come soon
        st.SafeMDP(m.P, m.r, m.unsafe, m.tau, m.H) for m in itertools.islice(fearful, count)
    ]


def values(mdp, policy):
    V = np.zeros((mdp.H + 1, mdp.S))
    for i in reversed(range(mdp.H)):
        V[i] = (mdp.r[i] + mdp.P[i] @ V[i + 1])[np.arange(mdp.S), policy[i]]
    return V


def under_mask(mdp, mask):
    V = np.zeros((mdp.H + 1, mdp.S))
    for i in reversed(range(mdp.H)):
        V[i] = np.where(mask[i], mdp.r[i] + mdp.P[i] @ V[i + 1], -np.inf).max(axis=1)
    return V


def mask_of(learner):
    return learner.safe_actions | learner.U[:, :, None]


def bonus(learner):
    """(H, S, A) α(N), infinite where N = 0."""
    with np.errstate(divide="ignore"):
        return learner.alpha / np.sqrt(learner.transitions.N)


def covered(learner, mdp, V):
    """Whether |(P̂ - P) V_{h+1}| ≤ α wherever something was tried."""
    error = np.einsum("hsat,ht->hsa", learner.transitions.P_hat - mdp.P, V[1:])
    return (np.abs(error) <= bonus(learner) + ROUNDING)[learner.transitions.N > 0].all()


def played(mdp, seed, scale, episodes=300):
    """The learner before each episode, with the episode; costs without noise, so E_1 holds."""
    learner = st.SUCBVI(mdp.known, episodes=episodes, delta=DELTA, bonus_scale=scale)
    for _, episode in st.play(learner, mdp, seed=seed, noise=0.0):
        yield learner, episode


WORLDS = feasible_worlds(many(6, 10), S=5, A=2, H=4)


@pytest.mark.slow
def test_optimism_on_safe_pairs():
    """Where α covers (P̂ - P)V*, Q^k ≥ Q* on safe pairs and V^k ≥ V* outside U_h."""
    held = missed = 0
    for seed, mdp in enumerate(WORLDS):
        plan, U, safe = st.safe_optimal(mdp), st.potentially_unsafe(mdp), st.safe_actions(mdp)
        for learner, _ in played(mdp, seed, scale=0.004):
            if not covered(learner, mdp, plan.V):
                missed += 1
                continue
            held += 1
            enough = learner.Q >= plan.Q - ROUNDING
            assert enough[safe & ~U[:, :, None]].all()
            assert (learner.V[:-1] >= plan.V[:-1] - ROUNDING)[~U].all()
            assert learner.V[0, mdp.s1] >= plan.value - ROUNDING
    assert held > 1000
    assert missed > 0  # the event can fail: the bonus is not so wide as to make the test idle


def doomed_and_masked():
    """From 0 to x, where a0 surely and a1 rarely leads to the water; the water pays."""
    start, x, water, home = range(4)
    P = np.zeros((4, 2, 4))
    P[start, 0, x] = P[start, 1, home] = P[x, 0, water] = 1
    P[x, 1, [home, water]] = 1 - 1e-5, 1e-5
    P[water, :, water] = P[home, :, home] = 1
    r = np.zeros((3, 4, 2))
    r[1, x, 1] = 0.9
    r[2, water] = 1
    r[1, x, 0] = 0.5
    return st.SafeMDP(P, r, c=np.eye(4)[water], tau=0.5, H=3)


def test_optimism_fails_elsewhere():
    """The printed lemma, for all pairs, is false: on a dangerous pair Q^k < Q* though α covers."""
    mdp = doomed_and_masked()
    plan, U = st.safe_optimal(mdp), st.potentially_unsafe(mdp)
    assert U[1, 1] and not U[0, 0]
    below = 0
    for learner, _ in played(mdp, seed=0, scale=0.01, episodes=4000):
        if covered(learner, mdp, plan.V):
            below += (learner.V[1, 1] < plan.V[1, 1] - ROUNDING).any()
    assert below > 0


@pytest.mark.slow
def test_the_exact_decomposition():
    """The gap is bonus + model + luck - cap up to the first new pair, plus H - V^π there."""
    for seed, mdp in enumerate(WORLDS[:6]):
        new = 0
        learner = st.SUCBVI(mdp.known, episodes=300, bonus_scale=0.01)
        audit = st.audit(st.SUCBVI(mdp.known, episodes=300, bonus_scale=0.01), mdp, seed=seed)
        for k, episode in st.play(learner, mdp, seed=seed):
            V_pi, P_hat = values(mdp, learner.policy), learner.transitions.P_hat
            G, total = learner.V - V_pi, np.zeros(4)
            assert (G <= mdp.H + ROUNDING).all()
            rest = 0.0
            for i in range(mdp.H):
                s, a, t = episode.states[i], episode.actions[i], episode.states[i + 1]
                n = learner.transitions.N[i, s, a]
                if n == 0:
                    rest = G[i, s]
                    assert rest == pytest.approx(mdp.H - V_pi[i, s]) and 0 <= rest <= mdp.H
                    new += 1
                    break
                alpha = learner.alpha / math.sqrt(n)
                uncapped = mdp.r[i, s, a] + P_hat[i, s, a] @ learner.V[i + 1] + alpha
                cap = uncapped - learner.Q[i, s, a]
                assert cap >= -ROUNDING
                model = (P_hat[i, s, a] - mdp.P[i, s, a]) @ learner.V[i + 1]
                luck = mdp.P[i, s, a] @ G[i + 1] - G[i + 1, t]
                total += alpha, model, luck, cap
            assert total @ [1, 1, 1, -1] + rest == pytest.approx(G[0, mdp.s1], abs=ROUNDING)
            assert audit.gap[k] == pytest.approx(G[0, mdp.s1], abs=ROUNDING)
            parts = audit.bonus[k], audit.model[k], audit.luck[k], audit.cap[k]
            assert np.dot(parts, [1, 1, 1, -1]) == pytest.approx(audit.gap[k], abs=ROUNDING)
            assert audit.cap[k] >= -ROUNDING
        assert 0 < new <= mdp.S * mdp.A * mdp.H


@given(hs.integers(0, 10**6), hs.integers(1, 5), hs.integers(1, 6), hs.integers(1, 200))
@settings(max_examples=many(105, 300))
def test_counting(seed, H, pairs, K):
    """Σ 1/√N ≤ 2√(SAHT) and Σ 1/N ≤ SAH(1 + ln K) along any run."""
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(pairs, 0.5), size=H)
    N = np.zeros((H, pairs), int)
    roots = inverses = 0.0
    for _ in range(K):
        for h in range(H):
            i = rng.choice(pairs, p=shares[h])
            if N[h, i]:
                roots += 1 / math.sqrt(N[h, i])
                inverses += 1 / N[h, i]
            N[h, i] += 1
    assert roots <= 2 * math.sqrt(pairs * H * H * K)
    assert inverses <= pairs * H * (1 + math.log(K))


def test_counting_over_pairs_alone_is_too_little():
    """The paper's 2√(SAT) is exceeded when every step has its own counts."""
    H, pairs, K = 9, 4, 400
    each = K // pairs  # visits to each of the H * pairs triples
    total = H * pairs * sum(1 / math.sqrt(i) for i in range(1, each))
    assert 2 * math.sqrt(pairs * H * K) < total <= 2 * math.sqrt(pairs * H * H * K)


@each("p", [0.03, 0.2, 0.5, 0.8, 0.97])
@each("m", [1, 7, 40, 200])
@each("delta", [0.3, 0.05, 1e-3])
def test_azuma_hoeffding(p, m, delta):
    """A sum of fair bets with stakes b exceeds b√(m/2 ln 1/δ) with probability at most δ."""
    b = 3.0
    width = b * math.sqrt(m / 2 * math.log(1 / delta))
    exceeds = sum(
        math.comb(m, wins) * p**wins * (1 - p) ** (m - wins)
        for wins in range(m + 1)
        if b * (wins * (1 - p) - (m - wins) * p) > width
    )
    assert exceeds <= delta


def test_azuma_hoeffding_for_bets_that_depend_on_the_past():
    """Whoever bets high after losses is bound by it too; all outcomes are tried."""
    b, m, delta = 1.0, 12, 0.1
    law = {0.0: 1.0}
    for _ in range(m):
        after = {}
        for total, chance in law.items():
            p = 0.5 if total >= 0 else 0.1  # the odds change with the past, the length does not
            for step, q in ((b * (1 - p), p), (-b * p, 1 - p)):
                key = round(total + step, 9)
                after[key] = after.get(key, 0.0) + chance * q
        law = after
    assert abs(sum(x * q for x, q in law.items())) < 1e-9
    width = b * math.sqrt(m / 2 * math.log(1 / delta))
    assert 0 < sum(q for x, q in law.items() if x > width) <= delta


def walks(mdp, seed, scale=0.01, episodes=300):
    """Of each episode: whether E_V holds, and (n, α, model, ‖P̂-P‖₁, luck) of each step h < f."""
    best = st.safe_optimal(mdp)
    for learner, episode in played(mdp, seed, scale=scale, episodes=episodes):
        V_pi, P_hat = values(mdp, learner.policy), learner.transitions.P_hat
        G, steps = learner.V - V_pi, []
        for i in range(mdp.H):
            s, a, t = episode.states[i], episode.actions[i], episode.states[i + 1]
            n, row = learner.transitions.N[i, s, a], mdp.P[i, s, a]
            if n == 0:
                break
            off = P_hat[i, s, a] - row
            luck = row @ G[i + 1] - G[i + 1, t]
            steps.append((n, learner.alpha / math.sqrt(n), off @ learner.V[i + 1],
                          np.abs(off).sum(), luck))  # fmt: skip
        lost = best.value - V_pi[0, mdp.s1]
        yield covered(learner, mdp, best.V), lost, len(steps) < mdp.H, np.array(steps)


@functools.cache
def walked(seed, scale=0.01):
    """The walks of one of the worlds, which several claims look at."""
    return list(walks(WORLDS[seed], seed, scale))


@pytest.mark.slow
def test_claim_1_optimism():
    """On E_1 and E_V regret is at most H for each walk that ends early, Σα + Σm + Σξ for all."""
    checked = 0
    for seed, mdp in enumerate(WORLDS[:6]):
        regret = ceiling = 0.0
        early = 0
        for good, lost, ends, steps in walked(seed):
            if not good:
                break
            regret += lost
            early += ends
            ceiling += mdp.H * ends + (steps[:, [1, 2, 4]].sum() if len(steps) else 0)
            assert regret <= ceiling + 1e-6
            checked += 1
        assert early <= mdp.S * mdp.A * mdp.H
    assert checked > 500


@pytest.mark.slow
@pytest.mark.parametrize("scale", [0.01, 1.0])
def test_claim_2_bonus(scale):
    """In every run Σα ≤ 14√(H³SAT·L), times the scale; no event is needed."""
    for seed, mdp in enumerate(WORLDS[:4]):
        S, A, H, K = mdp.S, mdp.A, mdp.H, 300
        L, T = math.log(5 * S * A * H * K / DELTA), H * K
        met = sum(steps[:, 1].sum() for *_, steps in walked(seed, scale) if len(steps))
        assert 0 < met <= scale * 14 * math.sqrt(H**3 * S * A * T * L)


@pytest.mark.slow
def test_claim_3_model():
    """Each m ≤ H/2 ‖P̂-P‖₁; where that keeps to E_ℓ1 all together are within the last term."""
    within = tight = 0
    for seed, mdp in enumerate(WORLDS):
        S, A, H, K = mdp.S, mdp.A, mdp.H, 300
        width = math.sqrt(2 * (S * math.log(2) + math.log(S * A * H * K / DELTA)))
        total, good = 0.0, True
        for *_, steps in walked(seed):
            for n, _, model, norm, _ in steps:
                assert model <= H / 2 * norm + ROUNDING
                tight = max(tight, model / (H / 2 * norm) if norm else 0)
                good = good and norm <= width / math.sqrt(n)
                total += model
        within += good
        if good:
            last = H / 2 * width * 2 * math.sqrt(S * A * H * H * K)
            assert total <= last
    assert within >= 0.8 * len(WORLDS)
    assert tight > 0.5


@pytest.mark.slow
def test_claim_4_luck():
    """Each ξ keeps to an interval of 2H around 0, and Σξ to H√(2T ln 1/δ) in most runs."""
    exceeds, signs = [], set()
    for seed, mdp in enumerate(WORLDS):
        K, total = 300, 0.0
        for *_, steps in walked(seed):
            for *_, luck in steps:
                assert abs(luck) <= 2 * mdp.H
                total += luck
                signs.add(np.sign(luck.round(9)))
        exceeds.append(total > mdp.H * math.sqrt(2 * mdp.H * K * math.log(1 / DELTA)))
    assert np.mean(exceeds) <= DELTA
    assert signs == {-1, 0, 1}


@pytest.mark.slow
def test_regret_in_every_feasible_world():
    """On the events, regret ≤ first visits · H + Σα + Σ(H/2)‖P̂-P‖₁ + Σξ, term by term."""
    checked = 0
    for seed, mdp in enumerate(WORLDS):
        best, K = st.safe_optimal(mdp), 300
        regret = ceiling = looks = 0.0
        firsts = 0
        good = True
        for learner, episode in played(mdp, seed, scale=0.01, episodes=K):
            good = good and covered(learner, mdp, best.V)
            V_pi, P_hat = values(mdp, learner.policy), learner.transitions.P_hat
            G = learner.V - V_pi
            regret += best.value - V_pi[0, mdp.s1]
            for i in range(mdp.H):
                s, a, t = episode.states[i], episode.actions[i], episode.states[i + 1]
                n, row = learner.transitions.N[i, s, a], mdp.P[i, s, a]
                if n == 0:
                    ceiling += mdp.H
                    firsts += 1
                    break
                alpha = learner.alpha / math.sqrt(n)
                norm = np.abs(P_hat[i, s, a] - row).sum()
                model = (P_hat[i, s, a] - row) @ learner.V[i + 1]
                assert model <= mdp.H / 2 * norm + ROUNDING
                luck = row @ G[i + 1] - G[i + 1, t]
                assert abs(luck) <= 2 * mdp.H
                looks += 1 / math.sqrt(n)
                ceiling += alpha + mdp.H / 2 * norm + luck
            if good:
                assert regret <= ceiling + 1e-6
        checked += good
        assert firsts <= mdp.S * mdp.A * mdp.H
        assert looks <= 2 * math.sqrt(mdp.S * mdp.A * mdp.H * mdp.H * K)
    assert checked >= 3


@given(hs.integers(1, 400), hs.integers(1, 9), hs.integers(1, 30), hs.integers(1, 10**9),
       hs.floats(1e-6, 0.5))
@settings(max_examples=many(70, 200))
def test_the_bound_is_the_sum_of_its_four_terms(S, A, H, K, delta):
    """What the proof of thm-regret-l1 adds up, from the widths of ``bounds`` at n = 1."""
    T, looks = H * K, 2 * math.sqrt(S * A * H * H * K)
    total = (
        S * A * H * H
        + 2 * H * math.sqrt(T / 2 * math.log(1 / delta))
        + float(bounds.alpha(1, S, A, H, K, delta)) * looks
        + H / 2 * float(bounds.l1_width(1, S, A, H, K, delta)) * looks
    )
    assert bounds.regret_bound(S, A, H, K, delta) == pytest.approx(total)


@pytest.mark.parametrize("b", [1, 2, 3])
def test_few_successors(b):
    """‖P̂-P‖₁ on b of S states leaves the width with b ln 2 rarely, whatever S is; exactly."""
    n, delta = 12, 0.2
    P = np.arange(1, b + 1) / np.arange(1, b + 1).sum()
    width = math.sqrt(2 * (b * math.log(2) + math.log(1 / delta)) / n)
    outside = 0.0
    for counts in itertools.product(range(n + 1), repeat=b):
        if sum(counts) == n:
            chance = math.factorial(n) * np.prod(
                [p**k / math.factorial(k) for p, k in zip(P, counts, strict=True)]
            )
            outside += chance * (np.abs(np.array(counts) / n - P).sum() > width)
    assert outside <= delta


@pytest.mark.parametrize("share", [0.1, 0.99, 1.5])
def test_the_bonus_pays_for_139_L_successors(share):
    """Half of H ‖P̂-P‖₁ fits under α for up to 139L successors, and not for half as many again."""
    A, H, K, delta = 4, 10, 20_000, 0.005
    S = 4_000
    L = math.log(5 * S * A * H * K / delta)
    b = int(share * 139 * L)
    width = H / 2 * math.sqrt(2 * (b * math.log(2) + math.log(S * A * H * K / delta)))
    assert (width <= bounds.alpha(1, S, A, H, K, delta)) == (share < 1)


@pytest.mark.slow
def test_regret_with_few_dangerous_pairs():
    """On the events: V^k ≥ V^M ≥ V^π everywhere, V^M ≥ V* at s_1, and the one-step inequality."""
    held = printed_fails = several = 0
    for seed, mdp in enumerate([st.instances.union_counterexample(), *WORLDS]):
        best, dangerous = st.safe_optimal(mdp), ~st.safe_actions(mdp)
        dangerous[-1] = False
        K, H, S = 300, mdp.H, mdp.S
        ell = math.log(2 * S**2 * mdp.A * H * K / DELTA)
        masks = set()
        for learner, episode in played(mdp, seed, scale=0.01, episodes=K):
            mask = mask_of(learner)
            masks.add(mask.tobytes())
            assert mask.any(axis=2).all()
            assert (mask | dangerous).all(), "only dangerous pairs are left out"
            V_M, V_pi = under_mask(mdp, mask), values(mdp, learner.policy)
            P_hat, N = learner.transitions.P_hat, learner.transitions.N
            if not covered(learner, mdp, V_M):
                continue
            held += 1
            assert (learner.V >= V_M - ROUNDING).all()
            assert (V_pi <= V_M + ROUNDING).all()
            assert V_M[0, mdp.s1] >= best.value - ROUNDING
            printed_fails += (V_pi > best.V + ROUNDING).any()
            G = learner.V - V_pi
            for i in range(H):
                s, a, t = episode.states[i], episode.actions[i], episode.states[i + 1]
                n, row = N[i, s, a], mdp.P[i, s, a]
                if n == 0:
                    break
                width = np.sqrt(2 * row * ell / n) + 2 * ell / (3 * n)
                if (np.abs(P_hat[i, s, a] - row) > width).any():
                    break
                luck = row @ G[i + 1] - G[i + 1, t]
                g = learner.V[i + 1] - V_M[i + 1]
                own = (P_hat[i, s, a] - row) @ g
                assert own <= row @ g / H + 2 * H**2 * S * ell / n + ROUNDING
                step = 2 * learner.alpha / math.sqrt(n) + 2 * H**2 * S * ell / n
                assert G[i, s] <= step + (1 + 1 / H) * (luck + G[i + 1, t]) + ROUNDING
        assert len(masks) <= 2 ** dangerous.sum()
        several += len(masks) > 1
    assert held > 1000
    assert printed_fails > 0
    assert several > 3


@given(hs.integers(1, 400), hs.integers(1, 9), hs.integers(1, 30), hs.integers(1, 10**9),
       hs.floats(1e-6, 0.5))
@settings(max_examples=many(70, 200))
def test_how_many_dangerous_pairs_the_bonus_covers(S, A, H, K, delta):
    """2^D masks fit under α exactly up to the largest D, and D ≤ 139 L fits."""
    most = bounds.most_dangerous_pairs(S, A, H, K, delta)
    N = S * A * H * K / delta

    def width(D):
        return H * math.sqrt((D * math.log(2) + math.log(2 * N)) / 2)

    alpha = float(bounds.alpha(1, S, A, H, K, delta))
    assert width(most) <= alpha * (1 + 1e-12) and width(most + 1) > alpha * (1 - 1e-12)
    assert most >= math.floor(139 * math.log(5 * N))


@given(hs.integers(1, 60), hs.integers(1, 30), hs.integers(1, 10**6), hs.floats(1e-6, 0.5))
@settings(max_examples=many(70, 200))
def test_the_bound_with_masks_is_the_sum_of_its_four_terms(S, H, K, delta):
    A = 3
    assume(H * K > 1)
    looks = 2 * math.sqrt(S * A * H * H * K)
    ell = math.log(2 * S**2 * A * H * K / delta)
    total = (
        math.e * S * A * H * H
        + math.e * H * math.sqrt(H * K / 2 * math.log(1 / delta))
        + math.e * 2 * float(bounds.alpha(1, S, A, H, K, delta)) * looks
        + math.e * 2 * H**2 * S * ell * S * A * H * (1 + math.log(K))
    )
    assert bounds.regret_bound_masks(S, A, H, K, delta) == pytest.approx(total)


def test_weights_stay_below_e_and_a_signed_term_must_keep_its_own():
    """(1 + 1/H)^h ≤ e for h ≤ H; replacing 1 + 1/H by 2 lowers a negative term."""
    for H in range(1, 200):
        assert math.pow(1 + 1 / H, H) <= math.e
    assert not (1 + 1 / 4) * -1.0 <= 2 * -1.0
