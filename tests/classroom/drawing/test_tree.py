"""A drawn tree shows every node, what it is and where the special leaf is, in the clear."""

import itertools

import numpy as np
import pytest

import safeteach as st
from safeteach.classroom.drawing.tree import tree

violation_tree, regret_tree = st.instances.violation_tree, st.instances.regret_tree
VIOLATION = [
    violation_tree(2, 1, 0.5),
    violation_tree(2, 3, 0.0171, j=3),
    violation_tree(2, 4, 0.1, j=16),
    violation_tree(16, 1, 0.1, j=9),
    violation_tree(3, 2, 1e-5, j=2),
]
REGRET = [
    regret_tree(3, 1, 0.01, 0.05),
    regret_tree(3, 3, 0.01, 0.05, j=4),
    regret_tree(3, 4, 0.123, 0.456, j=16, printed=True),
    regret_tree(5, 2, 0.01, 0.0, printed=True),
]


def layer(mdp, s):
    """The number of branchings above a node, by climbing up."""
    steps = 0
    while s:
        s, steps = mdp.parent(s), steps + 1
    return steps


def kind(mdp, s):
    """What a node is at the step at which an episode is there."""
    beyond = s > mdp.leaves[-1]
    h = mdp.depth + 2 if beyond else layer(mdp, s) + 1
    doomed = st.potentially_unsafe(mdp)[h - 1, s]
    return "unsafe" if mdp.unsafe[s] else "doomed" if doomed else "safe"


@pytest.mark.parametrize("mdp", [*VIOLATION, *REGRET], ids=repr)
def test_every_state_and_branch_is_drawn_as_what_it_is(mdp, drawn, legible):
    figure = tree(mdp)
    legible(figure)
    assert drawn(figure, "state") == sorted((str(s), kind(mdp, s)) for s in range(mdp.S))
    branches = [
        (str(s), str(t))
        for s, a in itertools.product(range(mdp.leaves[0]), range(mdp.degree))
        for t in mdp.successors(1, s, a)
    ]
    assert drawn(figure, "branch") == sorted(branches)
    special = [] if mdp.special is None else [(str(mdp.leaves[mdp.special - 1]),)]
    assert drawn(figure, "special") == special


@pytest.mark.parametrize("mdp", [*VIOLATION, *REGRET], ids=repr)
def test_the_legend_names_only_what_is_drawn(mdp, written):
    texts = {text.get_text() for text in written(tree(mdp))}
    names = {"safe", "doomed", "unsafe"}
    assert texts & names == {kind(mdp, s) for s in range(mdp.S)}


@pytest.mark.parametrize("mdp", VIOLATION, ids=repr)
def test_what_a_leaf_costs_and_pays_is_written_beside_it(mdp, written):
    texts = {text.get_text() for text in written(tree(mdp))}
    for i, s in enumerate(mdp.leaves):
        assert f"leaf {i + 1}: cost {mdp.c[s]:.3g}, reward {mdp.r[0, s, 0]:g}" in texts


@pytest.mark.parametrize("mdp", REGRET, ids=repr)
def test_doors_and_the_last_action(mdp, drawn, written):
    figure = tree(mdp)
    texts = {text.get_text() for text in written(figure)}
    sA, sB, sU = range(mdp.S - 3, mdp.S)
    for i, s in enumerate(mdp.leaves):
        assert f"leaf {i + 1}: to sB {mdp.P[0, s, 0, sB]:.3g}" in texts
    assert {"sA: pays 0", "sB: pays 1", f"sU: pays {mdp.r[0, sU, 0]:.3g},\ncost 1"} <= texts
    assert drawn(figure, "door") == sorted((str(s),) for s in (sA, sB, sU))
    printed = mdp.P[0, 0, -1, sU] == 1
    stubs = [(str(s),) for s in range(mdp.leaves[0])] if printed else []
    assert drawn(figure, "stub") == sorted(stubs)
    where = "from every node." if printed else "from the leaves only."
    assert figure.alt.endswith(where)


def test_the_dashed_way_is_the_one_to_the_unsafe_state():
    mdp = regret_tree(3, 2, 0.01, 0.05)
    figure = tree(mdp)
    ways = figure.findobj(lambda artist: (artist.get_gid() or "").startswith("door/"))
    dashed = {way.get_gid() for way in ways if way.get_linestyle() != "solid"}
    assert dashed == {f"door/{mdp.S - 1}"}


def test_the_words_follow_the_world():
    alts = {tree(mdp).alt for mdp in (*VIOLATION, *REGRET)}
    assert len(alts) == len(VIOLATION) + len(REGRET)
    assert max(map(len, alts)) <= 600
    alt = tree(violation_tree(2, 3, 0.25)).alt
    assert "Leaf 1: safe, cost 0.5, reward 0. Leaves 2 to 8: unsafe, cost 0.75, reward 1." in alt
    assert "9 steps reaches at step 4" in alt
    assert "special" not in alt


def test_leaves_stand_in_order_and_nodes_between_their_children():
    mdp = violation_tree(2, 3, 0.1, j=5)
    figure = tree(mdp)
    places = {}
    for body in figure.findobj(lambda artist: (artist.get_gid() or "").startswith("state/")):
        box = body.get_window_extent()
        places[int(body.get_gid().split("/")[1])] = np.array(
            [(box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2]
        )
    heights = [places[s][1] for s in mdp.leaves]
    assert heights == sorted(heights, reverse=True)
    for s in range(mdp.leaves[0]):
        below = [places[t] for t in (2 * s + 1, 2 * s + 2)]
        assert below[0][1] > places[s][1] > below[1][1]
        assert all(place[0] > places[s][0] for place in below)


def test_bad_input():
    with pytest.raises(ValueError, match="the tree has 27 leaves; up to 16 are drawn"):
        tree(violation_tree(3, 3, 0.1))
    with pytest.raises(TypeError, match="expected a TreeMDP, got a GridMDP"):
        tree(st.instances.grid())
