"""Doomed states and safe actions of games, against all moves that both sides could plan."""

import re

import numpy as np
import pytest
from looping import each
from oracles.brute_force_games import all_tables, alone, any_game, can_meet_unsafe

import safeteach as st

SIZES = ({}, {"S": 4, "H": 2}, {"S": 2, "A": 3, "B": 2, "H": 3}, {"S": 2, "A": 2, "B": 3, "H": 3})


def compare_with_brute_force(game):
    """How many states that are not unsafe are doomed, and how many others."""
    agents, rivals = (all_tables(n, game.H - 1, game.S) for n in (game.A, game.B))
    U, safe, P = st.potentially_unsafe(game), st.safe_actions(game), game.P
    assert U.shape == (game.H, game.S) and safe.shape == (game.H, game.S, game.A)
    for h in range(1, game.H + 1):
        for s in range(game.S):
            met = can_meet_unsafe(game, agents, rivals, h, np.arange(game.S) == s)
            # doomed: to every plan of the agent the rival has an answer
            assert U[h - 1, s] == met.any(axis=1).all()
            for a in range(game.A):
                after = (P[h - 1, s, a] > 0).any(axis=0)  # by whatever reply
                can_go_on = True
                if h < game.H:
                    later = can_meet_unsafe(game, agents, rivals, h + 1, after)
                    can_go_on = not later.any(axis=1).all()
                assert safe[h - 1, s, a] == can_go_on
    assert st.is_feasible(game) == (not U[0, game.s1])
    return (U & ~game.unsafe).sum(), (~U[:-1]).sum(), (~safe).sum()


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_sets_equal_brute_force_over_all_plans_of_both(size):
    met = np.sum([compare_with_brute_force(any_game(seed, **size)) for seed in range(16)], axis=0)
    assert (met > 2).all()


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_sets_of_many_games_equal_brute_force_over_all_plans_of_both(size):
    for seed in range(100, 200):
        compare_with_brute_force(any_game(seed, **size))


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_a_mixing_agent_is_in_as_much_danger(size):
    """From a doomed state some pure rival meets every mixture of plans; one plan serves the rest.

    A strategy that mixes can meet what any action in its support can, so that the pure plan that
    is safe everywhere outside U_h is safe against rivals that mix or remember as well.
    """
    for seed in range(15):
        game = any_game(seed, **size)
        U, safe = st.potentially_unsafe(game), st.safe_actions(game)
        plan = np.eye(game.A)[safe.argmax(axis=2)]
        worst = np.full((game.H, game.S, game.B), 1 / game.B)  # all replies in its support
        mixed = np.full((game.H, game.S, game.A), 1 / game.A)
        for s in range(game.S):
            start = st.SafeGame(game.P, game.r, game.c, game.tau, game.H, s)
            assert (st.evaluate(start, plan, worst).unsafe_probability > 0) == U[0, s]
            if U[0, s]:
                assert st.evaluate(start, mixed, worst).unsafe_probability > 0


@pytest.mark.parametrize("stationary", [True, False])
def test_with_one_reply_it_is_the_mdp(stationary):
    doomed = 0
    for seed in range(40):
        game = st.instances.random_game(7, 3, 1, 5, seed, unsafe=0.3, stationary=stationary)
        mdp = alone(game)
        for recursion in ("exact", "paper"):
            U = st.potentially_unsafe(game, recursion)
            assert (st.potentially_unsafe(mdp, recursion) == U).all()
        assert (st.safe_actions(game) == st.safe_actions(mdp)).all()
        assert st.is_feasible(game) == st.is_feasible(mdp)
        for h, s in np.argwhere(st.potentially_unsafe(game)) + np.array([1, 0]):
            ours, theirs = st.witness(game, s, h), st.witness(mdp, s, h)
            assert ours.answers == theirs.answers and theirs.replies == {}
            assert all({*replies} <= {0} for replies in ours.replies.values())
            doomed += 1
    assert doomed > 100


@each("seed", range(20))
def test_more_replies_are_more_danger_and_more_actions_less(seed):
    game = any_game(seed, S=5, A=3, B=3, H=4)

    def part(actions, replies):
        P, r = game.P[:, :, actions][:, :, :, replies], game.r[:, :, actions][:, :, :, replies]
        return st.potentially_unsafe(st.SafeGame(P, r, game.c, game.tau, game.H))

    every = slice(None)
    assert (part(every, [0, 2]) <= part(every, every)).all()
    assert (part([0, 1], every) >= part(every, every)).all()


@pytest.mark.parametrize("size", [{}, {"S": 5, "A": 3, "B": 3, "H": 5}], ids=str)
def test_every_witness_is_one(size):
    explained = deep = 0
    for seed in range(40):
        game = any_game(seed, **size)
        U, P = st.potentially_unsafe(game), game.P
        for h, s in np.argwhere(U) + np.array([1, 0]):
            w = st.witness(game, s, h)
            assert w.root == (h, s) and w.answers.keys() == w.replies.keys()
            reached, frontier = set(), [w.root]
            while frontier:
                step, state = node = frontier.pop()
                if node in reached:
                    continue
                reached.add(node)
                answers, replies = w.answers[node], w.replies[node]
                if game.unsafe[state]:
                    assert answers == replies == ()
                    continue
                assert step < game.H and len(answers) == len(replies) == game.A
                for a, (b, t) in enumerate(zip(replies, answers, strict=True)):
                    assert P[step - 1, state, a, b, t] > 0
                    assert U[step, t]
                    moves = P[step - 1, state, a] > 0  # (B, S)
                    best = moves[:, game.unsafe].any()
                    assert game.unsafe[t] == best  # an unsafe one where there is one
                    kind = game.unsafe if best else U[step]
                    assert t == np.flatnonzero(moves.any(axis=0) & kind)[0]
                    assert b == np.flatnonzero(moves[:, t])[0]
                    frontier.append((step + 1, t))
            assert reached == w.answers.keys()
            explained += 1
            deep += len(reached) > game.A + 1
        for h, s in np.argwhere(~U) + np.array([1, 0]):
            with pytest.raises(ValueError, match=f"not potentially unsafe at step {h}$"):
                st.witness(game, s, h)
    assert explained > 100 and deep > 3


def gorge(reply_names=("lull", "gust")):
    """A bridge: crouch or run, and a gust throws whoever runs, a lull whoever crouches too long."""
    P = np.zeros((3, 2, 2, 3))
    P[0, 0, 0] = [0, 0.5, 0.5]
    P[0, 0, 1] = [1, 0, 0]
    P[0, 1, 0] = [1, 0, 0]
    P[0, 1, 1] = [0, 0, 1]
    P[1, :, :, 1] = P[2, :, :, 2] = 1
    return st.SafeGame(
        P, np.zeros((3, 2, 2)), [0, 0, 1], 0.5, H=2, state_names=["bridge", "bank", "gorge"],
        action_names=["crouch", "run"], reply_names=reply_names,
    )  # fmt: skip


def test_infeasible_games_are_refused_with_their_witness():
    game = gorge()
    assert not st.is_feasible(game)
    calls = (
        lambda: st.safe_optimal(game),
        lambda: st.best_response(game, nu=np.zeros((2, 3), int)),
    )
    for call in calls:
        with pytest.raises(st.InfeasibleError) as caught:
            call()
        assert str(caught.value) == (
            "no feasible policy: the initial state bridge is in U_1: action crouch against lull "
            "may lead to gorge; action run against gust may lead to gorge, "
            "each unsafe or doomed in turn (see the error's .witness)"
        )
        w = caught.value.witness
        assert w == st.witness(game, s=0, h=1)
        assert w.root == (1, 0)
        assert w.answers == {(1, 0): (2, 2), (2, 2): ()}
        assert w.replies == {(1, 0): (0, 1), (2, 2): ()}
    with pytest.raises(st.InfeasibleError, match="action crouch against 0 may lead to gorge"):
        st.safe_optimal(gorge(reply_names=None))
    drowned = st.SafeGame(game.P, game.r, game.c, 0.5, H=2, s1=2)
    with pytest.raises(st.InfeasibleError, match=r"^no feasible policy: the initial state 2 is in "
                                                 r"U_1: it is unsafe itself$"):  # fmt: skip
        st.safe_optimal(drowned)
    assert st.optimal(game).value == 0  # without a thought of safety there is no trouble


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda g: st.potentially_unsafe(g, recursion="printed"),
         'recursion is \'printed\'; expected "exact" or "paper"'),
        (lambda g: st.witness(g, 9, 1), "s is 9; the states are 0..2"),
        (lambda g: st.witness(g, 0, 3), "h is 3; the steps are 1..2"),
        (lambda g: st.witness(g, 1, 1), "s is 1; state bank is not potentially unsafe at step 1"),
    ],
)  # fmt: skip
def test_bad_questions_are_named(call, message):
    with pytest.raises(ValueError, match="^" + re.escape(message)):
        call(gorge())
