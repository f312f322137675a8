"""What the plain learners of the chapters know, as the arrays that the library's learners have."""

import numpy as np


def masks(looks_safe, seen, known, U):
    """U (H, S) and A^{k,safe} (H, S, A), from sets of states and a function that lists actions."""
    doomed = np.zeros((known.H, known.S), bool)
    safe = np.zeros((known.H, known.S, known.A), bool)
    for h in range(1, known.H + 1):
        doomed[h - 1, list(U[h])] = True
        for s in range(known.S):
            safe[h - 1, s, looks_safe(seen, known, U, h, s)] = True
    return doomed, safe
