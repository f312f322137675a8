"""Right answers written in different ways pass, plausible wrong ones do not."""

import itertools

import numpy as np
import pytest
from classroom.answers import TriedAnswers, collect, said_of

import safeteach as st
from safeteach.chapters import learning_to_play_safely as chapter
from safeteach.running.adversaries import ADVERSARIES

RIGHT, WRONG, right, wrong = collect()


# by-hand --------------------------------------------------------------------------------------

RIGHT["by-hand"] = [(2.5, 0.25, 0.5), [5 / 2, 1 / 4, 1 / 2], np.array([2.5, 0.25, 0.5])]
PLANS = {
    (2.0, 0.0, 0.0): "those who may not mix",
    (25 / 7, 1 / 7, 6 / 7): "The second action is banned",
    (2.5, 0.5, 0.25): "the wrong way round",
    (2.5, 0.75, 0.5): "of the other row",
    (3.0, 0.0, 0.0): "has to show its reply first",
    (2.5, 0.25, 0.4): "Of the 3 numbers the third is another one.",
    (2.0, 0.0, 1.0): "They also come out if an untried pair is worth nothing",
}
WRONG["by-hand"] = [*PLANS, (2.5, 0.25), 2.5, "2.5"]


@pytest.mark.parametrize(("value", "words"), PLANS.items())
def test_a_common_slip_in_the_plan_is_explained(value, words):
    assert words in said_of(chapter, "by-hand", value)


def test_the_values_are_those_of_the_matrices():
    plan = st.game_value([[4, 1], [2, 3]])
    assert (plan.value, plan.row[0], plan.column[0]) == pytest.approx(RIGHT["by-hand"][0])
    free = st.game_value([[4, 1], [3.5, 4], [2, 3]])
    assert (free.value, free.row[0], free.column[0]) == pytest.approx((25 / 7, 1 / 7, 6 / 7))
    nothing = st.game_value([[0, 1], [2, 3]])
    assert (nothing.value, nothing.row[0], nothing.column[0]) == pytest.approx((2, 0, 1))


# gift -----------------------------------------------------------------------------------------


@right("gift")
def with_matrices(Q, mu, nu):
    by_reply = (mu[:, None, :] @ Q)[:, 0]
    return np.array([row @ n - row.min() for row, n in zip(by_reply, nu, strict=True)])


@right("gift")
def with_loops(Q, mu, nu):
    S, A, B = Q.shape
    gifts = []
    for s in range(S):
        mean = sum(
            mu[s, a] * nu[s, b] * Q[s, a, b] for a, b in itertools.product(range(A), range(B))
        )
        gifts.append(mean - min(sum(mu[s, a] * Q[s, a, b] for a in range(A)) for b in range(B)))
    return np.array(gifts)


@wrong("gift")
def against_the_least_entry(Q, mu, nu):
    return np.einsum("sa,sab,sb->s", mu, Q, nu) - Q.min(axis=(1, 2))


@wrong("gift")
def the_agents_gift(Q, mu, nu):
    mean = np.einsum("sa,sab,sb->s", mu, Q, nu)
    return np.einsum("sab,sb->sa", Q, nu).max(axis=1) - mean


@wrong("gift")
def a_minimum_for_each_action(Q, mu, nu):
    return np.einsum("sa,sab,sb->s", mu, Q, nu) - (mu * Q.min(axis=2)).sum(axis=1)


@wrong("gift")
def the_other_sign(Q, mu, nu):
    return -with_matrices(Q, mu, nu)


@wrong("gift")
def all_states_together(Q, mu, nu):
    return with_matrices(Q, mu, nu).sum()


# find-the-bug ---------------------------------------------------------------------------------


@right("find-the-bug")
def by_the_definition(seen, U_next, flagged):
    S, A, B, _ = seen.shape
    doomed = flagged.copy()
    for s in range(S):
        doomed[s] |= all(any((seen[s, a, b] & U_next).any() for b in range(B)) for a in range(A))
    return doomed


@right("find-the-bug")
def replies_thrown_together(seen, U_next, flagged):
    after = seen.any(axis=2)
    return flagged | (after & U_next).any(axis=2).all(axis=1)


@wrong("find-the-bug")
def as_given(seen, U_next, flagged):
    meets = (seen & U_next).any(axis=3)
    return flagged | meets.all(axis=(1, 2))


@wrong("find-the-bug")
def some_action(seen, U_next, flagged):
    return flagged | (seen & U_next).any(axis=(1, 2, 3))


@wrong("find-the-bug")
def quantifiers_exchanged(seen, U_next, flagged):
    meets = (seen & U_next).any(axis=3)
    return flagged | meets.all(axis=1).any(axis=1)


@wrong("find-the-bug")
def as_printed_with_the_union(seen, U_next, flagged):
    return flagged | U_next | replies_thrown_together(seen, U_next, flagged)


@wrong("find-the-bug")
def without_the_flags(seen, U_next, flagged):
    return replies_thrown_together(seen, U_next, np.zeros_like(flagged))


# sentence-with-the-sign -----------------------------------------------------------------------


def crossing(p):
    return sum(p * (1 - p) ** (h - 1) * (5 - h) for h in range(1, 5))


BEST = 3.0625
RIGHT["sentence-with-the-sign"] = [
    (BEST - crossing(0.25), 0.0),
    [crossing(0.5) - crossing(0.25), 0],
    np.array([BEST - crossing(0.25), 0.0]),
]
REGRETS = {
    (crossing(0.25), BEST): "These are the values",
    (0.0, BEST - crossing(0.25)): "The best response comes first",
    (crossing(0.25) - BEST, 0.0): "V* minus what is earned",
    (BEST - crossing(0.75), 0.0): "the bridge that the agent likes better",
}
WRONG["sentence-with-the-sign"] = [*REGRETS, (BEST, 0.0), (1.0, 0.0), 1.1, "0"]


def test_the_regrets_are_those_of_the_game():
    game = st.instances.penny_bridge()
    best, mu = st.safe_optimal(game).value, np.zeros((game.H, game.S, game.A))
    mu[:, :, :2] = 0.75, 0.25
    against = (
        st.best_response(game, mu=mu).value,
        st.evaluate(game, mu, np.full((5, 3, 2), 0.5)).value,
    )
    assert best - np.array(against) == pytest.approx(RIGHT["sentence-with-the-sign"][0])


@pytest.mark.parametrize(("value", "words"), REGRETS.items())
def test_a_common_slip_about_regret_is_explained(value, words):
    assert words in said_of(chapter, "sentence-with-the-sign", value)


def test_the_values_are_not_given_away():
    for number, answer in (("by-hand", (9, 9, 9)), ("sentence-with-the-sign", (9, 9))):
        text = chapter.check(number, answer).text
        assert "2.5" not in text
        assert f"{BEST - crossing(0.25):.3g}" not in text


# chain-with-a-best-response -------------------------------------------------------------------


def shore(H=3, wade=1, first=1, feasible=True, cost=1.0, luck=1.0):
    """To the meadow or to the shore, and from the shore into the water; one idle reply."""
    P = np.zeros((4, 2, 1, 4))
    P[0, 0, 0, 1 if feasible else 3] = 1
    P[0, 1, 0, [2, 1]] = luck, 1 - luck
    P[1, :, 0, 1] = P[3, :, 0, 3] = P[2, 0, 0, 2] = P[2, 1, 0, 3] = 1
    if not feasible:
        P[0, 1, 0], P[2, 0, 0] = np.eye(4)[3], np.eye(4)[3]
    r = np.zeros((4, 2, 1))
    r[1] = r[3] = 1
    mu = np.full((H, 4), wade)
    mu[0] = first
    return st.SafeGame(P, r, c=[0, 0, 0, cost], tau=0.5, H=H), mu


def with_a_rival():
    """Two replies: on the shore one of them pulls back whoever waits, none who wades."""
    game, mu = shore(H=4)
    P = np.repeat(game.P[0], 2, axis=2)
    r = np.repeat(game.r[0], 2, axis=2)
    return st.SafeGame(P, r, game.c, 0.5, 4), game.check_mu(mu)


def bridges():
    """The example of the chapter, which the exercise asks not to use; it is right all the same."""
    mu = np.zeros((5, 3), int)
    mu[1] = 2
    return st.instances.penny_bridge(), mu


RIGHT["chain-with-a-best-response"] = [shore(), list(shore(H=5)), with_a_rival(), bridges()]
WRONG["chain-with-a-best-response"] = [
    shore(first=0),
    shore(wade=0),
    shore(cost=0.2),
    shore(luck=0.3),
    shore(feasible=False),
    shore(H=1),
    shore(H=6),
    (shore()[0], np.zeros((2, 4), int)),
    (shore()[0].P, shore()[1]),
    shore()[0],
    (st.instances.union_counterexample(), np.zeros((4, 5), int)),
    (st.instances.penny_bridge(), np.full((5, 3), 2)),
    (shore()[0], "wade"),
]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (shore(first=0), "at most 0 more than V*_2"),
        (shore(wade=0), "at most 0 more than V*_2"),
        (shore(luck=0.3), "met with probability 0.3 only"),
        (shore(feasible=False), "No strategy is safe"),
        (shore(H=1), "no successor that counts"),
        (shore(H=6), "1 replies and 6 steps"),
        ((shore()[0], np.zeros((2, 4), int)), "The strategy cannot be played: mu has shape"),
        (shore()[0], "Expected a pair (game, mu), got"),
        ((3, 4), "Expected a SafeGame first, got 3"),
        ((st.instances.penny_bridge(), np.full((5, 3), 2)), "earns 4 against a best response"),
    ],
)
def test_what_breaks_no_chain(answer, words):
    assert words in said_of(chapter, "chain-with-a-best-response", answer)


# write-a-rival --------------------------------------------------------------------------------


def still(game):
    return np.eye(game.B)[np.zeros((game.H, game.S), int)]


def sleeper(wakes):
    def make():
        episodes = itertools.count(1)
        return lambda game, mu, nu: (
            still(game) if next(episodes) <= wakes else ADVERSARIES["hazard seeker"](game, mu, nu)
        )

    return make


def drunkard():
    """Sleep, then push at random whoever is near."""
    rng, episodes = np.random.default_rng(0), itertools.count(1)

    def rival(game, mu, _nu):
        if next(episodes) <= 440:
            return np.zeros((game.H, game.S), int)
        pushing = ADVERSARIES["hazard seeker"](game, mu, None)
        return 0.9 * pushing + 0.1 * rng.dirichlet(np.ones(game.B), size=(game.H, game.S))

    return rival


def puppeteer():
    """Write into the strategy that the agent is about to play: down, into the water."""

    def rival(game, mu, nu):
        mu[:] = np.eye(game.A)[2]
        return nu

    return rival


RIGHT["write-a-rival"] = [sleeper(450), sleeper(400), drunkard]
WRONG["write-a-rival"] = [
    *(lambda one=one: one for one in ADVERSARIES.values()),
    sleeper(0),
    sleeper(590),
    sleeper(10_000),
    still,
    lambda: 3,
    lambda: lambda *_: np.zeros((2, 2)),
    lambda: lambda _game, _mu, nu: 2 * nu,
    ADVERSARIES["hazard seeker"],
    "rival",
    puppeteer,
]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda: 3, "must return a function; it returned 3"),
        (lambda: lambda *_: np.zeros((2, 2)), "It raises ValueError: nu has shape (2, 2)"),
        (ADVERSARIES["hazard seeker"], "It raises TypeError"),
        (sleeper(10_000), "in the last 150 episodes, after"),
        ("rival", "Expected a function, got a str"),
    ],
)
def test_what_a_rival_lacks(answer, words):
    assert words in said_of(chapter, "write-a-rival", answer)


def test_a_function_that_returns_nothing_is_no_rival_yet():
    assert chapter.check("write-a-rival", lambda: None).status == "no answer yet"


def test_the_statement_says_what_the_named_rivals_reach():
    """None of the four gets above 5; a right answer needs 20."""
    game = st.instances.pursuit()
    for name in ADVERSARIES:
        learner = st.SafeNashVI(game.known, episodes=600, bonus_scale=0.003)
        assert st.run(learner, game, seed=0, adversary=name).violation[-150:].sum() <= 5


# count-the-edges ------------------------------------------------------------------------------


def edges(game, last=False, early=False, unsafe_only=False, replies=True):
    U = st.potentially_unsafe(game)
    if unsafe_only:
        U = np.repeat(game.unsafe[None], game.H, axis=0)
    found = set()
    for h in range(1, game.H + last):
        for s, a, b in itertools.product(range(game.S), range(game.A), range(game.B)):
            for t in game.successors(h, s, a, b):
                if U[h - 1 if early else min(h, game.H - 1), t]:
                    found.add((h, s, a, b if replies else 0, int(t)))
    return len(found)


def for_ever(game, delta, E, one=1, tau=True):
    looks = sum(
        (game.c[s] - (game.tau if tau else 0))
        * (st.bounds.visits_until_flagged(game.c[s] - game.tau, game.S, delta) - one + game.H)
        for s in np.flatnonzero(game.unsafe)
    )
    return (1 - game.tau) * game.H * E + looks


@right("count-the-edges")
def edge_by_edge(game, delta):
    return for_ever(game, delta, edges(game))


@right("count-the-edges")
def by_the_probabilities(game, delta):
    U = st.potentially_unsafe(game)
    into = ((game.P[:-1] > 0) & U[1:, None, None, None, :]).sum()
    return for_ever(game, delta, into)


@wrong("count-the-edges")
def every_edge(game, delta):
    return for_ever(game, delta, (game.P[:-1] > 0).sum())


@wrong("count-the-edges")
def with_the_last_move(game, delta):
    return for_ever(game, delta, edges(game, last=True))


@wrong("count-the-edges")
def judged_one_step_early(game, delta):
    return for_ever(game, delta, edges(game, early=True))


@wrong("count-the-edges")
def into_unsafe_states(game, delta):
    return for_ever(game, delta, edges(game, unsafe_only=True))


@wrong("count-the-edges")
def replies_thrown_into_one(game, delta):
    return for_ever(game, delta, edges(game, replies=False))


@wrong("count-the-edges")
def one_look_more(game, delta):
    return for_ever(game, delta, edges(game), one=0)


@wrong("count-the-edges")
def costs_and_not_gaps(game, delta):
    return for_ever(game, delta, edges(game), tau=False)


class TestAnswers(TriedAnswers):
    slug = "learning_to_play_safely"
    right = RIGHT
    wrong = WRONG
