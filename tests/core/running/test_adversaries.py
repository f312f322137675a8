"""Duels: who plays what against whom, what is reported of it, and what is refused."""

import re

import numpy as np
import pytest
from oracles.brute_force_games import all_tables, any_game, normal_form, random_strategy
from scipy.stats import chi2_contingency, chisquare

import safeteach as st
from safeteach.running.adversaries import ADVERSARIES, best_responder, hazard_seeker

PARTS = ("reward", "violation", "regret")
NAMES = ("equilibrium", "best responder", "uniform", "hazard seeker")
GAME = st.instances.random_game(6, 3, 2, 4, seed=47, unsafe=0.3)


class Fixed:
    """A learner of somebody's own: it plays one strategy, and remembers what it saw."""

    def __init__(self, game, mu, nu=None, episodes=3):
        self.known, self.episodes = game.known, episodes
        self.mu = mu
        self.nu = np.full((game.H, game.S, game.B), 1 / game.B) if nu is None else nu
        self.seen = []

    def plan(self, _rng):
        return self.mu

    def observe(self, episode):
        self.seen.append(episode)


def learner(game=GAME, episodes=40, make=None, **settings):
    how = {"episodes": episodes, "bonus_scale": 0.01, "delta": 0.5}
    return (make or st.SafeNashVI)(game.known, **(how | settings))


def test_the_world_of_these_tests_has_all_that_matters():
    assert st.is_feasible(GAME) and st.potentially_unsafe(GAME)[0].sum() > GAME.unsafe.sum() > 0
    assert [*ADVERSARIES] == [*NAMES]


@pytest.mark.parametrize("adversary", NAMES)
def test_the_same_seed_gives_the_same_bits(adversary):
    one, other, third = (st.run(learner(), GAME, seed=s, adversary=adversary) for s in (5, 5, 6))
    for part in PARTS:
        assert getattr(one, part).tobytes() == getattr(other, part).tobytes()
        assert getattr(one, part).shape == (40,) and getattr(one, part).dtype == float
    assert one.reward.tobytes() != third.reward.tobytes()


@pytest.mark.parametrize("adversary", NAMES)
def test_the_report_is_exact(adversary):
    """Regret by the definition, reward and violation by the episodes that the learner saw."""
    respond = ADVERSARIES[adversary]
    history = st.run(learner(), GAME, seed=5, adversary=adversary)
    best, P = st.safe_optimal(GAME).value, GAME.P
    again = learner()
    for k, episode in st.play(again, GAME, seed=5, adversary=adversary):
        assert episode.states[0] == GAME.s1
        mu = again.mu.copy()
        nu = respond(GAME, mu, again.nu)
        worth = st.evaluate(GAME, mu, nu).value
        assert abs(history.regret[k] - (best - worth)) < 1e-12
        assert history.reward[k] == episode.rewards.sum()
        visited = episode.states[:-1]
        assert history.violation[k] == GAME.violation[visited].sum()
        for h in range(GAME.H):
            s, t = episode.states[h : h + 2]
            a, b = episode.actions[h], episode.replies[h]
            assert mu[h, s, a] > 0 and nu[h, s, b] > 0 and P[h, s, a, b, t] > 0
            assert episode.rewards[h] == GAME.r[h, s, a, b]
    assert k == 39
    assert history.violation.sum() > 0


def test_an_episode_is_shown_before_the_learner_observes_it():
    who = learner(episodes=5)
    for k, _episode in st.play(who, GAME, adversary="uniform"):
        assert who.costs.N.sum() == k * GAME.H
    assert who.costs.N.sum() == 5 * GAME.H


def test_the_learner_sees_costs_with_noise_and_none_without():
    mu = random_strategy(GAME, 3, seed=1)
    quiet, loud = Fixed(GAME, mu, episodes=1500), Fixed(GAME, mu, episodes=1500)
    st.run(quiet, GAME, seed=3, noise=0.0, adversary="uniform")
    st.run(loud, GAME, seed=3, noise=2.0, adversary="uniform")
    assert all((e.costs == GAME.c[e.states[:-1]]).all() for e in quiet.seen)
    for one, other in zip(quiet.seen, loud.seen, strict=True):
        assert (one.states == other.states).all() and (one.replies == other.replies).all()
    noise = np.array([e.costs - GAME.c[e.states[:-1]] for e in loud.seen]).ravel()
    assert abs(noise.mean()) < 4 * 2 / np.sqrt(noise.size)
    assert abs(noise.std() - 2) < 4 * 2 / np.sqrt(2 * noise.size)


@pytest.mark.parametrize("stationary", [True, False])
def test_episodes_have_the_law_of_both_strategies_and_the_world(stationary):
    game = st.instances.random_game(4, 3, 2, 3, seed=2, successors=3, stationary=stationary)
    mu, nu = random_strategy(game, 3, seed=5), random_strategy(game, 2, seed=6)
    mu[0, 0], nu[0, 0] = [0.2, 0.3, 0.5], [0.6, 0.4]
    who = Fixed(game, mu, nu, episodes=6_000)
    st.run(who, game, seed=1, adversary="equilibrium")
    n = np.zeros((game.H, 4, 3, 2, 4), int)
    for e in who.seen:
        for h in range(game.H):
            n[h, e.states[h], e.actions[h], e.replies[h], e.states[h + 1]] += 1
    law = np.eye(4)[0]
    for h in range(game.H):
        joint = np.einsum("s,sa,sb,sabt->sabt", law, mu[h], nu[h], game.P[h])
        assert (n[h][joint == 0] == 0).all()
        expected = 6_000 * joint[joint > 0]
        assert chisquare(n[h][joint > 0], expected * 6_000 / expected.sum()).pvalue > 1e-4
        law = joint.sum(axis=(0, 1, 2))
    first = n[0, 0].sum(axis=2)
    assert chi2_contingency(first).pvalue > 1e-4  # neither side knows what the other picks


def test_a_step_knows_nothing_of_the_choices_before_it():
    game = st.SafeGame(np.ones((1, 2, 2, 1)), np.zeros((1, 2, 2)), [0], 0.5, H=2)
    who = Fixed(game, np.full((2, 1, 2), 0.5), episodes=4000)
    st.run(who, game, adversary="uniform")
    actions, replies = (np.array([getattr(e, x) for e in who.seen]) for x in ("actions", "replies"))
    for one, other in ((actions[:, 0], actions[:, 1]), (replies[:, 0], replies[:, 1]),
                       (actions[:, 0], replies[:, 0]), (actions[:, 0], replies[:, 1])):  # fmt: skip
        table = np.histogram2d(one, other, bins=2)[0]
        assert chi2_contingency(table).pvalue > 1e-4


@pytest.mark.parametrize("stationary", [True, False])
def test_the_best_responder_responds_best(stationary):
    for seed in range(20):
        game = st.instances.random_game(7, 3, 4, 5, seed, stationary=stationary)
        mu = random_strategy(game, 3, seed)
        nu = best_responder(game, mu, None)
        best = st.best_response(game, mu=mu)
        assert (nu == np.eye(4)[best.policy]).all()
        assert abs(st.evaluate(game, mu, nu).value - best.value) < 1e-12


def test_among_equal_replies_both_take_the_first():
    game = st.SafeGame(np.ones((1, 2, 3, 1)), np.full((1, 2, 3), 0.5), [1], 0.5, H=2)
    for respond in (best_responder, hazard_seeker):
        assert (respond(game, np.full((2, 1, 2), 0.5), None) == [1, 0, 0]).all()


def test_the_hazard_seeker_finds_the_most_violation_and_then_the_least_reward():
    met = ties = 0
    for seed in range(40):
        game = any_game(seed, S=2, A=2, B=2, H=3)
        mu = random_strategy(game, 2, seed)
        found = st.evaluate(game, mu, hazard_seeker(game, mu, None))
        rivals = all_tables(2, 3, 2)
        all_of_them = [st.evaluate(game, mu, rival) for rival in rivals]
        most = max(e.violation for e in all_of_them)
        assert abs(found.violation - most) < 1e-9
        worst = [e.value for e in all_of_them if e.violation > most - 1e-9]
        assert abs(found.value - min(worst)) < 1e-8
        met += most > min(e.violation for e in all_of_them) + 1e-6
        ties += max(worst) > min(worst) + 1e-6
    assert met > 5 and ties > 5


def test_all_pure_rivals_are_covered_by_one_best_response():
    game = any_game(4, S=2, A=2, B=2, H=3)
    tables = all_tables(2, 3, 2)
    earned = normal_form(game, tables, tables)[:, :, 0, game.s1]
    for agent, row in zip(tables, earned, strict=True):
        nu = best_responder(game, np.eye(2)[agent], None)
        assert abs(st.evaluate(game, agent, nu).value - row.min()) < 1e-12


def test_equilibrium_and_uniform_play_what_they_say():
    mu, nu = random_strategy(GAME, 3, 0), random_strategy(GAME, 2, 1)
    assert ADVERSARIES["equilibrium"](GAME, mu, nu) is nu
    assert (ADVERSARIES["uniform"](GAME, mu, nu) == 0.5).all()
    assert ADVERSARIES["uniform"](GAME, mu, nu).shape == (GAME.H, GAME.S, GAME.B)


def test_regret_against_the_worst_is_largest_and_is_never_negative_for_a_safe_strategy():
    plan = st.safe_optimal(GAME)
    everything = {
        name: st.run(Fixed(GAME, plan.mu, plan.nu), GAME, adversary=name).regret[0]
        for name in NAMES
    }
    assert abs(everything["equilibrium"]) < 1e-9 and abs(everything["best responder"]) < 1e-9
    assert max(everything.values()) < 1e-9 and everything["uniform"] < -1e-3
    lame = np.eye(3)[np.zeros((GAME.H, GAME.S), int)]
    assert st.run(Fixed(GAME, lame), GAME, adversary="best responder").regret[0] > 1e-3


def test_an_adversary_may_be_any_function():
    told = []

    def spiteful(game, mu, nu):
        told.append((game, mu.copy(), nu.copy()))
        return np.eye(2)[np.full((game.H, game.S), len(told) % 2)]

    mu, nu = random_strategy(GAME, 3, 0), random_strategy(GAME, 2, 1)
    who = Fixed(GAME, mu, nu, episodes=4)
    st.run(who, GAME, adversary=spiteful)
    assert [e.replies.tolist() for e in who.seen] == [[1] * 4, [0] * 4, [1] * 4, [0] * 4]
    assert len(told) == 4
    for game, one, other in told:
        assert game is GAME and (one == mu).all() and (other == nu).all()


def test_strategies_may_be_given_as_actions_or_lists():
    mu = np.eye(3)[np.zeros((GAME.H, GAME.S), int)]
    nu = np.eye(2)[np.ones((GAME.H, GAME.S), int)]
    histories = [
        st.run(Fixed(GAME, how), GAME, adversary=lambda *_, answer=answer: answer)
        for how in (mu, np.zeros((GAME.H, GAME.S), int))
        for answer in (nu, np.ones((GAME.H, GAME.S), int), nu.tolist(), [[1] * GAME.S] * GAME.H)
    ]
    assert len({(h.reward.tobytes(), h.regret.tobytes()) for h in histories}) == 1


def test_in_a_game_without_safe_strategies_the_regret_is_not_a_number():
    wet = st.SafeGame(GAME.P, GAME.r, np.ones(6), 0.5, GAME.H)
    history = st.run(learner(wet), wet, adversary="best responder")
    assert np.isnan(history.regret).all()
    assert (history.violation == 0.5 * GAME.H).all() and (history.reward > 0).all()


MU, NU = np.full((4, 6, 3), 1 / 3), np.full((4, 6, 2), 0.5)


def spoilt(strategy, row):
    strategy = strategy.copy()
    strategy[0, GAME.s1] = row
    return strategy


@pytest.mark.parametrize("adversary", ["uniform", "best responder", "hazard seeker"])
@pytest.mark.parametrize(
    ("mu", "message"),
    [
        (spoilt(MU, [0.5, 0.4, 0.2]), "mu[0, 0] is [0.5 0.4 0.2]; probabilities of actions must"),
        (spoilt(MU, [0.5, 0.4, 0.1 - 1e-6]), "mu[0, 0] is [0.5      0.4      0.099999]; prob"),
        (spoilt(MU, [1.5, -0.5, 0.0]), "mu[0, 0] is [ 1.5 -0.5  0. ]; probabilities of actions"),
        (spoilt(MU, np.nan), "mu[0, 0] is [nan nan nan]; probabilities of actions must"),
        (MU[:, :, :2], "mu has shape (4, 6, 2); expected (H, S) = (4, 6) act"),
        (MU[:3], "mu has shape (3, 6, 3); expected (H, S) = (4, 6) actions"),
        (np.full((4, 6), 3), "mu[0, 0] is 3; the actions are 0..2"),
    ],
)
def test_a_strategy_of_the_agent_that_is_none_is_refused(mu, message, adversary):
    where = ", at step 1 in state 0: " if message.startswith("mu[") else ": "
    with pytest.raises(ValueError, match="^Fixed in episode 1" + re.escape(where + message)):
        st.run(Fixed(GAME, mu), GAME, adversary=adversary)


@pytest.mark.parametrize(
    ("nu", "message"),
    [
        (spoilt(NU, [0.5, 0.4]), "nu[0, 0] is [0.5 0.4]; probabilities of actions must be"),
        (spoilt(NU, [1.5, -0.5]), "nu[0, 0] is [ 1.5 -0.5]; probabilities of actions must be"),
        (spoilt(NU, np.nan), "nu[0, 0] is [nan nan]; probabilities of actions must be"),
        (MU, "nu has shape (4, 6, 3); expected (H, S) = (4, 6) actions or"),
        (np.full((4, 6), 2), "nu[0, 0] is 2; the actions are 0..1"),
    ],
)
def test_a_strategy_of_the_adversary_that_is_none_is_refused(nu, message):
    def wild(*_):
        return nu

    for adversary, expected in ((wild, None), ("equilibrium", nu)):
        with pytest.raises(ValueError, match=re.escape(message)) as told:
            st.run(Fixed(GAME, MU, expected), GAME, adversary=adversary)
        assert told.match("^(the adversary (wild|\"equilibrium\")|Fixed) in episode 1")


@pytest.mark.parametrize("noise", [-1.0, float("nan"), float("inf")])
def test_a_noise_that_makes_no_sense_is_refused_and_the_learner_stays_new(noise):
    who = learner(episodes=2)
    with pytest.raises(ValueError, match=f"^noise is {noise}; expected a number in"):
        st.run(who, GAME, noise=noise, adversary="uniform")
    assert len(st.run(who, GAME, adversary="uniform").reward) == 2


def test_an_unknown_adversary_is_refused_and_the_learner_stays_new():
    who = learner(episodes=2)
    message = (
        "adversary is 'wind'; expected a function or one of \"equilibrium\", \"best responder\", "
        "\"uniform\", \"hazard seeker\""
    )
    with pytest.raises(ValueError, match="^" + re.escape(message) + "$"):
        st.run(who, GAME, adversary="wind")
    assert len(st.run(who, GAME, adversary="uniform").reward) == 2


def test_a_learner_runs_once():
    who = learner(episodes=2)
    st.run(who, GAME, adversary="uniform")
    with pytest.raises(ValueError, match=r"^this learner has run before; build a new one"):
        st.run(who, GAME, adversary="uniform")
    with pytest.raises(ValueError, match=r"^this learner has run before; build a new one"):
        next(st.play(who, GAME, adversary="uniform"))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"S": 7}, "the learner was built for a world with S = 6; this one has 7"),
        ({"A": 2}, "the learner was built for a world with A = 3; this one has 2"),
        ({"B": 3}, "the learner was built for a world with B = 2; this one has 3"),
        ({"H": 5}, "the learner was built for a world with H = 4; this one has 5"),
        ({"tau": 0.6}, "the learner was built for a world with tau = 0.5; this one has 0.6"),
        ({"s1": 2}, "the learner was built for a world with s1 = 0; this one has 2"),
        ({"r": 0.5}, "the learner was built for a world with other rewards"),
    ],
)
def test_another_game_than_the_one_it_was_built_for_is_refused(changes, message):
    sizes = {"S": 6, "A": 3, "B": 2, "H": 4}
    sizes |= {k: v for k, v in changes.items() if k in sizes}
    game = st.instances.random_game(**sizes, seed=47, unsafe=0.3)
    r = np.full(game.r.shape, 0.5) if "r" in changes else game.r
    game = st.SafeGame(game.P, r, game.c, changes.get("tau", 0.5), game.H, changes.get("s1", 0))
    who = learner()
    with pytest.raises(ValueError, match=f"^{re.escape(message)}\n"):
        st.run(who, game, adversary="uniform")
    assert not hasattr(who, "started")
