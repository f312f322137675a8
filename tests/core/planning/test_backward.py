"""Plans and evaluations of large worlds: the same bits as with numpy alone, and no more room."""

import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from benchmarks.valleys import valleys
from looping import each
from oracles.brute_force_games import any_game, random_strategy

import safeteach as st
from safeteach.arguments import frozen
from safeteach.planning import backward, evaluation
from safeteach.worlds import arrows, rows

ROWS = [*range(1, 20), 31, 33, 128, 129, 130, 136, 137, 138, 256, 257, 258, 300, 1000, 2049]


def by_numpy(monkeypatch):
    monkeypatch.setattr(rows, "MANY", 10**9)


@pytest.fixture(params=["compiled", "plain"])
def by_kernels(request, monkeypatch):
    """A function that lets all worlds use the kernels, compiled or as Python."""

    def switch():
        monkeypatch.setattr(rows, "MANY", 0)
        if request.param == "plain":
            for module in (backward, arrows):
                for name, kernel in vars(module).items():
                    if hasattr(kernel, "py_func"):
                        monkeypatch.setattr(module, name, kernel.py_func)

    return switch


def any_world(seed, stationary=True, longest=40, unsafe=0.15, S=45, A=3, H=5):
    """Rows of any length up to the longest, one successor at least."""
    rng = np.random.default_rng(seed)
    steps = 1 if stationary else H
    few = rng.random((steps, S, A, S)).argsort(axis=3) < rng.integers(1, longest, (steps, S, A, 1))
    P = few * rng.uniform(0.1, 1, few.shape)
    P /= P.sum(axis=3, keepdims=True)
    r = rng.random((steps, S, A)).round(0 if longest < 9 else 9)  # some with ties
    c = np.where(rng.random(S) < unsafe, 0.9, 0.1)
    if stationary:
        P, r = P[0], r[0]
    return st.SafeMDP(P, r, c, 0.5, H, int(rng.integers(S)))


def plans(world):
    found = [st.optimal(world)]
    return [*found, st.safe_optimal(world)] if st.is_feasible(world) else found


@each("seed", range(12))
def test_plans_have_the_same_bits(monkeypatch, by_kernels, seed):
    world = any_world(seed, stationary=seed % 3 > 0, longest=4 if seed % 2 else 40)
    by_numpy(monkeypatch)
    expected, U = plans(world), st.potentially_unsafe(world)
    by_kernels()
    assert (st.potentially_unsafe(world) == U).all()
    found = plans(world)
    assert found == expected and len(found) == 1 + (not U[0, world.s1])
    for one, other in zip(found, expected, strict=True):
        assert one.policy.dtype == np.int64 and (one.Q == other.Q).all()
        assert (np.take_along_axis(one.Q, one.policy[:, :, None], 2)[:, :, 0] == one.V[:-1]).all()


def test_some_of_those_worlds_ban_something():
    worlds = [any_world(seed, seed % 3 > 0, 4 if seed % 2 else 40) for seed in range(12)]
    feasible = [world for world in worlds if st.is_feasible(world)]
    assert 3 <= len(feasible) < len(worlds)
    assert any(st.safe_optimal(world) != st.optimal(world) for world in feasible)


@each("seed", range(12))
def test_evaluations_have_the_same_bits(monkeypatch, by_kernels, seed):
    world = any_world(seed, stationary=seed % 3 > 0, longest=4 if seed % 2 else 40)
    rng = np.random.default_rng(seed)
    mixed = rng.dirichlet(np.ones(world.A), (world.H, world.S))
    mixed[rng.random(mixed.shape) < 0.4] = 0
    mixed[..., 0] += 0.1
    mixed /= mixed.sum(axis=2, keepdims=True)
    actions = mixed.argmax(axis=2)
    game = any_game(seed, S=5, A=3, B=2, H=4)
    mu, nu = random_strategy(game, 3, seed), random_strategy(game, 2, seed + 1)

    def all_of_them():
        kinds = [st.evaluate(world, actions.astype(kind)) for kind in (np.int8, np.uint64, int)]
        assert kinds[0] == kinds[1] == kinds[2] == st.evaluate(world, np.eye(world.A)[actions])
        return kinds[0], st.evaluate(world, mixed), st.evaluate(game, mu, nu)

    by_numpy(monkeypatch)
    expected = all_of_them()
    by_kernels()
    assert all_of_them() == expected


def test_the_values_of_a_plan_are_its_own(by_kernels):
    by_kernels()
    for seed in range(6):
        world = any_world(seed, stationary=seed % 2 > 0)
        plan = st.optimal(world)
        V = evaluation.values(world, plan.policy.astype(np.uint8))
        assert (V == plan.V).all()
        assert st.evaluate(world, plan.policy).value == V[0, world.s1]


def test_values_are_of_actions_only():
    mdp = st.instances.union_counterexample()
    with pytest.raises(ValueError, match=r"^policy has shape \(4, 5, 2\); expected \(H, S\) = "):
        evaluation.values(mdp, np.full((4, 5, 2), 0.5))


@each("length", ROWS)
def test_a_row_is_summed_in_the_order_of_numpy(by_kernels, length):
    by_kernels()
    rng = np.random.default_rng(length)
    n = 3 * length
    flat = (np.arange(0, n + 1, length), rng.permutation(n), rng.random(n))
    row, r = rows.Rows(*map(frozen, flat)), frozen(np.zeros((3, 1)))
    V = rng.random((n, 4)) * 10.0 ** rng.integers(-6, 6, (n, 1))
    sums, best, chosen = np.empty((3, 4)), np.empty(3), np.zeros(3, int)
    backward.follow(*flat, r, chosen, V, sums)
    assert (sums == row.expect(V)).all()
    backward.mix(*flat, np.ones((3, 1)), V, sums)
    assert (sums == row.expect(V)).all()
    first, nowhere = V[:, 0].copy(), np.zeros(n, bool)
    backward.back_up(*flat, r, nowhere, nowhere, first, best, chosen)
    assert (best == row.expect(first)).all() and (chosen == 0).all()


def test_some_rows_can_be_taken():
    world = any_world(0)
    every = world.rows(1)
    which = np.array([7, 0, 7, 44 * 3 + 2])
    some = every.take(which)
    for i, row in enumerate(which):
        here = slice(some.indptr[i], some.indptr[i + 1])
        there = slice(every.indptr[row], every.indptr[row + 1])
        assert (some.successors[here] == every.successors[there]).all()
        assert (some.probability[here] == every.probability[there]).all()
    assert some.indptr[-1] == len(some.successors)


def test_numba_is_used_for_many_transitions_only(monkeypatch):
    mdp = st.instances.grid()
    assert not mdp.rows(1).pay_for_numba()
    monkeypatch.setattr(rows, "MANY", len(mdp.rows(1).successors))
    assert mdp.rows(1).pay_for_numba()
    monkeypatch.setattr(rows, "find_spec", {"numba": None}.get)
    assert not mdp.rows(1).pay_for_numba()
    code = """if True:
        import sys
        import safeteach as st
        mdp = st.instances.grid()
        st.evaluate(mdp, st.safe_optimal(mdp).policy), st.safe_actions(mdp)
        print("numba" in sys.modules)
    """
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "False\n"


@pytest.mark.slow
def test_plans_of_a_large_world_take_little_more_room_than_v_and_the_policy():
    small, mdp = valleys(16_000, H=9), valleys(160_000, H=9)
    st.evaluate(small, st.safe_optimal(small).policy)  # load what is compiled

    def peak(work):
        tracemalloc.reset_peak()
        before, _ = tracemalloc.get_traced_memory()
        return work(), (tracemalloc.get_traced_memory()[1] - before) / (mdp.H * mdp.S)

    tracemalloc.start()
    try:
        plan, planning = peak(lambda: st.safe_optimal(mdp))
        _, evaluating = peak(lambda: st.evaluate(mdp, plan.policy))
        _, feasible = peak(lambda: st.is_feasible(mdp))
    finally:
        tracemalloc.stop()
    # bytes for each step and state: 8 of V, 8 of the policy and 1 of U, and some for a step
    assert 16 < planning < 22
    assert evaluating < 16
    assert feasible < 16  # the arrows reversed, once for all steps


def test_a_plan_computes_q_when_it_is_asked_for(monkeypatch):
    asked = []
    honest = rows.Rows.expect
    monkeypatch.setattr(rows.Rows, "expect", lambda *a: asked.append(1) or honest(*a))
    mdp, game = st.instances.grid(), st.instances.quay()
    for world in (mdp, game):
        plan = st.safe_optimal(world)
        repr(plan), plan == st.safe_optimal(world), plan.V
        before = len(asked)
        Q = plan.Q
        assert len(asked) == before + world.H
        assert plan.Q is Q and len(asked) == before + world.H
        assert Q.shape == world.r.shape
        with pytest.raises(ValueError, match="read-only"):
            plan.V[0] = 1.0
        with pytest.raises(AttributeError):
            plan.Q = Q


def test_sparse_worlds_with_wide_indices_are_planned_as_well(monkeypatch, by_kernels):
    world = any_world(3)
    P = sp.csr_array(world.P[0].reshape(-1, world.S))
    P.indices, P.indptr = P.indices.astype(np.int64), P.indptr.astype(np.int64)
    wide = st.SafeMDP(P, world.r[0], world.c, world.tau, world.H, world.s1)
    P.indices, P.indptr = P.indices.astype(np.int32), P.indptr.astype(np.int32)
    narrow = st.SafeMDP(P, world.r[0], world.c, world.tau, world.H, world.s1)
    by_numpy(monkeypatch)
    expected = plans(world)
    by_kernels()
    assert plans(wide) == plans(narrow) == expected
