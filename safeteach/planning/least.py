"""The least risk of a step, compiled, for worlds of many transitions: the same bits as numpy's."""

from __future__ import annotations

from typing import Any

import numpy as np

from safeteach.kernels import compiled
from safeteach.planning.backward import SIDE_BY_SIDE, _pairwise
from safeteach.planning.risk import ROUNDING, UNDERFLOW

__all__ = ["back_up_risk"]


@compiled
def back_up_risk(
    indptr: Any, successors: Any, probability: Any, r: Any, unsafe: Any, rho_after: Any,
    V_after: Any, rho: Any, V: Any, policy: Any,
) -> None:  # fmt: skip
    """The best action of least risk of every state: ``rho``, ``V`` and ``policy`` are written to.

    ``r`` is (S, A), all else (S,).
    """
    S, A = r.shape
    danger, worth = np.empty(A), np.empty(A)
    for s in range(S):
        least = 1.0
        for a in range(A):
            start, end = indptr[s * A + a], indptr[s * A + a + 1]
            first = successors[start]
            risk, value = probability[start] * rho_after[first], probability[start] * V_after[first]
            possible = rho_after[first] > 0
            risk_rest, value_rest = 0.0, 0.0
            for j in range(start + 1, end):
                t = successors[j]
                risk_rest += probability[j] * rho_after[t]
                value_rest += probability[j] * V_after[t]
                possible |= rho_after[t] > 0
            if end - start > SIDE_BY_SIDE:
                risk_rest = _pairwise(successors, probability, rho_after, start + 1, end)
                value_rest = _pairwise(successors, probability, V_after, start + 1, end)
            worth[a] = r[s, a] + (value + value_rest)
            danger[a] = min(max(risk + risk_rest, UNDERFLOW if possible else 0.0), 1.0)
            if unsafe[s]:
                danger[a] = 1.0
            least = min(least, danger[a])
        chosen = -1
        for a in range(A):
            is_least = danger[a] <= least * (1 + ROUNDING)
            if is_least and (chosen < 0 or worth[a] > worth[chosen]):
                chosen = a
        rho[s], V[s], policy[s] = least, worth[chosen], chosen
