"""Learners in an environment that can only be stepped: as in the world, but for what it hides."""

import subprocess
import sys
from math import erf, exp, pi, sqrt
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from core.running.histories import all_five, same_bits
from core.running.walks import Told, Walk

import safeteach as st

TESTS = Path(__file__).parents[2]
MDP = st.instances.union_counterexample()


def learner(mdp=MDP, **how):
    return st.SUCBVI(mdp.known, **({"episodes": 3, "bonus_scale": 0.01} | how))


def deterministic(seed, ends=()):
    """A world without luck; where it ends the agent stays, and earns nothing."""
    rng = np.random.default_rng(seed)
    r, c = rng.random((6, 3)), np.round(rng.random(6))
    P = np.eye(6)[rng.integers(6, size=(6, 3))]
    for s in ends:
        P[s], r[s] = np.eye(6)[s], 0
    return st.SafeMDP(P, r, c, tau=0.4, H=7, s1=0)


# ---- as in the world itself --------------------------------------------------------------------


@pytest.mark.parametrize("stationary", [True, False])
@pytest.mark.parametrize("noise", [0.0, 0.7])
@pytest.mark.parametrize("name", ["SUCBVI", "UCBVI", "OptCMDP", "OptPess", "TripleQ"])
def test_with_the_same_luck_every_bit_is_that_of_the_world(name, noise, stationary):
    """With the noise of costs, the learner's too; of the violation the environment knows less."""
    mdp = st.instances.random_mdp(6, 3, 4, seed=37, unsafe=0.4, stationary=stationary)
    make = all_five(mdp)[name]

    def episodes(world, **how):
        return st.play(make(mdp.known, episodes=150), world, 11, **how)

    walk, violation, reward = Walk(mdp, noise, shared=True), [], []
    pairs = zip(episodes(walk), episodes(mdp, noise=noise), strict=True)
    for (k, stepped), (other_k, played) in pairs:
        assert k == other_k and stepped.replies is played.replies is None
        for mine, theirs in zip(stepped[:4], played[:4], strict=True):
            assert mine.dtype == theirs.dtype and mine.tobytes() == theirs.tobytes()
        violation.append(sum(max(cost - mdp.tau, 0.0) for cost in stepped.costs.tolist()))
        reward.append(sum(stepped.rewards.tolist()))
    history = st.run(make(mdp.known, episodes=150), Walk(mdp, noise, shared=True), 11)
    assert np.array_equal(history.violation, violation) and history.violation.any()
    assert np.array_equal(history.reward, reward) and np.isnan(history.regret).all()
    world = st.run(make(mdp.known, episodes=150), mdp, 11, noise)
    assert np.array_equal(history.reward, world.reward)
    assert np.array_equal(history.violation, world.violation) == (noise == 0)


@pytest.mark.parametrize("seed", range(8))
def test_without_luck_it_is_the_world(seed):
    mdp = deterministic(seed)
    for make in all_five(mdp).values():
        world = st.run(make(mdp.known, episodes=60), mdp, seed, 0.0)
        history = st.run(make(mdp.known, episodes=60), Walk(mdp), seed)
        assert history.reward.tobytes() == world.reward.tobytes()
        assert history.violation.tobytes() == world.violation.tobytes()


def positive_part(mean):
    """E(mean + ξ)_+ for a standard normal ξ."""
    return mean * (1 + erf(mean / sqrt(2))) / 2 + exp(-(mean**2) / 2) / sqrt(2 * pi)


@pytest.mark.parametrize("noise", [0.0, 1.0])
def test_with_luck_of_its_own_the_averages_are_those_of_the_world(noise):
    """Within five standard errors; with noise the violation is that of the costs it reports."""
    mdp = st.instances.random_mdp(6, 3, 5, seed=2, unsafe=0.4)
    policy = np.random.default_rng(0).integers(3, size=(5, 6))
    fixed = st.learners.FixedPolicy(mdp.known, episodes=4_000, policy=policy)
    history = st.run(fixed, Walk(mdp, noise))
    P, r = mdp.P, mdp.r
    law, reward, violation = np.eye(6)[mdp.s1], 0.0, 0.0
    excess = mdp.c - mdp.tau
    for h in range(5):
        each = [positive_part(x) for x in excess] if noise else np.maximum(excess, 0)
        reward += law @ r[h, np.arange(6), policy[h]]
        violation += law @ each
        law = law @ P[h, np.arange(6), policy[h]]
    for found, expected in ((history.reward, reward), (history.violation, violation)):
        assert abs(found.mean() - expected) < 5 * found.std() / sqrt(4_000)
    true = st.evaluate(mdp, policy)
    assert abs(reward - true.value) < 1e-12
    assert violation > true.violation if noise else abs(violation - true.violation) < 1e-12


def test_a_learner_learns_there():
    mdp = st.instances.ice_corridor()
    history = st.run(learner(mdp, episodes=2_000), Walk(mdp), seed=1)
    early, late = history.reward[:200].mean(), history.reward[-200:].mean()
    assert early < 1 < 2 < late <= st.safe_optimal(mdp).value
    assert history.violation[:200].sum() > 0 == history.violation[-200:].sum()


def test_who_explores_can_be_played():
    mdp = st.instances.ice_corridor()
    widths = []
    for world in (Walk(mdp, 0.5, shared=True), mdp):
        explorer = st.SRFUCRL(mdp.known)
        noise = {} if isinstance(world, Walk) else {"noise": 0.5}
        played = zip(range(40), st.play(explorer, world, 3, **noise), strict=False)
        widths.append([(explorer.width, *episode.states) for _, (_, episode) in played])
    assert widths[0] == widths[1]


def test_the_seed_is_given_once_and_the_same_gives_the_same():
    mdp = st.instances.random_mdp(6, 3, 4, seed=1)
    walk = Walk(mdp, 1.0)
    first = st.run(learner(mdp, episodes=5), walk, seed=10**30)
    assert walk.seeds == [10**30, None, None, None, None]
    assert same_bits(first, st.run(learner(mdp, episodes=5), walk, seed=10**30))
    assert not same_bits(first, st.run(learner(mdp, episodes=5), walk, seed=4))


def test_its_history_is_kept_and_compared_like_others(tmp_path):
    history = st.run(learner(), Walk(MDP))
    history.save(tmp_path / "run.npz")
    assert st.History.load(tmp_path / "run.npz") == history == st.run(learner(), Walk(MDP))
    assert history != st.run(learner(), MDP, noise=0.0)  # whose regret is a number


def test_what_it_is_not_asked_for_it_need_not_have():
    class Bare:
        """No spaces; infos that are read once, and numbers of numpy."""

        def reset(self, *, seed=None):  # noqa: ARG002
            return 0, None

        def step(self, _action):
            return np.int32(0), np.float32(0.5), np.False_, np.False_, {"cost": np.array(0.25)}

    known = st.Known(2, 2, 3, np.full((3, 2, 2), 0.5), 0.0, 0)
    history = st.run(st.UCBVI(known, episodes=4), Bare())
    assert (history.reward == 1.5).all() and (history.violation == 0.75).all()


NO_GYMNASIUM = """
import sys
sys.modules["gymnasium"] = None
sys.path.insert(0, sys.argv[1])
from core.running.walks import Walk
import safeteach as st
mdp = st.instances.union_counterexample()
print(len(st.run(st.UCBVI(mdp.known, episodes=3), Walk(mdp)).reward))
"""


def test_gymnasium_is_not_needed():
    done = subprocess.run(
        [sys.executable, "-c", NO_GYMNASIUM, TESTS], capture_output=True, text=True
    )
    assert done.stdout == "3\n", done.stderr


# ---- episodes that end early -------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(8))
def test_where_an_episode_is_terminated_the_agent_stays(seed):
    """As in the world whose last states are absorbing and pay nothing, bit for bit."""
    ends = (2, 5)
    mdp, early = deterministic(seed, ends), 0
    for make in all_five(mdp).values():
        walk = Walk(mdp, ends=ends)
        history = st.run(make(mdp.known, episodes=60), walk, seed)
        world = st.run(make(mdp.known, episodes=60), mdp, seed, 0.0)
        assert history.reward.tobytes() == world.reward.tobytes()
        assert history.violation.tobytes() == world.violation.tobytes()
        early += walk.h < mdp.H
    if seed == 0:
        assert early


def test_the_rest_of_an_episode_costs_what_was_said_and_pays_nothing():
    P = np.zeros((3, 1, 3))
    P[0, 0, 1] = P[1, 0, 2] = P[2, 0, 2] = 1
    mdp = st.SafeMDP(P, [[1], [1], [0]], [0.5, 0.25, 1], 0.25, H=6)
    ((_, episode),) = st.play(st.UCBVI(mdp.known, episodes=1), Walk(mdp, ends=[2]))
    assert episode.states.tolist() == [0, 1, 2, 2, 2, 2, 2]
    assert episode.rewards.tolist() == [1, 1, 0, 0, 0, 0]
    assert episode.costs.tolist() == [0.5, 0.25, 1, 1, 1, 1]
    history = st.run(st.UCBVI(mdp.known, episodes=1), Walk(mdp, ends=[2]))
    assert (history.reward[0], history.violation[0]) == (2, 0.25 + 4 * 0.75)


def test_the_last_step_may_end_an_episode_in_any_way():
    class Ending(Walk):
        def step(self, action):
            *told, _, _, info = super().step(action)
            over = self.h == self.mdp.H
            return *told, over, over, info  # and nothing is said of what would follow

    assert same_bits(st.run(learner(), Ending(MDP)), st.run(learner(), Walk(MDP)))


# ---- what is wrong -----------------------------------------------------------------------------


def spaces(**changed):
    walk = Walk(MDP)
    vars(walk).update({name: SimpleNamespace(**told) for name, told in changed.items()})
    return walk


def starting(first):
    walk = Walk(MDP)
    walk.reset = lambda seed=None: first  # noqa: ARG005
    return walk


INFO = {"cost": 0.0}


@pytest.mark.parametrize(
    ("world", "kind", "message"),
    [
        (Walk, TypeError, "world is <class .*; expected a SafeMDP or a SafeGame, or an environme"),
        (SimpleNamespace(step=print), TypeError, "world is namespace.*reset\\(seed=\\) and step"),
        (SimpleNamespace(reset=1, step=2), TypeError, "world is namespace.*or an environment wit"),
        (
            spaces(observation_space={"n": 9}),
            ValueError,
            r"observation_space is .*n=9\); the learner was built for S = 5, and .*Discrete\(5\)$",
        ),
        (spaces(action_space={"n": 1}), ValueError, "action_space is .*; .* built for A = 2"),
        (spaces(observation_space={}), ValueError, "observation_space is .* built for S = 5"),
        (
            spaces(action_space={"n": 2, "start": 1}),
            ValueError,
            "action_space is .*; expected numbers from 0 on",
        ),
        (starting(0), TypeError, r"reset of episode 1 is 0; expected \(observation, info\)"),
        (starting((9, {})), ValueError, "the observation at the start of episode 1 is 9; the s"),
        (
            starting((MDP.s1 + 1, {})),
            ValueError,
            f"the observation at the start of episode 1 is {MDP.s1 + 1}; the learner was built for "
            f"s1 = {MDP.s1}, and where there are several starts",
        ),
        (
            Told(MDP, 0, 5),
            ValueError,
            "the observation after step 3 of episode 1 is 5; the states are 0..4",
        ),
        (Told(MDP, 0, -1), ValueError, "the observation after step 3 of episode 1 is -1; the st"),
        (Told(MDP, 0, 1.0), TypeError, "the observation after .* is 1.0; expected a whole number"),
        (Told(MDP, 0, np.zeros(4)), TypeError, "the observation after .*; expected a whole numb"),
        (Told(MDP, 1, None), TypeError, "the reward of step 3 of episode 1 is None; expected a"),
        (Told(MDP, 1, np.nan), ValueError, "the reward of step 3 of episode 1 is nan; expected a"),
        (Told(MDP, 1, 1e308), ValueError, r"the reward of step 3 of episode 1 is 1e\+308; expec"),
        (Told(MDP, 2, "False"), TypeError, "terminated of step 3 of episode 1 is 'False'; expect"),
        (Told(MDP, 2, np.nan), TypeError, "terminated of step 3 of episode 1 is nan; expected T"),
        (Told(MDP, 3, None), TypeError, "truncated of step 3 of episode 1 is None; expected True"),
        (Told(MDP, 4, None), TypeError, "the info of step 3 of episode 1 is None; expected a dic"),
        (
            Told(MDP, 4, {"Cost": 1}),
            ValueError,
            'the info of step 3 of episode 1 has no "cost"; expected that of the state in which '
            "the action was taken: the violation is counted from the costs that the environment",
        ),
        (Told(MDP, 4, {"cost": -1e308}), ValueError, '"cost" in the info of .* is -1e.308; expec'),
        (Told(MDP, 4, {"cost": np.inf}), ValueError, '"cost" in the info of step 3 of .* is inf'),
        (Told(MDP, 4, {"cost": "1"}), TypeError, "\"cost\" in the info of step 3 of .* is '1'; "),
        (
            Told(MDP, 2, True),
            ValueError,
            'the info of step 3 of episode 1 has no "terminal_cost"; expected what each step cost',
        ),
        (
            Walk(MDP, limit=2),
            ValueError,
            "step 2 of episode 1 is truncated; the learner was built for H = 4, and the env",
        ),
        (Walk(MDP, limit=3), ValueError, "step 3 of episode 1 is truncated"),
    ],
)
def test_an_environment_that_does_not_fit_is_refused(world, kind, message):
    with pytest.raises(kind, match=f"^{message}"):
        st.run(learner(), world)
    with pytest.raises(kind, match=f"^{message}"):
        list(st.play(learner(), world))


def test_a_step_is_a_tuple_of_five():
    walk = Walk(MDP)
    walk.step = lambda _action: (0, 0.0, False, INFO)
    with pytest.raises(TypeError, match=r"^step 1 of episode 1 is \(0, 0.0, .*; expected \(obs"):
        st.run(learner(), walk)


def test_an_error_says_in_which_run():
    with pytest.raises(ValueError, match="has no") as told:
        st.run(learner(), Told(MDP, 4, {}), seed=7)
    assert told.value.__notes__ == ["SUCBVI, seed 7, after 0 episodes"]


@pytest.mark.parametrize("policy", [np.full((4, 5), 7), np.full((4, 5, 2), 0.6)])
def test_a_policy_that_is_none_is_refused_before_the_first_step(policy):
    mine = learner()
    mine.plan = lambda _rng: policy
    walk = Walk(MDP)
    with pytest.raises(ValueError, match=r"^SUCBVI in episode 1, at step 1 in state 0: policy\["):
        st.run(mine, walk)
    assert not walk.seeds


def test_what_an_environment_does_not_have_is_not_set():
    with pytest.raises(ValueError, match=r"^noise is 0\.5; the costs of an environment are seen"):
        st.run(learner(), Walk(MDP), noise=0.5)
    with pytest.raises(ValueError, match=r"^adversary plays in a game; an environment has none$"):
        st.run(learner(), Walk(MDP), adversary="uniform")
    game = st.instances.penny_bridge()
    with pytest.raises(ValueError, match=r"^learner is SafeNashVI\(.*, built for a game; world is"):
        st.run(st.SafeNashVI(game.known, episodes=2), Walk(MDP), adversary="uniform")
    mine = learner()
    del mine.known
    with pytest.raises(TypeError, match=r"self\.known = known$"):
        st.run(mine, Walk(MDP))
    used = learner()
    st.run(used, Walk(MDP))
    with pytest.raises(ValueError, match=r"^this learner has run before; build a new one"):
        st.run(used, Walk(MDP))


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (
            lambda env: st.compare({"a": st.UCBVI}, env, 3, [0]),
            "compare makes many runs at once in",
        ),
        (lambda env: st.audit(learner(), env), "an audit compares what a learner believes with"),
        (
            lambda env: st.explore(st.SRFUCRL(MDP.known), env, 3),
            "explore says what plans are worth",
        ),
    ],
)
def test_what_needs_the_world_itself_refuses_an_environment_and_says_why(call, why):
    walk = Walk(MDP)
    with pytest.raises(
        TypeError, match=f"^mdp is .*Walk.*, an environment that can only be stepped; {why}"
    ):
        call(walk)
    assert not walk.seeds
