"""Plans and evaluations as one would write them by hand with scipy.sparse."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from safeteach import SafeMDP


def matrix(mdp: SafeMDP) -> sp.csr_array:
    """P of a stationary world, one row a pair."""
    rows = mdp.rows(1)
    return sp.csr_array((rows.probability, rows.successors, rows.indptr), (mdp.S * mdp.A, mdp.S))


def safe_optimal(mdp: SafeMDP, P: sp.csr_array) -> tuple[NDArray[Any], NDArray[Any]]:
    """V and the policy, with the doomed states found on the way back."""
    H, S, A = mdp.H, mdp.S, mdp.A
    V, policy = np.zeros((H + 1, S)), np.empty((H, S), np.int64)
    doomed, banned = mdp.unsafe, np.zeros((S, A), bool)
    for h in range(H - 1, -1, -1):
        if h < H - 1:
            banned = ((P @ doomed.astype(float)) > 0).reshape(S, A)
            doomed = mdp.unsafe | banned.all(axis=1)
        Q = (P @ V[h + 1]).reshape(S, A)
        Q += mdp.r[h]
        Q[banned & ~doomed[:, None]] = -np.inf
        policy[h] = Q.argmax(axis=1)
        V[h] = Q[np.arange(S), policy[h]]
    return V, policy


def evaluate(mdp: SafeMDP, P: sp.csr_array, policy: NDArray[Any]) -> NDArray[np.float64]:
    """Value, violation, cost and danger from s_1."""
    future = np.zeros((mdp.S, 4))
    for h in range(mdp.H - 1, -1, -1):
        mine = np.arange(mdp.S) * mdp.A + policy[h]
        future = P[mine] @ future
        future[:, 0] += mdp.r[h].ravel()[mine]
        future[:, 1] += mdp.violation
        future[:, 2] += mdp.c
        future[mdp.unsafe, 3] = 1.0
    return future[mdp.s1]
