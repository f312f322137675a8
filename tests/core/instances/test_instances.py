"""Each world is the one that its documentation draws."""

import re

import numpy as np
import pytest

import safeteach as st

POND = [". . . . .", ". ~ ~ ~ .", "S ~ X ~ G", ". ~ X ~ .", ". . . . ."]


def test_the_pond_is_the_one_drawn():
    mdp = st.instances.grid()
    assert (mdp.S, mdp.A, mdp.H) == (25, 4, 12)
    assert [" ".join(row) for row in mdp.map] == POND
    for line in POND:
        assert line in st.instances.grid.__doc__
    assert st.is_feasible(mdp)
    U = st.potentially_unsafe(mdp)
    assert U[0].sum() > mdp.unsafe.sum()
    ice_or_water = np.array([mdp.map[i][j] in "~X" for i, j in mdp.cells])
    assert (U[0] == ice_or_water).all()
    assert 0 < st.safe_optimal(mdp).value < st.optimal(mdp).value


def test_one_step_of_foresight_is_not_enough_on_the_pond():
    """Ban what can be unsafe at the very next step, where that leaves anything: one gets wet."""
    mdp = st.instances.grid()
    allowed = ~mdp.support()[0][:, :, mdp.unsafe].any(axis=2)
    allowed[~allowed.any(axis=1)] = True
    V = np.zeros(mdp.S)
    policy = np.empty((mdp.H, mdp.S), int)
    for i in reversed(range(mdp.H)):
        Q = np.where(allowed, mdp.r[i] + mdp.P[i] @ V, -np.inf)
        policy[i], V = Q.argmax(axis=1), Q.max(axis=1)
    assert st.evaluate(mdp, policy).unsafe_probability > 0


def test_moves_go_where_they_should():
    mdp = st.instances.grid_from_map("S . #\n~ X G", H=2, slip=0.4)
    number = {mdp.state_name(s): s for s in range(mdp.S)}
    up, _, left, right = range(4)

    def law(cell, a):
        return {mdp.state_name(t): float(p) for t, p in enumerate(mdp.P[0, number[cell], a]) if p}

    assert mdp.S == 5
    assert law("(0,0)", right) == {"(0,1)": 1}
    assert law("(0,0)", up) == law("(0,0)", left) == {"(0,0)": 1}
    assert law("(0,1)", right) == {"(0,1)": 1}  # the wall
    assert law("(1,1)", right) == {"(1,2)": 1}  # water does not slip
    assert law("(1,2)", left) == {"(1,2)": 1}  # the goal holds
    slid = law("(1,0)", right)
    expected = {"(0,0)": 0.1, "(1,0)": 0.2, "(1,1)": 0.7}
    assert slid.keys() == expected.keys()
    assert all(abs(slid[cell] - expected[cell]) < 1e-15 for cell in slid)
    assert (mdp.r[0].max(axis=1) == np.eye(5)[number["(1,2)"]]).all()


def test_the_corridor_dooms_one_cell_a_step():
    mdp = st.instances.ice_corridor()
    U = st.potentially_unsafe(mdp)
    ice = [s for s, (i, j) in enumerate(mdp.cells) if mdp.map[i][j] == "~"]
    several = np.array([[len(mdp.successors(1, s, a)) > 1 for a in range(4)]
                        for s in range(mdp.S)])
    assert several.any(axis=1).nonzero()[0].tolist() == ice  # slipping on marked cells only
    for steps_to_go, s in enumerate(reversed(ice), start=1):
        assert U[:, s].tolist() == [True] * (mdp.H - steps_to_go) + [False] * steps_to_go
    assert st.is_feasible(mdp)
    assert st.safe_optimal(mdp).value < st.optimal(mdp).value


def test_the_counterexample_is_the_documented_one():
    mdp = st.instances.union_counterexample()
    names = {mdp.state_name(s): s for s in range(mdp.S)}

    def play(*actions):
        """States and rewards of the deterministic path that takes these actions."""
        s, path, total = mdp.s1, [], 0.0
        for h, a in enumerate(actions, start=1):
            path.append(mdp.state_name(s))
            total += mdp.r[h - 1, s, a]
            (s,) = mdp.successors(h, s, a)
        return path, total

    assert play(0, 0, 0, 0) == (["start", "x", "g", "g"], 2.0)
    assert play(1, 1, 0, 0) == (["start", "y", "x", "u"], 2.5)
    assert play(1, 0, 1, 1) == (["start", "y", "y", "y"], 1.5)
    assert mdp.unsafe.nonzero()[0].tolist() == [names["u"]]
    assert st.is_feasible(mdp)
    printed = st.potentially_unsafe(mdp, recursion="paper")
    exact = st.potentially_unsafe(mdp)
    assert printed[1, names["x"]] and not exact[1, names["x"]]


def test_random_worlds_come_from_their_seed():
    a, b, c = (st.instances.random_mdp(6, 3, 4, seed) for seed in (1, 1, 2))
    assert (a.P == b.P).all() and (a.r == b.r).all() and (a.c == b.c).all()
    assert (a.P != c.P).any()
    sizes = st.instances.random_mdp(50, 4, 2, 0, successors=3).support()[0].sum(axis=2)
    assert set(np.unique(sizes)) == {1, 2, 3}
    assert not st.instances.random_mdp(50, 4, 2, 0, unsafe=0).unsafe.any()
    assert st.instances.random_mdp(50, 4, 2, 0, unsafe=1).unsafe.all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda i: i.grid_from_map("", H=2), "text is empty; expected a map"),
        (lambda i: i.grid_from_map("S.\n.", H=2), "text has 1 cells in row 1 and 2 in row 0"),
        (lambda i: i.grid_from_map("S?", H=2), "text has '?' at (0,1); expected one of SG.~X#"),
        (lambda i: i.grid_from_map("..", H=2), "text has 0 starts 'S'; expected exactly one"),
        (lambda i: i.grid_from_map("SS", H=2), "text has 2 starts 'S'; expected exactly one"),
        (lambda i: i.grid_from_map("S~", H=2, slip=0), "slip is 0; a probability in (0, 1]"),
        (lambda i: i.grid_from_map("SX", H=2, tau=1), "tau is 1; in [0, 1) the water"),
        (lambda i: i.random_mdp(0, 1, 1, 0), "S is 0; it must be at least 1"),
        (lambda i: i.random_mdp(2, 1, 1, 0, successors=3), "successors is 3; there are only 2"),
        (lambda i: i.random_mdp(2, 1, 1, 0, successors=2, unsafe=2), "unsafe is 2; a probability"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match="^" + re.escape(message)):
        call(st.instances)
