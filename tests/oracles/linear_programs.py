"""Linear programs solved by HiGHS: oracles for budgets and for matrix games."""

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

TIGHT = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


def occupancy_lp(mdp, budget):
    """max Σ q·r with q the occupancies of a policy and Σ q·c at most the budget; None if none."""
    c = np.broadcast_to(mdp.c[:, None], mdp.r.shape)
    return model_lp(mdp.P, mdp.r, c, mdp.s1, budget)


def model_lp(P, r, c, s1, budget):
    """The same in a model P (H, S, A, S), whose rows may sum to less, with r and c (H, S, A)."""
    H, S, A = r.shape
    pairs = S * A
    leave = sp.kron(sp.identity(S), np.ones((1, A)))  # (S, S*A): what leaves each state
    blocks = [[None] * H for _ in range(H)]
    for i in range(H):
        blocks[i][i] = leave
        if i:
            blocks[i][i - 1] = -sp.csr_array(P[i - 1].reshape(pairs, S).T)
    start = np.zeros(H * S)
    start[s1] = 1
    solved = linprog(
        -r.ravel(),
        A_ub=c.reshape(1, -1),
        b_ub=[budget],
        A_eq=sp.block_array(blocks, format="csr"),
        b_eq=start,
        method="highs",
        options=TIGHT,
    )
    return -solved.fun if solved.status == 0 else None


def model_worth(P, x, s1, policy):
    """The expected sum of x (H, S, A) under a policy, (H, S, A) probabilities, in such a model."""
    V = np.zeros(P.shape[1])
    for i in reversed(range(len(P))):
        V = (policy[i] * (x[i] + P[i] @ V)).sum(axis=1)
    return V[s1]


def lp_value(M):
    """The value of a matrix game by scipy's linear program, on the matrix scaled to [0, 1]."""
    low, width = M.min(), M.max() - M.min() or 1.0
    m, n = M.shape
    found = linprog(
        c=np.append(np.zeros(m), -1.0),
        A_ub=np.hstack([-((M - low) / width).T, np.ones((n, 1))]),
        b_ub=np.zeros(n),
        A_eq=np.append(np.ones(m), 0.0)[None],
        b_eq=[1.0],
        bounds=[(0, None)] * m + [(None, None)],
        method="highs",
        options=TIGHT,
    )
    assert found.status == 0, found.message
    return low - found.fun * width
