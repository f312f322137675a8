r"""*The algorithm*: flags, doom in what was seen, the lifted mask, optimistic values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safeteach.bounds import alpha, beta
from safeteach.classroom.checking import compiling
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
from safeteach.classroom.checking.memories import Flags, doomed, looks_safe, memories, random_memory
from safeteach.worlds.known import Episode, Known
from safeteach.worlds.mdp import SafeMDP

__all__ = ["EXERCISES"]


MOST_STATES, MOST_ACTIONS, MOST_STEPS = 4, 3, 4
EPISODES = 800
LATE = 200  # episodes at the end of a run
OFTEN, OFTEN_TRIED = 0.05, 10
SETTINGS: dict[str, Any] = {"episodes": EPISODES, "delta": 0.005, "bonus_scale": 0.01}


# What Algorithm 1 makes of flags and seen successors, as arrays --------------------------------


def _may_take(U: Flags, seen: Flags) -> Flags:
    return looks_safe(U, seen) | U[:, :, None]


def _optimistic_V(
    r: NDArray[np.float64], counts: NDArray[np.int64], allowed: Flags, a: float
) -> NDArray[np.float64]:
    H, S, _ = r.shape
    V = np.zeros((H + 1, S))
    for h in range(H, 0, -1):
        Q = _optimistic_Q(r[h - 1], counts[h - 1], V[h], H, a)
        V[h - 1] = Q.max(axis=1, where=allowed[h - 1], initial=-np.inf)
    return V


def _optimistic_Q(
    r: NDArray[np.float64],
    counts: NDArray[np.int64],
    V: NDArray[np.float64],
    H: int,
    a: float,
) -> NDArray[np.float64]:
    """(S, A): Q of one step, H where nothing was tried."""
    n = counts.sum(axis=2)
    tried = np.maximum(n, 1)
    Q = np.minimum(H, r + counts @ V / tried + a / np.sqrt(tried))
    return np.where(n > 0, Q, H)


# 6.1 ------------------------------------------------------------------------------------------

HOME, PATH, ICE, POOL = range(4)
ESTIMATES = {HOME: (0.02, 0.20), PATH: (0.10, 0.25), ICE: (0.75, 0.62), POOL: (0.95, 0.30)}
SEEN: tuple[dict[int, tuple[set[int], set[int]]], ...] = (
    {HOME: ({PATH}, {ICE}), PATH: (set(), {HOME}), ICE: ({POOL}, {PATH}), POOL: (set(), {POOL})},
    {
        HOME: ({PATH}, {ICE}),
        PATH: ({POOL}, set()),
        ICE: ({POOL}, {HOME, POOL}),
        POOL: ({ICE}, {POOL}),
    },
    {HOME: ({PATH}, {POOL}), PATH: (set(), set()), ICE: (set(), set()), POOL: (set(), set())},
)


def _sizes(tau: float = 0.5, wide: bool = True) -> tuple[int, ...]:
    """(|U_1^k|, |U_2^k|, |U_3^k|); without the width if it is not ``wide``."""
    flagged = np.array([mean - wide * width > tau for mean, width in ESTIMATES.values()])
    seen = np.zeros((3, 4, 2, 4), np.bool_)
    for h, step in enumerate(SEEN):
        for s, successors in step.items():
            for a, states in enumerate(successors):
                seen[h, s, a, list(states)] = True
    return tuple(doomed(flagged, seen).sum(axis=1).tolist())


# 6.2 to 6.4 -----------------------------------------------------------------------------------


def _memories() -> Iterator[dict[str, Any]]:
    """Yield what was seen, and a factor of the bonus."""
    for mdp, memory in memories(seed=0):
        yield _with_alpha(mdp, memory)


def _memory(k: int, rng: np.random.Generator) -> dict[str, Any]:
    return _with_alpha(*random_memory(k, rng))


def _with_alpha(mdp: SafeMDP, memory: dict[str, Any]) -> dict[str, Any]:
    return memory | {"alpha": float(alpha(1, mdp.S, mdp.A, mdp.H, 1_000, 0.005)) * 0.01}


def _mask_arguments(memory: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"U": doomed(memory["flagged"], memory["seen"]), "seen": memory["seen"]}


def _value_arguments(memory: Mapping[str, Any]) -> Mapping[str, Any]:
    allowed = _may_take(doomed(memory["flagged"], memory["seen"]), memory["seen"])
    return {
        "r": memory["r"],
        "counts": memory["counts"],
        "allowed": allowed,
        "alpha": memory["alpha"],
    }


# 6.5 and 6.6 ----------------------------------------------------------------------------------


class _OneStep:
    """A learner that avoids flagged states one step ahead and looks no further."""

    def __init__(self, known: Known) -> None:
        self.known = known
        self.episodes = EPISODES
        self.counts = np.zeros((known.H, known.S, known.A, known.S), np.int64)
        self.visits = np.zeros(known.S, np.int64)
        self.paid = np.zeros(known.S)
        self.bonus = SETTINGS["bonus_scale"] * float(
            alpha(1, known.S, known.A, known.H, EPISODES, SETTINGS["delta"])
        )

    def plan(self, rng: np.random.Generator) -> NDArray[np.int64]:
        known = self.known
        width = beta(self.visits, known.S, SETTINGS["delta"])
        flagged = self.paid / np.maximum(self.visits, 1) - width > known.tau
        allowed = looks_safe(np.tile(flagged, (known.H, 1)), self.counts > 0)
        allowed |= ~allowed.any(axis=2, keepdims=True)
        V = _optimistic_V(known.r, self.counts, allowed, self.bonus)
        policy = np.empty((known.H, known.S), np.int64)
        ties = rng.random((known.H, known.S, known.A))
        for h in range(known.H):
            Q = _optimistic_Q(known.r[h], self.counts[h], V[h + 1], known.H, self.bonus)
            best = allowed[h] & (V[h][:, None] == Q)
            policy[h] = np.where(best, ties[h], -1.0).argmax(axis=1)
        return policy

    def observe(self, episode: Episode) -> None:
        s, a = episode.states, episode.actions
        np.add.at(self.counts, (np.arange(len(a)), s[:-1], a, s[1:]), 1)
        np.add.at(self.visits, s[:-1], 1)
        np.add.at(self.paid, s[:-1], episode.costs)


def _falling_for_ever(answer: object) -> Finding | None:
    """Say what a world lacks to break: it is enough to avoid flagged states one step ahead."""
    # Loaded here: the other exercises need no compiler.
    from safeteach.learners import SUCBVI
    from safeteach.running.playing import play

    mdp = feasible_world(answer, MOST_STATES, MOST_ACTIONS, MOST_STEPS)
    if isinstance(mdp, Finding):
        return mdp
    naive, wise = (
        [
            bool(mdp.unsafe[episode.states[:-1]].any())
            for _, episode in play(learner, mdp, seed=0, noise=0.0)
        ][-LATE:]
        for learner in (_OneStep(mdp.known), SUCBVI(mdp.known, **SETTINGS))
    )
    if np.mean(naive) < OFTEN:
        return not_yet(
            f"The one-step learner was unsafe in {np.mean(naive):.1%} of its last {LATE} episodes "
            f"of {EPISODES} without noise; at least {OFTEN:.0%} are asked for.",
            mdp,
        )
    if any(wise):
        return not_yet(
            f"SUCBVI too was unsafe in {np.mean(wise):.1%} of its last {LATE} episodes of "
            f"{EPISODES} without noise: looking ahead has not helped yet.",
            mdp,
        )
    return None


def _stays_in_the_water(answer: object) -> Finding | None:
    """Say what a world lacks to break: in a flagged state SUCBVI takes a safe way out."""
    from safeteach.learners import SUCBVI
    from safeteach.running.playing import play

    mdp = feasible_world(answer, MOST_STATES, MOST_ACTIONS, MOST_STEPS)
    if isinstance(mdp, Finding):
        return mdp
    learner = SUCBVI(mdp.known, **SETTINGS)
    for _ in play(learner, mdp, seed=0, noise=0.0):
        pass
    if not learner.flagged.any():
        return not_yet(f"No state is flagged after {EPISODES:,} episodes without noise.", mdp)
    ways_out = learner.safe_actions & (learner.transitions.N > 0) & learner.flagged[:, None]
    ways_out[-1] = False
    if not ways_out.any():
        return not_yet(
            "In no flagged state is there an action that was tried and looks safe: the learner "
            "knows no way out.",
            mdp,
        )
    # Preferred by more than a tie, and not for the bonus of what was hardly tried.
    best_safe = np.where(learner.safe_actions, learner.Q, -np.inf).max(axis=2, keepdims=True)
    preferred = (best_safe < learner.Q) & (learner.transitions.N >= OFTEN_TRIED)
    if not (ways_out.any(axis=2) & preferred.any(axis=2)).any():
        return not_yet(
            f"Wherever it knows a way out of a flagged state, the learner prefers none of the "
            f"other actions that it has tried {OFTEN_TRIED} times.",
            mdp,
        )
    return None


prepare = compiling.learners

EXERCISES: dict[str, Exercise] = {
    "by-hand": Value(
        asks="the sizes (|U_1^k|, |U_2^k|, |U_3^k|) of what the learner believes to be doomed",
        hint="Flag first, with the width. Then go back step by step, each step with its own table: "
        "a state joins if every action has a seen successor in the set of the step after. An "
        "action that was never tried has none.",
        expected=_sizes,
        slips=(
            Slip(lambda: _sizes()[::-1], "You list them from the last step to the first."),
            Slip(
                lambda: (2, 2, 1),
                "You keep ice in U_1 because it is in U_2. At step 1 one of its actions has only "
                "been seen to end on the path.",
            ),
            Slip(
                lambda: (1, 3, 1),
                "One action of the path was never tried at step 2. What was never tried looks "
                "safe.",
            ),
            Slip(
                lambda: _sizes(wide=False),
                "Ice is not flagged: its average is above tau, but bad luck could explain that.",
            ),
            Slip(lambda: (1, 1, 1), "These are the flagged states alone. Look one step back."),
        ),
    ),
    "mask-lifted": Function(
        asks="a function may_take(U, seen) that returns the actions that Algorithm 1 chooses "
        "among, as an (H, S, A) array of bool",
        hint="An action looks safe if none of its seen successors is in the next set. Where the "
        "state itself is in the set of its own step, the mask is lifted. After the last step "
        "nothing is counted.",
        oracle=_may_take,
        instances=_memories,
        draw=_memory,
        arguments=_mask_arguments,
        axes="HSA",
    ),
    "optimistic-values": Function(
        asks="a function optimistic_V(r, counts, allowed, alpha) that returns V_1^k .. V_{H+1}^k "
        "as an (H + 1, S) array",
        hint="Begin with zeros for step H + 1. What is Q where nothing was tried, and what is it "
        "at most? The maximum is over the allowed actions only.",
        oracle=_optimistic_V,
        instances=_memories,
        draw=_memory,
        arguments=_value_arguments,
        axes=("H + 1", "S"),
    ),
    "find-the-bug": Function(
        asks="a function doomed_fixed(flagged, seen) that returns U_1^k .. U_H^k as an (H, S) "
        "array of bool",
        hint="To find U_h you need where the actions of step h lead. Which steps does the loop "
        "read? Try it with H = 2.",
        oracle=doomed,
        instances=_memories,
        draw=_memory,
        arguments=lambda memory: {"flagged": memory["flagged"], "seen": memory["seen"]},
        axes="HS",
    ),
    "one-step-ahead": Counterexample(
        asks=f"a SafeMDP with at most {MOST_STATES} states, {MOST_ACTIONS} actions and "
        f"{MOST_STEPS} steps in which a learner that avoids flagged states only one step ahead is "
        f"unsafe in at least {OFTEN:.0%} of its last {LATE} episodes, and SUCBVI in none of them",
        hint="Let it be drawn by reward into a state that is not unsafe, and from which every "
        "action leads on to one that is.",
        missing=_falling_for_ever,
    ),
    "way-out-not-taken": Counterexample(
        asks=f"a SafeMDP with at most {MOST_STATES} states, {MOST_ACTIONS} actions and "
        f"{MOST_STEPS} steps in which SUCBVI ends with a policy that, in a flagged state with an "
        f"action that was tried and looks safe, prefers one that does not look safe and was tried "
        f"{OFTEN_TRIED} times or more",
        hint="In a doomed state the mask is lifted and Q alone decides. Where should the "
        "reward be?",
        missing=_stays_in_the_water,
    ),
}
