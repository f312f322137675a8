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

from safeteach.arguments import check_fits, frozen
from safeteach.planning.action_values import action_values
from safeteach.planning.equilibria import GamePlan, danger, minimax
from safeteach.records import Record, deferring
from safeteach.safety import allowed_actions
from safeteach.worlds.games import SafeGame
from safeteach.worlds.mdp import SafeMDP
from safeteach.worlds.world import check_world

__all__ = ["Plan", "optimal", "safe_optimal"]


@deferring("Q")
@dataclass(frozen=True, eq=False, repr=False)
class Plan(Record):
    """A policy and its values; two are equal if policy and V are.

    Attributes
    ----------
    V : (H + 1, S) array
        ``V[h-1]`` is V_h; the last row is zero.  Nobody can write to it: Q is made of it.
    Q : (H, S, A) array
        Computed when it is first asked for.
    policy : (H, S) int array
    value : float
        V_1(s_1).

    Examples
    --------
    >>> import safeteach as st
    >>> plan = st.safe_optimal(st.instances.union_counterexample())
    >>> plan.value, plan.V.shape, plan.Q.shape, plan.policy.shape
    (2.0, (5, 5), (4, 5, 2), (4, 5))
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
    check_world(mdp, "mdp")
    return minimax(mdp, None) if isinstance(mdp, SafeGame) else _backward_induction(mdp, None)


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
    check_world(mdp, "mdp")
    U = danger(mdp)
    return minimax(mdp, U) if isinstance(mdp, SafeGame) else _backward_induction(mdp, U)


def _backward_induction(mdp: SafeMDP, U: NDArray[np.bool_] | None) -> Plan:
    """The best policy that keeps out of U (H, S) where it can; without U the best of all."""
    check_fits((2, mdp.H, mdp.S), float, "the plan of this world")
    V = np.zeros((mdp.H + 1, mdp.S))
    policy = np.empty((mdp.H, mdp.S), np.int64)
    for h in range(mdp.H, 0, -1):
        back_up = _back_up_compiled if mdp.rows(h).pay_for_numba() else _back_up
        back_up(mdp, h, U, V, policy)
    return Plan(frozen(V), action_values(mdp, V), policy, float(V[0, mdp.s1]))


def _back_up(
    mdp: SafeMDP, h: int, U: NDArray[np.bool_] | None, V: NDArray[np.float64],
    policy: NDArray[np.int64],
) -> None:  # fmt: skip
    """Write V_h and the policy of step h, from V_{h+1}."""
    Q = mdp.r[h - 1] + mdp.rows(h).expect(V[h]).reshape(mdp.S, mdp.A)
    choice = np.where(allowed_actions(mdp, h, U), Q, -np.inf)
    policy[h - 1] = choice.argmax(axis=1)
    V[h - 1] = choice.max(axis=1)


def _back_up_compiled(
    mdp: SafeMDP, h: int, U: NDArray[np.bool_] | None, V: NDArray[np.float64],
    policy: NDArray[np.int64],
) -> None:  # fmt: skip
    """The same bits, with nothing kept but V and the policy."""
    from safeteach.planning.backward import back_up  # compiled: loaded when first needed

    rows = mdp.rows(h)
    nowhere = np.zeros(mdp.S, np.bool_)
    here, after = (nowhere, nowhere) if U is None or h == mdp.H else (U[h - 1], U[h])
    back_up(
        rows.indptr, rows.successors, rows.probability, mdp.r[h - 1], here, after,
        V[h], V[h - 1], policy[h - 1],
    )  # fmt: skip
