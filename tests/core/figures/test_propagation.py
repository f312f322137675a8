"""The small multiples draw U_H .. U_1, and nothing else."""

import numpy as np
import pytest
from hypothesis import given, settings
from looping import many
from oracles.brute_force import worlds

import safeteach as st


def expected_states(mdp, steps):
    U = st.potentially_unsafe(mdp)
    names = np.array(["safe", "doomed", "unsafe"])
    return sorted(
        (str(h), str(s), str(names[int(U[h - 1, s]) + int(mdp.unsafe[s])]))
        for h in steps
        for s in range(mdp.S)
    )


def expected_new(mdp, steps):
    U = st.potentially_unsafe(mdp)
    return sorted(
        (str(h), str(s))
        for h in steps
        if h < mdp.H
        for s in range(mdp.S)
        if U[h - 1, s] and not U[h, s]
    )


def headlines(figure):
    return [text.get_text() for text in figure.axes[0].texts if "|U_h|" in text.get_text()]


@pytest.mark.slow
@given(worlds(max_states=5, max_policies=10**9))
@settings(max_examples=many(20, 60))
def test_panels_are_the_sets(drawn, mdp):
    U = st.potentially_unsafe(mdp)
    steps = list(range(mdp.H, 0, -1))
    while mdp.stationary and len(steps) > 1 and (U[steps[-1] - 1] == U[steps[-2] - 1]).all():
        steps.pop()
    figure = st.figures.propagation(mdp)
    assert drawn(figure, "state") == expected_states(mdp, steps)
    assert drawn(figure, "new") == expected_new(mdp, steps)
    assert len(headlines(figure)) == len(steps)
    for h in steps:
        frame = st.figures.propagation_frame(mdp, h)
        assert drawn(frame, "state") == expected_states(mdp, [h])
        assert drawn(frame, "new") == expected_new(mdp, [h])


def test_the_repeated_tail_is_one_panel():
    figure = st.figures.propagation(st.instances.grid())
    assert [line.split(",")[0] for line in headlines(figure)] == [
        "$h = 12$",
        "$h = 11$",
        r"$h \leq 10$",
    ]
    assert "|U_h| = 9" in headlines(figure)[-1]


def test_a_step_dependent_world_has_a_panel_for_every_step():
    figure = st.figures.propagation(st.instances.union_counterexample())
    assert len(headlines(figure)) == 4
    assert figure.alt.endswith("U_4: u. U_3 gains x. U_2 loses x.")


def test_frames_have_one_size_and_their_own_words():
    mdp = st.instances.ice_corridor()
    frames = [st.figures.propagation_frame(mdp, h) for h in range(1, mdp.H + 1)]
    assert len({tuple(frame.get_size_inches()) for frame in frames}) == 1
    assert len({frame.alt for frame in frames}) == mdp.H
    assert "New in U_8: (1,2)." in frames[7].alt


def test_nothing_to_spread_is_said():
    mdp = st.SafeMDP(np.eye(2)[:, None], np.zeros((2, 1)), c=[0, 1], tau=0.5, H=1)
    assert st.figures.propagation(mdp).alt.endswith("U_1: 1. Nothing changes.")


def test_what_cannot_be_drawn():
    with pytest.raises(ValueError, match=r"13 panels are needed.*propagation_frame"):
        st.figures.propagation(st.instances.random_mdp(3, 2, 13, seed=0, stationary=False))
    with pytest.raises(ValueError, match="41 states"):
        st.figures.propagation(st.instances.random_mdp(41, 2, 2, seed=0))
    for h in (0, 5):
        with pytest.raises(ValueError, match=f"h is {h}; the steps are"):
            st.figures.propagation_frame(st.instances.union_counterexample(), h)
