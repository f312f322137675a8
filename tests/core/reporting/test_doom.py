"""Who is doomed, when that can be met, and the argument in words."""

import numpy as np
import pytest

import safeteach as st
from safeteach.reporting.doom import explain_in_words, find_doom, is_short

WORLDS = [
    st.instances.random_mdp(7, 2, 6, seed, successors=1, unsafe=0.25, stationary=stationary)
    for seed in range(25)
    for stationary in (True, False)
]


def first_met(mdp, U):
    """By multiplying tables of who can follow whom."""
    here, met = np.eye(mdp.S, dtype=int)[mdp.s1], np.zeros(mdp.S, int)
    for h, step in enumerate(mdp.support().any(axis=2), start=1):
        met[(here > 0) & U[h - 1] & (met == 0)] = h
        here = (here @ step > 0).astype(int)
    return met


def test_the_doomed_are_those_of_the_library_and_are_met_when_they_can_be():
    some = 0
    for mdp in WORLDS:
        U, doom = st.potentially_unsafe(mdp), find_doom(mdp)
        assert (doom.ever == U.any(axis=0)).all()
        assert (doom.met == first_met(mdp, U)).all()
        some += int(((doom.met > 1) & ~mdp.unsafe).sum())
        for s in range(mdp.S):
            at = [h for i, j in doom.steps(s) for h in range(i, j + 1)]
            assert at == [h for h in range(1, mdp.H + 1) if U[h - 1, s]]
            apart = zip(doom.steps(s), doom.steps(s)[1:], strict=False)
            assert all(j + 1 < i for (_, j), (i, _) in apart), "two times that are one"
    assert some > 10


def test_a_long_episode_in_a_small_world_is_looked_at_once():
    mdp = st.SafeMDP(np.eye(3)[[[1], [0], [2]]], np.zeros((3, 1)), [0, 0, 1], 0.5, H=10**12)
    assert find_doom(mdp).met.tolist() == [0, 0, 0]


@pytest.mark.parametrize("h", [1, 3, 6])
def test_a_witness_is_as_short_as_is_said(h):
    for mdp in WORLDS:
        for s in np.flatnonzero(st.potentially_unsafe(mdp)[h - 1]).tolist():
            assert not is_short(mdp, h, len(st.witness(mdp, s, h).answers) - 1)


def test_a_witness_has_at_most_all_states_at_a_step_and_an_answer_to_each_action():
    pond = st.instances.grid()
    for h, nodes in {12: 1, 11: 5, 10: 21, 9: 46}.items():
        assert is_short(pond, h, nodes) and not is_short(pond, h, nodes - 1)
    endless = st.SafeMDP(np.eye(3)[:, None], np.zeros((3, 1)), [0, 0, 1], 0.5, H=10**12)
    assert not is_short(endless, 1, most=100)


def test_every_sentence_is_a_node_and_what_is_left_is_counted():
    pond = st.instances.grid()
    why = st.witness(pond, pond.state("(1,1)"), 1)
    told = explain_in_words(pond, why, most=10)
    assert told == [
        "At (1,1) in step 1: every action may lead to (1,2), which is doomed at step 2.",
        "At (1,2) in step 2: every action may lead to (2,2), which is unsafe.",
    ]
    assert explain_in_words(pond, why, most=1) == [told[0], "And so on, in 1 more step."]
    assert explain_in_words(pond, st.witness(pond, pond.state("(2,2)"), 1), most=9) == []
