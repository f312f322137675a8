r"""*Why violation is small*: surprises, flags that are late, and how they add up."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safeteach.bounds import beta
from safeteach.classroom.checking import compiling
from safeteach.classroom.checking.forms import form_of, is_whole
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
from safeteach.classroom.checking.worlds import random_world, small_worlds
from safeteach.safety import potentially_unsafe
from safeteach.worlds.known import Episode
from safeteach.worlds.mdp import SafeMDP, rollout

__all__ = ["EXERCISES"]

MOST_STATES, MOST_STEPS, MOST_ACTIONS = 4, 6, 4
MOST_VISITS, MOST_EPISODES = 8, 1000
EPISODES, SEEDS = 3_000, range(3)


# by-hand --------------------------------------------------------------------------------------

TAU, COSTS = 0.5, {"a": 0.0, "b": 0.2, "u": 0.9, "v": 0.7}
FLAGGED = "u"
WALK = "abuuvb"  # s_1 .. s_5, and where the last move ends
NEW = (2, 4, 5)  # the steps whose move had never been seen


def _ledger() -> tuple[float, float, float]:
    """Surprises, violation in flagged states and violation in the others."""
    paid = {s: max(COSTS[s] - TAU, 0) for s in COSTS}
    H = len(WALK) - 1
    in_flagged = sum(paid[s] for s in WALK[:H] if s in FLAGGED)
    return sum(h < H for h in NEW), in_flagged, sum(paid[s] for s in WALK[:H]) - in_flagged


# count-the-surprises --------------------------------------------------------------------------


@dataclass(frozen=True)
class _Walk:
    """An episode, and the successors seen before it."""

    seen: NDArray[np.bool_]
    episode: Episode


def _walks() -> Iterator[_Walk]:
    """Yield episodes of random policies in small worlds, with nothing, all or a part of Δ seen."""
    for k, mdp in enumerate(small_worlds()):
        yield _walk_in(mdp, k, np.random.default_rng(k))


def _walk(k: int, rng: np.random.Generator) -> _Walk:
    return _walk_in(random_world(k, rng), k, rng)


def _walk_in(mdp: SafeMDP, k: int, rng: np.random.Generator) -> _Walk:
    policy = rng.integers(mdp.A, size=(mdp.H, mdp.S))
    share = (0.0, 0.6, 1.0)[k % 3]
    seen = mdp.support() & (rng.random((mdp.H, mdp.S, mdp.A, mdp.S)) < share)
    return _Walk(seen, rollout(mdp, policy, rng))


def _surprises(seen: NDArray[np.bool_], episode: Episode) -> int:
    H = len(episode.actions)
    return sum(
        not seen[h, episode.states[h], episode.actions[h], episode.states[h + 1]]
        for h in range(H - 1)
    )


# find-the-bug ---------------------------------------------------------------------------------


def _estimates() -> Iterator[dict[str, Any]]:
    """Yield what a learner may have seen, from one state that was never visited to many."""
    yield {"N": np.array([0]), "mean": np.array([0.0]), "tau": 0.0, "delta": 0.5}
    yield {"N": np.array([1]), "mean": np.array([3.0]), "tau": 0.5, "delta": 0.5}
    yield {"N": np.array([0, 500]), "mean": np.array([0.0, 1.0]), "tau": 0.5, "delta": 0.1}
    # On the boundary: one visit at this level, where the width comes out the same to the last bit
    # however its logarithm is written.
    yield {"N": np.array([1]), "mean": beta([1], 1, 0.5), "tau": 0.0, "delta": 0.5}
    for k in range(30):
        yield _estimate(k, np.random.default_rng(k))


def _estimate(k: int, rng: np.random.Generator) -> dict[str, Any]:
    S = 2 + k % 5
    N = rng.integers(0, 10 ** (1 + k % 4), size=S)
    tau, delta = 0.1 * (k % 6), 10.0 ** -(k % 4) / 2
    near = rng.uniform(0.8, 1.2, size=S)  # of the width above tau, so that its size matters
    mean = np.where(N > 0, tau + near * beta(np.maximum(N, 1), S, delta), 0.0)
    return {"N": N, "mean": mean, "tau": tau, "delta": delta}


def _flagged(
    N: NDArray[np.int64], mean: NDArray[np.float64], tau: float, delta: float
) -> NDArray[np.bool_]:
    return mean - beta(N, len(N), delta) > tau


@dataclass(frozen=True)
class _Unwarned(Function):
    """A function in which NumPy must find nothing to warn of."""

    def _try(self, answer: Callable[..., Any], instance: Any, trying: Finding) -> Finding | None:
        with np.errstate(divide="raise", over="raise", invalid="raise"):
            return super()._try(answer, instance, trying)


# lemma-that-was-cited -------------------------------------------------------------------------


def _two_sequences(answer: object) -> Finding | None:
    """Say what a pair of sequences lacks to break the step from visits to a square root."""
    if not isinstance(answer, tuple | list) or len(answer) != 2:
        return not_yet(f"Expected a pair of lists of whole numbers, got {form_of(answer)}.")
    first, second = (_visits(part) for part in answer)
    for name, visits in (("first", first), ("second", second)):
        if isinstance(visits, str):
            return not_yet(f"The {name} sequence {visits}.")
    assert not isinstance(first, str)
    assert not isinstance(second, str)
    if max(first) > MOST_VISITS:
        return not_yet(
            f"The first sequence has {max(first)} visits in one episode of {MOST_VISITS} steps."
        )
    left, right = _jaksch(first)
    if left <= (1 + math.sqrt(2)) * right:
        return not_yet(
            f"The lemma holds on the first sequence: the sum is {left:.4g}, at most "
            f"(1 + √2)√N = {(1 + math.sqrt(2)) * right:.4g}."
        )
    before = 0
    for i, m in enumerate(second):
        if m > max(before, 1):
            return not_yet(
                f"The second sequence breaks the lemma's own condition: episode {i + 1} has {m} "
                f"visits after {before}."
            )
        before += m
    left, right = _jaksch(second)
    if left <= 2 * right:
        return not_yet(
            f"On the second sequence the sum is {left:.4g}, at most 2√N = {2 * right:.4g}."
        )
    return None


def _visits(part: object) -> list[int] | str:
    """Return visits by episode, or what is wrong with them."""
    if isinstance(part, np.ndarray):
        part = part.tolist()
    if not isinstance(part, tuple | list) or not part:
        return f"is {form_of(part)}; expected a list of whole numbers"
    if not all(map(is_whole, part)) or min(part) < 0 or max(part) > 10**9:
        return "has an entry that is no number of visits"
    if not any(part) or len(part) > MOST_EPISODES:
        return f"needs at least one visit, and at most {MOST_EPISODES} episodes"
    return [int(m) for m in part]


def _jaksch(visits: list[int]) -> tuple[float, float]:
    """The sum of m_k/√max(N^k, 1), and √N of all visits."""
    total, before = 0.0, 0
    for m in visits:
        total += m / math.sqrt(max(before, 1))
        before += m
    return total, math.sqrt(before)


# surprise-for-each-step -----------------------------------------------------------------------


def _more_flagged_steps_than_surprises(answer: object) -> Finding | None:
    """Say what a world lacks to break: each step in a flagged state has a surprise of its own."""
    # Loaded here: the other exercises need no compiler.
    from safeteach.learners import SUCBVI
    from safeteach.running.playing import play

    mdp = feasible_world(answer, MOST_STATES, MOST_ACTIONS, MOST_STEPS)
    if isinstance(mdp, Finding):
        return mdp
    flagged_steps = False
    for seed in SEEDS:
        learner = SUCBVI(mdp.known, episodes=EPISODES, bonus_scale=0.01)
        for _, episode in play(learner, mdp, seed, noise=0.0):
            flagged = int(learner.flagged[episode.states[:-1]].sum())
            if flagged:
                flagged_steps = True
                seen = learner.transitions
                surprises = sum(
                    episode.states[h] not in seen.successors(h, *_pair(episode, h))
                    for h in range(1, mdp.H)
                )
                if flagged > surprises:
                    return None
    if not flagged_steps:
        return not_yet(
            f"In {len(SEEDS)} runs of {EPISODES:,} episodes the learner was never in a flagged "
            f"state.",
            mdp,
        )
    return not_yet(
        "The learner was in flagged states, but never more often in an episode than it was "
        "surprised.",
        mdp,
    )


def _pair(episode: Episode, h: int) -> tuple[int, int]:
    return int(episode.states[h - 1]), int(episode.actions[h - 1])


# edges-that-matter ----------------------------------------------------------------------------


def _transitions_into_doom(mdp: SafeMDP) -> int:
    U = potentially_unsafe(mdp)
    return sum(int(U[h, mdp.rows(h).successors].sum()) for h in range(1, mdp.H))


def _walk_arguments(walk: _Walk) -> Mapping[str, Any]:
    return {"seen": walk.seen, "episode": walk.episode}


prepare = compiling.learners

EXERCISES: dict[str, Exercise] = {
    "by-hand": Value(
        asks="the triple (number of surprises, violation in flagged states, violation in states "
        "not yet flagged)",
        hint="A surprise is judged by what had been seen before the episode, at the steps before "
        "the last. A state is judged by whether it was flagged when the episode was planned.",
        expected=_ledger,
        slips=(
            Slip(lambda: (3, 0.8, 0.2), "What comes after the last step surprises nobody."),
            Slip(
                lambda: (2, 0.4, 0.6),
                "A flagged state stays flagged for the whole episode, on every visit.",
            ),
            Slip(lambda: (2, 0.8, 0.0), "A state need not be flagged to be unsafe."),
            Slip(lambda: (2, 1.8, 0.7), "These are costs. Violation is what exceeds tau."),
            Slip(lambda: (1, 0.8, 0.2), "Two moves of this episode were new."),
        ),
    ),
    "count-the-surprises": Function(
        asks="a function surprises(seen, episode) that returns the number of surprises",
        hint="The move of step h goes from episode.states[h - 1] to episode.states[h]. Which steps "
        "count?",
        oracle=_surprises,
        instances=_walks,
        draw=_walk,
        arguments=_walk_arguments,
    ),
    "find-the-bug": _Unwarned(
        asks="a function flagged_fixed(N, mean, tau, delta) that returns the flagged states as an "
        "(S,) array of bool",
        hint="What would this code make of a state that was visited once, with a cost of 0? And of "
        "one that was never visited? A warning of NumPy counts as an error.",
        oracle=_flagged,
        instances=_estimates,
        draw=_estimate,
        axes="S",
    ),
    "lemma-that-was-cited": Counterexample(
        asks=f"a pair of lists of visits by episode: on the first, with at most {MOST_VISITS} in "
        f"an episode, the sum exceeds (1 + √2)√N; on the second, with at most max(N^k, 1) in "
        f"episode k, it exceeds 2√N",
        hint="When is 1/√max(N^k, 1) too large a price for the visits of an episode? When that "
        "episode has many visits and the state had few before. How many more does the condition "
        "allow?",
        missing=_two_sequences,
    ),
    "surprise-for-each-step": Counterexample(
        asks=f"a SafeMDP with at most {MOST_STATES} states, {MOST_ACTIONS} actions and "
        f"{MOST_STEPS} steps in which SUCBVI spends more steps of an episode in flagged states "
        f"than it meets surprises in that episode",
        hint="Let the learner get to know the unsafe state well, by a way that it likes. Then it "
        "needs one rare move into it, and no way out.",
        missing=_more_flagged_steps_than_surprises,
    ),
    "edges-that-matter": Function(
        asks="a function transitions_into_doom(mdp) that returns the number of (h, s, a, t) with "
        "h < H, t in Δ_h(s, a) and t in U_{h+1}",
        hint="The move of step h lands at step h + 1, so it is judged by U_{h+1}. In a stationary "
        "world every step has its own transitions all the same.",
        oracle=_transitions_into_doom,
        instances=small_worlds,
        draw=random_world,
        arguments=lambda mdp: {"mdp": mdp},
    ),
}
