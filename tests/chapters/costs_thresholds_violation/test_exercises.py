"""Solutions in several hands pass, plausible mistakes do not."""

import math
from statistics import NormalDist

import numpy as np
import pytest
from classroom.answers import TriedAnswers, collect
from hypothesis import given, settings
from hypothesis import strategies as hs
from looping import many

import safeteach as st
from safeteach.chapters import costs_thresholds_violation as chapter
from safeteach.chapters.costs_thresholds_violation.exercises import _ways_into_danger
from safeteach.classroom.checking.worlds import random_world

RIGHT, WRONG, right, wrong = collect()


def moves(mdp, policy, h):
    """(S, S) the transitions of step h under a policy."""
    return mdp.P[h - 1][np.arange(mdp.S), policy[h - 1]]


# by-hand --------------------------------------------------------------------------------------

RIGHT["by-hand"] = [(0.9, 2), [0.6 + 0.3, 2.0], np.array([0.9, 2])]
SLIPS = {
    (1.2, 3): "after the last step",
    (0.3, 1): "initial state",
    (0.9, 4): "equals the threshold is safe",
    (0.6, 2): "no credit",
}
WRONG["by-hand"] = [*SLIPS, 0.9, (2, 0.9), (0.9,), "0.9, 2", (2.1, 5), (math.nan, 2)]


@pytest.mark.parametrize(("pair", "said"), SLIPS.items())
def test_a_common_slip_is_explained(pair, said):
    assert said in chapter.check("by-hand", pair).text.replace("\n", " ")


def test_the_value_is_not_given_away():
    for answer in [*SLIPS, (2.1, 5), 1.5, "one"]:
        assert "0.9" not in chapter.check("by-hand", answer).text


def test_the_costs_printed_in_the_statement_are_those_of_the_map():
    smoke = st.instances.smoke()
    down, right_ = np.array([1, 0]), np.array([0, 1])
    cell, cost = np.array([1, 2]), []
    for move in (None, -right_, down, -right_, right_, right_):
        cell = cell if move is None else cell + move
        cost.append(smoke.c[smoke.cells.tolist().index(cell.tolist())])
    assert cost == [0.9, 0.6, 0.3, 0, 0.3, 0.6]


# violation-of-an-episode ----------------------------------------------------------------------


@right("violation-of-an-episode")
def by_lookup(mdp, episode):
    return mdp.violation[episode.states[:-1]].sum()


@right("violation-of-an-episode")
def by_a_loop(mdp, episode):
    total = 0.0
    for h in range(1, mdp.H + 1):
        total += max(mdp.c[episode.states[h - 1]] - mdp.tau, 0.0)
    return total


@wrong("violation-of-an-episode")
def of_noisy_costs(mdp, episode):
    return np.maximum(episode.costs - mdp.tau, 0).sum()


@wrong("violation-of-an-episode")
def with_the_state_after_the_end(mdp, episode):
    return mdp.violation[episode.states].sum()


@wrong("violation-of-an-episode")
def without_the_initial_state(mdp, episode):
    return mdp.violation[episode.states[1:-1]].sum()


@wrong("violation-of-an-episode")
def with_credit(mdp, episode):
    return (mdp.c[episode.states[:-1]] - mdp.tau).sum()


@wrong("violation-of-an-episode")
def cut_at_the_end(mdp, episode):
    return max((mdp.c[episode.states[:-1]] - mdp.tau).sum(), 0)


@wrong("violation-of-an-episode")
def number_of_unsafe_steps(mdp, episode):
    return mdp.unsafe[episode.states[:-1]].sum()


@wrong("violation-of-an-episode")
def each_state_once(mdp, episode):
    return mdp.violation[np.unique(episode.states[:-1])].sum()


# two-numbers-forward --------------------------------------------------------------------------


@right("two-numbers-forward")
def forward(mdp, policy):
    law = np.eye(mdp.S)[mdp.s1]
    clean = law.copy()
    violation = unsafe = 0.0
    for h in range(1, mdp.H + 1):
        violation += law @ mdp.violation
        unsafe += clean[mdp.unsafe].sum()
        clean[mdp.unsafe] = 0
        law, clean = law @ moves(mdp, policy, h), clean @ moves(mdp, policy, h)
    return violation, unsafe


@right("two-numbers-forward")
def backward(mdp, policy):
    V, W = np.zeros(mdp.S), np.zeros(mdp.S)
    for h in range(mdp.H, 0, -1):
        V = mdp.violation + moves(mdp, policy, h) @ V
        W = np.where(mdp.unsafe, 1.0, moves(mdp, policy, h) @ W)
    return [V[mdp.s1], W[mdp.s1]]


@right("two-numbers-forward")
def one_minus_clean(mdp, policy):
    clean = np.eye(mdp.S)[mdp.s1] * ~mdp.unsafe
    for h in range(1, mdp.H):
        clean = (clean @ moves(mdp, policy, h)) * ~mdp.unsafe
    return forward(mdp, policy)[0], 1 - clean.sum()


@wrong("two-numbers-forward")
def adds_probabilities(mdp, policy):
    law, total = np.eye(mdp.S)[mdp.s1], 0.0
    for h in range(1, mdp.H + 1):
        total += law[mdp.unsafe].sum()
        law = law @ moves(mdp, policy, h)
    return forward(mdp, policy)[0], min(total, 1.0)


@wrong("two-numbers-forward")
def as_if_steps_were_independent(mdp, policy):
    law, never = np.eye(mdp.S)[mdp.s1], 1.0
    for h in range(1, mdp.H + 1):
        never *= 1 - law[mdp.unsafe].sum()
        law = law @ moves(mdp, policy, h)
    return forward(mdp, policy)[0], 1 - never


@wrong("two-numbers-forward")
def moves_before_it_counts(mdp, policy):
    law = np.eye(mdp.S)[mdp.s1]
    clean = law.copy()
    violation = unsafe = 0.0
    for h in range(1, mdp.H + 1):
        law, clean = law @ moves(mdp, policy, h), clean @ moves(mdp, policy, h)
        violation += law @ mdp.violation
        unsafe += clean[mdp.unsafe].sum()
        clean[mdp.unsafe] = 0
    return violation, unsafe


@wrong("two-numbers-forward")
def always_the_first_step(mdp, policy):
    law = np.eye(mdp.S)[mdp.s1]
    clean = law.copy()
    violation = unsafe = 0.0
    for _ in range(mdp.H):
        violation += law @ mdp.violation
        unsafe += clean[mdp.unsafe].sum()
        clean[mdp.unsafe] = 0
        law, clean = law @ moves(mdp, policy, 1), clean @ moves(mdp, policy, 1)
    return violation, unsafe


@wrong("two-numbers-forward")
def at_the_threshold_is_unsafe(mdp, policy):
    lower = st.SafeMDP(mdp.P, mdp.r, mdp.c, max(mdp.tau - 1e-9, 0), mdp.H, mdp.s1)
    return forward(mdp, policy)[0], forward(lower, policy)[1]


@wrong("two-numbers-forward")
def unsafe_mass_leaves_the_world(mdp, policy):
    clean, violation = np.eye(mdp.S)[mdp.s1], 0.0
    for h in range(1, mdp.H + 1):
        violation += clean @ mdp.violation
        clean = np.where(mdp.unsafe, 0, clean) @ moves(mdp, policy, h)
    return violation, forward(mdp, policy)[1]


# find-the-bug ---------------------------------------------------------------------------------


@right("find-the-bug")
def reachable_set(mdp, policy):
    possible = {mdp.s1}
    for h in range(1, mdp.H + 1):
        if any(mdp.unsafe[s] for s in possible):
            return False
        possible = {t for s in possible for t in mdp.successors(h, s, policy[h - 1, s])}
    return True


@right("find-the-bug")
def by_support(mdp, policy):
    possible = np.eye(mdp.S, dtype=bool)[mdp.s1]
    feasible = True
    for h in range(1, mdp.H + 1):
        feasible &= not (possible & mdp.unsafe).any()
        possible = possible @ (moves(mdp, policy, h) > 0)
    return feasible


@right("find-the-bug")
def by_logarithms(mdp, policy):
    with np.errstate(divide="ignore"):
        log = np.log(np.eye(mdp.S)[mdp.s1])
        for h in range(1, mdp.H + 1):
            if np.isfinite(log[mdp.unsafe]).any():
                return False
            log = (log[:, None] + np.log(moves(mdp, policy, h))).max(axis=0)
    return True


# These multiply probabilities: two of 1e-200 make 0.
@wrong("find-the-bug")
def what_turned_unsafe_is_zero(mdp, policy):
    return forward(mdp, policy)[1] == 0


@wrong("find-the-bug")
def violation_is_zero(mdp, policy):
    return bool(forward(mdp, policy)[0] == 0)


@wrong("find-the-bug")
def by_the_library(mdp, policy):
    return st.evaluate(mdp, policy).unsafe_probability == 0


@pytest.mark.parametrize("product", [what_turned_unsafe_is_zero, violation_is_zero, by_the_library])
def test_whoever_multiplies_probabilities_is_told_why_that_fails(product):
    verdict = chapter.check("find-the-bug", product)
    said = " ".join(verdict.text.split())
    assert "It returns True; right is False" in said
    assert "too small for floating point" in said and "multiplies probabilities" in said
    world = verdict.case["mdp"]
    assert not st.is_feasible(world)
    assert product(world, verdict.case["policy"])


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda _mdp, _policy: False, "no chain of possible transitions"),
        (lambda _mdp, _policy: True, "It returns True; right is False"),
        (lambda _mdp, _policy: 1, "expected True or False, got 1"),
    ],
)
def test_a_wrong_judgement_is_explained(answer, said):
    assert said in " ".join(chapter.check("find-the-bug", answer).text.split())


@given(hs.integers(0, 10**6), hs.integers(0, 59))
@settings(max_examples=many(20, 60), deadline=None)
def test_the_checker_agrees_with_the_exact_probability_where_none_is_tiny(seed, k):
    rng = np.random.default_rng(seed)
    mdp = random_world(k, rng)
    policy = rng.integers(mdp.A, size=(mdp.H, mdp.S))
    possible = st.evaluate(mdp, policy).unsafe_probability > 0
    assert _ways_into_danger(mdp, policy) == possible


def left_over(mdp, policy):
    """The mass that the colleague of the exercise has left at the end."""
    clean = np.eye(mdp.S)[mdp.s1]
    for h in range(1, mdp.H + 1):
        clean = np.where(mdp.unsafe, 0.0, clean)
        clean = clean @ moves(mdp, policy, h)
    return clean.sum()


@wrong("find-the-bug")
def as_printed(mdp, policy):
    return left_over(mdp, policy) == 1.0


WRONG["find-the-bug"] += [
    lambda mdp, policy: bool(np.isclose(left_over(mdp, policy), 1)),
    lambda mdp, policy: abs(left_over(mdp, policy) - 1) < 1e-12,
    lambda mdp, policy: abs(left_over(mdp, policy) - 1) < 1e-15,
    lambda mdp, _: st.is_feasible(mdp),
    lambda mdp, _: not mdp.unsafe.any(),
]


def test_the_printed_function_is_right_where_the_statement_says_so():
    smoke = st.instances.smoke()
    P = np.zeros((4, 2, 4))
    P[0, 0, 1] = P[1, :, 1] = 1
    P[0, 1, [2, 3]] = 0.6, 0.4
    P[2:, :, 2], P[2:, :, 3] = 0.6, 0.4
    corridors = st.SafeMDP(P, np.ones((4, 2)), c=[0, 0.4, 0, 1], tau=0.5, H=4)
    assert as_printed(corridors, np.zeros((4, 4), int))
    assert not as_printed(corridors, np.ones((4, 4), int))
    assert as_printed(smoke, st.safe_optimal(smoke).policy)
    assert not as_printed(smoke, st.optimal(smoke).policy)


# cheaper-is-safer -----------------------------------------------------------------------------


def two_ways(flame, H=4, warm=0.4):
    P = np.zeros((4, 2, 4))
    P[0, 0, 1] = P[1, :, 1] = 1
    P[0, 1, 2], P[0, 1, 3] = 1 - flame, flame
    P[2:, :, 2], P[2:, :, 3] = 1 - flame, flame
    return st.SafeMDP(P, np.zeros((4, 2)), c=[0, warm, 0, 1], tau=0.5, H=H)


NORTH, SOUTH = np.zeros((4, 4), int), np.ones((4, 4), int)
# State 1 is warm and keeps you, state 2 burns and throws you back: no chance involved.
FIRE = st.SafeMDP(
    np.eye(3)[[[1, 2], [1, 1], [0, 0]]], np.zeros((3, 2)), c=[0, 0.5, 0.9], tau=0.5, H=5
)
RIGHT["cheaper-is-safer"] = [
    (two_ways(0.3), SOUTH, NORTH),
    (two_ways(0.3), np.eye(2)[SOUTH], NORTH),  # a policy may be given by its probabilities
    (FIRE, np.ones((5, 3), int), np.zeros((5, 3), int)),
]
WRONG["cheaper-is-safer"] = [
    (two_ways(0.3), NORTH, SOUTH),  # the wrong way round
    (two_ways(0.4), SOUTH, NORTH),  # equal costs
    (two_ways(0.05), SOUTH, NORTH),  # the violations are too close
    (two_ways(0.0), SOUTH, NORTH),  # nobody violates
    (two_ways(0.3, H=6), np.ones((6, 4), int), np.zeros((6, 4), int)),
    (two_ways(0.3), SOUTH),
    (two_ways(0.3), SOUTH, "north"),
    (two_ways(0.3), SOUTH[:2], NORTH),
    (SOUTH, NORTH, two_ways(0.3)),
    two_ways(0.3),
]


# enough-looks ---------------------------------------------------------------------------------


@right("enough-looks")
def by_search(gap, delta):
    n = 1
    while math.erfc(gap * math.sqrt(n / 2)) / 2 > delta:
        n += 1
    return n


@right("enough-looks")
def by_formula(gap, delta):
    if delta >= 0.5:
        return 1
    return int(np.ceil((NormalDist().inv_cdf(1 - delta) / gap) ** 2))


WRONG["enough-looks"] = [
    lambda gap, delta: math.ceil((NormalDist().inv_cdf(delta) / gap) ** 2),  # large deltas
    lambda gap, delta: max(1, round((NormalDist().inv_cdf(min(delta, 0.5)) / gap) ** 2)),
    lambda gap, delta: max(1, math.floor((NormalDist().inv_cdf(min(delta, 0.5)) / gap) ** 2)),
    lambda gap, delta: by_formula(gap, delta / 2),  # two-sided
    lambda gap, delta: math.ceil(2 * math.log(1 / delta) / gap**2),  # sub-Gaussian
    lambda gap, delta: max(1, math.ceil(-NormalDist().inv_cdf(min(delta, 0.5)) / gap)),
    lambda gap, _: math.ceil(1 / gap**2),
]


# ----------------------------------------------------------------------------------------------


class TestAnswers(TriedAnswers):
    slug, right, wrong = "costs_thresholds_violation", RIGHT, WRONG
