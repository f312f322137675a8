"""SafeGame: its forms agree, it is frozen, its questions are answered, bad input is named."""

import re
import subprocess
import sys

import numpy as np
import pytest

import safeteach as st

# (S, A, B, S) = (2, 3, 2, 2)
P = np.array(
    [
        [[[0.5, 0.5], [1, 0]], [[1, 0], [0, 1]], [[0.25, 0.75], [0, 1]]],
        [[[0, 1], [0, 1]], [[1, 0], [1, 0]], [[0.5, 0.5], [0, 1]]],
    ],
    float,
)
R = np.arange(12).reshape(2, 3, 2) / 11
GOOD = {"P": P, "r": R, "c": [0.0, 1.0], "tau": 0.5, "H": 3}


def changed(table, index, value):
    table = np.array(table, float)
    table[index] = value
    return table


def test_a_game_is_what_it_was_told():
    game = st.SafeGame(**GOOD, s1=1)
    assert (game.S, game.A, game.B, game.H, game.s1, game.tau) == (2, 3, 2, 3, 1, 0.5)
    assert game.stationary and game.P.shape == (3, 2, 3, 2, 2) and (game.P == P).all()
    assert game.r.shape == (3, 2, 3, 2) and (game.r == R).all()
    assert game.unsafe.tolist() == [False, True] and game.violation.tolist() == [0, 0.5]
    assert (game.support() == (game.P > 0)).all()
    assert repr(game) == "SafeGame(S=2, A=3, B=2, H=3, tau=0.5, s1=1, 1 unsafe state, stationary)"
    edge = st.SafeGame(**{**GOOD, "c": [0.5, 0.6]})
    assert edge.unsafe.tolist() == [False, True]  # at the threshold is safe


def test_a_stationary_game_is_a_step_dependent_one_that_repeats():
    one = st.instances.random_game(6, 3, 2, 5, seed=0)
    many = st.SafeGame(one.P, one.r, one.c, one.tau, one.H)
    assert one.stationary and not many.stationary and repr(many).endswith("step-dependent)")
    assert (one.P == many.P).all()
    assert (st.potentially_unsafe(one) == st.potentially_unsafe(many)).all()
    assert (st.optimal(one).Q == st.optimal(many).Q).all()


@pytest.mark.parametrize("stationary", [True, False])
def test_rows_successors_and_tables_say_the_same(stationary):
    game = st.instances.random_game(5, 3, 2, 4, seed=2, stationary=stationary)
    steps = [game.rows(h) for h in range(1, 5)]
    P, (span, successor, probability) = game.P, game.all_rows()
    assert len(span) == (1 if stationary else 4) * 30
    for h, s, a, b in np.ndindex(4, 5, 3, 2):
        row = P[h, s, a, b]
        found = game.successors(h + 1, s, a, b)
        assert found.tolist() == np.flatnonzero(row).tolist()
        i = (s * 3 + a) * 2 + b
        assert steps[h].successors[steps[h].indptr[i] : steps[h].indptr[i + 1]].tolist() == [*found]
        i += 0 if stationary else 30 * h
        place = slice(*span[i])
        assert successor[place].tolist() == found.tolist()
        assert probability[place].tolist() == row[found].tolist()
    V = np.random.default_rng(0).random(5)
    for h in range(4):
        assert np.allclose(steps[h].expect(V).reshape(5, 3, 2), game.P[h] @ V, rtol=0, atol=1e-15)


def test_a_game_is_copied_and_frozen():
    table, r, c = P.copy(), R.copy(), np.array([0.0, 1.0])
    game = st.SafeGame(table, r, c, 0.5, H=3)
    table[:], r[:], c[:] = 9, 9, 9
    assert (game.P[0] == P).all() and (game.r == R).all() and game.c.tolist() == [0, 1]
    for array in (game.P, game.support(), game.r, game.c, game.unsafe, game.known.r):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_names_are_what_messages_use():
    plain = st.SafeGame(**GOOD)
    assert (plain.state_name(1), plain.action_name(2), plain.reply_name(1)) == ("1", "2", "1")
    named = st.SafeGame(
        **GOOD, state_names=["dry", "wet"], action_names=["x", "y", "z"], reply_names=["n", "s"]
    )
    assert (named.state_name(1), named.action_name(2), named.reply_name(1)) == ("wet", "z", "s")


def test_known_tells_neither_transitions_nor_costs():
    known = st.SafeGame(**GOOD, s1=1).known
    assert sorted(vars(known)) == ["A", "H", "S", "r", "s1", "tau"] and known.B == 2
    assert (known.S, known.A, known.B, known.H, known.tau, known.s1) == (2, 3, 2, 3, 0.5, 1)
    assert known.r.shape == (3, 2, 3, 2)


@pytest.mark.parametrize(
    ("argument", "value", "message"),
    [
        ("P", changed(P, (1, 0, 1, 1), 0.9), "P[1, 0, 1] sums to 0.9; each row must sum to 1"),
        ("P", changed(P, (0, 2, 1), 0), "P[0, 2, 1] sums to 0; each row must sum to 1"),
        ("P", np.stack([P, P, changed(P, (0, 1, 1, 0), 0.1)]), "P[2, 0, 1, 1] sums to 1.1; each"),
        ("P", changed(P, (0, 1, 0), [1.5, -0.5]),
         "P[0, 1, 0] gives state 1 probability -0.5; probabilities must be finite and nonneg"),
        ("P", changed(P, (0, 1, 0, 0), np.nan), "P[0, 1, 0] gives state 0 probability nan; prob"),
        ("P", changed(P, (0, 1, 0, 0), np.inf), "P[0, 1, 0] gives state 0 probability inf; prob"),
        ("P", P[:, :, 0], "P has shape (2, 3, 2); expected (S, A, B, S) or (H, S, A, B, S)"),
        ("P", P[0], "P has shape (3, 2, 2); expected (S, A, B, S) or (H, S, A, B, S)"),
        ("P", np.ones((2, 3, 2, 4)) / 4, "P has shape (2, 3, 2, 4); expected (S, A, B, S)"),
        ("P", np.stack([P, P]), "P has shape (2, 2, 3, 2, 2); its first axis must be H = 3"),
        ("P", np.zeros((2, 0, 2, 2)), "P has shape (2, 0, 2, 2); expected (S, A, B, S)"),
        ("P", np.zeros((2, 3, 0, 2)), "P has shape (2, 3, 0, 2); expected (S, A, B, S)"),
        ("P", [[[[1]], [[1, 2]]]], "P is not a rectangular array of numbers"),
        ("r", R[:, :, 0], "r has shape (2, 3); expected (S, A, B) = (2, 3, 2) or (H, S, A, B) = "
                          "(3, 2, 3, 2)"),
        ("r", R[0], "r has shape (3, 2); expected (S, A, B) = (2, 3, 2)"),
        ("r", changed(R, (1, 0, 1), 1.2), "r[1, 0, 1] is 1.2; it must lie in [0, 1]"),
        ("r", changed(R, (1, 0, 1), -0.1), "r[1, 0, 1] is -0.1; it must lie in [0, 1]"),
        ("r", changed(R, (1, 2, 1), np.nan), "r[1, 2, 1] is nan; it must lie in [0, 1]"),
        ("r", [[["a"]]], "r is not a rectangular array of numbers"),
        ("c", [0.0], "c has shape (1,); expected (S,) = (2,)"),
        ("c", [0.0, 1.1], "c[1] is 1.1; it must lie in [0, 1]"),
        ("tau", -0.1, "tau is -0.1; the threshold must lie in [0, 1]"),
        ("tau", np.nan, "tau is nan; the threshold must lie in [0, 1]"),
        ("H", 0, "H is 0; it must be at least 1"),
        ("s1", 2, "s1 is 2; the states are 0..1"),
        ("s1", -1, "s1 is -1; the states are 0.."),
        ("state_names", ["a"], "state_names has 1 names; expected 2"),
        ("action_names", ["a", "b"], "action_names has 2 names; expected 3"),
        ("reply_names", ["a", "b", "c"], "reply_names has 3 names; expected 2"),
    ],
)  # fmt: skip
def test_bad_input_is_named(argument, value, message):
    with pytest.raises(ValueError, match="^" + re.escape(message)):
        st.SafeGame(**{**GOOD, argument: value})


@pytest.mark.parametrize("value", [2.5, "3", None, True])
def test_a_horizon_is_a_whole_number(value):
    with pytest.raises(TypeError, match=re.escape(f"H is {value!r}; expected a whole number")):
        st.SafeGame(**{**GOOD, "H": value})


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda g: g.rows(0), "h is 0; the steps are 1..3"),
        (lambda g: g.successors(4, 0, 0, 0), "h is 4; the steps are 1..3"),
        (lambda g: g.successors(1, 2, 0, 0), "s is 2; the states are 0..1"),
        (lambda g: g.successors(1, -1, 0, 0), "s is -1; the states are 0..1"),
        (lambda g: g.successors(1, 0, 3, 0), "a is 3; the actions are 0..2"),
        (lambda g: g.successors(1, 0, -1, 0), "a is -1; the actions are 0..2"),
        (lambda g: g.successors(1, 0, 0, 2), "b is 2; the replies are 0..1"),
        (lambda g: g.successors(1, 0, 0, -1), "b is -1; the replies are 0..1"),
    ],
)
def test_bad_questions_are_named(call, message):
    with pytest.raises(ValueError, match="^" + re.escape(message)):
        call(st.SafeGame(**GOOD))


def test_strategies_are_probabilities_or_actions():
    game = st.SafeGame(**GOOD)
    actions = np.array([[0, 2], [1, 1], [2, 0]])
    mu = game.check_mu(actions)
    assert mu.shape == (3, 2, 3) and mu.dtype == float
    assert (mu.sum(axis=2) == 1).all() and (mu.argmax(axis=2) == actions).all()
    assert (game.check_mu(actions.tolist()) == mu).all()
    assert (game.check_mu(mu.astype(int)) == mu).all()
    mixed = np.full((3, 2, 3), 1 / 3)
    assert (game.check_mu(mixed) == mixed).all()
    nu = game.check_nu(actions % 2)
    assert nu.shape == (3, 2, 2) and (nu.argmax(axis=2) == actions % 2).all()
    almost = np.full((3, 2, 2), 0.5 + 4e-9)
    assert (game.check_nu(almost) == almost).all()  # nothing is normalised


MIXED = np.full((3, 2, 3), 1 / 3)
GUST = np.full((3, 2, 2), 0.5)


@pytest.mark.parametrize(
    ("side", "strategy", "message"),
    [
        ("mu", np.full((3, 2), 3), "mu[0, 0] is 3; the actions are 0..2"),
        ("mu", [[0, 0], [0, -1], [0, 0]], "mu[1, 1] is -1; the actions are 0..2"),
        ("nu", np.full((3, 2), 2), "nu[0, 0] is 2; the actions are 0..1"),
        ("mu", np.zeros((2, 2), int), "mu has shape (2, 2); expected (H, S) = "
                                      "(3, 2) actions or (H, S, A) = (3, 2, 3) probabilities"),
        ("mu", np.zeros((3, 2)), "mu holds float64; actions are whole numbers"),
        ("mu", np.zeros((3, 2), bool), "mu holds bool; actions are whole numbers"),
        ("mu", GUST, "mu has shape (3, 2, 2); expected (H, S) = (3, 2) actions"),
        ("nu", MIXED, "nu has shape (3, 2, 3); expected (H, S) = (3, 2) actions "
                      "or (H, S, B) = (3, 2, 2) probabilities"),
        ("mu", changed(MIXED, (2, 1, 0), 0.4), "mu[2, 1] is [0.4        0.33333333 0.33333333]; "
                                               "probabilities of actions must be nonnegative and"),
        ("nu", changed(GUST, (1, 0), [1.5, -0.5]), "nu[1, 0] is [ 1.5 -0.5]; probabilities of"),
        ("nu", changed(GUST, (1, 0), [np.nan, 1]), "nu[1, 0] is [nan  1.]; probabilities of"),
        ("nu", changed(GUST, (0, 1), [np.inf, 0]), "nu[0, 1] is [inf  0.]; probabilities of"),
        ("nu", changed(GUST, (0, 1), 0.5 + 1e-8), "nu[0, 1] is [0.50000001 0.50000001]; prob"),
    ],
)  # fmt: skip
def test_bad_strategies_are_named(side, strategy, message):
    game = st.SafeGame(**GOOD)
    check = game.check_mu if side == "mu" else game.check_nu
    with pytest.raises(ValueError, match="^" + re.escape(message)):
        check(strategy)


def test_a_game_and_its_dangers_need_numpy_alone():
    code = """
import sys, safeteach as st
game = st.instances.quay(seaward=True)
assert st.is_feasible(game) and st.safe_actions(game)[0, 0].tolist() == [False, True]
assert st.best_response(game, mu=[[1] * 5] * 6).value == 0
print(*{name.split(".")[0] for name in sys.modules})
"""
    run = [sys.executable, "-W", "error", "-c", code]
    loaded = subprocess.run(run, capture_output=True, text=True, check=True).stdout.split()
    assert "safeteach" in loaded and not {"quantecon", "numba", "scipy"} & {*loaded}
