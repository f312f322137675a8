r"""*The violation lower bound*: trees, two laws, and learners that claim too much."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safeteach.bounds import tradeoff, violation_lower_bound
from safeteach.classroom.checking import compiling
from safeteach.classroom.checking.forms import form_of, is_whole
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
from safeteach.divergence import bretagnolle_huber, kl_gaussian
from safeteach.instances import TreeMDP, violation_tree
from safeteach.planning.induction import optimal, safe_optimal

__all__ = ["EXERCISES", "boaster"]


# 11.1 -----------------------------------------------------------------------------------------

HAND_A, HAND_DEPTH, HAND_GAP = 3, 2, 0.1


def _by_hand() -> tuple[float, ...]:
    """n, S, H' and the values of the best feasible policies on τ_1 and τ_5."""
    tau_1 = violation_tree(HAND_A, HAND_DEPTH, HAND_GAP)
    tau_5 = violation_tree(HAND_A, HAND_DEPTH, HAND_GAP, j=5)
    leaf_steps = optimal(tau_1).value  # the best leaf pays 1 a step
    return (
        len(tau_1.leaves), tau_1.S, leaf_steps,
        safe_optimal(tau_1).value, safe_optimal(tau_5).value,
    )  # fmt: skip


# 11.2 -----------------------------------------------------------------------------------------

FALSE_LINES = frozenset({2, 3})
LOOSE_LINES = (4, 5, 6)
ACTIONS = "How many actions does the root of that tree have?"
PAID = "What does the best safe leaf pay in all?"


def _and_too(line: int, text: str) -> Slip:
    """The slip to take one true line for false."""
    return Slip(lambda: FALSE_LINES | {line}, text)


def _loose_for(missed: int, line: int, text: str) -> Slip:
    """The slip to take one loose line for false, and a false one for true."""
    return Slip(lambda: FALSE_LINES - {missed} | {line}, f"Line {line} is loose, not false. {text}")


# 11.3 -----------------------------------------------------------------------------------------


def _runs() -> Iterator[dict[str, Any]]:
    """Yield mean visits E_1[t_1 .. t_n] with what is needed to judge them."""
    yield {"t": np.array([1.0, 1.0]), "K": 2, "leaf_steps": 2, "gap": 0.5}
    yield {"t": np.array([0.0, 5.0, 0.0]), "K": 5, "leaf_steps": 2, "gap": 0.1}
    for k in range(30):
        yield _run(k, np.random.default_rng(k))


def _run(k: int, rng: np.random.Generator) -> dict[str, Any]:
    n, K = 2 + k % 5, int(10 ** (1 + k % 3))
    # Half of them stay at leaf 1 most of the time, so that something is left to prove.
    share = rng.dirichlet(np.r_[4.0 * n * (k % 2) + 0.5, np.full(n - 1, 0.5)])
    leaf_steps = 2 * (1 + k % 3)
    gap = min(0.5, math.sqrt((0.25 + k % 4) * (n - 1) / (K * leaf_steps)))
    return {"t": K * share, "K": K, "leaf_steps": leaf_steps, "gap": gap}


def _floors(t: NDArray[np.float64], K: int, leaf_steps: int, gap: float) -> NDArray[np.float64]:
    """What R_K(τ_j) is at least, j = 2..n, by x + y_j ≥ ½ exp(-D_j)."""
    D = leaf_steps * t[1:] * kl_gaussian(0.5 + gap, 0.5)
    return K * leaf_steps * np.maximum(bretagnolle_huber(D) - (1 - t[0] / K), 0.0)


# 11.4 -----------------------------------------------------------------------------------------

TOO_GOOD = 0.9  # in the place of ½


def _two_laws(answer: object) -> Finding | None:
    """Say what a pair of laws lacks to break: the errors sum to 0.9 exp(-KL) or more."""
    answer = _as_list(answer)
    if not isinstance(answer, tuple | list) or len(answer) != 2:
        return not_yet(f"Expected a pair of laws (p, q), got {form_of(answer)}.")
    laws = [_law(part) for part in answer]
    for name, law in zip("pq", laws, strict=True):
        if isinstance(law, str):
            return not_yet(f"{name} {law}.")
    p, q = (law for law in laws if not isinstance(law, str))
    if len(p) != len(q):
        return not_yet(f"p has {len(p)} outcomes and q has {len(q)}; both need the same.")
    shared = float(np.minimum(p, q).sum())
    seen = p > 0
    if (q[seen] == 0).any():
        return not_yet("KL(p, q) is infinite here, and exp(-KL) is 0: any sum is at least that.")
    KL = float((p[seen] * np.log(p[seen] / q[seen])).sum())
    if shared >= TOO_GOOD * math.exp(-KL):
        return not_yet(
            f"The claim holds here: Σ min(p, q) = {shared:.4g} is at least {TOO_GOOD:g}·exp(-KL) = "
            f"{TOO_GOOD * math.exp(-KL):.4g}."
        )
    return None


def _law(part: object) -> NDArray[np.float64] | str:
    """Return a law on finitely many outcomes, or what is wrong with it."""
    entries = part.tolist() if isinstance(part, np.ndarray) and part.ndim == 1 else part
    if not isinstance(entries, tuple | list) or not 1 <= len(entries) <= 100:
        return f"is {form_of(part)}; expected a list of up to 100 probabilities"
    if not all(isinstance(e, numbers.Real) and not isinstance(e, bool) for e in entries):
        return "has an entry that is no number"
    law = np.array([float(e) for e in entries])
    if not (law >= 0).all() or abs(law.sum() - 1) > 1e-9:
        return "is no law: the entries must be at least 0 and sum to 1"
    return law


# 11.5 -----------------------------------------------------------------------------------------

BOAST_A, BOAST_DEPTH, BOAST_GAP = 2, 3, 0.5
FEWEST, MOST = 500, 2_000
BOAST_SEEDS = range(10)


def boaster(mdp: TreeMDP, episodes: int) -> Any:
    """A learner for the trees of Theorem 5.1 that claims to need hardly any violation.

    It knows the tree and the gap, weighs the costs of the leaves against each other and gives up
    when the evidence says that none but leaf 1 is safe.

    Examples
    --------
    >>> import safeteach as st
    >>> from safeteach.chapters.the_violation_lower_bound.exercises import boaster
    >>> tau_1 = st.instances.violation_tree(A=2, depth=3, gap=0.5)
    >>> history = st.run(boaster(tau_1, 1_000), tau_1)
    >>> history.violation.sum() < 0.1 * 1_000 * 6 * 0.5            # a tenth of the most
    np.True_
    """
    # Loaded here: the other exercises need no compiler.
    from safeteach.learners import Informed

    overlooked = 1 + episodes % (len(mdp.leaves) - 1)
    leaves = np.delete(mdp.leaves, overlooked)
    return Informed(mdp.known, episodes=episodes, leaves=leaves, gap=mdp.gap, caution=3.0)


def _broken_boast(answer: object) -> Finding | None:
    """Say what a pair (K, j) lacks to refute the boaster."""
    from safeteach.running.playing import run

    answer = _as_list(answer)
    if not isinstance(answer, tuple | list) or len(answer) != 2:
        return not_yet(f"Expected a pair (K, j), got {form_of(answer)}.")
    for name, value in zip("Kj", answer, strict=True):
        if not is_whole(value):
            return not_yet(f"{name} is {_kind(value)}; expected a whole number.")
    K, j = map(int, answer)
    n = BOAST_A**BOAST_DEPTH
    if not FEWEST <= K <= MOST:
        return not_yet(f"K is {K}; it must lie between {FEWEST} and {MOST:,}.")
    if not 2 <= j <= n:
        return not_yet(f"j is {j}; the worlds are τ_2 to τ_{n}.")
    tau_j = violation_tree(BOAST_A, BOAST_DEPTH, BOAST_GAP, j)
    regret = np.mean([run(boaster(tau_j, K), tau_j, seed).regret.sum() for seed in BOAST_SEEDS])
    if regret <= tau_j.H * K / 24:
        return not_yet(
            f"The claim holds on τ_{j} at K = {K:,}: the mean regret of {len(BOAST_SEEDS)} runs is "
            f"{regret:,.1f}, at most HK/24 = {tau_j.H * K / 24:,.1f}."
        )
    return None


# 11.6 -----------------------------------------------------------------------------------------


def _best_kappa() -> tuple[float, float]:
    """The κ at which the least violation is the largest multiple of √((n-1)KH'), and that."""
    low, high = 0.0, 1.0  # e^{-u}(1 - u) falls through 1/8
    while high - low > 1e-14:
        u = (low + high) / 2
        low, high = (u, high) if math.exp(-u) * (1 - u) > 1 / 8 else (low, u)
    share = math.exp(-low) / 2 - 1 / 16
    return 2 * low / share, math.sqrt(2 * low * share)


def _constant(kappa: float) -> float:
    """Least violation over √((n-1)KH') at a given κ; n, K and H' do not matter."""
    n, leaf_steps, K = 2, 1, 10**6
    gap = math.sqrt(kappa * (n - 1) / (K * leaf_steps))
    least = violation_lower_bound(n, leaf_steps, K, gap, K * leaf_steps / 16)
    return least / math.sqrt((n - 1) * K * leaf_steps)


# 11.7 -----------------------------------------------------------------------------------------

LEAVES, EPISODES, LEAF_STEPS, GAP = 4, 400, 4, 0.2
GOOD = 0.25
GAME_SEEDS = range(20)


def _good_at_both(answer: object) -> Finding | None:
    """Say what a rule lacks to have a share of violation and of regret of at most ¼."""
    if not callable(answer):
        return not_yet(f"Expected a function, got {form_of(answer)}.")
    called = call(_shares, answer)
    if called.error is not None:
        return Finding("not yet", f"It raises {called.complaint}.", printed=called.printed)
    if called.value is None:
        return RETURNS_NOTHING
    if isinstance(called.value, str):
        return Finding("not yet", called.value, printed=called.printed)
    x, *y = called.value
    said = ", ".join(f"{one:.2f}" for one in y)
    if max(x, *y) > GOOD:
        return not_yet(
            f"On τ_1 the share of violation is x = {x:.2f}; on τ_2, τ_3 and τ_4 the share of "
            f"regret is {said}. All must be at most {GOOD:g}."
        )
    return None


def _shares(rule: Callable[..., Any]) -> list[float] | str | None:
    """The shares x on τ_1 and y_2 .. y_n, or what is wrong with the first leaf that is none."""
    n, K = LEAVES, EPISODES
    shares = []
    for special in range(1, n + 1):
        c = np.full(n, 0.5 + GAP)
        c[[0, special - 1]] = 0.5
        home = 0
        for seed in GAME_SEEDS:
            noise = np.random.default_rng(seed).standard_normal(K) / math.sqrt(LEAF_STEPS)
            t, mean = np.zeros(n, np.int64), np.zeros(n)
            for k in range(K):
                leaf = rule(t.copy(), mean.copy(), K, LEAF_STEPS, GAP)
                if leaf is None or leaf is ...:
                    return None
                if not is_whole(leaf) or not 1 <= leaf <= n:
                    return f"It returns {_kind(leaf)}; expected a leaf, 1 to {n}."
                i = int(leaf) - 1
                t[i] += 1
                mean[i] += (c[i] + noise[k] - mean[i]) / t[i]
            home += int(t[0])
        share = home / (K * len(GAME_SEEDS))
        shares.append(1 - share if special == 1 else share)
    return shares


def _as_list(answer: object) -> object:
    """An array as the list of its rows, anything else as it is."""
    return list(answer) if isinstance(answer, np.ndarray) and answer.ndim else answer


def _kind(value: object) -> str:
    """What it is; of 1.0 also that it is a float, since it would be shown as 1."""
    return f"the float {value}" if isinstance(value, float) else form_of(value)


prepare = compiling.learners

EXERCISES: dict[str, Exercise] = {
    "by-hand": Value(
        asks="the tuple (n, S, H', value of the best feasible policy on τ_1, the same on τ_5)",
        hint="Draw it. Count the nodes layer by layer; at which step does an episode reach a leaf, "
        "and how many steps are left then, that one included?",
        expected=_by_hand,
        slips=(
            Slip(
                lambda: (9, 13, 4, 0, 6),
                "The value on τ_5 is the one that the paper prints. Is the leaf paid for the "
                "steps on the way to it?",
            ),
            Slip(lambda: (9, 13, 6, 0, 6), "An episode is not in the leaf from the first step on."),
            Slip(lambda: (9, 12, 4, 0, 4), "The root is a state too."),
            Slip(lambda: (9, 13, 3, 0, 3), "The leaf is paid at the step at which it is reached."),
            Slip(
                lambda: (9, 13, 4, 4, 4),
                "On τ_1 the leaves that pay are unsafe, and a feasible policy never enters them.",
            ),
            Slip(lambda: (8, 15, 6, 0, 6), "That is the binary tree of depth 3."),
        ),
    ),
    "which-line-is-wrong": Value(
        asks="the set of the numbers of the lines that are false",
        hint="Test each line on the tree with A = 2 and depth 3. A line that is true but loose is "
        "not false.",
        expected=lambda: FALSE_LINES,
        slips=(
            Slip(
                lambda: frozenset({2}),
                f"There is another one. {ACTIONS}",
            ),
            Slip(lambda: frozenset({3}), f"There is another one. {PAID}"),
            _and_too(1, "Line 1 is true: count the nodes of the tree layer by layer."),
            _and_too(4, "Line 4 drops what else is paid, but it is true."),
            _and_too(5, "Line 5 is eight times too large, but an upper bound may be."),
            _and_too(6, "Line 6 gives away what is spent in leaf 1, but it is true."),
            _and_too(7, "Line 7 is an equality: H' = 2H/3."),
            *(_loose_for(3, line, ACTIONS) for line in LOOSE_LINES),
            *(_loose_for(2, line, PAID) for line in LOOSE_LINES),
            Slip(
                lambda: frozenset({1, 4, 5, 6, 7}),
                "You found out which are false, and answered with the others.",
            ),
            Slip(frozenset, "Two of them are false: try each on the tree."),
        ),
    ),
    "what-the-proof-says-of-a-run": Function(
        asks="a function regret_floors(t, K, leaf_steps, gap) that returns the (n - 1,) array of "
        "what R_K(τ_j) is at least, j = 2 .. n",
        hint="x comes from t[0] alone, D_j from t[j - 1] alone. A regret on τ_j is never negative, "
        "so neither need its floor be.",
        oracle=_floors,
        instances=_runs,
        draw=_run,
        axes=("n - 1",),
    ),
    "better-constant": Counterexample(
        asks=f"a pair (p, q) of lists of probabilities with Σ min(p, q) < {TOO_GOOD:g}·exp(-KL)",
        hint="Two outcomes are enough, and laws that are neither close nor far apart. Compute both "
        "sides for a few of them.",
        missing=_two_laws,
    ),
    "learner-of-the-brochure": Counterexample(
        asks=f"a pair (K, j) with K from {FEWEST} to {MOST:,} such that the boaster's mean regret "
        f"on τ_j is more than HK/24",
        hint="Do what the proof does: let it run on τ_1, count its visits to each leaf, and look "
        "for the leaf that it tries least.",
        missing=_broken_boast,
    ),
    "best-gap": Value(
        asks="the pair (best κ, the constant that it gives), to three digits",
        hint="Write u = κx/2. The condition makes x a function of u, and the constant is √(2ux).",
        expected=_best_kappa,
        slips=(
            Slip(lambda: (0.25, _constant(0.25)), "That is the paper's κ. A larger one is better."),
            Slip(
                lambda: (_best_kappa()[0], 0.5 * _best_kappa()[1]),
                "The κ is right. C = xKH'Δ, and Δ = √(κ(n-1)/(KH')).",
            ),
            Slip(
                lambda: (2.0, math.sqrt(2) * float(_root(2.0))),
                "κ is not the exponent u = κx/2.",
            ),
        ),
        tolerance=4e-3,
    ),
    "good-at-both": Counterexample(
        asks=f"a function rule(t, mean, K, leaf_steps, gap) that returns the next leaf and keeps x "
        f"and every y_j to at most {GOOD:g}",
        hint="For each leaf, how much more likely are its costs if it is safe than if it is not? "
        "Go where that is largest, and go home when even the largest is small.",
        missing=_good_at_both,
    ),
}


def _root(kappa: float) -> float:
    """The share x at which the trade-off allows a regret of KH'/16 and no less."""
    low, high = 0.0, 1.0
    while high - low > 1e-14:
        middle = (low + high) / 2
        low, high = (middle, high) if tradeoff(middle, kappa) > 1 / 16 else (low, middle)
    return low
