"""SafeNashVI against a plain one, against SUCBVI, and against the plan of one who knows all."""

import importlib

import numpy as np
import pytest
from oracles.brute_force_games import alone, gap, solve_by_kernels
from oracles.omniscient import teach
from oracles.plain_arrays import masks
from scipy.stats import chisquare

import safeteach as st
from safeteach.chapters.learning_to_play_safely import plain
from safeteach.chapters.the_algorithm.plain import Memory, alpha_of_one_visit, doomed, flags
from safeteach.running.adversaries import ADVERSARIES
from safeteach.worlds.known import Episode

LOUD = {"delta": 0.5, "bonus_scale": 0.01}


def sharp(game, tau=0.05):
    """The same game with costs 0 and 1 and a threshold near 0: danger is noticed in 20 visits."""
    P, r = (game.P[0], game.r[0]) if game.stationary else (game.P, game.r)
    return st.SafeGame(P, r, game.unsafe.astype(float), tau, game.H, game.s1)


def compare_with_plain(game, episodes, adversary, seed, noise=0.3):
    """Both learners side by side; how often one saw flags, dooms, masks and mixing.

    An equilibrium need not be the only one, so that the plain one lives through the episodes of
    the other; it solves its matrices in another way.
    """
    known, seen, delta = game.known, Memory(), LOUD["delta"]
    learner = st.SafeNashVI(known, episodes=episodes, **LOUD)
    alpha = alpha_of_one_visit(known, episodes, *LOUD.values())
    coins = np.zeros((game.H, game.S, game.A + game.B))
    met = np.zeros(4, int)
    for k, episode in st.play(learner, game, seed=seed, noise=noise, adversary=adversary):
        sets = doomed(seen, known, flags(seen, known, delta), plain.looks_safe)
        Q, V, *_ = plain.make_plan(seen, known, sets, alpha, coins, solve_by_kernels)
        U, safe = masks(plain.looks_safe, seen, known, sets)
        assert np.abs(learner.Q - Q).max() < 1e-9, k
        assert np.abs(learner.V - V).max() < 1e-9, k
        assert (learner.U == U).all() and (learner.flagged == U[-1]).all(), k
        assert (learner.safe_actions == safe).all(), k
        reached, rows = learner.transitions.reached, safe | U[:, :, None]
        assert (learner.mu[~reached] == 1 / game.A).all(), k
        assert (learner.nu[~reached] == 1 / game.B).all(), k
        assert (learner.mu[reached][~rows[reached]] == 0).all(), k
        for h, s in np.argwhere(reached):
            played = rows[h, s]
            assert gap(Q[h, s][played], learner.mu[h, s][played], learner.nu[h, s]) < 1e-9, k
        plain.remember(seen, episode)
        masked = reached & ~U & ~safe.all(axis=2)
        mixed = reached & (learner.mu.max(axis=2) < 0.99)
        met += [U[-1].any(), (U & ~U[-1]).any(), masked.any(), mixed.any()]
    return met


@pytest.mark.parametrize("adversary", ["best responder", "hazard seeker"])
def test_with_the_same_solver_a_plain_one_plays_the_same_episodes(adversary):
    game = st.instances.penny_bridge()
    learner = st.SafeNashVI(game.known, episodes=300, delta=0.5, bonus_scale=0.003)
    plays = (
        plain.by_hand(game, 300, ADVERSARIES[adversary], 1, st.game_value, delta=0.5),
        st.play(learner, game, seed=1, adversary=adversary),
    )
    for mine, (k, episode) in zip(*plays, strict=True):
        for part in ("Q", "V", "mu", "nu"):
            assert np.abs(getattr(learner, part) - getattr(mine, part)).max() < 1e-9, k
        for part in ("states", "actions", "replies", "rewards", "costs"):
            assert (getattr(episode, part) == getattr(mine.episode, part)).all(), k
    assert sum(map(len, mine.U.values())) > 3


@pytest.mark.parametrize("stationary", [True, False])
def test_it_equals_a_plain_one_in_every_episode(stationary):
    met = np.zeros(4, int)
    for seed, adversary in ((1, "hazard seeker"), (4, "uniform")):
        game = st.instances.random_game(4, 2, 2, 4, seed, unsafe=0.3, stationary=stationary)
        met += compare_with_plain(sharp(game), 60, adversary, seed)
    assert (met > 10).all(), met  # all that can be compared was there


@pytest.mark.slow
@pytest.mark.parametrize("adversary", ["equilibrium", "best responder", "uniform", "hazard seeker"])
def test_it_equals_a_plain_one_against_all_adversaries(adversary):
    met = np.zeros(4, int)
    for seed in range(4):
        game = st.instances.random_game(5, 3, 2, 3, seed, unsafe=0.3, stationary=seed % 2 == 0)
        met += compare_with_plain(sharp(game), 60, adversary, seed, noise=0.1)
    assert (met > 5).all(), met


@pytest.mark.parametrize("stationary", [True, False])
def test_with_one_reply_it_is_sucbvi(stationary):
    """Fed the same episodes both plan the same values, at every step of the way."""
    met = 0
    for seed in range(4):
        game = sharp(st.instances.random_game(6, 3, 1, 4, seed, unsafe=0.3, stationary=stationary))
        how = {"episodes": 150, **LOUD}
        ours, theirs = st.SafeNashVI(game.known, **how), st.SUCBVI(alone(game).known, **how)
        assert ours.alpha == theirs.alpha
        for k, e in st.play(ours, game, seed=seed, noise=0.3, adversary="uniform"):
            theirs.plan(np.random.default_rng(k))
            assert np.abs(ours.V - theirs.V).max() < 1e-9
            assert np.abs(ours.Q[..., 0] - theirs.Q).max() < 1e-9
            assert (ours.U == theirs.U).all() and (ours.safe_actions == theirs.safe_actions).all()
            steps = np.arange(game.H)
            chosen = ours.Q[steps, e.states[:-1], e.actions, 0]
            assert np.abs(chosen - theirs.V[steps, e.states[:-1]]).max() < 1e-9
            theirs.observe(Episode(e.states, e.actions, e.rewards, e.costs))
            met += (ours.U & ~ours.flagged).any()
    assert met > 50


def known_game(seed, stationary=True):
    """A random game whose probabilities are multiples of 1/8, so that counts can match them."""
    rng = np.random.default_rng(seed)
    S, A, B, H = 5, 3, 2, 4
    steps = 1 if stationary else H
    few = rng.random((steps, S, A, B, S)) * (rng.random((steps, S, A, B, S)) < 1 / S)
    few += 1e-9 * np.eye(S)[rng.integers(S, size=few.shape[:-1])]  # no row without a successor
    P = rng.multinomial(8, few / few.sum(axis=4, keepdims=True)) / 8
    c = np.where(rng.random(S) < 0.25, 0.9, 0.1)
    r = rng.random((steps, S, A, B))
    return st.SafeGame(P[0] if stationary else P, r[0] if stationary else r, c, 0.5, H)


@pytest.mark.parametrize("stationary", [True, False])
def test_with_the_true_model_it_is_the_safe_equilibrium(stationary):
    feasible = 0
    for seed in range(50):
        game = known_game(seed, stationary)
        learner = teach(st.SafeNashVI(game.known, episodes=1, bonus_scale=0.0), game)
        learner.plan(np.random.default_rng(seed))
        assert (st.potentially_unsafe(game) == learner.U).all()
        assert (learner.safe_actions == st.safe_actions(game)).all()
        if not st.is_feasible(game):
            continue
        best = st.safe_optimal(game)
        assert np.abs(learner.V - best.V).max() < 1e-9
        assert np.abs(learner.Q - best.Q).max() < 1e-9
        assert abs(st.best_response(game, mu=learner.mu).value - best.value) < 1e-9
        everywhere = np.full(learner.nu.shape, 1 / game.B)
        assert st.evaluate(game, learner.mu, everywhere).unsafe_probability == 0
        feasible += not st.safe_actions(game).all()
    assert feasible > 3



def test_nothing_is_known_before_the_first_episode():
    game = st.instances.pursuit()
    for make in (st.SafeNashVI, st.NashVI):
        learner = make(game.known, episodes=10)
        mu = learner.plan(np.random.default_rng(0))
        assert (learner.Q == game.H).all() and (learner.V[:-1] == game.H).all()
        assert (learner.V[-1] == 0).all() and not learner.U.any() and learner.safe_actions.all()
        assert mu is learner.mu and (mu == 0.2).all() and (learner.nu == 0.2).all()


def walk(states, actions, replies, cost=0.0):
    H = len(actions)
    seen = np.zeros(H), np.full(H, cost)
    return Episode(np.array(states), np.array(actions), *seen, np.array(replies))


def test_the_bonus_is_the_theorems_and_falls_with_the_root_of_the_visits():
    game = st.instances.penny_bridge(H=2)
    learner = st.SafeNashVI(game.known, episodes=100, bonus_scale=1e-4, delta=0.1)
    for n in range(1, 50):
        learner.observe(walk([0, 1, 1], [0, 2], [1, 1]))
        learner.plan(np.random.default_rng(0))
        alpha = 7 * 2 * np.sqrt(np.log(5 * 3 * 6 * 2 * 100 / 0.1) / n)
        assert abs(learner.Q[1, 1, 2, 1] - min(2, 1 + 1e-4 * alpha)) < 1e-12
        assert abs(st.bounds.alpha(n, S=3, A=6, H=2, K=100, delta=0.1) - alpha) < 1e-9
        assert (learner.Q[1, 1].ravel()[:5] == 2).all()  # never tried: as good as can be


def flagging(bridge, states):
    """A learner of the bridge that takes given states for unsafe."""
    learner = st.SafeNashVI(bridge.known, episodes=10, bonus_scale=1e-4)
    learner.costs.N[states] = learner.costs.total[states] = 10**8
    learner.costs.mean[states] = 1.0
    return learner


def test_an_action_is_banned_by_one_bad_reply_and_a_state_doomed_by_one_to_each():
    bridge = st.instances.penny_bridge(H=3)
    learner, rng = flagging(bridge, [2]), np.random.default_rng(0)
    learner.observe(walk([0, 2, 1, 1], [0, 0, 0], [1, 0, 0]))
    learner.plan(rng)
    assert learner.flagged.tolist() == [False, False, True]
    assert learner.safe_actions[0, 0].tolist() == [False, True, True]  # by one reply of two
    assert learner.mu[0, 0, 0] == 0 and not learner.U[0, 0]
    learner.observe(walk([0, 2, 1, 1], [1, 0, 0], [0, 0, 0]))
    learner.observe(walk([0, 2, 1, 1], [2, 0, 0], [1, 0, 0]))
    learner.plan(rng)
    assert not learner.safe_actions[0, 0].any()
    assert learner.U.tolist() == [[True, False, True], [False, False, True], [False, False, True]]
    # Doomed, it plays the game without bans.
    assert gap(learner.Q[0, 0], learner.mu[0, 0], learner.nu[0, 0]) < 1e-9


def test_what_follows_the_last_step_is_no_danger():
    bridge = st.instances.penny_bridge(H=2)
    learner = flagging(bridge, [1, 2])
    for a in range(3):
        learner.observe(walk([0, 0, 2], [0, a], [0, 1]))
    learner.plan(np.random.default_rng(0))
    assert learner.safe_actions[1].all() and not learner.U[:, 0].any()
    assert learner.U[:, 1:].all()


def test_every_best_row_is_as_likely_as_the_others():
    bridge = st.instances.penny_bridge(H=2)
    learner, rng = flagging(bridge, [2]), np.random.default_rng(3)
    learner.observe(walk([0, 2, 1], [2, 0], [0, 0]))  # reached, and the ford is banned
    plans = np.array([learner.plan(rng)[0, 0].copy() for _ in range(4000)])
    assert {*plans.ravel()} == {0.0, 1.0}
    counts = plans.sum(axis=0)
    assert counts[2] == 0 and chisquare(counts[:2]).pvalue > 1e-4


@pytest.mark.parametrize("adversary", ["uniform", "hazard seeker"])
def test_nash_vi_flags_nothing_and_is_safe_nash_vi_where_nothing_is_unsafe(adversary):
    game = sharp(st.instances.random_game(5, 3, 2, 4, seed=1, unsafe=0.4))
    careless = st.NashVI(game.known, episodes=150, **LOUD)
    history = st.run(careless, game, seed=2, noise=0.1, adversary=adversary)
    assert not careless.U.any() and careless.safe_actions.all() and history.violation.sum() > 20
    assert careless.costs.mean[game.unsafe].max() > 0.5  # it saw the costs all the same
    harmless = sharp(game, tau=1.0)
    for world in (game, harmless):
        one = st.NashVI(world.known, episodes=150, **LOUD)
        other = st.SafeNashVI(world.known, episodes=150, **LOUD)
        same = [st.run(x, world, seed=2, noise=0.1, adversary="uniform").reward.tobytes()
                for x in (one, other)]  # fmt: skip
        assert (same[0] == same[1]) == (world is harmless)
        if world is harmless:
            for name in ("Q", "V", "mu", "nu", "U"):
                assert getattr(one, name).tobytes() == getattr(other, name).tobytes()
        else:
            assert other.U.any()


@pytest.mark.parametrize("adversary", ["best responder", "uniform", "hazard seeker"])
def test_violation_dies_out_and_regret_falls_on_the_bridge(adversary):
    game = st.instances.penny_bridge()
    learner = st.SafeNashVI(game.known, episodes=1000, bonus_scale=0.003)
    history = st.run(learner, game, seed=1, noise=0.3, adversary=adversary)
    assert history.violation[-400:].sum() == 0 < history.violation.sum()
    careless = st.NashVI(game.known, episodes=1000, bonus_scale=0.003)
    careless = st.run(careless, game, seed=1, noise=0.3, adversary=adversary)
    assert careless.violation[-400:].sum() > 100
    if adversary != "uniform":
        assert abs(history.regret[-200:].mean()) < 0.1


@pytest.mark.slow
def test_on_pursuit_violation_dies_out_against_one_who_seeks_it():
    game = st.instances.pursuit()
    learner = st.SafeNashVI(game.known, episodes=900, bonus_scale=0.003)
    history = st.run(learner, game, seed=0, adversary="hazard seeker")
    assert history.violation[:300].sum() > 20 > 4 > history.violation[-300:].sum()


def test_a_game_without_safe_strategies_is_played_all_the_same():
    game = sharp(st.SafeGame(np.full((2, 2, 2, 2), 0.5), np.ones((2, 2, 2)), [0, 1], 0.5, H=3))
    assert not st.is_feasible(game)
    learner = st.SafeNashVI(game.known, episodes=200, **LOUD)
    history = st.run(learner, game, noise=0.1, adversary="best responder")
    assert np.isnan(history.regret).all() and (history.reward == 3).all()
    assert learner.U[:-1].all() and learner.U[-1].tolist() == [False, True]
    assert np.allclose(learner.mu.sum(axis=2), 1) and (learner.mu >= 0).all()


def test_a_bonus_beyond_all_numbers_gives_no_plan_but_valid_strategies():
    game = st.instances.penny_bridge()
    learner = st.SafeNashVI(game.known, episodes=30, bonus_scale=1e307)
    with np.errstate(over="ignore", invalid="ignore"):
        st.run(learner, game, adversary="uniform")
    assert (learner.Q == game.H).all()
    assert (learner.mu >= 0).all() and np.allclose(learner.mu.sum(axis=2), 1)


@pytest.mark.slow
def test_compiled_and_plain_kernels_give_the_same_bits(monkeypatch):
    game = sharp(st.instances.random_game(6, 3, 2, 4, seed=1, unsafe=0.4, stationary=False))

    def history():
        learner = st.SafeNashVI(game.known, episodes=80, **LOUD)
        return st.run(learner, game, seed=3, noise=0.2, adversary="hazard seeker"), learner

    fast, fast_learner = history()
    plain = 0
    for module in ("planning.matrix_games", "running.loop", "learners.model", "learners.sucbvi",
                   "learners.safe_nash_vi"):  # fmt: skip
        module = importlib.import_module(f"safeteach.{module}")
        for attribute, value in vars(module).copy().items():
            if hasattr(value, "py_func") and not value.__module__.startswith("quantecon"):
                monkeypatch.setattr(module, attribute, value.py_func)
                plain += 1
    assert plain >= 9
    slow, slow_learner = history()
    assert fast_learner.U.any()
    for part in ("reward", "violation", "regret"):
        assert getattr(fast, part).tobytes() == getattr(slow, part).tobytes()
    for part in ("Q", "V", "U", "mu", "nu"):
        one, other = getattr(fast_learner, part), getattr(slow_learner, part)
        assert one.tobytes() == other.tobytes(), part
