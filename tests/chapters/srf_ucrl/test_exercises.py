"""Right answers written in different ways pass, plausible wrong ones do not."""

import math

import numpy as np
import pytest
from classroom.answers import TriedAnswers, said_of

import safeteach as st
from safeteach.chapters import srf_ucrl as chapter

# mask ------------------------------------------------------------------------------------------


def looks_safe(U, seen):
    safe = np.ones(seen.shape[:3], bool)
    for h in range(1, len(seen)):
        safe[h - 1] = ~(seen[h - 1] & U[h]).any(axis=2)
    return safe


def only_where_nothing_is_left(U, seen):
    safe = looks_safe(U, seen)
    return safe | ~safe.any(axis=2, keepdims=True)


def in_loops(U, seen):
    H, S, A, _ = seen.shape
    allowed = np.zeros((H, S, A), bool)
    for h in range(H):
        for s in range(S):
            good = [
                a
                for a in range(A)
                if h == H - 1 or not any(U[h + 1, t] for t in np.flatnonzero(seen[h, s, a]))
            ]
            allowed[h, s, good or range(A)] = True
    return allowed


def as_in_algorithm_1(U, seen):
    return looks_safe(U, seen) | U[:, :, None]


def tried_and_safe(U, seen):
    safe = looks_safe(U, seen) & seen.any(axis=3)
    return safe | ~safe.any(axis=2, keepdims=True)


# doubt-with-arrays -----------------------------------------------------------------------------


def doubts(never=None, cap=True, look_at="both", safe_pair="both"):
    """Make an answer that may differ in where it looks and in what it does with zeros."""

    def answer(counts, U, M):
        H, S, A, _ = counts.shape
        safe = looks_safe(U, counts > 0)
        W = np.zeros((H + 1, S, A))
        for h in range(H - 1, -1, -1):
            for s in range(S):
                for a in range(A):
                    n = int(counts[h, s, a].sum())
                    if n == 0:
                        W[h, s, a] = H if never is None else never
                        continue
                    is_safe = safe[h, s, a] and (safe_pair == "action" or not U[h, s])
                    future = 0.0
                    for t in np.flatnonzero(counts[h, s, a]):
                        among = np.ones(A, bool)
                        if h + 1 < H and look_at != "all" and (is_safe or look_at == "safe"):
                            among = safe[h + 1, t] if safe[h + 1, t].any() else among
                        future += counts[h, s, a, t] / n * W[h + 1, t, among].max()
                    w = M[n] + future
                    W[h, s, a] = min(H, w) if cap else w
        return W[:-1]

    return answer


def doubts_at_once(counts, U, M):
    H, S = counts.shape[:2]
    safe, n = looks_safe(U, counts > 0), counts.sum(axis=3)
    tables, low, high = [], np.zeros(S), np.zeros(S)
    for h in reversed(range(H)):
        share = counts[h] / np.maximum(n[h], 1)[..., None]
        pair = safe[h] & ~U[h, :, None]
        W = np.minimum(H, np.where(pair, share @ low, share @ high) + np.asarray(M)[n[h]])
        low, high = np.where(safe[h], W, -1).max(axis=1), W.max(axis=1)
        low = np.maximum(low, 0)
        tables.insert(0, W)
    return np.array(tables)


# find-the-bug ----------------------------------------------------------------------------------


def plans(never="zero", over="allowed"):
    """Make an answer that may differ in what was never tried and in what is chosen among."""

    def answer(r, counts, allowed):
        H, S, A = r.shape
        V = np.zeros((H + 1, S))
        for h in range(H - 1, -1, -1):
            for s in range(S):
                for a in range(A):
                    n = counts[h, s, a].sum()
                    if over == "allowed" and not allowed[h, s, a]:
                        continue
                    if n == 0 and never == "zero":
                        continue
                    q = r[h, s, a] + counts[h, s, a] @ V[h + 1] / max(n, 1)
                    if n == 0 and never == "H":
                        q = H
                    V[h, s] = max(V[h, s], q)
        return V

    return answer


def plans_at_once(r, counts, allowed):
    H, S, _ = r.shape
    V = [np.zeros(S)]
    n = counts.sum(axis=3)
    good = allowed & (n > 0)
    for h in reversed(range(H)):
        Q = r[h] + counts[h] @ V[0] / np.maximum(n[h], 1)
        V.insert(0, (Q * good[h]).max(axis=1))
    return np.array(V)


# enough-is-enough ------------------------------------------------------------------------------


def visits(twice=2.0, second=True, steps=True, half=True, more=0):
    def answer(S, A, H, epsilon, delta):
        def enough(n):
            rows = (S - 1) * math.log(math.e * (1 + n / (S - 1)))
            g = twice * (math.log(2 * S * A * H / delta) + rows)
            M = 2 * H * math.sqrt(2 * g / n) + second * S * H * g / n
            return (H if steps else 1) * M <= (epsilon / 2 if half else epsilon)

        low, high = 0, 1
        while not enough(high):
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if enough(middle) else (middle, high)
        return high + more

    return answer


def visits_by_the_library(S, A, H, epsilon, delta):
    n = 2.0**40
    for step in 2.0 ** np.arange(39, -1, -1):
        if H * st.bounds.exploration_bonus(n - step, S, A, H, delta) <= epsilon / 2:
            n -= step
    return int(n)


# look-at-all-actions and reward-that-hurts-most ---------------------------------------------------


def doors(cost=1.0, doors=2, H=4):
    """A hall to stay in, and doors into the wet, from where it goes on at random."""
    P = np.zeros((3, 3, 3))
    P[0, :, 0] = 1
    for door in range(3 - doors, 3):
        P[0, door] = [0, 1, 0]
    P[1:, :, 1:] = 0.5
    return st.SafeMDP(P, np.zeros((3, 3)), c=[0, cost, cost], tau=0.2, H=H)


def one_pit(chance=1.0):
    P = np.zeros((2, 2, 2))
    P[0, 0, 0] = 1
    P[0, 1] = [1 - chance, chance]
    P[1, :, 1] = 1
    return st.SafeMDP(P, np.zeros((2, 2)), c=[0, 1], tau=0.2, H=4)


def bait(*rooms, at=1.0):
    r = np.zeros((11, 5))
    r[list(rooms)] = at
    return r


SPILL, FURNACE = 9, 10

RIGHT = {
    "one-uncertainty-by-hand": [(2.364, 3), [0.5 + 0.8 * 1.58 + 0.6, 3.0], np.array([2.364, 3.0])],
    "mask": [only_where_nothing_is_left, in_loops],
    "doubt-with-arrays": [doubts(), doubts_at_once],
    "find-the-bug": [plans(), plans_at_once],
    "enough-is-enough": [visits(), visits_by_the_library],
    "look-at-all-actions": [doors(), one_pit(), doors(H=3)],
    "reward-that-hurts-most": [bait(FURNACE), bait(FURNACE).astype(int), bait(FURNACE, at=0.5)],
}
WRONG = {
    "one-uncertainty-by-hand": [
        (3, 2.364),
        (2.364, 3.5),
        (2.364, 2.364),
        (2.044, 3.5),
        (1.884, 2.9),
        2.364,
    ],
    "mask": [
        looks_safe,
        as_in_algorithm_1,
        tried_and_safe,
        lambda U, seen: ~only_where_nothing_is_left(U, seen),
    ],
    "doubt-with-arrays": [
        doubts(never=0.0),
        doubts(cap=False),
        doubts(look_at="all"),
        doubts(look_at="safe"),
        doubts(safe_pair="action"),
        lambda counts, U, M: doubts()(counts, U, M)[::-1],
    ],
    "find-the-bug": [
        plans(never="reward"),
        plans(never="H"),
        plans(over="all"),
        lambda *given: plans()(*given)[:-1],
    ],
    "enough-is-enough": [
        visits(twice=1.0),
        visits(second=False),
        visits(steps=False),
        visits(half=False),
        visits(more=1),
        visits(more=-1),
    ],
    "look-at-all-actions": [
        doors(cost=0.0),
        doors(doors=3),
        one_pit(chance=0.0),
        st.instances.laboratory(),
        3,
    ],
    "reward-that-hurts-most": [
        bait(),
        bait(SPILL),
        bait(SPILL, FURNACE),
        bait(FURNACE, at=2.0),
        np.zeros((5, 11)),
    ],
}


class TestSRFUCRL(TriedAnswers):
    slug, right, wrong = "srf_ucrl", RIGHT, WRONG


@pytest.mark.parametrize(
    ("number", "answer", "said"),
    [
        ("one-uncertainty-by-hand", (3, 2.364), "in the other order"),
        ("one-uncertainty-by-hand", (2.364, 3.5), "No uncertainty is above H"),
        ("one-uncertainty-by-hand", (2.364, 2.364), "the banned one in the hall counts"),
        ("one-uncertainty-by-hand", (2.044, 3.0), "one action was never tried"),
        ("look-at-all-actions", doors(cost=0.0), "at least 10 times as much is asked for"),
        ("look-at-all-actions", doors(doors=3), "No policy is feasible here"),
        (
            "look-at-all-actions",
            st.instances.laboratory(),
            "It has 11 states, 5 actions and 10 steps",
        ),
        (
            "reward-that-hurts-most",
            bait(),
            "has an expected violation of 0; at least 2 is asked for",
        ),
        ("reward-that-hurts-most", bait(FURNACE, at=2.0), "A reward lies in [0, 1]."),
        ("reward-that-hurts-most", np.zeros((5, 11)), "It has the wrong form"),
    ],
)
def test_what_is_said(number, answer, said):
    assert said in said_of(chapter, number, answer)


def test_after_500_episodes_no_reward_hurts():
    """The solution of 14.7: the worst policy under the mask, by backward induction."""
    lab = st.instances.laboratory()
    worst = {}
    for episodes in (100, 500):
        learner = st.SRFUCRL(lab.known)
        st.explore(learner, lab, episodes, seed=1)
        allowed = learner.safe_actions | learner.U[:, :, None]
        V = np.zeros(lab.S)
        for h in reversed(range(lab.H)):
            Q = lab.violation[:, None] + lab.P[h] @ V
            V = np.where(allowed[h], Q, -np.inf).max(axis=1)
        worst[episodes] = V[lab.s1]
    assert learner.flagged.tolist() == [False] * 9 + [True] * 2
    assert worst[500] == 0 and worst[100] > 2
