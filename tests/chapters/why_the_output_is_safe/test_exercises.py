"""Right answers written in different ways pass, plausible wrong ones do not."""

import math

import numpy as np
import pytest
from classroom.answers import TriedAnswers, collect, said_of

import safeteach as st
from safeteach.chapters import why_the_output_is_safe as chapter

RIGHT, WRONG, right, wrong = collect()


# by-hand --------------------------------------------------------------------------------------

RIGHT["by-hand"] = [
    (0.1, 1 - math.exp(-0.02)),
    [math.sqrt(0.01), -math.expm1(-0.02)],
    (0.1, 0.0198),
]
SLIPS = {
    (0.2, 1 - math.exp(-0.02)): "A set sees half of it",
    (math.sqrt(0.02), 1 - math.exp(-0.02)): "2 under the root",
    (0.1, 0.02): "an upper bound of what is asked",
    (0.1, math.exp(-0.02)): "Asked is the rest",
    (1 - math.exp(-0.02), 0.1): "The other way round",
}
WRONG["by-hand"] = [*SLIPS, (0.1, 0.0196), 0.1, (0.1, 0.1, 0.1), "0.1, 0.02"]


@pytest.mark.parametrize(("value", "said"), SLIPS.items())
def test_a_common_slip_is_explained(value, said):
    assert said in said_of(chapter, "by-hand", value)


# bet ------------------------------------------------------------------------------------------


@right("bet")
def by_logarithms(counts, P):
    n, S = int(sum(counts)), len(counts)
    log = math.lgamma(S) - math.lgamma(n + S)
    for n_t, p in zip(counts, P, strict=True):
        if n_t > 0:
            log += math.lgamma(n_t + 1) - n_t * math.log(p)
    return log


@right("bet")
def bet_by_bet(counts, P):
    """The mixture bets on t with (n_t + 1)/(n + S); the order does not matter."""
    log, so_far = 0.0, np.zeros(len(counts))
    for t, m in enumerate(counts):
        for _ in range(m):
            log += math.log((so_far[t] + 1) / (so_far.sum() + len(counts)) / P[t])
            so_far[t] += 1
    return log


@wrong("bet")
def not_the_logarithm(counts, P):
    return math.exp(min(by_logarithms(counts, P), 600))


@wrong("bet")
def with_factorials_off_by_one(counts, P):
    n, S = int(counts.sum()), len(counts)
    log = math.lgamma(S + 1) - math.lgamma(n + S + 1)
    log += sum(math.lgamma(m + 1) for m in counts)
    return log - sum(m * math.log(p) for m, p in zip(counts, P, strict=True) if m)


@wrong("bet")
def without_the_initial_one(counts, P):
    return by_logarithms(counts, P) - math.lgamma(len(counts))


@wrong("bet")
def that_overflows(counts, P):
    money = float(math.factorial(len(counts) - 1)) / math.factorial(int(counts.sum()) + len(P) - 1)
    for m, p in zip(counts, P, strict=True):
        money *= math.factorial(int(m)) / p**m
    return math.log(money)


@wrong("bet")
def of_the_best_bet(counts, P):
    n = max(1, counts.sum())
    return sum(m * math.log(m / n / p) for m, p in zip(counts, P, strict=True) if m)


# ledger ---------------------------------------------------------------------------------------


@right("ledger")
def state_by_state(P, seen, f, policy):
    H, S = policy.shape
    X = np.zeros((H + 1, S))
    for h in range(H, 0, -1):
        for s in range(S):
            a = policy[h - 1, s]
            X[h - 1, s] = f[s]
            for t in range(S):
                ahead = X[h, t] if seen[h - 1, s, a, t] else H - h
                X[h - 1, s] += P[h - 1, s, a, t] * ahead
    return X[:H]


def ledger(P, seen, f, policy, left=lambda H, h: H - h, follow="seen"):
    H, S = policy.shape
    states, X = np.arange(S), np.zeros((H + 1, S))
    for h in range(H, 0, -1):
        rows = P[h - 1, states, policy[h - 1]]
        known = seen[h - 1, states, policy[h - 1]]
        ahead = rows * known if follow == "seen" else rows
        X[h - 1] = f + left(H, h) * (rows * ~known).sum(axis=1) + ahead @ X[h]
    return X[:H]


@right("ledger")
def by_rows(P, seen, f, policy):
    return ledger(P, seen, f, policy)


@wrong("ledger")
def with_all_the_steps(P, seen, f, policy):
    return ledger(P, seen, f, policy, left=lambda H, _h: H)


@wrong("ledger")
def one_step_more(P, seen, f, policy):
    return ledger(P, seen, f, policy, left=lambda H, h: H - h + 1)


@wrong("ledger")
def followed_everywhere(P, seen, f, policy):
    return ledger(P, seen, f, policy, follow="all")


@wrong("ledger")
def without_surprises(P, seen, f, policy):
    return ledger(P, seen, f, policy, left=lambda _H, _h: 0)


@wrong("ledger")
def with_the_last_row(P, seen, f, policy):
    X = ledger(P, seen, f, policy)
    return np.vstack([X, np.zeros(X.shape[1])])


# one-step -------------------------------------------------------------------------------------

RIGHT["one-step"] = [(2, 1, 0.1, 10**6), [2, 1, 0.9, 10**4], (np.int64(2), 2, 0.01, 10**9)]
WRONG["one-step"] = [
    (2, 1, 0.1, 1),
    (2, 1, 0.1, 20),
    (30, 4, 0.1, 10**6),
    (1, 1, 0.1, 10**6),
    (2, 1, 1.5, 10**6),
    (2, 1, 0.1, 0),
    (2, 1, 0.1, 1e6),
    (2, True, 0.1, 10**6),
    (2, 1, 10**6),
    (2, 1, 0.1, 10**30),
    (2, 1, 10**400, 10**6),
    "2, 1, 0.1, 1000000",
]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ((30, 4, 0.1, 10**6), "The lemma holds there"),
        ((1, 1, 0.1, 10), "S at least 2"),
        ((2, 1, 2, 10), "between 0 and 1"),
        ((2, 1), "Expected (S, A, delta, n)"),
    ],
)
def test_what_a_setting_lacks(answer, said):
    assert said in said_of(chapter, "one-step", answer)


# technical-lemmas -----------------------------------------------------------------------------

BROKEN_A, BROKEN_B = (1, 1.8), (2, 2, 2, 4, 1e-9)
RIGHT["technical-lemmas"] = [
    (BROKEN_A, BROKEN_B),
    [[1.0, math.e**2 / 4], [3, 1, 1, 4, 1e-12]],
    ((1.2, 1.5), (2, 50, 50, 10, 1e-3)),
]
WRONG["technical-lemmas"] = [
    ((2, 3), BROKEN_B),
    ((1, 5), BROKEN_B),
    ((1.8, 1), BROKEN_B),
    ((0.5, 0.6), BROKEN_B),
    (BROKEN_A, (2, 2, 2, 4, 0.5)),
    (BROKEN_A, (2, 2, 2, 3, 1e-9)),
    (BROKEN_A, (1, 2, 2, 4, 1e-9)),
    (BROKEN_A, (2, 2, 2, 4, 0)),
    (BROKEN_A, (2, 2, 2, 4)),
    ((10**400, 10**401), BROKEN_B),
    (BROKEN_A, (10**400, 2, 2, 4, 0.1)),
    (BROKEN_A, (2, 2, 2, 4, 10**400)),
    (BROKEN_A,),
    ("ab", BROKEN_B),
    3,
]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (((2, 3), BROKEN_B), "(a) It does not fall there"),
        (((1.8, 1), BROKEN_B), "(a) wants numbers x < y"),
        ((BROKEN_A, (2, 2, 2, 4, 0.5)), "(b) It holds there"),
        ((BROKEN_A, (2, 2, 2, 3, 1e-9)), "K at least 4"),
    ],
)
def test_what_a_break_lacks(answer, said):
    assert said in said_of(chapter, "technical-lemmas", answer)


# how-many-episodes ----------------------------------------------------------------------------


def right_side(K, S, A, H):
    g = float(st.bounds.gamma(K, S, A, H, 0.1))
    return 5 * (1 + math.sqrt(2)) * H**2 * math.sqrt(S * A * K * g)


@right("how-many-episodes")
def by_halving(S, A, H, epsilon):
    low, high = 1, 2**60
    while high - low > 1:
        middle = (low + high) // 2
        if middle * epsilon / 2 <= right_side(middle, S, A, H):
            low = middle
        else:
            high = middle
    return low


@right("how-many-episodes")
def by_iterating(S, A, H, epsilon):
    """K = (2/ε)² × the square of the rest, again and again, from above."""
    K = 1e30
    for _ in range(200):
        K = (2 / epsilon * right_side(K, S, A, H) / math.sqrt(K)) ** 2
    return math.floor(K)


@wrong("how-many-episodes")
def the_first_that_fails(S, A, H, epsilon):
    return by_halving(S, A, H, epsilon) + 1


@wrong("how-many-episodes")
def without_the_half(S, A, H, epsilon):
    return by_halving(S, A, H, 2 * epsilon)


@wrong("how-many-episodes")
def the_power_of_two(S, A, H, epsilon):
    K = 1
    while 2 * K * epsilon / 2 <= right_side(2 * K, S, A, H):
        K *= 2
    return K


@wrong("how-many-episodes")
def with_both_terms(S, A, H, epsilon):
    return st.bounds.exploration_episodes(S, A, H, epsilon, 0.1)


# leaner-still ---------------------------------------------------------------------------------


def root(n, S, A, H, delta):
    return np.sqrt(st.bounds.gamma(n, S, A, H, delta) / n)


@right("leaner-still")
def what_is_used(n, S, A, H, delta):
    return 2 * st.bounds.beta(n, S, delta) + H / 2 * root(n, S, A, H, delta)


@right("leaner-still")
def a_smaller_factor(n, S, A, H, delta):
    return (math.sqrt(2) + 0.5) * H * root(n, S, A, H, delta)


@wrong("leaner-still")
def the_same(n, S, A, H, delta):
    return 2 * H * root(n, S, A, H, delta)


@wrong("leaner-still")
def enough_for_the_error(n, S, A, H, delta):
    return H / 2 * root(n, S, A, H, delta)


@wrong("leaner-still")
def without_the_two(n, S, A, H, delta):
    return st.bounds.beta(n, S, delta) + H / 2 * root(n, S, A, H, delta)


@wrong("leaner-still")
def of_another_shape(n, S, A, H, delta):
    return what_is_used(n, S, A, H, delta)[:-1]


@wrong("leaner-still")
def of_words(n, S, A, H, delta):  # noqa: ARG001
    return "small"


@wrong("leaner-still")
def that_raises(n, S, A, H, delta):
    return math.sqrt(st.bounds.gamma(n, S, A, H, delta))


WRONG["leaner-still"].append(3)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (the_same, "It is not below 2H√(γ(n)/n) at n = 1"),
        (without_the_two, "It is less than the proofs use at n = "),
        (of_another_shape, "must return as many"),
        (that_raises, "It raises TypeError"),
        (3, "Expected a function"),
    ],
)
def test_what_a_bonus_lacks(answer, said):
    assert said in said_of(chapter, "leaner-still", answer)


class TestAnswers(TriedAnswers):
    slug = "why_the_output_is_safe"
    right = RIGHT
    wrong = WRONG
