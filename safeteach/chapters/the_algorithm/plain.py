"""SUCBVI in plain Python: dictionaries and loops, close to the lines of Algorithm 1.

The chapter *The algorithm* shows it piece by piece, and tests compare the library's learner with
it.  What explorers and learners of games have in common with SUCBVI they take from here; in a game
there is a reply too, so a pair is longer and other actions look safe.  The pieces are read on a
page, by many who have not met types; so they have none.
"""

import math
from collections import Counter, defaultdict
from types import SimpleNamespace

import numpy as np

from safeteach.worlds.known import Episode

__all__ = [
    "Memory", "alpha_of_one_visit", "by_hand", "doomed", "flags", "looks_safe", "make_plan",
    "optimistic_Q", "remember", "walk",
]  # fmt: skip

Sets = dict[int, set[int]]  # U[h] for h = 1..H


class Memory:
    """What was seen; before the first episode that is nothing."""

    def __init__(self):
        self.after = defaultdict(Counter)  # (h, s, a): how often each s' came
        self.visits = defaultdict(int)  # s: N(s)
        self.paid = defaultdict(float)  # s: the sum of the costs seen there


def remember(seen, episode):
    """Count each transition and each cost."""
    s, a = episode.states.tolist(), episode.actions.tolist()
    for h, cost in enumerate(episode.costs.tolist(), start=1):
        seen.after[h, s[h - 1], a[h - 1]][s[h]] += 1
        seen.visits[s[h - 1]] += 1
        seen.paid[s[h - 1]] += cost


def flags(seen, known, delta):
    """The states whose costs chance cannot explain."""
    flagged = set()
    for s, n in seen.visits.items():
        beta = math.sqrt(2 * math.log(known.S * n * (n + 1) / delta) / n)
        if seen.paid[s] / n - beta > known.tau:
            flagged.add(s)
    return flagged


def looks_safe(seen, known, U, h, s):
    """The actions with no seen successor in U_{h+1}."""
    danger = U.get(h + 1, set())  # nothing after the last step
    after = [seen.after.get((h, s, a), ()) for a in range(known.A)]
    return [a for a in range(known.A) if danger.isdisjoint(after[a])]


def doomed(seen, known, flagged, safe_ones=looks_safe):
    """U_1, .., U_H: the flagged, and those without an action that looks safe."""
    U = {known.H: flagged}
    for h in range(known.H - 1, 0, -1):
        stuck = {s for s in range(known.S)
                 if not safe_ones(seen, known, U, h, s)}
        U[h] = flagged | stuck
    return U


def alpha_of_one_visit(known, episodes, delta, scale):
    """The bonus of a pair that was tried once."""
    pairs = known.r[0].size  # S A of them
    log = math.log(5 * pairs * known.H * episodes / delta)
    return scale * 7 * known.H * math.sqrt(log)


def optimistic_Q(seen, known, alpha, V_next, h, *pair):
    """Reward, future and bonus of a pair (s, a), at most H."""
    after = seen.after.get((h, *pair))
    if not after:
        return float(known.H)  # never tried: as good as anything can be
    n, future = after.total(), 0.0
    for t, m in after.items():
        future += m / n * V_next[t]
    reward = float(known.r[h - 1, *pair])
    return min(known.H, reward + future + alpha * (1 / math.sqrt(n)))


def make_plan(seen, known, U, alpha, ties):
    """Q, V and the policy, by backward induction over the allowed actions."""
    H, S, A = known.H, known.S, known.A
    Q, V = np.empty((H, S, A)), np.zeros((H + 1, S))
    policy = np.empty((H, S), int)
    for h in range(H, 0, -1):
        V_next = V[h].tolist()
        for s in range(S):
            q = [optimistic_Q(seen, known, alpha, V_next, h, s, a)
                 for a in range(A)]
            allowed = [] if s in U[h] else looks_safe(seen, known, U, h, s)
            allowed = allowed or list(range(A))  # in U_h^k the mask is lifted
            most = max(q[a] for a in allowed)
            best = [a for a in allowed if q[a] == most]
            policy[h - 1, s] = best[int(ties[h - 1, s] * len(best))]
            Q[h - 1, s], V[h - 1, s] = q, most
    return Q, V, policy


def walk(mdp, P, policy, uniform, noise):
    """Live through one episode, with given luck."""
    s, actions = [mdp.s1], []
    for h in range(1, mdp.H + 1):
        actions.append(policy[h - 1, s[-1]])
        row = P[h - 1, s[-1], actions[-1]]
        s.append(int(np.searchsorted(row.cumsum(), uniform[h - 1], side="right")))
    states, a = np.array(s), np.array(actions)
    rewards = mdp.r[np.arange(mdp.H), states[:-1], a]
    return Episode(states, a, rewards, mdp.c[states[:-1]] + noise)


def by_hand(
    mdp, episodes, seed, spread=doomed, delta=0.005, scale=0.01, noise=1.0
):
    """Yield each episode with what was planned for it, then remember it."""
    known, seen, P = mdp.known, Memory(), mdp.P
    alpha = alpha_of_one_visit(known, episodes, delta, scale)
    streams = np.random.SeedSequence(seed).spawn(4)
    # the second is for policies that choose at random
    moves, _, noises, ties = map(np.random.default_rng, streams)
    for _ in range(episodes):
        U = spread(seen, known, flags(seen, known, delta))
        coins = ties.random((known.H, known.S))
        Q, V, policy = make_plan(seen, known, U, alpha, coins)
        luck = moves.random(known.H), noise * noises.standard_normal(known.H)
        episode = walk(mdp, P, policy, *luck)
        yield SimpleNamespace(
            seen=seen, U=U, Q=Q, V=V, policy=policy, episode=episode
        )
        remember(seen, episode)
