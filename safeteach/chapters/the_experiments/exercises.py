r"""*The experiments*: how to compare learners, and how a comparison can mislead."""

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
    small_world,
)
from safeteach.classroom.checking.worlds import random_world
from safeteach.instances import GridMDP, grid_from_map, ice_corridor
from safeteach.planning.evaluation import evaluate
from safeteach.planning.induction import optimal, safe_optimal
from safeteach.safety import is_feasible
from safeteach.worlds.mdp import SafeMDP, rollout

__all__ = ["EXERCISES"]

# 9.1
TAU, SPENT, K = 0.8, 0.3, 10_000
# 9.5
MOST_STATES, MOST_STEPS, BUDGET, OFTEN, SHARE = 4, 4, 0.5, 1 / 3, 0.99
# 9.6
MOST_CELLS, STEPS = 25, 12
ROUNDING = 1e-9


def _violated() -> float:
    """What a budget spent to the last on costs of 1 is in violation."""
    return (1 - TAU) * SPENT * K


def _interval(y: NDArray[np.float64], q: float) -> NDArray[np.float64]:
    mean, error = y.mean(axis=0), np.sqrt(y.var(axis=0, ddof=1) / len(y))
    return np.stack([mean - q * error, mean + q * error])


def _runs() -> Iterator[tuple[NDArray[np.float64], float]]:
    """Yield (R, N) curves and a quantile."""
    yield np.array([[0.0], [2.0]]), 1.0
    yield np.array([[1.0, 5.0], [2.0, 5.0], [3.0, 5.0]]), 4.3
    for k in (3, 12, 27, 59):
        yield _curves(k, np.random.default_rng(k))


def _curves(k: int, rng: np.random.Generator) -> tuple[NDArray[np.float64], float]:
    curves = rng.normal(size=(2 + k // 2, 1 + k % 5)).cumsum(axis=1)
    return np.round(curves, 2), round(float(rng.uniform(1, 4)), 2)


def _report(
    reward: NDArray[np.float64], violation: NDArray[np.float64], best: float
) -> tuple[float, ...]:
    return (
        float((best - reward).sum(axis=1).mean()),
        float(violation.sum(axis=1).mean()),
    )


def _histories() -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64], float]]:
    """Yield (R, K) rewards and violations and the best value, from one number to many."""
    yield np.array([[1.0]]), np.array([[0.5]]), 2.0
    yield np.array([[1.0, 3.0]]), np.array([[0.0, 0.5]]), 2.0  # luck on both sides of the best
    yield np.array([[0.0], [2.0]]), np.array([[0.5], [0.0]]), 2.0  # a bad seed and a good one
    for k in (10, 30, 50):
        yield _history(k, np.random.default_rng(k))


def _history(
    k: int, rng: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    shape = 1 + k // 10, 1 + k % 10
    reward, violation = rng.integers(0, 9, shape), rng.integers(0, 3, shape) / 2
    return reward.astype(np.float64), violation, float(rng.integers(5))


Plays = tuple[SafeMDP, list[NDArray[np.int64]], int, int]


def _play_all(
    mdp: SafeMDP, policies: list[NDArray[np.int64]], episodes: int, seed: int
) -> NDArray[np.float64]:
    violation = np.empty((len(policies), episodes))
    for i, policy in enumerate(policies):
        rng = np.random.default_rng(seed)
        for k in range(episodes):
            states = rollout(mdp, policy, rng).states
            violation[i, k] = mdp.violation[states[:-1]].sum()
    return violation


def _plays() -> Iterator[Plays]:
    """Yield a world, policies, a number of episodes and a seed."""
    ice = ice_corridor()
    dry, wet = safe_optimal(ice).policy, optimal(ice).policy
    hold = np.full((ice.H, ice.S), 3)
    yield ice, [wet], 6, 0
    yield ice, [hold, hold], 8, 1  # the same policy twice
    yield ice, [dry, wet, hold, wet], 8, 2
    yield ice, [hold, wet, hold], 12, 3
    for k in (20, 31, 42, 53):
        yield _play(k, np.random.default_rng(k))


def _play(k: int, rng: np.random.Generator) -> Plays:
    """Draw a world, policies of which the first comes twice, some episodes and a seed."""
    mdp = random_world(k, rng)
    policies = [rng.integers(mdp.A, size=(mdp.H, mdp.S)) for _ in range(1 + k % 3)]
    return mdp, [*policies, policies[0].copy()], int(rng.integers(1, 6)), int(rng.integers(100))


def _a_budget_that_is_hardly_unsafe(answer: object) -> Finding | None:
    """Say what a pair lacks to break: where safety is almost free, a budget keeps it."""
    if not isinstance(answer, tuple) or len(answer) != 2:
        return not_yet(f"Expected a pair (mdp, policy), got {form_of(answer)}.")
    world = small_world(answer[0], MOST_STATES, MOST_STEPS, expected="a SafeMDP first")
    if isinstance(world, Finding):
        return world
    try:
        outcome = evaluate(world, world.check_policy(answer[1]))
    except Exception as error:  # a policy can be any object at all
        return not_yet(f"The policy is none for this world: {error}.")
    if not is_feasible(world):
        return not_yet("No policy is feasible here, so safety has no price to compare.", world)
    safe, most = safe_optimal(world).value, optimal(world).value
    if safe < SHARE * most - ROUNDING:
        return not_yet(
            f"Safety is not almost free: the best feasible policy earns {safe:.4g}, the best of "
            f"all {most:.4g}.",
            world,
        )
    if outcome.cost > BUDGET + ROUNDING:
        return not_yet(f"Your policy is over the budget: it costs {outcome.cost:.4g}.", world)
    if outcome.value <= safe + ROUNDING:
        return not_yet(
            f"Your policy earns {outcome.value:.6g}, and a feasible one earns {safe:.6g}: nobody "
            f"would prefer yours.",
            world,
        )
    if outcome.unsafe_probability < OFTEN - ROUNDING:
        return not_yet(
            f"Your policy is unsafe with probability {outcome.unsafe_probability:.3g}.", world
        )
    return None


def _a_map_with_a_way_out(answer: object) -> Finding | None:
    """Say what a map lacks to break: who starts on dry floor away from water can stay dry."""
    if not isinstance(answer, str):
        return not_yet(f"Expected a map, a str, got {form_of(answer)}.")
    try:
        world = grid_from_map(answer, H=STEPS)
    except ValueError as error:
        return not_yet(f"It is no map: {error}.")
    if world.S > MOST_CELLS:
        return not_yet(f"The map has {world.S} cells; at most {MOST_CELLS} are allowed.")
    if not world.unsafe.any():
        return not_yet("There is no water on it, so every policy is feasible.")
    away = np.abs(world.cells[world.unsafe] - world.cells[world.s1]).sum(axis=1).min()
    if away <= 2:
        return not_yet(f"The water is {away} moves away from the start; at least 3 are asked for.")
    if is_feasible(world):
        return not_yet(_way_out(world))
    return None


def _way_out(world: GridMDP) -> str:
    """Say with which first move a feasible policy can start."""
    first = int(safe_optimal(world).policy[0, world.s1])
    t = int(world.successors(1, world.s1, first)[0])
    stays = t == world.s1
    where = "stays on dry floor" if stays else f"leads to cell {world.state_name(t)}"
    return (
        f"A feasible policy exists: its first move, {world.action_name(first)}, {where}, and from "
        f"there it can stay dry to the end."
    )


EXERCISES: dict[str, Exercise] = {
    "what-a-budget-is-in-violation": Value(
        asks=f"the expected step-wise violation of {K:,} episodes that spend the whole budget",
        hint="One step in a state of cost 1 takes 1 from the budget. What does it add to the "
        "violation?",
        expected=_violated,
        slips=(
            Slip(lambda: SPENT * K, "That is the cost. Only what exceeds tau is violation."),
            Slip(lambda: 0.0, "The budget is met, and every step in a state of cost 1 violates."),
            Slip(lambda: (1 - TAU) * SPENT, "That is one episode."),
            Slip(
                lambda: TAU * SPENT * K,
                "A step of cost 1 exceeds tau by 1 - tau.",
            ),
            Slip(
                lambda: max(SPENT - TAU, 0.0) * K,
                "You subtract the threshold of a step from the cost of an episode.",
            ),
        ),
        tolerance=1e-6,
    ),
    "band": Function(
        asks="a function interval(y, q) that returns the lower and the upper ends, a (2, N) array",
        hint="Seeds are rows: mean and deviation go along axis 0. The deviation of a sample "
        "divides by R - 1, and that of a mean of R numbers is smaller by the root of R.",
        oracle=_interval,
        instances=_runs,
        draw=_curves,
        arguments=by_name("y", "q"),
        axes=("end", "N"),
    ),
    "flattering-report": Function(
        asks="a function report(reward, violation, best) that returns the pair (regret, "
        "violation), summed over episodes and averaged over all seeds",
        hint="There are three slips. Ask of each line: would a report on a learner that always "
        "plays the best policy be right? Would a second, worse seed change it?",
        oracle=_report,
        instances=_histories,
        draw=_history,
        arguments=by_name("reward", "violation", "best"),
    ),
    "whose-luck": Function(
        asks="a function play_all(mdp, policies, episodes, seed) that returns the violations as a "
        "(policies, episodes) array",
        hint="Hand in the same policy twice. Should its two rows differ?",
        oracle=_play_all,
        instances=_plays,
        draw=_play,
        arguments=by_name("mdp", "policies", "episodes", "seed"),
        axes=("policy", "episode"),
    ),
    "cheap-safety": Counterexample(
        asks=f"a pair (mdp, policy) with at most {MOST_STATES} states and {MOST_STEPS} steps: the "
        f"best feasible policy earns at least {SHARE:.0%} of what any can, and yours, within "
        f"the budget {BUDGET}, earns more than it and is unsafe in every third episode or more "
        f"often",
        hint="A budget is there to be spent, however little there is to gain. What does it buy "
        "when a step in the unsafe state earns a little more than a step elsewhere?",
        missing=_a_budget_that_is_hardly_unsafe,
    ),
    "far-from-the-water": Counterexample(
        asks=f"a map of at most {MOST_CELLS} cells with the water at least 3 moves from the start, "
        f"on which no policy is feasible with {STEPS} steps",
        hint="On dry floor you can always go back and forth, and against a wall you can stand "
        "still. Leave no such place within reach.",
        missing=_a_map_with_a_way_out,
    ),
}
