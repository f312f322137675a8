"""Small games, and the slow, obvious answers that the library's are compared with."""

from __future__ import annotations

import itertools
import math
from types import SimpleNamespace

import numpy as np

import safeteach as st


def gap(M, row, column):
    """What both sides together could gain by another strategy, in units of the matrix's range."""
    M = M / 2 - M.min() / 2  # half the range cannot overflow, and differences stay exact
    M = M / (M.max() or 1.0)
    return (M @ column).max() - (row @ M).min()


def solve_by_kernels(M):
    """A small matrix game, by Shapley and Snow's square submatrices.

    Some pair of optimal strategies equalises the payoffs of a square submatrix; we try them all
    and keep the pair that leaves the least to gain.
    """
    m, n = M.shape
    least, most = M.min(axis=1), M.max(axis=0)
    if least.max() == most.min():
        row, column = np.eye(m)[least.argmax()], np.eye(n)[most.argmin()]
        return SimpleNamespace(value=least.max(), row=row, column=column)
    best, left = None, math.inf
    for k in range(2, min(m, n) + 1):
        for rows in itertools.combinations(range(m), k):
            for columns in itertools.combinations(range(n), k):
                K = np.zeros((k + 1, k + 1))
                K[:k, :k] = M[np.ix_(rows, columns)]
                K[k, :k], K[:k, k] = 1.0, -1.0
                ends = np.eye(k + 1)[k]
                x, y = np.zeros(m), np.zeros(n)
                try:
                    y[list(columns)] = np.linalg.solve(K, ends)[:k]
                    K[:k, :k] = K[:k, :k].T.copy()
                    x[list(rows)] = np.linalg.solve(K, ends)[:k]
                except np.linalg.LinAlgError:
                    continue
                sure, held = (x @ M).min(), (M @ y).max()
                if min(x.min(), y.min()) >= 0 and held - sure < left:
                    left = held - sure
                    best = SimpleNamespace(value=(sure + held) / 2, row=x, column=y)
    assert left < 1e-10, M
    return best


def any_game(seed, S=3, A=2, B=2, H=3):
    """A game with arbitrary supports, every other one step-dependent, whose unsafe states vary."""
    rng = np.random.default_rng(seed)
    steps = H if seed % 2 else 1
    possible = rng.random((steps, S, A, B, S)) < rng.choice([0.15, 0.3, 0.5])
    possible |= ~possible.any(axis=4, keepdims=True) & np.eye(S, dtype=bool)[
        rng.integers(S, size=possible.shape[:-1])
    ]
    P = possible * rng.uniform(0.5, 1, possible.shape)
    P /= P.sum(axis=4, keepdims=True)
    r = rng.random((steps, S, A, B))
    c = np.where(rng.random(S) < 0.35, rng.uniform(0.6, 1, S), 0.3)
    flat = steps == 1
    return st.SafeGame(P[0] if flat else P, r[0] if flat else r, c, 0.5, H, int(rng.integers(S)))


def alone(game):
    """The MDP that a game with one reply is."""
    assert game.B == 1
    P, r = game.P[:, :, :, 0], game.r[:, :, :, 0]
    if game.stationary:
        P, r = P[0], r[0]
    return st.SafeMDP(P, r, game.c, game.tau, game.H, game.s1)


def all_tables(n, H, S):
    """(count, H, S) every table of choices among n."""
    every = list(itertools.product(range(n), repeat=H * S))
    return np.array(every, int).reshape(len(every), H, S)


def can_meet_unsafe(game, agents, rivals, h, states):
    """(agents, rivals) bool: whether two tables of moves can lead from states to an unsafe one."""
    possible = game.P > 0
    here = np.broadcast_to(states, (len(agents), len(rivals), game.S))
    met = (here & game.unsafe).any(axis=2)
    for step in range(h, game.H):
        a, b = agents[:, None, step - 1], rivals[None, :, step - 1]
        moves = possible[step - 1][np.arange(game.S), a, b]
        here = (here[..., None] & moves).any(axis=2)
        met |= (here & game.unsafe).any(axis=2)
    return met


def worths(game, mu, nu):
    """(H, S) what the agent earns from each step and state on, one addition at a time."""
    P, V = game.P, {(game.H + 1, t): 0.0 for t in range(game.S)}
    for h in range(game.H, 0, -1):
        for s in range(game.S):
            V[h, s] = sum(
                mu[h - 1][s][a] * nu[h - 1][s][b] * (
                    game.r[h - 1, s, a, b]
                    + sum(P[h - 1, s, a, b, t] * V[h + 1, t] for t in range(game.S))
                )
                for a in range(game.A) for b in range(game.B)
            )  # fmt: skip
    return np.array([[V[h, s] for s in range(game.S)] for h in range(1, game.H + 1)])


def normal_form(game, agents, rivals):
    """(agents, rivals, H, S) what every table of moves earns against every other."""
    V = np.zeros((len(agents), len(rivals), game.H + 1, game.S))
    s = np.arange(game.S)
    for i in reversed(range(game.H)):
        a, b = agents[:, None, i], rivals[None, :, i]
        V[:, :, i] = game.r[i][s, a, b] + (game.P[i][s, a, b] * V[:, :, i + 1, None]).sum(axis=3)
    return V[:, :, :-1]


def random_strategy(game, n, seed):
    """(H, S, n) probabilities, some of them 0."""
    rng = np.random.default_rng(seed)
    weight = rng.exponential(size=(game.H, game.S, n)) * (rng.random((game.H, game.S, n)) < 0.7)
    weight[~weight.any(axis=2)] = 1.0
    return weight / weight.sum(axis=2, keepdims=True)
