"""The arrows of a stationary world, walked backwards once: since when each state is doomed.

Compiled; its plain form, level by level, is in :mod:`safeteach.safety`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from safeteach.kernels import compiled

__all__ = ["walk_back"]


@compiled
def walk_back(indptr: Any, successors: Any, unsafe: Any, H: int, A: int, back: Any) -> Any:
    """The last step at which each state is doomed, (S,), 0 where there is none.

    Parameters
    ----------
    indptr, successors : arrays
        The rows of one step; each pair (s, a) has as many as the adversary has replies.
    unsafe : (S,) bool array
    H, A : int
    back : (n,) int array as long as ``successors``, written to
        Room for the arrows reversed: the pairs that can lead into state 0, into state 1, ...
    """
    S = len(unsafe)
    B = (len(indptr) - 1) // (S * A)
    end = np.zeros(S, np.int64)  # how many arrows there are into t, then where they begin, then end
    for t in successors:
        end[t] += 1
    begin = 0
    for t in range(S):
        begin, end[t] = begin + end[t], begin
    for pair in range(S * A):
        for j in range(indptr[pair * B], indptr[(pair + 1) * B]):
            t = successors[j]
            back[end[t]] = pair
            end[t] += 1

    until = np.zeros(S, np.int64)
    queue, last = np.empty(S, np.int64), 0
    for s in range(S):
        if unsafe[s]:
            until[s] = H
            queue[last] = s
            last += 1
    # A queue takes states in the order in which they are doomed: an action is closed by the first
    # of its successors that comes, and a state when its last action is.
    closed = np.zeros(S * A, np.bool_)
    still_open = np.full(S, A, np.int64)
    first = 0
    while first < last and until[queue[first]] > 1:
        t = queue[first]
        first += 1
        for j in range(end[t - 1] if t > 0 else 0, end[t]):
            pair = back[j]
            if closed[pair]:
                continue
            closed[pair] = True
            s = pair // A
            still_open[s] -= 1
            if still_open[s] == 0 and until[s] == 0:
                until[s] = until[t] - 1
                queue[last] = s
                last += 1
    return until
