"""SUCBVI as Algorithm 1 of the paper says it: dictionaries and loops, slow and plain."""

import math

import numpy as np
from oracles.plain_memory import PlainMemory, filled


class PlainSUCBVI(PlainMemory):
    """The learner line by line; after ``plan`` its Q, V, U and policy are dictionaries.

    Departs from the printed lines where the library says that it does: a pair that was never tried
    has Q = H, and ``recursion="exact"`` starts each U_h^k from U_H^k.
    """

    def __init__(self, known, *, episodes, delta, bonus_scale, recursion):
        super().__init__(known, delta=delta, bonus_scale=bonus_scale)
        self.episodes = episodes
        self.recursion = recursion

    def alpha(self, n):
        S, A, H, K = self.known.S, self.known.A, self.known.H, self.episodes
        # Multiplied in the library's order: on a symmetric map rounding chooses between equals.
        scale = self.bonus_scale * 7 * H * math.sqrt(math.log(5 * S * A * H * K / self.delta))
        return scale * (1 / math.sqrt(n))

    def successors(self, h, s, a):
        return set(self.N.get((h, s, a), {}))

    def plan(self, rng):
        S, A, H = self.known.S, self.known.A, self.known.H
        states, actions = range(S), range(A)
        flagged = self.flagged()
        self.U = {H: flagged}
        self.safe = {(H, s): list(actions) for s in states}
        for h in range(H - 1, 0, -1):
            for s in states:
                meets = [self.successors(h, s, a) & self.U[h + 1] for a in actions]
                self.safe[h, s] = [a for a in actions if not meets[a]]
            cornered = {s for s in states if not self.safe[h, s]}
            self.U[h] = cornered | (self.U[h + 1] if self.recursion == "paper" else flagged)

        coins = rng.random((H, S))
        self.Q, self.policy = {}, {}
        self.V = {(H + 1, s): 0.0 for s in states}
        for h in range(H, 0, -1):
            for s in states:
                for a in actions:
                    self.Q[h, s, a] = self.backup(h, s, a)
                allowed = actions if s in self.U[h] else self.safe[h, s]
                self.V[h, s] = max(self.Q[h, s, a] for a in allowed)
                best = [a for a in allowed if self.Q[h, s, a] == self.V[h, s]]
                self.policy[h, s] = best[int(coins[h - 1, s] * len(best))]

    def backup(self, h, s, a):
        counts = self.N.get((h, s, a))
        if counts is None:
            return float(self.known.H)
        n = sum(counts.values())
        expected = sum(counts[t] / n * self.V[h + 1, t] for t in counts)
        return min(self.known.H, self.known.r[h - 1, s, a] + expected + self.alpha(n))

    def arrays(self):
        """Q (H, S, A), V (H + 1, S), U (H, S), policy (H, S) and A^{k,safe} (H, S, A)."""
        S, A, H = self.known.S, self.known.A, self.known.H
        U, safe = self.masks()
        Q, V = filled(np.empty((H, S, A)), self.Q), filled(np.empty((H + 1, S)), self.V)
        return Q, V, U, filled(np.empty((H, S), int), self.policy), safe
