"""*MDPs you can run*: the value of a policy, where it goes, and the best one."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safeteach.classroom.checking.forms import form_of
from safeteach.classroom.checking.kinds import (
    Counterexample,
    Exercise,
    Finding,
    Function,
    Property,
    Slip,
    Value,
    not_yet,
    small_world,
)
from safeteach.instances import random_mdp
from safeteach.planning.evaluation import evaluate
from safeteach.planning.induction import optimal
from safeteach.worlds.mdp import SafeMDP

__all__ = ["EXERCISES"]

RANDOM_WORLDS = 60
MOST_STATES, MOST_ACTIONS, MOST_STEPS, GAP = 4, 3, 6, 0.5
ROUNDING = 1e-9

TRIED = (
    "The policy tried has at (h, s) probabilities proportional to (h + s + a) mod 3 (with a single "
    "action, that one)."
)


def _machine(H: int) -> SafeMDP:
    """Build the machine of "by-hand": new or worn, to run or to mend."""
    P = [[[0.5, 0.5], [1, 0]], [[0, 1], [1, 0]]]
    return _safe(P, [[1, 0], [0.25, 0]], H)


def _always_running() -> float:
    return evaluate(_machine(3), np.zeros((3, 2), np.int64)).value


def _worlds_with_rewards() -> Iterator[SafeMDP]:
    """Yield small worlds in which nothing is unsafe and rewards differ, the smallest first."""
    yield _safe([[[1]]], [[0.5]], H=1)
    yield _safe([[[1], [1]]], [[0.25, 1]], H=2)
    yield _safe([[[0, 1]], [[1, 0]]], [[1], [0]], H=3, s1=1)
    yield _safe([[[0.25, 0.75]], [[0, 1]]], [[0], [1]], H=2)
    # To earn 0.5 at once leads to a state where no more is earned.
    yield _safe(np.eye(3)[[[2, 1], [1, 1], [2, 2]]], [[0.5, 0], [1, 1], [0, 0]], H=2)
    # The best reward after action 0 belongs to an action that the policy tried never takes.
    yield _safe(np.eye(3)[[[1, 2], [1, 1], [2, 2]]], [[0, 0.5], [1, 0], [0, 0]], H=2)
    # The moves and the rewards of each step are another step's, turned round.
    turn = np.eye(2)[[[[0, 1], [1, 0]], [[1, 1], [0, 0]], [[0, 0], [1, 0]]]]
    yield _safe(turn, [[[0, 1], [0.5, 0]], [[0.25, 0], [1, 0.5]], [[1, 0.5], [0, 0.25]]], H=3)
    for k in range(RANDOM_WORLDS):
        yield _world_with_rewards(k, np.random.default_rng(k))


def _world_with_rewards(k: int, rng: np.random.Generator) -> SafeMDP:
    """Draw a world in which nothing is unsafe, with rewards that can be shown as they are."""
    S, A, H = 2 + k // 15, 1 + k % 3, 1 + k // 12
    mdp = random_mdp(S, A, H, rng, successors=2, unsafe=0, stationary=k % 2 == 0)
    r = rng.integers(11, size=mdp.r.shape) / 10
    return _safe(mdp.P[0] if mdp.stationary else mdp.P, r, H, s1=int(rng.integers(S)))


def _safe(P: Any, r: Any, H: int, s1: int = 0) -> SafeMDP:
    return SafeMDP(P, r, np.zeros(np.asarray(P).shape[-1]), tau=0.5, H=H, s1=s1)


def _policy(mdp: SafeMDP) -> NDArray[np.float64]:
    """(H, S, A) the policy to try, one that a statement can describe.

    The probability of a at (h, s) is proportional to (h + s + a) mod 3, so that some actions are
    never taken.
    """
    if mdp.A == 1:
        return np.ones((mdp.H, mdp.S, 1))
    steps, states = np.arange(1, mdp.H + 1), np.arange(mdp.S)
    weight = np.add.outer(np.add.outer(steps, states), np.arange(mdp.A)) % 3
    return weight / weight.sum(axis=2, keepdims=True)


def _value(mdp: SafeMDP, policy: NDArray[np.float64]) -> NDArray[np.float64]:
    """(H + 1, S) the values of a policy at every step."""
    V = np.zeros((mdp.H + 1, mdp.S))
    for h in range(mdp.H, 0, -1):
        Q = mdp.r[h - 1] + mdp.rows(h).expect(V[h]).reshape(mdp.S, mdp.A)
        V[h - 1] = np.einsum("sa,sa->s", policy[h - 1], Q)
    return V


def _law(mdp: SafeMDP, policy: NDArray[np.float64]) -> NDArray[np.float64]:
    """(H + 1, S) the law of the state at every step and after the last."""
    laws = [np.eye(mdp.S)[mdp.s1]]
    for actions, P in zip(policy, mdp.P, strict=True):
        laws.append(np.einsum("s,sa,sat->t", laws[-1], actions, P))
    return np.stack(laws)


def _misses_the_clock(answer: object) -> Finding | None:
    """Say what a world lacks to break: where all steps are alike, one rule does for all."""
    mdp = small_world(answer, MOST_STATES, MOST_STEPS, MOST_ACTIONS)
    if isinstance(mdp, Finding):
        return mdp
    for name, table in (("P", mdp.P), ("r", mdp.r)):
        if (table != table[0]).any():
            text = f"Its {name} is not the same at every step: of course a rule must change then."
            return not_yet(text, mdp)
    blind = max(
        evaluate(mdp, np.tile(np.array(rule), (mdp.H, 1))).value
        for rule in itertools.product(range(mdp.A), repeat=mdp.S)
    )
    best = optimal(mdp).value
    if best - blind < GAP - ROUNDING:
        return not_yet(
            f"The best policy has the value {best:.4g}, and the best of those that ignore the step "
            f"{blind:.4g}: that is {best - blind:.4g} less, not {GAP:g}.",
            mdp,
        )
    return None


def _randomness_left(chosen: object, mdp: SafeMDP, policy: NDArray[np.float64]) -> str:
    """Say what is wrong with a deterministic policy made from another one, if anything."""
    shape = (mdp.H, mdp.S)
    if not isinstance(chosen, np.ndarray) or chosen.shape != shape or chosen.dtype.kind not in "iu":
        return (
            f"It returns the wrong form: expected an (H, S) = {shape} array of whole numbers, "
            f"got {form_of(chosen)}."
        )
    try:
        mdp.check_policy(chosen)
    except ValueError as error:
        return f"It returns no policy: {error}."
    unused = np.argwhere(np.take_along_axis(policy, chosen[..., None], axis=2)[..., 0] == 0)
    if unused.size:
        i, s = map(int, unused[0])
        return (
            f"At step h = {i + 1}, state {s} it takes action {chosen[i, s]}, which the given "
            f"policy never takes there."
        )
    before, after = evaluate(mdp, policy).value, evaluate(mdp, chosen).value
    if after < before - ROUNDING:
        return f"The given policy has the value {before:.4g}, the deterministic one {after:.4g}."
    return ""


EXERCISES: dict[str, Exercise] = {
    "by-hand": Value(
        asks="the value of the best policy of the machine from new, with H = 3",
        hint="Begin with the last step and write down the values of the two states there. "
        "Then compare the two actions in each state at step 2, then at step 1.",
        expected=lambda: optimal(_machine(3)).value,
        slips=(
            Slip(_always_running, "That is for running it at every step, worn or not."),
            Slip(lambda: optimal(_machine(2)).value, "That is for two steps; there are three."),
            Slip(lambda: optimal(_machine(4)).value, "That is for four steps; there are three."),
            Slip(
                lambda: 3.0,
                "That is if the machine never wears. It may, so average over both outcomes.",
            ),
        ),
    ),
    "every-value-at-once": Function(
        asks="a function my_value(mdp, policy) that returns V_1 .. V_{H+1} of a policy as an array "
        "with H + 1 rows and S columns",
        hint="The last row is zero. Before it, row by row: what does each action earn now and on "
        f"average later, and with which probability does the policy take it? {TRIED}",
        oracle=_value,
        instances=_worlds_with_rewards,
        draw=_world_with_rewards,
        arguments=lambda mdp: {"mdp": mdp, "policy": _policy(mdp)},
        axes=("H + 1", "S"),
    ),
    "law-of-the-state": Function(
        asks="a function my_law(mdp, policy) that returns the laws of s_1 .. s_{H+1} as an array "
        "with H + 1 rows and S columns",
        hint="All probability starts at s1. To get the next row, multiply by the probability of "
        "each action and then of each move, and add up what arrives at a state; each row sums to "
        "1. "
        f"{TRIED}",
        oracle=_law,
        instances=_worlds_with_rewards,
        draw=_world_with_rewards,
        arguments=lambda mdp: {"mdp": mdp, "policy": _policy(mdp)},
        axes=("H + 1", "S"),
    ),
    "find-the-bug": Function(
        asks="a function fixed(mdp) that returns the value of the best policy",
        hint="Write down which step each sweep reads its P and r from, and for which step the V "
        "is that it reads. When does that not matter?",
        oracle=lambda mdp: optimal(mdp).value,
        instances=_worlds_with_rewards,
        draw=_world_with_rewards,
        arguments=lambda mdp: {"mdp": mdp},
    ),
    "ignore-the-clock": Counterexample(
        asks=f"a SafeMDP with at most {MOST_STATES} states, {MOST_ACTIONS} actions and "
        f"{MOST_STEPS} steps, the same P and r at every step, where all deterministic policies "
        f"that ignore the step fall short of the best value by {GAP:g} or more",
        hint="Think of something that is good to do once and at the end, and bad to do before, "
        "because it closes a door.",
        missing=_misses_the_clock,
    ),
    "take-the-dice-away": Property(
        asks="a function derandomise(mdp, policy) that returns an (H, S) array of actions, of "
        "those that the policy may take, with at least its value from s1",
        hint="The policy is an average over its actions. Among those that it takes at all, one is "
        "at least as good as the average: measured by what, if afterwards you go on with the "
        f"given policy? {TRIED}",
        oracle=_randomness_left,
        instances=_worlds_with_rewards,
        draw=_world_with_rewards,
        arguments=lambda mdp: {"mdp": mdp, "policy": _policy(mdp)},
    ),
}
