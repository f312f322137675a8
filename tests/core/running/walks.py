"""A world as an environment that can only be stepped, for the tests."""

from types import SimpleNamespace

import numpy as np


def inverse_cdf(probability, uniform):
    """The first index at which the sum of the probabilities so far exceeds the uniform number."""
    return min(int((np.cumsum(probability) <= uniform).sum()), len(probability) - 1)


class Walk:
    """A SafeMDP with random numbers of its own.

    Parameters
    ----------
    mdp : SafeMDP
    noise : float
    shared : bool
        Whether its numbers are those that a run in the world itself would draw.
    ends : states in which an episode is terminated
    limit : int
        After how many steps it is truncated, by default H.
    """

    def __init__(self, mdp, noise=0.0, *, shared=False, ends=(), limit=None):
        self.mdp, self.noise, self.shared, self.ends = mdp, noise, shared, ends
        self.limit = limit or mdp.H
        self.observation_space = SimpleNamespace(n=np.int64(mdp.S), start=0)
        self.action_space = SimpleNamespace(n=mdp.A)
        self.P = mdp.P
        self.seeds = []

    def reset(self, *, seed=None):
        self.seeds.append(seed)
        if seed is not None:
            children = np.random.SeedSequence(seed).spawn(4)[::2]
            if not self.shared:
                children = np.random.SeedSequence([seed, 1]).spawn(2)
            self.moves, self.noises = map(np.random.default_rng, children)
        self.h, self.s = 0, self.mdp.s1
        return np.int64(self.s), {}

    def step(self, action):
        assert type(action) is int
        h, s, mdp = self.h, self.s, self.mdp
        cost = mdp.c[s] + self.noise * self.noises.standard_normal()
        self.s = inverse_cdf(self.P[h, s, action], self.moves.random())
        self.h += 1
        info, terminated = {"cost": cost}, self.s in self.ends
        if terminated:
            info["terminal_cost"] = mdp.c[self.s]
        return self.s, mdp.r[h, s, action], terminated, self.h == self.limit, info


class Told(Walk):
    """One that says something else than it should, from a step on."""

    def __init__(self, mdp, place, value, step=3):
        super().__init__(mdp)
        self.place, self.value, self.since = place, value, step

    def step(self, action):
        told = list(super().step(action))
        if self.h >= self.since:
            told[self.place] = self.value
        return tuple(told)
