"""What a raw table of Gymnasium says of the best safe plan: backwards over its dicts, no arrays."""

from __future__ import annotations


def never(_s, _a, _t, _reward):
    return False


def best_safe(env, H, bad=(), fall=never):
    """(whether every start is safe, the best value among plans without danger) of H steps.

    ``bad`` states are danger at steps 1..H, and so is an outcome that ``fall`` names, unless it is
    that of step H.  Where no action is safe, all are allowed.
    """
    env = getattr(env, "unwrapped", env)
    P = env.P
    doomed, value = set(), dict.fromkeys(P, 0.0)
    for h in range(H, 0, -1):
        now, best = set(bad), {}
        for s in P:
            worth = {True: [], False: []}  # of safe actions, and of others
            for a, outcomes in P[s].items():
                outcomes = [x for x in outcomes if x[0] > 0]
                safe = h == H or not any(
                    fall(s, a, t, r) or (t in bad if ends else t in doomed)
                    for _, t, r, ends in outcomes
                )
                paid = sum(p * (r + (0 if ends else value[t])) for p, t, r, ends in outcomes)
                worth[safe].append(paid)
            if not worth[True]:
                now.add(s)
            allowed = worth[True] if s not in now else worth[True] or worth[False]
            best[s] = max(allowed)
        doomed, value = now, best
    starts = [(p, s) for s, p in enumerate(env.initial_state_distrib) if p > 0]
    return all(s not in doomed for _, s in starts), sum(p * value[s] for p, s in starts)


def follow(env, H, choose, bad=(), fall=never):
    """(value, expected number of steps in danger) of the plan ``choose(s, h)``, exactly."""
    env = getattr(env, "unwrapped", env)
    P = env.P
    value, danger = dict.fromkeys(P, 0.0), dict.fromkeys(P, 0.0)
    for h in range(H, 0, -1):
        paid, met = {}, {}
        for s in P:
            paid[s], met[s] = 0.0, float(s in bad)
            for p, t, r, ends in P[s][choose(s, h)]:
                fell = fall(s, choose(s, h), t, r)
                paid[s] += p * (r + (0 if ends else value[t]))
                if ends:
                    met[s] += p * (H - h) * (fell or t in bad)
                elif h < H:
                    met[s] += p * (danger[t] + fell)
        value, danger = paid, met
    starts = [(p, s) for s, p in enumerate(env.initial_state_distrib) if p > 0]
    return sum(p * value[s] for p, s in starts), sum(p * danger[s] for p, s in starts)
