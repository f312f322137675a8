"""The games of the book: their rules, written down a second time, and their values."""

import itertools
import re
from math import comb

import numpy as np
import pytest
from oracles.linear_programs import lp_value

import safeteach as st

STEPS = {"stay": 0, "up": -1j, "down": 1j, "left": -1, "right": 1}  # columns are real, rows not


def simulate(text, me, rival, my_step, push):
    """One step of the pursuit as its documentation tells it; None is the water."""
    what = {
        x + 1j * y: letter for y, row in enumerate(text.split("\n")) for x, letter in enumerate(row)
    }

    def stands(place):
        return place in what and what[place] != "#"

    if stands(me + STEPS[my_step]) and me + STEPS[my_step] != rival:
        me += STEPS[my_step]
    if what[me] == "X":
        return None
    goal = rival + STEPS[push]
    if goal == me and push != "stay":
        beyond = me + STEPS[push]
        if not stands(beyond):
            return me, rival  # the agent leans on something
        return None if what[beyond] == "X" else (beyond, goal)
    if stands(goal) and what[goal] != "X":
        rival = goal
    return me, rival


MAPS = (".$A.\nXXR$", "AR", "A.X\n.#R\n$..", "XAX\n.R.\nX$X", "A#R", "$A.R$")


@pytest.mark.parametrize("text", MAPS)
def test_a_pursuit_follows_its_rules(text):
    game = st.instances.pursuit(text, H=3)
    places = [complex(x, y) for y, row in enumerate(text.split("\n")) for x, letter in
              enumerate(row) if letter not in "X#"]  # fmt: skip
    states = [pair for pair in itertools.product(places, repeat=2) if pair[0] != pair[1]]
    assert len(states) == game.S - 1 and game.A == game.B == 5
    water = game.S - 1
    named = {}
    for s in range(water):
        (i, j), (k, m) = game.positions[s]
        named[complex(j, i), complex(m, k)] = s
        assert game.state_name(s) == f"{'abcde'[j]}{i + 1} {'abcde'[m]}{k + 1}"
    assert named.keys() == {*states} and game.state_name(water) == "water"
    letters = {p: text.split("\n")[int(p.imag)][int(p.real)] for p in places}
    for (me, rival), s in named.items():
        assert (game.r[:, s] == (letters[me] == "$")).all()
        for (a, step), (b, push) in itertools.product(enumerate(STEPS), repeat=2):
            after = simulate(text, me, rival, step, push)
            t = water if after is None else named[after]
            assert game.successors(1, s, a, b).tolist() == [t], (me, rival, step, push)
    start = next(p for p in places if letters[p] == "A"), next(p for p in places
                                                              if letters[p] == "R")  # fmt: skip
    assert game.s1 == named[start]
    assert (game.P[0, water, :, :, game.s1] == 1).all() and (game.r[:, water] == 0).all()
    assert game.unsafe.tolist() == [False] * water + [True] and game.violation[water] == 0.5
    assert [game.action_name(a) for a in range(5)] == [*STEPS]
    assert [game.reply_name(b) for b in range(5)] == [*STEPS]
    assert game.map == tuple(text.split("\n")) and game.H == 3


def backward(game, worth, allowed=None):
    V = np.zeros(game.S)
    for h in reversed(range(game.H)):
        Q = game.r[h] + game.P[h] @ V
        V = np.array([
            worth(Q[s] if allowed is None else Q[s][allowed[h, s]]) for s in range(game.S)
        ])  # fmt: skip
    return V[game.s1]


def pure(M):
    """What the agent gets who tells its row."""
    return M.min(axis=1).max()


def rows(game):
    return st.safe_actions(game) | st.potentially_unsafe(game)[:, :, None]


def test_the_values_of_pursuit():
    game = st.instances.pursuit()
    assert (game.S, game.H) == (31, 8) and st.is_feasible(game)
    assert round(st.safe_optimal(game).value, 3) == 2.814
    assert round(st.optimal(game).value, 3) == 3.770
    assert backward(game, pure, rows(game)) == 1.0
    assert (st.potentially_unsafe(game) == game.unsafe).all()  # on deck one can always hold on
    assert not st.safe_actions(game).all(axis=2)[:-1, :-1].all()
    free = st.optimal(game)
    assert st.evaluate(game, free.mu, free.nu).unsafe_probability > 0.5


@pytest.mark.slow
def test_the_values_of_pursuit_by_linear_programs():
    game = st.instances.pursuit()
    assert abs(backward(game, lp_value, rows(game)) - st.safe_optimal(game).value) < 1e-7
    assert abs(backward(game, lp_value) - st.optimal(game).value) < 1e-7


@pytest.mark.parametrize("H", [1, 2, 3, 5, 9])
def test_the_penny_bridge_has_closed_forms(H):
    game = st.instances.penny_bridge(H)
    # On the bank with n steps to go: w_1 = 0, w_n = (w_{n-1} + n - 1) / 2.
    assert abs(st.safe_optimal(game).value - (H - 2 + 2.0 ** (1 - H))) < 1e-12
    assert abs(st.optimal(game).value - (H - 1)) < 1e-12
    assert backward(game, pure, rows(game)) == 0
    plan = st.safe_optimal(game)
    if H > 1:
        assert np.allclose(plan.mu[0, 0], [0.5, 0.5, 0]) and np.allclose(plan.nu[0, 0], 0.5)
        assert st.safe_actions(game)[0, 0].tolist() == [True, True, False]
    told = np.zeros((H, 3), int)
    assert st.best_response(game, mu=told).value == 0


def test_the_penny_bridge_is_as_drawn():
    game = st.instances.penny_bridge()
    law = {
        (game.state_name(s), game.action_name(a), game.reply_name(b)): game.state_name(t)
        for s, a, b, t in np.argwhere(game.P[0] == 1)
    }
    assert len(law) == 18
    for a, b in itertools.product(("left", "right"), repeat=2):
        assert law["bank", a, f"guard {b}"] == ("bank" if a == b else "far")
    assert {law["bank", "ford", f"guard {b}"] for b in ("left", "right")} == {"water"}
    assert {t for (s, _, _), t in law.items() if s != "bank"} == {"far"}
    assert (game.r[0].max(axis=(1, 2)) == [0, 1, 1]).all() and (game.r[0, 1:] == 1).all()
    assert game.unsafe.tolist() == [False, False, True] and game.s1 == 0 and game.H == 5


@pytest.mark.parametrize("H", [1, 3, 4, 6, 10])
def test_the_quay_has_closed_forms(H):
    game, gusty = st.instances.quay(H=H), st.instances.quay(seaward=True, H=H)
    # Three walks that succeed, each every other time, before the step that begins in the light.
    expected = sum(comb(n, k) / 2**n for n in range(H) for k in range(3, n + 1))
    assert abs(st.safe_optimal(game).value - expected) < 1e-12
    assert st.safe_optimal(gusty).value == 0
    assert st.safe_actions(game)[:, :4].all() and (game.B, gusty.B) == (2, 3)
    if H > 1:
        assert st.safe_actions(gusty)[0, :4].tolist() == [[False, True]] * 4
    assert [gusty.reply_name(b) for b in range(3)] == ["calm", "headwind", "seaward"]
    assert [game.state_name(s) for s in range(5)] == ["hut", "1", "2", "lighthouse", "sea"]


def test_the_quay_is_as_drawn():
    game = st.instances.quay(seaward=True)
    walk, wait = 0, 1
    calm, headwind, seaward = range(3)
    for s in range(4):
        on = min(s + 1, 3)
        assert game.P[0, s, walk, calm, on] == 1
        assert (game.P[0, s, walk, headwind] == (np.eye(5)[s] + np.eye(5)[on]) / 2).all()
        assert game.P[0, s, walk, seaward, 4] == 1
        assert (game.P[0, s, wait, :, s] == 1).all()
    assert (game.P[0, 4, :, :, 0] == 1).all()
    assert (game.r[0] == np.eye(5)[3][:, None, None]).all()
    assert game.unsafe.tolist() == [False] * 4 + [True]


@pytest.mark.parametrize("stationary", [True, False])
def test_random_games_are_what_was_asked_for(stationary):
    how = {"S": 7, "A": 3, "B": 2, "H": 4, "successors": 3, "stationary": stationary}
    one, other, third = (st.instances.random_game(**how, seed=seed) for seed in (1, 1, 2))
    assert (one.S, one.A, one.B, one.H, one.s1, one.tau) == (7, 3, 2, 4, 0, 0.5)
    assert one.stationary == stationary
    assert (one.P == other.P).all() and (one.r == other.r).all() and (one.c == other.c).all()
    assert (one.P != third.P).any() and (one.r != third.r).any()
    counts = one.support().sum(axis=4)
    assert {*counts.ravel()} == {1, 2, 3}
    assert not st.instances.random_game(**how, seed=0, unsafe=0.0).unsafe.any()
    assert st.instances.random_game(**how, seed=0, unsafe=1.0).unsafe.all()
    feasible = [st.is_feasible(st.instances.random_game(**how, seed=s)) for s in range(60)]
    assert 5 < sum(feasible) < 60
    generator = np.random.default_rng(1)
    assert (st.instances.random_game(**how, seed=generator).P == one.P).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda i: i.pursuit("A.\nR"), "text has rows of different lengths; expected a map"),
        (lambda i: i.pursuit("AR\n"), "text has rows of different lengths; expected a map"),
        (lambda i: i.pursuit("A?R"), "text has '?'; expected the characters . $ X # A R"),
        (lambda i: i.pursuit("A R"), "text has ' '; expected the characters . $ X # A R"),
        (lambda i: i.pursuit("..R"), "text has 0 A; expected a map with exactly one"),
        (lambda i: i.pursuit("AAR"), "text has 2 A; expected a map with exactly one"),
        (lambda i: i.pursuit("A.."), "text has 0 R; expected a map with exactly one"),
        (lambda i: i.pursuit("ARR"), "text has 2 R; expected a map with exactly one"),
        (lambda i: i.pursuit(""), "text has 0 A; expected a map with exactly one"),
        (lambda i: i.pursuit(H=0), "H is 0; it must be at least 1"),
        (lambda i: i.penny_bridge(H=0), "H is 0; it must be at least 1"),
        (lambda i: i.quay(H=0), "H is 0; it must be at least 1"),
        (lambda i: i.random_game(0, 1, 1, 1, 0), "S is 0; it must be at least 1"),
        (lambda i: i.random_game(3, 0, 1, 1, 0), "A is 0; it must be at least 1"),
        (lambda i: i.random_game(3, 1, 0, 1, 0), "B is 0; it must be at least 1"),
        (lambda i: i.random_game(3, 1, 1, 0, 0), "H is 0; it must be at least 1"),
        (lambda i: i.random_game(3, 1, 1, 1, 0, successors=4),
         "successors is 4; there are only 3 states"),
        (lambda i: i.random_game(3, 1, 1, 1, 0, unsafe=1.5),
         "unsafe is 1.5; a probability in [0, 1] is expected"),
    ],
)  # fmt: skip
def test_bad_questions_are_named(call, message):
    with pytest.raises(ValueError, match="^" + re.escape(message)):
        call(st.instances)
