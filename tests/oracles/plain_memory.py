"""What the plain learners of this folder share: what was seen, and what that says of safety."""

import math

import numpy as np


class PlainMemory:
    """Counts and costs in dictionaries; ``plan`` of a learner fills ``U`` and ``safe``.

    β holds for every count at once, as in the library and not as printed.
    """

    def __init__(self, known, *, delta, bonus_scale):
        self.known = known
        self.delta = delta
        self.bonus_scale = bonus_scale
        self.N = {}  # (h, s, a), in games (h, s, a, b) -> {successor: how often}: keys are Δ_h^k
        self.costs = {}  # s -> the costs seen there

    def beta(self, n):
        return math.sqrt(2 / n * math.log(self.known.S * n * (n + 1) / self.delta))

    def flagged(self):
        return {
            s
            for s, seen in self.costs.items()
            if math.fsum(seen) / len(seen) - self.beta(len(seen)) > self.known.tau
        }

    def observe(self, episode):
        both = (episode.actions, episode.replies)
        chosen = [moves for moves in both if moves is not None]  # in an MDP nobody replies
        for h in range(1, self.known.H + 1):
            s, t = episode.states[h - 1], episode.states[h]
            counts = self.N.setdefault((h, s, *(moves[h - 1] for moves in chosen)), {})
            counts[t] = counts.get(t, 0) + 1
            self.costs.setdefault(s, []).append(episode.costs[h - 1])

    def masks(self):
        """U (H, S) and A^{k,safe} (H, S, A)."""
        S, A, H = self.known.S, self.known.A, self.known.H
        U, safe = np.zeros((H, S), bool), np.zeros((H, S, A), bool)
        for h in range(1, H + 1):
            U[h - 1, list(self.U[h])] = True
            for s in range(S):
                safe[h - 1, s, self.safe[h, s]] = True
        return U, safe


def filled(table, values):
    """The table, with ``values[h, ...]`` at the places ``h - 1, ...``."""
    for (h, *place), value in values.items():
        table[h - 1, *place] = value
    return table
