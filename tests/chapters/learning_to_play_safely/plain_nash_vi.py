"""SafeNashVI as Algorithms 3 and 4 of the paper say it, repaired: dictionaries and loops."""

import itertools
import math

import numpy as np
from oracles.plain_memory import PlainMemory, filled


def solve_by_kernels(M):
    """The value of a small matrix game, by Shapley and Snow's square submatrices.

    Some pair of optimal strategies equalises the payoffs of a square submatrix; we try them all
    and keep the pair that leaves the least to gain.
    """
    M = np.asarray(M)
    m, n = M.shape
    pure = M.min(axis=1).max(), M.max(axis=0).min()
    if pure[0] == pure[1]:
        return pure[0]
    best = (math.inf, None)
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
                if min(x.min(), y.min()) >= 0:
                    sure, held = (x @ M).min(), (M @ y).max()
                    best = min(best, (held - sure, (sure + held) / 2))
    assert best[0] < 1e-10, M
    return best[1]


class PlainNashVI(PlainMemory):
    """The learner line by line, up to the strategies: an equilibrium need not be the only one.

    Departs from the printed lines where the library says that it does: the quantifiers of U_h^k
    are repaired, a banned row is left out, a doomed state is played without bans, a triple that
    was never tried has Q = H.
    """

    def __init__(self, known, *, episodes, delta, bonus_scale):
        super().__init__(known, delta=delta, bonus_scale=bonus_scale)
        self.episodes = episodes

    def alpha(self, n):
        k = self.known
        inside = 5 * k.S * k.A * k.B * k.H * self.episodes / self.delta
        return self.bonus_scale * 7 * k.H * math.sqrt(math.log(inside) / n)

    def plan(self):
        S, A, B, H = self.known.S, self.known.A, self.known.B, self.known.H
        flagged = self.flagged()
        self.U, self.safe = {H: flagged}, {}
        for h in range(H, 0, -1):
            for s in range(S):
                self.safe[h, s] = [
                    a
                    for a in range(A)
                    if h == H
                    or not any({*self.N.get((h, s, a, b), {})} & self.U[h + 1] for b in range(B))
                ]
            if h < H:
                self.U[h] = flagged | {s for s in range(S) if not self.safe[h, s]}
        self.Q, self.V = {}, {(H + 1, s): 0.0 for s in range(S)}
        self.rows = {}
        for h in range(H, 0, -1):
            for s in range(S):
                for a, b in itertools.product(range(A), range(B)):
                    self.Q[h, s, a, b] = self.backup(h, s, a, b)
                self.rows[h, s] = range(A) if s in self.U[h] else self.safe[h, s]
                M = [[self.Q[h, s, a, b] for b in range(B)] for a in self.rows[h, s]]
                self.V[h, s] = solve_by_kernels(M)

    def backup(self, h, s, a, b):
        counts = self.N.get((h, s, a, b))
        if counts is None:
            return float(self.known.H)
        n = sum(counts.values())
        expected = sum(counts[t] / n * self.V[h + 1, t] for t in counts)
        return min(self.known.H, self.known.r[h - 1, s, a, b] + expected + self.alpha(n))

    def arrays(self):
        """Q (H, S, A, B), V (H + 1, S), U (H, S), A^{k,safe} (H, S, A) and the rows played."""
        k = self.known
        Q = filled(np.empty((k.H, k.S, k.A, k.B)), self.Q)
        V = filled(np.empty((k.H + 1, k.S)), self.V)
        U, safe = self.masks()
        rows = np.zeros((k.H, k.S, k.A), bool)
        for (h, s), played in self.rows.items():
            rows[h - 1, s, list(played)] = True
        return Q, V, U, safe, rows
