"""The verdict: whether a policy is safe, what that costs, and how little risk there is if none is.

Whether a policy is safe hangs on the support of P alone, and is found for worlds of any size.
What policies earn takes a plan: it is computed unless it would take too long.

Taught in the chapter *Your own world*.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from safeteach.extras import extra
from safeteach.planning.induction import optimal, safe_optimal
from safeteach.planning.risk import ROUNDING, least_risk
from safeteach.safety import is_feasible
from safeteach.worlds.mdp import SafeMDP
from safeteach.worlds.reading import thin

__all__ = ["Verdict", "changed", "judge", "risk_of_the_best", "steps_taken", "takes_too_long"]

MOST_ARROWS = 10**9  # transitions that one part of a report looks at: some ten seconds
MOST_VALUES = 2 * 10**7  # (h, s) of a plan: 160 MB an array


@dataclass(frozen=True)
class Verdict:
    """What can be had in a world; None for what was not computed, or does not exist.

    Attributes
    ----------
    feasible : bool
        Whether some policy is safe from s_1.
    safe : float or None
        The value of the best safe policy.
    best : float or None
        The value of the best policy of all.
    reckless : float or None
        The least unsafe probability of the policies that have this value.
    least : float or None
        The least unsafe probability of all policies.
    """

    feasible: bool
    safe: float | None = None
    best: float | None = None
    reckless: float | None = None
    least: float | None = None


def judge(world: SafeMDP, values: bool = True) -> Verdict:
    """The verdict on a world, with what policies earn or without.

    >>> import safeteach as st
    >>> judge(st.instances.union_counterexample())
    Verdict(feasible=True, safe=2.0, best=2.5, reckless=1.0, least=0.0)
    """
    feasible = is_feasible(world)
    if not values:
        return Verdict(feasible, least=0.0 if feasible else None)
    V = optimal(world).V
    return Verdict(
        feasible,
        safe=safe_optimal(world).value if feasible else None,
        best=float(V[0, world.s1]),
        reckless=risk_of_the_best(world, V),
        least=0.0 if feasible else least_risk(world).risk,
    )


def risk_of_the_best(world: SafeMDP, V: NDArray[np.float64]) -> float:
    """The least unsafe probability of the policies that earn the most.

    A policy earns the most if it takes a best action wherever it can come; among these actions the
    least dangerous are chosen, backwards.

    Parameters
    ----------
    world : SafeMDP
    V : (H + 1, S) array
        That of the best plan.
    """
    risk = np.zeros(world.S)
    for h in range(world.H, 0, -1):
        after = world.rows(h).expect(np.stack([V[h], risk], axis=1))
        earned, danger = after.T.reshape(2, world.S, world.A)
        behind = V[h - 1][:, None] - (world.r[h - 1] + earned)
        risk = np.where(behind <= ROUNDING * world.H, danger, np.inf).min(axis=1)
        risk[world.unsafe] = 1.0
    return min(1.0, float(risk[world.s1]))


def steps_taken(world: SafeMDP) -> int:
    """How many transitions one pass over all steps looks at."""
    arrows = [
        len(world.rows(h).successors) for h in range(1, 2 if world.stationary else world.H + 1)
    ]
    return sum(arrows) * (world.H if world.stationary else 1)


def takes_too_long(world: SafeMDP, passes: float = 1) -> bool:
    """Whether so many passes over the steps of a world are more than a report can wait for."""
    return passes * steps_taken(world) > MOST_ARROWS or world.H * world.S > MOST_VALUES


def changed(
    world: SafeMDP,
    H: int | None = None,
    tau: float | None = None,
    drop_below: float | None = None,
    first: int = 1,
) -> SafeMDP:
    """The same world with fewer or more steps, another threshold, or without small probabilities.

    Its steps are ``first`` .. ``H`` of the world's.  More than there are take a world whose P and
    r are the same at every step.
    """
    H = world.H if H is None else H
    with extra("figures"):
        from scipy.sparse import csr_array

    P = []
    for h in range(first, first + 1 if world.stationary else H + 1):
        rows = world.rows(h)
        parts = rows.probability, rows.successors, rows.indptr
        P.append(csr_array(parts, shape=(world.S * world.A, world.S)))
    return SafeMDP(
        P[0] if world.stationary else P,
        thin(world.r)[0] if is_steady(world) else world.r[first - 1 : H],
        world.c,
        world.tau if tau is None else tau,
        H - first + 1,
        world.s1,
        drop_below=drop_below,
    )


def is_steady(world: SafeMDP) -> bool:
    """Whether transitions and rewards are the same at every step."""
    r = thin(world.r)
    return world.stationary and bool((r == r[0]).all())
