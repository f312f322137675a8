"""Equilibria, responses and evaluations of games, against linear programs, all plans, and dice."""

import re

import numpy as np
import pytest
from looping import each
from oracles.brute_force_games import (
    all_tables,
    alone,
    any_game,
    can_meet_unsafe,
    gap,
    normal_form,
    random_strategy,
    worths,
)
from oracles.linear_programs import lp_value

import safeteach as st

NAMED = {
    "pursuit": st.instances.pursuit(),
    "penny bridge": st.instances.penny_bridge(),
    "quay": st.instances.quay(),
    "seaward quay": st.instances.quay(seaward=True),
}


def feasible_games(count, **size):
    """Random games with a safe strategy, in which some states or actions are not safe."""
    found = []
    for seed in range(400):
        game = any_game(seed, **size)
        if st.is_feasible(game) and not st.safe_actions(game).all():
            found.append(game)
        if len(found) == count:
            return found
    raise AssertionError(f"only {len(found)} such games")


def allowed_rows(game):
    return st.safe_actions(game) | st.potentially_unsafe(game)[:, :, None]


def check_plan(game, plan, allowed):
    """Bellman's equation holds, and nobody gains anything at any step in any state."""
    H, S, A, B = game.H, game.S, game.A, game.B
    assert plan.V.shape == (H + 1, S) and plan.Q.shape == (H, S, A, B)
    assert plan.mu.shape == (H, S, A) and plan.nu.shape == (H, S, B)
    assert (plan.V[-1] == 0).all() and plan.value == plan.V[0, game.s1]
    expected = game.r + np.einsum("hsabt,ht->hsab", game.P, plan.V[1:])
    assert np.abs(plan.Q - expected).max() < 1e-12
    assert (plan.mu[~allowed] == 0).all()
    for h, s in np.ndindex(H, S):
        M, row = plan.Q[h, s][allowed[h, s]], plan.mu[h, s][allowed[h, s]]
        assert gap(M, row, plan.nu[h, s]) < 1e-9
        assert (row @ M).min() - 1e-9 <= plan.V[h, s] <= (M @ plan.nu[h, s]).max() + 1e-9
    # The same along whole strategies: the other side cannot do better from any step on.
    low = st.best_response(game, mu=plan.mu)
    assert np.abs(low.V - plan.V).max() < 1e-9
    value = st.evaluate(game, plan.mu, plan.nu).value
    assert abs(value - plan.value) < 1e-9


@pytest.mark.parametrize("name", NAMED)
def test_nobody_gains_in_the_games_of_the_book(name):
    game = NAMED[name]
    check_plan(game, st.safe_optimal(game), allowed_rows(game))
    check_plan(game, st.optimal(game), np.ones((game.H, game.S, game.A), bool))
    plan = st.safe_optimal(game)
    assert np.abs(st.best_response(game, nu=plan.nu).V - plan.V).max() < 1e-9
    for nu in (plan.nu, np.full(plan.nu.shape, 1 / game.B)):
        assert st.evaluate(game, plan.mu, nu).unsafe_probability == 0


@pytest.mark.parametrize("size", [{}, {"S": 5, "A": 4, "B": 3, "H": 4}], ids=str)
def test_nobody_gains_in_random_games(size):
    for game in feasible_games(12, **size):
        plan = st.safe_optimal(game)
        check_plan(game, plan, allowed_rows(game))
        assert np.abs(st.best_response(game, nu=plan.nu).V - plan.V).max() < 1e-9
        everywhere = np.full(plan.nu.shape, 1 / game.B)
        assert st.evaluate(game, plan.mu, everywhere).unsafe_probability == 0
        free = st.optimal(game)
        check_plan(game, free, np.ones((game.H, game.S, game.A), bool))
        outside = ~st.potentially_unsafe(game)
        assert (plan.V[:-1] <= free.V[:-1] + 1e-9)[outside].all()


def test_values_are_those_of_linear_programs_step_by_step():
    for game in feasible_games(4, S=4, A=3, B=3, H=3):
        allowed = allowed_rows(game)
        V = np.zeros(game.S)
        for h in reversed(range(game.H)):
            Q = game.r[h] + game.P[h] @ V
            V = np.array([lp_value(Q[s][allowed[h, s]]) for s in range(game.S)])
            assert np.abs(st.safe_optimal(game).V[h] - V).max() < 1e-8


@pytest.mark.parametrize(
    "size", [{"S": 2, "H": 2}, {"S": 2, "A": 3, "B": 2, "H": 2}, {"S": 3, "H": 2}], ids=str
)
def test_the_value_is_that_of_one_matrix_of_all_plans(size):
    """No recursion: rows are all plans of the agent that are safe, columns all of the rival."""
    mixed = restricted = 0
    for game in feasible_games(10, **size):
        agents, rivals = (all_tables(n, game.H, game.S) for n in (game.A, game.B))
        earned = normal_form(game, agents, rivals)[:, :, 0, game.s1]
        at_start = np.arange(game.S) == game.s1
        safe = ~can_meet_unsafe(game, agents, rivals, 1, at_start).any(axis=1)
        assert abs(st.safe_optimal(game).value - lp_value(earned[safe])) < 1e-8
        assert abs(st.optimal(game).value - lp_value(earned)) < 1e-8
        restricted += not safe.all()
        mixed += earned[safe].min(axis=1).max() < st.safe_optimal(game).value - 1e-6
    assert mixed and restricted > 5  # somewhere pure plans would not have done


@pytest.mark.parametrize("stationary", [True, False])
def test_with_one_reply_it_is_the_best_plan_of_the_mdp(stationary):
    compared = 0
    for seed in range(40):
        game = st.instances.random_game(6, 3, 1, 4, seed, unsafe=0.3, stationary=stationary)
        mdp = alone(game)
        pairs = [(st.optimal(game), st.optimal(mdp))]
        if st.is_feasible(game):
            best, theirs = st.safe_optimal(game), st.safe_optimal(mdp)
            pairs.append((best, theirs))
            assert (st.best_response(game, nu=best.nu).policy == theirs.policy).all()
            compared += not st.safe_actions(game).all()
        for ours, theirs in pairs:
            assert np.abs(ours.V - theirs.V).max() < 1e-12
            assert np.abs(ours.Q[..., 0] - theirs.Q).max() < 1e-12
            assert (ours.mu == np.eye(3)[theirs.policy]).all()
            assert abs(ours.value - theirs.value) < 1e-12
    assert compared > 10


def test_best_responses_are_the_best_of_all_pure_plans():
    for i, game in enumerate(feasible_games(6, S=2, A=2, B=2, H=3)):
        mu, nu = random_strategy(game, 2, i), random_strategy(game, 2, i + 100)
        every = all_tables(2, 3, 2)
        low = np.min([worths(game, mu, np.eye(2)[rival]) for rival in every], axis=0)
        ours = st.best_response(game, mu=mu)
        assert np.abs(ours.V[:-1] - low).max() < 1e-12 and (ours.V[-1] == 0).all()
        assert np.abs(worths(game, mu, np.eye(2)[ours.policy]) - low).max() < 1e-12
        assert ours.value == ours.V[0, game.s1]

        at_start = np.arange(game.S) == game.s1
        safe = ~can_meet_unsafe(game, every, every, 1, at_start).any(axis=1)
        high = max(worths(game, np.eye(2)[agent], nu)[0, game.s1] for agent in every[safe])
        ours = st.best_response(game, nu=nu)
        assert abs(ours.value - high) < 1e-12 and ours.value == ours.V[0, game.s1]
        earned = worths(game, np.eye(2)[ours.policy], nu)
        assert np.abs(earned - ours.V[:-1]).max() < 1e-12
        chosen = np.eye(2, dtype=bool)[ours.policy]
        assert allowed_rows(game)[chosen].all()


def test_a_response_takes_actions_as_well_as_probabilities():
    game = NAMED["pursuit"]
    actions = np.random.default_rng(0).integers(5, size=(game.H, game.S))
    one, other = (st.best_response(game, mu=mu) for mu in (actions, np.eye(5)[actions]))
    assert (one.V == other.V).all() and (one.policy == other.policy).all()
    one, other = (st.best_response(game, nu=nu) for nu in (actions, np.eye(5)[actions]))
    assert (one.V == other.V).all() and (one.policy == other.policy).all()


def test_ties_go_to_the_lowest_number():
    game = st.SafeGame(np.ones((1, 3, 4, 1)), np.full((1, 3, 4), 0.5), [0], 0.5, H=2)
    plan = st.safe_optimal(game)
    assert (plan.mu == [1, 0, 0]).all() and (plan.nu == [1, 0, 0, 0]).all()
    for response in (st.best_response(game, mu=plan.mu), st.best_response(game, nu=plan.nu)):
        assert (response.policy == 0).all()


def evaluated(game, mu, nu):
    e = st.evaluate(game, mu, nu)
    return e.value, e.violation, e.cost, e.unsafe_probability


def forward(game, mu, nu):
    """The same four numbers by carrying the law of s_h forward."""
    law = np.eye(game.S)[game.s1]
    dry = law * ~game.unsafe
    value = violation = cost = 0.0
    for h in range(game.H):
        value += np.einsum("s,sa,sb,sab->", law, mu[h], nu[h], game.r[h])
        violation, cost = violation + law @ game.violation, cost + law @ game.c
        move = np.einsum("sa,sb,sabt->st", mu[h], nu[h], game.P[h])
        law = law @ move
        if h < game.H - 1:
            dry = (dry @ move) * ~game.unsafe
    return value, violation, cost, 1 - dry.sum()


@each("seed", range(20))
def test_evaluate_equals_two_other_computations(seed):
    game = any_game(seed, S=4, A=3, B=2, H=3)
    mu, nu = random_strategy(game, 3, seed), random_strategy(game, 2, seed + 50)
    found = evaluated(game, mu, nu)
    assert np.allclose(found, forward(game, mu, nu), rtol=0, atol=1e-12)
    assert abs(found[0] - worths(game, mu, nu)[0, game.s1]) < 1e-12
    a, b = mu.argmax(axis=2), nu.argmax(axis=2)
    assert st.evaluate(game, a, b) == st.evaluate(game, np.eye(3)[a], np.eye(2)[b])


@pytest.mark.parametrize("seed", [8, 13])
def test_evaluate_agrees_with_dice(seed):
    game, n = any_game(seed, S=5, A=3, B=2, H=4), 20_000
    mu, nu = random_strategy(game, 3, seed), random_strategy(game, 2, seed + 50)
    rng = np.random.default_rng(seed)
    s = np.full(n, game.s1)
    got = np.zeros((4, n))

    def dice(probability):
        return (rng.random((n, 1)) > probability.cumsum(axis=1)[:, :-1]).sum(axis=1)

    for h in range(game.H):
        got[1] += game.violation[s]
        got[2] += game.c[s]
        got[3] = np.maximum(got[3], game.unsafe[s])
        a, b = dice(mu[h, s]), dice(nu[h, s])
        got[0] += game.r[h, s, a, b]
        s = dice(game.P[h, s, a, b])
    error = 4.5 * got.std(axis=1) / np.sqrt(n) + 1e-12
    assert (np.abs(got.mean(axis=1) - evaluated(game, mu, nu)) < error).all()
    assert 0.05 < got[3].mean() < 0.95


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda g: st.best_response(g), "give either mu, the agent's strategy, or nu, the adv"),
        (lambda g: st.best_response(g, mu=[[0] * 3] * 5, nu=[[0] * 3] * 5), "give either mu, the"),
        (lambda g: st.best_response(g, mu=[[3] * 3] * 5), "mu[0, 0] is 3; the actions are 0..2"),
        (lambda g: st.best_response(g, nu=[[2] * 3] * 5), "nu[0, 0] is 2; the actions are 0..1"),
        (lambda g: st.evaluate(g, [[0] * 3] * 5), "in a game nu, the adversary's strategy, is"),
        (lambda g: st.evaluate(g, [[3] * 3] * 5, [[0] * 3] * 5), "policy[0, 0] is 3; the actions"),
        (lambda g: st.evaluate(g, [[0] * 3] * 5, [[2] * 3] * 5), "nu[0, 0] is 2; the actions are"),
        (lambda _: st.evaluate(st.instances.grid(), np.zeros((12, 25), int), nu=[[0]]),
         "nu is an adversary's strategy; an MDP has no adversary"),
    ],
)  # fmt: skip
def test_bad_questions_are_named(call, message):
    with pytest.raises(ValueError, match="^" + re.escape(message)):
        call(NAMED["penny bridge"])
