r"""*Why regret is small*: counts, luck, masks, and a step that fails."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

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
    small_world,
)
from safeteach.classroom.checking.worlds import random_world, small_worlds
from safeteach.planning.evaluation import evaluate
from safeteach.planning.induction import safe_optimal
from safeteach.safety import is_feasible
from safeteach.worlds.known import Episode
from safeteach.worlds.mdp import SafeMDP, rollout

__all__ = ["EXERCISES"]

MOST_STATES, MOST_STEPS = 5, 5
VISITS = (5, 3, 1)  # of the three pairs of "by-hand"
LEAST_GAIN, MOST_RISK = 1.0, 0.1


def _sums(first: int, last: int) -> tuple[float, float]:
    """Σ 1/i for i = first .. n + last - 1, over the pairs' visits n; and the number of pairs."""
    return sum(1 / i for n in VISITS for i in range(first, n + last)), float(len(VISITS))


def _walks() -> Iterator[tuple[SafeMDP, NDArray[np.float64], Episode]]:
    """Worlds with an episode each and a function of step and state that ends at 0."""
    for seed, mdp in enumerate(small_worlds()):
        yield _walk_in(mdp, np.random.default_rng(seed))


def _walk(k: int, rng: np.random.Generator) -> tuple[SafeMDP, NDArray[np.float64], Episode]:
    return _walk_in(random_world(k, rng), rng)


def _walk_in(
    mdp: SafeMDP, rng: np.random.Generator
) -> tuple[SafeMDP, NDArray[np.float64], Episode]:
    policy = rng.integers(mdp.A, size=(mdp.H, mdp.S))
    G = rng.integers(-4, 9, size=(mdp.H + 1, mdp.S)) / 4
    G[-1] = 0
    return mdp, G, rollout(mdp, policy, rng)


def _luck(mdp: SafeMDP, G: NDArray[np.float64], episode: Episode) -> float:
    """Σ_h (P_h G_{h+1})(s_h, a_h) - G_{h+1}(s_{h+1})."""
    total = 0.0
    for h in range(1, mdp.H + 1):
        s, a = int(episode.states[h - 1]), int(episode.actions[h - 1])
        expected = mdp.rows(h).expect(G[h])[s * mdp.A + a]
        total += float(expected - G[h, episode.states[h]])
    return total


def _masks() -> Iterator[tuple[SafeMDP, NDArray[np.bool_]]]:
    """Worlds with rewards, and a mask each that leaves an action everywhere."""
    for seed, world in enumerate(small_worlds()):
        yield _mask_of(world, np.random.default_rng(seed))


def _mask(k: int, rng: np.random.Generator) -> tuple[SafeMDP, NDArray[np.bool_]]:
    return _mask_of(random_world(k, rng), rng)


def _mask_of(world: SafeMDP, rng: np.random.Generator) -> tuple[SafeMDP, NDArray[np.bool_]]:
    mask = rng.random((world.H, world.S, world.A)) < 0.6
    kept = rng.integers(world.A, size=(world.H, world.S, 1))
    np.put_along_axis(mask, kept, True, axis=2)
    r = rng.integers(5, size=mask.shape) / 4
    return SafeMDP(world.P, r, world.c, world.tau, world.H, world.s1), mask


def _best_under_mask(mdp: SafeMDP, mask: NDArray[np.bool_]) -> NDArray[np.float64]:
    V = np.zeros((mdp.H + 1, mdp.S))
    for h in range(mdp.H, 0, -1):
        Q = mdp.r[h - 1] + mdp.rows(h).expect(V[h]).reshape(mdp.S, mdp.A)
        V[h - 1] = np.where(mask[h - 1], Q, -np.inf).max(axis=1)
    return V


def _visit_counts() -> Iterator[NDArray[np.int64]]:
    """Final numbers of visits N_h(s, a), (H, S, A), each step with the same total."""
    yield np.array([[[1]]])
    yield np.array([[[4]]])
    yield np.array([[[2]], [[2]]])
    for k in range(30):
        yield _visits(k, np.random.default_rng(k))


def _visits(_k: int, rng: np.random.Generator) -> NDArray[np.int64]:
    H, S, A, K = (int(rng.integers(1, most)) for most in (5, 4, 4, 30))
    return rng.multinomial(K, np.full(S * A, 1 / (S * A)), size=H).reshape(H, S, A)


def _bonus_sum(visits: NDArray[np.int64]) -> float:
    """Σ over the run of 1/√N, over the visits before which N >= 1."""
    return sum(1 / math.sqrt(i) for n in visits.ravel().tolist() for i in range(1, n))


def _sizes_of_worlds() -> Iterator[Mapping[str, Any]]:
    """Arguments for "price-of-a-mask"."""
    for D in (0, 1, 479, 3346, 100_000):
        for S, A, H, K, delta in (
            (25, 4, 12, 20_000, 0.005),
            (5, 2, 4, 1_000, 0.05),
            (1_000, 3, 20, 10**6, 0.1),
        ):
            yield {"D": D, "S": S, "A": A, "H": H, "K": K, "delta": delta}


def _sizes_of_a_world(_k: int, rng: np.random.Generator) -> Mapping[str, Any]:
    D, S, A, H, K = (int(rng.integers(1, most)) for most in (5_000, 100, 9, 30, 10**6))
    return {"D": D, "S": S, "A": A, "H": H, "K": K, "delta": float(rng.uniform(0.001, 0.5))}


def _scale_needed(D: int, S: int, A: int, H: int, K: int, delta: float) -> float:
    N = S * A * H * K / delta
    return math.sqrt((D * math.log(2) + math.log(2 * N)) / (98 * math.log(5 * N)))


def _little_risk_much_gain(answer: object) -> Finding | None:
    """Say what a pair lacks to break: V^π - V* is at most H Pr[π is ever unsafe]."""
    if not isinstance(answer, tuple) or len(answer) != 2:
        return not_yet(f"Expected a pair (mdp, policy), got {form_of(answer)}.")
    world = small_world(answer[0], MOST_STATES, MOST_STEPS, expected="a SafeMDP first")
    if isinstance(world, Finding):
        return world
    try:
        outcome = evaluate(world, answer[1])
    except Exception as error:  # a policy can be any object at all
        return not_yet(f"The policy is none for this world: {error}.")
    if not is_feasible(world):
        return not_yet("No policy is feasible here, so there is no V* to compare with.", world)
    gain, risk = outcome.value - safe_optimal(world).value, outcome.unsafe_probability
    if gain < LEAST_GAIN:
        return not_yet(
            f"The value of your policy is {gain:.3g} above that of the best feasible one; it must "
            f"be {LEAST_GAIN:g} or more.",
            world,
        )
    if world.H * risk > MOST_RISK:
        return not_yet(
            f"H times the probability that your policy is ever unsafe is {world.H * risk:.3g}; it "
            f"must be {MOST_RISK:g} or less.",
            world,
        )
    return None


EXERCISES: dict[str, Exercise] = {
    "by-hand": Value(
        asks="the pair: the sum of 1/N over the visits with N of 1 or more, and the number of "
        "visits with N = 0",
        hint="N is the number of visits BEFORE the present one. Write the five values of N at the "
        "visits to the first triple in a row, then those to the second and the third.",
        expected=lambda: _sums(1, 0),
        slips=(
            Slip(lambda: _sums(1, 1), "You count the present visit too; N is known before it."),
            Slip(
                lambda: (sum(1 / i for i in range(1, sum(VISITS))), 1.0),
                "You pool the three triples. Each has a count of its own.",
            ),
            Slip(
                lambda: (sum(1 / n for n in VISITS), 3.0),
                "That is 1/N at the end of the run, once for each triple.",
            ),
        ),
        tolerance=1e-3,
    ),
    "luck": Function(
        asks="a function my_luck(mdp, G, episode) that returns the sum of the luck of an episode",
        hint="At step h the agent expects the mean of G_{h+1} under P_h(. | s_h, a_h), and gets "
        "G_{h+1} at the state where it really arrives. G has H + 1 rows, and row h is G_{h+1}.",
        oracle=_luck,
        instances=_walks,
        draw=_walk,
        arguments=by_name("mdp", "G", "episode"),
    ),
    "optimum-under-a-mask": Function(
        asks="a function best_under_mask(mdp, mask) that returns V^M_1 .. V^M_{H+1} as an "
        "(H + 1, S) array",
        hint="Backward induction in the true world. Where the mask forbids an action, its Q must "
        "not be the maximum: leave it out, or put something below every allowed Q.",
        oracle=_best_under_mask,
        instances=_masks,
        draw=_mask,
        arguments=by_name("mdp", "mask"),
        axes=("H + 1", "S"),
    ),
    "find-the-bug": Function(
        asks="a function bonus_sum(visits) that returns the sum of 1/√N over a run",
        hint="Take one state, one action, two steps and two episodes. How many visits are there, "
        "and what was N before each of them?",
        oracle=_bonus_sum,
        instances=_visit_counts,
        draw=_visits,
        arguments=lambda visits: {"visits": visits},
    ),
    "little-risk-little-gain": Counterexample(
        asks=f"a pair (mdp, policy) with at most {MOST_STATES} states and {MOST_STEPS} steps: the "
        f"value of the policy is {LEAST_GAIN:g} above that of the best feasible one, though H "
        f"times its probability of ever being unsafe is at most {MOST_RISK:g}",
        hint="A feasible policy may not take an action that may lead into doom, however "
        "improbably. So let such an action pay very well.",
        missing=_little_risk_much_gain,
    ),
    "price-of-a-mask": Function(
        asks="a function scale_needed(D, S, A, H, K, delta) that returns the least bonus_scale "
        "with which the bonus covers 2^D masks",
        hint="Set the width in the exercise equal to scale times 7H√(ln(5SAHK/δ)/n). H and n "
        "cancel.",
        oracle=_scale_needed,
        instances=_sizes_of_worlds,
        draw=_sizes_of_a_world,
    ),
}
