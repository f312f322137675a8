"""The squares in games, tried in every episode of runs against five adversaries."""

import functools
import itertools
import math

import numpy as np
import pytest
from oracles.squares import fickle, walk_game

import safeteach as st
from safeteach.running.adversaries import ADVERSARIES

RARE = 1e-7  # with which a claim that is right may fail here
EPISODES = 60
RIVALS = {**ADVERSARIES, "fickle": fickle()}


def gate(H=5):
    """The two say a number each: if they agree, the gate to plenty opens, mostly."""
    P = np.zeros((3, 2, 2, 3))
    P[0, [0, 1], [0, 1], 1:] = 0.9, 0.1
    P[0, [0, 1], [1, 0], 1:] = 0.2, 0.8
    P[1, :, :, 1] = P[2, :, :, 2] = 1
    r = np.zeros((3, 2, 2))
    r[1] = 1
    return st.SafeGame(P, r, c=[0, 0, 0], tau=0.5, H=H)


GAMES = {
    "gate": gate,
    "random": lambda: st.instances.random_game(S=6, A=3, B=2, H=4, seed=28),
    "quay": st.instances.quay,
    "bridges": st.instances.penny_bridge,
}
SCALES = {"gate": 0.001}


@functools.cache
def runs():
    """Every game with every adversary."""
    made = {name: make() for name, make in GAMES.items()}
    return [
        (made[name], walk_game(made[name], rival, EPISODES, SCALES.get(name, 0.005), seed=1))
        for name, rival in itertools.product(GAMES, RIVALS.values())
    ]


def test_the_runs_are_worth_testing():
    """Gifts, strategies with dice, variances, and episodes that end early."""
    everything = [steps for _, steps in runs()]
    assert max((steps.mean - steps.value).max() for steps in everything) > 0.5
    assert max((steps.mean_square - steps.mean**2).max() for steps in everything) > 1
    assert max(steps.variance.max() for steps in everything) > 1
    assert sum((steps.last > 0).sum() for steps in everything) > 100


def test_one_step_of_the_squares_in_a_game():
    """With Q_h at what is played; with V_h, the value, in its place it fails, or any term less."""
    broken = np.zeros(4, int)
    for game, steps in runs():
        left = steps.variance - steps.square
        parts = 2 * game.H * np.array([steps.reward, steps.bonus, abs(steps.model)])
        most = parts.sum(axis=0)
        assert (left + steps.now**2 <= most + 1e-6).all()
        without = [most - part for part in parts]
        broken += [(left + steps.now**2 > less + 1e-6).sum() for less in (*without, most / 2)]
    assert (broken > 0).all(), broken


def test_a_value_is_at_most_what_is_drawn_on_average():
    """V² ≤ (DQ)² ≤ D(Q²), both strictly now and then; but V² may exceed the square of the entry."""
    strict = np.zeros(3, int)
    for _, steps in runs():
        V, DQ, DQ2 = steps.value**2, steps.mean**2, steps.mean_square
        assert (V <= DQ + 1e-9).all() and (DQ <= DQ2 + 1e-9).all()
        strict += (V < DQ - 0.1).sum(), (DQ < DQ2 - 0.1).sum(), (steps.entry**2 < V - 0.1).sum()
    assert (strict > 0).all(), strict


def episode_terms(game, steps):
    """Of each episode Σv + V_1², and what bounds it: χ, χ', the end, rewards, α and |m|."""
    bets = steps.total(steps.square - steps.next**2)
    draws = steps.total(steps.mean_square - steps.entry**2, by=steps.drawn)
    rest = [2 * game.H * steps.total(x) for x in (steps.reward, steps.bonus, abs(steps.model))]
    left = steps.total(steps.variance) + steps.first**2
    return left, np.array([bets, draws, steps.last**2, *rest])


def test_the_squares_of_a_game_telescope():
    """In every episode, and no term can be left out; over a run with luck of probability 1e-7."""
    broken = np.zeros(6, int)
    for game, steps in runs():
        left, terms = episode_terms(game, steps)
        most = terms.sum(axis=0)
        assert (left <= most + 1e-6).all()
        broken += [(left > most - term + 1e-6).sum() for term in terms]
        H, T, SAB = game.H, game.H * EPISODES, game.S * game.A * game.B
        bets = steps.square - steps.next**2, steps.mean_square - steps.entry**2
        assert all((abs(bet) <= H**2).all() for bet in bets)
        luck = H**2 * math.sqrt(T * math.log(1 / RARE))
        assert sum(bet.sum() for bet in bets) <= luck
        assert set(steps.last) <= {0, H} and (steps.last > 0).sum() <= SAB * H
        model = 2 * H * (steps.bonus.sum() + abs(steps.model).sum())
        assert steps.variance.sum() <= 2 * H * T + SAB * H**3 + luck + model
    assert (broken > 0).all(), broken


def first_draws():
    """Of many plans for the first step the table, both strategies, and what was tried before."""
    game = gate()
    learner, rival = st.SafeNashVI(game.known, episodes=40, bonus_scale=0.001), fickle()
    for _ in st.play(learner, game, seed=0, adversary="uniform"):
        nu = rival(game, None, None)[0, game.s1]
        tried = learner.transitions.N.reshape(game.r.shape)[0, game.s1] > 0
        yield learner.Q[0, game.s1], learner.mu[0, game.s1], nu, tried


def test_the_game_of_the_squares_is_fair_up_to_the_first_new_triple():
    """χ' has mean 0 where the books close after the draw of step f; closed before, it has not."""
    unfair = 0.0
    for Q, mu, nu, tried in first_draws():
        both = mu[:, None] * nu
        bet = (both * Q**2).sum() - Q**2
        assert abs((both * bet).sum()) < 1e-9
        unfair = max(unfair, abs((both * bet * tried).sum()))
    assert unfair > 0.1


def test_the_game_of_the_squares_needs_independent_draws():
    """Whoever sees the agent's move first makes V² exceed the mean of the squares."""
    Q = np.array([[1.0, 0.0], [0.0, 1.0]])
    plan = st.game_value(Q)
    mean = plan.row @ (Q**2).min(axis=1)
    assert plan.value**2 == pytest.approx(0.25) and mean == pytest.approx(0)


def test_true_values_may_exceed_the_plans():
    """V^(μ,ν) > V^k at states that are met, by what is given away there: V^(μ,ν) ≤ DQ^k."""
    above = [
        (steps.true - steps.value)[steps.true <= steps.mean].max(initial=0) for _, steps in runs()
    ]
    assert max(above) > 0.2
