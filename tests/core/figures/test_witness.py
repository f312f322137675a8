"""The drawn witness is the witness."""

import numpy as np
import pytest
from hypothesis import given, settings
from looping import many
from oracles.brute_force import worlds

import safeteach as st

UNION = st.instances.union_counterexample()


@pytest.mark.slow
@given(worlds(max_states=5, max_policies=10**9))
@settings(max_examples=many(20, 60))
def test_nodes_and_answers_are_those_of_the_witness(drawn, mdp):
    for s in np.flatnonzero(st.potentially_unsafe(mdp)[0]):
        answers = st.witness(mdp, s, 1).answers
        figure = st.figures.witness(mdp, s, 1)
        nodes = [
            (str(h), str(t), "unsafe" if mdp.unsafe[t] else "doomed")
            for h, t in answers
        ]
        assert drawn(figure, "node") == sorted(nodes)
        arrows = [
            (int(h), int(u), int(a), int(t))
            for h, u, actions, t in drawn(figure, "answer")
            for a in actions.split(",")
        ]
        expected = [(h, u, a, t) for (h, u), ts in answers.items() for a, t in enumerate(ts)]
        assert sorted(arrows) == sorted(expected)


def test_steps_run_from_left_to_right():
    mdp = st.instances.ice_corridor()
    figure = st.figures.witness(mdp, 7, 7)
    columns = [text for text in figure.axes[0].texts if text.get_text().startswith("$h = ")]
    assert [text.get_text() for text in columns] == [f"$h = {h}$" for h in (7, 8, 9, 10)]
    places = [text.get_position()[0] for text in columns]
    assert places == sorted(places)


def test_a_long_witness_goes_on_in_the_next_line_from_where_it_stopped(drawn):
    mdp = st.instances.ice_corridor()
    figure = st.figures.witness(mdp, 7, 1)
    repeated = drawn(figure, "repeated")
    assert repeated
    assert set(repeated) <= set(drawn(figure, "node"))
    assert len(drawn(figure, "answer")) == 9


def test_actions_with_one_answer_share_an_arrow(drawn):
    figure = st.figures.witness(UNION, s=1, h=3)
    assert drawn(figure, "answer") == [("3", "1", "0,1", "4")]
    assert "a0, a1" in [text.get_text() for text in figure.axes[0].texts]
    every = st.figures.witness(st.instances.ice_corridor(), 9, 9)
    assert "any" in [text.get_text() for text in every.axes[0].texts]


def test_the_words_follow_the_data():
    ice = st.instances.ice_corridor()
    alts = {st.figures.witness(ice, 7, h).alt for h in range(1, 8)}
    assert len(alts) == 7
    assert st.figures.witness(UNION, s=4, h=2).alt == "Why u is in U_2: it is unsafe itself."
    assert "at (1,3) in step 9, every action may lead to (2,3)" in st.figures.witness(ice, 9, 9).alt


def test_what_cannot_be_drawn():
    with pytest.raises(ValueError, match="state x is not potentially unsafe at step 2"):
        st.figures.witness(UNION, s=1, h=2)
    with pytest.raises(ValueError, match="s is 5; the states are"):
        st.figures.witness(UNION, s=5, h=2)
    with pytest.raises(ValueError, match="h is 0; the steps are"):
        st.figures.witness(UNION, s=4, h=0)
    with pytest.raises(ValueError, match=r"has 42 nodes; a picture of more than 40"):
        st.figures.witness(chain(42), s=0, h=1)


def chain(n):
    """Return a walk of n states in a row, of which only the last is unsafe."""
    P = np.eye(n)[np.minimum(np.arange(n) + 1, n - 1)][:, None]
    return st.SafeMDP(P, np.zeros((n, 1)), c=np.eye(n)[-1], tau=0.5, H=n)
