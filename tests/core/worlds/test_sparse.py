"""Sparse P: read as dense P is, whatever its format, and refused before an index is followed."""

import re
import subprocess
import sys
from contextlib import suppress

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as some
from hypothesis.extra.numpy import arrays
from looping import each, many

import safeteach as st

P = np.array([[0.5, 0.5], [1.0, 0.0], [0.0, 1.0], [0.25, 0.75]])
REST = {"r": np.ones((2, 2)), "c": [0.0, 1.0], "tau": 0.5, "H": 3}
WORLD = st.SafeMDP(P.reshape(2, 2, 2), **REST)
FORMATS = ("bsr", "coo", "csc", "csr", "dia", "dok", "lil")
KINDS = [getattr(sp, f"{name}_{kind}") for name in FORMATS for kind in ("array", "matrix")]


def changed(kind, **parts):
    """A sparse P, with arrays put into it that no constructor of scipy takes."""
    matrix = kind(P, blocksize=(2, 2)) if kind is sp.bsr_array else kind(P)
    for name, part in parts.items():
        setattr(matrix, name, part)
    return matrix


@each("kind", KINDS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_every_format_is_the_same_world(kind, dtype):
    assert st.SafeMDP(kind(P.astype(dtype)), **REST) == WORLD
    stepwise = st.SafeMDP([kind(P.astype(dtype))] * 3, **REST)
    assert not stepwise.stationary and (stepwise.P == WORLD.P).all()
    assert stepwise == st.SafeMDP(np.stack([P.reshape(2, 2, 2)] * 3), **REST)


@each("kind", KINDS)
@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.uint64])
def test_whole_numbers_and_truth_values_are_numbers(kind, dtype):
    sure = np.eye(2)[[0, 1, 1, 0]]
    dense = st.SafeMDP(sure.reshape(2, 2, 2), **REST)
    assert st.SafeMDP(kind(sure.astype(dtype)), **REST) == dense
    assert st.SafeMDP(sure.reshape(2, 2, 2).astype(dtype), **REST) == dense


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint64])
def test_indices_of_any_size_and_order_are_the_same_world(dtype):
    backwards = changed(
        sp.csr_array,
        indices=np.array([1, 0, 0, 1, 1, 0], dtype),
        data=np.array([0.5, 0.5, 1, 1, 0.75, 0.25]),
        indptr=np.array([0, 2, 3, 4, 6], dtype),
    )
    assert st.SafeMDP(backwards, **REST) == WORLD
    backwards.has_sorted_indices = backwards.has_canonical_format = True  # which is a lie
    assert st.SafeMDP(backwards, **REST) == WORLD
    assert backwards.indices.tolist() == [1, 0, 0, 1, 1, 0]  # the user's own stay as they are


def test_what_is_stored_twice_is_added_and_zeros_are_no_successors():
    at = [0, 0, 0, 1, 1, 2, 3, 3], [0, 1, 1, 0, 1, 1, 0, 1]
    twice = sp.coo_array((np.array([0.5, 0.25, 0.25, 1, 0, 1, 0.25, 0.75]), at), shape=(4, 2))
    assert st.SafeMDP(twice, **REST) == WORLD
    rows = sp.csr_array((twice.data, twice.col, np.array([0, 3, 5, 6, 8])), shape=(4, 2))
    assert not rows.has_canonical_format and rows.nnz == 8
    assert st.SafeMDP(rows, **REST) == WORLD
    # In eight bits 127 + 127 + 3 would be 1.
    small = sp.coo_array((np.array([127, 127, 3, 1, 1, 1], np.int8), ([0, 0, 0, 1, 2, 3],) * 2))
    with pytest.raises(ValueError, match=re.escape("P[0, 0] sums to 257; each row must sum to 1")):
        st.SafeMDP(small, np.ones((4, 1)), np.zeros(4), 0.5, 3)


def test_room_behind_the_last_row_is_no_part_of_the_matrix():
    spare = changed(
        sp.csr_array,
        indices=np.array([0, 1, 0, 1, 0, 1, 1, 1]),
        data=np.array([0.5, 0.5, 1, 1, 0.25, 0.75, 7, np.nan]),
    )
    assert st.SafeMDP(spare, **REST) == WORLD


BAD_INDICES = [
    (sp.csr_array, "indices", [0, 1, -1, 1, 0, 1], "P.indices[2] is -1; expected one of 0..1"),
    (sp.csr_matrix, "indices", [0, 1, 0, 2, 0, 1], "P.indices[3] is 2; expected one of 0..1"),
    (sp.csr_array, "indices", [0, 50_000_000, 0, 1, 0, 1], "P.indices[1] is 50000000; expected"),
    (sp.csr_array, "indices", [0] * 7, "P.indices holds int64 in shape (7,); expected whole numb"),
    (sp.csr_array, "indices", [0.0] * 6, "P.indices holds float64 in shape (6,); expected whole"),
    (sp.csr_array, "indices", None, "P.indices holds object in shape (); expected whole numbers"),
    (sp.csc_array, "indices", [0, 1, 4, 0, 2, 3], "P.indices[2] is 4; expected one of 0..3"),
    (sp.csc_array, "indices", [0, 1, -9, 0, 2, 3], "P.indices[2] is -9; expected one of 0..3"),
    (sp.bsr_array, "indices", [0, 50_000_000], "P.indices[1] is 50000000; expected one of 0..0"),
    (sp.csr_array, "indptr", [0, 2, 3, 4, 99], "P.indptr[4] is 99; expected one of 0..6"),
    (sp.csr_array, "indptr", [0, 3, 2, 4, 6], "P.indptr[2] is 2; it must be at least P.indptr[1]"),
    (sp.csr_array, "indptr", [1, 2, 3, 4, 6], "P.indptr[0] is 1; expected 0"),
    (sp.csr_array, "indptr", [-1, 2, 3, 4, 6], "P.indptr[0] is -1; expected one of 0..6"),
    (sp.csr_array, "indptr", [0, 2, 3, 4], "P.indptr holds int64 in shape (4,); expected whole"),
    (sp.csc_array, "indptr", [0, 3, 7], "P.indptr[2] is 7; expected one of 0..6"),
    (sp.csc_array, "indptr", [0, 7, 6], "P.indptr[1] is 7; expected one of 0..6"),
    (sp.csr_array, "data", [1.0], "P.indices holds int32 in shape (6,); expected whole numbers in"),
    (sp.csr_array, "data", np.ones((6, 1)), "P.data holds float64 in shape (6, 1); expected real"),
    (sp.csr_array, "data", np.ones(6, object), "P.data holds object in shape (6,); expected real"),
    (sp.csr_array, "data", np.array(["1"] * 6), "P.data holds <U1 in shape (6,); expected real"),
    (sp.csc_array, "data", np.ones(6, object), "P.data holds object in shape (6,); expected real"),
    (sp.csr_array, "data", None, "P.data holds object in shape (); expected real numbers in"),
    (sp.bsr_array, "data", np.ones((1, 2, 2)), "P.indices holds int32 in shape (2,)"),
    (sp.dia_array, "offsets", [10**7] * 5, "P.offsets[0] is 10000000; expected one of -3..1"),
    (sp.dia_array, "data", np.ones((50, 9)), "P.offsets holds int32 in shape (5,); expected whole"),
    (sp.dia_array, "data", np.ones(5), "P.data holds float64 in shape (5,); expected real numbers"),
    (sp.coo_array, "coords", ([0, 0, 1, 2, 3, 99], [0, 1, 0, 1, 0, 1]), "P.row[5] is 99; expected"),
    (sp.coo_array, "coords", ([0, 0, 1, 2, 3, 3], [0, 1, 0, 1, 0, -1]), "P.col[5] is -1; expected"),
    (sp.coo_array, "coords", ([0, 0], [0, 1]), "P.row holds int64 in shape (2,); expected whole"),
    (sp.lil_array, "rows", [[0], [0], [1], [0, 1]], "P.rows and P.data differ in their lengths"),
    (sp.lil_array, "rows", [[0, 1, 1], [0], [1], [0, 1]], "P.rows and P.data differ in their len"),
    (sp.lil_array, "rows", [[0, -1], [0], [1], [0, 1]], "negative axis 1 index: -1"),
    (sp.lil_array, "rows", None, "'NoneType' object is not iterable"),
]


def as_part(name, value):
    if name == "rows" and value is not None:
        part = np.empty(4, object)
        part[:] = value
        return part
    if name == "coords":
        return tuple(map(np.array, value))
    return value if value is None else np.array(value)


@pytest.mark.parametrize(("kind", "name", "value", "message"), BAD_INDICES)
def test_what_does_not_fit_together_is_refused(kind, name, value, message):
    bad = changed(kind, **{name: as_part(name, value)})
    said = "^" + re.escape(f"P cannot be read as a sparse matrix ({message}")
    with pytest.raises(ValueError, match=said):
        st.SafeMDP(bad, **REST)
    one_of_three = "^" + re.escape("P[1] cannot be read as a sparse matrix (")
    with pytest.raises(ValueError, match=one_of_three):
        st.SafeMDP([sp.csr_array(P), bad, sp.csr_array(P)], **REST)


@each("kind", KINDS)
def test_complex_numbers_are_refused_in_every_format(kind):
    with pytest.raises(ValueError, match=r"P\.data holds complex128"):
        st.SafeMDP(kind(P + 0j), **REST)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (sp.coo_array(np.array([1.0, 0, 0])), "P is sparse with shape (3,); expected (S*A, S)"),
        (sp.csr_array(np.array([1.0, 0, 0])), "P is sparse with shape (3,); expected (S*A, S)"),
        (sp.coo_array(P.reshape(2, 2, 2)), "P is sparse with shape (2, 2, 2); expected (S*A, S)"),
        (sp.csr_array((0, 2)), "P is sparse with shape (0, 2); expected (S*A, S)"),
        (sp.csr_array((0, 0)), "P is sparse with shape (0, 0); expected (S*A, S)"),
        (sp.csr_array(P * [[1], [1], [1], [0]]), "P[1, 1] sums to 0; each row must sum to 1"),
        (sp.csr_array(P * [[1], [-1], [1], [1]]), "P[0, 1] gives state 0 probability -1.0; prob"),
        (sp.csr_array(P * [[1], [np.nan], [1], [1]]), "P[0, 1] gives state 0 probability nan; "),
        ([sp.csr_array(P), P, sp.csr_array(P)], "P[1] is array([[0.5 , 0.5 ], [1. , 0. ], [0. , "),
        ([sp.csr_array(P), sp.csr_array(np.ones(2)), sp.csr_array(P)], "P[1] has shape (2,), but "),
        ((), "P has shape (0,); expected (S, A, S)"),
    ],
)
def test_shapes_and_rows_are_checked_as_of_dense_p(matrix, message):
    with pytest.raises(ValueError, match="^" + re.escape(message)):
        st.SafeMDP(matrix, **REST)


class Pretender:
    """It says that it is sparse."""

    shape = (4, 2)

    def tocsr(self):
        raise RuntimeError("it was a lie")

    tocoo = tocsr


def test_an_object_that_only_says_that_it_is_sparse_is_refused():
    with pytest.raises(ValueError, match=re.escape("P cannot be read as a sparse matrix (it was")):
        st.SafeMDP(Pretender(), **REST)
    shapeless = type("Shapeless", (), {"tocsr": Pretender.tocsr})
    with pytest.raises(ValueError, match=re.escape("P is sparse with shape None; expected (S*A")):
        st.SafeMDP(shapeless(), **REST)


@settings(deadline=None, max_examples=many(105, 300))
@given(
    kind=some.sampled_from([sp.csr_array, sp.csc_array]),
    name=some.sampled_from(["indices", "indptr"]),
    change=arrays(np.int64, 6, elements=some.one_of(
        some.integers(-3, 8), some.sampled_from([5 * 10**7, -(2**40), 2**62]))),
)  # fmt: skip
def test_no_index_is_followed_that_leads_out_of_the_matrix(kind, name, change):
    """Either it is refused, or what scipy's dense form says is what the world says."""
    matrix = kind(P)
    setattr(matrix, name, change[: len(getattr(matrix, name))])
    with suppress(ValueError):
        world = st.SafeMDP(matrix, **REST)
        assert (world.P[0].reshape(4, 2) == matrix.toarray()).all()


def test_a_bad_index_does_not_end_the_process():
    """In a process of its own, with memory that is overwritten when it is freed."""
    code = """
import numpy as np, scipy.sparse as sp, safeteach as st
for value in (-1, 50_000_000):
    for kind in (sp.csr_array, sp.csc_array, sp.bsr_array):
        P = kind(np.eye(3))
        P.indices = P.indices.copy()
        P.indices[1] = value
        try:
            st.SafeMDP(P, np.zeros((3, 1)), np.zeros(3), 0.5, 2)
        except ValueError as error:
            print(error)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.returncode == 0 and run.stdout.count("P.indices[1] is ") == 6, run.stderr


# games -------------------------------------------------------------------------------------------


@each("kind", KINDS)
@pytest.mark.parametrize("stationary", [True, False])
def test_a_sparse_game_is_the_dense_one(kind, stationary):
    game = st.instances.random_game(4, 3, 2, 3, seed=1, stationary=stationary)
    steps = [kind(step.reshape(24, 4)) for step in game.P]
    for r in (game.r, game.r[0]):
        sparse = st.SafeGame(steps[0] if stationary else steps, r, game.c, game.tau, game.H)
        dense = st.SafeGame(game.P[0] if stationary else game.P, r, game.c, game.tau, game.H)
        assert sparse == dense and (sparse.S, sparse.A, sparse.B) == (4, 3, 2)
        assert (st.potentially_unsafe(sparse) == st.potentially_unsafe(game)).all()


def test_the_rewards_say_what_a_and_b_are():
    game = st.instances.random_game(4, 3, 2, 3, seed=1)
    P = sp.csr_array(game.P[0].reshape(24, 4))
    other = st.SafeGame(P, game.r[0].reshape(4, 2, 3), game.c, game.tau, game.H)
    assert (other.A, other.B) == (2, 3)
    for i, (s, a, b) in enumerate(np.ndindex(4, 2, 3)):
        assert other.successors(1, s, a, b).tolist() == P[[i]].nonzero()[1].tolist()


@pytest.mark.parametrize("shape", [(4, 3), (4, 3, 3), (3, 4, 2), (2, 3, 4, 3, 2), (4, 6, 0), ()])
def test_rewards_that_do_not_fit_to_a_sparse_game_are_refused(shape):
    P = sp.csr_array(np.ones((24, 4)) / 4)
    said = f"P is sparse with shape (24, 4), and r has shape {shape}; expected (S*A*B, S) of P and "
    with pytest.raises(ValueError, match="^" + re.escape(said)):
        st.SafeGame(P, np.zeros(shape), np.zeros(4), 0.5, H=3)


def test_a_sparse_game_is_checked_as_a_dense_one():
    bad = np.ones((24, 4)) / 4
    bad[17, 2] = 0
    with pytest.raises(ValueError, match=re.escape("P[2, 2, 1] sums to 0.75; each row must")):
        st.SafeGame(sp.csr_array(bad), np.zeros((4, 3, 2)), np.zeros(4), 0.5, H=3)
    with pytest.raises(ValueError, match=re.escape("P is sparse with shape (23, 4); expected (S*")):
        st.SafeGame(sp.csr_array(bad[1:]), np.zeros((4, 3, 2)), np.zeros(4), 0.5, H=3)
    with pytest.raises(ValueError, match=re.escape("r has shape (2, 4, 3, 2); expected (S, A, B)")):
        st.SafeGame(sp.csr_array(bad * 0 + 0.25), np.zeros((2, 4, 3, 2)), [0] * 4, 0.5, H=3)
