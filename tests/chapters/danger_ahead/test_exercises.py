"""Right answers written in different ways pass, plausible wrong ones do not."""

import itertools

import numpy as np
import pytest

import safeteach as st
from safeteach.chapters import danger_ahead as chapter
from safeteach.classroom.checking.worlds import small_worlds


def status(number, answer):
    verdict = chapter.check(number, answer)
    print(verdict)
    return verdict.status


# by-hand ---------------------------------------------------------------------------------------

SIZES = (4, 3, 2, 1)


@pytest.mark.parametrize("answer", [SIZES, list(SIZES), np.array(SIZES), tuple(map(float, SIZES))])
def test_sizes_right(answer):
    assert status("by-hand", answer) == "right"


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (SIZES[::-1], "from the last step to the first"),
        ((3, 2, 1, 0), "an unsafe state is in every U_h"),
        ((1, 1, 1, 1), "the unsafe states alone"),
        ((4, 4, 4, 4), "near the end fewer states are doomed"),
        ((5, 4, 2, 1), "Of the 4 numbers the first and the second are other ones."),
        ((4, 3, 2), "expected a tuple of 4 numbers, got a tuple of length 3"),
        (10, "expected a tuple of 4 numbers, got 10"),
        ((float("nan"),) * 4, "None of the 4 numbers is right."),
    ],
)
def test_sizes_wrong(answer, said):
    verdict = chapter.check("by-hand", answer)
    assert verdict.status == "not yet"
    assert said in verdict.text


def test_the_sizes_are_never_told():
    for answer in itertools.product(range(1, 5), repeat=4):
        if answer != SIZES and len(set(answer)) in (1, 4):
            text = chapter.check("by-hand", answer).text
            assert not any(shown in text for shown in ("4, 3, 2, 1", "4 3 2 1", "4321"))


# recursion -------------------------------------------------------------------------------------


def backwards(U_last, step):
    """Make an answer from the last set and the step back from U_{h+1} to U_h."""

    def answer(mdp):
        U = np.zeros((mdp.H, mdp.S), bool)
        U[-1] = U_last(mdp)
        for h in range(mdp.H - 1, 0, -1):
            U[h - 1] = step(mdp, h, U[h])
        return U

    return answer


def unsafe(mdp):
    return mdp.unsafe


def in_loops(mdp):
    U = [[bool(c > mdp.tau) for c in mdp.c]]
    for h in reversed(range(1, mdp.H)):
        row = []
        for s in range(mdp.S):
            doomed = True
            for a in range(mdp.A):
                if not any(U[0][t] for t in mdp.successors(h, s, a)):
                    doomed = False
            row.append(doomed or bool(mdp.unsafe[s]))
        U.insert(0, row)
    return np.array(U)


def by_least_risk(mdp):
    """The least probability of meeting U, which is positive on U_h: a value, not a set."""
    P, risk = mdp.P, np.where(mdp.unsafe, 1.0, 0.0)
    rows = [risk > 0]
    for h in range(mdp.H - 1, 0, -1):
        risk = np.where(mdp.unsafe, 1.0, (P[h - 1] @ risk).min(axis=1))
        rows.append(risk > 0)
    return np.array(rows[::-1])


def forwards_by_recursion(mdp):
    def doomed(h, s):
        return mdp.unsafe[s] or (
            h < mdp.H
            and all(any(doomed(h + 1, t) for t in mdp.successors(h, s, a)) for a in range(mdp.A))
        )

    return np.array([[doomed(h, s) for s in range(mdp.S)] for h in range(1, mdp.H + 1)])


@pytest.mark.parametrize(
    "answer",
    [
        backwards(unsafe, lambda m, h, U: m.unsafe | (m.support()[h - 1] & U).any(2).all(1)),
        in_loops,
        by_least_risk,
        forwards_by_recursion,
    ],
)
def test_sets_right(answer):
    assert status("recursion", answer) == "right"


@pytest.mark.parametrize(
    "answer",
    {
        "the printed recursion": backwards(
            unsafe, lambda m, h, U: U | (m.P[h - 1] @ U > 0).all(axis=1)
        ),
        "any action": backwards(
            unsafe, lambda m, h, U: m.unsafe | (m.P[h - 1] @ U > 0).any(axis=1)
        ),
        "without U itself": backwards(unsafe, lambda m, h, U: (m.P[h - 1] @ U > 0).all(axis=1)),
        "the first P at every step": backwards(
            unsafe, lambda m, _h, U: m.unsafe | (m.P[0] @ U > 0).all(axis=1)
        ),
        "the next step's P": backwards(
            unsafe, lambda m, h, U: m.unsafe | (m.P[h] @ U > 0).all(axis=1)
        ),
        "a danger of a percent": backwards(
            unsafe, lambda m, h, U: m.unsafe | (m.P[h - 1] @ U > 0.01).all(axis=1)
        ),
        "doomed only when it is certain": backwards(
            unsafe, lambda m, h, U: m.unsafe | (m.P[h - 1] @ U > 1 - 1e-9).all(axis=1)
        ),
        "the average action": backwards(
            unsafe, lambda m, h, U: m.unsafe | ((m.P[h - 1] @ U).mean(axis=1) > 0.5)
        ),
        "a cost at the threshold": backwards(
            lambda m: m.c >= m.tau,
            lambda m, h, U: (m.c >= m.tau) | (m.P[h - 1] @ U > 0).all(axis=1),
        ),
        "one step ahead only": lambda m: np.array(
            [m.unsafe | (m.P[h] @ m.unsafe > 0).all(axis=1) for h in range(m.H - 1)] + [m.unsafe]
        ),
        "one step too many": lambda m: st.potentially_unsafe(
            st.SafeMDP(np.concatenate([m.P, m.P[-1:]]), np.zeros((m.S, m.A)), m.c, m.tau, m.H + 1)
        )[: m.H],
        "only U": lambda m: np.tile(m.unsafe, (m.H, 1)),
        "steps reversed": lambda m: st.potentially_unsafe(m)[::-1],
        "the safe states": lambda m: ~st.potentially_unsafe(m),
        "states by steps": lambda m: st.potentially_unsafe(m).T,
        "zeros and ones": lambda m: st.potentially_unsafe(m).astype(int),
    }.items(),
    ids=lambda pair: pair[0],
)
def test_sets_wrong(answer):
    assert status("recursion", answer[1]) == "not yet"


# mask ------------------------------------------------------------------------------------------


def mask(mdp, touches):
    safe = np.ones((mdp.H, mdp.S, mdp.A), bool)
    for h in range(1, mdp.H):
        safe[h - 1] = ~touches(h)
    return safe


def mask_in_loops(mdp, U):
    safe = np.zeros((mdp.H, mdp.S, mdp.A), bool)
    for h, s, a in np.ndindex(*safe.shape):
        safe[h, s, a] = h == mdp.H - 1 or not any(U[h + 1, t] for t in mdp.successors(h + 1, s, a))
    return safe


def mask_at_once(mdp, U):
    after = np.concatenate([U[1:], np.zeros((1, mdp.S), bool)])
    return ~(mdp.support() & after[:, None, None, :]).any(axis=3)


@pytest.mark.parametrize("answer", [mask_in_loops, mask_at_once])
def test_mask_right(answer):
    assert status("mask", answer) == "right"


@pytest.mark.parametrize(
    "answer",
    {
        "U_h in place of U_{h+1}": lambda m, U: mask(m, lambda h: m.P[h - 1] @ U[h - 1] > 0),
        "U in place of U_{h+1}": lambda m, _U: mask(m, lambda h: m.P[h - 1] @ m.unsafe > 0),
        "the last step counts": lambda m, U: (
            ~(np.einsum("hsat,ht->hsa", m.P, np.concatenate([U[1:], m.unsafe[None]])) > 0)
        ),
        "nothing is safe in a doomed state": lambda m, U: st.safe_actions(m) & ~U[:, :, None],
        "the mask is lifted in a doomed state": lambda m, U: st.safe_actions(m) | U[:, :, None],
        "a danger of a percent": lambda m, U: mask(m, lambda h: m.P[h - 1] @ U[h] > 0.01),
        "safe if some successor is": lambda m, U: mask(m, lambda h: m.P[h - 1] @ U[h] > 1 - 1e-9),
        "the unsafe actions": lambda m, _U: ~st.safe_actions(m),
        "the first P at every step": lambda m, U: mask(m, lambda h: m.P[0] @ U[h] > 0),
        "without the last step": lambda m, _U: st.safe_actions(m)[:-1],
    }.items(),
    ids=lambda pair: pair[0],
)
def test_mask_wrong(answer):
    assert status("mask", answer[1]) == "not yet"


# find-the-bug ----------------------------------------------------------------------------------


def as_printed(mdp):
    """The function with the bug, as the chapter prints it."""
    U = mdp.unsafe.copy()
    for h in range(mdp.H - 1, 0, -1):
        for s in range(mdp.S):
            U[s] = mdp.unsafe[s] or all(U[mdp.successors(h, s, a)].any() for a in range(mdp.A))
    return not U[mdp.s1]


def other_way_round(mdp):
    U = mdp.unsafe.copy()
    for h in range(mdp.H - 1, 0, -1):
        for s in reversed(range(mdp.S)):
            U[s] = mdp.unsafe[s] or all(U[mdp.successors(h, s, a)].any() for a in range(mdp.A))
    return not U[mdp.s1]


def never_forgets(mdp):
    U = mdp.unsafe.copy()
    for h in range(mdp.H - 1, 0, -1):
        U |= [all(U[mdp.successors(h, s, a)].any() for a in range(mdp.A)) for s in range(mdp.S)]
    return not U[mdp.s1]


def one_step_short(mdp):
    U = mdp.unsafe.copy()
    for h in range(mdp.H - 1, 1, -1):
        U = mdp.unsafe | [
            all(U[mdp.successors(h, s, a)].any() for a in range(mdp.A)) for s in range(mdp.S)
        ]
    return not U[mdp.s1]


def with_a_new_set(mdp):
    U = mdp.unsafe
    for h in range(mdp.H - 1, 0, -1):
        U = mdp.unsafe | (mdp.P[h - 1] @ U > 0).all(axis=1)
    return not U[mdp.s1]


def by_reachability(mdp):
    """The states that a policy of safe actions can be in, step after step."""
    safe, U = st.safe_actions(mdp), st.potentially_unsafe(mdp)
    here = {mdp.s1}
    for h in range(1, mdp.H + 1):
        if any(mdp.unsafe[s] or U[h - 1, s] for s in here):
            return False
        here = {t for s in here for t in mdp.successors(h, s, int(safe[h - 1, s].argmax()))}
    return True


@pytest.mark.parametrize(
    "answer", [with_a_new_set, by_reachability, lambda mdp: np.bool_(st.is_feasible(mdp))]
)
def test_feasible_right(answer):
    assert status("find-the-bug", answer) == "right"


@pytest.mark.parametrize(
    "answer",
    [
        as_printed,
        other_way_round,
        never_forgets,
        one_step_short,
        lambda _mdp: True,
        lambda mdp: not st.is_feasible(mdp),
        lambda mdp: not mdp.unsafe[mdp.s1],
        lambda mdp: int(st.is_feasible(mdp)),
    ],
)
def test_feasible_wrong(answer):
    assert status("find-the-bug", answer) == "not yet"


def test_the_bug_shows_on_some_worlds_only():
    agree = [as_printed(world) == st.is_feasible(world) for world in small_worlds()]
    assert 0.9 < np.mean(agree) < 1


# union -----------------------------------------------------------------------------------------


def moves(*steps, s1=0, unsafe=2):
    """A world of one action: ``steps[h-1][s]`` is where state s goes at step h."""
    S, H = len(steps[0]), len(steps)
    P = np.eye(S)[np.array(steps)][:, :, None, :]
    return st.SafeMDP(P, np.zeros((S, 1)), c=np.eye(S)[unsafe], tau=0.5, H=H, s1=s1)


ESCAPE = moves((1, 1, 2), (2, 1, 2), (2, 1, 2))


def four_states_by_chance():
    """The same idea in a world of two actions, four states and four steps, with odds."""
    P = np.zeros((4, 4, 2, 4))
    P[:, range(4), :, range(4)] = 1
    P[0, 3] = (0, 0.5, 0, 0.5), (0, 1, 0, 0)
    P[1:3, 3] = 0, 0, 1, 0
    P[0, 3] = (0, 1, 0, 0), (0.5, 0.5, 0, 0)
    return st.SafeMDP(P, np.zeros((4, 2)), c=[0, 0, 1, 0], tau=0.5, H=4, s1=3)


@pytest.mark.parametrize("answer", [ESCAPE, four_states_by_chance()])
def test_union_broken(answer):
    assert status("union", answer) == "right"


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (st.instances.union_counterexample(), "It has 5 states and 4 steps"),
        (st.instances.ice_corridor(), "It has 13 states"),
        (
            moves(*[(1, 1, 2)] * 4),
            "Here s1 is outside the U_1 of the printed recursion too, and rightly.",
        ),
        (moves((2, 1, 2), (1, 1, 2)), "No policy is feasible here"),
        (moves((0, 1, 2), *[(2, 1, 2)] * 2), "No policy is feasible here"),
        (moves((1, 1, 2), (2, 1, 2)), "Here s1 is outside the U_1 of the printed recursion too"),
        (
            st.SafeMDP(np.eye(2)[:, None, :], [[0], [0]], c=[0, 1], tau=0.5, H=3),
            "Its P is the same at every step.",
        ),
        (ESCAPE.P, "Expected a SafeMDP, got an array of float64"),
        (lambda: ESCAPE, "Expected a SafeMDP, got a function"),
        (st.SafeMDP, "Expected a SafeMDP, got a type"),
    ],
)
def test_union_not_broken(answer, said):
    verdict = chapter.check("union", answer)
    assert verdict.status == "not yet"
    assert said in " ".join(verdict.text.split())
    assert (verdict.world is None) == ("Expected" in said or "It has" in said)


def test_a_world_is_what_its_arrays_say():
    world = moves((2, 1, 2), (1, 1, 2))
    vars(world)["unsafe"] = np.zeros(3, bool)  # by force: it cannot be set
    assert status("union", world) == "not yet"


# one-step-of-foresight -------------------------------------------------------------------------

START, TRAP, HARBOUR, WATER = range(4)


def trap(H=3, stay=False, s1=START):
    P = np.zeros((4, 2, 4))
    P[START, 0, TRAP] = P[START, 1, START if stay else HARBOUR] = 1
    P[TRAP, :, WATER] = P[HARBOUR, :, HARBOUR] = P[WATER, :, WATER] = 1
    return st.SafeMDP(P, np.zeros((4, 2)), c=np.eye(4)[WATER], tau=0.5, H=H, s1=s1)


LEFT, RIGHT = (np.full((3, 4), a) for a in (0, 1))


def long_way():
    """Two doomed states in a row, a policy given by probabilities."""
    P = np.zeros((4, 2, 4))
    P[0, 0, 1] = P[0, 1, 0] = 1
    P[1, :, 2] = P[2, :, 3] = P[3, :, 3] = 1
    mdp = st.SafeMDP(P, np.zeros((4, 2)), c=[0, 0, 0, 1], tau=0.5, H=4)
    return mdp, np.tile([1.0, 0.0], (4, 4, 1))


@pytest.mark.parametrize("answer", [(trap(), LEFT), (trap(stay=True), LEFT.tolist()), long_way()])
def test_shield_broken(answer):
    assert status("one-step-of-foresight", answer) == "right"


def next_to_the_water():
    P = np.zeros((2, 2, 2))
    P[0, 0, 0] = P[0, 1, 1] = P[1, :, 1] = 1
    return st.SafeMDP(P, np.zeros((2, 2)), c=[0, 1], tau=0.5, H=3)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ((trap(), RIGHT), "Your policy meets an unsafe state with probability 0."),
        (
            (trap(), np.full((3, 4, 2), 0.5)),
            "Your policy meets an unsafe state with probability 0.5.",
        ),
        ((trap(s1=TRAP), LEFT), "No policy is feasible here"),
        ((trap(s1=WATER), LEFT), "No policy is feasible here"),
        (
            (next_to_the_water(), np.ones((3, 2), int)),
            "at step 1 in state 0 your policy takes action 1, which can reach an unsafe state",
        ),
        ((trap(H=2), LEFT[:2]), "Your policy meets an unsafe state with probability 0."),
        ((trap(H=5), np.zeros((5, 4), int)), "It has 4 states and 5 steps"),
        ((trap(), LEFT[:2]), "The policy is none for this world: policy has shape (2, 4);"),
        ((trap(), LEFT + 0.5), "The policy is none for this world: policy holds float64"),
        ((trap(), "left"), "The policy is none for this world"),
        ((trap(), [[0, 1], [0]]), "The policy is none for this world"),
        ((trap(), object()), "The policy is none for this world"),
        (trap(), "Expected a pair (mdp, policy), got a SafeMDP."),
        ((LEFT, trap()), "Expected a SafeMDP, got an array of int64"),
        ((trap(), LEFT, 1), "Expected a pair (mdp, policy), got a tuple of length 3."),
    ],
)
def test_shield_not_broken(answer, said):
    verdict = chapter.check("one-step-of-foresight", answer)
    assert verdict.status == "not yet"
    assert said in " ".join(verdict.text.split())
