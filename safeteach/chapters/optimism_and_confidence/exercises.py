"""*Optimism and confidence*: what chance can do, in all states and at all counts."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safeteach.bounds import beta
from safeteach.classroom.checking.forms import form_of
from safeteach.classroom.checking.isolation import call
from safeteach.classroom.checking.kinds import (
    RETURNS_NOTHING,
    Counterexample,
    Exercise,
    Finding,
    Function,
    Slip,
    Value,
    not_yet,
)

__all__ = ["EXERCISES"]

# "who-is-flagged": visits and average cost of states 0 .. 6, at S = 25, delta = .005, tau = .5.
VISITS = np.array([0, 10, 100, 400, 10_000, 10_000, 400])
MEANS = np.array([0, 1.6, 1.05, 0.85, 0.55, 0.6, 0.15])
TAU = 0.5


def _where(mask: NDArray[np.bool_]) -> frozenset[int]:
    return frozenset(np.flatnonzero(mask).tolist())


def _width() -> NDArray[np.float64]:
    return beta(VISITS, S=25, delta=0.005)


def _counts() -> Iterator[dict[str, Any]]:
    """Yield arguments for a width: few visits, none at all, many."""
    for n in ([1], [1, 2, 3], [0, 1], [5, 0, 0, 149], [0], [692, 148, 10**6]):
        for S, delta in ((1, 0.5), (25, 0.005)):
            yield {"n": np.array(n), "S": S, "delta": delta}


def _count(k: int, rng: np.random.Generator) -> dict[str, Any]:
    n = rng.integers(10 ** rng.integers(5, size=1 + k % 6))
    return {"n": n, "S": 1 + k, "delta": float(rng.uniform(0.001, 0.9))}


def _visits() -> Iterator[dict[str, Any]]:
    """Yield the states of a few steps with the costs that were seen there."""
    yield {"states": np.array([0]), "costs": np.array([1.0]), "S": 1, "delta": 0.5}
    yield {"states": np.array([0, 2]), "costs": np.array([1.0, 0.5]), "S": 3, "delta": 0.05}
    yield {"states": np.array([1, 1]), "costs": np.array([1.0, 0.0]), "S": 2, "delta": 0.05}
    yield {"states": np.array([0]), "costs": np.array([1.0]), "S": 2, "delta": 0.05}
    for k in range(20):
        yield _visit(k, np.random.default_rng(k))


def _visit(k: int, rng: np.random.Generator) -> dict[str, Any]:
    S, steps = 1 + k % 5, int(rng.integers(1, 30))
    states = rng.integers(S, size=steps)
    costs = np.round(states / 4 + rng.standard_normal(steps), 3)
    return {"states": states, "costs": costs, "S": S, "delta": (0.05, 0.3, 0.01)[k % 3]}


def _optimistic_costs(
    states: NDArray[np.int64], costs: NDArray[np.float64], S: int, delta: float
) -> NDArray[np.float64]:
    N = np.bincount(states, minlength=S)
    return np.bincount(states, costs, minlength=S) / np.maximum(N, 1) - beta(N, S, delta)


def _stacks() -> Iterator[dict[str, Any]]:
    """Yield the rewards that the arms will give at their first, second, ... play."""
    for k in range(0, 60, 3):
        yield _stack(k, np.random.default_rng(k))


def _stack(k: int, rng: np.random.Generator) -> dict[str, Any]:
    A, rounds = 1 + k % 4, (1, 2, 5, 40)[k // 15]
    stacks = 2 * rng.random((A, 1)) + rng.standard_normal((A, rounds))
    return {"stacks": np.round(stacks, 4), "delta": (0.1, 0.02)[k % 2]}


def _optimistic_play(stacks: NDArray[np.float64], delta: float) -> NDArray[np.int64]:
    A, rounds = stacks.shape
    N, total = np.zeros(A, np.int64), np.zeros(A)
    for _ in range(rounds):
        a = int((total / np.maximum(N, 1) + beta(N, A, delta)).argmax())
        total[a], N[a] = total[a] + stacks[a, N[a]], N[a] + 1
    return N


SUCCESSORS, DRAWS, SAMPLES, LEVEL = 40, 100, 200, 0.05
ROOM = 1e-9


def _chosen_after_the_data(answer: object) -> Finding | None:
    """Say what a function lacks to break: Hoeffding holds for a function chosen from the data."""
    if not callable(answer):
        return not_yet(f"Expected a function pick(P_hat, P), got {form_of(answer)}.")
    rng = np.random.default_rng(0)
    width = math.sqrt(math.log(2 / LEVEL) / (2 * DRAWS))
    broken = 0
    for _ in range(SAMPLES):
        P = rng.dirichlet(np.ones(SUCCESSORS))
        P_hat = rng.multinomial(DRAWS, P) / DRAWS
        called = call(answer, P_hat.copy(), P.copy())
        if called.error is not None:
            return not_yet(f"It raises {called.complaint}.")
        if called.value is None:
            return RETURNS_NOTHING
        try:
            f = np.asarray(called.value, float)
        except (TypeError, ValueError):
            return not_yet(f"It returns {form_of(called.value)}; expected an array.")
        if f.shape != P.shape:
            return not_yet(f"It returns an array of shape {f.shape}; expected {P.shape}.")
        if not (f >= -ROOM).all() or not (f <= 1 + ROOM).all():
            return not_yet("One of its values is not between 0 and 1.")
        broken += bool(abs((P_hat - P) @ f) > width)
    if broken < SAMPLES / 2:
        return not_yet(
            f"The width {width:.3f} is exceeded in {broken} of {SAMPLES} samples; "
            f"{SAMPLES // 2} are asked for."
        )
    return None


FIRST, LAST = 100, 10**6
SETTINGS = ((1, 0.5), (25, 0.005), (400, 1e-6))


def _cheaper_union(answer: object) -> Finding:
    """Say what a width lacks to be below β from n = 100 on, and proved by a union over n."""
    if not callable(answer):
        return not_yet(f"Expected a function width(n, S, delta), got {form_of(answer)}.")
    n = np.arange(1, LAST + 1)
    for S, delta in SETTINGS:
        called = call(answer, n.copy(), S, delta)
        at = f"With S = {S} and delta = {delta:g}"
        if called.error is not None:
            return not_yet(f"{at} it raises {called.complaint}.")
        if called.value is None:
            return RETURNS_NOTHING
        try:
            w = np.asarray(called.value, float)
        except (TypeError, ValueError):
            return not_yet(f"It returns {form_of(called.value)}; expected an array.")
        if w.shape != n.shape or not (w >= 0).all():
            return not_yet(
                f"Called with n = 1 .. {LAST:,} it must return as many numbers, none negative."
            )
        spent = float(np.exp(-n * w**2 / 2).sum()) * S / delta
        if not spent <= 1 + ROOM:
            return not_yet(
                f"{at} the chances of failing add up to {spent:.3g} times δ over all states and "
                f"n up to {LAST:,}; they may add up to δ."
            )
        wide = np.flatnonzero(~(w[FIRST - 1 :] < beta(n[FIRST - 1 :], S, delta)))
        if wide.size:
            return not_yet(f"{at} it is not below β(n) at n = {wide[0] + FIRST:,}.")
    return Finding("right", f"Added up as far as n = {LAST:,}; for all n it is yours to prove.")


EXERCISES: dict[str, Exercise] = {
    "who-is-flagged": Value(
        asks="the set of the states that are flagged",
        hint="For each state take the average, subtract the width at its number of visits, and "
        "compare what is left with the threshold.",
        expected=lambda: _where(MEANS - _width() > TAU),
        slips=(
            Slip(
                lambda: _where(MEANS > TAU),
                "These are the states whose average is above the threshold. Luck can do that.",
            ),
            Slip(
                lambda: _where(~(MEANS - _width() > TAU)),
                "You found out who is flagged, and answered with the others.",
            ),
            Slip(
                lambda: _where(MEANS + _width() > TAU),
                "You add the width. These are the states that could be unsafe, not those that "
                "must be.",
            ),
            Slip(
                lambda: _where((MEANS - _width() > TAU) | (VISITS == 0)),
                "A state that was never visited has an infinite width. Nothing is known against "
                "it.",
            ),
        ),
    ),
    "width": Function(
        asks="a function my_beta(n, S, delta) that returns β(n) for an array of visits n, "
        "infinite where n is 0",
        hint="The failure that is allowed at n visits in one state is delta/(S n(n+1)). Set it "
        "equal to exp(-n x²/2) and solve for x; treat n = 0 apart.",
        oracle=beta,
        instances=_counts,
        draw=_count,
        axes=("len(n)",),
    ),
    "find-the-bug": Function(
        asks="a function optimistic_costs(states, costs, S, delta) that returns ĉ - β as an (S,) "
        "array, minus infinity where a state was never visited",
        hint="Try an episode that visits one state twice, and print N. What does numpy do with "
        "x[[1, 1]] += 1?",
        oracle=_optimistic_costs,
        instances=_visits,
        draw=_visit,
        axes="S",
    ),
    "player-that-reads-stacks": Function(
        asks="a function optimistic_play(stacks, delta) that returns how often each arm is played, "
        "an (A,) array of whole numbers",
        hint="Keep for each arm how often it was played and what it gave. Its next reward stands "
        "at the place in its own list that says how often it was played, not at the number of "
        "the round.",
        oracle=_optimistic_play,
        instances=_stacks,
        draw=_stack,
        axes="A",
    ),
    "chosen-after-the-data": Counterexample(
        asks=f"a function pick(P_hat, P) that returns {SUCCESSORS} values between 0 and 1 and "
        f"beats Hoeffding's width in half of the samples or more",
        hint="You may look at the data before you choose. Which successors came up too often?",
        missing=_chosen_after_the_data,
    ),
    "cheaper-union": Counterexample(
        asks=f"a function width(n, S, delta) that is below β(n) for all n from {FIRST} to "
        f"{LAST:,} and still holds by a union over n",
        hint="Any positive weights with sum at most 1 can take the place of 1/(n(n+1)). Which "
        "ones fall more slowly and still have a finite sum?",
        missing=_cheaper_union,
    ),
}
