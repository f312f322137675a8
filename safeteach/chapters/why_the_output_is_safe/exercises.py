r"""*Why the output is safe*: bets, ledgers, a bonus for all, and how long it takes."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safeteach.bounds import beta, exploration_bonus, gamma
from safeteach.classroom.checking.forms import form_of, is_whole
from safeteach.classroom.checking.kinds import (
    Counterexample,
    Exercise,
    Finding,
    Function,
    Property,
    Slip,
    Value,
    not_yet,
)
from safeteach.classroom.checking.memories import largest
from safeteach.classroom.checking.worlds import random_world, small_worlds
from safeteach.worlds.mdp import SafeMDP

__all__ = ["EXERCISES"]

ROOM = 1e-12


# 15.1 -----------------------------------------------------------------------------------------

DIVERGENCE = 0.02


def _two_bounds() -> tuple[float, float]:
    return math.sqrt(2 * DIVERGENCE) / 2, 1 - math.exp(-DIVERGENCE)


# 15.2 -----------------------------------------------------------------------------------------


def _draws() -> Iterator[dict[str, Any]]:
    """Yield counts and laws, from none drawn to many, with successors that cannot come."""
    yield {"counts": np.array([0, 0]), "P": np.array([0.5, 0.5])}
    yield {"counts": np.array([1, 0]), "P": np.array([0.5, 0.5])}
    yield {"counts": np.array([3, 0, 1]), "P": np.array([0.5, 0.0, 0.5])}
    for k in range(30):
        yield _drawn(k, np.random.default_rng(k))


def _drawn(k: int, rng: np.random.Generator) -> dict[str, Any]:
    P = rng.dirichlet(np.ones(2 + k % 5))
    return {"counts": rng.multinomial(4 ** (k % 9), P), "P": P}


def _log_money(counts: NDArray[np.int64], P: NDArray[np.float64]) -> float:
    S, n = len(counts), int(counts.sum())
    log = sum(math.lgamma(m + 1) for m in counts) + math.lgamma(S) - math.lgamma(S + n)
    return log - sum(m * math.log(p) for m, p in zip(counts, P, strict=True) if m)


# 15.3 -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Look:
    """A world, what was seen of it, what is known of its costs, and a policy."""

    P: NDArray[np.float64]
    seen: NDArray[np.bool_]
    f: NDArray[np.float64]
    policy: NDArray[np.int64]


def _looks() -> Iterator[_Look]:
    """Yield small worlds of which nothing, a part or all was seen."""
    for k, mdp in enumerate(small_worlds()):
        yield _look_at(mdp, k, np.random.default_rng(k))


def _look(k: int, rng: np.random.Generator) -> _Look:
    return _look_at(random_world(k, rng), k, rng)


def _look_at(mdp: SafeMDP, k: int, rng: np.random.Generator) -> _Look:
    seen = mdp.support() & (rng.random(mdp.support().shape) < (0.6, 0.0, 1.0)[k % 3])
    policy = rng.integers(mdp.A, size=(mdp.H, mdp.S))
    return _Look(np.array(mdp.P), seen, np.round(rng.random(mdp.S), 2), policy)


def _ledger(
    P: NDArray[np.float64],
    seen: NDArray[np.bool_],
    f: NDArray[np.float64],
    policy: NDArray[np.int64],
) -> NDArray[np.float64]:
    H, S = policy.shape
    states = np.arange(S)
    X = np.zeros((H + 1, S))
    for h in range(H - 1, -1, -1):
        rows, known = P[h, states, policy[h]], seen[h, states, policy[h]]
        X[h] = f + (H - 1 - h) * (rows * ~known).sum(axis=1) + (rows * known) @ X[h + 1]
    return X[:H]


def _look_arguments(look: _Look) -> Mapping[str, Any]:
    return {"P": look.P, "seen": look.seen, "f": look.f, "policy": look.policy}


# 15.4 -----------------------------------------------------------------------------------------


def _one_step(answer: object) -> Finding | None:
    """Say what a setting lacks to break the lemma on the bonus at H = 1."""
    if not isinstance(answer, tuple | list) or len(answer) != 4:
        return not_yet(f"Expected (S, A, delta, n), got {form_of(answer)}.")
    S, A, delta, n = answer
    if not all(_whole(x, least) for x, least in ((S, 2), (A, 1), (n, 1))):
        return not_yet("S, A and n must be whole numbers, S at least 2, A and n at least 1.")
    if not _level(delta):
        return not_yet("delta must be a number between 0 and 1.")
    S, A, n, delta = int(S), int(A), int(n), float(delta)
    if max(S, A, n) > 10**15 or delta < 1e-100:
        return not_yet("Smaller numbers and a larger delta are enough.")
    used = 2 * float(beta(n, S, delta)) + math.sqrt(float(gamma(n, S, A, 1, delta)) / n) / 2
    given = float(exploration_bonus(n, S, A, 1, delta))
    if used <= given:
        return not_yet(f"The lemma holds there: {used:.4g} is at most M(n) = {given:.4g}.")
    return None


# 15.5 -----------------------------------------------------------------------------------------


def _technical(answer: object) -> Finding | None:
    """Say what a pair of answers lacks to break the two technical steps."""
    if (
        not isinstance(answer, tuple | list)
        or len(answer) != 2
        or not all(isinstance(part, tuple | list) for part in answer)
        or [len(part) for part in answer] != [2, 5]
    ):
        return not_yet("Expected ((x, y), (S, A, H, K, delta)).")
    (x, y), (S, A, H, K, delta) = answer
    if not all(1 <= _number(v) < 1e300 for v in (x, y)) or x >= y:
        return not_yet("(a) wants numbers x < y, both at least 1.")
    low, high = (float(v) / math.log(4 * float(v)) ** 2 for v in (x, y))
    if low <= high + ROOM:
        return not_yet(f"(a) It does not fall there: {low:.6g} at x, {high:.6g} at y.")
    if not all(_whole(v, least) for v, least in ((S, 2), (A, 1), (H, 1), (K, 4))):
        return not_yet("(b) wants whole numbers, S at least 2, A and H at least 1, K at least 4.")
    if not _level(delta):
        return not_yet("(b) delta must be a number between 0 and 1.")
    if max(S, A, H, K) > 10**15:
        return not_yet("(b) Smaller numbers are enough.")
    sizes = math.log(int(S) * int(A) * int(H)) - math.log(delta)
    left = 2 * (sizes + math.log(int(K))) + int(S) * math.log(4 * int(K))
    right = 2 * int(S) * math.log(4 * int(K)) + sizes
    if left <= right + ROOM:
        return not_yet(f"(b) It holds there: {left:.4g} is at most {right:.4g}.")
    return None


def _whole(value: object, least: int) -> bool:
    return is_whole(value) and int(value) >= least


def _level(value: object) -> bool:
    return 0 < _number(value) < 1


def _number(value: object) -> float:
    """The value as a float; nan if it is no real number or too large for one."""
    try:
        return float(value) if isinstance(value, numbers.Real) else math.nan
    except OverflowError:
        return math.nan


# 15.6 -----------------------------------------------------------------------------------------

LEVEL = 0.1


def _sizes() -> Iterator[dict[str, Any]]:
    yield {"S": 2, "A": 1, "H": 2, "epsilon": 4.0}
    yield {"S": 2, "A": 2, "H": 2, "epsilon": 1.0}
    for k in range(10):
        yield _size(k, np.random.default_rng(k))


def _size(_k: int, rng: np.random.Generator) -> dict[str, Any]:
    S, A, H = (int(x) for x in rng.integers(2, 12, size=3))
    return {"S": S, "A": A, "H": H, "epsilon": float(rng.uniform(0.1, 2 * H))}


def _episodes(S: int, A: int, H: int, epsilon: float) -> int:
    def holds(K: int) -> bool:
        g = float(gamma(K, S, A, H, LEVEL))
        return K * epsilon / 2 <= 5 * (1 + math.sqrt(2)) * H**2 * math.sqrt(S * A * K * g)

    return largest(holds)


# 15.7 -----------------------------------------------------------------------------------------

VISITS = np.unique(np.concatenate([np.arange(1, 200), np.geomspace(200, 1e12, 200).astype(int)]))
SETTINGS = ((2, 1, 2, 0.9), (2, 3, 2, 0.1), (11, 5, 10, 0.1), (40, 2, 3, 1e-6))


def _settings() -> Iterator[dict[str, Any]]:
    for S, A, H, delta in SETTINGS:
        yield {"n": VISITS, "S": S, "A": A, "H": H, "delta": delta}


def _setting(k: int, rng: np.random.Generator) -> dict[str, Any]:
    S, A, H, delta = 2 + k // 2, 1 + k % 5, 2 + k % 10, float(10 ** -rng.uniform(0.05, 8))
    return {"n": VISITS, "S": S, "A": A, "H": H, "delta": delta}


def _not_leaner(bonus: object, n: NDArray[np.int64], S: int, A: int, H: int, delta: float) -> str:
    """Say what a bonus lacks to be below 2H√(γ/n) and above what the proofs use."""
    try:
        got = np.asarray(bonus, float)
    except (TypeError, ValueError):
        return f"It returns {form_of(bonus)}; expected an array."
    if got.shape != n.shape:
        return f"Called with {n.size} numbers n it must return as many."
    root = np.sqrt(gamma(n, S, A, H, delta) / n)
    low = np.flatnonzero(~(got >= (2 * beta(n, S, delta) + H / 2 * root) * (1 - ROOM)))
    if low.size:
        return f"It is less than the proofs use at n = {n[low[0]]:,}."
    high = np.flatnonzero(~(got < 2 * H * root))
    if high.size:
        return f"It is not below 2H√(γ(n)/n) at n = {n[high[0]]:,}."
    return ""


EXERCISES: dict[str, Exercise] = {
    "by-hand": Value(
        asks="the pair (bound on P(Δ̂ᶜ) by half of Pinsker's, bound by looking at Δ̂)",
        hint="P̂ gives nothing to what was never seen, so P(Δ̂ᶜ) is a difference of "
        "probabilities of one set: at most half of the norm. For the other, what is kl(1, p)?",
        expected=_two_bounds,
        slips=(
            Slip(
                lambda: (math.sqrt(2 * DIVERGENCE), 1 - math.exp(-DIVERGENCE)),
                "The first is the bound on the whole norm. A set sees half of it.",
            ),
            Slip(
                lambda: (math.sqrt(DIVERGENCE), 1 - math.exp(-DIVERGENCE)),
                "Pinsker's inequality has a 2 under the root: the norm is at most √(2 KL).",
            ),
            Slip(
                lambda: (math.sqrt(DIVERGENCE / 2), DIVERGENCE),
                "The second is close, and an upper bound of what is asked: KL ≥ -ln P(Δ̂), solved "
                "for 1 - P(Δ̂).",
            ),
            Slip(
                lambda: (math.sqrt(DIVERGENCE / 2), math.exp(-DIVERGENCE)),
                "The second is the least that the seen set has. Asked is the rest.",
            ),
            Slip(
                lambda: (1 - math.exp(-DIVERGENCE), math.sqrt(DIVERGENCE / 2)),
                "The other way round.",
            ),
        ),
        tolerance=5e-5,
    ),
    "bet": Function(
        asks="a function log_money(counts, P) that returns the logarithm of D_n",
        hint="ln D_n = ln (S-1)! + Σ ln n_t! - ln (n+S-1)! - Σ n_t ln P(t). What does a successor "
        "that never came add?",
        oracle=_log_money,
        instances=_draws,
        draw=_drawn,
    ),
    "ledger": Function(
        asks="a function ledger(P, seen, f, policy) that returns X_h(s, π_h(s)) as an (H, S) array",
        hint="Backwards from X_{H+1} = 0. A surprise at step h leaves H - h steps, none at the "
        "last; only seen successors are followed, with their true probabilities.",
        oracle=_ledger,
        instances=_looks,
        draw=_look,
        arguments=_look_arguments,
        axes="HS",
    ),
    "one-step": Counterexample(
        asks="(S, A, delta, n) that breaks the lemma on the bonus at H = 1",
        hint="The second part of M falls like 1/n. And for which S is γ(n) hardly more than "
        "ln(S n(n+1)/δ)?",
        missing=_one_step,
    ),
    "technical-lemmas": Counterexample(
        asks="((x, y), (S, A, H, K, delta)) that breaks both claims",
        hint="(a) Where does the derivative change its sign? (b) One term has 2 ln(1/δ) on the "
        "left and ln(1/δ) on the right.",
        missing=_technical,
    ),
    "how-many-episodes": Function(
        asks="a function episodes(S, A, H, epsilon) that returns the largest K",
        hint="Double K until the inequality fails, then halve the interval. It holds for the K "
        "that you return, and fails for K + 1.",
        oracle=_episodes,
        instances=_sizes,
        draw=_size,
    ),
    "leaner-still": Property(
        asks="a function bonus(n, S, A, H, delta), below 2H√(γ(n)/n) and at least what is used",
        hint="There is something between √2 + ½ and 2. Or take what is used itself.",
        oracle=_not_leaner,
        instances=_settings,
        draw=_setting,
    ),
}
