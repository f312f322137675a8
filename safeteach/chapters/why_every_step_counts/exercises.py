r"""*Why every step counts*: what a budget hides and a step-wise constraint does not."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from safeteach.classroom.checking.forms import form_of
from safeteach.classroom.checking.kinds import (
    Counterexample,
    Exercise,
    Finding,
    Function,
    Slip,
    Value,
    by_name,
    not_yet,
)
from safeteach.instances import school_road
from safeteach.planning.evaluation import evaluate
from safeteach.worlds.mdp import SafeMDP

__all__ = ["EXERCISES"]

EPISODE, TAU = np.array([0.2, 0.9, 0.4, 0.7, 0.3]), 0.5
ROUNDING = 1e-9


def _sums() -> tuple[float, ...]:
    """Σ(c - tau) and Σ(c - tau)_+ of the episode of "two-sums"."""
    difference = EPISODE - TAU
    return float(difference.sum()), float(difference.clip(min=0).sum())


def _running_totals(costs: NDArray[np.float64], tau: float) -> NDArray[np.float64]:
    return np.clip(costs - tau, 0, None).sum(axis=1).cumsum()


def _ledgers() -> Iterator[tuple[NDArray[np.float64], float]]:
    """Yield costs (K, H) with a threshold, from one number to many episodes."""
    yield np.array([[0.75]]), 0.5
    yield np.array([[0.25]]), 0.5
    yield np.array([[1.0, 0.0]]), 0.5  # the account of the episode is zero
    yield np.array([[0.0, 0.0], [1.0, 1.0]]), 0.5  # and that of both episodes together
    yield np.array([[0.5, 0.75], [0.25, 1.0], [0.0, 0.5]]), 0.25
    for k in (7, 24, 5, 59):
        yield _ledger(k, np.random.default_rng(k))


def _ledger(k: int, rng: np.random.Generator) -> tuple[NDArray[np.float64], float]:
    """Random costs of 1 to 10 episodes, 1 to 6 steps each, and a threshold."""
    costs = np.round(rng.random((1 + k // 6, 1 + k % 6)), 2)
    return costs, round(float(rng.random()), 2)


def _largest_share(C0: float, C1: float, budget: float) -> float:
    return float(np.interp(budget, [C0, C1], [0.0, 1.0]))


def _mixtures() -> Iterator[tuple[float, float, float]]:
    """Yield C0 < C1 and a budget of at least C0."""
    yield 0.0, 1.0, 0.5
    yield 0.0, 2.0, 0.5
    yield 1.0, 2.0, 1.0  # no slack, no share
    yield 1.0, 2.0, 5.0  # room for all of it
    for k in range(30):
        yield _mixture(k, np.random.default_rng(k))


def _mixture(_k: int, rng: np.random.Generator) -> tuple[float, float, float]:
    C0, more, part = rng.random(3) * (3, 4, 1.5)  # in one case of three there is room for all of it
    return float(C0), float(C0 + more), float(C0 + part * more)


def _less_than_a_budget_can_hide(answer: object) -> Finding | None:
    """Say what an episode lacks to hide as much as a legal average can."""
    try:
        c = np.asarray(answer, float)
    except (TypeError, ValueError):
        return not_yet(f"Expected ten numbers, got {form_of(answer)}.")
    if c.shape != (10,):
        return not_yet(f"Expected ten numbers, got {form_of(answer)}.")
    if not ((c >= 0) & (c <= 1)).all():
        return not_yet("A cost lies outside [0, 1].")
    if c.sum() > 10 * TAU + ROUNDING:
        return not_yet(f"The costs add up to {c.sum():.4g}, more than the budget.")
    hidden = float(np.clip(c - TAU, 0, None).sum())
    most = max(min(m * (1 - TAU), (10 - m) * TAU) for m in range(11))
    if hidden < most - ROUNDING:
        return not_yet(f"Legal, with a violation of {hidden:.4g}. A budget can hide more.")
    return None


def _careful_or_over_a_step_budget(answer: object) -> Finding | None:
    """Say what a policy lacks to race past the school with each E[c(s_h)] in order."""
    road = school_road()
    try:
        policy = road.check_policy(answer)  # type: ignore[arg-type]
    except Exception as error:  # an answer can be any object at all
        return not_yet(f"It is no policy for the road: {error}.")
    expected = _expected_costs(road, np.eye(road.A)[policy] if policy.ndim == 2 else policy)
    over = np.flatnonzero(expected > road.tau + ROUNDING)
    if over.size:
        h = int(over[0]) + 1
        return not_yet(f"At step {h} the expected cost is {expected[h - 1]:.4g}, more than tau.")
    if evaluate(road, policy).unsafe_probability <= 0:
        return not_yet("It meets every budget and never races past the school.")
    return None


def _expected_costs(mdp: SafeMDP, policy: NDArray[np.float64]) -> NDArray[np.float64]:
    """(H,) E[c(s_h)] from s_1."""
    law = np.eye(mdp.S)[mdp.s1]
    costs = np.empty(mdp.H)
    for i in range(mdp.H):
        costs[i] = law @ mdp.c
        law = np.einsum("s,sa,sat->t", law, policy[i], mdp.P[i])
    return costs


EXERCISES: dict[str, Exercise] = {
    "two-sums": Value(
        asks="the pair of sums, first with and then without credit for the steps below tau",
        hint="Write down the five differences c - tau. Add them all; then add only those above 0.",
        expected=_sums,
        slips=(
            Slip(lambda: _sums()[::-1], "You give them in the other order."),
            Slip(
                lambda: (0.0, 0.0),
                "For the second sum, drop the negative differences before you add.",
            ),
            Slip(
                lambda: (float(EPISODE.sum()), float(EPISODE[EPISODE > TAU].sum())),
                "You add the costs themselves. Subtract the threshold from each first.",
            ),
        ),
    ),
    "ledger": Function(
        asks="a function stepwise_violation(costs, tau) that returns the running totals C(1) .. "
        "C(K) as a (K,) array",
        hint="Take the positive part of each step first. Then add over the steps of an episode, "
        "then over the episodes so far.",
        oracle=_running_totals,
        instances=_ledgers,
        draw=_ledger,
        arguments=lambda case: {"costs": case[0].copy(), "tau": case[1]},
        axes="K",
    ),
    "find-the-bug": Function(
        asks="a function violation(costs, tau) of one episode, without the bug",
        hint="Try it by hand on the costs 1 and 0 with tau = 0.5. Which of the two operations, "
        "the sum and the maximum, must come first?",
        oracle=lambda costs, tau: float(_running_totals(np.array([costs]), tau)[-1]),
        instances=_ledgers,
        draw=_ledger,
        arguments=lambda case: {"costs": case[0].ravel().tolist(), "tau": case[1]},
    ),
    "legal-average": Counterexample(
        asks="ten costs in [0, 1] with sum at most 5 and the largest step-wise violation that "
        "such a sum can hide",
        hint="A step below the threshold gives credit, the most at cost 0. A step above spends "
        "it. How many of each can you afford?",
        missing=_less_than_a_budget_can_hide,
    ),
    "how-often": Function(
        asks="a function largest_share(C0, C1, budget), the largest p in [0, 1]",
        hint="The expected cost of the coin flip is a straight line in p, from C0 at p = 0 to C1 "
        "at p = 1. Where does it cross the budget, and what if it never does?",
        oracle=_largest_share,
        instances=_mixtures,
        draw=_mixture,
        arguments=by_name("C0", "C1", "budget"),
    ),
    "budget-for-every-step": Counterexample(
        asks="an (H, S, A) policy for the road with E[c(s_h)] at most tau at every step, that is "
        "unsafe with positive probability",
        hint="The expectation of c at the school mixes 0.1 and 1. How large may the share of 1 be?",
        missing=_careful_or_over_a_step_budget,
    ),
}
