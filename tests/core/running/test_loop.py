"""The loop: what it plays and reports, with which random numbers, and what it refuses."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from core.running.histories import all_five, same_bits

import safeteach as st
from safeteach.running import loop

TESTS = Path(__file__).parents[2]


def inverse_cdf(probability, uniform):
    """The first index at which the sum of the probabilities so far exceeds the uniform number."""
    total = 0.0
    for i, p in enumerate(probability):
        total += p
        if uniform < total:
            return i
    raise AssertionError("the row sums to less than the uniform number")


@pytest.mark.parametrize("name", ["SUCBVI", "UCBVI", "OptCMDP", "OptPess", "TripleQ"])
@pytest.mark.parametrize("stationary", [True, False])
def test_a_run_plays_and_reports_what_the_documented_random_numbers_say(name, stationary):
    mdp = st.instances.random_mdp(6, 3, 4, seed=37, unsafe=0.4, stationary=stationary)
    make, episodes, seed, noise = all_five(mdp)[name], loop.BLOCK + 50, 11, 0.7
    history = st.run(make(mdp.known, episodes=episodes), mdp, seed=seed, noise=noise)
    learner, best = make(mdp.known, episodes=episodes), st.safe_optimal(mdp).value
    moves, choices, noises, _ties = (
        np.random.default_rng(child) for child in np.random.SeedSequence(seed).spawn(4)
    )
    P, randomised = mdp.P, 0
    for k, episode in st.play(learner, mdp, seed=seed, noise=noise):
        policy = learner.policy
        move, choice, luck = moves.random(4), choices.random(4), noises.standard_normal(4)
        s = mdp.s1
        for h in range(4):
            a = policy[h, s] if policy.ndim == 2 else inverse_cdf(policy[h, s], choice[h])
            assert (episode.states[h], episode.actions[h]) == (s, a), (k, h)
            assert episode.rewards[h] == mdp.r[h, s, a]
            assert episode.costs[h] == mdp.c[s] + noise * luck[h]
            s = inverse_cdf(P[h, s, a], move[h])
        assert episode.states[4] == s
        assert abs(history.reward[k] - episode.rewards.sum()) < 1e-12
        assert abs(history.violation[k] - mdp.violation[episode.states[:-1]].sum()) < 1e-12
        assert abs(history.regret[k] - (best - st.evaluate(mdp, policy).value)) < 1e-9
        randomised += policy.ndim == 3 and ((policy > 0.01) & (policy < 0.99)).any()
    assert k == episodes - 1
    assert history.violation.any() and len({*history.regret}) > 5
    assert (randomised > 0) == (name in ("OptCMDP", "OptPess"))


def test_an_episode_is_a_rollout():
    """With the numbers of `rollout` in the order in which it draws them, the same episode."""
    mdp = st.instances.random_mdp(6, 3, 4, seed=0, stationary=False)
    policy = np.random.default_rng(0).dirichlet(np.ones(3), (4, 6))
    rows, r = mdp.all_rows(), np.ascontiguousarray(mdp.r)
    for seed in range(50):
        expected = st.rollout(mdp, policy, seed, noise=0.5)
        rng = np.random.default_rng(seed)
        luck = np.stack([*rng.random((2, 1, 4)), 0.5 * rng.standard_normal((1, 4))])
        states, actions = np.empty((1, 5), np.int64), np.empty((1, 1, 4), np.int64)
        seen, totals = np.empty((2, 1, 4)), np.empty((1, 3))
        assert loop._episode(
            0, *rows, r, mdp.c, mdp.tau, mdp.s1, policy, None, luck, np.empty((2, 6)),
            states, actions, seen, totals,
        )  # fmt: skip
        assert (states[0] == expected.states).all() and (actions[0, 0] == expected.actions).all()
        assert (seen[:, 0] == (expected.rewards, expected.costs)).all()
        assert abs(totals[0, 2] - st.evaluate(mdp, policy).value) < 1e-12


@pytest.mark.parametrize("block", [1, 7, 1000])
def test_the_bits_do_not_depend_on_how_many_numbers_are_drawn_at_once(block, monkeypatch):
    mdp = st.instances.ice_corridor()
    makers = all_five(mdp)
    usual = {name: st.run(makers[name](mdp.known, episodes=300), mdp, seed=1) for name in makers}
    monkeypatch.setattr(loop, "BLOCK", block)
    for name, make in makers.items():
        assert same_bits(st.run(make(mdp.known, episodes=300), mdp, seed=1), usual[name])


def test_seeds_differ_and_learners_meet_the_same_luck():
    mdp = st.instances.grid()
    one, other = (st.run(st.UCBVI(mdp.known, episodes=50), mdp, seed=s) for s in (0, 1))
    assert not same_bits(one, other)
    costs = []
    for make in (st.UCBVI, st.TripleQ):
        episodes = st.play(make(mdp.known, episodes=5), mdp, seed=3)
        costs.append([episode.costs - mdp.c[episode.states[:-1]] for _, episode in episodes])
    assert np.allclose(*costs, atol=1e-12)


def test_without_feasible_policies_there_is_no_regret_to_speak_of():
    ice = st.SafeMDP(np.full((2, 1, 2), 0.5), np.ones((2, 1)), [0, 1], 0.5, H=2)
    history = st.run(st.SUCBVI(ice.known, episodes=20), ice)
    assert np.isnan(history.regret).all() and (history.reward == 2).all()


def python(code, *arguments):
    """What a fresh Python prints."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code, *arguments], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_importing_the_library_imports_neither_numba_nor_a_progress_bar():
    heavy = {"numba", "tqdm", "scipy", "matplotlib"}
    loaded = python("import sys, safeteach; print(*sys.modules)").split()
    assert "safeteach.worlds.mdp" in loaded and not heavy & {*loaded}


WITHOUT_NUMBA = """
import sys
from importlib.abc import MetaPathFinder

class NoNumba(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "numba":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

if sys.argv[2] == "without":
    sys.meta_path.insert(0, NoNumba())
sys.path.insert(0, sys.argv[1])
import safeteach as st
from core.running.histories import PARTS, all_five

mdp = st.instances.random_mdp(6, 3, 4, seed=37, unsafe=0.4)
for name, make in all_five(mdp).items():
    history = st.run(make(mdp.known, episodes=100), mdp, seed=9)
    print(name, *(getattr(history, part).tobytes().hex() for part in PARTS))
print("numba" in sys.modules)
"""


@pytest.mark.slow
def test_without_numba_the_bits_are_the_same():
    *with_it, yes = python(WITHOUT_NUMBA, str(TESTS), "with").splitlines()
    *without, no = python(WITHOUT_NUMBA, str(TESTS), "without").splitlines()
    assert (yes, no) == ("True", "False")
    assert len(with_it) == 5 and with_it == without


class Wild:
    """A learner of somebody's own, with a plan that does not fit the world."""

    def __init__(self, known, policy):
        self.known, self.episodes = known, 3
        self.policy = policy

    def plan(self, _rng):
        return self.policy

    def observe(self, episode):
        pass


@pytest.mark.parametrize(
    ("policy", "problem"),
    [
        (np.full((4, 5), 7), "the actions are 0..1"),
        (np.full((4, 5), -1), "the actions are 0..1"),
        (np.zeros((4, 4), int), "policy has shape"),
        (np.zeros((4, 5, 3)), "policy has shape"),
    ],
)
def test_a_plan_that_does_not_fit_is_refused(policy, problem):
    mdp = st.instances.union_counterexample()
    with pytest.raises(ValueError, match=problem):
        st.run(Wild(mdp.known, policy), mdp)


@pytest.mark.parametrize("row", [[0.5, 0.4], [1.5, -0.5], [2.0, 0.0], [0.0, 0.0], [np.nan, 1.0]])
@pytest.mark.parametrize("met", [True, False], ids=["met", "never met"])
def test_numbers_that_are_no_probabilities_are_refused_where_they_would_decide(row, met):
    mdp = st.instances.union_counterexample()
    policy = np.tile([1.0, 0.0], (mdp.H, mdp.S, 1))
    policy[0, mdp.s1 if met else mdp.S - 1] = row
    if not met:  # it decides nothing
        assert len(st.run(Wild(mdp.known, policy), mdp).reward) == 3
        return
    with pytest.raises(ValueError, match="probabilities of actions must be nonnegative and sum"):
        st.run(Wild(mdp.known, policy), mdp)


def test_an_adversary_plays_in_games_and_a_game_needs_one():
    mdp, game = st.instances.union_counterexample(), st.instances.penny_bridge()
    with pytest.raises(ValueError, match=r"^adversary plays in a game; an MDP has none$"):
        st.run(st.SUCBVI(mdp.known, episodes=2), mdp, adversary="uniform")
    learner = st.SafeNashVI(game.known, episodes=2)
    with pytest.raises(ValueError, match=r'^adversary is None; expected a function or one of "eq'):
        st.run(learner, game)
    assert len(st.run(learner, game, adversary="uniform").reward) == 2  # it is still new


def test_a_learner_of_games_is_not_built_for_an_mdp():
    with pytest.raises(ValueError, match=r"^known has no adversary; a learner of games is built"):
        st.SafeNashVI(st.instances.grid().known, episodes=2)


class Corridor:
    """A stage of somebody's own: five cells in a row that can only be stepped."""

    def __init__(self):
        self.ties = np.random.default_rng(0)
        self.world = None

    def play(self, policy, _learner):
        states, actions = [0], []
        for h in range(6):
            actions.append(int(policy[h, states[-1]]))
            states.append(min(max(states[-1] + (1 if actions[-1] else -1), 0), 4))
        rewards = np.array([s == 4 for s in states[:-1]], float)
        return st.Episode(np.array(states), np.array(actions), rewards, np.zeros(6))


def test_the_loop_needs_of_a_world_only_that_it_can_be_played():
    r = np.zeros((6, 5, 2))
    r[:, 4] = 1.0
    learner = st.UCBVI(st.Known(5, 2, 6, r, 0.5, 0), episodes=400, bonus_scale=0.01)
    learner.check_world = lambda _world: None
    earned = []
    for _, episode in loop.episodes(learner, Corridor()):
        learner.observe(episode)
        earned.append(episode.rewards.sum())
    assert earned[0] < 2 == earned[-1]
