r"""*Danger ahead*: Δ, the doomed states, the safe actions, feasibility."""

from __future__ import annotations

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
    not_yet,
    small_world,
)
from safeteach.classroom.checking.worlds import random_world, small_worlds
from safeteach.instances import grid_from_map, ice_corridor
from safeteach.planning.evaluation import evaluate
from safeteach.safety import is_feasible, potentially_unsafe, safe_actions
from safeteach.worlds.mdp import SafeMDP

__all__ = ["EXERCISES"]

MOST_STATES, MOST_STEPS = 4, 4
ROUNDING = 1e-12


def _sizes() -> tuple[int, ...]:
    """|U_1| .. |U_4| on the ice corridor with four steps."""
    mdp = grid_from_map("\n".join(ice_corridor().map), H=4)
    return tuple(potentially_unsafe(mdp).sum(axis=1).tolist())


def _without_a_feasible_policy_by_the_printed_recursion(answer: object) -> Finding | None:
    """Say what a world lacks to break: sets that start from the next decide feasibility."""
    small = small_world(answer, MOST_STATES, MOST_STEPS)
    if isinstance(small, Finding):
        return small
    if not is_feasible(small):
        return not_yet("No policy is feasible here: s1 is in the exact U_1 too.", small)
    if not potentially_unsafe(small, recursion="paper")[0, small.s1]:
        why = " Its P is the same at every step." if small.stationary else ""
        return not_yet(
            f"Here s1 is outside the U_1 of the printed recursion too, and rightly.{why}", small
        )
    return None


def _unsafe_behind_a_one_step_shield(answer: object) -> Finding | None:
    """Say what a pair lacks to break: one step of foresight is enough."""
    if not isinstance(answer, tuple) or len(answer) != 2:
        return not_yet(f"Expected a pair (mdp, policy), got {form_of(answer)}.")
    small = small_world(answer[0], MOST_STATES, MOST_STEPS)
    if isinstance(small, Finding):
        return small
    try:
        policy = small.check_policy(answer[1])
    except Exception as error:  # a policy can be any object at all
        return not_yet(f"The policy is none for this world: {error}.")
    if not is_feasible(small):
        return not_yet("No policy is feasible here, so no rule could have helped.", small)
    takes = policy > 0 if policy.ndim == 3 else np.eye(small.A, dtype=bool)[policy]
    through = np.argwhere(takes & ~_one_step_shield(small))
    if through.size:
        h, s, a = map(int, through[0])
        return not_yet(
            f"The one-step rule forbids it: at step {h + 1} in state {small.state_name(s)} your "
            f"policy takes action {small.action_name(a)}, which can reach an unsafe state at once, "
            f"and another action cannot.",
            small,
            h + 1,
        )
    risk = evaluate(small, policy).unsafe_probability
    if risk < 1 - ROUNDING:
        return not_yet(f"Your policy meets an unsafe state with probability {risk:.3g}.", small)
    return None


def _one_step_shield(mdp: SafeMDP) -> NDArray[np.bool_]:
    """(H, S, A) bool: the actions that cannot reach U at once, or all where there is none."""
    allowed = np.empty((mdp.H, mdp.S, mdp.A), np.bool_)
    for h in range(1, mdp.H + 1):
        allowed[h - 1] = ~mdp.rows(h).touches(mdp.unsafe).reshape(mdp.S, mdp.A)
    return allowed | ~allowed.any(axis=2, keepdims=True)


EXERCISES: dict[str, Exercise] = {
    "by-hand": Value(
        asks="the sizes (|U_1|, |U_2|, |U_3|, |U_4|) on the ice corridor with H = 4",
        hint="Begin at the last step, where only the water counts. Then go back one step at a "
        "time: from which cell may every move end in the set you have just found?",
        expected=_sizes,
        slips=(
            Slip(lambda: _sizes()[::-1], "You list them from the last step to the first."),
            Slip(
                lambda: tuple(n - 1 for n in _sizes()),
                "At every step one state is missing: an unsafe state is in every U_h.",
            ),
            Slip(
                lambda: _sizes()[-1:] * 4,
                "These are the unsafe states alone. Some others cannot avoid them.",
            ),
            Slip(
                lambda: _sizes()[:1] * 4,
                "Danger needs time to travel: near the end fewer states are doomed.",
            ),
        ),
    ),
    "recursion": Function(
        asks="a function my_potentially_unsafe(mdp) that returns U_1 .. U_H as an (H, S) array "
        "of bool",
        hint="Fill the last row with the unsafe states and go back row by row. A state is in U_h "
        "if it is unsafe itself, or if every one of its actions has a possible successor, "
        "however unlikely, in U_{h+1}.",
        oracle=potentially_unsafe,
        instances=small_worlds,
        draw=random_world,
        arguments=lambda mdp: {"mdp": mdp},
        axes="HS",
    ),
    "mask": Function(
        asks="a function my_safe_actions(mdp, U) that returns the safe actions as an (H, S, A) "
        "array of bool",
        hint="An action at step h is judged by where it may lead at step h + 1, and by nothing "
        "else. After the last step nothing is counted any more.",
        oracle=lambda mdp, U: safe_actions(mdp),  # noqa: ARG005, the library works U out itself
        instances=small_worlds,
        draw=random_world,
        arguments=lambda mdp: {"mdp": mdp, "U": potentially_unsafe(mdp)},
        axes="HSA",
    ),
    "find-the-bug": Function(
        asks="a function is_feasible_fixed(mdp) that returns whether a feasible policy exists",
        hint="Follow U through one step by hand, state after state. Which step does an entry "
        "belong to when a later state reads it?",
        oracle=is_feasible,
        instances=small_worlds,
        draw=random_world,
        arguments=lambda mdp: {"mdp": mdp},
    ),
    "union": Counterexample(
        asks=f"a SafeMDP with at most {MOST_STATES} states and {MOST_STEPS} steps that has a "
        f"feasible policy, although s1 is in U_1 if each set starts from the one after it",
        hint="You need a state that is doomed at some step and can still get away one step "
        "earlier, so P must change from step to step.",
        missing=_without_a_feasible_policy_by_the_printed_recursion,
    ),
    "one-step-of-foresight": Counterexample(
        asks=f"a pair (mdp, policy) with at most {MOST_STATES} states and {MOST_STEPS} steps: "
        f"some policy is feasible, and this one, which obeys the one-step rule everywhere, is "
        f"unsafe with probability 1",
        hint="The rule sees a state that is unsafe. It does not see a state from which every "
        "action leads to one.",
        missing=_unsafe_behind_a_one_step_shield,
    ),
}
