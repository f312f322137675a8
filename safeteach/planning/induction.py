r"""Backward induction: the best policy, and the best among the safe ones.

With :math:`V_{H+1} = 0`, for h = H .. 1,

.. math::

   Q_h(s, a) = r_h(s, a) + \sum_t P_h(t \mid s, a) V_{h+1}(t), \qquad
   V_h(s) = \max_{a \in A_h(s)} Q_h(s, a).

:func:`optimal` lets :math:`A_h(s)` be all actions.  :func:`safe_optimal` takes the safe ones,
:math:`A_h^{safe}(s)`, where s is not potentially unsafe, and lifts the mask where it is: there
no action keeps the agent safe, so that V and Q are defined everywhere, and a feasible policy
never gets there.  Ties go to the action with the lowest number.  Both plan for a game as well: the
maximum then is the value of a matrix game, see :mod:`safeteach.planning.equilibria`.

Taught in the chapter *Danger ahead*.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import overload

import numpy as np
from numpy.typing import NDArray

from safeteach.planning.equilibria import GamePlan, minimax, safe_rows
from safeteach.safety import InfeasibleError, potentially_unsafe, safe_actions
from safeteach.worlds.games import SafeGame
from safeteach.worlds.mdp import SafeMDP

__all__ = ["Plan", "optimal", "safe_optimal"]


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
