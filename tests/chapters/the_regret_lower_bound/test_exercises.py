"""Right answers written in different ways pass, plausible wrong ones do not."""

import math

import numpy as np
import pytest
from classroom.answers import TriedAnswers, collect, said_of

import safeteach as st
from safeteach.chapters import the_regret_lower_bound as chapter
from safeteach.chapters.the_regret_lower_bound.exercises import CLAIM, explore_first, locked_root

RIGHT, WRONG, right, wrong = collect()


# by-hand --------------------------------------------------------------------------------------

RIGHT["by-hand"] = [(9, 3, 1.62, 1.8), [9.0, 3, 3 * (0.5 + 0.04), 3 * 0.6]]
HAND_SLIPS = {
    (9, 4, 2.16, 2.4): "the leaf itself takes one of them",
    (9, 3, 1.56, 1.8): "there is a better leaf than leaf 1",
    (9, 3, 1.62, 3.0): "printed tree",
    (9, 3, 1.68, 1.8): "by 2Δ, not by 3Δ",
    (9, 6, 3.24, 3.6): "all six steps",
    (16, 3, 1.62, 1.8): "Everything but the number of leaves is right.",
    (9, 3, 1.62, 1.62): "what does danger pay?",
    (9, 3, 1.8, 1.8): "may not be in danger",
    (9, 3, 0.54, 0.6): "what one step pays",
    (8, 3, 1.62, 1.8): "Of the 4 numbers the first is another one.",
    (9, 3, 1.5, 1.5): "Of the 4 numbers the third and the fourth are other ones.",
}
WRONG["by-hand"] = [*HAND_SLIPS, (9, 3, 1.62), 9]


@pytest.mark.parametrize(("value", "why"), HAND_SLIPS.items())
def test_a_slip_by_hand_is_explained(value, why):
    assert why in said_of(chapter, "by-hand", value)


def test_the_numbers_by_hand_are_those_of_the_tree():
    tree = st.instances.regret_tree(4, 2, 0.02, 0.1, j=5)
    best = st.safe_optimal(tree).value, st.optimal(tree).value
    assert chapter.check("by-hand", (len(tree.leaves), 2 * tree.depth - 1, *best)).status == "right"


# until-a-coin-has-talked ----------------------------------------------------------------------


@right("until-a-coin-has-talked")
def by_the_closed_form(gap, divergence):
    return math.ceil(divergence / (-math.log1p(-16 * gap**2) / 2))


@right("until-a-coin-has-talked")
def by_adding_up(gap, divergence):
    one = (math.log(0.5 / (0.5 + 2 * gap)) + math.log(0.5 / (0.5 - 2 * gap))) / 2
    looks = max(0, int(divergence / one) - 2)
    while looks * one < divergence:
        looks += 1
    return looks


@wrong("until-a-coin-has-talked")
def as_the_paper_has_it(gap, divergence):
    return math.ceil(divergence / (2 * gap**2))


@wrong("until-a-coin-has-talked")
def by_the_lower_bound(gap, divergence):
    return math.ceil(divergence / (8 * gap**2))


@wrong("until-a-coin-has-talked")
def with_the_worlds_exchanged(gap, divergence):
    return math.ceil(divergence / float(st.divergence.kl_bernoulli(0.5 + 2 * gap, 0.5)))


@wrong("until-a-coin-has-talked")
def with_one_gap(gap, divergence):
    return math.ceil(divergence / float(st.divergence.kl_bernoulli(0.5, 0.5 + gap)))


@wrong("until-a-coin-has-talked")
def rounded_down(gap, divergence):
    return int(divergence / (-math.log1p(-16 * gap**2) / 2))


@wrong("until-a-coin-has-talked")
def not_rounded(gap, divergence):
    return divergence / (-math.log1p(-16 * gap**2) / 2)


# which-alpha ----------------------------------------------------------------------------------

RIGHT["which-alpha"] = [(2, 2, 1, 0, 0), np.array([2, 2, 1, 0, 0])]
ALPHA_SLIPS = {
    (2, 2, 2, 0, 0): "false for a tiny c too?",
    (2, 2, 0, 0, 0): "true for a huge c too?",
    (0, 0, 1, 2, 2): "The other way round",
    (0, 0, 0, 0, 0): "repaired tree",
    (1, 1, 1, 0, 0): "no c > 0 is small enough",
}
WRONG["which-alpha"] = [*ALPHA_SLIPS, (2, 2, 1, 1, 0), (2, 2, 1), "22100"]


@pytest.mark.parametrize(("value", "why"), ALPHA_SLIPS.items())
def test_a_slip_about_alpha_is_explained(value, why):
    assert why in said_of(chapter, "which-alpha", value)


@pytest.mark.parametrize(
    ("alpha", "c", "swamped"),
    [
        (0.2, 1e-3, True),
        (0.4, 1e-3, True),
        (0.5, 9.0, True),
        (0.5, 0.05, False),
        (0.6, 100.0, False),
        (0.8, 100.0, False),
    ],
)
def test_the_verdicts_are_those_of_the_proposition_at_a_huge_K(alpha, c, swamped):
    n, H, steps, K = 8, 9, 5, 1e60
    T = H * K
    upper = steps * math.sqrt((n - 1) * K) / 4 - c * T ** (1 - alpha) / 6
    price = T ** ((alpha - 1) / 2) + H / (6 * (H - 1))
    lower = steps * math.sqrt((n - 1) * K) / 32 - price * c * T ** (1 - alpha)
    assert (upper < 0) == swamped
    assert (lower > 0) == (not swamped)


# lock-the-root --------------------------------------------------------------------------------


def first_branches(known):
    policy = np.zeros((known.H, known.S, known.A))
    policy[:, :, 0] = 1
    return policy


def coin(known, node, q, steps=slice(None)):
    policy = first_branches(known)
    policy[steps, node, 0], policy[steps, node, -1] = 1 - q, q
    return policy


@right("lock-the-root")
def in_node_one(known, K, allowed):
    return coin(known, 1, allowed / ((known.H - 2) * K))


@right("lock-the-root")
def in_node_two(known, K, allowed):
    """The coin is thrown in the root: the second branch leads to danger."""
    policy = first_branches(known)
    q = allowed / ((known.H - 2) * K)
    policy[:, 0, 0], policy[:, 0, 1] = 1 - q, q
    policy[:, 2] = [0, 0, 1]
    return policy


@right("lock-the-root")
def half_of_what_is_allowed(known, K, allowed):
    return coin(known, 1, allowed / 2 / ((known.H - 2) * K), steps=1)


@wrong("lock-the-root")
def in_the_root(known, K, allowed):
    return coin(known, 0, allowed / ((known.H - 1) * K))


@wrong("lock-the-root")
def in_the_leaf(known, K, allowed):
    return coin(known, 7, allowed / (5 * K))


@wrong("lock-the-root")
def too_greedy(known, K, allowed):
    return coin(known, 1, min(1.0, 1.01 * allowed / ((known.H - 2) * K)))


@wrong("lock-the-root")
def good_in_the_first_two_worlds(known, K, allowed):
    """Through leaf 2, with a bribe that covers its loss in τ_1 and τ_2 alone."""
    policy = coin(known, 1, 0.6 * allowed / ((known.H - 2) * K))
    policy[:, 3] = [0, 1, 0]
    return policy


@wrong("lock-the-root")
def always_in_danger(known, K, allowed):  # noqa: ARG001
    return coin(known, 1, 1.0)


@wrong("lock-the-root")
def never_in_danger(known, K, allowed):  # noqa: ARG001
    return first_branches(known)


@wrong("lock-the-root")
def as_actions(known, K, allowed):  # noqa: ARG001
    return np.zeros((known.H, known.S), int)


@wrong("lock-the-root")
def no_probabilities(known, K, allowed):
    policy = coin(known, 1, allowed / ((known.H - 2) * K))
    policy[:, 1, 0] = 1
    return policy


@wrong("lock-the-root")
def for_one_size(known, K, allowed):  # noqa: ARG001
    return coin(known, 1, 0.06)


@wrong("lock-the-root")
def that_raises(known, K, allowed):  # noqa: ARG001
    return known.P[0]


WRONG["lock-the-root"] += [0.06]


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (in_the_root, "With K = 20,000, in τ_1, its regret is 0, at a violation of 0"),
        (in_the_leaf, "in τ_2, its regret is"),
        (too_greedy, "are allowed"),
        (good_in_the_first_two_worlds, "With K = 20,000, in τ_3, its regret is"),
        (always_in_danger, "its violation is 140,000; 8,739 are allowed"),
        (for_one_size, "With K = 3,000,000"),
        (as_actions, "expected a (H, S, A) = (9, 18, 3) array, got an array of int64"),
        (no_probabilities, "It returns no policy"),
        (that_raises, "it raises AttributeError"),
        (0.06, "Expected a function, got 0.06."),
        (lambda *_: None, "no answer yet"),
    ],
)
def test_what_a_bribe_lacks(answer, why):
    assert why in said_of(chapter, "lock-the-root", answer)


def test_only_the_root_is_locked():
    tree = locked_root(20_000, 3)
    gap, unsafe_gap = math.sqrt(7 / 20_000) / 4, 180_000**-0.375
    printed = st.instances.regret_tree(3, 3, gap, unsafe_gap, 3, printed=True)
    assert np.array_equal(tree.P[0, 1:], printed.P[0, 1:])
    assert tree.P[0, 0, 2].argmax() == 1
    assert tree.P[0, 0, 2, 1] == 1
    assert np.array_equal(tree.r, printed.r)


# best-constant --------------------------------------------------------------------------------

RIGHT["best-constant"] = [
    (0.25, 0.0758163325),
    (0.25, 0.0758),
    (1 / 4, 1 / (8 * math.sqrt(math.e))),
]
CONSTANT_SLIPS = {
    (0.5, 0.1516326649): "the paper's divergence",
    (0.25, 0.0625): "in the limit it is larger",
    (0.8243606354, 0.1516326649): "of the second question",
}
WRONG["best-constant"] = [*CONSTANT_SLIPS, (1, 0.5), (0.25, 0.075), (0.25,), 0.0758]


@pytest.mark.parametrize(("value", "why"), CONSTANT_SLIPS.items())
def test_a_slip_about_the_constant_is_explained(value, why):
    assert why in said_of(chapter, "best-constant", value)


def test_the_best_constant_is_the_best_of_the_bound():
    n, steps, K = 8, 5, 10**9
    a = np.linspace(0.05, 1, 20_001)
    root = math.sqrt((n - 1) * K)
    found = [st.bounds.regret_lower_bound(n, steps, K, x * (n - 1) / root) for x in a]
    best = int(np.argmax(found))
    assert a[best] == pytest.approx(0.25, abs=1e-4)
    assert found[best] / (steps * root) == pytest.approx(0.0758163325, rel=1e-6)


# least-gap ------------------------------------------------------------------------------------


@right("least-gap")
def state_by_state(mdp):
    plan, here, least = st.optimal(mdp), {mdp.s1}, math.inf
    for h in range(1, mdp.H + 1):
        for s in here:
            found = plan.V[h - 1, s] - plan.Q[h - 1, s]
            least = min([least, *found[found > 1e-9]])
        here = {t for s in here for a in range(mdp.A) for t in mdp.successors(h, s, a)}
    return least


@right("least-gap")
def by_a_walk_at_random(mdp):
    """A state can be reached where a random policy is with positive probability."""
    plan, law, gaps = st.optimal(mdp), np.eye(mdp.S)[mdp.s1], []
    for h in range(mdp.H):
        gap = (plan.Q[h].max(axis=1, keepdims=True) - plan.Q[h])[law > 0]
        gaps += gap[gap > 1e-9].tolist()
        law = law @ mdp.P[h].mean(axis=1)
    return min(gaps, default=np.inf)


@wrong("least-gap")
def over_all_states(mdp):
    plan = st.optimal(mdp)
    gap = plan.V[:-1, :, None] - plan.Q
    return gap[gap > 1e-9].min()


@wrong("least-gap")
def of_the_safe_optimum(mdp):
    try:
        plan = st.safe_optimal(mdp)
    except st.InfeasibleError:
        return 0.0
    gap = np.abs(plan.V[:-1, :, None] - plan.Q)
    return gap[gap > 1e-9].min()


@wrong("least-gap")
def along_the_best_policy(mdp):
    plan, here, least = st.optimal(mdp), {mdp.s1}, math.inf
    for h in range(1, mdp.H + 1):
        for s in here:
            found = plan.V[h - 1, s] - plan.Q[h - 1, s]
            least = min([least, *found[found > 1e-9]])
        here = {t for s in here for t in mdp.successors(h, s, plan.policy[h - 1, s])}
    return least


@wrong("least-gap")
def with_zeros(mdp):
    plan = st.optimal(mdp)
    return (plan.V[:-1, :, None] - plan.Q).min()


@wrong("least-gap")
def by_the_formula(mdp):
    return (2 * mdp.H // 3 - 1) * (mdp.r.max() - 0.5)


# sensible-learner -----------------------------------------------------------------------------

RIGHT["sensible-learner"] = [
    (0.07, 8),
    [0.08, 6],
    (np.float64(0.1), np.int64(8)),
    np.array([0.07, 8]),
]
WRONG["sensible-learner"] = [
    (0.07, 2), (0.01, 8), (0.2, 8), (0.13, 1), (0.07, 9), (0.07, 2.5), (0.3, 8),
    (-0.1, 8), (math.nan, 8), 0.07, ("0.07", 8), (0.07, True), np.array(0.07),
]  # fmt: skip


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ((0.07, 2), "In τ_2 with this gap its expected regret is 58"),
        ((0.01, 8), "its expected regret is 157"),
        ((0.07, 9), "j is 9; the worlds are τ_1 to τ_8"),
        ((0.3, 8), "The gap is 0.3; it must lie between 0 and 1/4"),
        (0.07, "Expected a pair of numbers (gap, j), got 0.07"),
        ((0.07, True), "Expected a pair of numbers"),
    ],
)
def test_what_a_hard_world_lacks(answer, why):
    assert why in said_of(chapter, "sensible-learner", answer)


def test_the_claim_holds_in_tau_1_and_in_tau_2_and_breaks_elsewhere():
    gaps = np.linspace(0.001, 0.2499, 250)
    worst = {j: max(explore_first(gap, j) for gap in gaps) for j in (None, 2, 5, 8)}
    assert max(worst[None], worst[2]) <= CLAIM < min(worst[5], worst[8])


def test_the_exact_regret_is_that_of_simulated_runs():
    rng = np.random.default_rng(0)
    p = np.full(8, 0.5)
    p[0], p[4] = 0.57, 0.64
    heads = rng.binomial(30, p, (200_000, 8))
    lost = 5 * (p.max() - p)
    regret = 30 * lost.sum() + (2_000 - 240) * lost[heads.argmax(axis=1)]
    error = 4 * regret.std() / math.sqrt(len(regret))
    assert explore_first(0.07, 5) == pytest.approx(regret.mean(), abs=error)


class TestAnswers(TriedAnswers):
    slug = "the_regret_lower_bound"
    right = RIGHT
    wrong = WRONG
