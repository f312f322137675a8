"""A state that is not doomed is drawn with a safe action and every successor of it."""

import numpy as np
import pytest
from looping import each, many

import safeteach as st

ICE = st.instances.ice_corridor()
WORLDS = [
    ICE,
    st.instances.union_counterexample(),
    *(st.instances.random_mdp(S=6, A=3, H=3, seed=seed, stationary=False) for seed in range(6)),
]


@pytest.mark.slow
@each("mdp", WORLDS[: many(2, len(WORLDS))])
def test_all_successors_of_a_safe_action_are_drawn(mdp, drawn, legible):
    U, safe = st.potentially_unsafe(mdp), st.safe_actions(mdp)
    for h, s in np.argwhere(~U) + np.array([1, 0]):
        figure = st.figures.escape(mdp, s, h)
        if h in (1, mdp.H - 1, mdp.H):
            legible(figure)
        name = mdp.state_name(s)
        assert figure.alt.startswith(f"Why {name} is not in U_{h}: ")
        if h == mdp.H:
            assert drawn(figure, "node") == [(str(h), str(s), "safe")]
            continue
        a = int(safe[h - 1, s].argmax())
        successors = mdp.successors(h, s, a)
        assert not U[h, successors].any()
        assert drawn(figure, "escape") == sorted((str(t),) for t in successors)
        nodes = [(str(h), str(s), "safe"), *((str(h + 1), str(t), "safe") for t in successors)]
        assert drawn(figure, "node") == sorted(nodes)
        assert f"its action {mdp.action_name(a)} may lead to" in figure.alt


def test_the_words_name_every_safe_action():
    start = st.figures.escape(ICE, ICE.s1, 1)
    assert start.alt.endswith("Safe actions at (1,0) in step 1: up, down, left.")
    assert st.figures.escape(ICE, ICE.s1, 10).alt.endswith("after the last step no cost is paid.")


def test_one_state_one_action_one_step(legible):
    legible(st.figures.escape(st.SafeMDP([[[1.0]]], [[0.0]], [0.0], tau=0.5, H=1), 0, 1))


def test_names_are_not_read_as_mathematics(legible):
    mdp = st.SafeMDP(
        [[[1.0]]], [[0.0]], [0.0], tau=0.5, H=2, state_names=["$x$"], action_names=["$"]
    )
    legible(st.figures.escape(mdp, 0, 1))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((ICE, 8, 1), r"state \(1,2\) is doomed at step 1"),
        ((ICE, 99, 1), "s is 99"),
        ((ICE, 0, 0), "h is 0; the steps are 1..10"),
        ((ICE, 0, 11), "h is 11; the steps are 1..10"),
        (
            (st.SafeMDP(np.full((9, 1, 9), 1 / 9), np.zeros((9, 1)), np.zeros(9), 0.5, 2), 0, 1),
            "action 0 has 9 successors",
        ),
    ],
)
def test_bad_input_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        st.figures.escape(*arguments)
