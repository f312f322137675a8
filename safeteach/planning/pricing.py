r"""The best policy within a budget, by a search for the right price of cost.

For a price :math:`\lambda` of cost, backward induction on :math:`r - \lambda c` finds a corner of
the set of pairs (cost, reward) that policies attain.  The best policy for a budget mixes the two
corners on either side of it.  The search keeps one corner that costs too much and one that does
not, prices cost by the slope between them, and asks for the best policy at that price: either it
lies above the chord and takes the place of one end, or the chord is an edge of the set and the
mixture of its ends is best.  With one constraint no linear program is needed.

The rows of the model may sum to less than 1, as those of a learner's do that were never tried;
rewards and costs are per step, state and action, of any size and sign.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from safeteach.kernels import compiled

__all__ = ["best_within"]

ROUNDING = 1e-12  # relative, in comparisons of values that are sums of H numbers


@compiled
def _corner(
    span: Any, successor: Any, probability: Any, r: Any, c: Any, s1: int,
    reward: float, cost: float, tolerance: float, ties: Any, policy: Any,
) -> tuple[float, float]:  # fmt: skip
    """The policy with the most ``reward`` R - ``cost`` C, into ``policy``; its R and C from s_1.

    Ties at a price go to low cost; where reward does not count, to high reward; then by chance.
    """
    H, S, A = r.shape
    R_next, C_next = np.zeros(S), np.zeros(S)
    R, C = np.zeros(S), np.zeros(S)
    R_a, C_a, worth = np.empty(A), np.empty(A), np.empty(A)
    equals = np.zeros(A, np.int64)  # an action even where overflow left no number to compare
    for h in range(H - 1, -1, -1):
        i = h * S * A if len(span) == H * S * A else 0
        for s in range(S):
            best = -np.inf
            for a in range(A):
                R_here, C_here = r[h, s, a], c[h, s, a]
                for j in range(span[i, 0], span[i, 1]):
                    R_here += probability[j] * R_next[successor[j]]
                    C_here += probability[j] * C_next[successor[j]]
                i += 1
                R_a[a], C_a[a] = R_here, C_here
                worth[a] = reward * R_here - cost * C_here
                best = max(best, worth[a])
            m = 0
            for a in range(A):
                if worth[a] >= best - tolerance:
                    equals[m] = a
                    m += 1
            if m > 1:
                second = -np.inf
                for k in range(m):
                    second = max(second, -C_a[equals[k]] if reward > 0 else R_a[equals[k]])
                left = 0
                for k in range(m):
                    other = -C_a[equals[k]] if reward > 0 else R_a[equals[k]]
                    if other >= second - tolerance:
                        equals[left] = equals[k]
                        left += 1
                m = left
            chosen = equals[int(m * ties[h, s])]
            policy[h, s] = chosen
            R[s], C[s] = R_a[chosen], C_a[chosen]
        R, R_next = R_next, R
        C, C_next = C_next, C
    return R_next[s1], C_next[s1]


@compiled
def _mixture(
    span: Any, successor: Any, probability: Any, s1: int, share: float,
    first: Any, second: Any, mixed: Any,
) -> None:  # fmt: skip
    """The Markov policy that goes where a coin between two policies goes, as often, into ``mixed``.

    ``share`` is the first one's.  Where neither goes it does what the second does.
    """
    H, S, A = mixed.shape
    laws, after = np.zeros((2, S)), np.zeros((2, S))
    laws[0, s1], laws[1, s1] = share, 1 - share
    mixed[:] = 0.0
    for h in range(H):
        base = h * S * A if len(span) == H * S * A else 0
        after[:] = 0.0
        for s in range(S):
            both = laws[0, s] + laws[1, s]
            if both == 0:
                mixed[h, s, second[h, s]] = 1.0
                continue
            mixed[h, s, first[h, s]] += laws[0, s] / both
            mixed[h, s, second[h, s]] += laws[1, s] / both
            for k in range(2):
                i = base + s * A + (first[h, s] if k == 0 else second[h, s])
                for j in range(span[i, 0], span[i, 1]):
                    after[k, successor[j]] += laws[k, s] * probability[j]
        laws, after = after, laws


@compiled
def best_within(
    span: Any, successor: Any, probability: Any, r: Any, c: Any, s1: int,
    budget: float, ties: Any,
) -> tuple[bool, float, float, Any]:  # fmt: skip
    """The best policy with an expected cost of at most ``budget``.

    Parameters
    ----------
    span : (S*A, 2) or (H*S*A, 2) int array
        Row i of the model is ``span[i, 0] : span[i, 1]`` of the next two arrays.
    successor, probability : arrays
    r, c : (H, S, A) arrays
        Rewards and costs.
    s1 : int
    budget : float
    ties : (H, S) array
        Uniform numbers that break ties; zeros for the lowest action.

    Returns
    -------
    found : bool
        Whether some policy meets the budget.  If none does, the cheapest one is returned.
    value, cost : float
        From s_1.
    policy : (H, S, A) array
        Probabilities of actions.
    """
    H, S, A = r.shape
    model = (span, successor, probability)
    size_r, size_c = H * max(1.0, np.abs(r).max()), H * max(1.0, np.abs(c).max())
    slack = ROUNDING * size_c
    dear, cheap, new = np.empty((3, H, S), np.int64)
    mixed = np.empty((H, S, A))
    R_dear, C_dear = _corner(*model, r, c, s1, 1.0, 0.0, ROUNDING * size_r, ties, dear)
    if C_dear <= budget + slack:
        _mixture(*model, s1, 1.0, dear, dear, mixed)
        return True, R_dear, C_dear, mixed
    R_cheap, C_cheap = _corner(*model, r, c, s1, 0.0, 1.0, ROUNDING * size_c, ties, cheap)
    if not C_cheap <= budget + slack:
        _mixture(*model, s1, 1.0, cheap, cheap, mixed)
        return False, R_cheap, C_cheap, mixed
    while C_dear > C_cheap:
        price = (R_dear - R_cheap) / (C_dear - C_cheap)
        tolerance = ROUNDING * (size_r + price * size_c)
        R, C = _corner(*model, r, c, s1, 1.0, price, tolerance, ties, new)
        gain = (R - price * C) - (R_dear - price * C_dear)
        if gain <= tolerance or not C_cheap < C < C_dear:
            break
        if budget >= C:
            R_cheap, C_cheap, cheap, new = R, C, new, cheap
        else:
            R_dear, C_dear, dear, new = R, C, new, dear
    share = min(max((budget - C_cheap) / (C_dear - C_cheap), 0.0), 1.0)
    _mixture(*model, s1, share, dear, cheap, mixed)
    value = share * R_dear + (1 - share) * R_cheap
    return True, value, share * C_dear + (1 - share) * C_cheap, mixed
