"""Solutions in several hands pass, plausible mistakes do not."""

import math

import numpy as np
import pytest
from classroom.answers import TriedAnswers

import safeteach as st
from safeteach.chapters import optimism_and_confidence as chapter

RIGHT, WRONG = {}, {}
beta = st.bounds.beta


def right(number):
    return lambda answer: RIGHT.setdefault(number, []).append(answer) or answer


def wrong(number):
    return lambda answer: WRONG.setdefault(number, []).append(answer) or answer


# who-is-flagged -------------------------------------------------------------------------------

RIGHT["who-is-flagged"] = [{3, 5}, [5, 3], (3, 5), np.array([3, 5]), frozenset({np.int64(3), 5})]
SLIPS = {
    frozenset({1, 2, 3, 4, 5}): "whose average is above the threshold",
    frozenset({0, 1, 2, 4, 6}): "answered with the others",
    frozenset({0, 1, 2, 3, 4, 5}): "You add the width",
    frozenset({0, 3, 5}): "never visited",
}
WRONG["who-is-flagged"] = [*SLIPS, {3}, {5}, {2, 3, 5}, set(), {3, 4, 5}, "3, 5", 3, {3.5}]


@pytest.mark.parametrize(("states", "said"), SLIPS.items())
def test_a_common_slip_is_explained(states, said):
    assert said in chapter.check("who-is-flagged", states).text.replace("\n", " ")


def test_the_set_is_not_given_away():
    for answer in [*SLIPS, {3}, set(), "one"]:
        text = chapter.check("who-is-flagged", answer).text
        assert not any(shown in text for shown in ("{3, 5}", "3, 5", "3 and 5"))


def test_the_widths_in_the_solution_and_the_quiz():
    widths = beta([10, 100, 400, 10_000], S=25, delta=0.005)
    assert np.allclose(widths, [1.63, 0.60, 0.32, 0.073], rtol=0.01)
    log, surer = (math.log(25 * 149 * 150 / delta) for delta in (0.005, 0.005 / 1000))
    assert (round(log, 1), round(surer, 1), round(math.sqrt(surer / log), 2)) == (18.5, 25.4, 1.17)


# width ----------------------------------------------------------------------------------------


@right("width")
def in_a_loop(n, S, delta):
    widths = []
    for m in n.tolist():
        widths.append(math.sqrt(2 * math.log(S * m * (m + 1) / delta) / m) if m else math.inf)
    return np.array(widths)


@right("width")
def by_where(n, S, delta):
    m = np.maximum(n, 1).astype(float)
    logs = math.log(S / delta) + np.log(m) + np.log1p(m)
    return np.where(n == 0, np.inf, np.sqrt(2 * logs / m))


WRONG["width"] = [
    lambda n, S, delta: np.sqrt(2 * np.log(S / delta) / np.maximum(n, 1)),  # one n
    lambda n, S, delta: beta(np.maximum(n, 1), S, delta),  # n = 0 as one visit
    lambda n, S, delta: np.where(n == 0, 0, by_where(n, S, delta)),
    lambda n, S, delta: by_where(n, 2 * S, delta),  # two sides
    lambda n, S, delta: by_where(n, S, delta) / 2,  # Hoeffding for [0, 1]
    lambda n, S, delta: by_where(n, S, delta) ** 2,
    lambda n, S, delta: st.bounds.beta_printed(n, S, 20_000, delta),
    lambda n, S, delta: by_where(n, S, delta).tolist(),
]


# find-the-bug ---------------------------------------------------------------------------------


@right("find-the-bug")
def by_bincount(states, costs, S, delta):
    N = np.bincount(states, minlength=S)
    total = np.bincount(states, weights=costs, minlength=S)
    return total / np.maximum(N, 1) - beta(N, S, delta)


@right("find-the-bug")
def visit_by_visit(states, costs, S, delta):
    N, mean = np.zeros(S, int), np.zeros(S)
    for s, z in zip(states, costs, strict=True):
        N[s] += 1
        mean[s] += (z - mean[s]) / N[s]
    return mean - beta(N, S, delta)


@right("find-the-bug")
def state_by_state(states, costs, S, delta):
    low = np.full(S, -np.inf)
    for s in set(states.tolist()):
        seen = costs[states == s]
        low[s] = seen.mean() - float(beta(len(seen), S, delta))
    return low


@wrong("find-the-bug")
def as_printed(states, costs, S, delta):
    N, total = np.zeros(S, int), np.zeros(S)
    N[states] += 1
    total[states] += costs
    return total / np.maximum(N, 1) - beta(N, S, delta)


@wrong("find-the-bug")
def half_repaired(states, costs, S, delta):
    N, total = np.bincount(states, minlength=S), np.zeros(S)
    total[states] += costs
    return total / np.maximum(N, 1) - beta(N, S, delta)


@wrong("find-the-bug")
def adds_the_width(states, costs, S, delta):
    N = np.bincount(states, minlength=S)
    return np.bincount(states, costs, minlength=S) / np.maximum(N, 1) + beta(N, S, delta)


@wrong("find-the-bug")
def without_min_length(states, costs, S, delta):
    N = np.bincount(states)
    return np.bincount(states, costs) / np.maximum(N, 1) - beta(N, S, delta)


@wrong("find-the-bug")
def width_of_all_visits(states, costs, S, delta):
    N = np.bincount(states, minlength=S)
    mean = np.bincount(states, costs, minlength=S) / np.maximum(N, 1)
    return mean - beta(len(states), S, delta)


# player-that-reads-stacks ---------------------------------------------------------------------


def player(index, place=lambda n, _t: n):
    """Make a player from an index of (n, total, A, delta) and where it reads in a stack."""

    def play(stacks, delta):
        A, rounds = stacks.shape
        N, total = np.zeros(A, int), np.zeros(A)
        for t in range(rounds):
            a = int(np.argmax(index(N, total, A, delta)))
            total[a] += stacks[a, place(N[a], t)]
            N[a] += 1
        return N

    return play


def mean(N, total):
    return total / np.maximum(N, 1)


RIGHT["player-that-reads-stacks"] = [
    player(lambda N, total, A, delta: mean(N, total) + beta(N, A, delta))
]


@right("player-that-reads-stacks")
def with_lists(stacks, delta):
    A = len(stacks)
    seen = [[] for _ in range(A)]
    for _ in range(stacks.shape[1]):
        hope = [
            sum(z) / len(z) + float(beta(len(z), A, delta)) if z else math.inf for z in seen
        ]  # fmt: skip
        a = hope.index(max(hope))
        seen[a].append(float(stacks[a, len(seen[a])]))
    return np.array([len(z) for z in seen])


WRONG["player-that-reads-stacks"] = [
    player(lambda N, total, *_: np.where(N == 0, np.inf, mean(N, total))),  # greedy
    player(lambda N, total, A, delta: mean(N, total) - beta(N, A, delta)),  # pessimist
    player(lambda N, total, A, delta: total + beta(N, A, delta)),  # sums
    player(lambda N, total, A, delta: mean(N, total) + beta(N, A, delta), lambda _n, t: t),
    player(lambda N, total, _, delta: mean(N, total) + beta(N, 1, delta)),  # no union over arms
    player(lambda N, total, A, delta: mean(N, total) + beta(N, A, delta)[::-1]),
    lambda stacks, _delta: np.full(len(stacks), stacks.shape[1] // len(stacks)),
]


# chosen-after-the-data ------------------------------------------------------------------------


@right("chosen-after-the-data")
def on_the_unlucky(P_hat, P):
    return [0.0 if p_hat >= p else 1.0 for p_hat, p in zip(P_hat, P, strict=True)]


RIGHT["chosen-after-the-data"] += [
    lambda P_hat, P: P_hat > P,
    lambda P_hat, P: np.clip(0.5 + 1000 * (P_hat - P), 0, 1),
]
WRONG["chosen-after-the-data"] = [
    lambda P_hat, _: np.ones(P_hat.size),
    lambda P_hat, _: (np.arange(P_hat.size) % 2).astype(float),  # fixed in advance
    lambda P_hat, P: 2.0 * (P_hat > P),  # out of [0, 1]
    lambda P_hat, P: P_hat - P,
    lambda P_hat, P: float(abs(P_hat - P).sum()),
    lambda P_hat, P: (P_hat > P)[:10],
    lambda P_hat, P: np.where(P_hat > P, np.nan, 0),
    lambda P_hat: P_hat,
    lambda P_hat, P: {"lucky": P_hat > P},
    lambda *_: 1 / 0,
    np.ones(40),
    0.5,
]


# cheaper-union --------------------------------------------------------------------------------


def from_shares(shares):
    return lambda n, S, delta: np.sqrt(2 * np.log(S / (delta * shares(n))) / n)


RIGHT["cheaper-union"] = [
    from_shares(lambda n: 1 / (3 * n**1.5)),
    from_shares(lambda n: 1 / (2.2 * (n + 1) * np.log(n + 1) ** 2)),
    from_shares(lambda n: 0.2 / n**1.25),
    lambda n, S, delta: np.where(n < 100, 1e9, from_shares(lambda n: 1 / n**1.5)(n, S, delta)),
    # Over all n the shares 1/(15n) have no finite sum: as far as is asked they have.
    lambda n, S, d: np.where(n < 100, np.inf, np.sqrt(2 * np.log(15 * S * n / d) / n)),
]


@right("cheaper-union")
def raises_behind_the_last(n, S, delta):
    """Nothing is asked there."""
    if n.max() > 10**6:
        raise OverflowError("too far")
    return from_shares(lambda n: 1 / (3 * n**1.5))(n, S, delta)


WRONG["cheaper-union"] = [
    lambda n, S, delta: beta(n, S, delta),  # not below itself
    lambda n, S, delta: 0.9 * beta(n, S, delta),
    lambda n, S, delta: np.sqrt(2 * np.log(S / delta) / n),  # for one n
    lambda n, S, delta: np.sqrt(2 * np.log(S * 10**6 / delta) / n),  # equal shares
    lambda n, S, delta: st.bounds.beta_printed(n, S, 20_000, delta),
    from_shares(lambda n: 1 / n**1.5),  # the shares add up to more than 1
    from_shares(lambda n: 1 / (n + 1)),
    lambda n, S, delta: -beta(n, S, delta),
    lambda *_: 0.1,
    lambda n, *_: np.full(n.shape, np.nan),
    lambda *_: "narrow",
    lambda n: n,
    3,
]


# ----------------------------------------------------------------------------------------------


class TestAnswers(TriedAnswers):
    slug, right, wrong = "optimism_and_confidence", RIGHT, WRONG
