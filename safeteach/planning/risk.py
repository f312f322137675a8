r"""How little risk there can be where nothing is safe, and the best policy within a risk.

The *risk* of a policy is the probability that some s_h, h = 1..H, is unsafe.  With
:math:`\rho_{H+1} = 0`, for h = H .. 1,

.. math::

   \rho_h(s) = 1 \text{ for } s \in U, \qquad
   \rho_h(s) = \min_a \sum_t P_h(t \mid s, a)\, \rho_{h+1}(t) \text{ for all others}

is the least that any policy can make of it from (h, s), and it is 0 exactly outside of
:math:`U_h`: the potentially unsafe states are those in which some risk cannot be avoided.

The best policy within a risk has to remember one thing, whether a state has been unsafe already.
If so, nothing holds it back: no later step can make the episode unsafe that is so already, and
:func:`safeteach.optimal` says what there is to earn, :math:`V_{h+1}(t)` from an unsafe t on.
Until then it plays in a world that ends at the first unsafe state, in which

.. math::

   r'_h(s, a) = r_h(s, a) + \sum_{t \in U} P_h(t \mid s, a) V_{h+1}(t), \qquad
   c'_h(s, a) = \sum_{t \in U} P_h(t \mid s, a), \qquad c'_H = 0.

The risk is the expected sum of these costs, so the best policy is found as for any budget, by a
search for the right price (see :mod:`safeteach.planning.pricing`).  But a risk of 1e-9 is no
rounding error of 1: here all rewards and costs are at least 0, so that sums of them are known to
a share of themselves, however small they are, and all comparisons are by shares.

Taught in the chapter *Your own world*.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from safeteach.arguments import check_fits, frozen, instance
from safeteach.extras import extra
from safeteach.planning.induction import Plan, optimal, safe_optimal
from safeteach.records import Record
from safeteach.worlds.mdp import SafeMDP
from safeteach.worlds.reading import thin

__all__ = ["LeastRisk", "RiskPlan", "best_within_risk", "least_risk", "risk_corners"]

Values = NDArray[np.float64]

ROUNDING = 1e-12  # risks that differ by this share of themselves are equals
UNDERFLOW = float(np.finfo(np.float64).tiny)  # a risk that there is, however small, is not 0
FLAT = 1e-4  # of the rewards on a frontier: a corner that stands out less cannot be seen


@dataclass(frozen=True, eq=False, repr=False)
class LeastRisk(Record):
    """The least risk there is, and the best of the policies that have it everywhere.

    Attributes
    ----------
    risk : float
        The least probability, of all policies, that some s_h, h = 1..H, is unsafe.
    risks : (H, S) array
        ``risks[h-1, s]`` is the same from state s at step h on, s included: 1 where s is unsafe,
        0 exactly where s is not in U_h.
    policy : (H, S) int array
    value : float
        The policy's expected sum of rewards from s_1.

    Examples
    --------
    >>> import safeteach as st
    >>> found = st.least_risk(st.instances.ice_corridor())
    >>> found.risk, found.risks.shape, found.policy.shape
    (0.0, (10, 13), (10, 13))
    """

    risk: float
    risks: NDArray[np.float64]
    policy: NDArray[np.int64]
    value: float


@dataclass(frozen=True, eq=False, repr=False)
class RiskPlan(Record):
    """A policy that is best within a risk.  It remembers whether it has been unsafe already.

    Attributes
    ----------
    value : float
        Its expected sum of rewards from s_1.
    risk : float
        The probability that some s_h, h = 1..H, is unsafe, at most what was asked for (up to a
        share of 1e-11 + 1e-12 H of that).
    policy : (2, H, S, A) array
        Probabilities of actions: ``policy[0]`` as long as no state has been unsafe, and
        ``policy[1]`` from the first unsafe state on, that state included.  ``policy[0]`` played
        throughout has the same risk and earns no more, and no less where no safe state follows
        an unsafe one.

    Examples
    --------
    >>> import safeteach as st
    >>> road = st.instances.school_road()
    >>> plan = st.constrained_optimal(road, risk=0.25)
    >>> plan.policy.shape
    (2, 10, 20, 2)
    >>> plan.value, st.evaluate(road, plan.policy[0]).unsafe_probability
    (9.125, 0.25)
    """

    value: float
    risk: float
    policy: NDArray[np.float64]

    def with_memory(self, mdp: SafeMDP) -> tuple[SafeMDP, NDArray[np.float64]]:
        """The plan as an ordinary policy, in a world whose states remember.

        Whatever takes a world and a policy takes the two: :func:`safeteach.evaluate`,
        :func:`safeteach.rollout`.

        Parameters
        ----------
        mdp : SafeMDP
            The world of the plan.

        Returns
        -------
        world : SafeMDP
            With 2 S states: s as long as no state has been unsafe, S + s from the first unsafe
            state on, that state included.
        policy : (H, 2 S, A) array

        Examples
        --------
        >>> import safeteach as st
        >>> road = st.instances.school_road()
        >>> plan = st.constrained_optimal(road, risk=0.25)
        >>> world, policy = plan.with_memory(road)
        >>> found = st.evaluate(world, policy)
        >>> found.value, found.unsafe_probability
        (9.125, 0.25)
        """
        instance(mdp, "mdp", SafeMDP, "a SafeMDP")
        sizes = mdp.H, mdp.S, mdp.A
        if self.policy.shape[1:] != sizes:
            raise ValueError(
                f"mdp has (H, S, A) = {sizes}; expected {self.policy.shape[1:]}, as in the plan"
            )
        with extra("figures"):
            from scipy.sparse import csr_array

        P = []
        for h in range(1, 2 if mdp.stationary else mdp.H + 1):
            rows = mdp.rows(h)
            after = rows.successors.astype(np.int64) + mdp.S
            before = after - mdp.S * ~mdp.unsafe[rows.successors]
            indptr = np.concatenate([rows.indptr[:-1], rows.indptr + rows.indptr[-1]])
            parts = np.tile(rows.probability, 2), np.concatenate([before, after]), indptr
            P.append(csr_array(parts, shape=(2 * mdp.S * mdp.A, 2 * mdp.S)))
        r, names = thin(mdp.r), [mdp.state_name(s) for s in range(mdp.S)]
        world = SafeMDP(
            P[0] if mdp.stationary else P,
            np.tile(r, (1, 2, 1)) if len(r) == mdp.H else np.tile(r[0], (2, 1)),
            np.tile(mdp.c, 2),
            mdp.tau,
            mdp.H,
            mdp.s1 + mdp.S * int(mdp.unsafe[mdp.s1]),
            state_names=[f"{name}, {when}" for when in ("before", "after") for name in names],
            action_names=[mdp.action_name(a) for a in range(mdp.A)],
        )
        return world, np.concatenate(self.policy, axis=1)


def least_risk(mdp: SafeMDP) -> LeastRisk:
    """The least probability of ever being unsafe, from every state at every step.

    One policy attains it everywhere at once.  Among the actions of least risk it takes the one of
    the most reward, from each (h, s) on; of several, the lowest in number.  Outside of U_h this is
    what :func:`safeteach.safe_optimal` does.  In an unsafe state all actions have risk 1, and it
    takes the one of the most reward; back in a safe state it keeps the risk of what is left as
    small as if nothing had happened.  Who need not do that earns more, see
    ``st.constrained_optimal(mdp, risk=...)``.

    Risks that differ by less than 1e-12 of themselves are taken for equal, because one number
    may be added up in two ways; so the policy's own risk is the least one up to that share a step.

    Parameters
    ----------
    mdp : SafeMDP

    Examples
    --------
    A walk over a bridge that may break under whoever walks, and more so under whoever runs:

    >>> import safeteach as st
    >>> walk, run = [0, 0.9, 0.1], [0, 0.5, 0.5]
    >>> P = [[walk, run], [[0, 1, 0]] * 2, [[0, 0, 1]] * 2]
    >>> bridge = st.SafeMDP(P, [[0, 1], [1, 1], [0, 0]], c=[0, 0, 1], tau=0.5, H=3)
    >>> st.is_feasible(bridge)
    False
    >>> found = st.least_risk(bridge)
    >>> found.risk, found.value
    (0.1, 1.8)
    >>> found.risks[:, 0]            # at the last step nobody falls any more
    array([0.1, 0.1, 0. ])
    """
    instance(mdp, "mdp", SafeMDP, "a SafeMDP")
    check_fits((2, mdp.H, mdp.S), float, "the least risk of this world")
    risks, policy = np.empty((mdp.H, mdp.S)), np.empty((mdp.H, mdp.S), np.int64)
    rho, V = np.zeros(mdp.S), np.zeros(mdp.S)
    for h in range(mdp.H, 0, -1):
        back_up = _back_up_compiled if mdp.rows(h).pay_for_numba() else _back_up
        rho, V = back_up(mdp, h, rho, V, risks[h - 1], policy[h - 1])
    return LeastRisk(float(rho[mdp.s1]), risks, policy, float(V[mdp.s1]))


def _back_up(
    mdp: SafeMDP, h: int, rho: Values, V: Values, here: Values, policy: NDArray[np.int64]
) -> tuple[Values, Values]:
    """Write the least risk and the policy of step h; return the risk and what the policy earns."""
    rows = mdp.rows(h)
    Q = mdp.r[h - 1] + rows.expect(V).reshape(mdp.S, mdp.A)
    least = UNDERFLOW * rows.touches(rho > 0)
    danger = rows.expect(rho).clip(least, 1.0).reshape(mdp.S, mdp.A)  # rows may sum to 1 + 1e-8
    danger[mdp.unsafe] = 1.0
    here[:] = danger.min(axis=1)
    choice = np.where(danger <= here[:, None] * (1 + ROUNDING), Q, -np.inf)
    policy[:] = choice.argmax(axis=1)
    return here, choice.max(axis=1)


def _back_up_compiled(
    mdp: SafeMDP, h: int, rho: Values, V: Values, here: Values, policy: NDArray[np.int64]
) -> tuple[Values, Values]:
    """The same bits, without a table of all actions."""
    from safeteach.planning.least import back_up_risk  # compiled: loaded when first needed

    rows, found = mdp.rows(h), np.empty(mdp.S)
    back_up_risk(
        rows.indptr, rows.successors, rows.probability, mdp.r[h - 1], mdp.unsafe, rho, V,
        here, found, policy,
    )  # fmt: skip
    return here, found


def best_within_risk(mdp: SafeMDP, risk: float) -> RiskPlan:
    """The best policy whose risk is at most that; there must be one."""
    check_fits((9, mdp.H, mdp.S, mdp.A), float, "the plan of this world")
    after = optimal(mdp)
    reckless = np.eye(mdp.A)[after.policy]
    if mdp.unsafe[mdp.s1]:
        return RiskPlan(after.value, 1.0, np.stack([reckless, reckless]))
    if risk == 0:  # never is never: here no rounding counts for nothing
        safe = safe_optimal(mdp)
        return RiskPlan(safe.value, 0.0, np.stack([np.eye(mdp.A)[safe.policy], reckless]))
    value, found, policy = _mixed(_Ending.of(mdp, after), risk)
    return RiskPlan(value, found, np.stack([policy, reckless]))


def risk_corners(mdp: SafeMDP) -> NDArray[np.float64]:
    """(n, 2) risk and reward of the corners of the frontier, from the least risk to the optimum.

    The frontier is the most that a policy can earn within a risk: concave, and straight from one
    corner to the next.  Each price of risk finds a corner, the first two being those of risk at
    any price and at none; between two neighbours is another if there is one for the price that
    makes equals of them.  Corners are left out that stand out by less than 1e-4 of all that risk
    can earn.
    """
    least, most = (best_within_risk(mdp, risk) for risk in (least_risk(mdp).risk, 1.0))
    found, ends = [(least.risk, least.value)], [(most.risk, most.value)]
    flat = FLAT * (most.value - least.value)
    world = _Ending.of(mdp, optimal(mdp))
    while ends:
        (x0, y0), (x1, y1) = found[-1], ends[-1]
        if x1 <= x0:  # no price is high enough: what is earned more is free
            found[-1] = ends.pop()
            continue
        price = (y1 - y0) / (x1 - x0)
        new = world.corner(price)
        gain = (new.value - price * new.risk) - (y0 - price * x0)
        if x0 < new.risk < x1 and gain > flat + ROUNDING * (y1 + price * x1):
            ends.append((new.risk, new.value))
        else:
            found.append(ends.pop())
    return np.array(found)


class _Corner(NamedTuple):
    """A deterministic policy until the first unsafe state, and what it comes to from s_1."""

    value: float
    risk: float
    policy: NDArray[np.int64]


@dataclass(frozen=True)
class _Ending:
    """The world that ends at the first unsafe state; behind that stands what ``after`` earns.

    ``model`` is (span, successor, probability) of the moves that end nothing; ``r`` and ``c`` are
    (H, S, A).  Where s is unsafe c is 0: nothing is left to be risked.
    """

    mdp: SafeMDP
    model: tuple[Any, Any, Any]
    r: NDArray[np.float64]
    c: NDArray[np.float64]

    @classmethod
    def of(cls, mdp: SafeMDP, after: Plan) -> _Ending:
        r, c = np.array(mdp.r), np.zeros(mdp.r.shape)
        for i in range(mdp.H - 1):
            end = np.stack([mdp.unsafe * after.V[i + 1], mdp.unsafe], axis=1)
            paid = mdp.rows(i + 1).expect(end).reshape(mdp.S, mdp.A, 2)
            r[i] += paid[..., 0]
            c[i] = paid[..., 1] * ~mdp.unsafe[:, None]
        span, successor, probability = mdp.all_rows()
        goes_on = ~mdp.unsafe[successor]
        room = np.concatenate([[0], np.cumsum(goes_on)]).astype(span.dtype)
        model = frozen(room[span]), frozen(successor[goes_on]), frozen(probability[goes_on])
        return cls(mdp, model, r, c)

    def end(self, safest: bool) -> _Corner:
        """The policy of the least risk, or of the most reward; of several, the one best otherwise.

        What differs by less than a share of 1e-12 at a step are equals.
        """
        mdp = self.mdp
        V, rho = np.zeros((2, mdp.S))
        policy = np.empty((mdp.H, mdp.S), np.int64)
        for i in reversed(range(mdp.H)):
            rows = mdp.rows(i + 1)
            goes_on = np.stack([V, rho], axis=1) * ~mdp.unsafe[:, None]
            earned, risked = np.moveaxis(rows.expect(goes_on).reshape(mdp.S, mdp.A, 2), 2, 0)
            Q, danger = self.r[i] + earned, self.c[i] + risked * ~mdp.unsafe[:, None]
            if safest:
                equal = danger <= danger.min(axis=1, keepdims=True) * (1 + ROUNDING)
                policy[i] = np.where(equal, Q, -np.inf).argmax(axis=1)
            else:
                most = Q.max(axis=1, keepdims=True)
                equal = most * (1 - ROUNDING) <= Q
                policy[i] = np.where(equal, danger, np.inf).argmin(axis=1)
            V, rho = (x[np.arange(mdp.S), policy[i]] for x in (Q, danger))
        return _Corner(float(V[mdp.s1]), float(rho[mdp.s1]), policy)

    def corner(self, price: float) -> _Corner:
        """The policy of the most reward without the price of its risk, by sheer comparison.

        Which of several it is makes no difference: they are all on the line of that price.
        """
        from safeteach.planning.pricing import _corner  # compiled: loaded when first needed

        H, S, _A = self.r.shape
        policy = np.empty((H, S), np.int64)
        ties, s1 = np.zeros((H, S)), self.mdp.s1
        value, risk = _corner(*self.model, self.r, self.c, s1, 1.0, price, 0.0, ties, policy)
        return _Corner(value, risk, policy)


def _mixed(world: _Ending, risk: float) -> tuple[float, float, NDArray[np.float64]]:
    """Value, risk and (H, S, A) policy of the best plan until the first unsafe state.

    The mixture of two corners, one of at most that risk and one of more, as in
    :func:`safeteach.planning.pricing.best_within`; or of one, if the riskiest has no more or the
    safest no less.
    """
    from safeteach.planning.pricing import _mixture

    dear = cheap = world.end(safest=False)
    if dear.risk > risk:
        cheap = world.end(safest=True)
        if cheap.risk >= risk * (1 - ROUNDING):
            dear = cheap
    while dear.risk > cheap.risk:
        price = (dear.value - cheap.value) / (dear.risk - cheap.risk)
        if not price < np.inf:  # a difference of risks that hardly is a number
            break
        new = world.corner(price)
        gain = (new.value - price * new.risk) - (dear.value - price * dear.risk)
        is_edge = gain <= ROUNDING * (dear.value + price * dear.risk)
        if is_edge or not cheap.risk < new.risk < dear.risk:
            break
        if new.risk <= risk:
            cheap = new
        else:
            dear = new
    apart = dear.risk - cheap.risk
    share = (risk - cheap.risk) / apart if apart > 0 else 0.0
    mixed = np.empty(world.r.shape)
    _mixture(*world.model, world.mdp.s1, share, dear.policy, cheap.policy, mixed)
    value, found = ((1 - share) * y + share * x for x, y in zip(dear[:2], cheap[:2], strict=True))
    return value, found, mixed
