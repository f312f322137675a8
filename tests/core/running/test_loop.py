"""The loop: what it plays and reports, with which random numbers, and what it refuses."""

import subprocess
import sys
from functools import partial
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
import warnings
import safeteach as st
from core.running.histories import PARTS, all_five

mdp = st.instances.random_mdp(6, 3, 4, seed=37, unsafe=0.4)
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    for name, make in all_five(mdp).items():
        history = st.run(make(mdp.known, episodes=100), mdp, seed=9)
        print(name, *(getattr(history, part).tobytes().hex() for part in PARTS))
print("numba" in sys.modules, *(f"{one.category.__name__}: {one.message}" for one in told))
"""


@pytest.mark.slow
def test_without_numba_the_bits_are_the_same():
    *with_it, yes = python(WITHOUT_NUMBA, str(TESTS), "with").splitlines()
    *without, no = python(WITHOUT_NUMBA, str(TESTS), "without").splitlines()
    assert yes == "True"
    assert no == (  # it is said once
        "False Uncompiled: numba is not installed: learners run as plain Python, about a hundred "
        'times slower; say pip install "safeteach[fast]"'
    )
    assert len(with_it) == 5 and with_it == without


class Wild:
    """A learner of somebody's own, with a plan that does not fit the world."""

    def __init__(self, known, policy, before=(), episodes=3):
        self.known, self.episodes = known, episodes
        self.policy, self.before = policy, list(before)

    def plan(self, _rng):
        return self.before.pop() if self.before else self.policy

    def observe(self, episode):
        pass


@pytest.mark.parametrize(
    ("policy", "problem"),
    [
        (np.full((4, 5), 7), r"policy\[0, 0\] is 7; the actions are 0..1"),
        (np.full((4, 5), -1), r"policy\[0, 0\] is -1; the actions are 0..1"),
        (np.zeros((4, 4), int), "policy has shape"),
        (np.zeros((4, 5, 3)), "policy has shape"),
        (np.zeros((4, 5)), "policy holds float64; actions are whole numbers"),
        (np.zeros((4, 5), bool), "policy holds bool"),
        (np.zeros((4, 5), object), "policy holds object"),
        (np.full((4, 5), "0"), "policy holds <U1"),
        (np.full((4, 5, 2), 0.5 + 0j), "policy holds complex128"),
        ([[0] * 5] * 4, r"policy is \[\[0, 0, .*, in an array"),
        (None, "policy is None; expected"),
    ],
)
@pytest.mark.parametrize("before", [0, 2], ids=["at once", "later"])
def test_a_plan_that_does_not_fit_is_refused(policy, problem, before):
    """With the name of the learner and the episode; a bool in its place is noticed in a while."""
    mdp = st.instances.union_counterexample()
    good = np.zeros((4, 5), int)
    late = before and "bool" in problem
    expected = r"^Wild in episode \d+(, at step 1 in state \w+)?: " + problem
    with pytest.raises((TypeError, ValueError), match=expected) as told:
        st.run(Wild(mdp.known, policy, [good] * before, episodes=500), mdp)
    assert told.match(f"episode {loop.BLOCK + 1 if late else before + 1}[:,]")
    assert told.match(f"\nWild, seed 0, after {loop.BLOCK if late else before} episodes$")


@pytest.mark.parametrize("kind", ["int8", "uint64", "float32", "float16", ">i8", "masked"])
def test_a_plan_of_another_kind_of_number_is_played_as_it_is(kind):
    mdp = st.instances.union_counterexample()
    plain = np.full((4, 5, 2), 0.5) if "float" in kind else np.zeros((4, 5), int)
    odd = np.ma.masked_array(plain) if kind == "masked" else plain.astype(kind)
    assert st.run(Wild(mdp.known, odd), mdp) == st.run(Wild(mdp.known, plain), mdp)


def test_a_state_is_called_by_its_name():
    mdp = st.SafeMDP(
        np.full((2, 2, 2), 0.5), np.zeros((2, 2)), [0, 1], 0.5, H=2, state_names=["ice", "shore"]
    )
    policy = np.array([[0, 0], [0, 2]])
    with pytest.raises(ValueError, match=r"^Wild in episode 1, at step 2 in state shore: policy"):
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


class Broken(Wild):
    """One whose own code fails, in the second episode."""

    def observe(self, _episode):
        self.seen = getattr(self, "seen", 0) + 1
        if self.seen == 2:
            raise ZeroDivisionError("of its own")


def test_an_error_of_a_learner_says_whose_it_is():
    mdp = st.instances.union_counterexample()
    policy = np.zeros((4, 5), int)
    with pytest.raises(ZeroDivisionError) as told:
        st.run(Broken(mdp.known, policy), mdp, seed=7)
    assert told.value.__notes__ == ["Broken, seed 7, after 2 episodes"]
    with pytest.raises(ZeroDivisionError) as told:
        list(st.play(Broken(mdp.known, policy), mdp, seed=8))
    assert told.value.__notes__ == ["Broken, seed 8, after 2 episodes"]


MDP, GAME = st.instances.ice_corridor(), st.instances.penny_bridge()


def fresh(**how):
    return st.SUCBVI(MDP.known, **({"episodes": 3} | how))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: st.run(st.SUCBVI, MDP), r"learner is the class SUCBVI; .*SUCBVI\(world\.known"),
        (lambda: st.run([fresh()], MDP), "learner is a list; .*compare takes several"),
        (lambda: st.run({"a": fresh()}, MDP), "learner is a dict"),
        (lambda: st.run(3, MDP), r"learner is 3; expected one with plan\(rng\)"),
        (lambda: st.run(fresh(), MDP.known), "world is Known.*; expected a SafeMDP or a SafeGame"),
        (lambda: st.run(fresh(), None), "world is None"),
        (lambda: st.run(fresh(), GAME), r"learner is SUCBVI\(S=.*, built for an MDP; world"),
        (
            lambda: st.run(st.SafeNashVI(GAME.known, episodes=2), MDP),
            r"learner is SafeNashVI\(S=.*, built for a game; world is GridMDP",
        ),
        (lambda: st.run(fresh(), MDP, seed=-1), "seed is -1; it must be at least 0"),
        (lambda: st.run(fresh(), MDP, seed=1.0), "seed is 1.0; expected a whole number"),
        (lambda: st.run(fresh(), MDP, seed=True), "seed is True; expected a whole number"),
        (lambda: st.play(fresh(), MDP, seed="0"), "seed is '0'; expected a whole number"),
        (lambda: st.audit(fresh(), MDP, seed=None), "seed is None; expected a whole number"),
        (lambda: st.run(fresh(), MDP, noise="1"), "noise is '1'; expected a number"),
        (lambda: st.run(fresh(), MDP, noise=None), "noise is None; expected a number"),
        (lambda: st.run(fresh(), MDP, progress=1), "progress is 1; expected True, False or None"),
        (lambda: st.run(fresh(), MDP, adversary=[1]), "adversary plays in a game"),
        (
            lambda: st.run(st.SafeNashVI(GAME.known, episodes=2), GAME, adversary=["uniform"]),
            r"adversary is \['uniform'\]; expected a function or one of",
        ),
        (lambda: st.audit(st.TripleQ(MDP.known, episodes=2), MDP), "learner is TripleQ.*a SUCBVI"),
        (lambda: st.audit(fresh(), GAME), "learner is SUCBVI.*, built for an MDP"),
        (lambda: st.explore(st.SRFUCRL(MDP.known), GAME, 3), "mdp is SafeGame.*a SafeMDP"),
        (lambda: st.explore(fresh(), MDP, 3), "SUCBVI plans for one reward; explore takes"),
        (lambda: st.SUCBVI(MDP, episodes=3), r"known is GridMDP\(.*; expected .*its \.known"),
        (lambda: st.SUCBVI(3, episodes=3), r"known is 3; expected .* mdp\.known"),
        (lambda: st.SUCBVI(GAME.known, episodes=3), "known is of a game, with B = 2"),
        (lambda: fresh(delta="0.1"), "delta is '0.1'; expected a number"),
        (lambda: fresh(bonus_scale=None), "bonus_scale is None; expected a number"),
        (lambda: fresh(bonus_scale=True), "bonus_scale is True; expected a number"),
        (lambda: fresh(recursion=np.array(["exact", "paper"])), "recursion is array"),
        (lambda: st.OptCMDP(MDP.known, episodes=3, clip="no"), "clip is 'no'; expected True or"),
        (lambda: st.check_learner(3), "make is 3; expected a learner's class"),
        (lambda: st.check_learner(st.SUCBVI, MDP.known), "world is Known.*; expected a SafeMDP"),
    ],
)
def test_what_is_no_learner_no_world_no_setting_is_said(call, message):
    with pytest.raises((TypeError, ValueError), match=f"^{message}"):
        call()


def test_a_learner_that_forgets_what_it_was_told_is_none():
    class Forgetful:
        episodes = 3
        plan = observe = print

    with pytest.raises(TypeError, match=r"self\.known = known$"):
        st.run(Forgetful(), MDP)


def test_a_learner_that_wants_no_episodes_is_refused():
    with pytest.raises(ValueError, match=r"^episodes of the learner is 0; it must be at least 1"):
        st.run(Wild(MDP.known, np.zeros((MDP.H, MDP.S), int), episodes=0), MDP)


def test_learners_show_their_sizes_and_settings():
    assert repr(fresh(bonus_scale=0.01)) == (
        f"SUCBVI(S={MDP.S}, A={MDP.A}, H={MDP.H}, episodes=3, delta=0.005, bonus_scale=0.01, "
        f"recursion='exact')"
    )
    home = np.zeros((MDP.H, MDP.S), int)
    fixed = st.learners.FixedPolicy(MDP.known, episodes=3, policy=home)
    assert repr(fixed).endswith(f"episodes=3, policy=<int64 {home.shape}>)")

    class Mine(st.UCBVI):
        def __init__(self, known, **settings):
            super().__init__(known, **settings)

    assert repr(Mine(MDP.known, episodes=3)) == f"Mine(S={MDP.S}, A={MDP.A}, H={MDP.H})"


def test_adversaries_are_blamed_by_name():
    def windy(game, *_):
        return [[0] * game.S] * (game.H - 1)

    def ragged(*_):
        return [[0], [0, 1]]

    def listed(game, *_):
        return [[0] * game.S] * game.H

    learner = partial(st.SafeNashVI, GAME.known, episodes=2)
    with pytest.raises(ValueError, match=r"^the adversary windy in episode 1: nu has shape"):
        st.run(learner(), GAME, adversary=windy)
    with pytest.raises(TypeError, match=r"^the adversary ragged in episode 1: nu is \[\[0\], \["):
        st.run(learner(), GAME, adversary=ragged)
    assert len(st.run(learner(), GAME, adversary=listed).reward) == 2
    spoilt = learner()
    spoilt.nu = None
    spoilt.plan = lambda _rng: spoilt.mu
    with pytest.raises(TypeError, match=r"^SafeNashVI in episode 1: its nu is None; expected"):
        st.run(spoilt, GAME, adversary="uniform")
    fair = np.full((GAME.H, GAME.S, GAME.A), 1 / GAME.A)
    spoilt = learner()
    spoilt.plan = lambda _rng: fair.astype(complex)
    with pytest.raises(TypeError, match=r"^SafeNashVI in episode 1: mu holds complex128"):
        st.run(spoilt, GAME, adversary="best responder")
