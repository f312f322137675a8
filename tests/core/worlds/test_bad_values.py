"""What is no number, no name, no policy or too large is refused, by the name of the argument."""

import copy
import os
import re

import numpy as np
import pytest
import scipy.sparse as sp
from looping import each

import safeteach as st
from safeteach import arguments
from safeteach.worlds import reading

P = np.array([[[0.5, 0.5], [1.0, 0.0]], [[0.0, 1.0], [0.25, 0.75]]])
GOOD = {"P": P, "r": np.ones((2, 2)), "c": [0.0, 1.0], "tau": 0.5, "H": 3}
GAME = {"P": P[:, :, None], "r": np.ones((2, 2, 1)), "c": [0.0, 1.0], "tau": 0.5, "H": 3}
MDP = st.SafeMDP(**GOOD, state_names=["dry", "wet"], action_names=["stay", "go"])
STAY = np.zeros((3, 2), int)


class Opaque:
    """Like a tensor on another machine: it has numbers and does not tell."""

    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("call .cpu() first")


class Unspeakable:
    def __repr__(self):
        raise RuntimeError("no")


def masked(values):
    return np.ma.array(values, mask=np.zeros(np.shape(values)))


ARRAYS = [
    (lambda x: x + 0j, "is not a rectangular array of numbers (it holds complex128, not real"),
    (lambda x: x.astype(str), "is not a rectangular array of numbers (it holds <U32, not real"),
    (lambda x: x.astype(bytes), "is not a rectangular array of numbers (it holds |S32, not real"),
    (lambda x: x.astype(object), "is not a rectangular array of numbers (it holds object, not"),
    (lambda x: x.astype("m8[s]"), "is not a rectangular array of numbers (it holds timedelta64[s]"),
    (masked, "has masked entries; expected an array that says all its numbers"),
    (lambda x: [masked(part) for part in x], "has masked entries; expected an array that says"),
    (lambda x: [*x.tolist(), [[1]]], "is not a rectangular array of numbers ("),
    (lambda x: {"a": x}, "is not a rectangular array of numbers (it holds object, not real"),
    (lambda _: Opaque(), "is not a rectangular array of numbers (call .cpu() first)"),
    (lambda _: object(), "is not a rectangular array of numbers (it holds object, not real"),
    (lambda _: None, "is not a rectangular array of numbers (it holds object, not real"),
    (lambda _: "0.5", "is not a rectangular array of numbers (it holds <U3, not real numbers)"),
    (lambda _: 0.5, "has shape (); expected"),
    (lambda _: [], "has shape (0,); expected"),
]


@pytest.mark.parametrize(("change", "message"), ARRAYS)
@pytest.mark.parametrize("argument", ["P", "r", "c"])
def test_arrays_hold_real_numbers(argument, change, message):
    for kind, good in ((st.SafeMDP, GOOD), (st.SafeGame, GAME)):
        with pytest.raises(ValueError, match="^" + re.escape(f"{argument} {message}")):
            kind(**{**good, argument: change(np.array(good[argument]))})


@pytest.mark.parametrize("argument", ["r", "c"])
def test_only_p_may_be_sparse(argument):
    said = f"{argument} is a sparse matrix; expected an array, such as {argument}.toarray()"
    with pytest.raises(ValueError, match="^" + re.escape(said)):
        st.SafeMDP(**{**GOOD, argument: sp.csr_array(np.ones((2, 2)))})


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint64, np.float16, np.float32, np.longdouble])
def test_numbers_of_every_type_are_numbers(dtype):
    told = [np.eye(2)[:, None], np.ones((2, 1)), [0.0, 1.0]]
    same = st.SafeMDP(*(np.array(x).astype(dtype) for x in told), 0.5, 3)
    assert same == st.SafeMDP(*told, 0.5, 3) and same.r.dtype == same.c.dtype == float


def test_rounded_rows_are_refused_with_what_to_do():
    """Nothing is normalised unasked; what the message says works."""
    thirds = np.tile(np.array([1, 2, 4]) / 7, (3, 1, 1)).swapaxes(0, 1).astype(np.float32)
    told = {"r": np.zeros((3, 1)), "c": np.zeros(3), "tau": 0.5, "H": 2}
    rounded = thirds.reshape(3, 1, 3)
    advice = "; if it was rounded: P = P.astype(float), then P / P.sum(-1, keepdims=True)"
    with pytest.raises(ValueError, match=r"^P\[0, 0\] sums to .*" + re.escape(advice)):
        st.SafeMDP(rounded, **told)
    wide = rounded.astype(float)
    assert st.SafeMDP(wide / wide.sum(-1, keepdims=True), **told).S == 3


NO_NUMBERS = ["0.5", True, np.True_, None, 0.5j, [0.5], np.ones(1), b"1", Unspeakable()]


@each("value", NO_NUMBERS)
def test_a_threshold_and_a_noise_are_numbers(value):
    for kind, good in ((st.SafeMDP, GOOD), (st.SafeGame, GAME)):
        with pytest.raises(TypeError, match=r"^tau is .*; expected a number$"):
            kind(**{**good, "tau": value})
    with pytest.raises(TypeError, match=r"^noise is .*; expected a number$"):
        st.rollout(MDP, STAY, 0, noise=value)
    with pytest.raises(TypeError, match=r"^tau is .*; expected a number$"):
        st.Known(2, 2, 3, np.zeros((3, 2, 2)), value, 0)


@each("value", [np.nan, np.inf, -np.inf, -1e-9, 10**400, -(10**5000)])
def test_thresholds_and_noise_have_a_range(value):
    with pytest.raises(ValueError, match=r"^tau is .*; the threshold must lie in \[0, 1\]$"):
        st.SafeMDP(**{**GOOD, "tau": value})
    with pytest.raises(ValueError, match=r"^tau is .*; the threshold must lie in \[0, 1\]$"):
        st.Known(2, 2, 3, np.zeros((3, 2, 2)), value, 0)
    with pytest.raises(ValueError, match=r"^noise is .*; a standard deviation must be at least 0"):
        st.rollout(MDP, STAY, 0, noise=value)


@pytest.mark.parametrize("value", [0, 1, np.float32(0.5), np.int8(1)])
def test_numbers_of_numpy_are_numbers(value):
    assert st.SafeMDP(**{**GOOD, "tau": value}).tau == float(value)
    assert type(st.SafeMDP(**{**GOOD, "tau": value}).tau) is float
    assert len(st.rollout(MDP, STAY, np.int64(3), noise=value).states) == 4


NOT_WHOLE = [1.0, 1.5, "1", True, np.True_, None, 1j, [1], np.array(1), np.nan, Unspeakable()]


@each("value", NOT_WHOLE)
def test_numbers_of_things_are_whole(value):
    game = st.SafeGame(**GAME)
    calls = {
        "H": [lambda: st.SafeMDP(**{**GOOD, "H": value}),
              lambda: st.SafeGame(**{**GAME, "H": value}),
              lambda: st.Known(2, 2, value, np.zeros((3, 2, 2)), 0.5, 0)],
        "s1": [lambda: st.SafeMDP(**GOOD, s1=value), lambda: st.SafeGame(**GAME, s1=value),
               lambda: st.Known(2, 2, 3, np.zeros((3, 2, 2)), 0.5, value)],
        "S": [lambda: st.Known(value, 2, 3, np.zeros((3, 2, 2)), 0.5, 0)],
        "A": [lambda: st.Known(2, value, 3, np.zeros((3, 2, 2)), 0.5, 0)],
        "h": [lambda: MDP.rows(value), lambda: MDP.successors(value, 0, 0),
              lambda: MDP.check_step(value), lambda: game.successors(value, 0, 0, 0)],
        "s": [lambda: MDP.successors(1, value, 0), lambda: MDP.state_name(value),
              lambda: MDP.check_state(value), lambda: game.successors(1, value, 0, 0)],
        "a": [lambda: MDP.successors(1, 0, value), lambda: MDP.action_name(value),
              lambda: game.successors(1, 0, value, 0), lambda: game.action_name(value)],
        "b": [lambda: game.successors(1, 0, 0, value), lambda: game.reply_name(value)],
    }  # fmt: skip
    for name, questions in calls.items():
        for question in questions:
            with pytest.raises(TypeError, match=rf"^{name} is .*; expected a whole number$"):
                question()
    with pytest.raises(TypeError, match=r"^seed is .*; expected a whole number, at least 0, or a"):
        st.rollout(MDP, STAY, value)


@each("value", [-1, 99, 10**400, -(10**5000), 2**63])
def test_numbers_of_things_have_a_range(value):
    game = st.SafeGame(**GAME)
    for name, things, questions in (
        ("h", "steps are 1..3", [MDP.rows, MDP.check_step, lambda h: game.successors(h, 0, 0, 0)]),
        ("s", "states are 0..1", [MDP.state_name, MDP.check_state, game.state_name]),
        ("a", "actions are 0..1", [MDP.action_name, game.action_name,
                                   lambda a: MDP.successors(1, 0, a)]),
        ("b", "replies are 0..0", [game.reply_name, lambda b: game.successors(1, 0, 0, b)]),
    ):  # fmt: skip
        for question in questions:
            with pytest.raises(ValueError, match=rf"^{name} is .*; the {re.escape(things)}$"):
                question(value)


@each("H", [2**62, 10**30, 10**5000])
def test_a_horizon_that_cannot_be_counted_is_refused(H):
    with pytest.raises(ValueError, match=r"^H is .*; (expected|it must be) at most \d+$"):
        st.SafeMDP(**{**GOOD, "H": H})


def test_a_long_horizon_costs_nothing_until_it_is_played():
    mdp = st.SafeMDP(np.ones((1, 1, 1)), [[0]], [0], 0.5, H=10**15)
    assert mdp.r.shape == (10**15, 1, 1) and mdp.rows(10**15).successors.tolist() == [0]
    policy = np.broadcast_to(np.int8(0), (10**15, 1))
    assert reading.thin(mdp.r).shape == (1, 1, 1) and mdp.known.H == 10**15
    short = st.SafeMDP(np.ones((1, 1, 1)), [[0]], [0], 0.5, H=10)
    assert st.rollout(short, policy[:10], seed=0).states.tolist() == [0] * 11


def test_seeds_are_whole_numbers_or_generators():
    one = st.rollout(MDP, STAY, 3)
    same = st.rollout(MDP, STAY, np.random.default_rng(3))
    assert (one.states == same.states).all() and (one.costs == same.costs).all()
    with pytest.raises(ValueError, match=r"^seed is -1; it must be at least 0$"):
        st.rollout(MDP, STAY, -1)


@pytest.mark.parametrize("world", ["pond", None, MDP.known, st.SafeGame(**GAME)])
def test_an_episode_is_played_in_an_mdp(world):
    with pytest.raises(TypeError, match=r"^mdp is .*; expected a SafeMDP$"):
        st.rollout(world, STAY, 0)


POLICIES = [
    ([[0, 1], [0]], "is not a rectangular array of numbers"),
    (None, "is not a rectangular array of numbers"),
    ("best", "is not a rectangular array of numbers"),
    (STAY.astype(object), "is not a rectangular array of numbers (it holds object"),
    (STAY.astype(str), "is not a rectangular array of numbers (it holds <U21"),
    (STAY + 0j, "is not a rectangular array of numbers (it holds complex128"),
    (masked(STAY), "has masked entries"),
    (sp.csr_array(STAY), "is a sparse matrix; expected an array, such as"),
    (STAY * 1.0, "holds float64; actions are whole numbers"),
    (STAY > 0, "holds bool; actions are whole numbers"),
    (np.full((3, 2, 2), [True, False]), "holds bool; probabilities of actions are numbers"),
    (np.full((3, 2, 2), np.nan), "[0, 0] is [nan nan]; probabilities of actions must be nonneg"),
    (np.full((3, 2, 2), [2, -1]), "[0, 0] is [ 2. -1.]; probabilities of actions must be nonneg"),
    (np.full((3, 2, 2), [np.inf, -np.inf]), "[0, 0] is [ inf -inf]; probabilities of actions mu"),
    (np.full((3, 2), 2, np.uint8), "[0, 0] is 2; the actions are 0..1"),
    (np.full((3, 2), -1), "[0, 0] is -1; the actions are 0..1"),
    (STAY[:2], "has shape (2, 2); expected (H, S) = (3, 2) actions or (H, S, A) = (3, 2, 2) prob"),
    (np.zeros((0, 0, 0)), "has shape (0, 0, 0); expected (H, S) = (3, 2) actions or"),
    (0, "has shape (); expected (H, S) = (3, 2) actions or"),
]


@pytest.mark.parametrize(("policy", "message"), POLICIES)
def test_a_policy_is_actions_or_probabilities(policy, message):
    said = rf"^%s ?{re.escape(message)}"
    with pytest.raises(ValueError, match=said % "policy"):
        st.rollout(MDP, policy, 0)
    with pytest.raises(ValueError, match=said % "policy"):
        MDP.check_policy(policy)
    with pytest.raises(ValueError, match=said % "mu"):
        st.SafeGame(**GAME).check_mu(policy)


# names -------------------------------------------------------------------------------------------


def test_names_are_looked_up():
    assert [MDP.state(name) for name in ("dry", "wet")] == [0, 1]
    assert [MDP.action(name) for name in ("stay", "go")] == [0, 1]
    game = st.instances.quay(seaward=True)
    assert (game.state("sea"), game.action("wait"), game.reply("seaward")) == (4, 1, 2)
    for world in (MDP, game, st.instances.random_mdp(12, 2, 3, seed=0)):
        assert [world.state(world.state_name(s)) for s in range(world.S)] == [*range(world.S)]
        assert [world.action(world.action_name(a)) for a in range(world.A)] == [*range(world.A)]


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: MDP.state("dryy"), "name is 'dryy', which no state has; close to it: 'dry'"),
        (lambda: MDP.action("walk"), "name is 'walk', which no action has; the first of 2 are 'st"),
        (lambda: st.instances.quay().reply("headwinds"),
         "name is 'headwinds', which no reply has; close to it: 'headwind'"),
        (lambda: st.instances.grid().state("(2,0"),
         "name is '(2,0', which no state has; close to it: '(2,0)', "),
        (lambda: st.instances.random_mdp(12, 1, 1, 0).state("12"),
         "name is '12', which no state has; close to it: '2', '1'"),
        (lambda: st.instances.random_mdp(12, 1, 1, 0).state(" 1"), "name is ' 1', which no state"),
    ],
)  # fmt: skip
def test_a_name_that_nothing_has_is_refused_with_those_like_it(ask, message):
    with pytest.raises(ValueError, match="^" + re.escape(message)):
        ask()


@pytest.mark.parametrize("name", [0, None, b"dry", ["dry"], np.int64(1), 1.5])
def test_a_name_is_text(name):
    for look, thing in ((MDP.state, "state"), (MDP.action, "action")):
        said = rf"^name is .*; expected the name of a {thing}, a str$"
        with pytest.raises(TypeError, match=said):
            look(name)


@pytest.mark.parametrize(
    ("names", "error", "message"),
    [
        (["a", "a"], ValueError, "[1] is 'a', and so is {}[0]; names must be different"),
        (["a"], ValueError, " has 1 names; expected 2"),
        (list("abc"), ValueError, " has 3 names; expected 2"),
        ([], ValueError, " has 0 names; expected 2"),
        ("ab", TypeError, " is 'ab'; expected 2 names, each a str"),
        (5, TypeError, " is 5; expected 2 names, each a str"),
        (np.array("ab"), TypeError, " is array('ab', dtype='<U2'); expected 2 names, each a str"),
        ({"a": 0, "b": 1}, TypeError, " is {{'a': 0, 'b': 1}}; expected 2 names, each a str"),
        ({"a"}, TypeError, " is {{'a'}}; expected 2 names, each a str"),
        (["a", 5], TypeError, "[1] is 5; expected a name, a str"),
        (["a", None], TypeError, "[1] is None; expected a name, a str"),
        ([["a"], "b"], TypeError, "[0] is ['a']; expected a name, a str"),
    ],
)
def test_names_are_as_many_different_texts(names, error, message):
    for argument in ("state_names", "action_names"):
        said = "^" + re.escape(argument + message.format(argument))
        for kind, good in ((st.SafeMDP, GOOD), (st.SafeGame, GAME)):
            with pytest.raises(error, match=said):
                kind(**good, **{argument: names})
    two = np.broadcast_to(P[:, :, None], (2, 2, 2, 2))
    with pytest.raises(error, match="^" + re.escape("reply_names" + message.format("reply_names"))):
        st.SafeGame(two, np.ones((2, 2, 2)), [0, 1], 0.5, 3, reply_names=names)


def test_names_may_come_from_anywhere():
    for names in (np.array(["dry", "wet"]), ("dry", "wet"), (x for x in ("dry", "wet"))):
        mdp = st.SafeMDP(**GOOD, state_names=names)
        assert mdp.state("wet") == 1 and type(mdp.state_name(1)) is str


# what a learner is told --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"S": 0}, "S is 0; it must be at least 1"),
        ({"A": -1}, "A is -1; it must be at least 1"),
        ({"H": 4}, "r has shape (3, 2, 2); expected (H, S, A) = (4, 2, 2), or (H, S, A, B) in a g"),
        ({"r": np.zeros((2, 2))}, "r has shape (2, 2); expected (H, S, A) = (3, 2, 2), or"),
        ({"r": np.zeros((3, 2, 2, 0))}, "r has shape (3, 2, 2, 0); expected (H, S, A) = (3, 2, 2"),
        ({"r": np.zeros((3, 2, 2, 1, 1))}, "r has shape (3, 2, 2, 1, 1); expected (H, S, A) = "),
        ({"r": np.full((3, 2, 2), 1.5)}, "r[0, 0, 0] is 1.5; it must lie in [0, 1]"),
        ({"r": np.full((3, 2, 2), np.nan)}, "r[0, 0, 0] is nan; it must lie in [0, 1]"),
        ({"r": "rewards"}, "r is not a rectangular array of numbers"),
        ({"s1": 2}, "s1 is 2; the states are 0..1"),
        ({"s1": -1}, "s1 is -1; the states are 0.."),
    ],
)
def test_what_is_known_is_checked(change, message):
    told = {"S": 2, "A": 2, "H": 3, "r": np.zeros((3, 2, 2)), "tau": 0.5, "s1": 0}
    assert st.Known(**told) == copy.copy(st.Known(**told)) and st.Known(**told).B == 0
    with pytest.raises(ValueError, match="^" + re.escape(message)):
        st.Known(**told | change)


# memory ------------------------------------------------------------------------------------------


def test_an_array_that_does_not_fit_is_refused_with_what_it_takes(monkeypatch):
    monkeypatch.setattr(arguments, "_free_memory", lambda: 8 * 10**9)
    arguments.check_fits((10**9,), np.float64, "P")
    arguments.check_fits((0, 10**30), np.float64, "P")
    said = "P would take 8.0 GB (shape (1000000001,), float64), and 8.0 GB are free"
    with pytest.raises(ValueError, match="^" + re.escape(said) + "$"):
        arguments.check_fits((10**9 + 1,), np.float64, "P")
    said = "x would take 1.5 TB (shape (1500, 1000000000), bool), and 8.0 GB are free; use y"
    with pytest.raises(ValueError, match="^" + re.escape(said) + "$"):
        arguments.check_fits((1500, 10**9), bool, "x", instead="use y")
    with pytest.raises(ValueError, match=r"would take 1000\d+…\.0 TB \(shape \(1000"):
        arguments.check_fits((10**400,), np.int8, "x")


def test_a_table_an_episode_and_a_strategy_are_refused_before_they_are_made(monkeypatch):
    mdp, game = st.SafeMDP(**GOOD), st.SafeGame(**GAME)
    assert mdp.P.nbytes and mdp.support().any() and game.check_mu(STAY).shape == (3, 2, 2)
    monkeypatch.setattr(arguments, "_free_memory", lambda: 7)
    for call, said in (
        (lambda: mdp.P, "P would take 0.0 GB (shape (1, 2, 2, 2), float64), and 0.0 GB are free; "
                        "use rows(h) or successors(h, ...)"),
        (mdp.support, "support() would take 0.0 GB (shape (1, 2, 2, 2), bool), and"),
        (lambda: game.P, "P would take 0.0 GB (shape (1, 2, 2, 1, 2), float64), and"),
        (lambda: game.check_mu(STAY), "mu as probabilities would take 0.0 GB (shape (3, 2, 2)"),
        (lambda: st.rollout(mdp, STAY, 0), "an episode of H = 3 steps would take 0.0 GB"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match="^" + re.escape(said)):
            call()


def test_free_memory_is_what_the_system_says(monkeypatch):
    free = arguments._free_memory()
    everything = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert 2**20 < free <= everything
    for text in ("", "MemTotal: 5 kB\n"):  # what an old or another system says
        monkeypatch.setattr(arguments.Path, "read_text", lambda *_, text=text: text)
        assert arguments._free_memory() == everything
    monkeypatch.setattr(arguments.Path, "read_text", lambda *_: "MemAvailable:   12 kB\nSwap: 1 kB")
    assert arguments._free_memory() == 12 * 1024
    monkeypatch.setattr(arguments.Path, "read_text", lambda *_: "")
    monkeypatch.delattr(arguments.os, "sysconf")
    assert arguments._free_memory() == 8 * 2**30
