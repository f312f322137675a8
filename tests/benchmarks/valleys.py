"""A stationary world of any size in which danger spreads far, but not everywhere."""

import numpy as np
import scipy.sparse as sp

import safeteach as st

LENGTH = 4_000


def valleys(S: int, H: int, every: int = 8, A: int = 4, seed: int = 0) -> st.SafeMDP:
    """Rings of 4,000 states, one of ``every`` so many with a few hazards side by side.

    An action may lead to two states behind and two ahead, at most eight away, whichever chance
    gave it: doom goes both ways around the ring by a few states at every step, and is under way
    for hundreds.  The agent starts where there is no hazard.
    """
    rng = np.random.default_rng(seed)
    ahead = rng.integers([-8, -4, 1, 5], [-4, 0, 5, 9], (S, A, 4))
    ring, place = np.divmod(np.arange(S), LENGTH)
    ahead = (place[:, None, None] + ahead) % LENGTH
    towards = np.sort(ring[:, None, None] * LENGTH + ahead, axis=2).astype(np.int32)
    weight = rng.uniform(0.1, 1.0, (S, A, 4))
    weight /= weight.sum(axis=2, keepdims=True)
    starts = np.arange(0, towards.size + 1, 4, np.int32)
    P = sp.csr_array((weight.ravel(), towards.ravel(), starts), (S * A, S))
    c = np.where((place < 8) & (ring % every == 1), 1.0, 0.2)
    return st.SafeMDP(P, rng.random((S, A)), c, tau=0.5, H=H)
