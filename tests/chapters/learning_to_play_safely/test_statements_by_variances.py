"""The second regret theorem; its lemma is tried beside the page that proves it."""

import itertools
import math

import numpy as np
import pytest
from oracles.squares import fickle, walk_game

import safeteach as st
from safeteach.bounds import regret_bound_variances
from safeteach.running.adversaries import ADVERSARIES


def test_game_regret_by_variances_line_by_line():
    """In every episode: H if it ends early, Σα + Σ|m| + Σξ up to f, and Ση with the draw of f.

    Gifts and caps are left out, for they only help; each of the other five is needed.
    """
    games = [st.instances.random_game(S=6, A=3, B=2, H=4, seed=10), st.instances.quay()]
    broken = np.zeros(5, int)
    for game, rival in itertools.product(games, [*ADVERSARIES.values(), fickle()]):
        steps = walk_game(game, rival, episodes=50, scale=0.005, seed=3)
        terms = np.array([
            steps.last, *(steps.total(x) for x in (steps.bonus, abs(steps.model), steps.luck)),
            steps.total(steps.draw, by=steps.drawn),
        ])  # fmt: skip
        most = terms.sum(axis=0)
        assert (steps.gap <= most + 1e-6).all()
        broken += [(steps.gap > most - term + 1e-6).sum() for term in terms]
        assert (abs(steps.luck) <= 2 * game.H).all() and (abs(steps.draw) <= 2 * game.H).all()
    assert (broken > 0).all(), broken


def bound(S, A, B, H, K, delta, successors):
    """The theorem, written out."""
    T, SAB = H * K, S * A * B
    rows = 2 * (successors - 1) * math.log(3) + 2 * math.log(SAB * H * K / delta)
    J = H**2 * SAB * rows * (1 + math.log(K))
    return (
        2 * H * math.sqrt(T * math.log(1 / delta))
        + 14 * math.sqrt(H**3 * SAB * T * math.log(5 * SAB * H * K / delta))
        + 3 * math.sqrt(T * J)
        + 5 * J
    )


def test_the_bound_of_a_game_by_variances_is_what_its_proof_adds_up():
    """That of an MDP with AB for A and two draws a step, and at least what the proof adds up."""
    for S, A, B, H, K in [(31, 5, 5, 8, 4_000), (3, 3, 2, 5, 10**6), (100, 2, 2, 3, 50)]:
        whole = bound(S, A, B, H, K, 0.005, successors=S / 2)
        more = (2 - math.sqrt(2)) * H * math.sqrt(H * K * math.log(200))
        one = regret_bound_variances(S, A * B, H, K, 0.005, successors=S / 2)
        assert whole == pytest.approx(one + more)
        SAB, T = S * A * B, H * K
        rows = 2 * (S / 2 - 1) * math.log(3) + 2 * math.log(SAB * H * K / 0.005)
        J = H**2 * SAB * rows * (1 + math.log(K))
        proved = 2 * H * math.sqrt(T * math.log(200)) + 4.67 * J
        proved += 14 * math.sqrt(H**3 * SAB * T * math.log(5 * SAB * H * K / 0.005))
        assert proved + 2.86 * math.sqrt(T * J) <= whole <= 1.1 * (proved + 2.86 * math.sqrt(T * J))
