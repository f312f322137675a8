r"""What a policy is worth from s_1, computed forwards: where the agent may be, step by step.

With :math:`q_1 = 1_{s_1}` and

.. math:: q_{h+1}(t) = \sum_{s, a} q_h(s) \pi_h(a \mid s) P_h(t \mid s, a)

the policy earns :math:`\sum_h \sum_{s, a} q_h(s) \pi_h(a \mid s) r_h(s, a)`.  Only states that it
can reach are looked at, and only its own actions.  The rows may be a learner's estimates and sum to
less than 1.

Backwards, from every state, a policy is evaluated in :mod:`safeteach.planning.evaluation`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from safeteach.kernels import compiled

__all__ = ["worth"]

TOLERANCE = 1e-8  # of probabilities that sum to 1


@compiled
def worth(
    span: Any, successor: Any, probability: Any, r: Any, paid: Any, s1: int,
    policy: Any, nu: Any, laws: Any,
) -> tuple[float, float]:  # fmt: skip
    """Expected sums of r and of ``paid`` along a policy from s_1.

    Parameters
    ----------
    span : (S*A*B, 2) or (H*S*A*B, 2) int array
        Row i of the world is ``span[i, 0] : span[i, 1]`` of the next two arrays.
    successor, probability : arrays
    r : (H, S, A*B) array
        B is 1 where there is no adversary.
    paid : (S,) array or None
        What each step in a state costs.
    s1 : int
    policy : (H, S) actions or (H, S, A) probabilities of actions
    nu : (H, S, B) array or None
        The adversary's probabilities, if there is one.
    laws : (2, S) array, written to
        Room for where the agent is at this step and at the next.

    Returns
    -------
    earned : float
        NaN if in a state that can be reached the policy has an action that there is not, or
        numbers that are no probabilities.
    spent : float
        0 without ``paid``.
    """
    H, S, pairs = r.shape
    B = 1 if nu is None else nu.shape[2]
    A = pairs // B
    per_step = S * pairs if len(span) == H * S * pairs else 0
    earned, spent = 0.0, 0.0
    law, after = laws[0], laws[1]
    law[:] = 0.0
    law[s1] = 1.0
    for h in range(H):
        after[:] = 0.0
        for s in range(S):
            if law[s] == 0:
                continue
            if paid is not None:
                spent += law[s] * paid[s]
            if policy.ndim == 3 and not _are_probabilities(policy[h, s]):
                return np.nan, spent
            if nu is not None and not _are_probabilities(nu[h, s]):
                return np.nan, spent
            for choice in range(1 if policy.ndim == 2 else A):
                if policy.ndim == 2:
                    a, chosen = policy[h, s], law[s]
                    if not 0 <= a < A:
                        return np.nan, spent
                else:
                    a, chosen = choice, law[s] * policy[h, s, choice]
                if chosen == 0:
                    continue
                for b in range(B):
                    weight = chosen
                    if nu is not None:
                        weight = chosen * nu[h, s, b]
                    earned += weight * r[h, s, a * B + b]
                    i = np.uint64(h * per_step + (s * A + a) * B + b)
                    for j in range(span[i, 0], span[i, 1]):
                        after[successor[j]] += weight * probability[j]
        law, after = after, law
    return earned, spent


@compiled
def _are_probabilities(row: Any) -> bool:
    total = 0.0
    for p in row:
        if not p >= 0:  # also for NaN
            return False
        total += p
    return abs(total - 1) <= TOLERANCE
