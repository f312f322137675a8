"""SRF-UCRL as Algorithm 2 of the paper says it: dictionaries and loops, slow and plain."""

import math

import numpy as np
from oracles.plain_memory import PlainMemory, filled


class PlainSRFUCRL(PlainMemory):
    """The learner line by line; after ``plan`` its W, U, safe and policy are dictionaries.

    Departs from the printed lines where the library says that it does: each U_h^k starts from
    U_H^k, and a pair that was never tried has W = H.
    """

    def gamma(self, n):
        S, A, H = self.known.S, self.known.A, self.known.H
        rows = (S - 1) * math.log(math.e * (1 + n / (S - 1))) if S > 1 else 0.0
        return 2 * (math.log(2 * S * A * H / self.delta) + rows)

    def bonus(self, n):
        S, H, g = self.known.S, self.known.H, self.gamma(n)
        return self.bonus_scale * (2 * H * math.sqrt(2 * g / n) + S * H * g / n)

    def look(self):
        """U_h^k and A_h^{k,safe}(s)."""
        S, A, H = self.known.S, self.known.A, self.known.H
        flagged = self.flagged()
        self.U = {H: flagged}
        self.safe = {(H, s): list(range(A)) for s in range(S)}
        for h in range(H - 1, 0, -1):
            for s in range(S):
                self.safe[h, s] = [
                    a for a in range(A) if not self.N.get((h, s, a), {}).keys() & self.U[h + 1]
                ]
            self.U[h] = flagged | {s for s in range(S) if not self.safe[h, s]}

    def allowed(self, h, s):
        """The mask is lifted where no safe action is left, and only there."""
        return self.safe[h, s] or list(range(self.known.A))

    def uncertainty(self, h, s, a):
        counts, H = self.N.get((h, s, a)), self.known.H
        if counts is None:
            return float(H)
        n = sum(counts.values())
        future = 0.0
        if h < H:
            is_safe = s not in self.U[h] and a in self.safe[h, s]
            for t, count in counts.items():
                among = self.safe[h + 1, t] if is_safe else range(self.known.A)
                future += count / n * max(self.W[h + 1, t, b] for b in among)
        return min(H, self.bonus(n) + future)

    def plan(self, rng):
        S, A, H = self.known.S, self.known.A, self.known.H
        self.look()
        coins = rng.random((H, S))
        self.W, self.policy = {}, {}
        for h in range(H, 0, -1):
            for s in range(S):
                for a in range(A):
                    self.W[h, s, a] = self.uncertainty(h, s, a)
                most = max(self.W[h, s, a] for a in self.allowed(h, s))
                best = [a for a in self.allowed(h, s) if self.W[h, s, a] == most]
                self.policy[h, s] = best[int(coins[h - 1, s] * len(best))]

    def plan_for(self, r):
        """The value at s_1 of the best feasible policy in what was seen, and all V."""
        S, H = self.known.S, self.known.H
        self.look()
        V = {(H + 1, s): 0.0 for s in range(S)}
        for h in range(H, 0, -1):
            for s in range(S):
                V[h, s] = 0.0
                for a in self.allowed(h, s):
                    counts = self.N.get((h, s, a))
                    if counts is not None:
                        n = sum(counts.values())
                        future = sum(counts[t] / n * V[h + 1, t] for t in counts)
                        V[h, s] = max(V[h, s], r[h - 1, s, a] + future)
        return np.array([[V[h, s] for s in range(S)] for h in range(1, H + 2)])

    def arrays(self):
        """W (H, S, A), U (H, S), policy (H, S) and A^{k,safe} (H, S, A)."""
        S, A, H = self.known.S, self.known.A, self.known.H
        U, safe = self.masks()
        W, policy = filled(np.empty((H, S, A)), self.W), filled(np.empty((H, S), int), self.policy)
        return W, U, policy, safe
