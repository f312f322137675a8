r"""The best policy within a budget.

It maximises reward among the policies whose expected cost :math:`E[\sum_h c(s_h)]` is within
a budget, by the search of :mod:`safeteach.planning.pricing`.  The budget may also be one of risk,
see :mod:`safeteach.planning.risk`.

Taught in the chapter *Why every step counts*.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import overload

import numpy as np
from numpy.typing import NDArray

from safeteach.arguments import instance, number, shown
from safeteach.planning.risk import RiskPlan, best_within_risk, least_risk
from safeteach.records import Record
from safeteach.worlds.mdp import SafeMDP

__all__ = ["BudgetError", "ConstrainedPlan", "constrained_optimal"]

COPIED = 1e-11  # the share of a least risk by which that may be missed who copies it off the error


@dataclass(frozen=True, eq=False, repr=False)
class ConstrainedPlan(Record):
    """A policy that is best within a budget.

    Attributes
    ----------
    value : float
        Its expected sum of rewards from s_1.
    cost : float
        Its expected sum of costs, at most the budget (within rounding).
    policy : (H, S, A) array
        Probabilities of actions.

    Examples
    --------
    >>> import safeteach as st
    >>> plan = st.constrained_optimal(st.instances.school_road(), budget=4.0)
    >>> plan.policy.shape, round(plan.cost, 6)
    ((10, 20, 2), 4.0)
    """

    value: float
    cost: float
    policy: NDArray[np.float64]


class BudgetError(ValueError):
    """No policy meets the budget.

    Examples
    --------
    >>> import safeteach as st
    >>> try:
    ...     st.constrained_optimal(st.instances.school_road(), budget=0.5)
    ... except st.BudgetError as error:
    ...     print(error)
    budget is 0.5; the least expected cost of any policy is 1
    """


@overload
def constrained_optimal(mdp: SafeMDP, budget: float) -> ConstrainedPlan: ...
@overload
def constrained_optimal(mdp: SafeMDP, *, risk: float) -> RiskPlan: ...
def constrained_optimal(
    mdp: SafeMDP, budget: float | None = None, *, risk: float | None = None
) -> ConstrainedPlan | RiskPlan:
    """The best policy within a budget of expected cost for the episode, or within a risk.

    Parameters
    ----------
    mdp : SafeMDP
    budget : float
        Bound on the expected sum of c(s_h) over h = 1..H.
    risk : float in [0, 1]
        In place of the budget: bound on the probability that some s_h, h = 1..H, is unsafe.  With
        0 the policy is that of :func:`safeteach.safe_optimal`, where there is one.

    Returns
    -------
    ConstrainedPlan or RiskPlan
        The policy within a risk has shape (2, H, S, A), because it may have to remember whether
        a state has been unsafe already; :meth:`RiskPlan.with_memory` makes an ordinary policy
        of it.

    Raises
    ------
    BudgetError
        If no policy meets the budget, or has so little risk.  The message names the least there
        is.

    Notes
    -----
    A budget is met up to rounding, 1e-12 H times the largest cost or 1.  Costs that differ by no
    more at a step count as equals, so that a budget of less than about 1e-12 H² may be refused,
    or be used for less than it can buy.  A risk is met up to rounding of its own size, a share of
    1e-11 + 1e-12 H, and however small it is all is bought with it; a risk of 0 is met exactly.

    Examples
    --------
    >>> import safeteach as st
    >>> road = st.instances.school_road()
    >>> plan = st.constrained_optimal(road, budget=4.0)
    >>> round(plan.value, 6), round(plan.cost, 6)
    (9.333333, 4.0)
    >>> round(st.evaluate(road, plan.policy).unsafe_probability, 6)      # two mornings of three
    0.666667

    With a risk of one morning in a hundred:

    >>> plan = st.constrained_optimal(road, risk=0.01)
    >>> round(plan.value, 6), plan.risk
    (9.005, 0.01)
    """
    instance(mdp, "mdp", SafeMDP, "a SafeMDP")
    if risk is not None:
        if budget is not None:
            raise ValueError(
                f"budget is {shown(budget)} and risk is {shown(risk)}; expected one of the two"
            )
        return _within_risk(mdp, float(number(risk, "risk", 0, 1, "[]")))
    if budget is None:
        raise TypeError("budget is None; expected a number, or in its place a risk")
    number(budget, "budget", ends="[]")
    from safeteach.planning.pricing import best_within  # compiled: loaded when first needed

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
            f"budget is {budget:.12g}; the least expected cost of any policy is {cost:.12g}"
        )
    return ConstrainedPlan(value, cost, policy)


def _within_risk(mdp: SafeMDP, risk: float) -> RiskPlan:
    least = least_risk(mdp).risk
    if risk < least * (1 - COPIED):
        raise BudgetError(f"risk is {risk:.12g}; the least risk of any policy is {least:.12g}")
    return best_within_risk(mdp, risk)
