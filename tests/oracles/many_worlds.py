"""Thousands of small worlds at a time, and what all plans in them and Storm say about danger."""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from oracles.brute_force_games import all_tables
from oracles.storm import minimal_risk, storm_model

import safeteach as st


class Sizes(NamedTuple):
    S: int
    A: int
    B: int
    H: int
    stationary: bool


# A game has B > 1.  In two states nothing is doomed more than a step before it is met, in three
# more than two: most of these are longer than that.
SIZES = [
    Sizes(S, A, B, H, stationary)
    for S, A, B, H in [
        (3, 2, 1, 4), (3, 3, 1, 3), (2, 3, 1, 4), (4, 2, 1, 3), (2, 2, 1, 6), (4, 3, 1, 1),
        (1, 2, 1, 3), (2, 2, 2, 3), (3, 2, 2, 2), (2, 3, 2, 3), (2, 2, 3, 3), (2, 1, 2, 5),
    ]
    for stationary in (True, False)
]  # fmt: skip


def draw(sizes: Sizes, n: int, seed: int):
    """(n, H, S, A, B, S) bool, what can follow in n worlds, and (n, S) bool, what is unsafe."""
    rng = np.random.default_rng([seed, *sizes])
    S, A, B, H, stationary = sizes
    shape = (n, 1 if stationary else H, S, A, B)
    density = rng.choice([0.1, 0.3, 0.6], (n, 1, 1, 1, 1, 1))
    support = rng.random((*shape, S)) < density
    support |= np.eye(S, dtype=bool)[rng.integers(S, size=shape)]  # one successor at least
    unsafe = rng.random((n, S)) < rng.choice([0, 0.2, 0.4, 0.6, 1], (n, 1))
    return np.broadcast_to(support, (n, H, S, A, B, S)), unsafe


def world(sizes: Sizes, support, unsafe, s1):
    """One of them as the library's own object, all successors equally likely."""
    S, A, B, H, stationary = sizes
    P = support / support.sum(axis=-1, keepdims=True)
    P, r = (P[0], np.zeros((S, A, B))) if stationary else (P, np.zeros((H, S, A, B)))
    c = np.where(unsafe, 0.8, 0.3)
    if B == 1:
        return st.SafeMDP(P[..., 0, :], r[..., 0], c, 0.5, H, s1)
    return st.SafeGame(P, r, c, 0.5, H, s1)


def by_all_plans(sizes: Sizes, support, unsafe):
    """U (n, H, S) and the safe actions (n, H, S, A): every plan of one against all of the other."""
    S, A, B, H, _ = sizes
    agents, rivals = all_tables(A, H - 1, S)[:, None], all_tables(B, H - 1, S)[None]
    plans = (len(unsafe), agents.shape[0], rivals.shape[1], S)
    U = np.empty((len(unsafe), H, S), bool)
    safe = np.ones((len(unsafe), H, S, A), bool)
    met = np.broadcast_to(unsafe[:, None, None], plans)  # from here on, by these two plans
    U[:, -1] = unsafe
    for i in range(H - 2, -1, -1):
        for s, a in itertools.product(range(S), range(A)):
            after = support[:, i, s, a].any(axis=1)  # by whatever reply
            danger = (met & after[:, None, None]).any(axis=3).any(axis=2)
            safe[:, i, s, a] = ~danger.all(axis=1)
        moves = support[:, i, np.arange(S), agents[:, :, i], rivals[:, :, i]]
        met = unsafe[:, None, None] | (moves & met[:, :, :, None]).any(axis=4)
        U[:, i] = met.any(axis=2).all(axis=1)
    return U, safe


def by_storm(sizes: Sizes, support, unsafe):
    """The same by one question to Storm about all worlds side by side, a state for each step.

    A reply of the adversary is as good as chance: what matters is where it can lead.
    """
    S, A, _, H, _ = sizes
    n = len(unsafe)
    can = support.any(axis=4).copy()  # (n, H, S, A, S)
    can[:, -1] = np.eye(S, dtype=bool)[:, None]  # the last step leads nowhere else
    row = np.ravel_multi_index(np.nonzero(can)[:-1], can.shape[:-1])
    w, i, _, _, t = np.nonzero(can)
    column = (w * H + np.minimum(i + 1, H - 1)) * S + t
    P = sp.csr_array((np.ones(len(row)), (row, column)), (n * H * S * A, n * H * S))
    P = sp.csr_array(P / P.sum(axis=1)[:, None])
    c = np.repeat(unsafe[:, None], H, axis=1).ravel() * 1.0
    one = st.SafeMDP(P, np.zeros((n * H * S, A)), c, 0.5, H)
    U = (minimal_risk(storm_model(one), H - 1) > 0).reshape(n, H, S)
    safe = np.ones((n, H, S, A), bool)
    safe[:, :-1] = ~(can[:, :-1] & U[:, 1:, None, None]).any(axis=4)
    return U, safe
