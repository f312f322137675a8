"""Right answers written in different ways pass, plausible wrong ones do not."""

import itertools

import numpy as np
import pytest
from classroom.answers import TriedAnswers, collect, said_of

import safeteach as st
from safeteach.chapters import your_own_world as chapter

COLUMNS = ("state", "action", "next", "probability", "reward", "cost")
RIGHT, WRONG, right, wrong = collect()


# by-hand ---------------------------------------------------------------------------------------

RIGHT["by-hand"] = [(0, 0.3, 0.04), [0.0, 0.3, 0.04], np.array([0, 0.3, 0.04])]
SLIPS = {
    (0.04, 0.3, 0.0784): "You count the state after the last step",
    (0, 0.3, 0.06): "In the third number you steer",
    (0, 1, 1): "Doomed is not lost",
    (0, 0.4, 0.04): "Of the 3 numbers the second is another one.",
}
WRONG["by-hand"] = [*SLIPS, (0, 0.3), 0.04, "0, 0.3, 0.04"]


@pytest.mark.parametrize(("value", "why"), SLIPS.items())
def test_a_slip_by_hand_is_explained(value, why):
    assert why in said_of(chapter, "by-hand", value)


# how-long --------------------------------------------------------------------------------------


@right("how-long")
def by_counting_rows(mdp):
    return mdp.H - st.potentially_unsafe(mdp)[:, mdp.s1].sum()


@right("how-long")
def by_trying_lengths(mdp):
    P, longest = mdp.P[0], 0
    for n in range(1, mdp.H + 1):
        world = st.SafeMDP(P, np.zeros((mdp.S, mdp.A)), mdp.c, mdp.tau, n, mdp.s1)
        longest = n if st.is_feasible(world) else longest
    return longest


@wrong("how-long")
def one_too_few(mdp):
    return max(by_trying_lengths(mdp) - 1, 0)


@wrong("how-long")
def all_or_nothing(mdp):
    return mdp.H if st.is_feasible(mdp) else 0


@wrong("how-long")
def the_last_doomed_step(mdp):
    return int(st.doomed_until(mdp)[mdp.s1])


@wrong("how-long")
def until_a_percent(mdp):
    return int((st.least_risk(mdp).risks[:, mdp.s1] < 0.6).sum())


# find-the-bug ----------------------------------------------------------------------------------


def reader(missing):
    """Answers that differ in what they make of a missing action."""

    def answer(rows):
        states = list(dict.fromkeys(row["state"] for row in rows))
        actions = list(dict.fromkeys(row["action"] for row in rows))
        P = np.zeros((len(states), len(actions), len(states)))
        for row in rows:
            s, a, t = (
                states.index(row["state"]),
                actions.index(row["action"]),
                states.index(row["next"]),
            )
            P[s, a, t] = row["probability"]
        for s, a in itertools.product(range(len(states)), range(len(actions))):
            if not P[s, a].any():
                P[s, a] = missing(P[s], s)
        return P

    return answer


RIGHT["find-the-bug"] = [
    reader(lambda P, _s: P[P.any(axis=1).argmax()]),
    lambda rows: st.from_table(rows, H=3, tau=0.2).P[0],
]
WRONG["find-the-bug"] = [
    reader(lambda P, s: np.eye(P.shape[1])[s]),
    reader(lambda P, _s: P[np.flatnonzero(P.any(axis=1))[-1]]),
    reader(lambda P, _s: np.zeros(P.shape[1])),
    reader(lambda P, _s: P.sum(axis=0) / P.sum()),
    lambda rows: len(rows),
]


# own-slip --------------------------------------------------------------------------------------


def on_ice(rows, slip, H, add=True, side=0.5, back=0.0, goal="HG", edge="stay"):
    """The least risk with a recursion over a dense table, right or wrong."""
    n, m = len(rows), len(rows[0])
    cells, ways = "".join(rows), [(0, 1), (1, 0), (0, -1), (-1, 0)]
    P = np.zeros((n * m, 4, n * m))
    for s, a in itertools.product(range(n * m), range(4)):
        if cells[s] in goal:
            P[s, a, s] = 1
            continue
        for turn, p in ((0, 1 - slip), (1, side * slip), (3, side * slip), (2, back * slip)):
            i, j = s // m + ways[(a + turn) % 4][0], s % m + ways[(a + turn) % 4][1]
            inside = 0 <= i < n and 0 <= j < m
            if edge == "round":
                i, j, inside = i % n, j % m, True
            t = i * m + j if inside else s
            P[s, a, t] = p + add * P[s, a, t]
    hole = np.array([cell == "H" for cell in cells])
    risk = hole.astype(float)
    for _ in range(H - 1):
        risk = np.where(hole, 1.0, (P @ risk).min(axis=1))
    return float(risk[cells.index("S")])


@right("own-slip")
def by_a_recursion(rows, slip, H):
    return on_ice(rows, slip, H)


@right("own-slip")
def by_the_library(rows, slip, H):
    cells, m = "".join(rows), len(rows[0])
    table = []
    for s, x in enumerate(cells):
        for a in range(4):
            after = {}
            for turn, p in ((0, 1 - slip), (1, slip / 2), (-1, slip / 2)):
                i, j = np.add(divmod(s, m), [(-1, 0), (0, 1), (1, 0), (0, -1)][(a + turn) % 4])
                t = i * m + j if 0 <= i < len(rows) and 0 <= j < m and x in "SF" else s
                after[t] = after.get(t, 0) + p
            cost = float(x == "H")
            table += [
                dict(zip(COLUMNS, (s, a, t, p, 0, cost), strict=True))
                for t, p in after.items()
                if p > 0
            ]
    return st.least_risk(st.from_table(table, H, 0.5, start=str(cells.index("S")))).risk


@wrong("own-slip")
def probabilities_overwritten(rows, slip, H):
    return on_ice(rows, slip, H, add=False)


@wrong("own-slip")
def a_slip_on_each_side(rows, slip, H):
    return on_ice(rows, min(2 * slip, 1), H)


@wrong("own-slip")
def it_slips_back_too(rows, slip, H):
    return on_ice(rows, slip, H, side=1 / 3, back=1 / 3)


@wrong("own-slip")
def goals_do_not_hold(rows, slip, H):
    return on_ice(rows, slip, H, goal="H")


@wrong("own-slip")
def the_last_state_counts(rows, slip, H):
    return on_ice(rows, slip, H + 1)


@wrong("own-slip")
def the_world_is_round(rows, slip, H):
    return on_ice(rows, slip, H, edge="round")


# memory ----------------------------------------------------------------------------------------


def quay(still=(0.5, 0.5), back=0, pays=1.0, H=4, s1=0, S=2):
    P = np.zeros((S, 2, S))
    P[0, 0, :2] = still
    P[0, 1, 1] = P[1, :, back] = 1
    P[2:, :, 0] = 1
    r = np.zeros((S, 2))
    r[0, 1] = pays
    return st.SafeMDP(P, r, np.arange(S) == 1, tau=0.5, H=H, s1=s1)


def two_lives():
    """A wall of a third state: from the water one comes out on the same quay, or not."""
    P = np.zeros((3, 2, 3))
    P[0, 0] = [0.6, 0.4, 0]
    P[0, 1, 1] = 1
    P[1, :, 0] = 1
    P[2, :, 2] = 1
    return st.SafeMDP(P, [[0, 0.9], [0, 0], [0, 0]], [0, 1, 0], tau=0.5, H=4)


RIGHT["memory"] = [quay(), two_lives(), quay(still=(0.4, 0.6))]
UNREMEMBERED = {
    quay(back=1): "the best policy that remembers earns",
    quay(pays=0.1): "the best one that does not",
    quay(H=3): "the best one that does not",
    quay(s1=1): "It begins in an unsafe state",
    quay(still=(1, 0)): "At its least risk, 0, ",
    quay(H=5): "It has 2 states, 2 actions and 5 steps; 3, 2 and 4 are enough",
    quay(S=4): "It has 4 states, 2 actions and 4 steps",
    "quay": "Expected a SafeMDP, got a str",
}
WRONG["memory"] = [*UNREMEMBERED]


@pytest.mark.parametrize(("answer", "why"), UNREMEMBERED.items())
def test_what_a_world_lacks_is_said(answer, why):
    assert why in said_of(chapter, "memory", answer)


class TestAnswers(TriedAnswers):
    slug, right, wrong = "your_own_world", RIGHT, WRONG
