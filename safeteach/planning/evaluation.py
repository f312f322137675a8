"""What a policy does, exactly: its value, violation, cost and danger.

It is computed backwards, from every state; from s_1 alone a policy is evaluated forwards, and
compiled, in :mod:`safeteach.planning.forward`.

Taught in the chapter *Costs, thresholds, violation*.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from safeteach.arguments import check_fits
from safeteach.worlds.games import SafeGame, chances
from safeteach.worlds.mdp import SafeMDP
from safeteach.worlds.rows import Rows
from safeteach.worlds.world import check_world

__all__ = ["Evaluation", "evaluate", "values"]


@dataclass(frozen=True)
class Evaluation:
    """What a policy does from s_1, exactly.

    Attributes
    ----------
    value : float
        Expected sum of rewards.
    violation : float
        Expected sum of (c(s_h) - tau)_+ over h = 1..H.
    cost : float
        Expected sum of c(s_h) over h = 1..H.
    unsafe_probability : float
        Probability that some s_h, h = 1..H, is unsafe.

    Examples
    --------
    >>> import safeteach as st
    >>> mdp = st.instances.union_counterexample()
    >>> found = st.evaluate(mdp, st.safe_optimal(mdp).policy)
    >>> found.value, found.violation, found.unsafe_probability
    (2.0, 0.0, 0.0)
    """

    value: float
    violation: float
    cost: float
    unsafe_probability: float


def evaluate(
    mdp: SafeMDP | SafeGame, policy: ArrayLike, nu: ArrayLike | None = None
) -> Evaluation:
    """Value, violation, cost and danger of a policy from s_1, exactly.

    Parameters
    ----------
    mdp : SafeMDP or SafeGame
    policy : (H, S) actions or (H, S, A) probabilities of actions
        In a game the agent's strategy μ.
    nu : (H, S) actions or (H, S, B) probabilities of actions
        In a game the adversary's strategy.

    Examples
    --------
    >>> import safeteach as st
    >>> mdp = st.instances.union_counterexample()
    >>> st.evaluate(mdp, st.optimal(mdp).policy)
    Evaluation(value=2.5, violation=0.5, cost=1.0, unsafe_probability=1.0)
    """
    check_world(mdp, "mdp")
    choice = _checked(mdp, policy, nu)
    # Three sums and one probability, carried back together: (S, 4).
    future = np.zeros((mdp.S, 4))
    for h in range(mdp.H, 0, -1):
        future = _before(mdp, h, choice(h), future)
        future[:, 1] += mdp.violation
        future[:, 2] += mdp.c
        future[mdp.unsafe, 3] = 1.0
    return Evaluation(*(float(x) for x in future[mdp.s1]))


def values(mdp: SafeMDP, policy: ArrayLike) -> NDArray[np.float64]:
    """(H + 1, S) values V_h^π(s) of a policy (H, S) in every state; the last row is zero."""
    from safeteach.planning.backward import follow_to_the_end  # compiled: loaded when first needed

    actions = mdp.check_policy(policy)
    if actions.ndim != 2:
        raise ValueError(f"policy has shape {actions.shape}; expected (H, S) = {(mdp.H, mdp.S)}")
    check_fits((mdp.H + 1, mdp.S), float, "the values of this policy")
    V = np.zeros((mdp.H + 1, mdp.S))
    follow_to_the_end(*mdp.all_rows(), mdp.r, actions.astype(np.int64, copy=False), V)
    return V


def _checked(
    mdp: SafeMDP | SafeGame, policy: ArrayLike, nu: ArrayLike | None
) -> Callable[[int], NDArray[Any]]:
    """What is done at a step h: actions (S,), or probabilities of actions or of pairs of them."""
    if isinstance(mdp, SafeGame):
        if nu is None:
            raise ValueError("in a game nu, the adversary's strategy, is needed too")
        mine, theirs = chances(policy, "policy", mdp, mdp.A, "A"), mdp.check_nu(nu)
        return lambda h: np.reshape(
            mine[h - 1][:, :, None] * theirs[h - 1][:, None, :], (mdp.S, mdp.A * mdp.B)
        )
    if nu is not None:
        raise ValueError("nu is an adversary's strategy; an MDP has no adversary")
    checked = mdp.check_policy(policy)
    return lambda h: checked[h - 1]


def _before(
    mdp: SafeMDP | SafeGame, h: int, choice: NDArray[Any], after: NDArray[np.float64]
) -> NDArray[np.float64]:
    """(S, k): what is expected of k sums (S, k) after step h before it; the first earns r."""
    r = mdp.r[h - 1].reshape(mdp.S, -1)
    if mdp.rows(h).pay_for_numba():
        return _before_compiled(mdp.rows(h), r, choice, after)
    if choice.ndim == 1:
        mine = np.arange(mdp.S) * mdp.A + choice.astype(np.int64)
        sums = mdp.rows(h).take(mine).expect(after)
        sums[:, 0] += r.ravel()[mine]
    else:
        later = mdp.rows(h).expect(after).reshape(*choice.shape, -1)
        sums = np.einsum("sa,sak->sk", choice, later)
        sums[:, 0] += np.einsum("sa,sa->s", choice, r)
    return sums


def _before_compiled(
    rows: Rows, r: NDArray[np.float64], choice: NDArray[Any], after: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The same bits, without a table of all actions."""
    from safeteach.planning.backward import follow, mix  # compiled: loaded when first needed

    sums = np.empty_like(after)
    if choice.ndim == 1:
        actions = choice.astype(np.int64, copy=False)
        follow(rows.indptr, rows.successors, rows.probability, r, actions, after, sums)
    else:
        mix(rows.indptr, rows.successors, rows.probability, choice, after, sums)
        sums[:, 0] += np.einsum("sa,sa->s", choice, r)
    return sums
