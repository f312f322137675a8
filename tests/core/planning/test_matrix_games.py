"""Matrix games against scipy's linear program, nashpy and closed forms, and what ties do."""

import re

import numpy as np
import pytest
from looping import each
from oracles.brute_force_games import gap
from oracles.linear_programs import lp_value
from scipy.stats import chisquare

import safeteach as st
from safeteach.planning.matrix_games import _solve, solve_games

SPREAD = range(-9, 10)  # powers of ten


def draw(kind, rng):
    """One random matrix of a kind, of up to 7 rows and columns and now and then of up to 25."""
    m, n = rng.integers(1, 8, 2) if rng.random() < 0.95 else rng.integers(8, 26, 2)
    M = rng.random((m, n))
    if kind == "integers":
        return rng.integers(0, rng.integers(2, 5), (m, n)).astype(float)
    if kind == "one row":
        return M[:1]
    if kind == "one column":
        return M[:, :1]
    if kind == "constant":
        return np.full((m, n), rng.normal())
    if kind == "duplicated":
        return M[rng.integers(m, size=m)][:, rng.integers(n, size=n)]
    if kind == "almost duplicated":
        return draw("duplicated", rng) + 1e-12 * rng.random()
    if kind == "badly scaled rows":
        return M * 10.0 ** rng.choice(SPREAD, (m, 1))
    if kind == "badly scaled columns":
        return M * 10.0 ** rng.choice(SPREAD, (1, n))
    if kind == "badly scaled entries":
        return M * 10.0 ** rng.choice(SPREAD, (m, n))
    if kind == "almost constant":
        return 1 + M * 10.0 ** rng.integers(-14, -4)
    if kind == "capped":
        return np.minimum(8 * M + 3, 8.0)
    if kind == "skew":  # of value 0
        A = rng.integers(-3, 4, (m, m)).astype(float)
        return A - A.T
    if kind == "huge":
        return (2 * M - 1) * 1.7e308
    if kind == "tiny":
        return M * 1e-290
    assert kind == "uniform"
    return M


KINDS = (
    "uniform", "integers", "one row", "one column", "constant", "duplicated", "almost duplicated",
    "badly scaled rows", "badly scaled columns", "badly scaled entries", "almost constant",
    "capped", "skew", "huge", "tiny",
)  # fmt: skip


def check_solution(M, game):
    """Both sides play probabilities, neither can gain, and the value is between the two."""
    for strategy in (game.row, game.column):
        assert (strategy >= 0).all() and abs(strategy.sum() - 1) < 1e-12
    assert gap(M, game.row, game.column) < 1.01e-10
    shifted = M / 2 - M.min() / 2
    scale = shifted.max() or 1.0
    rounding = 4 * np.finfo(float).eps * np.abs(M).max() / scale
    value = (game.value / 2 - M.min() / 2) / scale
    assert (game.row @ (shifted / scale)).min() - 1e-10 - rounding < value
    assert value < (shifted / scale @ game.column).max() + 1e-10 + rounding


def compare(kind, seed, count, peers):
    rng = np.random.default_rng([KINDS.index(kind), seed])
    for i in range(count):
        M = draw(kind, rng)
        game = st.game_value(M)
        check_solution(M, game)
        pure = M.min(axis=1).max(), M.max(axis=0).min()
        slack = 1e-10 * (M.max() / 2 - M.min() / 2) + np.finfo(float).eps * np.abs(M).max()
        assert pure[0] - slack <= game.value <= pure[1] + slack
        if i < peers:
            fair = M / 1e300 if kind == "huge" else M
            width = fair.max() - fair.min() or 1.0
            found = game.value / (1e300 if kind == "huge" else 1)
            rounding = 4 * np.finfo(float).eps * np.abs(fair).max()
            assert abs(found - lp_value(fair)) < 2e-9 * width + rounding, M


@pytest.mark.parametrize("kind", KINDS)
def test_values_are_scipys_and_nobody_can_gain(kind):
    compare(kind, seed=0, count=80, peers=5)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_thousands_of_values_are_scipys_and_nobody_can_gain(kind):
    compare(kind, seed=1, count=1000, peers=100)


@pytest.mark.slow
def test_values_are_nashpys():
    import nashpy

    rng = np.random.default_rng(3)
    for i in range(300):
        M = draw(("uniform", "capped", "integers")[i % 3], rng)[:5, :5]
        row, column = nashpy.Game(M).linear_program()
        assert abs(row @ M @ column - st.game_value(M).value) < 1e-8


@each("seed", range(200))
def test_two_by_two_games_have_a_formula(seed):
    a, b, c, d = M = np.random.default_rng(seed).random(4)
    M = M.reshape(2, 2)
    game = st.game_value(M)
    low, high = M.min(axis=1).max(), M.max(axis=0).min()
    if low == high:
        assert game.value == low and {*game.row, *game.column} == {0.0, 1.0}
    else:
        total = a + d - b - c
        assert abs(game.value - (a * d - b * c) / total) < 1e-12
        assert np.allclose(game.row, [(d - c) / total, (a - b) / total], rtol=0, atol=1e-9)
        assert np.allclose(game.column, [(d - b) / total, (a - c) / total], rtol=0, atol=1e-9)


def test_a_saddle_point_is_found_as_it_is():
    M = [[0.3, 0.2, 0.9], [0.1, 0.0, 0.8]]
    game = st.game_value(M)
    assert (game.value, game.row.tolist(), game.column.tolist()) == (0.2, [1, 0], [0, 1, 0])


def test_rock_paper_scissors():
    game = st.game_value([[0, -1, 1], [1, 0, -1], [-1, 1, 0]])
    assert abs(game.value) < 1e-15
    assert np.allclose([game.row, game.column], 1 / 3, rtol=0, atol=1e-12)


@pytest.mark.parametrize("size", [1e308, 1.797e308, 1e-300, 1e-320, 1e-323, 5e-324])
@pytest.mark.parametrize("sign", [1, -1])
def test_the_largest_and_smallest_numbers_are_no_trouble(size, sign):
    for other in (0.0, -size):
        M = np.array([[size, other], [other, size]])
        game = st.game_value(sign * M)
        assert min(game.row.min(), game.column.min()) >= 0
        assert game.row.sum() == game.column.sum() == 1
        middle = size / 2 + other / 2
        assert abs(game.value - sign * middle) <= max(1e-12 * size, 1e-323)
        if size > 1e-322:
            assert np.allclose([game.row, game.column], 0.5, rtol=0, atol=1e-3)


@pytest.mark.parametrize(
    ("factor", "shift"), [(3.0, 0.0), (0.125, -7.0), (1e12, 0.0), (1e-12, 0.0)]
)
def test_another_unit_of_payment_changes_nothing_else(factor, shift):
    rng = np.random.default_rng(5)
    for _ in range(50):
        M = rng.random((4, 5))
        one, other = st.game_value(M), st.game_value(factor * M + shift)
        assert abs(factor * one.value + shift - other.value) < 1e-11 * factor + 1e-14
        swapped = st.game_value(-M.T)
        assert abs(swapped.value + one.value) < 1e-12


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([], "matrix has shape (0,); expected m rows and n columns, at least one"),
        ([[]], "matrix has shape (1, 0); expected m rows and n columns, at least one"),
        ([1, 2], "matrix has shape (2,); expected m rows and n columns"),
        (3.0, "matrix has shape (); expected m rows and n columns"),
        (np.zeros((2, 2, 2)), "matrix has shape (2, 2, 2); expected m rows and n columns"),
        ([[1, 2], [3]], "matrix is not a rectangular array of numbers ("),
        ([["left"]], "matrix is not a rectangular array of numbers (it holds <U4, not real"),
        ([["1"]], "matrix is not a rectangular array of numbers (it holds <U1, not real"),
        ([[1j]], "matrix is not a rectangular array of numbers (it holds complex128, not"),
        ([[1, 2], [np.nan, 0]], "matrix[1, 0] is nan; payoffs must be finite: leave a forbidden"),
        ([[1, np.inf]], "matrix[0, 1] is inf; payoffs must be finite"),
        ([[1, 2], [-np.inf, 0]], "matrix[1, 0] is -inf; payoffs must be finite: leave a forbidden"),
    ],
)
def test_bad_input_is_named(matrix, message):
    with pytest.raises((TypeError, ValueError), match="^" + re.escape(message)):
        st.game_value(matrix)


def test_a_matrix_is_not_changed():
    M = np.array([[3.0, 1.0], [0.0, 2.0]])
    st.game_value(M)
    assert M.tolist() == [[3, 1], [0, 2]]
    assert st.game_value(np.array([[3, 1], [0, 2]])).value == 1.5  # whole numbers will do
    assert st.game_value(np.asfortranarray(M)).value == 1.5


@pytest.mark.slow
def test_compiled_and_plain_kernels_give_the_same_bits():
    rng = np.random.default_rng(8)
    for kind in KINDS:
        M = draw(kind, rng)
        found = []
        for solve in (_solve, _solve.py_func):
            row, column = np.empty(len(M)), np.empty(M.shape[1])
            value = float(solve(M, row, column))
            found.append((value.hex(), row.tobytes(), column.tobytes()))
        assert found[0] == found[1], kind


def solve_step(Q, todo, allowed, ties):
    S, A, B = Q.shape
    V, mu, nu = np.full(S, 77.0), np.full((S, A), 77.0), np.full((S, B), 77.0)
    solve_games(Q, todo, allowed, ties, V, mu, nu)
    return V, mu, nu


def test_a_step_is_one_game_for_each_state_without_the_banned_rows():
    rng = np.random.default_rng(4)
    for _ in range(100):
        S, A, B = 6, *rng.integers(1, 5, 2)
        Q = rng.integers(0, 9, (S, A, B)) / 2 if rng.random() < 0.5 else 3 * rng.random((S, A, B))
        allowed = rng.random((S, A)) < 0.6
        allowed[~allowed.any(axis=1), rng.integers(A)] = True
        todo = rng.random(S) < 0.7
        before = Q.copy()
        V, mu, nu = solve_step(Q, todo, allowed, rng.random((S, A + B)))
        assert (before == Q).all()
        for s in range(S):
            if not todo[s]:
                assert V[s] == 77 and (mu[s] == 77).all() and (nu[s] == 77).all()
                continue
            M = Q[s][allowed[s]]
            assert (mu[s][~allowed[s]] == 0).all()
            check_solution(M, st.MatrixGame(V[s], mu[s][allowed[s]], nu[s]))
            assert abs(V[s] - st.game_value(M).value) < 1e-12


def test_a_state_that_need_not_be_solved_may_have_no_row():
    Q = np.ones((2, 2, 2))
    allowed = np.array([[True, True], [False, False]])
    V, mu, nu = solve_step(Q, np.array([True, False]), allowed, np.zeros((2, 4)))
    assert V.tolist() == [1, 77] and (mu[1] == 77).all() and (nu[1] == 77).all()


def test_among_tied_rows_and_columns_each_is_as_likely_as_the_others():
    rng, n = np.random.default_rng(6), 6000
    # Rows 0, 2 and 4 are best, but 2 is banned; columns 0, 1 and 2 hold them to 1.
    Q = np.array([[1, 1, 1, 2], [0, 0, 0, 0], [1, 1, 1, 2], [1, 0, 1, 1], [1, 1, 1, 2]], float)
    allowed = np.array([True, True, False, True, True])
    V, mu, nu = solve_step(
        np.tile(Q, (n, 1, 1)), np.ones(n, bool), np.tile(allowed, (n, 1)), rng.random((n, 9))
    )
    assert (V == 1).all()
    assert {*mu.ravel(), *nu.ravel()} == {0.0, 1.0}
    rows, columns = mu.sum(axis=0), nu.sum(axis=0)
    assert rows[[1, 2, 3]].tolist() == [0, 0, 0] and columns[3] == 0
    assert chisquare(rows[[0, 4]]).pvalue > 1e-4
    assert chisquare(columns[:3]).pvalue > 1e-4
    joint = mu[:, [0, 4]].T @ nu[:, :3]
    assert chisquare(joint.ravel()).pvalue > 1e-4  # the two sides do not toss the same coin


def test_ties_in_order_go_to_the_first_row_and_column():
    Q = np.ones((1, 3, 4))
    ties = np.arange(7.0)[None]
    _, mu, nu = solve_step(Q, np.ones(1, bool), np.array([[False, True, True]]), ties)
    assert (mu[0].tolist(), nu[0].tolist()) == ([0, 1, 0], [1, 0, 0, 0])
    _, mu, nu = solve_step(Q, np.ones(1, bool), np.ones((1, 3), bool), -ties)
    assert (mu[0].tolist(), nu[0].tolist()) == ([0, 0, 1], [0, 0, 0, 1])
