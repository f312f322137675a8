"""How a verdict changes: with the horizon, the beginning, the threshold, without small chances.

Taught in the chapter *Your own world*.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from safeteach.planning.induction import optimal, safe_optimal
from safeteach.planning.risk import least_risk
from safeteach.reporting.judging import Verdict, changed, is_steady, judge, takes_too_long
from safeteach.safety import doomed_until
from safeteach.worlds.mdp import SafeMDP

__all__ = [
    "Case",
    "by_beginning",
    "by_dropping",
    "by_horizon",
    "by_threshold",
    "first_doomed_horizon",
]

Value = TypeVar("Value", int, float)

MOST_CASES = 24  # rows of a table
FEWER_CASES = 12  # where each takes plans of its own
SMALL = (1e-12, 1e-9, 1e-6, 1e-4, 1e-3, 0.01, 0.1)  # probabilities that one may want to ignore


@dataclass(frozen=True)
class Case:
    """A world that differs in one thing, and the verdict on it.

    Attributes
    ----------
    at : float
        The horizon, the first step, the threshold, or the probability below which arrows are
        ignored.
    verdict : Verdict
    own : bool
        Whether this is the world of the report itself.
    count : int
        How many states are unsafe, or how many transitions are ignored.
    hidden : float
        By how much what is ignored can change the risk of a policy, at most.
    """

    at: float
    verdict: Verdict
    own: bool = False
    count: int = 0
    hidden: float = 0.0


def first_doomed_horizon(world: SafeMDP) -> int | None:
    """The fewest steps with which no policy is safe; None if some policy is, however many.

    One step more can only doom more states, or no others will ever be doomed: within S steps all
    are that ever will be.

    Parameters
    ----------
    world : SafeMDP
        With one P for all steps.

    Examples
    --------
    >>> import numpy as np
    >>> import safeteach as st
    >>> first_doomed_horizon(st.instances.grid()) is None
    True
    >>> P = np.eye(4)[[[1], [2], [3], [3]]]       # three steps to the hole, and no way back
    >>> mdp = st.SafeMDP(P, np.zeros((4, 1)), c=[0, 0, 0, 1], tau=0.5, H=2)
    >>> first_doomed_horizon(mdp)
    4
    """
    until = int(doomed_until(changed(world, H=world.S))[world.s1])
    return world.S - until + 1 if until else None


def by_horizon(world: SafeMDP) -> list[Case]:
    """The verdict for other horizons; an empty list if that would take too long.

    If transitions and rewards are the same at every step these are 1 .. 2 H.  V_h then only asks
    how many steps are to go, and three plans tell all horizons.  Otherwise nobody knows what comes
    after the last step: they are 1 .. H.
    """
    if not is_steady(world):
        horizons = _some(range(1, world.H + 1), FEWER_CASES, world.H)
        if takes_too_long(world, passes=4 * len(horizons)):
            return []
        return [Case(H, judge(changed(world, H=H)), H == world.H) for H in horizons]
    if takes_too_long(world, passes=8):
        return []
    longest = 2 * world.H
    twice = changed(world, H=longest)
    doomed = first_doomed_horizon(world) or longest + 1
    safe_until = min(doomed - 1, longest)
    best, risk = optimal(twice).V[:, world.s1], least_risk(twice).risks[:, world.s1]
    safe = np.zeros(1)
    if safe_until:
        safe = safe_optimal(changed(world, H=safe_until)).V[:, world.s1]
    horizons = _some(range(1, longest + 1), MOST_CASES, world.H, doomed - 1, doomed)
    return [
        Case(
            H,
            Verdict(
                is_safe := doomed > H,
                safe=float(safe[safe_until - H]) if is_safe else None,
                best=float(best[longest - H]),
                least=float(risk[longest - H]),
            ),
            H == world.H,
        )
        for H in horizons
    ]


def by_beginning(world: SafeMDP) -> list[Case]:
    """The verdict if an episode began at the start at a later step, and ended as it does.

    An empty list if that would take too long.
    """
    beginnings = _some(range(1, world.H + 1), FEWER_CASES, 1)
    if takes_too_long(world, passes=4 * len(beginnings)):
        return []
    return [Case(h, judge(changed(world, first=h)), h == 1) for h in beginnings]


def by_threshold(world: SafeMDP) -> list[Case]:
    """The verdict for each threshold that makes a difference: 0, and the costs that there are."""
    costs = np.unique([0.0, *world.c.tolist()]).tolist()
    mine = max(cost for cost in costs if cost <= world.tau)
    thresholds = _some(costs, FEWER_CASES, mine)
    values = not takes_too_long(world, passes=4 * len(thresholds))
    cases = []
    for tau in thresholds:
        other = changed(world, tau=tau)
        cases.append(Case(tau, judge(other, values), tau == mine, int(other.unsafe.sum())))
    return cases


def by_dropping(world: SafeMDP) -> list[Case]:
    """The verdict if small probabilities are ignored; the world itself first, then what differs."""
    steps = [world.rows(h) for h in range(1, 2 if world.stationary else world.H + 1)]
    ignored = {
        int(sum(np.count_nonzero(rows.probability < below) for rows in steps)): below
        for below in reversed(SMALL)  # of those that ignore the same, the smallest
    }
    possible = min(
        float(np.maximum.reduceat(rows.probability, rows.indptr[:-1]).min()) for rows in steps
    )
    thresholds = [(n, below) for n, below in sorted(ignored.items()) if n and below <= possible]
    values = not takes_too_long(world, passes=4 * (1 + len(thresholds)))
    cases = [Case(0.0, judge(world, values), own=True)]
    for n, below in thresholds:
        other = changed(world, drop_below=below)
        cases.append(Case(below, judge(other, values), count=n, hidden=other.hidden_risk))
    return cases


def _some(values: Sequence[Value], most: int, *also: Value) -> list[Value]:
    """All values, or about ``most`` of them, with some that must not miss."""
    if len(values) <= most:
        return list(values)
    places: list[int] = np.linspace(0, len(values) - 1, most - 4).round().astype(int).tolist()
    kept = {*also, *(values[i] for i in places)}
    return [value for value in values if value in kept]
