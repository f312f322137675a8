"""All learners: they work from what is known and seen alone, and refuse bad settings."""

import re
from types import SimpleNamespace

import numpy as np
import pytest
from looping import each

import safeteach as st

SEED = 0  # feasible, and some are doomed
NAMES = ("SUCBVI", "UCBVI", "OptCMDP", "OptPess", "TripleQ", "Cautious")
PLANS = dict.fromkeys(NAMES, 20) | {"FixedPolicy": 1, "UniformPolicy": 1, "ExploreThenCommit": 2}
WORLD = st.instances.random_mdp(6, 3, 4, seed=SEED, unsafe=0.4)
HOME = st.safe_optimal(WORLD).policy
GAME_NAMES = ("SafeNashVI", "NashVI")
EXPLORERS = ("SRFUCRL", "RFUCRL")
ALLOWED = ("Informed",)  # it is told the tree, the gap and every hypothesis, and says so
GAME = st.instances.random_game(6, 3, 2, 4, seed=47, unsafe=0.3)


def build(name, known=WORLD.known, **settings):
    """A learner whose bonuses are small enough for it to move."""
    chosen = {"episodes": 200} | ({"bonus_scale": 1e-3} if name in NAMES else {})
    if name == "Cautious":
        chosen |= {"caution": 0.5, "trusted": [0]}
    if name == "FixedPolicy":
        chosen |= {"policy": HOME}
    if name == "ExploreThenCommit":
        chosen |= {"share": 0.5}
    if name == "OptPess":
        cost = st.evaluate(WORLD, HOME).cost
        chosen |= {"safe_policy": HOME, "safe_cost": cost, "budget": cost + 0.5}
    if name == "TripleQ":
        chosen |= {"epsilon": 0.1}
    return getattr(st.learners, name)(known, **(chosen | settings))


def test_no_learner_is_forgotten():
    tried = {*PLANS, *GAME_NAMES, *EXPLORERS, *ALLOWED}
    told = set(st.learners.__all__) - {"Learner", "settings_of"}
    assert tried == told, "add the new learner to the lists of this file"


def build_for_game(name, known=GAME.known, **settings):
    return getattr(st.learners, name)(known, **({"episodes": 200, "bonus_scale": 1e-3} | settings))


def everything_in(thing, seen):
    """All that an object holds, directly or not; types and compiled functions hold nothing."""
    if id(thing) in seen or isinstance(thing, type) or hasattr(thing, "py_func"):
        return
    seen[id(thing)] = thing
    if isinstance(thing, dict):
        parts = list(thing.values())
    elif isinstance(thing, list | tuple):
        parts = thing
    else:
        parts = list(getattr(thing, "__dict__", {}).values())
    for part in parts:
        everything_in(part, seen)


def check_nothing_is_kept(learner, world):
    held = {}
    everything_in(learner, held)
    assert len(held) > 5
    for thing in held.values():
        assert not isinstance(thing, st.SafeMDP | st.SafeGame)
        if isinstance(thing, np.ndarray):
            assert not np.shares_memory(thing, world.c)
            assert thing.size != world.S or not np.allclose(thing.ravel(), world.c, atol=1e-3)


@pytest.mark.parametrize("name", PLANS)
def test_a_learner_needs_no_more_than_what_is_known_and_seen(name):
    """What it planned in the world it plans again from a bare list of facts and the episodes."""
    facts = ("S", "A", "H", "r", "tau", "s1")
    bare = SimpleNamespace(**{fact: getattr(WORLD.known, fact) for fact in facts})
    learner, other = build(name), build(name, known=bare)
    ties = np.random.default_rng(np.random.SeedSequence(8).spawn(4)[3])
    plans = set()
    for k, episode in st.play(learner, WORLD, seed=8):
        assert other.plan(ties).tobytes() == learner.policy.tobytes(), k
        other.observe(episode)
        plans.add(learner.policy.tobytes())
    assert len(plans) >= PLANS[name]


@pytest.mark.parametrize("name", PLANS)
def test_a_learner_keeps_nothing_of_the_world(name):
    learner = build(name)
    st.run(learner, WORLD, seed=1)
    check_nothing_is_kept(learner, WORLD)


@pytest.mark.parametrize("name", EXPLORERS)
def test_an_explorer_needs_no_more_and_no_reward(name):
    """The bare list of facts has no reward at all."""
    facts = ("S", "A", "H", "tau", "s1")
    bare = SimpleNamespace(**{fact: getattr(WORLD.known, fact) for fact in facts})
    make = getattr(st.learners, name)
    learner, other = (make(known, bonus_scale=1e-3) for known in (WORLD.known, bare))
    ties = np.random.default_rng(np.random.SeedSequence(8).spawn(4)[3])
    plans = set()
    for k, episode in st.play(learner, WORLD, seed=8):
        assert other.plan(ties).tobytes() == learner.policy.tobytes(), k
        other.observe(episode)
        plans.add(learner.policy.tobytes())
        if k == 200:
            break
    assert len(plans) >= 20
    check_nothing_is_kept(learner, WORLD)


@pytest.mark.parametrize("name", GAME_NAMES)
def test_a_learner_of_games_needs_no_more_than_what_is_known_and_seen(name):
    facts = ("S", "A", "B", "H", "r", "tau", "s1")
    bare = SimpleNamespace(**{fact: getattr(GAME.known, fact) for fact in facts})
    learner, other = build_for_game(name), build_for_game(name, known=bare)
    ties = np.random.default_rng(np.random.SeedSequence(8).spawn(5)[4])
    plans = set()
    for k, episode in st.play(learner, GAME, seed=8, adversary="hazard seeker"):
        assert other.plan(ties).tobytes() == learner.mu.tobytes(), k
        assert other.nu.tobytes() == learner.nu.tobytes(), k
        other.observe(episode)
        plans.add(learner.mu.tobytes())
    assert len(plans) >= 20


@pytest.mark.parametrize("name", GAME_NAMES)
def test_a_learner_of_games_keeps_nothing_of_the_world(name):
    learner = build_for_game(name)
    st.run(learner, GAME, seed=1, adversary="best responder")
    check_nothing_is_kept(learner, GAME)


@pytest.mark.parametrize("name", NAMES + GAME_NAMES)
@each(
    ("settings", "error", "message"),
    [
        ({"episodes": 0}, ValueError, "episodes is 0; it must be at least 1"),
        ({"episodes": -3}, ValueError, "episodes is -3; it must be at least 1"),
        ({"episodes": 2.5}, TypeError, "episodes is 2.5; expected a whole number"),
        ({"episodes": True}, TypeError, "episodes is True; expected a whole number"),
        ({"delta": 0.0}, ValueError, "delta is 0.0; expected a number in (0, 1)"),
        ({"delta": 1.0}, ValueError, "delta is 1.0; expected a number in (0, 1)"),
        ({"delta": -0.1}, ValueError, "delta is -0.1; expected a number in (0, 1)"),
        ({"delta": float("nan")}, ValueError, "delta is nan; expected a number in (0, 1)"),
        ({"bonus_scale": -1.0}, ValueError, "bonus_scale is -1.0; expected a number in [0, inf)"),
        ({"bonus_scale": float("nan")}, ValueError, "bonus_scale is nan; expected a number in [0"),
        ({"bonus_scale": float("inf")}, ValueError, "bonus_scale is inf; expected a number in [0"),
    ],
)
def test_settings_that_make_no_sense_are_refused(name, settings, error, message):
    with pytest.raises(error, match=f"^{re.escape(message)}"):
        (build_for_game if name in GAME_NAMES else build)(name, **settings)


@pytest.mark.parametrize("name", ["OptCMDP", "OptPess", "TripleQ"])
@pytest.mark.parametrize("budget", [-0.5, float("nan")])
def test_a_budget_that_makes_no_sense_is_refused(name, budget):
    with pytest.raises(ValueError, match=f"^budget is {budget}; expected a number in"):
        build(name, budget=budget)


@pytest.mark.parametrize("recursion", ["printed", "", None])
def test_an_unknown_recursion_is_refused(recursion):
    with pytest.raises(ValueError, match=f'^recursion is {recursion!r}; expected "exact" or'):
        build("SUCBVI", recursion=recursion)


@pytest.mark.parametrize("name", NAMES)
@each(
    ("changes", "message"),
    [
        ({"S": 7}, "the learner was built for a world with S = 6; this one has 7"),
        ({"A": 2}, "the learner was built for a world with A = 3; this one has 2"),
        ({"H": 5}, "the learner was built for a world with H = 4; this one has 5"),
        ({"tau": 0.6}, "the learner was built for a world with tau = 0.5; this one has 0.6"),
        ({"s1": 2}, "the learner was built for a world with s1 = 0; this one has 2"),
        ({"r": 0.5}, "the learner was built for a world with other rewards"),
    ],
)
def test_another_world_than_the_one_it_was_built_for_is_refused(name, changes, message):
    shape = {"S": 6, "A": 3, "H": 4} | {k: v for k, v in changes.items() if k in "SAH"}
    mdp = st.instances.random_mdp(**shape, seed=SEED, unsafe=0.4)
    r = mdp.r[0] if "r" not in changes else np.full((6, 3), changes["r"])
    world = st.SafeMDP(
        mdp.P[0], r, mdp.c, changes.get("tau", 0.5), shape["H"], changes.get("s1", 0)
    )
    learner = build(name)
    with pytest.raises(ValueError, match=f"^{re.escape(message)}\n{name}, seed 0, after 0"):
        st.run(learner, world)


@pytest.mark.parametrize("noise", [-1.0, float("nan"), float("inf")])
def test_a_noise_that_makes_no_sense_is_refused_and_the_learner_stays_new(noise):
    learner = build("SUCBVI")
    with pytest.raises(ValueError, match=f"^noise is {noise}; expected a number in"):
        st.run(learner, WORLD, noise=noise)
    assert len(st.run(learner, WORLD).reward) == 200


@pytest.mark.parametrize("name", PLANS)
def test_a_learner_runs_once(name):
    learner = build(name)
    st.run(learner, WORLD)
    with pytest.raises(ValueError, match=r"^this learner has run before; build"):
        st.run(learner, WORLD)
    with pytest.raises(ValueError, match=r"^this learner has run before; build"):
        next(st.play(learner, WORLD))


@pytest.mark.parametrize("name", NAMES)
def test_a_bonus_beyond_all_numbers_gives_no_plan_but_valid_actions(name):
    """Overflow leaves nothing to compare; what is played must be actions all the same."""
    learner = build(name, bonus_scale=1e307)
    with np.errstate(over="ignore", invalid="ignore"):
        for _, episode in st.play(learner, WORLD, seed=0):
            assert ((episode.actions >= 0) & (episode.actions < WORLD.A)).all()
