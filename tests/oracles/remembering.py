"""The model in which a state says whether one before it was unsafe: dense, for linear programs."""

import numpy as np


def remembering(mdp):
    """P (H, 2S, A, 2S), r and c (H, 2S, A) and the start; c is 1 in the first unsafe state.

    State s has seen no unsafe one before itself, S + s has.
    """
    H, S, A = mdp.H, mdp.S, mdp.A
    P, c = np.zeros((H, 2, S, A, 2, S)), np.zeros((H, 2, S, A))
    for s in range(S):
        P[:, 0, s, :, int(mdp.unsafe[s])] = P[:, 1, s, :, 1] = mdp.P[:, s]
        c[:, 0, s] = mdp.unsafe[s]
    r = np.repeat(mdp.r[:, None], 2, axis=1)
    shape = H, 2 * S, A
    return P.reshape(*shape, 2 * S), r.reshape(shape), c.reshape(shape), mdp.s1
