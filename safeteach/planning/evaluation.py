"""What a policy does, exactly: its value, violation, cost and danger.

It is computed backwards, from every state; from s_1 alone a policy is evaluated forwards, and
compiled, in :mod:`safeteach.planning.forward`.

Taught in the chapter *Costs, thresholds, violation*.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from safeteach.worlds.games import SafeGame
from safeteach.worlds.mdp import SafeMDP

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
    chances = _joint_chances(mdp, policy, nu)
    # Three sums and one probability, carried back together: (S, 4).
    future = np.zeros((mdp.S, 4))
    for h in range(mdp.H, 0, -1):
        future = _before(mdp, chances, h, future)
        future[:, 1] += mdp.violation
        future[:, 2] += mdp.c
        future[mdp.unsafe, 3] = 1.0
    return Evaluation(*(float(x) for x in future[mdp.s1]))


def values(mdp: SafeMDP, policy: ArrayLike) -> NDArray[np.float64]:
    """(H + 1, S) values V_h^π(s) of a policy in every state; the last row is zero."""
    chances = _joint_chances(mdp, policy, None)
    V = np.zeros((mdp.H + 1, mdp.S, 1))
    for h in range(mdp.H, 0, -1):
        V[h - 1] = _before(mdp, chances, h, V[h])
    return V[:, :, 0]


def _before(
    mdp: SafeMDP | SafeGame, chances: NDArray[np.float64], h: int, after: NDArray[np.float64]
) -> NDArray[np.float64]:
    """(S, k): what is expected of k sums (S, k) after step h before it; the first earns r."""
    choice, k = chances[h - 1], after.shape[1]
    later = mdp.rows(h).expect(after).reshape(mdp.S, -1, k)
    sums = np.einsum("sa,sak->sk", choice, later)
    sums[:, 0] += np.einsum("sa,sa->s", choice, mdp.r[h - 1].reshape(mdp.S, -1))
    return sums


def _joint_chances(
    mdp: SafeMDP | SafeGame, policy: ArrayLike, nu: ArrayLike | None
) -> NDArray[np.float64]:
    """Probabilities of the actions, (H, S, A), or of the pairs of actions, (H, S, A*B)."""
    if isinstance(mdp, SafeGame):
        if nu is None:
            raise ValueError("in a game nu, the adversary's strategy, is needed too")
        both = mdp.check_mu(policy)[:, :, :, None] * mdp.check_nu(nu)[:, :, None, :]
        return both.reshape(mdp.H, mdp.S, mdp.A * mdp.B)
    if nu is not None:
        raise ValueError("nu is an adversary's strategy; an MDP has no adversary")
    chances = mdp.check_policy(policy)
    return chances if chances.ndim == 3 else np.eye(mdp.A)[chances]
