"""The trees of the lower bounds, against formulas and paths that the constructors do not use."""

import itertools

import numpy as np
import pytest

import safeteach as st

violation_tree, regret_tree = st.instances.violation_tree, st.instances.regret_tree
VIOLATION = [(2, 1), (2, 3), (3, 2), (5, 1), (2, 4)]
REGRET = [(3, 1), (3, 3), (4, 2), (6, 1)]


def layers_of(degree, depth):
    """The layer of each node of the tree, the root's is 0."""
    return [d for d in range(depth + 1) for _ in range(degree**d)]


def end_of(mdp, actions, start=0):
    """The state after a sequence of sure moves."""
    s = start
    for h, a in enumerate(actions):
        (s,) = np.flatnonzero(mdp.P[h, s, a])
        assert mdp.P[h, s, a].sum() == 1
    return int(s)


def leaves_below(degree, depth, s):
    """Numbers 1..n of the leaves under each node, by walking down from it."""
    layer = layers_of(degree, depth)
    nodes = [s]
    for _ in range(depth - layer[s]):
        nodes = [degree * t + a for t in nodes for a in range(1, degree + 1)]
    first = sum(degree**d for d in range(depth))
    return {t - first + 1 for t in nodes}


# Violation ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("A", "depth"), VIOLATION)
def test_counts_of_the_violation_tree(A, depth):
    mdp = violation_tree(A, depth, 0.1)
    n = len(mdp.leaves)
    assert sum(A**d for d in range(depth + 1)) == mdp.S
    assert n == A**depth
    assert n * A == mdp.S * (A - 1) + 1
    assert n >= mdp.S / 2
    assert (mdp.H, mdp.A, mdp.tau, mdp.s1) == (3 * depth, A, 0.5, 0)
    assert (mdp.degree, mdp.depth, mdp.gap, mdp.special) == (A, depth, 0.1, None)
    assert mdp.stationary


@pytest.mark.parametrize(("A", "depth"), VIOLATION)
def test_each_word_leads_to_its_leaf_which_holds_for_two_thirds_of_the_steps(A, depth):
    mdp = violation_tree(A, depth, 0.1)
    for i, word in enumerate(itertools.product(range(A), repeat=depth)):
        assert end_of(mdp, word) == mdp.leaves[i]
        for later in itertools.product(range(A), repeat=2):
            assert end_of(mdp, (*word, *later)) == mdp.leaves[i]
        policy = np.zeros((mdp.H, mdp.S), int)
        for h, a in enumerate(word):
            policy[h] = a
        value = st.evaluate(mdp, policy).value
        assert value == (2 * depth if i else 0)  # H' steps, paid 1 each but in leaf 1
        assert 3 * value == (2 * mdp.H if i else 0)


@pytest.mark.parametrize(("A", "depth"), VIOLATION)
@pytest.mark.parametrize("gap", [0.01, 0.5])
def test_who_is_safe_and_what_is_paid(A, depth, gap):
    n = A**depth
    for j in [None, *range(2, n + 1)]:
        mdp = violation_tree(A, depth, gap, j)
        inner = mdp.S - n
        assert mdp.special == j
        assert not mdp.unsafe[:inner].any()
        assert not mdp.c[:inner].any()
        assert not mdp.r[:, :inner].any()
        for i in range(1, n + 1):
            s = inner + i - 1
            assert mdp.c[s] == (0.5 if i in (1, j) else 0.5 + gap)
            assert mdp.unsafe[s] == (i not in (1, j))
            assert (mdp.r[:, s] == (i != 1)).all()
        assert mdp.unsafe.sum() == n - 1 - (j is not None)


@pytest.mark.parametrize(("A", "depth"), VIOLATION)
def test_values_of_the_violation_tree(A, depth):
    n, leaf_steps = A**depth, 2 * depth
    tau_1 = violation_tree(A, depth, 0.2)
    assert st.safe_optimal(tau_1).value == 0
    assert st.optimal(tau_1).value == leaf_steps
    for j in range(2, n + 1):
        mdp = violation_tree(A, depth, 0.2, j)
        plan = st.safe_optimal(mdp)
        assert plan.value == st.optimal(mdp).value == leaf_steps
        assert st.evaluate(mdp, plan.policy).unsafe_probability == 0
        always_one = np.zeros((mdp.H, mdp.S), int)
        assert st.evaluate(mdp, always_one).value == 0
        assert st.evaluate(mdp, always_one).violation == 0


@pytest.mark.parametrize(("A", "depth"), VIOLATION)
def test_a_branch_without_a_safe_leaf_is_lost_while_there_is_time_to_get_there(A, depth):
    layer = layers_of(A, depth)
    for j in (None, 2, A**depth):
        mdp = violation_tree(A, depth, 0.2, j)
        U = st.potentially_unsafe(mdp)
        for h, s in itertools.product(range(1, mdp.H + 1), range(mdp.S)):
            safe_below = leaves_below(A, depth, s) & {1, j}
            in_time = h + depth - layer[s] <= mdp.H
            assert U[h - 1, s] == (not safe_below and in_time)


def test_worlds_of_a_family_differ_in_one_cost():
    tau_1 = violation_tree(2, 3, 0.125)
    for j in range(2, 9):
        tau_j = violation_tree(2, 3, 0.125, j)
        assert np.array_equal(tau_j.P, tau_1.P)
        assert np.array_equal(tau_j.r, tau_1.r)
        other = np.flatnonzero(tau_j.c != tau_1.c)
        assert other.tolist() == [7 + j - 1]
        assert tau_1.c[other] - tau_j.c[other] == 0.125
        assert tau_j.known.tau == tau_1.known.tau


def test_the_parent_is_the_node_that_leads_there():
    for mdp in (violation_tree(3, 2, 0.1), regret_tree(4, 2, 0.01, 0.1)):
        for s in range(1, mdp.leaves[-1] + 1):
            above = [t for t in range(s) if mdp.P[0, t, : mdp.degree, s].any()]
            assert [mdp.parent(s)] == above
        for s in (0, -1, mdp.leaves[-1] + 1):
            with pytest.raises(ValueError, match="nodes with a parent are 1"):
                mdp.parent(s)


# Regret ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("A", "depth"), REGRET)
@pytest.mark.parametrize("printed", [False, True])
def test_counts_of_the_regret_tree(A, depth, printed):
    mdp = regret_tree(A, depth, 0.01, 0.1, printed=printed)
    n = len(mdp.leaves)
    assert sum((A - 1) ** d for d in range(depth + 1)) + 3 == mdp.S
    assert n == (A - 1) ** depth
    assert n * (A - 1) == (mdp.S - 3) * (A - 2) + 1
    assert (mdp.H, mdp.A, mdp.tau, mdp.degree) == (3 * depth, A, 0, A - 1)
    sA, sB, sU = mdp.S - 3, mdp.S - 2, mdp.S - 1
    assert [mdp.state_name(s) for s in (sA, sB, sU)] == ["sA", "sB", "sU"]
    assert np.flatnonzero(mdp.unsafe).tolist() == [sU]
    assert mdp.c[sU] == 1
    assert np.flatnonzero(mdp.c).tolist() == [sU]
    assert (mdp.r[:, sB] == 1).all()
    assert (mdp.r[:, sU] == 0.6).all()
    assert not np.delete(mdp.r, [sB, sU], axis=1).any()
    for s in (sA, sB, sU):
        assert (mdp.P[:, s, :, s] == 1).all()


@pytest.mark.parametrize(("A", "depth"), REGRET)
@pytest.mark.parametrize("printed", [False, True])
def test_who_wins_how_often_and_where_the_last_action_leads(A, depth, printed):
    n, gap = (A - 1) ** depth, 0.03
    for j in (None, 2, n):
        mdp = regret_tree(A, depth, gap, 0.1, j, printed)
        inner = mdp.S - 3 - n
        sA, sB, sU = mdp.S - 3, mdp.S - 2, mdp.S - 1
        for i, word in enumerate(itertools.product(range(A - 1), repeat=depth)):
            s = end_of(mdp, word)
            assert s == mdp.leaves[i]
            win = 0.5 + gap * (i == 0) + 2 * gap * (i + 1 == j)
            for a in range(A - 1):
                assert mdp.P[0, s, a, sB] == pytest.approx(win)
                assert mdp.P[0, s, a, sA] == pytest.approx(1 - win)
            assert mdp.P[0, s, A - 1, sU] == 1
        for s in range(inner):
            (end,) = np.flatnonzero(mdp.P[0, s, A - 1])
            assert end == (sU if printed else (A - 1) * s + 1)


@pytest.mark.parametrize(("A", "depth"), REGRET)
def test_values_of_the_regret_tree(A, depth):
    """H' = 2·depth - 1 steps behind the doors, and H - 1 if sU may be entered from the root."""
    n, gap, more = (A - 1) ** depth, 0.01, 0.05
    steps, H = 2 * depth - 1, 3 * depth
    assert 3 * steps == 2 * H - 3
    for j in (None, 2, n):
        best = 0.5 + gap * (1 if j is None else 2)
        mdp = regret_tree(A, depth, gap, more, j)
        assert st.safe_optimal(mdp).value == pytest.approx(steps * best)
        assert st.optimal(mdp).value == pytest.approx(steps * (0.5 + more))
        mdp = regret_tree(A, depth, gap, more, j, printed=True)
        assert st.safe_optimal(mdp).value == pytest.approx(steps * best)
        assert st.optimal(mdp).value == pytest.approx((H - 1) * (0.5 + more))


def test_the_printed_tree_is_worth_much_more_without_the_constraint():
    """At H = 9, gap .01, unsafe gap .05: 1.85 more than the best safe policy, not H'·.04 = .2."""
    for printed, excess in ((True, 8 * 0.55 - 5 * 0.51), (False, 5 * 0.04)):
        mdp = regret_tree(3, 3, 0.01, 0.05, printed=printed)
        assert st.optimal(mdp).value - st.safe_optimal(mdp).value == pytest.approx(excess)
    assert pytest.approx(1.85) == 8 * 0.55 - 5 * 0.51


@pytest.mark.parametrize(("A", "depth"), REGRET)
@pytest.mark.parametrize("printed", [False, True])
def test_only_sU_is_ever_potentially_unsafe(A, depth, printed):
    U = st.potentially_unsafe(regret_tree(A, depth, 0.01, 0.1, 2, printed))
    assert U[:, -1].all()
    assert not U[:, :-1].any()


@pytest.mark.parametrize(("A", "depth"), REGRET)
def test_the_least_gap_of_the_regret_tree(A, depth):
    """H'(Δ' - 2Δ) where an episode can be, Δ' - 2Δ over all steps and states."""
    gap, more = 0.01, 0.07
    mdp = regret_tree(A, depth, gap, more, j=2)
    P, r, H = mdp.P[0], mdp.r[0], mdp.H
    V = np.zeros(mdp.S)
    gaps, reachable = [], []
    for _ in range(H):
        Q = r + P @ V
        V = Q.max(axis=1)
        gaps.append(V[:, None] - Q)
    here = np.zeros(mdp.S, bool)
    here[0] = True
    for _ in range(H):
        reachable.append(here)
        here = (P[here] > 0).any(axis=(0, 1))
    everywhere = np.stack(gaps[::-1])
    met = everywhere[np.stack(reachable)]
    assert met[met > 1e-12].min() == pytest.approx((2 * depth - 1) * (more - 2 * gap))
    if depth > 1:  # at depth 1 a leaf is never met at another step than H - 1 = 2
        assert everywhere[everywhere > 1e-12].min() == pytest.approx(more - 2 * gap)


# Bad input ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make", [violation_tree, lambda *given: regret_tree(*given[:3], 0.1, *given[3:])]
)
@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ((3, 0, 0.1), ValueError, "depth is 0; it must be at least 1"),
        ((3, -1, 0.1), ValueError, "depth is -1"),
        ((1, 2, 0.1), ValueError, "A is 1; it must be at least"),
        ((3.0, 2, 0.1), TypeError, "A is 3.0; expected a whole number"),
        ((True, 2, 0.1), TypeError, "A is True"),
        ((3, 1.5, 0.1), TypeError, "depth is 1.5; expected a whole number"),
        ((3, "2", 0.1), TypeError, "depth is '2'"),
        ((3, 2, 0.0), ValueError, "gap is 0.0; it must lie in"),
        ((3, 2, -0.1), ValueError, "gap is -0.1"),
        ((3, 2, 0.51), ValueError, "gap is 0.51"),
        ((3, 2, float("nan")), ValueError, "gap is nan"),
        ((3, 2, 0.1, 1), ValueError, "j is 1; the leaves that may be special are 2"),
        ((3, 2, 0.1, 10), ValueError, "j is 10; the leaves that may be special are 2"),
        ((3, 2, 0.1, 2.0), TypeError, "j is 2.0; expected a whole number, or None"),
        ((3, 2, 0.1, True), TypeError, "j is True"),
    ],
)
def test_bad_input(make, given, error, message):
    with pytest.raises(error, match=message):
        make(*given)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((2, 2, 0.1, 0.1), "A is 2; it must be at least 3"),
        ((3, 2, 0.3, 0.1, 2), "gap is 0.3; leaf j wins"),
        ((3, 2, 0.1, -0.1), "unsafe_gap is -0.1; sU pays"),
        ((3, 2, 0.1, 0.6), "unsafe_gap is 0.6"),
        ((3, 2, 0.1, float("nan")), "unsafe_gap is nan"),
        ((3, 2, 0.1, 0.1, 5), "special are 2..4"),
    ],
)
def test_bad_input_of_the_regret_tree(given, message):
    with pytest.raises(ValueError, match=message):
        regret_tree(*given)


def test_the_largest_gaps_are_allowed():
    assert violation_tree(2, 1, 0.5).c.max() == 1
    assert regret_tree(3, 1, 0.5, 0.5).P.max() == 1
    assert regret_tree(3, 1, 0.25, 0.5, j=2).P.max() == 1
    assert violation_tree(np.int64(2), np.int64(2), 0.5, np.int64(4)).special == 4
