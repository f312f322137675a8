"""The model: its forms agree, it is frozen, its episodes have the right law, bad input is named."""

import re
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp

import safeteach as st

P = np.array([[[0.5, 0.5], [1.0, 0.0]], [[0.0, 1.0], [0.25, 0.75]]])
GOOD = {"P": P, "r": np.ones((2, 2)), "c": [0.0, 1.0], "tau": 0.5, "H": 3}


def changed(index, value, table=P):
    table = table.copy()
    table[index] = value
    return table


def same(a, b):
    return (a.P == b.P).all() and (st.potentially_unsafe(a) == st.potentially_unsafe(b)).all()


@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.csc_array, sp.coo_matrix, sp.lil_array])
def test_dense_and_sparse_worlds_are_the_same(kind):
    dense = st.instances.random_mdp(9, 3, 5, seed=1)
    sparse = st.SafeMDP(kind(dense.P[0].reshape(27, 9)), dense.r, dense.c, dense.tau, dense.H)
    assert sparse.stationary and same(dense, sparse)
    stepwise = st.instances.random_mdp(9, 3, 5, seed=1, stationary=False)
    matrices = [kind(step.reshape(27, 9)) for step in stepwise.P]
    sparse = st.SafeMDP(matrices, stepwise.r, stepwise.c, stepwise.tau, stepwise.H)
    assert not sparse.stationary and same(stepwise, sparse)


def test_a_stationary_world_is_a_step_dependent_one_that_repeats():
    one = st.instances.random_mdp(7, 2, 6, seed=5)
    all_steps = st.SafeMDP(one.P, one.r, one.c, one.tau, one.H)
    assert one.stationary and not all_steps.stationary and same(one, all_steps)
    assert (st.optimal(one).Q == st.optimal(all_steps).Q).all()


def test_stored_zeros_and_duplicates_are_no_successors():
    matrix = sp.csr_matrix((np.array([0.5, 0.5, 0.0, 1.0]), ([0, 0, 0, 1], [0, 0, 1, 1])))
    mdp = st.SafeMDP(matrix, np.zeros((2, 1)), [0, 1], 0.5, H=2)
    assert mdp.successors(1, 0, 0).tolist() == [0]
    assert not mdp.support()[0, 0, 0, 1]


def test_the_world_is_copied_and_frozen():
    table, r, c = P.copy(), np.ones((2, 2)), np.array([0.0, 1.0])
    matrix = sp.csr_matrix(P.reshape(4, 2))
    for world in (st.SafeMDP(table, r, c, 0.5, H=3), st.SafeMDP(matrix, r, c, 0.5, H=3)):
        table[:], r[:], c[:], matrix.data[:] = 9, 9, 9, 9
        assert (world.P[0] == P).all() and (world.r == 1).all() and world.c[1] == 1
        for array in (world.P, world.support(), world.r, world.c, world.unsafe, world.violation,
                      world.rows(1).probability, world.known.r):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 0
        table, r, c = P.copy(), np.ones((2, 2)), np.array([0.0, 1.0])
        matrix = sp.csr_matrix(P.reshape(4, 2))


def test_shapes_and_sets():
    mdp = st.SafeMDP(**GOOD)
    assert mdp.P.shape == mdp.support().shape == (3, 2, 2, 2)
    assert mdp.r.shape == (3, 2, 2)
    assert (mdp.support() == (mdp.P > 0)).all()
    assert mdp.violation.tolist() == [0, 0.5]
    edge = st.SafeMDP(P, GOOD["r"], [0.5, 0.6], tau=0.5, H=3)
    assert edge.unsafe.tolist() == [False, True]  # at the threshold is safe


def test_known_tells_neither_transitions_nor_costs():
    mdp = st.SafeMDP(**GOOD)
    assert sorted(vars(mdp.known)) == ["A", "H", "S", "r", "s1", "tau"]


def test_a_dense_table_that_would_not_fit_is_refused():
    n = 10**7
    mdp = st.SafeMDP(sp.identity(n, format="csr"), np.zeros((n, 1)), np.zeros(n), 0.5, H=2)
    for table, takes in ((mdp.support, "support() would take 100.0 TB (shape (1, 10000000, 1, "),
                         (lambda: mdp.P, "P would take 800.0 TB (shape (1, 10000000, 1, 10000000)"),
                         ):
        with pytest.raises(ValueError, match=f"^{re.escape(takes)}.* free; use rows"):
            table()


def test_episodes_follow_the_policy_and_the_support():
    mdp = st.instances.random_mdp(8, 3, 20, seed=2, stationary=False)
    policy = np.random.default_rng(0).integers(3, size=(20, 8))
    for seed in range(50):
        e = st.rollout(mdp, policy, seed)
        assert e.states[0] == mdp.s1 and e.states.shape == (21,) and e.costs.shape == (20,)
        steps = np.arange(20)
        assert (e.actions == policy[steps, e.states[:-1]]).all()
        assert (mdp.P[steps, e.states[:-1], e.actions, e.states[1:]] > 0).all()
        assert (e.rewards == mdp.r[steps, e.states[:-1], e.actions]).all()


def test_same_seed_same_bits_and_exact_costs_without_noise():
    mdp = st.instances.grid()
    policy = np.full((12, 25, 4), 0.25)
    a, b, c = (st.rollout(mdp, policy, seed) for seed in (7, 7, 8))
    for field in ("states", "actions", "rewards", "costs"):
        assert (getattr(a, field) == getattr(b, field)).all()
    assert (a.costs != c.costs).all()
    exact = st.rollout(mdp, policy, 7, noise=0.0)
    assert (exact.states == a.states).all() and (exact.costs == mdp.c[a.states[:-1]]).all()


def test_noise_has_the_mean_and_deviation_asked_for():
    mdp = st.SafeMDP(np.ones((1, 1, 1)), [[0]], [0.3], 0.5, H=10_000)
    policy = np.zeros((10_000, 1), int)
    costs = st.rollout(mdp, policy, seed=0, noise=2.0).costs
    assert abs(costs.mean() - 0.3) < 4 * 2 / 100
    assert abs(costs.std() - 2) < 4 * 2 / np.sqrt(2 * 10_000)


def test_a_zero_probability_is_never_drawn():
    policy = np.tile([0.0, 0.6, 0.4, 0.0], (30, 1, 1))
    mdp = st.SafeMDP(np.ones((1, 4, 1)), np.zeros((1, 4)), [0], 0.5, H=30)
    actions = np.concatenate([st.rollout(mdp, policy, seed).actions for seed in range(100)])
    assert set(actions) == {1, 2}
    assert abs((actions == 1).mean() - 0.6) < 4 * np.sqrt(0.24 / 3000)


def test_names_are_what_messages_use():
    mdp = st.SafeMDP(**GOOD, state_names=["dry", "wet"], action_names=["stay", "go"])
    assert (mdp.state_name(1), mdp.action_name(0)) == ("wet", "stay")
    assert st.SafeMDP(**GOOD).state_name(1) == "1"


def test_import_needs_numpy_alone():
    code = "import sys, safeteach; print(sorted({m.split('.')[0] for m in sys.modules}))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                            check=True).stdout
    for heavy in ("scipy", "numba", "matplotlib", "networkx", "IPython", "ipywidgets"):
        assert f"'{heavy}'" not in loaded


@pytest.mark.parametrize(
    ("argument", "value", "message"),
    [
        ("P", changed((1, 0, 1), 0.9), "P[1, 0] sums to 0.9; each row must sum to 1"),
        ("P", np.stack([P, P, changed((0, 1, 0), 1.1)]), "P[2, 0, 1] sums to 1.1; each row"),
        ("P", changed((0, 1, 0), 0.0), "P[0, 1] sums to 0; each row must sum to 1"),
        ("P", changed((0, 0), [1.5, -0.5]), "P[0, 0] gives state 1 probability -0.5; prob"),
        ("P", changed((0, 0, 1), np.nan), "P[0, 0] gives state 1 probability nan; probabilities"),
        ("P", changed((0, 0, 1), np.inf), "P[0, 0] gives state 1 probability inf; probabilities"),
        ("P", P[0], "P has shape (2, 2); expected (S, A, S) or (H, S, A, S)"),
        ("P", np.ones((2, 2, 3)) / 3, "P has shape (2, 2, 3); expected (S, A, S)"),
        ("P", np.stack([P, P]), "P has shape (2, 2, 2, 2); its first axis must be H = 3"),
        ("P", np.zeros((0, 2, 0)), "P has shape (0, 2, 0); expected (S, A, S)"),
        ("P", [[[1], [1, 2]]], "P is not a rectangular array of numbers"),
        ("P", sp.csr_matrix(P.reshape(4, 2))[:3], "P is sparse with shape (3, 2); expected (S*A"),
        ("P", sp.csr_matrix(P.reshape(4, 2) * 0.5), "P[0, 0] sums to 0.5; each row must sum"),
        ("P", sp.csr_matrix((4, 2)), "P[0, 0] sums to 0; each row must sum to 1"),
        ("P", [sp.csr_matrix(P.reshape(4, 2))], "P is a sequence of 1 sparse matrices; expected"),
        ("P", [sp.eye(2, format="csr")] * 2 + [sp.eye(3, format="csr")],
         "P[2] has shape (3, 3), but P[0] (2, 2)"),
        ("r", np.ones((2, 3)), "r has shape (2, 3); expected (S, A) = (2, 2) or (H, S, A)"),
        ("r", [[0, 1], [1.2, 0]], "r[1, 0] is 1.2; it must lie in [0, 1]"),
        ("r", [[0, 1], [np.nan, 0]], "r[1, 0] is nan; it must lie in [0, 1]"),
        ("c", [0.0], "c has shape (1,); expected (S,) = (2,)"),
        ("c", [0.0, -0.1], "c[1] is -0.1; it must lie in [0, 1]"),
        ("tau", 1.5, "tau is 1.5; the threshold must lie in [0, 1]"),
        ("tau", np.nan, "tau is nan; the threshold must lie in [0, 1]"),
        ("H", 0, "H is 0; it must be at least 1"),
        ("s1", 2, "s1 is 2; the states are 0..1"),
        ("s1", -1, "s1 is -1; the states are 0.."),
        ("state_names", ["a"], "state_names has 1 names; expected 2"),
        ("action_names", ["a"], "action_names has 1 names; expected 2"),
    ],
)
def test_bad_input_is_named(argument, value, message):
    with pytest.raises(ValueError, match="^" + re.escape(message)):
        st.SafeMDP(**{**GOOD, argument: value})


@pytest.mark.parametrize("value", [2.5, "3", None, True])
def test_a_horizon_is_a_whole_number(value):
    with pytest.raises(TypeError, match=re.escape(f"H is {value!r}; expected a whole number")):
        st.SafeMDP(**{**GOOD, "H": value})


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: m.rows(0), "h is 0; the steps are 1..3"),
        (lambda m: m.rows(4), "h is 4; the steps are 1..3"),
        (lambda m: m.successors(1, 2, 0), "s is 2; the states are 0..1"),
        (lambda m: m.successors(1, 0, 2), "a is 2; the actions are 0..1"),
        (lambda m: st.rollout(m, np.zeros((3, 2), int), 0, noise=-1.0),
         "noise is -1.0; a standard deviation must be at least 0"),
    ],
)
def test_bad_questions_are_named(call, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        call(st.SafeMDP(**GOOD))
