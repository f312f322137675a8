r"""The best policy within a budget.

It maximises reward among the policies whose expected cost :math:`E[\sum_h c(s_h)]` is within
a budget, by the search of :mod:`safeteach.planning.pricing`.

Taught in the chapter *Why every step counts*.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from safeteach.arguments import instance, number
from safeteach.records import Record
from safeteach.worlds.mdp import SafeMDP

__all__ = ["BudgetError", "ConstrainedPlan", "constrained_optimal"]


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
    instance(mdp, "mdp", SafeMDP, "a SafeMDP")
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
            f"budget is {budget:g}; the least expected cost of any policy is {cost:.6g}"
        )
    return ConstrainedPlan(value, cost, policy)
