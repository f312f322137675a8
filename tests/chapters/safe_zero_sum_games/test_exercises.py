"""Right answers written in different ways pass, plausible wrong ones do not."""

import itertools

import numpy as np
import pytest
from classroom.answers import TriedAnswers, collect, said_of
from scipy.optimize import linprog

import safeteach as st
from safeteach.chapters import safe_zero_sum_games as chapter

RIGHT, WRONG, right, wrong = collect()


# marsh-by-hand --------------------------------------------------------------------------------

RIGHT["marsh-by-hand"] = [
    {1, 2, 3, 4},
    [4, 3, 2, 1],
    frozenset({1, 2, 3, 4}),
    np.array([1, 2, 3, 4]),
]
LOST_SLIPS = {
    (4,): "one reply that ruins every action",
    (1, 3, 4): "This is U_2",
    (3, 4): "This is U_3",
    (0, 1, 2, 3, 4): "State 0 still has a way out",
    (1, 2, 3): "An unsafe state is in every U_h",
}
WRONG["marsh-by-hand"] = [*map(set, LOST_SLIPS), set(), {2, 3, 4}, 4, "1, 2, 3, 4", {1.5}]


@pytest.mark.parametrize(("states", "said"), LOST_SLIPS.items())
def test_a_common_slip_in_the_marsh_is_explained(states, said):
    assert said in said_of(chapter, "marsh-by-hand", set(states))


# banned-row-by-hand ---------------------------------------------------------------------------

RIGHT["banned-row-by-hand"] = [
    (2, 1 / 3, 1 / 2),
    [2.0, 0.3333333333333333, 0.5],
    np.array([2, 1 / 3, 0.5]),
]
MIXED_SLIPS = {
    (2, 2 / 3, 1 / 2): "the second row",
    (2, 1 / 2, 1 / 3): "swapped",
    (5, 0, 0): "banned",
    (5, 0, 1): "banned",
    (5, 0, 0.5): "banned",
    (1, 0, 0): "best row alone",
    (1, 0, 1): "best row alone",
    (1, 0, 0.5): "best row alone",
    (3, 0, 0): "has to show its column first",
    (4, 1, 1): "cannot count on the first column",
    (0, 1, 0): "the first row alone, against the worst column",
    (2, 1 / 3, 1 / 4): "Of the 3 numbers the third is another one.",
}
WRONG["banned-row-by-hand"] = [
    *MIXED_SLIPS,
    (2, 0.33, 0.5),
    (1.5, 0.5, 0.5),
    (3, 0.5, 0.5),
    2,
    (2, 1 / 3),
]


@pytest.mark.parametrize(("triple", "said"), MIXED_SLIPS.items())
def test_a_common_slip_in_the_mixture_is_explained(triple, said):
    assert said in said_of(chapter, "banned-row-by-hand", triple)


def test_the_values_are_not_given_away():
    for answer in WRONG["banned-row-by-hand"]:
        text = chapter.check("banned-row-by-hand", answer).text
        assert "1/3" not in text
        assert "0.333" not in text


# exploitability -------------------------------------------------------------------------------


@right("exploitability")
def in_two_parts(matrix, banned, row, column):
    pays = row @ matrix @ column
    return (max((matrix @ column)[~banned]) - pays) + (pays - min(row @ matrix))


@right("exploitability")
def entry_by_entry(matrix, banned, row, column):
    m, n = matrix.shape
    allowed = [a for a in range(m) if not banned[a]]
    best = max(sum(matrix[a, b] * column[b] for b in range(n)) for a in allowed)
    least = min(sum(matrix[a, b] * row[a] for a in range(m)) for b in range(n))
    return best - least


@wrong("exploitability")
def as_if_nothing_were_banned(matrix, banned, row, column):  # noqa: ARG001
    return (matrix @ column).max() - (row @ matrix).min()


@wrong("exploitability")
def with_a_banned_row_worth_nothing(matrix, banned, row, column):
    return np.where(banned, 0, matrix @ column).max() - (row @ matrix).min()


@wrong("exploitability")
def of_the_agent_alone(matrix, banned, row, column):
    return (matrix @ column)[~banned].max() - row @ matrix @ column


@wrong("exploitability")
def of_the_adversary_alone(matrix, banned, row, column):  # noqa: ARG001
    return row @ matrix @ column - (row @ matrix).min()


@wrong("exploitability")
def with_the_sign_turned(matrix, banned, row, column):
    return (row @ matrix).min() - (matrix @ column)[~banned].max()


@wrong("exploitability")
def of_pure_strategies(matrix, banned, row, column):  # noqa: ARG001
    return matrix[~banned].max(axis=0).min() - matrix[~banned].min(axis=1).max()


@wrong("exploitability")
def distance_to_the_value(matrix, banned, row, column):
    return abs(row @ matrix @ column - st.game_value(matrix[~banned]).value)


# one-step-back --------------------------------------------------------------------------------


@right("one-step-back")
def by_axes(possible, unsafe, lost):
    return unsafe | (possible & lost).any(axis=3).any(axis=2).all(axis=1)


@right("one-step-back")
def by_sets(possible, unsafe, lost):
    S, A, B, _ = possible.shape
    bad = set(np.flatnonzero(lost))
    back = unsafe.copy()
    for s in range(S):
        ways = [
            any(bad & set(np.flatnonzero(possible[s, a, b])) for b in range(B)) for a in range(A)
        ]
        back[s] |= all(ways)
    return back


@wrong("one-step-back")
def with_the_quantifiers_swapped(possible, unsafe, lost):
    return unsafe | (possible & lost).any(axis=3).all(axis=1).any(axis=1)


@wrong("one-step-back")
def if_some_action_is_bad(possible, unsafe, lost):
    return unsafe | (possible & lost).any(axis=(1, 2, 3))


@wrong("one-step-back")
def if_every_reply_is_bad(possible, unsafe, lost):
    return unsafe | (possible & lost).any(axis=3).all(axis=(1, 2))


@wrong("one-step-back")
def if_every_successor_is_bad(possible, unsafe, lost):
    return unsafe | (~possible | lost).all(axis=3).any(axis=2).all(axis=1)


@wrong("one-step-back")
def as_the_paper_prints_it(possible, unsafe, lost):  # noqa: ARG001
    return lost | (possible & lost).any(axis=3).any(axis=2).all(axis=1)


@wrong("one-step-back")
def without_the_unsafe(possible, unsafe, lost):  # noqa: ARG001
    return (possible & lost).any(axis=3).any(axis=2).all(axis=1)


@wrong("one-step-back")
def into_the_unsafe_alone(possible, unsafe, lost):  # noqa: ARG001
    return unsafe | (possible & unsafe).any(axis=3).any(axis=2).all(axis=1)


@wrong("one-step-back")
def in_place(possible, unsafe, lost):
    unsafe |= (possible & lost).any(axis=3).any(axis=2).all(axis=1)
    return unsafe


def test_swapped_quantifiers_are_shown_on_a_small_case():
    assert "It says False at state 0; right is True." in said_of(
        chapter, "one-step-back", with_the_quantifiers_swapped
    )


# witness --------------------------------------------------------------------------------------

SHOWN = {
    (1, 2): ((1, 1), (0, 3)),
    (2, 1): ((0, 3), (1, 3)),
    (2, 3): ((0, 4), (1, 4)),
    (3, 3): ((0, 4), (1, 4)),
}


def without(*keys):
    return {key: pairs for key, pairs in SHOWN.items() if key not in keys}


def from_the_library():
    marsh = [[[1, 1], [2, 2]], [[3, 1], [1, 3]], [[2, 1], [3, 3]], [[4, 2], [2, 4]], [[0, 0]] * 2]
    P = np.eye(5)[np.array(marsh)]
    game = st.SafeGame(P, np.zeros((5, 2, 2)), c=[0, 0, 0, 0, 1], tau=0.5, H=4)
    found = st.witness(game, 2, 1)
    return {
        at: tuple(zip(found.replies[at], answers, strict=True))
        for at, answers in found.answers.items()
    }


RIGHT["witness"] = [
    SHOWN,
    SHOWN | {(1, 2): [[1, 1], [1, 3]]},
    SHOWN | {(3, 4): (), (4, 4): ()},
    from_the_library(),
]
WRONG["witness"] = [
    without((1, 2)),
    without((2, 1)),
    without((3, 3)),
    SHOWN | {(1, 2): ((0, 1), (0, 3))},
    SHOWN | {(1, 2): ((0, 2), (0, 3)), (2, 2): ((0, 2), (0, 3)), (3, 2): ((0, 2), (0, 3))},
    SHOWN | {(1, 2): ((1, 1),)},
    SHOWN | {(1, 2): (1, 3)},
    SHOWN | {(1, 2): ((1, 7), (0, 3))},
    SHOWN | {"start": ((1, 1), (0, 3))},
    {},
    [1, 3, 4],
    st.Witness((1, 2), {}),
]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (without((2, 1)), "There is no answer for state 1 at step 2"),
        (SHOWN | {(1, 2): ((0, 1), (0, 3))}, "action 0 against reply 0 does not lead to 1"),
        (WRONG["witness"][4], "is safe, and the episode ends there"),
        (SHOWN | {(1, 2): ((1, 7), (0, 3))}, "replies are 0 and 1, states 0 to 4, not (1, 7)"),
        (SHOWN | {(1, 2): (1, 3)}, "(b, t) are a reply and a state"),
        (SHOWN | {"start": ()}, "is no pair (h, s)"),
        ([1], "Expected a dict, got a list of length 1"),
    ],
)
def test_what_a_witness_lacks(answer, said):
    assert said in said_of(chapter, "witness", answer)


def test_every_choice_of_bad_replies_is_a_witness_and_no_other_is():
    """Try all tables at state 2, step 1, over right ones at the later steps."""
    rest = without((1, 2))
    leads = {(0, 0): 2, (0, 1): 1, (1, 0): 3, (1, 1): 3}
    for b, c in itertools.product(range(2), repeat=2):
        answer = rest | {(1, 2): ((b, leads[0, b]), (c, leads[1, c]))}
        assert (chapter.check("witness", answer).status == "right") == (b == 1)


# find-the-bugs --------------------------------------------------------------------------------


@right("find-the-bugs")
def rows_left_out(Q, banned):
    return st.game_value(Q[~banned] if not banned.all() else Q).value


@right("find-the-bugs")
def by_a_linear_program(Q, banned):
    M = Q if banned.all() else Q[~banned]
    m, n = M.shape
    lp = linprog([0] * m + [-1], np.c_[-M.T, np.ones(n)], np.zeros(n), [[1] * m + [0]], [1],
                 bounds=[(0, None)] * m + [(None, None)])  # fmt: skip
    return -lp.fun


@wrong("find-the-bugs")
def as_given(Q, banned):
    Q = np.where(banned[:, None], -np.inf, Q)
    return Q.min(axis=1).max()


@wrong("find-the-bugs")
def pure_but_with_all_rows_when_none_is_left(Q, banned):
    return (Q if banned.all() else Q[~banned]).min(axis=1).max()


@wrong("find-the-bugs")
def mixed_but_without_a_rule_for_none(Q, banned):
    return st.game_value(Q[~banned]).value


@wrong("find-the-bugs")
def with_a_fine(Q, banned):
    return st.game_value(np.where(banned[:, None], -1e3, Q)).value


@right("find-the-bugs")
def with_a_fine_on_whole_rows(Q, banned):
    return st.game_value(Q if banned.all() else np.where(banned[:, None], -1e3, Q)).value


@wrong("find-the-bugs")
def zero_where_all_is_lost(Q, banned):
    return 0.0 if banned.all() else st.game_value(Q[~banned]).value


@wrong("find-the-bugs")
def the_ban_the_wrong_way_round(Q, banned):
    return st.game_value(Q[banned] if banned.any() else Q).value


@wrong("find-the-bugs")
def the_ban_forgotten(Q, banned):  # noqa: ARG001
    return st.game_value(Q).value


# printed-equation -----------------------------------------------------------------------------


def match(H=3, pays_at_once=True, pays_later=1.0, c=(0, 0), S=2):
    """A match leads from state 0 to state 1."""
    P = np.zeros((S, 2, 2, S))
    P[0, [0, 1], [0, 1], 1] = P[0, [0, 1], [1, 0], 0] = 1
    P[range(1, S), :, :, range(1, S)] = 1
    r = np.zeros((S, 2, 2))
    r[0] = pays_at_once * np.eye(2)
    r[1] = pays_later
    return st.SafeGame(P, r, c=[*c, *[0] * (S - 2)], tau=0.5, H=H)


def mismatch():
    """The other way round, from state 1, and later a mixture of chance and choice."""
    P = np.zeros((2, 2, 2, 2))
    P[1, [0, 1], [1, 0], 0] = P[1, [0, 1], [0, 1], 1] = P[0, :, :, 0] = 1
    r = np.ones((2, 2, 2))
    r[1] = 1 - np.eye(2)
    return st.SafeGame(P, r, c=[0.5, 0], tau=0.5, H=3, s1=1)


RIGHT["printed-equation"] = [match(), match(pays_later=0.95), mismatch()]
WRONG["printed-equation"] = [
    match(H=2),
    match(H=4),
    match(S=3),
    match(pays_at_once=False),
    match(pays_later=0.5),
    match(c=(1, 0)),
    match(c=(0, 1)),
    st.SafeGame(np.ones((1, 2, 2, 1)), np.eye(2)[None], c=[0], tau=0.5, H=3),
    st.SafeGame(np.ones((1, 2, 2, 1)), np.ones((1, 2, 2)), c=[0], tau=0.5, H=3),
    st.instances.penny_bridge(3),
    st.instances.union_counterexample(),
    match,
]


@pytest.mark.parametrize(
    ("game", "said"),
    [
        (match(H=4), "It has 2 states, 2 actions, 2 replies, 4 steps; at most 2 states, 2 actions"),
        (match(pays_at_once=False), "The safe minimax value is 1.25, less than 2"),
        (match(c=(1, 0)), "lost from the start"),
        (WRONG["printed-equation"][8], "The printed equation says 3, not 0"),
        (match, "Expected a SafeGame, got a function"),
    ],
)
def test_what_a_game_lacks(game, said):
    assert said in said_of(chapter, "printed-equation", game)


class TestAnswers(TriedAnswers):
    slug = "safe_zero_sum_games"
    right = RIGHT
    wrong = WRONG
