r"""Chapter 4, *Danger ahead*: Δ, the potentially unsafe states, the safe actions, feasibility."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from safeteach.exercises.forms import form_of
from safeteach.exercises.kinds import Counterexample, Exercise, Finding, Function, Slip, Value
from safeteach.exercises.quizzes import Choice, Question
from safeteach.exercises.worlds import plain, small_worlds
from safeteach.instances import grid_from_map, ice_corridor
from safeteach.mdp import SafeMDP
from safeteach.planning import evaluate
from safeteach.safety import is_feasible, potentially_unsafe, safe_actions

__all__ = ["EXERCISES", "QUESTIONS"]

MOST_STATES, MOST_STEPS = 4, 4
ROUNDING = 1e-12


def _sizes() -> tuple[int, ...]:
    """|U_1| .. |U_4| on the ice corridor with four steps."""
    mdp = grid_from_map("\n".join(ice_corridor().map), H=4)
    return tuple(potentially_unsafe(mdp).sum(axis=1).tolist())


def _without_a_feasible_policy_by_the_printed_recursion(answer: object) -> Finding | None:
    """Say what a world lacks to break: the printed recursion decides feasibility."""
    small = _small_world(answer)
    if isinstance(small, Finding):
        return small
    if not is_feasible(small):
        return _lacking("No policy is feasible here: the exact recursion has s1 in U_1 too.", small)
    if not potentially_unsafe(small, recursion="paper")[0, small.s1]:
        why = " Its P is the same at every step." if small.stationary else ""
        return _lacking(
            f"The printed recursion finds s1 outside U_1 here, and is right.{why}", small
        )
    return None


def _unsafe_behind_a_one_step_shield(answer: object) -> Finding | None:
    """Say what a pair lacks to break: one step of foresight is enough."""
    if not isinstance(answer, tuple) or len(answer) != 2:
        return _lacking(f"Expected a pair (mdp, policy), got {form_of(answer)}.")
    small = _small_world(answer[0])
    if isinstance(small, Finding):
        return small
    try:
        policy = small.check_policy(answer[1])
    except Exception as error:  # a policy can be any object at all
        return _lacking(f"The policy is none for this world: {error}.")
    if not is_feasible(small):
        return _lacking("No policy is feasible here, so no rule could have helped.", small)
    takes = policy > 0 if policy.ndim == 3 else np.eye(small.A, dtype=bool)[policy]
    through = np.argwhere(takes & ~_one_step_shield(small))
    if through.size:
        h, s, a = map(int, through[0])
        return _lacking(
            f"The one-step rule forbids it: at step {h + 1} in state {small.state_name(s)} your "
            f"policy takes action {small.action_name(a)}, which can reach an unsafe state at once, "
            f"and another action cannot.",
            small,
            h + 1,
        )
    risk = evaluate(small, policy).unsafe_probability
    if risk < 1 - ROUNDING:
        return _lacking(f"Your policy meets an unsafe state with probability {risk:.3g}.", small)
    return None


def _one_step_shield(mdp: SafeMDP) -> NDArray[np.bool_]:
    """(H, S, A) bool: the actions that cannot reach U at once, or all where there is none."""
    allowed = np.empty((mdp.H, mdp.S, mdp.A), np.bool_)
    for h in range(1, mdp.H + 1):
        allowed[h - 1] = ~mdp.rows(h).touches(mdp.unsafe).reshape(mdp.S, mdp.A)
    return allowed | ~allowed.any(axis=2, keepdims=True)


def _small_world(answer: object) -> SafeMDP | Finding:
    """Return the world that the reader built, or why it is not one to look at."""
    if not isinstance(answer, SafeMDP):
        return _lacking(f"Expected a SafeMDP, got {form_of(answer)}.")
    if answer.S > MOST_STATES or answer.H > MOST_STEPS:
        return _lacking(
            f"It has {answer.S} states and {answer.H} steps; {MOST_STATES} states and "
            f"{MOST_STEPS} steps are enough, and no more are allowed."
        )
    return plain(answer)


def _lacking(text: str, world: SafeMDP | None = None, h: int = 1) -> Finding:
    return Finding("not yet", text, world, h)


EXERCISES: dict[str, Exercise] = {
    "4.1": Value(
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
    "4.2": Function(
        asks="a function my_potentially_unsafe(mdp) that returns U_1 .. U_H as an (H, S) array "
        "of bool",
        hint="Fill the last row with the unsafe states and go back row by row. A state is in U_h "
        "if it is unsafe itself, or if every one of its actions has a possible successor, "
        "however unlikely, in U_{h+1}.",
        oracle=potentially_unsafe,
        instances=small_worlds,
        arguments=lambda mdp: {"mdp": mdp},
        axes="HS",
    ),
    "4.3": Function(
        asks="a function my_safe_actions(mdp, U) that returns the safe actions as an (H, S, A) "
        "array of bool",
        hint="An action at step h is judged by where it may lead at step h + 1, and by nothing "
        "else. After the last step nothing is counted any more.",
        oracle=lambda mdp, U: safe_actions(mdp),  # noqa: ARG005, the library works U out itself
        instances=small_worlds,
        arguments=lambda mdp: {"mdp": mdp, "U": potentially_unsafe(mdp)},
        axes="HSA",
    ),
    "4.4": Function(
        asks="a function is_feasible_fixed(mdp) that returns whether a feasible policy exists",
        hint="Follow U through one step by hand, state after state. Which step does an entry "
        "belong to when a later state reads it?",
        oracle=is_feasible,
        instances=small_worlds,
        arguments=lambda mdp: {"mdp": mdp},
    ),
    "4.5": Counterexample(
        asks=f"a SafeMDP with at most {MOST_STATES} states and {MOST_STEPS} steps that has a "
        f"feasible policy though the printed recursion puts s1 into U_1",
        hint="You need a state that is doomed at some step and can still get away one step "
        "earlier, so P must change from step to step.",
        missing=_without_a_feasible_policy_by_the_printed_recursion,
    ),
    "4.6": Counterexample(
        asks=f"a pair (mdp, policy) with at most {MOST_STATES} states and {MOST_STEPS} steps: "
        f"some policy is feasible, and this one, which obeys the one-step rule everywhere, is "
        f"unsafe with probability 1",
        hint="The rule sees a state that is unsafe. It does not see a state from which every "
        "action leads to one.",
        missing=_unsafe_behind_a_one_step_shield,
    ),
}

QUESTIONS = (
    Question(
        r"A learner has never tried action \(a\) in state \(s\) at step \(h\), so its estimate "
        r"of \(\Delta_h(s,a)\) is the empty set. What does the recursion make of \(a\)?",
        (
            Choice(
                r"An unsafe action, until it has been seen to be safe.",
                "That would be a cautious learner. It could not take its first step: in the "
                "beginning nothing has been tried.",
            ),
            Choice(
                r"A safe action.",
                r"The empty set meets no \(\mathcal{U}_{h+1}\), so \(a\) counts as safe and "
                r"\(s\) as free, unless it is unsafe itself. The estimates start too hopeful and "
                r"grow with what is seen.",
                right=True,
            ),
            Choice(
                r"A reason to count \(s\) as doomed.",
                r"A state is doomed when every action has a successor in "
                r"\(\mathcal{U}_{h+1}\). This one has no successor at all yet.",
            ),
        ),
    ),
    Question(
        r"On the ice you now slip into the water with probability \(10^{-6}\) in place of "
        r"\(0.05\). What happens to \(\mathcal{U}_1\)?",
        (
            Choice(
                "It shrinks: the ice has become almost harmless.",
                "The expected violation shrinks. But a state is potentially unsafe as soon as "
                "danger is possible, and it still is.",
            ),
            Choice(
                r"That depends on \(\tau\).",
                r"The threshold \(\tau\) is compared with the cost of a state, never with a "
                r"probability.",
            ),
            Choice(
                "Nothing.",
                r"The recursion reads \(P\) only through \(\Delta_h(s,a)\), the successors of "
                r"positive probability. These are the same.",
                right=True,
            ),
        ),
    ),
    Question(
        r"The paper prints \(\mathcal{U}_h = \mathcal{U}_{h+1} \cup \{\dots\}\). Why is this "
        r"union too large when \(P_h\) changes with \(h\)?",
        (
            Choice(
                r"It keeps a state that is doomed at step \(h+1\) but still has a way out at "
                r"step \(h\).",
                r"A way out at step \(h\) is all that an agent at step \(h\) needs. The exact "
                r"recursion starts again from the unsafe states \(\mathcal{U}\) at every step.",
                right=True,
            ),
            Choice(
                r"It forgets states that are doomed at step \(h\) only.",
                r"Those are in the set that the dots stand for. The union never misses a doomed "
                r"state; it has some that are not.",
            ),
            Choice(
                "It counts unsafe states twice.",
                "A union of sets counts nothing twice.",
            ),
        ),
    ),
    Question(
        r"At the last step, \(h = H\), an action surely leads into the water. Is it in "
        r"\(A_H^{\mathrm{safe}}(s)\)?",
        (
            Choice(
                r"No: its successor is in \(\mathcal{U}\).",
                r"It is, but nothing is counted there. There is no \(\mathcal{U}_{H+1}\).",
            ),
            Choice(
                r"Yes: the state after step \(H\) carries no cost.",
                r"Violation is paid in \(s_1, \dots, s_H\). The last action moves the agent "
                r"after the count is closed, so every action is safe.",
                right=True,
            ),
            Choice(
                r"Yes, but only if \(s\) itself is safe.",
                r"A safe action is one that leads nowhere bad. Whether \(s\) is unsafe now is a "
                r"matter of \(\mathcal{U}_H\), not of its actions.",
            ),
            Choice(
                "Only if no other action is left.",
                "That is the rule for lifting the mask in a doomed state. Here there is nothing "
                "to lift.",
            ),
        ),
    ),
)
