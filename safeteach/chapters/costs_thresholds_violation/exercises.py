"""*Costs, thresholds, violation*: what counts, when, and how well it can be seen."""

from __future__ import annotations

import math
from collections.abc import Iterator
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from safeteach.classroom.checking.forms import Misfit, fitted, form_of
from safeteach.classroom.checking.kinds import (
    Counterexample,
    Exercise,
    Finding,
    Function,
    Property,
    Slip,
    Value,
    by_name,
    not_yet,
    small_world,
)
from safeteach.classroom.checking.worlds import other_costs, random_world, small_worlds
from safeteach.instances import random_mdp, smoke
from safeteach.planning.evaluation import evaluate
from safeteach.worlds.known import Episode
from safeteach.worlds.mdp import SafeMDP, rollout

__all__ = ["EXERCISES"]

MOST_STATES, MOST_STEPS, MARGIN = 5, 5, 0.1

# The walk of "by-hand": the cells of s_1 .. s_6 on the map of smoke, H = 5, tau = .3.
WALK = ((1, 2), (1, 1), (2, 1), (2, 0), (2, 1), (2, 2))
WALK_TAU = 0.3


def _excess_on_walk() -> NDArray[np.float64]:
    """(6,) c(s) - tau along the walk, the state after the last step included."""
    mdp = smoke()
    cells = mdp.cells.tolist()
    return mdp.c[[cells.index(list(cell)) for cell in WALK]] - WALK_TAU


def _counted(excess: NDArray[np.float64]) -> tuple[float, float]:
    """Return the violation and the number of unsafe steps of a walk."""
    return float(excess[excess > 0].sum()), float((excess > 0).sum())


def _policy(mdp: SafeMDP) -> NDArray[np.int64]:
    """(H, S) the policy to evaluate: it uses every action, and a hint can name it."""
    return np.add.outer(np.arange(1, mdp.H + 1), np.arange(mdp.S)) % mdp.A


def _episode(mdp: SafeMDP) -> Episode:
    return rollout(mdp, np.zeros((mdp.H, mdp.S), np.int64), seed=0)


def _violation_and_danger(mdp: SafeMDP, policy: NDArray[np.int64]) -> tuple[float, float]:
    outcome = evaluate(mdp, policy)
    return outcome.violation, outcome.unsafe_probability


def _chain(*odds: float) -> SafeMDP:
    """A world without choice: from each state to the next with these odds, the last is unsafe."""
    n = len(odds) + 1
    P = np.zeros((n, 1, n))
    for i, p in enumerate(odds):
        P[i, 0, [i, i + 1]] = 1 - p, p
    P[-1, 0, -1] = 1
    return SafeMDP(P, np.zeros((n, 1)), c=np.arange(n) == n - 1, tau=0.5, H=n)


def _worlds_that_round() -> Iterator[SafeMDP]:
    """Yield worlds in which arithmetic with probabilities goes wrong, then all the others.

    In the first nothing is unsafe and .7 + .2 + .1 is not 1; in the next ones a danger is so
    unlikely that adding it to 1 or taking it from 1 changes little or nothing; in the last of
    these its probability, a product, is too small for a number of the computer.
    """
    yield SafeMDP(np.full((3, 1, 3), (0.7, 0.2, 0.1)), np.zeros((3, 1)), np.zeros(3), tau=0.5, H=1)
    for odds in (1e-9, 1e-13, 1e-18):
        yield _chain(odds)
    yield _chain(1e-200, 1e-200)
    yield from small_worlds()
    for k in range(20):
        yield _hardly_unsafe(k, np.random.default_rng(k))


def _ways_into_danger(mdp: SafeMDP, policy: NDArray[np.int64]) -> bool:
    """Whether a policy can be unsafe: some chain of possible moves leads there in time."""
    ahead: set[int] = set()  # from where that can happen, at the step after
    for h in range(mdp.H, 0, -1):
        ahead = {
            s
            for s in range(mdp.S)
            if mdp.unsafe[s] or ahead.intersection(mdp.successors(h, s, int(policy[h - 1, s])))
        }
    return mdp.s1 in ahead


def _misjudged(result: object, mdp: SafeMDP, policy: NDArray[np.int64]) -> str:
    """Say why a judgement of feasibility is wrong, "" if it is right."""
    try:
        said = fitted(True, result)
    except Misfit as misfit:
        return f"It returns the wrong form: {misfit}."
    if said is not _ways_into_danger(mdp, policy):
        return ""
    if not said:
        return (
            "It returns False; right is True: no chain of possible transitions leads into an "
            "unsafe state. In floating point the probabilities of a row need not add up to 1."
        )
    text = "It returns True; right is False: a chain of possible transitions leads into danger."
    odds = evaluate(mdp, policy).unsafe_probability
    if odds == 0:
        return (
            f"{text} Its probability is a product that is too small for floating point and becomes "
            f"0, so whoever multiplies probabilities cannot see it."
        )
    return f"{text} It has probability {odds:.1g}."


def _hardly_unsafe(k: int, rng: np.random.Generator) -> SafeMDP:
    """Draw a world with few unsafe states, so that some policies are feasible."""
    S, A, H = 3 + k % 4, 1 + k % 3, 2 + k % 3
    mdp = random_mdp(S, A, H, rng, unsafe=0.1, stationary=k % 2 == 0)
    c, tau = other_costs(mdp.unsafe, rng)
    return SafeMDP(mdp.P[0] if mdp.stationary else mdp.P, np.zeros((S, A)), c, tau, H)


def _cheaper_and_worse(answer: object) -> Finding | None:
    """Say what an answer lacks to break: whoever costs less violates less."""
    if not isinstance(answer, tuple) or len(answer) != 3:
        return not_yet(f"Expected a triple (mdp, first, second), got {form_of(answer)}.")
    if not isinstance(answer[0], SafeMDP):
        return not_yet(f"The first of the three must be a SafeMDP, got {form_of(answer[0])}.")
    mdp = small_world(answer[0], MOST_STATES, MOST_STEPS)
    if isinstance(mdp, Finding):
        return mdp
    outcomes = []
    for which, policy in zip(("first", "second"), answer[1:], strict=True):
        try:
            outcomes.append(evaluate(mdp, policy))
        except Exception as error:  # a policy can be any object at all
            return not_yet(f"The {which} policy is none for this world: {error}.")
    first, second = outcomes
    # The margins leave room for rounding: a difference of exactly .1 is enough.
    if second.cost - first.cost < MARGIN - 1e-9:
        return not_yet(
            f"The first policy costs {first.cost:.4g} and the second {second.cost:.4g}: the first "
            f"must cost less, by at least {MARGIN}.",
            mdp,
        )
    if first.violation - second.violation < MARGIN - 1e-9:
        return not_yet(
            f"The first policy costs less, as it should. But its violation is "
            f"{first.violation:.4g} and that of the second {second.violation:.4g}: the first must "
            f"violate more, by at least {MARGIN}.",
            mdp,
        )
    return None


def _looks(gap: float, delta: float) -> int:
    """Return the least n >= 1 with Φ(-gap √n) <= delta."""
    if delta >= 0.5:
        return 1
    return max(1, math.ceil((NormalDist().inv_cdf(delta) / gap) ** 2))


EXERCISES: dict[str, Exercise] = {
    "by-hand": Value(
        asks="the pair (violation, number of unsafe steps) of the walk, at tau = 0.3 and H = 5",
        hint="Write the six costs in a row and strike out what does not count. Of each that is "
        "left, take what exceeds 0.3, and nothing if it does not.",
        expected=lambda: _counted(_excess_on_walk()[:5]),
        slips=(
            Slip(
                lambda: _counted(_excess_on_walk()),
                "You count the state after the last step. With H = 5 the sum ends at s_5.",
            ),
            Slip(
                lambda: _counted(_excess_on_walk()[1:5]),
                "You leave out the initial state. It counts: the sum starts at h = 1.",
            ),
            Slip(
                lambda: (
                    _counted(_excess_on_walk()[:5])[0],
                    float((_excess_on_walk()[:5] >= 0).sum()),
                ),
                "The violation is right. But a state whose cost equals the threshold is safe.",
            ),
            Slip(
                lambda: (float(_excess_on_walk()[:5].sum()), _counted(_excess_on_walk()[:5])[1]),
                "A step below the threshold earns no credit: it adds nothing, and not a negative "
                "number.",
            ),
        ),
    ),
    "violation-of-an-episode": Function(
        asks="a function my_violation(mdp, episode) that returns the violation of the episode",
        hint="The costs in the episode are noisy; the states are not, and the world knows the "
        "cost of each. Mind which of the H + 1 states count. (The episode that was tried is "
        "st.rollout(world, policy, seed=0) with action 0 everywhere.)",
        oracle=lambda mdp, episode: float(mdp.violation[episode.states[:-1]].sum()),
        instances=small_worlds,
        draw=random_world,
        arguments=lambda mdp: {"mdp": mdp, "episode": _episode(mdp)},
    ),
    "two-numbers-forward": Function(
        asks="a function my_evaluate(mdp, policy) that returns the pair (violation, probability "
        "of ever being unsafe)",
        hint="Carry two vectors forward: the law of s_h, and the part of it that has not been "
        "unsafe so far. Count first, then move. (The policy that was tried takes action "
        "(h + s) mod A in state s at step h.)",
        oracle=_violation_and_danger,
        instances=small_worlds,
        draw=random_world,
        arguments=lambda mdp: {"mdp": mdp, "policy": _policy(mdp)},
    ),
    "find-the-bug": Property(
        asks="a function feasible(mdp, policy) that returns whether the policy is feasible",
        hint="The recursion is right on paper. What does a computer make of 0.7 + 0.2 + 0.1, of "
        "1 - 1e-18, and of 1e-200 * 1e-200? Ask not how likely danger is but whether it is "
        "possible: which states can the agent be in at all? (The policy that was tried takes "
        "action (h + s) mod A in state s at step h.)",
        oracle=_misjudged,
        instances=_worlds_that_round,
        draw=_hardly_unsafe,
        arguments=lambda mdp: {"mdp": mdp, "policy": _policy(mdp)},
    ),
    "cheaper-is-safer": Counterexample(
        asks=f"a triple (mdp, first, second): a SafeMDP with at most {MOST_STATES} states and "
        f"{MOST_STEPS} steps and two policies, of which the first has the smaller expected cost "
        f"and the larger violation, each by at least {MARGIN}",
        hint="Cost below the threshold is free of violation, so let the second policy have a lot "
        "of it. Let the first have nothing most of the time, and much too much now and then.",
        missing=_cheaper_and_worse,
    ),
    "enough-looks": Function(
        asks="a function looks(gap, delta) that returns the least n for which the average of n "
        "looks is on the wrong side with probability at most delta",
        hint="The average of n looks has standard deviation 1 / sqrt(n). Solve for n where the "
        "probability is delta exactly, round in the right direction, and think about a delta so "
        "large that one look is enough.",
        oracle=_looks,
        instances=lambda: [
            (gap, delta)
            for gap in (1.0, 0.5, 0.3, 0.1, 0.05)
            for delta in (0.7, 0.5, 0.3, 0.1, 0.05, 0.01, 0.001)
        ],
        draw=lambda _k, rng: (float(rng.uniform(0.02, 1)), float(10 ** rng.uniform(-4, -0.1))),
        arguments=by_name("gap", "delta"),
    ),
}
