"""Right answers written in different ways pass, plausible wrong ones do not."""

import math

import numpy as np
import pytest
from classroom.answers import TriedAnswers, collect, said_of

import safeteach as st
from safeteach.chapters import the_problem_and_rf_ucrl as chapter

RIGHT, WRONG, right, wrong = collect()


# by-hand --------------------------------------------------------------------------------------

RIGHT["by-hand"] = [(1.5, 1.8), [1.5, 1.8], np.array([0.6 + 0.75 + 0.15, 1.2 + 0.6])]
SLIPS = {
    (0.6 + 0.75 * 0.35 + 0.15, 1.8): "never tried counts too",
    (2.0, 1.8): "one step is left",
    (1.2, 1.2): "times H - h + 1 = 2",
    (1.0, 1.0): "two steps are left",
    (0.6 + 0.75 * 0.675 + 0.15, 1.8): "not the average",
}
WRONG["by-hand"] = [*SLIPS, (1.8, 1.5), 1.8, (1.5,), "1.5, 1.8"]


@pytest.mark.parametrize(("value", "words"), SLIPS.items())
def test_a_common_slip_is_explained(value, words):
    assert words in said_of(chapter, "by-hand", value)


def test_the_values_are_not_given_away():
    for answer in [*SLIPS, (9, 9)]:
        assert "1.5" not in chapter.check("by-hand", answer).text


# recursion ------------------------------------------------------------------------------------


def table(P_hat, N, width, *, last=1, share=1.0, most=np.max, untried=None, discount=True):
    """E, with the ways in which readers get it wrong as arguments."""
    H, S, A = N.shape
    E, future = np.empty((H, S, A)), np.zeros(S)
    for h in range(H - 1, -1, -1):
        cap = H - h - 1 + last
        for s in range(S):
            for a in range(A):
                E[h, s, a] = cap if untried is None else untried
                if N[h, s, a]:
                    stake = cap if discount else H
                    bonus = stake * share * width[h, s, a]
                    E[h, s, a] = min(cap, bonus + P_hat[h, s, a] @ future)
        future = most(E[h], axis=1)
    return E


@right("recursion")
def step_by_step(P_hat, N, width):
    return table(P_hat, N, width)


@right("recursion")
def cut_by_the_cap(P_hat, N, width):
    H, S, A = N.shape
    E, most = np.empty((H, S, A)), np.zeros(S)
    for h in range(H - 1, -1, -1):
        E[h] = np.minimum(H - h, (H - h) * width[h] + P_hat[h] @ most)
        most = E[h].max(axis=1)
    return E


@wrong("recursion")
def with_the_average_action(P_hat, N, width):
    return table(P_hat, N, width, most=np.mean)


@wrong("recursion")
def with_the_least_uncertain_action(P_hat, N, width):
    return table(P_hat, N, width, most=np.min)


@wrong("recursion")
def with_the_stake_h(P_hat, N, width):
    return table(P_hat, N, width, discount=False)


@wrong("recursion")
def with_nothing_where_nothing_was_tried(P_hat, N, width):
    return table(P_hat, N, width, untried=0.0)


@wrong("recursion")
def with_the_cap_h(P_hat, N, width):
    return table(P_hat, N, width, untried=len(N))


@wrong("recursion")
def without_a_cap(P_hat, N, width):
    H, S, A = N.shape
    E, most = np.empty((H, S, A)), np.zeros(S)
    for h in range(H - 1, -1, -1):
        E[h] = np.where(N[h] > 0, (H - h) * width[h] + P_hat[h] @ most, H - h)
        most = E[h].max(axis=1)
    return E


@wrong("recursion")
def the_bonus_alone(_P_hat, N, width):
    caps = np.arange(len(N), 0, -1)[:, None, None]
    return np.minimum(caps, caps * width)


@wrong("recursion")
def from_the_first_step_on(P_hat, N, width):
    return table(P_hat[::-1], N[::-1], width[::-1])[::-1].copy()


# choose-the-reward-afterwards -----------------------------------------------------------------

RIGHT["choose-the-reward-afterwards"] = [
    [1, 0, 0.99, 0],
    (0, 1, 0.01, 1),
    np.array([1, 0, 0.95, 0.0]),
    [1, 0, 0.9, 0],
]
WRONG["choose-the-reward-afterwards"] = [
    [1, 0, 1, 0],
    [1, 0, 0.5, 0],
    [0, 0, 1, 0],
    [2, 0, 0.99, 0],
    [1, 0, 0.99],
    [math.nan, 0, 0, 0],
    "left",
    {"room": 1},
    5,
]


def test_a_reward_is_told_what_it_does():
    assert "worth the same" in said_of(chapter, "choose-the-reward-afterwards", [1, 0, 1, 0])
    assert "goes right and loses 0.15" in said_of(
        chapter, "choose-the-reward-afterwards", [1, 0, 0.5, 0]
    )
    assert "that is right" in said_of(chapter, "choose-the-reward-afterwards", [0, 0, 1, 0])
    assert "lie in [0, 1]" in said_of(chapter, "choose-the-reward-afterwards", [2, 0, 0.99, 0])
    assert "four numbers" in said_of(chapter, "choose-the-reward-afterwards", "left")


# everything-equally-often ---------------------------------------------------------------------


def doors(code, A=4, H=9):
    """A row of doors, at each of which one of A buttons leads on and the others back."""
    S = len(code) + 1
    P = np.zeros((S, A, S))
    P[:-1, :, 0] = 1
    for door, button in enumerate(code):
        P[door, button] = np.eye(S)[door + 1]
    P[-1, :, -1] = 1
    return st.SafeMDP(P, np.zeros((S, A)), np.zeros(S), tau=0.5, H=H)


RIGHT["everything-equally-often"] = [
    doors((1, 2, 3, 1, 2, 3)),
    doors((1, 2, 3, 1, 2, 3, 1), H=10),
    doors((0,) * 6),  # the plan must not guess the first button where nothing was tried
]
WRONG["everything-equally-often"] = [
    doors((1, 2)),  # short
    doors((1, 1, 1, 1, 1, 1), A=2, H=8),  # few buttons
    st.instances.random_mdp(S=8, A=4, H=10, seed=0),
    doors((1, 2, 3, 1, 2, 3, 1, 2), H=10),  # too many states
    doors((1, 2, 3, 1, 2, 3), A=5),
    "a world",
]


def test_a_world_is_told_what_it_lacks():
    assert "ready enough" in said_of(chapter, "everything-equally-often", doors((1, 2)))
    assert "and no more are allowed" in said_of(
        chapter, "everything-equally-often", doors((1, 2, 3, 1, 2, 3), A=5)
    )
    assert "Expected a SafeMDP" in said_of(chapter, "everything-equally-often", 3)


def test_a_world_that_nobody_is_ready_for_is_told_so():
    """Two buttons of the last door differ a little, and 1,000 episodes are few."""
    world = doors((1, 2, 3, 1, 2, 3))
    P = 0.9 * world.P[0]
    P[:, :, 0] += 0.1
    P[-1] = world.P[0, -1]
    P[5, 2, [0, 6]] = 0.2, 0.8
    hard = st.SafeMDP(P, world.r[0], world.c, tau=0.5, H=9)
    assert "not ready for it either" in said_of(chapter, "everything-equally-often", hard)


# how-soon -------------------------------------------------------------------------------------


def log_term(n, S, A, H, delta):
    """β as the chapter prints it, which divides by S - 1."""
    rows = (S - 1) * math.log(math.e * (1 + n / (S - 1)))
    return math.log(2 * S * A * H / delta) + rows


@right("how-soon")
def by_doubling(S, A, H, epsilon, delta):
    def wide(n):
        return H * math.sqrt(2 * log_term(n, S, A, H, delta) / n) > epsilon / 2

    n = 1
    while wide(n):
        n *= 2
    low = n // 2
    while n - low > 1:
        middle = (low + n) // 2
        low, n = (middle, n) if wide(middle) else (low, middle)
    return A * n


@right("how-soon")
def with_a_fixed_point(S, A, H, epsilon, delta):
    n = 1
    while True:  # n >= 8 H² β(n)/ε²: the least solution is reached from below
        more = math.ceil(8 * H**2 * log_term(n, S, A, H, delta) / epsilon**2 - 1e-9)
        if more <= n:
            return A * n
        n = more


@wrong("how-soon")
def of_one_action(S, A, H, epsilon, delta):
    return by_doubling(S, A, H, epsilon, delta) / A


@wrong("how-soon")
def at_epsilon(S, A, H, epsilon, delta):
    return by_doubling(S, A, H, 2 * epsilon, delta)


@wrong("how-soon")
def of_all_pairs(S, A, H, epsilon, delta):
    return S * H * by_doubling(S, A, H, epsilon, delta)


@wrong("how-soon")
def without_the_stake(S, A, H, epsilon, delta):
    return by_doubling(S, A, H, H * epsilon, delta)


@wrong("how-soon")
def with_the_width_of_one_visit(S, A, H, epsilon, delta):
    return A * math.ceil(8 * H**2 * log_term(1, S, A, H, delta) / epsilon**2)


# what-is-known-needs-no-bonus -----------------------------------------------------------------


@right("what-is-known-needs-no-bonus")
def half_of_what_is_left(P_hat, N, width):
    return table(P_hat, N, np.where(N > 0, width, 0.0), last=0, share=0.5)


@right("what-is-known-needs-no-bonus")
def with_arrays(P_hat, N, width):
    H, S, A = N.shape
    E, most = np.zeros((H, S, A)), np.zeros(S)
    for h in range(H - 2, -1, -1):  # at the last step nothing is unknown
        cap = H - h - 1
        E[h] = np.minimum(cap, cap / 2 * width[h] + P_hat[h] @ most)
        most = E[h].max(axis=1)
    return E


@wrong("what-is-known-needs-no-bonus")
def not_halved(P_hat, N, width):
    return table(P_hat, N, np.where(N > 0, width, 0.0), last=0)


@wrong("what-is-known-needs-no-bonus")
def with_the_old_cap(P_hat, N, width):
    return table(P_hat, N, width, share=0.5)


@wrong("what-is-known-needs-no-bonus")
def with_the_old_stake(P_hat, N, width):
    return table(P_hat, N, np.where(N > 0, width, 0.0), last=0, share=0.5, discount=False)


@wrong("what-is-known-needs-no-bonus")
def half_of_the_old_one(P_hat, N, width):
    return table(P_hat, N, width) / 2


class TestTried(TriedAnswers):
    slug = "the_problem_and_rf_ucrl"
    right = RIGHT
    wrong = WRONG
