"""Learners that know the world: P̂ = P and ĉ = c, as after very many visits of everything."""

import numpy as np

import safeteach as st

VISITS = 10**8


def teach(learner, mdp):
    """Write into a learner's model counts in exact proportion to P, and the true costs."""
    span, successor, probability = mdp.all_rows()
    seen, copies = learner.transitions, mdp.H if mdp.stationary else 1
    seen.reached[:] = True
    seen.visits[:] = VISITS
    seen.inverse_root[:] = VISITS**-0.5
    seen.span[:] = np.tile(span, (copies, 1))
    seen.successor = successor
    seen.count = np.rint(probability * VISITS).astype(np.int64)
    seen.share = seen.count / VISITS
    assert (seen.P_hat == mdp.P.reshape(seen.P_hat.shape)).all()  # of a game: pairs of actions
    learner.costs.N[:] = VISITS
    learner.costs.mean[:] = mdp.c
    return learner


def world_in_eighths(seed, *, S=7, A=3, H=5, stationary=True):
    """A random world whose probabilities are multiples of 1/8, so that counts can match them."""
    rng = np.random.default_rng(seed)
    steps = 1 if stationary else H
    few = rng.random((steps, S, A, S)) * (rng.random((steps, S, A, S)) < 3 / S)
    few[..., 0] += 1e-9  # no row without a successor
    P = rng.multinomial(8, few / few.sum(axis=3, keepdims=True)) / 8
    c = np.where(rng.random(S) < 0.3, 0.5 + rng.uniform(0.1, 0.5, S), rng.uniform(0, 0.5, S))
    r = rng.random((steps, S, A))
    return st.SafeMDP(P[0] if stationary else P, r[0] if stationary else r, c, 0.5, H)
