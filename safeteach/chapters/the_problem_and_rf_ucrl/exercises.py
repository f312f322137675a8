r"""*The problem and RF-UCRL*: uncertainty, rewards that come later, when to stop."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safeteach.bounds import gamma
from safeteach.classroom.checking import compiling
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
from safeteach.worlds.mdp import SafeMDP

__all__ = ["EXERCISES"]

Array = NDArray[np.float64]

# 13.1 -----------------------------------------------------------------------------------------

WIDTHS = {1: 0.6, 3: 0.35, 4: 0.3}  # √(2β(n)/n), made up


def _two_uncertainties(
    untried: float = 1.0, at_home: float | None = None, factor: int = 2, cap: float = 2.0
) -> tuple[float, float]:
    """E_1 of the two actions; the arguments are what readers get wrong."""
    y = max(WIDTHS[3], untried) if at_home is None else at_home
    z = WIDTHS[1]
    first = factor * WIDTHS[4] + 0.75 * y + 0.25 * z
    return min(cap, first), min(cap, factor * WIDTHS[1] + z)


# 13.2, 13.6 -----------------------------------------------------------------------------------


def _tables() -> Iterator[dict[str, Any]]:
    """Yield what was seen, from one pair that was never tried to larger tables."""
    for k in range(40):
        yield _table(k, np.random.default_rng(k))


def _table(k: int, rng: np.random.Generator) -> dict[str, Any]:
    H, S, A = (1, 1, 1) if k < 2 else (1 + k % 4, 1 + k // 10, 1 + k % 3)
    few = rng.random((H, S, A, S)) < 0.7
    counts = rng.integers(1, 40, size=(H, S, A, S)) * few * (rng.random((H, S, A, 1)) < 0.8)
    counts = counts * (k > 0)
    N = counts.sum(axis=3)
    P_hat = counts / np.maximum(N, 1)[..., None]
    width = (0.2 + 0.6 * (k % 3)) * np.sqrt(1 / np.maximum(N, 1))
    return {"P_hat": P_hat, "N": N, "width": np.where(N > 0, width, np.inf)}


def _uncertainty(P_hat: Array, N: NDArray[np.int64], width: Array) -> Array:
    return _recursion(P_hat, N, width, last=1, share=1.0)


def _sharper(P_hat: Array, N: NDArray[np.int64], width: Array) -> Array:
    return _recursion(P_hat, N, width, last=0, share=0.5)


def _recursion(P_hat: Array, N: NDArray[np.int64], width: Array, last: int, share: float) -> Array:
    """E with the caps H - h + ``last`` and the bonuses cap · share · width."""
    H, S, A = N.shape
    E = np.zeros((H + 1, S, A))  # nothing is uncertain after the last step
    for h in range(H - 1, -1, -1):
        cap = H - h - 1 + last
        bonus = cap * share * np.where(N[h] > 0, width[h], 0.0)
        future = P_hat[h] @ E[h + 1].max(axis=1)
        E[h] = np.where(N[h] > 0, np.minimum(cap, bonus + future), cap)
    return E[:H]


# 13.3 -----------------------------------------------------------------------------------------

LEFT, RIGHT = np.array([0.5, 0.2, 0.2, 0.1]), np.array([0.4, 0.3, 0.1, 0.2])
LEFT_SEEN, RIGHT_SEEN = np.array([0.4, 0.2, 0.2, 0.2]), np.array([0.5, 0.2, 0.1, 0.2])
ENOUGH = 0.19


def _bad_reward(answer: object) -> Finding | None:
    """Say what a reward lacks to lead the plan into the larger loss."""
    try:
        f = np.asarray(answer, np.float64)
    except (TypeError, ValueError):
        return not_yet(f"Expected four numbers, got {form_of(answer)}.")
    if f.shape != (4,):
        return not_yet(f"Expected four numbers, one a room; this has shape {f.shape}.")
    if not ((f >= 0) & (f <= 1)).all():
        return not_yet("Rewards lie in [0, 1].")
    seen, true = float((LEFT_SEEN - RIGHT_SEEN) @ f), float((LEFT - RIGHT) @ f)
    if abs(seen) < 1e-9:
        return not_yet(
            "In what was seen the two actions are worth the same; make the plan prefer one."
        )
    plan, loss = ("left", -true) if seen > 0 else ("right", true)
    if loss <= 0:
        return not_yet(f"The plan goes {plan}, and that is right.")
    if loss < ENOUGH - 1e-9:
        return not_yet(f"The plan goes {plan} and loses {loss:.3g}. More can be lost.")
    return None


# 13.4 -----------------------------------------------------------------------------------------

MOST_STATES, MOST_ACTIONS, MOST_STEPS = 8, 4, 10
EPISODES, SEEDS = 1_000, range(5)
LOST, KEPT = 1.0, 0.1


def _least_tried(mdp: SafeMDP, seed: int) -> tuple[NDArray[np.int64], Array]:
    """N and P̂ of a learner that everywhere takes the action it has taken least often."""
    rng = np.random.default_rng(seed)
    counts = np.zeros((mdp.H, mdp.S, mdp.A, mdp.S), np.int64)
    N = np.zeros((mdp.H, mdp.S, mdp.A), np.int64)
    reach = mdp.P.cumsum(axis=3)
    reach[..., -1] = 1.0
    for _ in range(EPISODES):
        luck, ties = rng.random(mdp.H), rng.random((mdp.H, mdp.A))
        s = mdp.s1
        for h in range(mdp.H):
            a = int((N[h, s] + 0.5 * ties[h]).argmin())
            t = int(reach[h, s, a].searchsorted(luck[h], side="right"))
            counts[h, s, a, t] += 1
            N[h, s, a] += 1
            s = t
    return N, counts / np.maximum(N, 1)[..., None]


def _losses(mdp: SafeMDP, N: NDArray[np.int64], P_hat: Array) -> Array:
    """What the plan in P̂ loses against the best, for the reward 1 in state t, by t.

    Of several best plans in P̂ the worst counts: else who never saw a state might be lucky there.
    """
    P = mdp.P
    lost = np.empty(mdp.S)
    for t in range(mdp.S):
        r = np.eye(mdp.S)[:, [t]]
        best, planned, V = np.zeros(mdp.S), np.zeros(mdp.S), np.zeros(mdp.S)
        for h in range(mdp.H - 1, -1, -1):
            Q = np.where(N[h] > 0, r + P_hat[h] @ V, 0.0)
            V = Q.max(axis=1)
            among = V[:, None] - Q < 1e-12
            planned = np.where(among, r + P[h] @ planned, np.inf).min(axis=1)
            best = (r + P[h] @ best).max(axis=1)
        lost[t] = best[mdp.s1] - planned[mdp.s1]
    return lost


def _needs_a_plan(answer: object) -> Finding | None:
    """Say what a world lacks to break: who tries everything equally often learns everything."""
    # Loaded here: the other exercises need no compiler.
    from safeteach.learners import RFUCRL
    from safeteach.running.exploring import explore

    mdp = small_world(answer, MOST_STATES, MOST_STEPS, MOST_ACTIONS)
    if isinstance(mdp, Finding):
        return mdp
    even = np.mean([_losses(mdp, *_least_tried(mdp, seed)) for seed in SEEDS], axis=0)
    if even.max() < LOST:
        return not_yet(
            f"Who takes the least tried action everywhere is ready enough: the plans for these "
            f"rewards lose at most {even.max():.3g} on average.",
            mdp,
        )
    greedy = np.zeros(mdp.S)
    for seed in SEEDS:
        learner = RFUCRL(mdp.known, bonus_scale=0.1)
        explore(learner, mdp, episodes=EPISODES, seed=seed)
        seen = learner.transitions
        greedy += _losses(mdp, seen.N, seen.P_hat) / len(SEEDS)
    if greedy.max() > KEPT:
        return not_yet(
            f"RF-UCRL is not ready for it either: for one of these rewards its plans lose "
            f"{greedy.max():.3g} on average.",
            mdp,
        )
    return None


# 13.5 -----------------------------------------------------------------------------------------


def _sizes() -> Iterator[dict[str, Any]]:
    """Yield sizes, levels and accuracies; β is not defined for a single state."""
    yield {"S": 2, "A": 1, "H": 1, "epsilon": 1.0, "delta": 0.5}
    for k in range(30):
        yield _size(k, np.random.default_rng(k))


def _size(k: int, rng: np.random.Generator) -> dict[str, Any]:
    epsilon = (0.1, 0.5, 1.3)[k % 3] * float(rng.uniform(0.8, 1.2))
    delta = float(10 ** -rng.uniform(0.5, 5))
    return {"S": 2 + k % 7, "A": 1 + k % 4, "H": 1 + k % 5, "epsilon": epsilon, "delta": delta}


def _earliest_stop(S: int, A: int, H: int, epsilon: float, delta: float) -> int:
    def wide(n: int) -> bool:
        return H * math.sqrt(float(gamma(n, S, A, H, delta)) / n) > epsilon / 2

    low, high = 0, 1
    while wide(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if wide(middle) else (low, middle)
    return A * high


prepare = compiling.explorers

EXERCISES: dict[str, Exercise] = {
    "by-hand": Value(
        asks="the pair (E_1(x, a), E_1(x, b))",
        hint="Begin at step 2, where the cap is 1 and no future is left. At step 1 the bonus has "
        "the factor H - h + 1 = 2, and the future of a successor is its most uncertain action.",
        expected=_two_uncertainties,
        slips=(
            Slip(
                lambda: _two_uncertainties(at_home=WIDTHS[3]),
                "An action of y that was never tried counts too: any reward may send you there.",
            ),
            Slip(
                lambda: _two_uncertainties(untried=2.0),
                "At step 2 one step is left: the cap there is H - h + 1 = 1.",
            ),
            Slip(
                lambda: _two_uncertainties(factor=1),
                "At step 1 the bonus is the width times H - h + 1 = 2.",
            ),
            Slip(
                lambda: _two_uncertainties(cap=1.0),
                "At step 1 two steps are left: the cap there is 2.",
            ),
            Slip(
                lambda: _two_uncertainties(at_home=(WIDTHS[3] + 1) / 2),
                "The future of y is its most uncertain action, not the average.",
            ),
        ),
    ),
    "recursion": Function(
        asks="a function uncertainty_table(P_hat, N, width) that returns E as an (H, S, A) array",
        hint="Go from the last step to the first. What is the cap at the step with index h = 0 .. "
        "H - 1, and where does the maximum over the next actions stand?",
        oracle=_uncertainty,
        instances=_tables,
        draw=_table,
        axes="HSA",
    ),
    "choose-the-reward-afterwards": Counterexample(
        asks=f"four rewards in [0, 1], one for each room, for which the plan loses at least "
        f"{ENOUGH:g}",
        hint="Pay where the estimate of one action is too high or that of the other too low. The "
        "plan has to prefer the wrong action, if only by a hair.",
        missing=_bad_reward,
    ),
    "everything-equally-often": Counterexample(
        asks=f"a SafeMDP with at most {MOST_STATES} states, {MOST_ACTIONS} actions and "
        f"{MOST_STEPS} steps and a state such that, if that state pays 1, the plan of who "
        f"explored by the least tried action loses at least {LOST:g} on average, and RF-UCRL's "
        f"for no state more than {KEPT:g}",
        hint="Trying all actions equally often at each state is a walk without a goal. How likely "
        "is such a walk to reach the end of a long way on which every wrong action leads back?",
        missing=_needs_a_plan,
    ),
    "how-soon": Function(
        asks="a function earliest_stop(S, A, H, epsilon, delta) that returns the number of "
        "episodes before which RF-UCRL cannot stop",
        hint="At s_1 every action needs the bonus of step 1 to be at most ε/2, and an episode "
        "tries one of them. The width falls with n, so you can double n and then halve.",
        oracle=_earliest_stop,
        instances=_sizes,
        draw=_size,
    ),
    "what-is-known-needs-no-bonus": Function(
        asks="a function sharper(P_hat, N, width) that returns the sharper uncertainty as an "
        "(H, S, A) array",
        hint="With the reward of the pair known, what is unknown lies in the H - h steps after it. "
        "A function with values in [0, B] is B/2 plus one with values in [-B/2, B/2].",
        oracle=_sharper,
        instances=_tables,
        draw=_table,
        axes="HSA",
    ),
}
