"""Right answers written in different ways pass, plausible wrong ones do not."""

import itertools
import math

import numpy as np
import pytest
from classroom.answers import TriedAnswers, collect, said_of

import safeteach as st
from safeteach.chapters import the_violation_lower_bound as chapter
from safeteach.chapters.the_violation_lower_bound import exercises
from safeteach.chapters.the_violation_lower_bound.exercises import boaster

RIGHT, WRONG, right, wrong = collect()


# by-hand --------------------------------------------------------------------------------------

RIGHT["by-hand"] = [
    (9, 13, 4, 0, 4),
    [9, 13, 4, 0.0, 4.0],
    np.array([3**2, 1 + 3 + 9, 6 - 2, 0, 4]),
]
BY_HAND = {
    (9, 13, 4, 0, 6): "the one that the paper prints",
    (9, 13, 6, 0, 6): "not in the leaf from the first step",
    (9, 12, 4, 0, 4): "The root is a state",
    (9, 13, 3, 0, 3): "at the step at which it is reached",
    (9, 13, 4, 4, 4): "a feasible policy never enters them",
    (8, 15, 6, 0, 6): "binary tree of depth 3",
}
WRONG["by-hand"] = [*BY_HAND, (9, 13, 4, 0), (6, 13, 4, 0, 4), 9, "9, 13, 4, 0, 4"]


@pytest.mark.parametrize(("value", "words"), BY_HAND.items())
def test_a_common_slip_is_explained(value, words):
    assert words in said_of(chapter, "by-hand", value)


def test_the_values_are_counted_another_way():
    words = list(itertools.product(range(3), repeat=2))
    steps = [h for h in range(1, 3 * 2 + 1) if h > 2]
    assert chapter.check(
        "by-hand", (len(words), 1 + 3 + len(words), len(steps), 0, len(steps))
    ).status == ("right")


# which-line-is-wrong --------------------------------------------------------------------------

RIGHT["which-line-is-wrong"] = [{2, 3}, [3, 2], (2, 3), np.array([2, 3])]
WRONG["which-line-is-wrong"] = [
    {2},
    {3},
    {2, 3, 5},
    {2, 3, 6},
    {1, 2, 3, 4, 5, 6, 7},
    set(),
    {2, 3, 7},
    2,
    "23",
]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ({1, 2, 3}, "Line 1 is true"),
        ({2, 3, 4}, "Line 4 drops what else is paid"),
        ({2, 3, 7}, "Line 7 is an equality"),
        ({2, 4}, "Line 4 is loose, not false. How many actions"),
        ({2, 5}, "Line 5 is loose, not false. How many actions"),
        ({3, 6}, "Line 6 is loose, not false. What does the best safe leaf pay"),
        ({1, 4, 5, 6, 7}, "answered with the others"),
        (set(), "Two of them are false"),
        ({2, 7}, "1 of yours does not belong there, 1 is missing."),
        ({5}, "1 of yours does not belong there, 2 are missing."),
        ({1, 5, 6, 2, 3}, "3 of yours do not belong there."),
        ({2}, "How many actions does the root of that tree have?"),
        ({3}, "What does the best safe leaf pay in all?"),
        ({2, 3, 5}, "an upper bound may be"),
        ({2, 3, 6}, "but it is true"),
        (2, "expected a set"),
    ],
)
def test_lines_that_are_loose_are_not_false(answer, words):
    assert words in said_of(chapter, "which-line-is-wrong", answer)


def test_the_lines_are_as_the_exercise_says():
    """Each line tested on the binary tree of depth 3."""
    tau_3 = st.instances.violation_tree(2, 3, 0.1, j=3)
    n, S, H, A = len(tau_3.leaves), tau_3.S, tau_3.H, tau_3.A
    value, K, leaf_steps, gap = st.safe_optimal(tau_3).value, 10, 6, 0.1
    true = {
        1: n == A ** (H // 3) == (S * (A - 1) + 1) / A >= S / 2,
        2: value == H,
        3: A >= 3,  # there is an action a_3, let alone the right one
        4: all((K - t) * gap >= (t <= K / 2) * K * gap / 2 for t in range(K + 1))
        and all(t >= (t > K / 2) * K / 2 for t in range(K + 1)),
        5: st.divergence.kl_gaussian(0.5 + gap, 0.5) <= 4 * gap**2,
        6: all(
            min(t[1:]) <= sum(t) / (n - 1)
            for t in np.random.default_rng(0).multinomial(K, [1 / n] * n, size=50)
        ),
        7: K * leaf_steps / 16 >= K * H / 24,
    }
    assert {line for line, holds in true.items() if not holds} == {2, 3}


# what-the-proof-says-of-a-run -----------------------------------------------------------------


@right("what-the-proof-says-of-a-run")
def by_the_formula(t, K, leaf_steps, gap):
    x = 1 - t[0] / K
    D = leaf_steps * t[1:] * gap**2 / 2
    return K * leaf_steps * np.maximum(np.exp(-D) / 2 - x, 0)


@right("what-the-proof-says-of-a-run")
def leaf_by_leaf(t, K, leaf_steps, gap):
    floors = []
    for visits in t[1:]:
        D = st.divergence.run_divergence(
            leaf_steps * visits, st.divergence.kl_gaussian(0.5 + gap, 0.5)
        )
        y = float(st.divergence.bretagnolle_huber(D)) - sum(t[1:]) / K
        floors.append(max(y, 0.0) * K * leaf_steps)
    return np.array(floors)


@wrong("what-the-proof-says-of-a-run")
def with_the_papers_divergence(t, K, leaf_steps, gap):
    D = leaf_steps * t[1:] * 4 * gap**2
    return K * leaf_steps * np.maximum(np.exp(-D) / 2 - 1 + t[0] / K, 0)


@wrong("what-the-proof-says-of-a-run")
def without_the_violation(t, K, leaf_steps, gap):
    return K * leaf_steps * np.exp(-leaf_steps * t[1:] * gap**2 / 2) / 2


@wrong("what-the-proof-says-of-a-run")
def that_may_be_negative(t, K, leaf_steps, gap):
    return K * leaf_steps * (np.exp(-leaf_steps * t[1:] * gap**2 / 2) / 2 - 1 + t[0] / K)


@wrong("what-the-proof-says-of-a-run")
def with_one_look_an_episode(t, K, leaf_steps, gap):
    return K * leaf_steps * np.maximum(np.exp(-t[1:] * gap**2 / 2) / 2 - 1 + t[0] / K, 0)


@wrong("what-the-proof-says-of-a-run")
def as_a_share(t, K, leaf_steps, gap):
    return by_the_formula(t, K, leaf_steps, gap) / (K * leaf_steps)


@wrong("what-the-proof-says-of-a-run")
def with_leaf_1(t, K, leaf_steps, gap):
    x = 1 - t[0] / K
    return K * leaf_steps * np.maximum(np.exp(-leaf_steps * t * gap**2 / 2) / 2 - x, 0)


@wrong("what-the-proof-says-of-a-run")
def the_worst_only(t, K, leaf_steps, gap):
    return by_the_formula(t, K, leaf_steps, gap).max()


# better-constant ------------------------------------------------------------------------------

RIGHT["better-constant"] = [
    ([0.745, 0.255], [0.3725, 0.6275]),
    ((0.6, 0.4), (0.4, 0.6)),
    [np.array([0.25, 0.75, 0.0]), np.array([0.6, 0.4, 0.0])],
    ([0.35, 0.65], [0.65, 0.35]),
    np.array([[0.6, 0.4], [0.4, 0.6]]),
]
WRONG["better-constant"] = [
    ([0.5, 0.5], [0.5, 0.5]),
    ([1, 0], [0.5, 0.5]),
    ([0.5, 0.5], [1, 0]),
    ([0.99, 0.01], [0.01, 0.99]),
    ([0.5, 0.6], [0.5, 0.5]),
    ([-0.5, 1.5], [0.5, 0.5]),
    ([0.5, 0.5], [1 / 3] * 3),
    ([0.5, math.nan], [0.5, 0.5]),
    ([0.7, "0.3"], [0.3, 0.7]),
    ([], []),
    ([0.01] * 101, [0.01] * 101),
    [0.7, 0.3],
    0.9,
]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (([0.5, 0.5], [0.5, 0.5]), "Σ min(p, q) = 1 is at least 0.9·exp(-KL) = 0.9"),
        (([0.5, 0.5], [1, 0]), "KL(p, q) is infinite here"),
        (([0.5, 0.6], [0.5, 0.5]), "p is no law"),
        (([0.5, 0.5], [1 / 3] * 3), "p has 2 outcomes and q has 3"),
        (([0.5, 0.5], 7), "q is 7; expected a list"),
        (([0.7, "0.3"], [0.3, 0.7]), "p has an entry that is no number"),
        (0.9, "Expected a pair of laws (p, q), got 0.9"),
    ],
)
def test_what_a_pair_of_laws_lacks(answer, words):
    assert words in said_of(chapter, "better-constant", answer)


# learner-of-the-brochure ----------------------------------------------------------------------

RIGHT["learner-of-the-brochure"] = [(500, 5), [1_000, 8], (np.int64(700), 2), np.array([1_000, 8])]
WRONG["learner-of-the-brochure"] = [
    (500, 4),
    (1_000, 2),
    (499, 4),
    (2_001, 8),
    (1_000, 1),
    (1_000, 9),
    (1_000.0, 8),
    (1_000, True),
    (1_000,),
    8,
    "1000, 8",
]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ((500, 4), "The claim holds on τ_4 at K = 500: the mean regret of 10 runs is"),
        ((499, 4), "K is 499; it must lie between 500 and 2,000"),
        ((1_000, 9), "the worlds are τ_2 to τ_8"),
        ((1_000.0, 8), "K is the float 1000.0; expected a whole number"),
        (8, "Expected a pair (K, j), got 8"),
    ],
)
def test_what_a_pair_lacks(answer, words):
    assert words in said_of(chapter, "learner-of-the-brochure", answer)


@pytest.mark.parametrize(("share", "refuted"), [(0.055, False), (0.07, True)])
def test_the_claim_is_refuted_from_a_sixteenth_on(share, refuted, monkeypatch):
    """HK/24 = KH'/16: with a learner that goes to leaf 1 in this share of the episodes."""

    def known(mdp, episodes):
        policy = np.zeros((mdp.H, mdp.S, 2))
        policy[..., 0] = share ** (1 / 3)  # at each of three branchings
        policy[..., 1] = 1 - policy[..., 0]
        return st.learners.FixedPolicy(mdp.known, episodes=episodes, policy=policy)

    monkeypatch.setattr(exercises, "boaster", known)
    assert (exercises._broken_boast((500, 2)) is None) == refuted


MORE = [pytest.param(K, marks=pytest.mark.thorough) for K in (823, 2_000)]


@pytest.mark.slow
@pytest.mark.parametrize("K", [500, *MORE])
def test_the_boaster_is_as_good_as_the_exercise_says_but_for_one_leaf(K):
    tau_1 = st.instances.violation_tree(A=2, depth=3, gap=0.5)
    paid = np.mean([st.run(boaster(tau_1, K), tau_1, seed).violation.sum() for seed in range(10)])
    assert paid < K * 6 * 0.5 / 10
    ends = [e.states[-1] for _, e in st.play(boaster(tau_1, K), tau_1)]
    tried = [ends.count(leaf) for leaf in tau_1.leaves]
    broken = [
        j for j in range(2, 9) if chapter.check("learner-of-the-brochure", (K, j)).status == "right"
    ]
    assert broken == [j for j in range(2, 9) if not tried[j - 1]]
    assert len(broken) == 1


# best-gap -------------------------------------------------------------------------------------


def on_a_grid():
    """By trying many κ and shares x."""
    best = (0.0, 0.0)
    x = np.linspace(0, 0.5, 200_001)
    for kappa in np.arange(7.5, 9.2, 0.01):
        share = x[np.argmax(np.exp(-kappa * x / 2) / 2 - x <= 1 / 16)]
        best = max(best, (float(share * math.sqrt(kappa)), float(kappa)))
    return best[1], best[0]


RIGHT["best-gap"] = [on_a_grid(), (8.37, 0.51), [8.3705, 0.5105]]
WRONG["best-gap"] = [(0.25, 0.2062), (8.37, 0.2552), (2.0, 0.4324), (8.37, 0.176), (8, 0.51), 8.37]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ((0.25, 0.2062), "That is the paper's κ"),
        ((8.37, 0.2552), "The κ is right"),
        ((2.0, 0.4324), "κ is not the exponent"),
        ((9.0, 0.5), "None of the 2 numbers is right"),
    ],
)
def test_a_wrong_gap_is_explained(answer, words):
    assert words in said_of(chapter, "best-gap", answer)


# good-at-both ---------------------------------------------------------------------------------


def evidence(t, mean, leaf_steps, gap):
    return leaf_steps * t[1:] * (gap**2 / 2 - gap * (mean[1:] - 0.5))


@right("good-at-both")
def by_the_mean_ratio(t, mean, K, leaf_steps, gap):  # noqa: ARG001
    L = evidence(t, mean, leaf_steps, gap)
    return 1 if np.exp(L).mean() < np.exp(-2) else 2 + int(L.argmax())


@right("good-at-both")
def by_the_largest_ratio(t, mean, K, leaf_steps, gap):  # noqa: ARG001
    L = evidence(t, mean, leaf_steps, gap)
    return 1 if L.max() < -1.8 else 2 + L.argmax()


@wrong("good-at-both")
def always_home(t, mean, K, leaf_steps, gap):  # noqa: ARG001
    return 1


@wrong("good-at-both")
def in_turn(t, mean, K, leaf_steps, gap):  # noqa: ARG001
    return 1 + int(t.sum()) % 4


@wrong("good-at-both")
def bold(t, mean, K, leaf_steps, gap):  # noqa: ARG001, only x is too large
    L = evidence(t, mean, leaf_steps, gap)
    return 1 if L.max() < -3 else 2 + int(L.argmax())


@wrong("good-at-both")
def shy(t, mean, K, leaf_steps, gap):  # noqa: ARG001, only one y_j is
    L = evidence(t, mean, leaf_steps, gap)
    return 1 if L.max() < -1 else 2 + int(L.argmax())


@wrong("good-at-both")
def ten_each_and_the_lowest(t, mean, K, leaf_steps, gap):  # noqa: ARG001
    for i in (1, 2, 3):
        if t[i] < 10:
            return i + 1
    i = 1 + int(mean[1:].argmin())
    return i + 1 if mean[i] < 0.5 + gap / 2 else 1


@wrong("good-at-both")
def from_zero(t, mean, K, leaf_steps, gap):
    return by_the_mean_ratio(t, mean, K, leaf_steps, gap) - 1


@wrong("good-at-both")
def in_words(t, mean, K, leaf_steps, gap):  # noqa: ARG001
    return "leaf 1"


@wrong("good-at-both")
def that_divides_by_visits(t, mean, K, leaf_steps, gap):  # noqa: ARG001
    return 1 // int(t[0])


WRONG["good-at-both"] += [1, "rule"]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (always_home, "x = 0.00; on τ_2, τ_3 and τ_4 the share of regret is 1.00, 1.00, 1.00"),
        (in_turn, "x = 0.75; on τ_2, τ_3 and τ_4 the share of regret is 0.25, 0.25, 0.25"),
        (in_words, "It returns a str; expected a leaf, 1 to 4"),
        (lambda *_: 1.0, "It returns the float 1.0; expected a leaf, 1 to 4"),
        (that_divides_by_visits, "It raises ZeroDivisionError"),
        (3, "Expected a function, got 3"),
    ],
)
def test_what_a_rule_lacks(answer, words):
    assert words in said_of(chapter, "good-at-both", answer)


def test_a_rule_that_returns_nothing_is_no_answer_yet():
    assert chapter.check("good-at-both", lambda *_: None).status == "no answer yet"


class TestAnswers(TriedAnswers):
    slug = "the_violation_lower_bound"
    right = RIGHT
    wrong = WRONG
