r"""*The reward-free experiments*: what 500 episodes without a reward can show."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safeteach.bounds import exploration_bonus, gamma
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
from safeteach.classroom.checking.memories import largest
from safeteach.classroom.checking.worlds import random_world, small_worlds
from safeteach.instances import laboratory
from safeteach.learners import SRFUCRL
from safeteach.learners.srf_ucrl import read_reward
from safeteach.planning.evaluation import Evaluation, evaluate
from safeteach.planning.induction import safe_optimal
from safeteach.running.exploring import explore
from safeteach.worlds.mdp import SafeMDP

__all__ = ["EXERCISES"]

PAPER = {"S": 11, "A": 5, "H": 10, "delta": 0.005}
EPISODES, DELTA = 500, 0.1
# 16.5
FEW_STATES, FEW_ACTIONS, UNSAFE, FIVE = 3, 3, 0.5, range(5)
# 16.6
SCALE, POOR, GOOD, LEAST, THREE = 0.001, 0.05, 0.9, 0.5, range(3)
# 16.7
LOSS = 0.5
ROUNDING = 1e-9


def _first_below(delta: float = PAPER["delta"], second: float = 1.0) -> int:
    """The first n with M(n) < H; ``second`` is a factor on the second term of M."""
    S, A, H = (int(PAPER[name]) for name in "SAH")

    def above(n: int) -> bool:
        whole = float(exploration_bonus(n, S, A, H, delta))
        rest = S * H * float(gamma(n, S, A, H, delta)) / n
        return whole - (1 - second) * rest >= H

    return largest(above) + 1


def _never_before(S: int, A: int, H: int, epsilon: float, delta: float) -> int:
    return largest(lambda K: H * float(exploration_bonus(K, S, A, H, delta)) > epsilon / 2)


def _sizes() -> Iterator[dict[str, Any]]:
    """Yield sizes and ε, from a tiny world to the paper's."""
    yield {"S": 2, "A": 2, "H": 2, "epsilon": 3.0, "delta": 0.1}
    yield {"S": 2, "A": 2, "H": 3, "epsilon": 1.0, "delta": 0.1}
    yield {"S": 3, "A": 2, "H": 3, "epsilon": 1.0, "delta": 0.5}
    for k in range(4):
        yield _size(k, np.random.default_rng(k))
    yield {**PAPER, "epsilon": 1.0}


def _size(k: int, rng: np.random.Generator) -> dict[str, Any]:
    S, A, H = (int(rng.integers(2, 30)) for _ in range(3))
    epsilon = (0.1, 0.5, 2.0, 5.0)[k % 4] * float(rng.uniform(0.8, 1.2))
    return {"S": S, "A": A, "H": H + 3, "epsilon": epsilon, "delta": float(rng.random())}


def _stops(width: NDArray[np.float64], epsilons: NDArray[np.float64]) -> NDArray[np.int64]:
    enough = width[None, :] <= epsilons[:, None] / 2
    return np.where(enough.any(axis=1), enough.argmax(axis=1), -1)


def _widths() -> Iterator[dict[str, Any]]:
    """Yield widths after 0, 1, ... episodes, some of which grow again, and several ε."""
    yield {"width": np.array([2.0, 1.0]), "epsilons": np.array([2.0])}
    yield {"width": np.array([2.0, 1.0]), "epsilons": np.array([1.0, 4.0])}
    yield {"width": np.array([2.0, 0.5, 1.5, 0.4]), "epsilons": np.array([1.0, 0.9, 3.0, 0.1])}
    for k in (0, 15, 59):
        yield _width(k, np.random.default_rng(k))


def _width(k: int, rng: np.random.Generator) -> dict[str, Any]:
    K = 5 + 3 * k
    fall = 3 / (1 + np.arange(K)) ** 0.5
    bumps = np.where(rng.random(K) < 0.2, rng.random(K), 0.0)
    return {"width": np.minimum(3, fall + bumps), "epsilons": rng.uniform(0.1, 7, 1 + k % 6)}


def _plans() -> Iterator[dict[str, Any]]:
    """Yield worlds with costs of every size, and a plan for each."""
    for k, world in enumerate(small_worlds()):
        yield _plan_in(world, np.random.default_rng(k))


def _plan(k: int, rng: np.random.Generator) -> dict[str, Any]:
    return _plan_in(random_world(k, rng), rng)


def _plan_in(world: SafeMDP, rng: np.random.Generator) -> dict[str, Any]:
    c = np.round(rng.random(world.S), 2)
    P = world.P[0] if world.stationary else world.P
    mdp = SafeMDP(P, np.zeros((world.S, world.A)), c, world.tau, world.H, s1=world.s1)
    return {"mdp": mdp, "policy": rng.integers(world.A, size=(world.H, world.S))}


def _planned(mdp: SafeMDP, seed: int, bonus_scale: float = 1.0) -> Evaluation:
    """What the plan for the world's own reward is worth after 500 episodes."""
    learner = SRFUCRL(mdp.known, delta=DELTA, bonus_scale=bonus_scale)
    explore(learner, mdp, EPISODES, seed=seed)
    return evaluate(mdp, learner.plan_for(mdp.r).policy)


def _a_world_that_pays_for_ever(answer: object) -> Finding | None:
    """Say what a world lacks to break: after 500 episodes the plan is safe."""
    mdp = feasible_world(answer, FEW_STATES, FEW_ACTIONS, int(PAPER["H"]))
    if isinstance(mdp, Finding):
        return mdp
    if not mdp.unsafe.any():
        return not_yet("No state of it is unsafe, so every plan is safe.", mdp)
    paid = [_planned(mdp, seed).violation for seed in FIVE]
    if min(paid) < UNSAFE - ROUNDING:
        said = ", ".join(f"{x:.3g}" for x in paid)
        return not_yet(f"With the seeds 0 to 4 the plans have a violation of {said}.", mdp)
    return None


def _a_world_for_directed_exploration(answer: object) -> Finding | None:
    """Say what a world lacks to break: a masked random walk finds what is there to find."""
    mdp = feasible_world(answer, *(int(PAPER[name]) for name in "SAH"))
    if isinstance(mdp, Finding):
        return mdp
    best = safe_optimal(mdp).value
    if best < LEAST - ROUNDING:
        text = f"The best feasible policy earns {best:.3g}; make it {LEAST} at least."
        return not_yet(text, mdp)
    for seed in THREE:
        walked = _planned(mdp, seed).value
        if walked > POOR * best:
            return not_yet(
                f"With the theorem's constants and seed {seed} the plan earns {walked:.3g} of "
                f"{best:.3g}: the random walk has found the way.",
                mdp,
            )
        directed = _planned(mdp, seed, SCALE).value
        if directed < GOOD * best:
            return not_yet(
                f"With bonus_scale={SCALE:g} and seed {seed} the plan earns {directed:.3g} of "
                f"{best:.3g}: it has not found the way either.",
                mdp,
            )
    return None


def _a_reward_that_hurts(answer: object) -> Finding | None:
    """Say what a reward lacks to break: the plan after 500 episodes is good for every reward."""
    lab = laboratory()
    try:
        r = read_reward(answer, lab.H, lab.S, lab.A)  # type: ignore[arg-type]
    except Exception as error:  # an answer can be any object at all
        return not_yet(f"It is no reward: {error}.")
    learner = SRFUCRL(lab.known, delta=DELTA)
    explore(learner, lab, EPISODES, seed=0)
    world = SafeMDP(lab.P, r, lab.c, lab.tau, lab.H, s1=lab.s1)
    best, got = safe_optimal(world).value, evaluate(world, learner.plan_for(r).policy).value
    if best - got < LOSS - ROUNDING:
        return not_yet(
            f"The best feasible policy earns {best:.4g} of it and the plan {got:.4g}: it loses "
            f"{best - got:.3g}."
        )
    return None


prepare = compiling.explorers

EXERCISES: dict[str, Exercise] = {
    "out-of-reach": Value(
        asks="the first n with M(n) < H, for S = 11, A = 5, H = 10, δ = 0.005",
        hint="st.bounds.exploration_bonus takes an array of n. It falls, so look for the first "
        "place where it is below H.",
        expected=_first_below,
        slips=(
            Slip(lambda: _first_below() - 1, "At that n the bonus is still H or more."),
            Slip(lambda: _first_below(delta=0.1), "That is for δ = 0.1; the paper has 0.005."),
            Slip(
                lambda: _first_below(second=0.0),
                "You have left out the second term of M, SHγ(n)/n.",
            ),
        ),
    ),
    "floor-under-the-stopping-time": Function(
        asks="a function never_before(S, A, H, epsilon, delta) that returns the largest K with "
        "H M(K) > ε/2",
        hint="K may be as large as 10⁸, too many to try one by one. M falls: double K until it "
        "does not hold, then halve the interval.",
        oracle=_never_before,
        instances=_sizes,
        draw=_size,
    ),
    "one-run-many-epsilon": Function(
        asks="a function stops(width, epsilons) that returns for each ε the number of episodes "
        "until the rule fires, -1 where it does not, as an int array",
        hint="width[k] is the width after k episodes. It can grow again, when a new successor is "
        "seen: the rule fires at the first k with width[k] ≤ ε/2, whatever comes later.",
        oracle=_stops,
        instances=_widths,
        draw=_width,
        axes=("epsilon",),
    ),
    "mild-judge": Function(
        asks="a function plan_violation(mdp, policy) that returns the expected violation of a plan",
        hint="There are two slips. Toss a coin between a state of cost 0 and one of cost 1, with "
        "tau = 0.5: what is the expected violation? And does the state after the last step count?",
        oracle=lambda mdp, policy: float(evaluate(mdp, policy).violation),
        instances=_plans,
        draw=_plan,
    ),
    "500-episodes-are-enough": Counterexample(
        asks=f"a SafeMDP with at most {FEW_STATES} states, {FEW_ACTIONS} actions and "
        f"{PAPER['H']} steps in which the plan for its reward, after {EPISODES} episodes, has an "
        f"expected violation of {UNSAFE} or more with each of the seeds 0 to 4",
        hint="A state is flagged when its cost, less the width β of its visits, is above tau. How "
        "many visits are there in 500 episodes, and how small can a gap be that they do not show?",
        missing=_a_world_that_pays_for_ever,
    ),
    "walk-is-as-good-as-a-plan": Counterexample(
        asks=f"a SafeMDP of the paper's sizes at most, whose best feasible policy earns {LEAST} or "
        f"more, in which after {EPISODES} episodes the plan earns at most {POOR:.0%} of that with "
        f"the theorem's constants and at least {GOOD:.0%} with bonus_scale={SCALE:g}",
        hint="A random walk does well where every way leads somewhere. Let the way to the reward "
        "be long, one action of five right in each cell, and think of what a wrong one may do, "
        "other than to lead back to the start.",
        missing=_a_world_for_directed_exploration,
    ),
    "reward-that-hurts": Counterexample(
        asks=f"a reward for the laboratory, (S, A) or (H, S, A), for which the plan after "
        f"{EPISODES} episodes (seed 0, δ = {DELTA}) loses {LOSS} or more against the best "
        f"feasible policy",
        hint="Pairs that were seldom tried have poor estimates. Draw sparse random rewards, keep "
        "the worst, change a few entries of it, and go on from what is worse.",
        missing=_a_reward_that_hurts,
    ),
}
