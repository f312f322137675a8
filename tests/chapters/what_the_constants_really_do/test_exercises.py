"""Right answers written in different ways pass, plausible wrong ones do not."""

import math
from itertools import product

import numpy as np
import pytest
from classroom.answers import TriedAnswers, collect, said_of

import safeteach as st
from safeteach.chapters import what_the_constants_really_do as chapter

RIGHT, WRONG, right, wrong = collect()


# by-hand --------------------------------------------------------------------------------------

ALPHA = 7 * 12 * math.sqrt(math.log(5 * 25 * 4 * 12 * 20_000 / 0.005))
RIGHT["by-hand"] = [17, 17.0, math.ceil((0.01 * ALPHA) ** 2)]
SLIPS = {
    168_648: "theorem's own bonus",
    5: "four times the visits",
    12: "The pond has 12 steps",
    16: "one visit less",
}
WRONG["by-hand"] = [*SLIPS, 1, 1_172, (17,), "17"]


@pytest.mark.parametrize(("value", "said"), SLIPS.items())
def test_a_common_slip_is_explained(value, said):
    assert said in said_of(chapter, "by-hand", value)
    assert "17" not in chapter.check("by-hand", value).text


# what-is-proved -------------------------------------------------------------------------------


def bound(kappa, S, A, H, K, delta):
    T = H * K
    root = math.sqrt(H**3 * S * A * T)
    bonus = 14 * kappa * root * math.sqrt(math.log(5 * S * A * T / delta))
    model = root * math.sqrt(2 * (S * math.log(2) + math.log(S * A * T / delta)))
    return S * A * H**2 + H * math.sqrt(2 * T * math.log(1 / delta)) + bonus + model


@right("what-is-proved")
def by_the_formula(kappa, S, A, H, K, delta):
    return min(K * H, bound(kappa, S, A, H, K, delta)) if 98 * kappa**2 >= 1 else K * H


@right("what-is-proved")
def by_the_library(kappa, S, A, H, K, delta):
    if kappa < 0.5**0.5 / 7:
        return float(K * H)
    whole = st.bounds.regret_bound(S, A, H, K, delta)
    none = whole - 2 * H**2 * math.sqrt(S * A * K * 49 * math.log(5 * S * A * H * K / delta))
    return np.minimum(kappa * whole + (1 - kappa) * none, K * H)


@wrong("what-is-proved")
def for_every_factor(kappa, S, A, H, K, delta):
    return min(K * H, bound(kappa, S, A, H, K, delta))


@wrong("what-is-proved")
def without_the_trivial_bound(kappa, S, A, H, K, delta):
    return bound(kappa, S, A, H, K, delta) if 98 * kappa**2 >= 1 else K * H


@wrong("what-is-proved")
def that_scales_all_of_it(kappa, S, A, H, K, delta):
    if 98 * kappa**2 < 1:
        return K * H
    return min(K * H, kappa * st.bounds.regret_bound(S, A, H, K, delta))


@wrong("what-is-proved")
def with_a_round_tenth(kappa, S, A, H, K, delta):
    return min(K * H, bound(kappa, S, A, H, K, delta)) if kappa >= 0.1 else K * H


@wrong("what-is-proved")
def with_the_library_as_it_is(kappa, S, A, H, K, delta):  # noqa: ARG001
    return min(K * H, st.bounds.regret_bound(S, A, H, K, delta))


# fair-ties ------------------------------------------------------------------------------------


@right("fair-ties")
def by_indices(q, safe, u):
    may = safe if safe.any() else ~safe
    best = np.flatnonzero(np.where(may, q, -np.inf) == q[may].max())
    return best[math.floor(u * len(best))]


@right("fair-ties")
def by_a_loop(q, safe, u):
    may = [a for a in range(len(q)) if safe[a]] or list(range(len(q)))
    top = max(q[a] for a in may)
    best = [a for a in may if q[a] == top]
    return next(a for i, a in enumerate(best) if u * len(best) < i + 1)


@wrong("fair-ties")
def the_first(q, safe, u):  # noqa: ARG001
    return int(np.where(safe, q, -1).argmax())


@wrong("fair-ties")
def with_ties_before_the_mask(q, safe, u):
    best = np.flatnonzero(q == q.max())
    best = best[safe[best]] if safe[best].any() else best
    return int(best[int(u * len(best))])


@wrong("fair-ties")
def any_safe_one(q, safe, u):  # noqa: ARG001
    may = np.flatnonzero(safe) if safe.any() else np.arange(len(safe))
    return int(may[int(u * len(may))])


@wrong("fair-ties")
def that_fails_where_nothing_is_safe(q, safe, u):
    best = np.flatnonzero(safe & (q == q[safe].max()))
    return int(best[int(u * len(best))])


@wrong("fair-ties")
def that_rounds(q, safe, u):
    may = safe if safe.any() else ~safe
    best = np.flatnonzero(may & (q == q[may].max()))
    return int(best[round(u * (len(best) - 1))])


# find-the-bug ---------------------------------------------------------------------------------


def width(N, S, delta):
    n = np.maximum(N, 1)
    return np.sqrt(2 * np.log(S * n * (n + 1) / delta) / n)


@right("find-the-bug")
def by_the_bounds(N, mean, tau, delta, bonus_scale):  # noqa: ARG001
    return mean - st.bounds.beta(N, len(N), delta) > tau


@right("find-the-bug")
def state_by_state(N, mean, tau, delta, bonus_scale):  # noqa: ARG001
    S = len(N)
    return np.array(
        [
            n > 0 and c - math.sqrt(2 / n * math.log(S * n * (n + 1) / delta)) > tau
            for n, c in zip(N.tolist(), mean.tolist(), strict=True)
        ]
    )


@right("find-the-bug")
def with_another_width_that_holds_for_all_n(N, mean, tau, delta, bonus_scale):  # noqa: ARG001
    n = np.maximum(N, 1)
    weight = np.pi**2 * n**2 / 6  # the inverse squares add up to one
    return (N > 0) & (mean - np.sqrt(2 * np.log(len(N) * weight / delta) / n) > tau)


@wrong("find-the-bug")
def as_given(N, mean, tau, delta, bonus_scale):
    return (N > 0) & (mean - bonus_scale * width(N, len(N), delta) > tau)


@wrong("find-the-bug")
def with_its_root(N, mean, tau, delta, bonus_scale):
    return (N > 0) & (mean - math.sqrt(bonus_scale) * width(N, len(N), delta) > tau)


@wrong("find-the-bug")
def that_divides(N, mean, tau, delta, bonus_scale):
    return (N > 0) & (mean - width(N, len(N), delta) / bonus_scale > tau)


@wrong("find-the-bug")
def half_of_it(N, mean, tau, delta, bonus_scale):  # noqa: ARG001
    return (N > 0) & (mean - width(N, len(N), delta) / 2 > tau)


@wrong("find-the-bug")
def for_one_look_only(N, mean, tau, delta, bonus_scale):  # noqa: ARG001
    n = np.maximum(N, 1)
    return (N > 0) & (mean - np.sqrt(2 * np.log(1 / delta) / n) > tau)


@wrong("find-the-bug")
def lowest_threshold_only(N, mean, tau, delta, bonus_scale):  # noqa: ARG001
    return (N > 0) & (mean - width(N, len(N), delta) > min(tau, 0.5))


@wrong("find-the-bug")
def for_25_states_only(N, mean, tau, delta, bonus_scale):  # noqa: ARG001
    assert len(N) == 25
    return (N > 0) & (mean - width(N, 25, delta) > tau)


@wrong("find-the-bug")
def half_way(N, mean, tau, delta, bonus_scale):  # noqa: ARG001
    return (N >= 400) & (mean > 0.75)


@wrong("find-the-bug")
def half_way_to_one(N, mean, tau, delta, bonus_scale):  # noqa: ARG001
    return (N >= 400) & (mean > (1 + tau) / 2)


@wrong("find-the-bug")
def late_by_a_margin(N, mean, tau, delta, bonus_scale):  # noqa: ARG001
    return mean - st.bounds.beta(N, len(N), delta) > tau + 0.1


@wrong("find-the-bug")
def at_a_level_of_its_own(N, mean, tau, delta, bonus_scale):  # noqa: ARG001
    return mean - st.bounds.beta(N, len(N), 0.05) > tau


@wrong("find-the-bug")
def at_a_threshold_of_its_own(N, mean, tau, delta, bonus_scale):  # noqa: ARG001
    return mean - st.bounds.beta(N, len(N), delta) > 0.5


@wrong("find-the-bug")
def nothing(N, mean, tau, delta, bonus_scale):  # noqa: ARG001
    return np.zeros(len(N), bool)


@wrong("find-the-bug")
def pessimistic(N, mean, tau, delta, bonus_scale):  # noqa: ARG001
    return mean + width(N, len(N), delta) > tau


@wrong("find-the-bug")
def numbers(N, mean, tau, delta, bonus_scale):
    return by_the_bounds(N, mean, tau, delta, bonus_scale).astype(int)


@wrong("find-the-bug")
def that_raises(N, mean, tau, delta, bonus_scale):  # noqa: ARG001
    return mean - N[10_000] > tau


WRONG["find-the-bug"] += [0.01]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (as_given, "With bonus_scale = 0.01 it flags a safe state in 60 of 60 runs."),
        (nothing, "it misses water"),
        (half_way_to_one, "It misses a state whose average cost is 0.55"),
        (late_by_a_margin, "2 beta is below the gap of 0.05"),
        (at_a_threshold_of_its_own, "with tau = 0.2 and delta = 0.3"),
        (at_a_level_of_its_own, "With delta = 1e-09 it flags a state after one visit"),
        (pessimistic, "It flags a state that was never visited."),
        (numbers, "expected a (S,) = (25,) array of bool, got an array of int64"),
        (that_raises, "It raises IndexError"),
        (0.01, "Expected a function, got 0.01."),
    ],
)
def test_what_a_rule_gets_wrong(answer, said):
    assert said in said_of(chapter, "find-the-bug", answer)


# greed-is-enough ------------------------------------------------------------------------------


def doors(p=0.05, low=0.002, H=2, c=(0, 0, 0, 0)):
    P = np.zeros((4, 2, 4))
    P[0, 0, 1] = P[1, :, 1] = P[2, :, 2] = P[3, :, 3] = 1
    P[0, 1, 2], P[0, 1, 3] = p, 1 - p
    return st.SafeMDP(P, [[0, 0], [low, low], [1, 1], [0, 0]], c=c, tau=0.5, H=H)


def a_long_way():
    """Without a room: the left action pays a little at once, the right one may lead to gold."""
    P = np.zeros((3, 2, 3))
    P[0, 0, 0] = P[1, :, 1] = P[2, :, 2] = 1
    P[0, 1, [1, 2]] = 0.08, 0.92
    r = np.zeros((3, 3, 2))
    r[0, 0, 0], r[2, 1] = 0.005, 1
    return st.SafeMDP(np.stack([P, np.eye(3)[:, None].repeat(2, 1), P]), r, [0, 0, 0], 0.5, 3)


RIGHT["greed-is-enough"] = [doors(), doors(p=0.06, low=0.004), a_long_way()]
WRONG["greed-is-enough"] = [
    doors(p=0.5, low=0.27),
    doors(p=0.05, low=0.04),
    doors(p=1e-6, low=0),
    doors(c=(1, 0, 0, 0)),
    st.instances.grid(),
    doors().P,
    lambda: doors(),
]


@pytest.mark.parametrize(
    ("world", "said"),
    [
        (doors(p=0.5, low=0.27), "in 0 of 10 runs without a bonus and in 0 of 10"),
        (doors(c=(1, 0, 0, 0)), "No policy is feasible here"),
        (st.instances.grid(), "It has 25 states, 4 actions and 12 steps"),
        (doors().P, "Expected a SafeMDP, got an array of float64"),
    ],
)
def test_what_a_world_lacks(world, said):
    assert said in said_of(chapter, "greed-is-enough", world)


# greed-with-patience --------------------------------------------------------------------------


@right("greed-with-patience")
def with_a_dictionary(p, low, m, N):
    alive, gone = {0: 1.0}, 0.0
    for n in range(1, N + 1):
        after = {}
        for k, chance in alive.items():
            after[k] = after.get(k, 0) + (1 - p) * chance
            after[k + 1] = after.get(k + 1, 0) + p * chance
        if n >= m:
            gone += sum(chance for k, chance in after.items() if k / n < low)
            after = {k: chance for k, chance in after.items() if k / n >= low}
        alive = after
    return gone


@right("greed-with-patience")
def backwards(p, low, m, N):
    """The chance to survive from each (n, k) on."""
    k = np.arange(N + 2)
    survive = np.ones(N + 2)
    for n in reversed(range(N + 1)):
        if n >= max(m, 1):
            survive = np.where(k / n < low, 0.0, survive)
        if n:
            survive = np.append((1 - p) * survive[:-1] + p * survive[1:], 1.0)
    return 1 - survive[0]


@wrong("greed-with-patience")
def at_the_end_only(p, low, m, N):  # noqa: ARG001
    return sum(math.comb(N, k) * p**k * (1 - p) ** (N - k) for k in range(N + 1) if k / N < low)


@wrong("greed-with-patience")
def without_patience(p, low, m, N):  # noqa: ARG001
    return with_a_dictionary(p, low, 1, N)


@wrong("greed-with-patience")
def one_try_too_late(p, low, m, N):
    return with_a_dictionary(p, low, m + 1, N)


@wrong("greed-with-patience")
def by_adding_up(p, low, m, N):
    return min(1.0, sum(at_the_end_only(p, low, m, n) for n in range(m, N + 1)))


@wrong("greed-with-patience")
def by_dice(p, low, m, N):
    wins = np.random.default_rng(0).random((2_000, N)) < p
    share = wins.cumsum(axis=1) / np.arange(1, N + 1)
    return (share[:, m - 1 :] < low).any(axis=1).mean()


def test_the_right_ways_are_right_by_enumeration():
    p, low, m, N = 0.4, 0.3, 2, 9
    total = 0.0
    for path in product((0, 1), repeat=N):
        share = np.cumsum(path) / np.arange(1, N + 1)
        if (share[m - 1 :] < low).any():
            total += math.prod(p if x else 1 - p for x in path)
    for answer in RIGHT["greed-with-patience"]:
        assert answer(p, low, m, N) == pytest.approx(total)


# whoever-knows-the-weather --------------------------------------------------------------------


@right("whoever-knows-the-weather")
def on_very_dry_days(z):
    return z < -1


@right("whoever-knows-the-weather")
def on_half_of_the_days(z):
    return not z >= 0


@right("whoever-knows-the-weather")
def where_it_looks_safe(z):
    return np.bool_(1 + z <= 0.5)


@wrong("whoever-knows-the-weather")
def always(z):  # noqa: ARG001
    return True


@wrong("whoever-knows-the-weather")
def never(z):  # noqa: ARG001
    return False


@wrong("whoever-knows-the-weather")
def on_wet_days(z):
    return z > 0


@wrong("whoever-knows-the-weather")
def too_rarely(z):
    return z < -2.5


@wrong("whoever-knows-the-weather")
def with_a_number(z):
    return -z


@wrong("whoever-knows-the-weather")
def that_forgets(z):
    return z < threshold  # noqa: F821


WRONG["whoever-knows-the-weather"] += [-1.0]


def weather_stub(z): ...


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (always, "then it is flagged"),
        (too_rarely, "and it is not flagged"),
        (never, "0 times"),
        (with_a_number, "expected a bool, got"),
        (that_forgets, "It raises NameError"),
        (-1.0, "Expected a function, got -1."),
        (weather_stub, "no answer yet"),
    ],
)
def test_what_a_rule_that_knows_the_weather_lacks(answer, said):
    assert said in said_of(chapter, "whoever-knows-the-weather", answer)


class TestAnswers(TriedAnswers):
    slug = "what_the_constants_really_do"
    right = RIGHT
    wrong = WRONG
