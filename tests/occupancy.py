"""The linear program over occupancies, solved by HiGHS: an oracle for budgets."""

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog


def occupancy_lp(mdp, budget):
    """max Σ q·r with q the occupancies of a policy and Σ q·c at most the budget; None if none."""
    H, S, A = mdp.H, mdp.S, mdp.A
    pairs = S * A
    leave = sp.kron(sp.identity(S), np.ones((1, A)))  # (S, S*A): what leaves each state
    blocks = [[None] * H for _ in range(H)]
    for i in range(H):
        blocks[i][i] = leave
        if i:
            blocks[i][i - 1] = -sp.csr_array(mdp.P[i - 1].reshape(pairs, S).T)
    start = np.zeros(H * S)
    start[mdp.s1] = 1
    solved = linprog(
        -mdp.r.ravel(),
        A_ub=np.tile(np.repeat(mdp.c, A), H)[None],
        b_ub=[budget],
        A_eq=sp.block_array(blocks, format="csr"),
        b_eq=start,
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    return -solved.fun if solved.status == 0 else None
