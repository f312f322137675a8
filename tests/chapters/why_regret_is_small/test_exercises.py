"""Solutions in several hands pass, plausible mistakes do not."""

import math

import numpy as np
import pytest
from classroom.answers import TriedAnswers, collect, said_of

import safeteach as st
from safeteach.chapters import why_regret_is_small as chapter

RIGHT, WRONG, right, wrong = collect()


# by-hand --------------------------------------------------------------------------------------

TOTAL = (1 + 1 / 2 + 1 / 3 + 1 / 4) + (1 + 1 / 2)
RIGHT["by-hand"] = [(TOTAL, 3), [43 / 12, 3.0], np.array([3.5833333333, 3])]
SLIPS = {
    (TOTAL + 1 / 5 + 1 / 3 + 1, 3): "You count the present visit too",
    (sum(1 / i for i in range(1, 9)), 1): "Each has a count of its own",
    (1 / 5 + 1 / 3 + 1, 3): "at the end of the run",
}
WRONG["by-hand"] = [*SLIPS, TOTAL, (3, TOTAL), (TOTAL, 0), (math.nan, 3), "43/12"]


@pytest.mark.parametrize(("pair", "said"), SLIPS.items())
def test_a_common_slip_is_explained(pair, said):
    assert said in chapter.check("by-hand", pair).text.replace("\n", " ")


def test_the_value_is_not_given_away():
    for answer in [*SLIPS, (1.0, 1), 2.5, "one"]:
        assert "3.58" not in chapter.check("by-hand", answer).text


# luck -----------------------------------------------------------------------------------------


@right("luck")
def luck_in_a_loop(mdp, G, episode):
    total = 0
    for i in range(mdp.H):
        s, a, t = episode.states[i], episode.actions[i], episode.states[i + 1]
        total += mdp.P[i, s, a] @ G[i + 1] - G[i + 1, t]
    return total


@right("luck")
def luck_at_once(mdp, G, episode):
    steps = np.arange(mdp.H)
    rows = mdp.P[steps, episode.states[:-1], episode.actions]
    return np.einsum("ht,ht->", rows, G[1:]) - G[steps + 1, episode.states[1:]].sum()


@wrong("luck")
def luck_of_the_same_step(mdp, G, episode):
    steps, s = np.arange(mdp.H), episode.states[:-1]
    return (mdp.P[steps, s, episode.actions] * G[:-1]).sum() - G[steps, s].sum()


@wrong("luck")
def luck_at_the_state_left(mdp, G, episode):
    """As the paper prints it: the second term at s_h in place of s_{h+1}."""
    steps, s = np.arange(mdp.H), episode.states[:-1]
    return (mdp.P[steps, s, episode.actions] * G[1:]).sum() - G[steps + 1, s].sum()


@wrong("luck")
def luck_with_the_sign_turned(mdp, G, episode):
    return -luck_in_a_loop(mdp, G, episode)


@wrong("luck")
def luck_of_the_first_step(mdp, G, episode):
    return mdp.P[0, mdp.s1, episode.actions[0]] @ G[1] - G[1, episode.states[1]]


@wrong("luck")
def luck_of_one_kernel(mdp, G, episode):
    steps = np.arange(mdp.H)
    rows = mdp.P[0, episode.states[:-1], episode.actions]
    return (rows * G[1:]).sum() - G[steps + 1, episode.states[1:]].sum()


# optimum-under-a-mask -------------------------------------------------------------------------


def masked(mdp, mask, forbidden):
    V = np.zeros((mdp.H + 1, mdp.S))
    for i in reversed(range(mdp.H)):
        Q = mdp.r[i] + mdp.P[i] @ V[i + 1]
        V[i] = forbidden(Q, mask[i])
    return V


@right("optimum-under-a-mask")
def masked_by_infinity(mdp, mask):
    return masked(mdp, mask, lambda Q, m: np.where(m, Q, -np.inf).max(axis=1))


@right("optimum-under-a-mask")
def masked_by_recursion(mdp, mask):
    V = [[0.0] * mdp.S]
    for h in range(mdp.H, 0, -1):
        V.insert(
            0,
            [
                max(
                    mdp.r[h - 1, s, a] + sum(mdp.P[h - 1, s, a, t] * V[0][t] for t in range(mdp.S))
                    for a in range(mdp.A)
                    if mask[h - 1, s, a]
                )
                for s in range(mdp.S)
            ],
        )
    return np.array(V)


WRONG["optimum-under-a-mask"] = [
    lambda mdp, mask: masked(mdp, mask, lambda Q, _m: Q.max(axis=1)),
    lambda mdp, mask: masked(mdp, mask, lambda Q, m: np.where(m, -np.inf, Q).max(axis=1)),
    lambda mdp, mask: masked(mdp, mask, lambda Q, m: np.where(m, Q, np.inf).min(axis=1)),
    lambda mdp, mask: masked_by_infinity(mdp, mask)[:-1],
    lambda mdp, _mask: st.optimal(mdp).V,
    lambda mdp, mask: masked_by_infinity(mdp, mask)[0],
]


# find-the-bug ---------------------------------------------------------------------------------


@right("find-the-bug")
def per_step(visits):
    return sum((1 / np.sqrt(np.arange(1, n))).sum() for n in visits.ravel() if n > 1)


@right("find-the-bug")
def by_playing(visits):
    """Count up, visit after visit."""
    total, N = 0.0, np.zeros(visits.shape)
    for pair in np.ndindex(*visits.shape):
        while N[pair] < visits[pair]:
            total += 1 / math.sqrt(N[pair]) if N[pair] else 0
            N[pair] += 1
    return total


@wrong("find-the-bug")
def as_printed(visits):
    """The function with the bug, as the chapter prints it."""
    n = visits.sum(axis=0)
    return sum((1 / np.sqrt(np.arange(1, m))).sum() for m in n.ravel() if m > 1)


@wrong("find-the-bug")
def per_step_with_the_last(visits):
    return sum((1 / np.sqrt(np.arange(1, n + 1))).sum() for n in visits.ravel())


@wrong("find-the-bug")
def the_ceiling(visits):
    return 2 * math.sqrt(visits.size * visits.sum())


@wrong("find-the-bug")
def of_the_last_counts(visits):
    return (1 / np.sqrt(visits[visits > 0])).sum()


# little-risk-little-gain ----------------------------------------------------------------------


def shortcut(risk=0.01, H=3, pays=1.0, unsafe=True, safe_way=True):
    """From 0, action 1 leads to the gold 1, and rarely to the water 2."""
    P = np.zeros((4, 2, 4))
    P[0, 0, 3] = 1
    P[0, 1, [1, 2]] = 1 - risk, risk
    if not safe_way:
        P[0, 0] = P[0, 1]
    for s in (1, 2, 3):
        P[s, :, s] = 1
    r = np.zeros((4, 2))
    r[1] = pays
    return st.SafeMDP(P, r, c=[0, 0, float(unsafe), 0], tau=0.5, H=H)


GO = np.ones((3, 4), int)


def longer_way():
    """Two tempting steps, odds in a million, a policy given by probabilities."""
    P = np.zeros((5, 5, 3, 5))
    P[:, range(5), :, range(5)] = 1
    P[1, 0] = np.eye(5)[0]
    P[1, 0, 2] = 0, 1 - 1e-6, 0, 1e-6, 0
    r = np.zeros((5, 5, 3))
    r[2:, 1] = 0.9
    policy = np.zeros((5, 5, 3))
    policy[:, :, 2] = 1
    return st.SafeMDP(P, r, c=np.eye(5)[3], tau=0.5, H=5), policy


RIGHT["little-risk-little-gain"] = [(shortcut(), GO), (shortcut(0.03), GO.tolist()), longer_way()]
LACKING = [
    ((shortcut(0.2), GO), "H times the probability that your policy is ever unsafe is 0.6"),
    ((shortcut(pays=0.3), GO), "The value of your policy is 0.594 above"),
    ((shortcut(unsafe=False), GO), "The value of your policy is 0 above"),
    ((shortcut(), 0 * GO), "The value of your policy is 0 above"),
    ((shortcut(safe_way=False), GO), "No policy is feasible here"),
    ((shortcut(H=9), np.ones((9, 4), int)), "It has 4 states and 9 steps"),
    ((shortcut(), GO[:2]), "The policy is none for this world: policy has shape (2, 4)"),
    ((shortcut(), "go"), "The policy is none for this world"),
    (shortcut(), "Expected a pair (mdp, policy), got a SafeMDP."),
    ((GO, shortcut()), "Expected a SafeMDP first, got an array of int64"),
    (0.5, "Expected a pair (mdp, policy), got 0.5."),
]
WRONG["little-risk-little-gain"] = [answer for answer, _ in LACKING]


@pytest.mark.parametrize(("answer", "said"), LACKING)
def test_what_is_missing_is_said(answer, said):
    assert said in said_of(chapter, "little-risk-little-gain", answer)


# price-of-a-mask ------------------------------------------------------------------------------


@right("price-of-a-mask")
def by_algebra(D, S, A, H, K, delta):
    N = S * A * H * K / delta
    return math.sqrt((D * math.log(2) + math.log(2 * N)) / (98 * math.log(5 * N)))


@right("price-of-a-mask")
def by_widths(D, S, A, H, K, delta):
    """The width at a number of visits of one's own choice, over the bonus at the same."""
    n = 17
    width = H * math.sqrt((D * math.log(2) + math.log(2 * S * A * H * K / delta)) / (2 * n))
    return width / st.bounds.alpha(n, S, A, H, K, delta)


@wrong("price-of-a-mask")
def without_the_root(D, S, A, H, K, delta):
    return by_algebra(D, S, A, H, K, delta) ** 2


@wrong("price-of-a-mask")
def without_the_two(D, S, A, H, K, delta):
    return by_algebra(D, S, A, H, K, delta) * math.sqrt(2)


@wrong("price-of-a-mask")
def masks_not_pairs(D, S, A, H, K, delta):
    """A union over D functions in place of 2^D."""
    N = S * A * H * K / delta
    return math.sqrt(math.log(2 * max(D, 1) * N) / (98 * math.log(5 * N)))


@wrong("price-of-a-mask")
def at_least_one(D, S, A, H, K, delta):
    return max(1.0, by_algebra(D, S, A, H, K, delta))


class TestAnswers(TriedAnswers):
    slug = "why_regret_is_small"
    right = RIGHT
    wrong = WRONG
