r"""*SRF-UCRL*: the uncertainty of safe pairs, the mask, the plan, when to stop."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safeteach.bounds import exploration_bonus
from safeteach.classroom.checking import compiling
from safeteach.classroom.checking.forms import Misfit, fitted
from safeteach.classroom.checking.kinds import (
    Counterexample,
    Exercise,
    Finding,
    Function,
    Slip,
    Value,
    feasible_world,
    not_yet,
)
from safeteach.classroom.checking.memories import (
    Flags,
    doomed,
    largest,
    looks_safe,
    memories,
    random_memory,
)
from safeteach.worlds.mdp import SafeMDP

__all__ = ["EXERCISES"]

Floats = NDArray[np.float64]

MOST_STATES, MOST_ACTIONS, MOST_STEPS = 4, 3, 4
EPISODES = 600
TIMES = 10  # as wide
SETTINGS: dict[str, Any] = {"delta": 0.1, "bonus_scale": 0.001}
BAIT_EPISODES, BAIT_SEED, HURTS = 100, 1, 2.0


# What Algorithm 2 makes of counts, as arrays --------------------------------------------------


def _may_take(U: Flags, seen: Flags) -> Flags:
    safe = looks_safe(U, seen)
    return np.where(safe.any(axis=2, keepdims=True), safe, True)


def _uncertainty(counts: NDArray[np.int64], U: Flags, M: Floats) -> Floats:
    H, S, A, _ = counts.shape
    safe, n = looks_safe(U, counts > 0), counts.sum(axis=3)
    W = np.full((H, S, A), float(H))
    over_safe, over_all = np.zeros(S), np.zeros(S)
    for h in range(H - 1, -1, -1):
        share = counts[h] / np.maximum(n[h], 1)[:, :, None]
        pair = safe[h] & ~U[h][:, None]
        future = share @ over_all
        future[pair] = (share @ over_safe)[pair]
        W[h] = np.where(n[h] > 0, np.minimum(H, M[n[h]] + future), H)
        over_safe = np.where(safe[h], W[h], 0.0).max(axis=1)
        over_all = W[h].max(axis=1)
    return W


def _plan_values(r: Floats, counts: NDArray[np.int64], allowed: Flags) -> Floats:
    H, S, _ = r.shape
    V = np.zeros((H + 1, S))
    for h in range(H - 1, -1, -1):
        n = counts[h].sum(axis=2)
        Q = r[h] + counts[h] @ V[h + 1] / np.maximum(n, 1)
        V[h] = np.where(allowed[h] & (n > 0), Q, 0.0).max(axis=1)
    return V


# 14.1 -----------------------------------------------------------------------------------------


def _two_doubts(cap: float = 3.0, untried: float = 3.0) -> tuple[float, float]:
    """W̄_1(home, a) over the safe actions, and over all."""
    hall, stairs = max(0.4, 0.6), max(0.2, 1.8)
    hall_a = 0.5 + 0.6 * hall + 0.4 * stairs
    hall_b = min(cap, 0.9 + 0.75 * stairs + 0.25 * 3)
    on_stairs = max(0.8 + hall, untried)
    safe, everything = (0.5 + 0.8 * at + 0.2 * on_stairs for at in (hall_a, max(hall_a, hall_b)))
    return min(cap, safe), min(cap, everything)


# 14.2 to 14.5 ---------------------------------------------------------------------------------


def _memories() -> Iterator[dict[str, Any]]:
    """Yield what was counted, the doomed states that follow, and a bonus M for every count."""
    for mdp, memory in memories(seed=1000):
        yield _with_bonus(mdp, memory)


def _memory(k: int, rng: np.random.Generator) -> dict[str, Any]:
    return _with_bonus(*random_memory(k, rng))


def _with_bonus(mdp: SafeMDP, memory: dict[str, Any]) -> dict[str, Any]:
    U = doomed(memory["flagged"], memory["seen"])
    n = np.arange(int(memory["counts"].sum(axis=3).max()) + 1)
    return memory | {"U": U, "M": 0.01 * exploration_bonus(n, mdp.S, mdp.A, mdp.H, 0.1)}


def _plan_arguments(memory: Mapping[str, Any]) -> Mapping[str, Any]:
    allowed = _may_take(memory["U"], memory["seen"])
    return {"r": memory["r"], "counts": memory["counts"], "allowed": allowed}


def _visits_enough(S: int, A: int, H: int, epsilon: float, delta: float) -> int:
    return largest(lambda n: H * float(exploration_bonus(n, S, A, H, delta)) > epsilon / 2) + 1


def _sizes() -> Iterator[dict[str, Any]]:
    for S, A, H, epsilon, delta in (
        (2, 1, 1, 2.0, 0.5),
        (2, 1, 1, 300.0, 0.5),  # one visit is enough
        (2, 2, 2, 4.0, 0.1),
        (2, 2, 2, 1.0, 0.1),
        (3, 2, 3, 1.0, 0.1),
        (11, 5, 10, 10.0, 0.1),
        (11, 5, 10, 0.5, 0.01),
    ):
        yield {"S": S, "A": A, "H": H, "epsilon": epsilon, "delta": delta}


def _size(k: int, rng: np.random.Generator) -> dict[str, Any]:
    S, A, H = 2 + k % 12, 1 + k % 5, 1 + k // 6
    epsilon, delta = float(rng.uniform(0.2, 2 * H)), float(10 ** -rng.uniform(0.1, 3))
    return {"S": S, "A": A, "H": H, "epsilon": epsilon, "delta": delta}


# 14.6 and 14.7 --------------------------------------------------------------------------------


def _widths(mdp: Any) -> tuple[float, float]:
    """The width after the episodes of SRF-UCRL, and of one whose maxima are over all actions."""
    # Loaded here: the other exercises need no compiler.
    from safeteach.learners import srf_ucrl
    from safeteach.running.playing import play

    class LooksEverywhere(srf_ucrl.SRFUCRL):
        def plan(self, rng: np.random.Generator) -> NDArray[np.int64]:
            seen = self.transitions
            self._look()
            srf_ucrl._uncertainty(
                seen.span, seen.successor, seen.share, self.bonus, self.cap,
                np.ones_like(self.U), self._allowed, rng.random(out=self._ties), self._next,
                self.W, self.policy,
            )  # fmt: skip
            return self.policy

    widths = []
    for make in (srf_ucrl.SRFUCRL, LooksEverywhere):
        learner = make(mdp.known, **SETTINGS)
        for k, _ in play(learner, mdp, seed=0, noise=0.0):
            if k == EPISODES:
                break
        widths.append(learner.width)
    return widths[0], widths[1]


def _never_narrow(answer: object) -> Finding | None:
    """Say what a world lacks to break: the maximum may be over all actions."""
    mdp = feasible_world(answer, MOST_STATES, MOST_ACTIONS, MOST_STEPS)
    if isinstance(mdp, Finding):
        return mdp
    safe, everything = _widths(mdp)
    if everything < TIMES * safe:
        return not_yet(
            f"After {EPISODES} episodes the width over all actions is {everything:.3g} and over "
            f"safe ones {safe:.3g}; at least {TIMES} times as much is asked for.",
            mdp,
        )
    return None


def _hurting_reward(answer: object) -> Finding | None:
    """Say what a reward lacks to break: the plan is safe after a hundred episodes."""
    from safeteach.instances import laboratory
    from safeteach.learners import SRFUCRL
    from safeteach.planning.evaluation import evaluate
    from safeteach.running.exploring import explore

    lab = laboratory()
    try:
        r = np.asarray(fitted(np.zeros((lab.S, lab.A)), answer, ("S", "A")))
    except Misfit as misfit:
        return not_yet(f"It has the wrong form: {misfit}.")
    if not ((r >= 0) & (r <= 1)).all():
        return not_yet("A reward lies in [0, 1].")
    learner = SRFUCRL(lab.known)
    explore(learner, lab, BAIT_EPISODES, BAIT_SEED)
    over = evaluate(lab, learner.plan_for(r).policy).violation
    if over < HURTS:
        return not_yet(
            f"The plan for this reward has an expected violation of {over:.3g}; at least {HURTS:g} "
            f"is asked for.",
        )
    return None


prepare = compiling.explorers

EXERCISES: dict[str, Exercise] = {
    "one-uncertainty-by-hand": Value(
        asks="the two numbers W̄_1(home, a), over safe actions and over all",
        hint="Begin at step 2. Which action is banned there, and what is the uncertainty of one "
        "that was never tried? No uncertainty is above H.",
        expected=_two_doubts,
        slips=(
            Slip(lambda: _two_doubts()[::-1], "You give them in the other order."),
            Slip(
                lambda: _two_doubts(cap=99.0),
                "No uncertainty is above H, and the second of yours is.",
            ),
            Slip(
                lambda: _two_doubts(untried=0.0),
                "On the stairs one action was never tried. Its uncertainty is H, and it looks "
                "safe.",
            ),
            Slip(
                lambda: (_two_doubts()[0],) * 2,
                "Over all actions the banned one in the hall counts, too.",
            ),
        ),
    ),
    "mask": Function(
        asks="a function may_take(U, seen) that returns the actions that Algorithm 2 chooses "
        "among, as an (H, S, A) array of bool",
        hint="An action looks safe if none of its seen successors is in the next set. The mask is "
        "lifted where no action is left, and not merely because the state is flagged.",
        oracle=_may_take,
        instances=_memories,
        draw=_memory,
        arguments=lambda memory: {"U": memory["U"], "seen": memory["seen"]},
        axes="HSA",
    ),
    "doubt-with-arrays": Function(
        asks="a function uncertainty(counts, U, M) that returns W̄ as an (H, S, A) array",
        hint="Keep two maxima of the step after, over the actions that look safe and over all. A "
        "pair looks into the first if its state is not in U_h and its action looks safe. Never "
        "tried is H, and nothing is more.",
        oracle=_uncertainty,
        instances=_memories,
        draw=_memory,
        arguments=lambda memory: {name: memory[name] for name in ("counts", "U", "M")},
        axes="HSA",
    ),
    "find-the-bug": Function(
        asks="a function plan_values_fixed(r, counts, allowed) that returns the values of "
        "plan_for as an (H + 1, S) array",
        hint="Try it on a world in which one action was never taken, with a reward on that action "
        "alone. What should the plan be worth?",
        oracle=_plan_values,
        instances=_memories,
        draw=_memory,
        arguments=_plan_arguments,
        axes=("H + 1", "S"),
    ),
    "enough-is-enough": Function(
        asks="a function visits_enough(S, A, H, epsilon, delta) that returns the least n with "
        "H M(n) at most epsilon/2",
        hint="M has two terms, both with the gamma of n visits. Double n until it is enough, then "
        "halve the distance.",
        oracle=_visits_enough,
        instances=_sizes,
        draw=_size,
    ),
    "look-at-all-actions": Counterexample(
        asks=f"a SafeMDP with at most {MOST_STATES} states, {MOST_ACTIONS} actions and "
        f"{MOST_STEPS} steps in which the width after {EPISODES} episodes is {TIMES} times that of "
        f"SRF-UCRL if all maxima are over all actions",
        hint="Let little be left to learn where it is safe. Behind a door that is found to be "
        "dangerous, put much that can be tried and hardly was.",
        missing=_never_narrow,
    ),
    "reward-that-hurts-most": Counterexample(
        asks=f"a reward, an (S, A) array in [0, 1], for which the plan after {BAIT_EPISODES} "
        f"episodes in the laboratory has an expected violation of at least {HURTS:g}",
        hint="Where does the violation come from, and what makes a plan want to be there?",
        missing=_hurting_reward,
    ),
}
