"""Triple-Q line by line in plain Python, with steps 1..H and one action at a time."""

import math


class PlainTripleQ:
    """The learner; ``queue`` keeps the length of its queue after each frame."""

    def __init__(self, known, *, episodes, bonus_scale, budget, epsilon):
        S, A, H, K = known.S, known.A, known.H, episodes
        self.known, self.scale = known, bonus_scale
        self.rho, self.epsilon = H - budget, epsilon
        self.chi = self.eta = K**0.2
        self.frame = round(K**0.6)
        self.iota = 128 * math.log(math.sqrt(2 * S * A * H) * K)
        pairs = [(h, s, a) for h in range(1, H + 1) for s in range(S) for a in range(A)]
        self.Q, self.C = dict.fromkeys(pairs, float(H)), dict.fromkeys(pairs, float(H))
        self.N = dict.fromkeys(pairs, 0)
        self.Z, self.sum_of_C, self.episode = 0.0, 0.0, 0
        self.queue = []

    def best_actions(self, h, s):
        worth = [
            self.Q[h, s, a] + self.Z / self.eta * self.C[h, s, a] for a in range(self.known.A)
        ]
        return [a for a, w in enumerate(worth) if w == max(worth)]

    def act(self, h, s, coin):
        best = self.best_actions(h, s)
        return best[int(coin * len(best))]

    def observe(self, episode):
        H = self.known.H
        s, a = episode.states, episode.actions
        self.sum_of_C += self.C[1, s[0], a[0]]
        for h in range(1, H + 1):
            pair = h, s[h - 1], a[h - 1]
            last = h == H
            V = 0.0 if last else self.Q[h + 1, s[h], a[h]]
            W = 0.0 if last else self.C[h + 1, s[h], a[h]]
            self.N[pair] += 1
            t = self.N[pair]
            rate = (self.chi + 1) / (self.chi + t)
            bonus = self.scale * math.sqrt(H**2 * self.iota * (self.chi + 1) / (self.chi + t)) / 4
            utility = 1 - episode.costs[h - 1]
            self.Q[pair] = (1 - rate) * self.Q[pair] + rate * (episode.rewards[h - 1] + V + bonus)
            self.C[pair] = (1 - rate) * self.C[pair] + rate * (utility + W + bonus)
        self.episode += 1
        if self.episode % self.frame == 0:
            self.end_frame()

    def end_frame(self):
        H = self.known.H
        for pair in self.N:
            self.N[pair] = 0
            self.Q[pair] += self.scale * 2 * H**3 * math.sqrt(self.iota) / self.eta
            if self.Q[pair] >= H or self.C[pair] >= H:
                self.Q[pair] = self.C[pair] = float(H)
        self.Z = max(0.0, self.Z + self.rho + self.epsilon - self.sum_of_C / self.frame)
        self.sum_of_C = 0.0
        self.queue.append(self.Z)
