"""Backward induction and evaluation of a step, compiled, for worlds of many transitions.

Each gives the bits that :meth:`~safeteach.worlds.Rows.expect` would: a row is summed as numpy's
``np.add.reduceat`` does, its first number and then the pairwise sum of the others.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from safeteach.kernels import compiled, inlined

__all__ = ["back_up", "follow", "follow_to_the_end", "mix"]

SUMS = 4  # a constant, so that the loop over them is none: three sums and a probability
SIDE_BY_SIDE = 8  # fewer numbers than these numpy adds one by one,
BLOCK = 128  # and more than these in two halves


@compiled
def back_up(
    indptr: Any, successors: Any, probability: Any, r: Any, doomed: Any, doomed_after: Any,
    after: Any, V: Any, policy: Any,
) -> None:  # fmt: skip
    """The best allowed action of every state, and its value: ``policy`` and ``V`` are written to.

    Allowed is what leads to no state that is doomed afterwards, and everything where the state is
    doomed already; ``r`` is (S, A), all else (S,).
    """
    S, A = r.shape
    for s in range(S):
        chosen = -1
        best = 0.0
        for a in range(A):
            start, end = indptr[s * A + a], indptr[s * A + a + 1]
            total = probability[start] * after[successors[start]]
            banned = doomed_after[successors[start]]
            rest = 0.0
            for j in range(start + 1, end):
                rest += probability[j] * after[successors[j]]
                banned |= doomed_after[successors[j]]
            if end - start > SIDE_BY_SIDE:
                rest = _pairwise(successors, probability, after, start + 1, end)
            value = r[s, a] + (total + rest)
            if (doomed[s] or not banned) and (chosen < 0 or value > best):
                chosen, best = a, value
        V[s] = best
        policy[s] = chosen


@compiled
def follow(
    indptr: Any, successors: Any, probability: Any, r: Any, policy: Any, after: Any, sums: Any
) -> None:
    """What is expected of sums ``after`` (S, 4) before a step; ``sums`` is written to.

    ``policy`` is (S,) actions, and the first of the sums earns their r.
    """
    S, A = r.shape
    for s in range(S):
        i = s * A + policy[s]
        _expect(successors, probability, after, indptr[i], indptr[i + 1], sums, s)
        sums[s, 0] += r[s, policy[s]]


@compiled
def mix(
    indptr: Any, successors: Any, probability: Any, chances: Any, after: Any, sums: Any
) -> None:
    """The same for probabilities of actions, (S, n), without the rewards."""
    S, n = chances.shape
    expected = np.empty((1, SUMS))
    sums[:] = 0.0
    for s in range(S):
        for a in range(n):
            if chances[s, a] > 0:
                i = s * n + a
                _expect(successors, probability, after, indptr[i], indptr[i + 1], expected, 0)
                for k in range(SUMS):
                    sums[s, k] += chances[s, a] * expected[0, k]


@compiled
def follow_to_the_end(
    span: Any, successor: Any, probability: Any, r: Any, policy: Any, V: Any
) -> None:
    """The values of a policy (H, S) at every step: ``V`` (H + 1, S) is written to.

    The rows of all steps are those of :meth:`~safeteach.worlds.World.all_rows`.
    """
    H, S, A = r.shape
    per_step = S * A if len(span) == H * S * A else 0
    for h in range(H - 1, -1, -1):
        for s in range(S):
            i = h * per_step + s * A + policy[h, s]
            first, end = np.int64(span[i, 0]), np.int64(span[i, 1])  # no unsigned differences
            expected = _expect_one(successor, probability, V[h + 1], first, end)
            V[h, s] = expected + r[h, s, policy[h, s]]


@inlined
def _expect(
    successors: Any, probability: Any, after: Any, start: int, end: int, sums: Any, s: int
) -> None:
    """Σ_t P(t) after(t, k), over the places of one row, to ``sums[s, k]`` for all k."""
    if end - start > SIDE_BY_SIDE:
        for k in range(SUMS):
            sums[s, k] = _expect_one(successors, probability, after[:, k], start, end)
        return
    for k in range(SUMS):
        sums[s, k] = 0.0
    for j in range(start + 1, end):
        for k in range(SUMS):
            sums[s, k] += probability[j] * after[successors[j], k]
    for k in range(SUMS):
        sums[s, k] += probability[start] * after[successors[start], k]


@compiled
def _expect_one(successors: Any, probability: Any, V: Any, start: Any, end: Any) -> float:
    """Σ_t P(t) V(t) over the places of one row."""
    if end - start > SIDE_BY_SIDE:
        rest = _pairwise(successors, probability, V, start + 1, end)
    else:
        rest = 0.0
        for j in range(start + 1, end):
            rest += probability[j] * V[successors[j]]
    return probability[start] * V[successors[start]] + rest


@compiled
def _pairwise(successors: Any, probability: Any, V: Any, start: int, end: int) -> float:
    """A longer sum in numpy's order: of blocks, which are halves of halves of it.

    numpy's own function calls itself; this one keeps the halves that wait in a stack.
    """
    ends, lefts, waiting = np.zeros(64, np.int64), np.zeros(64), 0
    is_left = np.zeros(64, np.bool_)
    stop = end
    while True:
        while stop - start > BLOCK:
            ends[waiting], is_left[waiting] = stop, True
            waiting += 1
            stop = start + (stop - start) // 2 // SIDE_BY_SIDE * SIDE_BY_SIDE
        total = _block(successors, probability, V, start, stop)
        while waiting > 0 and not is_left[waiting - 1]:
            waiting -= 1
            total = lefts[waiting] + total
        if waiting == 0:
            return total
        lefts[waiting - 1], is_left[waiting - 1] = total, False
        start, stop = stop, ends[waiting - 1]


@compiled
def _block(successors: Any, probability: Any, V: Any, start: int, end: int) -> float:
    """At most 128 numbers: eight sums side by side, and what is left over."""
    x = np.zeros(SIDE_BY_SIDE)
    whole = end - (end - start) % SIDE_BY_SIDE
    for j in range(start, whole):
        x[(j - start) % SIDE_BY_SIDE] += probability[j] * V[successors[j]]
    total = ((x[0] + x[1]) + (x[2] + x[3])) + ((x[4] + x[5]) + (x[6] + x[7]))
    for j in range(whole, end):
        total += probability[j] * V[successors[j]]
    return total
