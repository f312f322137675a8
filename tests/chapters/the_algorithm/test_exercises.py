"""Right answers written in different ways pass, plausible wrong ones do not."""

import numpy as np
import pytest
from classroom.answers import TriedAnswers, said_of

import safeteach as st
from safeteach.chapters import the_algorithm as chapter
from safeteach.chapters.the_algorithm import exercises

# mask-lifted -----------------------------------------------------------------------------------


def masked(U, seen):
    allowed = np.ones(seen.shape[:3], bool)
    for h in range(1, len(seen)):
        allowed[h - 1] = ~(seen[h - 1] & U[h]).any(axis=2)
    return allowed


def lifted(U, seen):
    return masked(U, seen) | U[:, :, None]


def lifted_in_loops(U, seen):
    H, S, A, _ = seen.shape
    allowed = np.zeros((H, S, A), bool)
    for h in range(H):
        for s in range(S):
            for a in range(A):
                after = [t for t in range(S) if seen[h, s, a, t]]
                bad = h + 1 < H and any(U[h + 1, t] for t in after)
                allowed[h, s, a] = U[h, s] or not bad
    return allowed


def only_where_nothing_is_left(U, seen):
    """Algorithm 2's rule: a flagged state with a safe action keeps its mask."""
    allowed = masked(U, seen)
    return allowed | ~allowed.any(axis=2, keepdims=True)


def tried_and_safe(U, seen):
    return (masked(U, seen) & seen.any(axis=3)) | U[:, :, None]


def by_the_set_of_its_own_step(U, seen):
    return ~(seen & U[:, None, None, :]).any(axis=3) | U[:, :, None]


# optimistic-values -----------------------------------------------------------------------------


def values(never=None, cap=True, over=None, width=lambda n: 1 / np.sqrt(n)):
    """Make an answer that may differ in what it does where nothing was tried, and so on."""

    def answer(r, counts, allowed, alpha):
        H, S, A = r.shape
        V = np.zeros((H + 1, S))
        for h in range(H - 1, -1, -1):
            for s in range(S):
                q = []
                for a in range(A):
                    n = counts[h, s, a].sum()
                    if n == 0 and never is None:
                        q.append(H)
                        continue
                    if n == 0:
                        q.append(never(r[h, s, a], alpha, H))
                        continue
                    future = counts[h, s, a] @ V[h + 1] / n
                    x = r[h, s, a] + future + alpha * width(n)
                    q.append(min(H, x) if cap else x)
                keep = range(A) if over == "all" else np.flatnonzero(allowed[h, s])
                V[h, s] = max(q[a] for a in keep)
        return V

    return answer


def values_at_once(r, counts, allowed, alpha):
    H = len(r)
    n = counts.sum(axis=3)
    with np.errstate(divide="ignore", invalid="ignore"):
        P_hat = np.nan_to_num(counts / n[..., None])
        bonus = alpha / np.sqrt(n)  # infinite where n = 0
    V = [np.zeros(r.shape[1])]
    for h in reversed(range(H)):
        Q = np.minimum(H, r[h] + P_hat[h] @ V[0] + bonus[h])
        V.insert(0, np.where(allowed[h], Q, -1).max(axis=1))
    return np.array(V)


# find-the-bug ----------------------------------------------------------------------------------


def doomed(steps, start=None):
    """Make an answer from the steps that are read, the last one first."""

    def answer(flagged, seen):
        U = [flagged]
        for step in steps(seen):
            meets = (step & U[0]).any(axis=2)
            first = flagged if start is None else start(flagged, U[0])
            U.insert(0, first | meets.all(axis=1))
        return np.stack(U)

    return answer


def doomed_in_loops(flagged, seen):
    H, S, A, _ = seen.shape
    U = np.zeros((H, S), bool)
    for h in range(H, 0, -1):
        for s in range(S):
            U[h - 1, s] = flagged[s] or (
                h < H and all((seen[h - 1, s, a] & U[h]).any() for a in range(A))
            )
    return U


# one-step-ahead and way-out-not-taken -----------------------------------------------------------

START, TRAP, SHORE, WATER = range(4)


def trap(chance=1.0, reward=1.0, way_round=True, H=4):
    """From the start to a trap that pays, or to a shore that does not; the trap falls in."""
    P = np.zeros((4, 2, 4))
    P[START, 0, TRAP] = 1
    P[START, 1, SHORE if way_round else TRAP] = 1
    P[TRAP, :, WATER], P[TRAP, :, SHORE] = chance, 1 - chance
    P[SHORE, :, SHORE] = P[WATER, :, WATER] = 1
    r = np.zeros((4, 2))
    r[TRAP] = reward
    return st.SafeMDP(P, r, c=np.eye(4)[WATER], tau=0.5, H=H)


def thin_ice():
    """Wait on the shore, or walk over ice that breaks one time in two."""
    P = np.zeros((3, 2, 3))
    P[0, 0, 0] = P[0, 1, 1] = 1
    P[1, :, 0] = P[1, :, 2] = 0.5
    P[2, :, 0] = 1
    return st.SafeMDP(P, [[0, 0], [0.9, 0.9], [0, 0]], c=[0, 0, 1], tau=0.5, H=4)


def pool(stay=1.0, shore=0.0, cost=1.0, start=1.0):
    """A pool that can be left for the shore or stayed in."""
    P = np.zeros((3, 2, 3))
    P[0, 0, 2] = P[0, 1, 1] = 1
    P[1, :, 1] = 1
    P[2, 0, 2] = P[2, 1, 1] = 1
    r = np.array([[start, 0], [shore, shore], [stay, 0]])
    return st.SafeMDP(P, r, c=[0, 0, cost], tau=0.5, H=4)


def pool_by_chance():
    """The water may be left by swimming, which may fail, or for certain by a ladder."""
    P = np.zeros((2, 2, 2))
    P[0, 0, 1] = P[0, 1, 0] = 1
    P[1, 0] = 0.5
    P[1, 1, 0] = 1
    return st.SafeMDP(P, [[0.5, 0], [0.5, 0.2]], c=[0, 0.9], tau=0.5, H=3)


RIGHT = {
    "by-hand": [(1, 2, 1), [1, 2, 1], np.array([1.0, 2.0, 1.0])],
    "mask-lifted": [lifted, lifted_in_loops],
    "optimistic-values": [values(), values_at_once],
    "find-the-bug": [doomed(lambda seen: seen[-2::-1]), doomed_in_loops],
    "one-step-ahead": [trap(), thin_ice()],
    "way-out-not-taken": [pool(), pool(stay=0.0, start=0.0), pool_by_chance()],
}
WRONG = {
    "by-hand": [(2, 2, 1), (2, 2, 2), (1, 3, 1), (1, 1, 1), (3, 2, 1), (1, 2), 4],
    "mask-lifted": [
        masked,
        only_where_nothing_is_left,
        tried_and_safe,
        by_the_set_of_its_own_step,
        lambda U, seen: ~lifted(U, seen),
    ],
    "optimistic-values": [
        values(never=lambda r, alpha, H: min(H, r + alpha)),
        values(never=lambda *_: 0.0),
        values(cap=False),
        values(over="all"),
        values(width=lambda n: 1 / n),
        lambda *given: values()(*given)[:-1],
    ],
    "find-the-bug": [
        doomed(lambda seen: seen[:0:-1]),
        doomed(lambda seen: seen[-2::-1], start=lambda _, after: after),
        doomed(lambda seen: seen[-2::-1] | ~seen[-2::-1].any(axis=3, keepdims=True)),
        doomed(lambda seen: seen[::-1]),
    ],
    "one-step-ahead": [
        trap(reward=0.0, chance=0.0),
        trap(way_round=False),
        trap(H=2),
        st.instances.union_counterexample(),
        trap,
    ],
    "way-out-not-taken": [trap(), pool(stay=0.0, shore=1.0), pool(cost=0.5), thin_ice(), 3],
}


class TestTheAlgorithm(TriedAnswers):
    slug, right, wrong = "the_algorithm", RIGHT, WRONG


@pytest.mark.parametrize(
    ("number", "answer", "said"),
    [
        ("by-hand", (2, 2, 1), "You keep ice in U_1 because it is in U_2."),
        ("by-hand", (2, 2, 2), "Ice is not flagged"),
        ("by-hand", (1, 3, 1), "What was never tried looks safe."),
        (
            "one-step-ahead",
            trap(reward=0.0, chance=0.0),
            "was unsafe in 0.0% of its last 200 episodes",
        ),
        ("one-step-ahead", trap(way_round=False), "No policy is feasible here"),
        (
            "one-step-ahead",
            st.instances.union_counterexample(),
            "It has 5 states, 2 actions and 4 steps",
        ),
        ("way-out-not-taken", trap(), "the learner knows no way out"),
        (
            "way-out-not-taken",
            pool(stay=0.0, shore=1.0),
            "the learner prefers none of the other actions",
        ),
        ("way-out-not-taken", pool(cost=0.5), "No state is flagged"),
    ],
)
def test_what_is_said(number, answer, said):
    assert said in said_of(chapter, number, answer)


def test_a_world_in_which_sucbvi_falls_too_is_refused(monkeypatch):
    """In so few episodes it has not learned yet either."""
    monkeypatch.setattr(exercises, "SETTINGS", exercises.SETTINGS | {"episodes": 20})
    monkeypatch.setattr(exercises, "LATE", 20)
    assert "SUCBVI too was unsafe" in said_of(chapter, "one-step-ahead", trap())
