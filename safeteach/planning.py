r"""Backward induction: the best policy, safe or within a budget, and what a policy is worth.

With :math:`V_{H+1} = 0`, for h = H .. 1,

.. math::

   Q_h(s, a) = r_h(s, a) + \sum_t P_h(t \mid s, a) V_{h+1}(t), \qquad
   V_h(s) = \max_{a \in A_h(s)} Q_h(s, a).

:func:`optimal` lets :math:`A_h(s)` be all actions.  :func:`safe_optimal` takes the safe ones,
:math:`A_h^{safe}(s)`, where s is not potentially unsafe, and lifts the mask where it is: there
no action keeps the agent safe, so that V and Q are defined everywhere, and a feasible policy
never gets there.  Ties go to the action with the lowest number.  Both plan for a game as well: the
maximum then is the value of a matrix game, see :mod:`safeteach.equilibria`.

:func:`constrained_optimal` maximises reward among the policies whose expected cost
:math:`E[\sum_h c(s_h)]` is within a budget, by the search of :mod:`safeteach.pricing`.

Taught in the chapter *Danger ahead*.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from safeteach.equilibria import GamePlan, minimax, safe_rows
from safeteach.games import SafeGame
from safeteach.mdp import SafeMDP
from safeteach.safety import InfeasibleError, potentially_unsafe, safe_actions

__all__ = [
    "BudgetError",
    "ConstrainedPlan",
    "Evaluation",
    "Plan",
    "constrained_optimal",
    "evaluate",
    "optimal",
    "safe_optimal",
]


@dataclass(frozen=True)
class Plan:
    """A policy and its values.

    Attributes
    ----------
    V : (H + 1, S) array
        ``V[h-1]`` is V_h; the last row is zero.
    Q : (H, S, A) array
    policy : (H, S) int array
    value : float
        V_1(s_1).
    """

    V: NDArray[np.float64]
    Q: NDArray[np.float64]
    policy: NDArray[np.int64]
    value: float


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


@dataclass(frozen=True)
class ConstrainedPlan:
    """A policy that is best within a budget.

    Attributes
    ----------
    value : float
        Its expected sum of rewards from s_1.
    cost : float
        Its expected sum of costs, at most the budget (within rounding).
    policy : (H, S, A) array
        Probabilities of actions.
    """

    value: float
    cost: float
    policy: NDArray[np.float64]


class BudgetError(ValueError):
    """No policy meets the budget."""


@overload
def optimal(mdp: SafeMDP) -> Plan: ...
@overload
def optimal(mdp: SafeGame) -> GamePlan: ...
def optimal(mdp: SafeMDP | SafeGame) -> Plan | GamePlan:
    """The best policy when safety does not matter; in a game the unrestricted equilibrium.

    Examples
    --------
    >>> import safeteach as st
    >>> st.optimal(st.instances.union_counterexample()).value
    2.5
    """
    everything = np.ones((mdp.H, mdp.S, mdp.A), np.bool_)
    if isinstance(mdp, SafeGame):
        return minimax(mdp, everything)
    return _backward_induction(mdp, everything)


@overload
def safe_optimal(mdp: SafeMDP) -> Plan: ...
@overload
def safe_optimal(mdp: SafeGame) -> GamePlan: ...
def safe_optimal(mdp: SafeMDP | SafeGame) -> Plan | GamePlan:
    """The best feasible policy: best among those that never meet an unsafe state.

    In a game: best against the worst adversary, among the strategies that no adversary can bring
    into an unsafe state.

    Raises
    ------
    InfeasibleError
        If there is none, with the witness.

    Examples
    --------
    >>> import safeteach as st
    >>> mdp = st.instances.union_counterexample()
    >>> plan = st.safe_optimal(mdp)
    >>> plan.value, st.evaluate(mdp, plan.policy).unsafe_probability
    (2.0, 0.0)
    """
    if isinstance(mdp, SafeGame):
        return minimax(mdp, safe_rows(mdp))
    U = potentially_unsafe(mdp)
    if U[0, mdp.s1]:
        raise InfeasibleError(mdp, U)
    return _backward_induction(mdp, safe_actions(mdp) | U[:, :, None])


def constrained_optimal(mdp: SafeMDP, budget: float) -> ConstrainedPlan:
    """The best policy with an expected cost of at most a budget for the episode.

    Parameters
    ----------
    mdp : SafeMDP
    budget : float
        Bound on the expected sum of c(s_h) over h = 1..H.

    Raises
    ------
    BudgetError
        If no policy meets the budget.

    Examples
    --------
    >>> import safeteach as st
    >>> road = st.instances.school_road()
    >>> plan = st.constrained_optimal(road, budget=4.0)
    >>> round(plan.value, 6), round(plan.cost, 6)
    (9.333333, 4.0)
    >>> round(st.evaluate(road, plan.policy).unsafe_probability, 6)      # two mornings of three
    0.666667
    """
    from safeteach.pricing import best_within  # compiled: loaded when first needed

    found, value, cost, policy = best_within(
        *mdp.all_rows(),
        np.ascontiguousarray(mdp.r),
        np.ascontiguousarray(np.broadcast_to(mdp.c[:, None], mdp.r.shape)),
        mdp.s1,
        float(budget),
        np.zeros((mdp.H, mdp.S)),
    )
    if not found:
        raise BudgetError(
            f"budget is {budget:g}; the least expected cost of any policy is {cost:.6g}"
        )
    return ConstrainedPlan(value, cost, policy)


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
        choice = chances[h - 1]
        later = mdp.rows(h).expect(future).reshape(mdp.S, -1, 4)
        future = np.einsum("sa,sak->sk", choice, later)
        future[:, 0] += np.einsum("sa,sa->s", choice, mdp.r[h - 1].reshape(mdp.S, -1))
        future[:, 1] += mdp.violation
        future[:, 2] += mdp.c
        future[mdp.unsafe, 3] = 1.0
    return Evaluation(*(float(x) for x in future[mdp.s1]))


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


def _backward_induction(mdp: SafeMDP, allowed: NDArray[np.bool_]) -> Plan:
    """The best policy among allowed actions, (H, S, A) bool with one at least in each state."""
    V = np.zeros((mdp.H + 1, mdp.S))
    Q = np.empty((mdp.H, mdp.S, mdp.A))
    policy = np.empty((mdp.H, mdp.S), np.int64)
    for i in reversed(range(mdp.H)):
        Q[i] = mdp.r[i] + mdp.rows(i + 1).expect(V[i + 1]).reshape(mdp.S, mdp.A)
        choice = np.where(allowed[i], Q[i], -np.inf)
        policy[i] = choice.argmax(axis=1)
        V[i] = choice.max(axis=1)
    return Plan(V, Q, policy, float(V[0, mdp.s1]))
