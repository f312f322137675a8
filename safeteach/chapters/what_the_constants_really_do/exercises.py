r"""*What the constants really do*: bonuses, ties, what is proved and what is tuned."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safeteach.bounds import alpha, beta, regret_bound, visits_until_flagged
from safeteach.classroom.checking import compiling
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
from safeteach.classroom.checking.worlds import plain
from safeteach.planning.induction import safe_optimal
from safeteach.safety import is_feasible
from safeteach.worlds.mdp import SafeMDP

__all__ = ["EXERCISES"]

POND: dict[str, Any] = {"S": 25, "A": 4, "H": 12, "K": 20_000, "delta": 0.005}
SCALE, AIM = 0.01, 1.0  # of "by-hand"
LEAST_PROVED = 1 / (7 * math.sqrt(2))  # no regret is proved for a smaller scale


def _visits(scale: float = SCALE, power: float = 2, **changes: float) -> int:
    """The first n with scale·α(n) < AIM; slips take another power or other sizes."""
    first = float(alpha(1, **{**POND, **changes}))
    return math.floor((scale * first / AIM) ** power) + 1


# 10.2 -----------------------------------------------------------------------------------------


def _proved(kappa: float, S: int, A: int, H: int, K: int, delta: float) -> float:
    if kappa < LEAST_PROVED:
        return float(K * H)
    spare = 14 * (1 - kappa) * math.sqrt(H**4 * S * A * K * math.log(5 * S * A * H * K / delta))
    return min(regret_bound(S, A, H, K, delta) - spare, float(K * H))


def _sizes() -> Iterator[dict[str, float]]:
    yield {"kappa": 1.0, "S": 1, "A": 1, "H": 1, "K": 1, "delta": 0.5}
    yield {"kappa": 1.0, "S": 2, "A": 2, "H": 3, "K": 10**9, "delta": 0.1}
    for kappa in (1.0, 0.5, 0.102, 0.1, 0.01, 0.0):
        yield {"kappa": kappa, **POND}
        yield {"kappa": kappa, **POND, "K": 10**10}
        yield {"kappa": kappa, **POND, "K": 10**7}
    for k in range(20):
        yield _size(k, np.random.default_rng(k))


def _size(_k: int, rng: np.random.Generator) -> dict[str, float]:
    S, A, H, K = (int(n) for n in np.exp(rng.uniform([0, 0, 0, 18], [5, 2, 3, 30])))
    kappa, level = rng.uniform(0.05, 1), float(np.exp(-rng.uniform(0.1, 12)))
    return {"kappa": float(kappa), "S": S, "A": A, "H": H, "K": K, "delta": level}


# 10.3 -----------------------------------------------------------------------------------------


def _pick(q: NDArray[np.float64], safe: NDArray[np.bool_], u: float) -> int:
    allowed = safe if safe.any() else np.ones_like(safe)
    best = np.flatnonzero(allowed & (q == q[allowed].max()))
    return int(best[int(u * len(best))])


def _choice_of(q: Sequence[float], safe: Sequence[int], u: float) -> dict[str, Any]:
    return {"q": np.array(q, float), "safe": np.array(safe, bool), "u": u}


def _choices() -> Iterator[dict[str, Any]]:
    case = _choice_of
    yield case([1], [1], 0.3)
    yield case([0, 2], [1, 1], 0.9)
    yield case([12, 12], [1, 1], 0.1)
    yield case([12, 12], [1, 1], 0.6)
    yield case([12, 12, 12, 12], [1, 1, 1, 1], 0.2)
    yield case([3, 12, 12], [1, 0, 1], 0.0)
    yield case([3, 12, 12], [1, 0, 0], 0.9)
    yield case([3, 12, 12], [0, 0, 0], 0.9)
    for k in range(60):
        yield _choice(k, np.random.default_rng(k))


def _choice(k: int, rng: np.random.Generator) -> dict[str, Any]:
    A = 1 + k % 5
    return _choice_of(
        rng.integers(0, 3, A).tolist(), (rng.random(A) < 0.7).tolist(), float(rng.random())
    )


# 10.4 -----------------------------------------------------------------------------------------

STATES, RUNS, LEVEL, THRESHOLD = 25, 60, 0.05, 0.5
WATER = 1.0
OTHERS = ((25, 0.5, 0.05), (7, 0.2, 0.3), (12, 0.8, 0.005))  # states, threshold, level
SMALL_GAP = 0.05
RARE, STRANGE = 1e-9, 5.5  # a level, and a noise that is likelier than that
LOOKS = np.unique(np.geomspace(1, 1_000, 40).astype(int))


def _flags_badly(answer: object) -> Finding | None:
    """Say what a rule that flags states gets wrong: too soon, too late, or before any visit."""
    if not callable(answer):
        return not_yet(f"Expected a function, got {form_of(answer)}.")
    for scale in (1.0, 0.01):
        rule = _Rule(answer, scale)
        if rule.flagged(np.zeros(STATES), np.zeros(STATES, np.int64)).any():
            return rule.complaint or not_yet("It flags a state that was never visited.")
        found = (
            _flags_safe_states(rule)
            or _misses_unsafe_states(rule)
            or _misses_a_small_gap(rule)
            or _trusts_one_visit(rule)
        )
        if rule.complaint or found:
            return rule.complaint or found
    return None


class _Rule:
    """A reader's rule; once it has gone wrong it flags nothing and keeps the complaint."""

    def __init__(self, answer: Callable[..., Any], scale: float) -> None:
        self.answer, self.scale = answer, scale
        self.complaint: Finding | None = None

    def flagged(
        self,
        mean: NDArray[np.float64],
        N: NDArray[np.int64],
        tau: float = THRESHOLD,
        delta: float = LEVEL,
    ) -> NDArray[np.bool_]:
        called = call(self.answer, N.copy(), mean.copy(), tau, delta, self.scale)
        value = called.value
        if called.error is None and value is None:
            self.complaint = RETURNS_NOTHING
        elif called.error is not None:
            self.complaint = not_yet(f"It raises {called.complaint}.")
        elif not (isinstance(value, np.ndarray) and value.shape == N.shape and value.dtype == bool):
            self.complaint = not_yet(
                f"It returns the wrong form: expected a (S,) = {N.shape} array of bool, got "
                f"{form_of(value)}."
            )
        else:
            return value
        return np.zeros(N.shape, np.bool_)


def _flags_safe_states(rule: _Rule) -> Finding | None:
    """Watch worlds of states exactly at the threshold, each a run of its own."""
    failed = 0
    for run in range(RUNS):
        averages = _averages(run)
        for n in LOOKS:
            N = np.full(STATES, n)
            if rule.flagged(THRESHOLD + averages[:, n - 1], N).any():
                failed += 1
                break
        if rule.complaint:
            return None
    most = RUNS * LEVEL + 3 * math.sqrt(RUNS * LEVEL * (1 - LEVEL))
    if failed <= most:
        return None
    return not_yet(
        f"With bonus_scale = {rule.scale:g} it flags a safe state in {failed} of {RUNS} runs. Each "
        f"run has {STATES} states whose cost is exactly tau, visited {LOOKS[-1]:,} times; with "
        f"delta = {LEVEL:g} this may happen in {RUNS * LEVEL:.0f} of {RUNS}."
    )


def _misses_unsafe_states(rule: _Rule) -> Finding | None:
    n = visits_until_flagged(WATER - THRESHOLD, STATES, LEVEL)
    late = [
        run
        for run in range(20)
        if not rule.flagged(WATER + _averages(run)[:, n - 1], np.full(STATES, n)).all()
    ]
    if not late:
        return None
    return not_yet(
        f"With bonus_scale = {rule.scale:g} it misses water (c = {WATER:g}, tau = {THRESHOLD:g}) "
        f"that was visited {n} times."
    )


def _misses_a_small_gap(rule: _Rule) -> Finding | None:
    """Try averages without noise, half of them at the threshold and half a little above."""
    for states, tau, level in OTHERS:
        n = visits_until_flagged(SMALL_GAP, states, level)
        above = np.arange(states) % 2 == 0
        flagged = rule.flagged(tau + SMALL_GAP * above, np.full(states, n), tau, level)
        if rule.complaint:
            return None
        where = f"visited {n:,} times, with tau = {tau:g} and delta = {level:g}"
        if flagged[~above].any():
            return not_yet(f"It flags a state whose average cost is exactly tau, {where}.")
        if not flagged[above].all():
            return not_yet(
                f"It misses a state whose average cost is {tau + SMALL_GAP:g}, {where}: there "
                f"2 beta is below the gap of {SMALL_GAP:g}."
            )
    return None


def _trusts_one_visit(rule: _Rule) -> Finding | None:
    """Try one visit whose noise is rare, though not as rare as delta."""
    N, shown = np.ones(STATES, np.int64), np.full(STATES, THRESHOLD + STRANGE)
    if not rule.flagged(shown, N, THRESHOLD, RARE).any():
        return None
    chance = math.erfc(STRANGE / math.sqrt(2)) / 2
    return not_yet(
        f"With delta = {RARE:g} it flags a state after one visit that showed a cost of "
        f"tau + {STRANGE:g}. A state at tau shows that much with probability {chance:.0e}."
    )


def _averages(run: int) -> NDArray[np.float64]:
    """(STATES, visits) averages of the noises at the first 1, 2, ... visits."""
    noise = np.random.default_rng((4, run)).standard_normal((STATES, int(LOOKS[-1])))
    return noise.cumsum(axis=1) / np.arange(1, noise.shape[1] + 1)


# 10.5 -----------------------------------------------------------------------------------------

MOST_STATES, MOST_ACTIONS, MOST_STEPS = 5, 3, 4
EPISODES, LATE, SEEDS = 400, 100, 10
GREEDY, CURIOUS = 0.0, 0.01
ENOUGH_STUCK, MOST_STUCK = 8, 1


def _greed_is_enough(answer: object) -> Finding | None:
    """Say what a world lacks to break: without a bonus the learner does as well."""
    if not isinstance(answer, SafeMDP):
        return not_yet(f"Expected a SafeMDP, got {form_of(answer)}.")
    if answer.S > MOST_STATES or answer.A > MOST_ACTIONS or answer.H > MOST_STEPS:
        return not_yet(
            f"It has {answer.S} states, {answer.A} actions and {answer.H} steps; at most "
            f"{MOST_STATES}, {MOST_ACTIONS} and {MOST_STEPS} are allowed."
        )
    world = plain(answer)
    if not is_feasible(world):
        return not_yet("No policy is feasible here.", world)
    greedy, curious = _stuck(world, GREEDY), _stuck(world, CURIOUS)
    if greedy >= ENOUGH_STUCK and curious <= MOST_STUCK:
        return None
    return not_yet(
        f"More than half of the best value is missing at the end in {greedy} of {SEEDS} runs "
        f"without a bonus and in {curious} of {SEEDS} with bonus_scale = {CURIOUS:g}.",
        world,
    )


def _stuck(mdp: SafeMDP, scale: float) -> int:
    """In how many runs the late policies are worth less than half of the best feasible one."""
    from safeteach.learners import SUCBVI
    from safeteach.running.playing import run

    best = safe_optimal(mdp).value
    stuck = 0
    for seed in range(SEEDS):
        history = run(SUCBVI(mdp.known, episodes=EPISODES, bonus_scale=scale), mdp, seed)
        stuck += bool(history.regret[-LATE:].mean() > best / 2)
    return stuck


# 10.6 -----------------------------------------------------------------------------------------


def _stuck_after(p: float, low: float, m: int, N: int) -> float:
    """Pr[the mean of the first n tries is below low for some m <= n <= N]."""
    alive = np.zeros(N + 1)
    alive[0] = 1.0  # by the number of successes
    for n in range(1, N + 1):
        alive[1:] = (1 - p) * alive[1:] + p * alive[:-1]
        alive[0] *= 1 - p
        if n >= m:
            alive[np.arange(N + 1) / n < low] = 0.0
    return float(1 - alive.sum())


def _tries() -> Iterator[dict[str, float]]:
    yield {"p": 0.5, "low": 0.27, "m": 1, "N": 1}
    yield {"p": 0.5, "low": 0.27, "m": 1, "N": 2}
    yield {"p": 0.5, "low": 0.27, "m": 2, "N": 5}
    yield {"p": 0.5, "low": 0.27, "m": 5, "N": 5}
    yield {"p": 0.9, "low": 0.13, "m": 1, "N": 30}
    yield {"p": 0.3, "low": 0.23, "m": 1, "N": 100}
    yield {"p": 0.5, "low": 0.27, "m": 10, "N": 200}
    yield {"p": 0.5, "low": 0.27, "m": 40, "N": 200}


def _try(k: int, rng: np.random.Generator) -> dict[str, float]:
    # An odd thousandth: no average of up to 60 tries is as low to the last bit.
    low = (2 * int(rng.integers(50, 250)) + 1) / 1009
    return {"p": float(rng.uniform(0.2, 0.9)), "low": low, "m": 1 + k // 10, "N": 1 + k}


# 10.7 -----------------------------------------------------------------------------------------

DAYS = 20_000
HORIZON, PLACES, LEADS = 2, 3, 6  # the world: start, water, dry ground; edges of its first step


def _weather_is_no_help(answer: object) -> Finding | None:
    """Say how much violation a rule that knows the noises gets, if the bound allows it."""
    if not callable(answer):
        return not_yet(f"Expected a function, got {form_of(answer)}.")
    noise = np.random.default_rng((10, 7)).standard_normal(DAYS)
    called = call(lambda: [answer(z) for z in noise.tolist()])
    if called.error is not None:
        return not_yet(f"It raises {called.complaint}.")
    chosen = called.value
    if chosen[0] is None:
        return RETURNS_NOTHING
    if not all(isinstance(x, bool | np.bool_) for x in chosen):
        return not_yet(f"It returns the wrong form: expected a bool, got {form_of(chosen[0])}.")
    shown = WATER + noise[np.array(chosen)]
    n = np.arange(1, len(shown) + 1)
    width = beta(n, PLACES, POND["delta"])
    flagged = np.flatnonzero(shown.cumsum() / n - width > THRESHOLD)
    visits = int(n[flagged[0]]) if len(flagged) else len(shown)
    gap = WATER - THRESHOLD
    enough = visits_until_flagged(gap, PLACES, POND["delta"])
    allowed = (1 - THRESHOLD) * HORIZON * LEADS + gap * (enough - 1 + HORIZON)
    if gap * visits > allowed:
        return None
    ending = "then it is flagged" if len(flagged) else "and it is not flagged"
    return not_yet(
        f"It enters the water {visits:,} times, {ending}: a violation of {gap * visits:g}, where "
        f"{allowed:g} are allowed."
    )


prepare = compiling.learners

EXERCISES: dict[str, Exercise] = {
    "by-hand": Value(
        asks=f"the least n for which the bonus of SUCBVI on the pond with bonus_scale = {SCALE:g} "
        f"is below {AIM:g}",
        hint="The bonus falls like one over the square root of n. What is it at n = 1, and which n "
        "brings it down to one?",
        expected=_visits,
        slips=(
            Slip(lambda: _visits(scale=1.0), "That is with the theorem's own bonus."),
            Slip(
                lambda: _visits(power=1),
                "To halve the bonus takes four times the visits: it falls like a square root.",
            ),
            Slip(lambda: _visits(H=10), "The pond has 12 steps, not 10."),
            Slip(lambda: _visits() - 1, "With one visit less it is not below yet."),
        ),
    ),
    "what-is-proved": Function(
        asks="a function proved(kappa, S, A, H, K, delta) that returns the bound that the "
        "proposition on a tenth of the bonus states where kappa is at least 1/(7 √2) and the bound "
        "is below KH, and KH otherwise",
        hint="Three cases: the factor is too small for the proof; the bound is larger than what "
        "is true anyway; and else. Only one term of the bound depends on the factor.",
        oracle=_proved,
        instances=_sizes,
        draw=_size,
    ),
    "fair-ties": Function(
        asks="a function pick(q, safe, u) that returns the action to take, a whole number",
        hint="How many actions share the largest value among those that may be taken, and which "
        "of them does u fall on? And what may be taken where nothing is safe?",
        oracle=_pick,
        instances=_choices,
        draw=_choice,
    ),
    "find-the-bug": Counterexample(
        asks="a function flags(N, mean, tau, delta, bonus_scale) that returns which states to "
        "flag as an (S,) array of bool",
        hint="Two widths stand in a learner. Which of them protects a promise about reward, and "
        "which one a promise about safety?",
        missing=_flags_badly,
    ),
    "greed-is-enough": Counterexample(
        asks=f"a SafeMDP with at most {MOST_STATES} states, {MOST_ACTIONS} actions and "
        f"{MOST_STEPS} steps in which SUCBVI without a bonus misses more than half of the best "
        f"value at the end of at least {ENOUGH_STUCK} of {SEEDS} runs, and with bonus_scale = "
        f"{CURIOUS:g} of at most {MOST_STUCK}",
        hint="Without a bonus one unlucky try can be the last one. Make bad luck likely, and what "
        "luck would bring worth it all the same.",
        missing=_greed_is_enough,
    ),
    "greed-with-patience": Function(
        asks="a function stuck_after(p, low, m, N) that returns the probability that the average "
        "of the first n tries is below low for some n from m to N",
        hint="Carry the probabilities of 0, 1, 2, ... successes forward from one try to the next, "
        "and take out what falls below.",
        oracle=_stuck_after,
        instances=_tries,
        draw=_try,
    ),
    "whoever-knows-the-weather": Counterexample(
        asks="a function enters(z) that returns whether to choose the water on a day on which its "
        f"noise will be z, so that the violation of {DAYS:,} days exceeds what is allowed",
        hint="A flag is about the average of the costs that were seen. Which days make that "
        "average small, and are there enough of them?",
        missing=_weather_is_no_help,
    ),
}
