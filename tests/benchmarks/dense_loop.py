"""UCBVI as one compiled loop with dense backups: how fast a run could be that keeps nothing.

All episodes are one call.  Nothing is kept but counts: no history, no regret, no policy, and
numba's own random numbers.  A row of P̂ is S numbers, however few of them are not 0.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from safeteach import SafeMDP


def dense_ucbvi(
    mdp: SafeMDP, episodes: int, bonus_scale: float, delta: float = 0.005
) -> NDArray[np.float64]:
    """Run UCBVI in a world; (H, S, A) numbers of visits."""
    alpha = bonus_scale * 7 * mdp.H
    alpha *= math.sqrt(math.log(5 * mdp.S * mdp.A * mdp.H * episodes / delta))
    return _loop(np.cumsum(mdp.P, axis=3), mdp.r, mdp.s1, episodes, alpha)


# A sum may be reordered, so that P̂V takes several successors at once.
@njit(cache=True, error_model="numpy", fastmath={"reassoc", "contract"})
def _loop(cumulated, r, s1, episodes, alpha):
    """Plan, play and count; the visits."""
    H, S, A = r.shape
    visits = np.zeros((H, S, A))
    counts = np.zeros((H, S, A, S))
    Q = np.empty((H, S, A))
    V = np.zeros((H + 1, S))
    for _ in range(episodes):
        for h in range(H - 1, -1, -1):
            for s in range(S):
                V[h, s] = 0.0
                for a in range(A):
                    n = visits[h, s, a]
                    future = 0.0
                    for t in range(S):
                        future += counts[h, s, a, t] * V[h + 1, t]
                    # an untried action has an infinite bonus, and so Q = H
                    Q[h, s, a] = min(H, r[h, s, a] + future / max(n, 1) + alpha / math.sqrt(n))
                    V[h, s] = max(V[h, s], Q[h, s, a])
        s = s1
        for h in range(H):
            a = _one_of_the_best(Q[h, s], V[h, s])
            u = np.random.random()  # noqa: NPY002, numba's own numbers cost least
            t = np.searchsorted(cumulated[h, s, a], u, side="right")
            t = min(t, S - 1)  # where probabilities sum to a little less than 1
            visits[h, s, a] += 1
            counts[h, s, a, t] += 1
            s = t
    return visits


@njit(cache=True)
def _one_of_the_best(q, best):
    """Any of the actions with the best value, each as likely as the others."""
    skip = np.random.randint((q == best).sum())  # noqa: NPY002
    for a in range(len(q)):
        if q[a] == best:
            if skip == 0:
                return a
            skip -= 1
    return -1
