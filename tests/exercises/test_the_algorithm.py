"""Chapter 6: right answers written in different ways pass, plausible wrong ones do not."""

import numpy as np
import pytest
from tried import TriedAnswers

import safeteach as st

# 6.2 -------------------------------------------------------------------------------------------


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


# 6.3 -------------------------------------------------------------------------------------------


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


# 6.4 -------------------------------------------------------------------------------------------


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


# 6.5 and 6.6 -----------------------------------------------------------------------------------

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
    "6.1": [(1, 2, 1), [1, 2, 1], np.array([1.0, 2.0, 1.0])],
    "6.2": [lifted, lifted_in_loops],
    "6.3": [values(), values_at_once],
    "6.4": [doomed(lambda seen: seen[-2::-1]), doomed_in_loops],
    "6.5": [trap(), thin_ice()],
    "6.6": [pool(), pool(stay=0.0, start=0.0), pool_by_chance()],
}
WRONG = {
    "6.1": [(2, 2, 1), (2, 2, 2), (1, 3, 1), (1, 1, 1), (3, 2, 1), (1, 2), 4],
    "6.2": [
        masked,
        only_where_nothing_is_left,
        tried_and_safe,
        by_the_set_of_its_own_step,
        lambda U, seen: ~lifted(U, seen),
    ],
    "6.3": [
        values(never=lambda r, alpha, H: min(H, r + alpha)),
        values(never=lambda *_: 0.0),
        values(cap=False),
        values(over="all"),
        values(width=lambda n: 1 / n),
        lambda *given: values()(*given)[:-1],
    ],
    "6.4": [
        doomed(lambda seen: seen[:0:-1]),
        doomed(lambda seen: seen[-2::-1], start=lambda _, after: after),
        doomed(lambda seen: seen[-2::-1] | ~seen[-2::-1].any(axis=3, keepdims=True)),
        doomed(lambda seen: seen[::-1]),
    ],
    "6.5": [
        trap(reward=0.0, chance=0.0),
        trap(way_round=False),
        trap(H=2),
        st.instances.union_counterexample(),
        trap,
    ],
    "6.6": [trap(), pool(stay=0.0, shore=1.0), pool(cost=0.5), thin_ice(), 3],
}


class TestTheAlgorithm(TriedAnswers):
    chapter, right, wrong = "6", RIGHT, WRONG


@pytest.mark.parametrize(
    ("number", "answer", "said"),
    [
        ("6.1", (2, 2, 1), "You keep ice in U_1 because it is in U_2."),
        ("6.1", (2, 2, 2), "Ice is not flagged"),
        ("6.1", (1, 3, 1), "What was never tried looks safe."),
        ("6.5", trap(reward=0.0, chance=0.0), "was unsafe in 0.0% of its last 200 episodes"),
        ("6.5", trap(way_round=False), "No policy is feasible here"),
        ("6.5", st.instances.union_counterexample(), "It has 5 states, 2 actions and 4 steps"),
        ("6.6", trap(), "the learner knows no way out"),
        ("6.6", pool(stay=0.0, shore=1.0), "the learner prefers none of the other actions"),
        ("6.6", pool(cost=0.5), "No state is flagged"),
    ],
)
def test_what_is_said(number, answer, said):
    assert said in " ".join(st.check(number, answer).text.split())
