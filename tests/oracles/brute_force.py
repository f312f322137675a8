"""Small worlds for property tests, and the slow, obvious answers that they are compared with."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import strategies as st

from safeteach import SafeMDP


@st.composite
def worlds(draw, max_states=3, max_actions=3, max_policies=729):
    """A safe MDP with arbitrary supports, few enough policies to try them all."""
    S = draw(st.integers(1, max_states))
    A = draw(st.integers(1, max_actions))
    longest = max(h for h in range(1, 6) if A ** (S * (h - 1)) <= max_policies)
    H = draw(st.integers(1, min(longest, 4)))
    steps = H if draw(st.booleans()) else 1
    successors = st.integers(1, 2**S - 1)
    sets = draw(st.lists(successors, min_size=steps * S * A, max_size=steps * S * A))
    support = (np.array(sets)[:, None] >> np.arange(S)) & 1
    weight = support * draw(st.sampled_from([np.ones(S), 1.0 + np.arange(S)]))
    P = (weight / weight.sum(axis=1, keepdims=True)).reshape(steps, S, A, S)
    unsafe = np.array(draw(st.lists(st.booleans(), min_size=S, max_size=S)))
    reward = np.random.default_rng(draw(st.integers(0, 99))).random((steps, S, A))
    flat = steps == 1
    return SafeMDP(P[0] if flat else P, reward[0] if flat else reward,
                   c=np.where(unsafe, 0.8, 0.3), tau=0.5, H=H, s1=draw(st.integers(0, S - 1)))


def all_policies(mdp):
    """(n, H, S) every deterministic policy; the last action moves nowhere that counts."""
    free = itertools.product(range(mdp.A), repeat=mdp.S * (mdp.H - 1))
    choices = np.array(list(free), dtype=int)
    choices = choices.reshape(len(choices), mdp.H - 1, mdp.S)
    return np.concatenate([choices, np.zeros((len(choices), 1, mdp.S), int)], axis=1)


def meets_unsafe(mdp, policies, h, states):
    """(n,) bool: whether each policy, from a set of states at step h, can meet an unsafe one."""
    possible = mdp.P > 0
    here = np.broadcast_to(states, (len(policies), mdp.S))
    met = (here & mdp.unsafe).any(axis=1)
    for step in range(h, mdp.H):
        moves = possible[step - 1][np.arange(mdp.S), policies[:, step - 1]]
        here = (here[:, :, None] & moves).any(axis=1)
        met |= (here & mdp.unsafe).any(axis=1)
    return met


def episodes(mdp, choose):
    """Every episode with its probability and rewards, for a policy that may remember.

    ``choose(history)`` gives the probabilities of the actions after (s_1, a_1, ..., s_h).
    """
    open_ones = [((mdp.s1,), 1.0, 0.0)]
    for i in range(mdp.H):
        longer = []
        for x, p, earned in open_ones:
            for a, t in itertools.product(range(mdp.A), range(mdp.S)):
                chance = p * choose(x)[a] * mdp.P[i, x[-1], a, t]
                if chance > 0:
                    longer.append(((*x, a, t), chance, earned + mdp.r[i, x[-1], a]))
        open_ones = longer
    return open_ones


def worth(mdp, choose):
    """What such a policy is worth, by adding up its episodes."""
    return sum(p * earned for _, p, earned in episodes(mdp, choose))
