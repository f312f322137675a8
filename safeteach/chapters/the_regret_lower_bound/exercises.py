r"""*The regret lower bound*: coins, prices, and a tree that proves too much."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterator
from functools import cache

import numpy as np
from numpy.typing import NDArray

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
from safeteach.divergence import kl_bernoulli
from safeteach.instances import random_mdp, regret_tree
from safeteach.planning.evaluation import evaluate
from safeteach.planning.induction import optimal, safe_optimal
from safeteach.worlds.mdp import SafeMDP

__all__ = ["EXERCISES"]

# 12.1 -----------------------------------------------------------------------------------------


def _by_hand(steps: int = 3, best: float = 2, printed: bool = False) -> tuple[float, ...]:
    """The four numbers; slips take other steps behind the door, or another best coin."""
    gap, unsafe_gap = 0.02, 0.1
    danger = (6 - 1 if printed else steps) * (0.5 + unsafe_gap)
    return 9, steps, steps * (0.5 + best * gap), danger


# 12.2 -----------------------------------------------------------------------------------------


def _looks(gap: float, divergence: float) -> int:
    return math.ceil(divergence / float(kl_bernoulli(0.5, 0.5 + 2 * gap)))


def _coins() -> Iterator[dict[str, float]]:
    for gap in (0.1, 0.2, 0.24, 0.05, 0.01, 0.001):
        for divergence in (0.01, 0.3, 1.0, 7.7):
            yield {"gap": gap, "divergence": divergence}


def _coin(_k: int, rng: np.random.Generator) -> dict[str, float]:
    gap, divergence = 0.24 * 10 ** -rng.uniform(0, 2.5), 10 * 10 ** -rng.uniform(0, 3)
    return {"gap": float(gap), "divergence": float(divergence)}


# 12.4 -----------------------------------------------------------------------------------------

ACTIONS, DEPTH, LEAVES = 3, 3, 8
ALLOWED_POWER = 0.75
EPISODES = (20_000, 3_000_000)
SLACK = 1e-9


@cache
def locked_root(K: int, j: int | None) -> SafeMDP:
    """The printed tree, but for the root: there the last action takes the first branch."""
    T = 3 * DEPTH * K
    gap, unsafe_gap = math.sqrt((LEAVES - 1) / K) / 4, float(T ** (-ALLOWED_POWER / 2))
    printed = regret_tree(ACTIONS, DEPTH, gap, unsafe_gap, j, printed=True)
    P = printed.P[0].copy()
    P[0, -1] = P[0, 0]
    return SafeMDP(P, printed.r[0], printed.c, printed.tau, printed.H)


def _is_no_bribe(answer: object) -> Finding | None:
    """Say where a policy has regret, or too much violation, on the trees with a locked root."""
    if not callable(answer):
        return not_yet(f"Expected a function, got {form_of(answer)}.")
    for K in EPISODES:
        allowed = (3 * DEPTH * K) ** ALLOWED_POWER
        first = locked_root(K, None)
        called = call(answer, first.known, K, allowed)
        if called.error is not None:
            return not_yet(f"With K = {K:,} it raises {called.complaint}.")
        if called.value is None:
            return RETURNS_NOTHING
        policy = called.value
        shape = (first.H, first.S, first.A)
        if not isinstance(policy, np.ndarray) or policy.shape != shape:
            return not_yet(
                f"It returns the wrong form: expected a (H, S, A) = {shape} array, got "
                f"{form_of(policy)}."
            )
        try:
            first.check_policy(policy)
        except (TypeError, ValueError) as error:
            return not_yet(f"It returns no policy: {error}.")
        for j in (None, *range(2, LEAVES + 1)):
            tree = locked_root(K, j)
            done = evaluate(tree, policy)
            regret = K * (safe_optimal(tree).value - done.value)
            where = f"With K = {K:,}, in τ_{j or 1},"
            if K * done.violation > allowed * (1 + SLACK):
                return not_yet(
                    f"{where} its violation is {K * done.violation:,.0f}; {allowed:,.0f} are "
                    f"allowed."
                )
            if regret > -SLACK * K:
                return not_yet(
                    f"{where} its regret is {round(regret, 3) + 0.0:,g}, at a violation of "
                    f"{K * done.violation:,.4g} of {allowed:,.0f}."
                )
    return None


# 12.6 -----------------------------------------------------------------------------------------


def _least_gap(mdp: SafeMDP) -> float:
    plan = optimal(mdp)
    gaps = plan.V[:-1, :, None] - plan.Q
    support = mdp.support()
    here = np.zeros(mdp.S, np.bool_)
    here[mdp.s1] = True
    least = math.inf
    for h in range(mdp.H):
        found = gaps[h][here]
        least = min(least, float(found[found > SLACK].min(initial=math.inf)))
        here = support[h][here].any(axis=(0, 1))
    return least


def _gapped() -> Iterator[SafeMDP]:
    yield regret_tree(3, 1, 0.01, 0.05)
    yield regret_tree(3, 1, 0.01, 0.05, j=2)
    yield regret_tree(3, 2, 0.01, 0.1, j=4)
    yield regret_tree(4, 2, 0.02, 0.1, j=5)
    yield regret_tree(3, 3, 0.01, 0.3, j=8)
    yield regret_tree(3, 2, 0.01, 0.1, j=2, printed=True)
    for k in range(0, 60, 5):
        yield _gapped_world(k, np.random.default_rng(k))


def _gapped_world(k: int, rng: np.random.Generator) -> SafeMDP:
    """Draw a world from which not all states can be reached at every step."""
    return random_mdp(
        S=3 + k % 4, A=2 + k % 2, H=2 + k % 3, seed=rng, successors=2, stationary=k % 2 == 0
    )


# 12.7 -----------------------------------------------------------------------------------------

TRIES, RUN, STEPS, CLAIM = 30, 2_000, 5, 600.0


def explore_first(gap: float, j: int | None) -> float:
    """Expected regret of: every leaf TRIES times, then the first with the most heads.

    >>> round(explore_first(0.01, None))
    82
    """
    p = np.full(LEAVES, 0.5)
    p[0] += gap
    if j is not None:
        p[j - 1] += 2 * gap
    lost = STEPS * (p.max() - p)
    return float(TRIES * lost.sum() + (RUN - LEAVES * TRIES) * (_committed(p) @ lost))


def _committed(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Pr[leaf i has the most heads, and is the first that has], (n,)."""
    heads = np.arange(TRIES + 1)
    ways = np.array([math.comb(TRIES, int(k)) for k in heads], np.float64)
    law = ways * p[:, None] ** heads * (1 - p[:, None]) ** (TRIES - heads)
    at_most = law.cumsum(axis=1)
    fewer = at_most - law
    return np.array(
        [
            (law[i] * fewer[:i].prod(axis=0) * at_most[i + 1 :].prod(axis=0)).sum()
            for i in range(len(p))
        ]
    )


def _claim_stands(answer: object) -> Finding | None:
    """Say which regret the learner has in a world in which it keeps its maker's word."""
    listed = answer.tolist() if isinstance(answer, np.ndarray) else answer
    entries = listed if isinstance(listed, tuple | list) else ()
    if len(entries) != 2 or not all(
        isinstance(x, numbers.Real) and not isinstance(x, bool | np.bool_) for x in entries
    ):
        return not_yet(f"Expected a pair of numbers (gap, j), got {form_of(answer)}.")
    gap, j = (float(x) for x in entries)
    if j not in range(1, LEAVES + 1):
        return not_yet(f"j is {j:g}; the worlds are τ_1 to τ_{LEAVES}.")
    if not 0 < gap < 0.25:
        return not_yet(f"The gap is {gap:g}; it must lie between 0 and 1/4.")
    regret = explore_first(gap, None if j == 1 else int(j))
    if regret > CLAIM:
        return None
    return not_yet(f"In τ_{j:g} with this gap its expected regret is {regret:,.1f}.")


EXERCISES: dict[str, Exercise] = {
    "by-hand": Value(
        asks="the number of leaves, the number of steps behind a door, and the values of the best "
        "feasible policy and of the best policy in τ_5, a tuple of four numbers",
        hint="Write down where the agent is at steps 1 to 6. Which coin is best in τ_5?",
        expected=_by_hand,
        slips=(
            Slip(
                lambda: _by_hand(steps=4),
                "That is with 2H/3 steps behind the door, as in the paper; the leaf itself takes "
                "one of them.",
            ),
            Slip(lambda: _by_hand(best=1), "In τ_5 there is a better leaf than leaf 1."),
            Slip(
                lambda: _by_hand(best=3),
                "The coin of leaf 5 is better than a fair one by 2Δ, not by 3Δ: leaf 1 has its Δ "
                "for itself.",
            ),
            Slip(
                lambda: _by_hand(steps=6),
                "You pay all six steps of the episode. How many of them come before the door?",
            ),
            Slip(
                lambda: (16, *_by_hand()[1:]),
                "Everything but the number of leaves is right. One of the four actions does not "
                "lead down the tree.",
            ),
            Slip(
                lambda: (*_by_hand()[:3], _by_hand()[2]),
                "The best of all may be unsafe: what does danger pay?",
            ),
            Slip(
                lambda: (*_by_hand()[:2], _by_hand()[3], _by_hand()[3]),
                "A feasible policy may not be in danger, whatever that pays.",
            ),
            Slip(
                lambda: (9, 3, 0.54, 0.6),
                "These are what one step pays. How many steps are paid?",
            ),
            Slip(
                lambda: _by_hand(printed=True),
                "The last value is that of the printed tree, where danger can be had from the "
                "root.",
            ),
        ),
    ),
    "until-a-coin-has-talked": Function(
        asks="a function looks(gap, divergence) that returns a whole number of episodes",
        hint="Each episode through leaf j adds the divergence of one coin, exactly. Which one is "
        "it, and is it twice the gap squared?",
        oracle=_looks,
        instances=_coins,
        draw=_coin,
    ),
    "which-alpha": Value(
        asks="2, 1 or 0 for each of the five α, a tuple of five numbers",
        hint="What violation buys back is a constant times c times T to the power 1 - α. Compare "
        "it with a constant times the root of T, in both parts of the proposition.",
        expected=lambda: (2, 2, 1, 0, 0),
        slips=(
            Slip(
                lambda: (2, 2, 2, 0, 0),
                "At 0.5 both sides grow like the root of T. Is the claim false for a tiny c too?",
            ),
            Slip(
                lambda: (2, 2, 0, 0, 0),
                "At 0.5 both sides grow like the root of T. Is the claim true for a huge c too?",
            ),
            Slip(
                lambda: (0, 0, 1, 2, 2),
                "The other way round: a small α allows much violation.",
            ),
            Slip(
                lambda: (0, 0, 0, 0, 0),
                "That is for the repaired tree.",
            ),
            Slip(
                lambda: (1, 1, 1, 0, 0),
                "For α below 0.5 the power of T decides, and no c > 0 is small enough to stop it.",
            ),
        ),
    ),
    "lock-the-root": Counterexample(
        asks="a function bribe_below(known, K, allowed) that returns a policy, an (H, S, A) array, "
        "of negative regret in all eight worlds",
        hint="Where does danger pay for the most steps now? Go there just often enough to use up "
        "what is allowed, and be safe otherwise.",
        missing=_is_no_bribe,
    ),
    "best-constant": Value(
        asks="the best a and the constant C(a), a tuple of two numbers",
        hint="What is the limit of (1 - x/m)^m as m grows? Then differentiate.",
        expected=lambda: (1 / 4, math.exp(-1 / 2) / 8),
        slips=(
            Slip(
                lambda: (1 / 2, math.exp(-1 / 2) / 4),
                "That is with the paper's divergence, 2Δ² for each look; the coin tells four times "
                "as much.",
            ),
            Slip(
                lambda: (1 / 4, 1 / 16),
                "The gap is right. The constant is the one that the chapter proves for all "
                "K ≥ 2(n - 1); in the limit it is larger.",
            ),
            Slip(
                lambda: (math.sqrt(math.e) / 2, math.exp(-1 / 2) / 4),
                "That is the better constant of the second question; here the theorem's is asked.",
            ),
        ),
        tolerance=1e-4,
    ),
    "least-gap": Function(
        asks="a function least_gap(mdp) that returns a number",
        hint="Carry the set of states that can be reached forward from s_1, step by step, and look "
        "at the differences there only. Zero is not a gap, and neither is rounding.",
        oracle=_least_gap,
        instances=_gapped,
        draw=_gapped_world,
        arguments=lambda mdp: {"mdp": mdp},
    ),
    "sensible-learner": Counterexample(
        asks=f"a gap and a j, a pair (gap, j), at which the expected regret is above {CLAIM:g}",
        hint="How small must the gap be for thirty looks to say little, and how large for a wrong "
        "leaf to be dear? And which leaf loses when two have as many heads?",
        missing=_claim_stands,
    ),
}
