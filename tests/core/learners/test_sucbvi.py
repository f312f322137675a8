"""SUCBVI against a plain one, against UCBVI, and against the plan of one who knows the world."""

import importlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as hs
from looping import many
from oracles.brute_force import worlds
from oracles.omniscient import teach, world_in_eighths
from oracles.plain_arrays import masks
from scipy.stats import chisquare

import safeteach as st
from safeteach.chapters.the_algorithm import plain
from safeteach.worlds.known import Episode

LOUD = {"delta": 0.5, "bonus_scale": 0.01}


def sharp(mdp):
    """The same world with costs 0 and 1 and a threshold near 0: danger is noticed in 20 visits."""
    P, r = (mdp.P[0], mdp.r[0]) if mdp.stationary else (mdp.P, mdp.r)
    return st.SafeMDP(P, r, mdp.unsafe.astype(float), 0.05, mdp.H, mdp.s1)


def printed(seen, known, flagged):
    """The spreading as Algorithm 1 prints it: each U_h^k starts from U_{h+1}^k."""
    U = {known.H: flagged}
    for h in range(known.H - 1, 0, -1):
        stuck = {s for s in range(known.S) if not plain.looks_safe(seen, known, U, h, s)}
        U[h] = U[h + 1] | stuck
    return U


def compare_with_plain(mdp, episodes, recursion, seed, noise):
    """Both learners side by side; how often a state was flagged, doomed, and its mask lifted."""
    learner = st.SUCBVI(mdp.known, episodes=episodes, recursion=recursion, **LOUD)
    doomed = plain.doomed if recursion == "exact" else printed
    delta, scale = LOUD.values()
    plays = (
        plain.by_hand(mdp, episodes, seed, doomed, delta, scale, noise),
        st.play(learner, mdp, seed=seed, noise=noise),
    )
    met = np.zeros(3, int)
    for mine, (k, episode) in zip(*plays, strict=True):
        U, safe = masks(plain.looks_safe, mine.seen, mdp.known, mine.U)
        assert np.abs(learner.Q - mine.Q).max() < 1e-9, k
        assert np.abs(learner.V - mine.V).max() < 1e-9, k
        assert (learner.U == U).all() and (learner.flagged == U[-1]).all(), k
        assert (learner.safe_actions == safe).all(), k
        assert (learner.policy == mine.policy).all(), k
        for part in ("states", "actions", "rewards", "costs"):
            assert (getattr(episode, part) == getattr(mine.episode, part)).all(), k
        met += U[-1].any(), (U & ~U[-1]).any(), (~U & ~safe.all(axis=2)).any()
    return met


@pytest.mark.parametrize("recursion", ["exact", "paper"])
@pytest.mark.parametrize("stationary", [True, False])
def test_it_equals_a_plain_one_in_every_episode(recursion, stationary):
    met = np.zeros(3, int)
    for seed in range(4):
        mdp = st.instances.random_mdp(5, 3, 4, seed, unsafe=0.3, stationary=stationary)
        met += compare_with_plain(sharp(mdp), 120, recursion, seed, noise=0.3)
    assert (met > 50).all()  # all that can be compared was there


@pytest.mark.slow
@given(
    worlds(max_states=5, max_policies=10**9),
    hs.sampled_from(["exact", "paper"]),
    hs.integers(0, 99),
)
@settings(max_examples=many(20, 60))
def test_it_equals_a_plain_one_in_any_world(mdp, recursion, seed):
    compare_with_plain(sharp(mdp), 80, recursion, seed, noise=0.1)


@pytest.mark.thorough  # small worlds are compared above
def test_it_equals_a_plain_one_on_the_pond_with_the_noise_of_the_paper():
    met = compare_with_plain(st.instances.grid(), 500, "exact", seed=2, noise=1.0)
    assert (met > 100).all()


@pytest.mark.parametrize("stationary", [True, False])
def test_with_nothing_flagged_it_is_ucbvi_bit_for_bit(stationary):
    mdp = st.instances.random_mdp(8, 3, 6, seed=1, unsafe=0.5, stationary=stationary)
    P, r = (mdp.P[0], mdp.r[0]) if stationary else (mdp.P, mdp.r)
    harmless = st.SafeMDP(P, r, mdp.c, tau=1.0, H=6)
    cheap = st.SafeMDP(P, r, mdp.c / 2, tau=0.5, H=6)
    for world, noise in ((harmless, 1.0), (harmless, 0.0), (cheap, 1e-6)):
        makers = st.SUCBVI, st.UCBVI
        learners = [make(world.known, episodes=600, bonus_scale=0.02) for make in makers]
        safe, free = (st.run(learner, world, seed=5, noise=noise) for learner in learners)
        assert not learners[0].U.any() and learners[0].costs.N.sum() == 600 * 6
        for name in ("reward", "violation", "regret"):
            assert getattr(safe, name).tobytes() == getattr(free, name).tobytes()
        for name in ("Q", "V", "policy"):
            assert getattr(learners[0], name).tobytes() == getattr(learners[1], name).tobytes()


def test_until_something_is_flagged_it_is_ucbvi_and_then_it_is_not():
    mdp = sharp(st.instances.grid())
    learners = [make(mdp.known, episodes=400, bonus_scale=0.01) for make in (st.SUCBVI, st.UCBVI)]
    same, flagged = [], []
    for (_, one), (_, other) in zip(*(st.play(x, mdp, seed=2) for x in learners), strict=True):
        same.append((one.states == other.states).all() and (one.actions == other.actions).all())
        flagged.append(learners[0].U.any())
    first = flagged.index(True)
    assert 0 < first < 200
    assert all(same[:first]) and not all(same[first:])


@pytest.mark.parametrize("stationary", [True, False])
def test_with_the_true_model_it_is_the_best_safe_plan(stationary):
    feasible = 0
    for seed in range(80):
        mdp = world_in_eighths(seed, stationary=stationary)
        learner = teach(st.SUCBVI(mdp.known, episodes=1, bonus_scale=0.0), mdp)
        learner.plan(np.random.default_rng(seed))
        assert (st.potentially_unsafe(mdp) == learner.U).all()
        assert (learner.safe_actions == st.safe_actions(mdp)).all()
        if not st.is_feasible(mdp):
            continue
        best = st.safe_optimal(mdp)
        assert np.abs(learner.V - best.V).max() < 1e-12
        assert np.abs(learner.Q - best.Q).max() < 1e-12
        e = st.evaluate(mdp, learner.policy)
        assert abs(e.value - best.value) < 1e-12 and e.unsafe_probability == 0
        feasible += st.potentially_unsafe(mdp)[0].any()
    assert feasible > 10


def test_with_the_true_model_the_printed_recursion_flags_too_much():
    mdp = st.instances.union_counterexample()
    U = {}
    for recursion in ("exact", "paper"):
        learner = st.SUCBVI(mdp.known, episodes=1, bonus_scale=0.0, recursion=recursion)
        teach(learner, mdp).plan(np.random.default_rng(0))
        assert (st.potentially_unsafe(mdp, recursion) == learner.U).all()
        U[recursion] = learner.U
    assert (U["exact"] < U["paper"]).any()


def test_the_printed_recursion_has_linear_regret_where_the_exact_one_has_none():
    mdp = st.instances.union_counterexample()
    episodes = 4000
    for seed in range(3):
        exact, paper = (
            st.run(st.SUCBVI(mdp.known, episodes=episodes, bonus_scale=0.01, recursion=recursion),
                   mdp, seed=seed).regret
            for recursion in ("exact", "paper")
        )  # fmt: skip
        assert np.abs(exact[-2000:]).sum() < 50
        assert (paper[-2000:] == 0.5).all()
        assert paper.sum() > 0.4 * episodes


def test_nothing_is_known_before_the_first_episode():
    known = st.instances.grid().known
    for make in (st.SUCBVI, st.UCBVI):
        learner = make(known, episodes=10)
        learner.plan(np.random.default_rng(0))
        assert (learner.Q == known.H).all() and (learner.V[:-1] == known.H).all()
        assert not learner.U.any() and learner.safe_actions.all()
        assert (learner.V[-1] == 0).all()


def test_a_pair_that_was_never_tried_has_the_largest_value_and_no_successor():
    mdp = st.instances.random_mdp(6, 3, 5, seed=2)
    learner = st.SUCBVI(mdp.known, episodes=60, bonus_scale=0.0)
    for _, _episode in st.play(learner, mdp):
        untried = learner.transitions.N == 0
        assert (learner.Q[untried] == mdp.H).all() and learner.safe_actions[untried].all()
        assert (learner.Q <= mdp.H).all()
    assert untried.any() and (learner.Q[~untried] < mdp.H).any()


def test_the_bonus_is_the_theorems_and_falls_with_the_root_of_the_visits():
    mdp = st.instances.union_counterexample()
    learner = st.SUCBVI(mdp.known, episodes=100, bonus_scale=1e-4, delta=0.1)
    to_g = Episode(np.array([0, 1, 3, 3, 3]), np.zeros(4, int), np.zeros(4), np.zeros(4))
    bonus = []
    for n in range(1, 101):
        learner.observe(to_g)
        learner.plan(np.random.default_rng(0))
        bonus.append(learner.Q[3, 3, 0] - mdp.r[3, 3, 0])
        alpha = st.bounds.alpha(n, S=5, A=2, H=4, K=100, delta=0.1)
        assert abs(bonus[-1] - 1e-4 * alpha) < 1e-12
    assert abs(bonus[0] / bonus[24] - 5) < 1e-9 and abs(bonus[0] / bonus[99] - 10) < 1e-9


def test_every_best_action_is_as_likely_as_the_others():
    known = st.instances.random_mdp(4, 5, 3, seed=0).known
    learner, rng = st.SUCBVI(known, episodes=10), np.random.default_rng(7)
    plans = np.array([learner.plan(rng).copy() for _ in range(4000)])
    for h in range(3):
        for s in range(4):
            counts = np.bincount(plans[:, h, s], minlength=5)
            assert len(counts) == 5 and chisquare(counts).pvalue > 1e-4
    together = np.bincount(5 * plans[:, 0, 0] + plans[:, 2, 3], minlength=25)
    assert chisquare(together).pvalue > 1e-4  # one state's luck says nothing about another's


def test_only_the_best_of_the_allowed_actions_are_drawn():
    """Action 0 looks worse, action 3 leads to a flagged state: 1, 2 and 4 share the draws."""
    mdp = st.SafeMDP(np.full((2, 5, 2), 0.5), np.zeros((2, 5)), [0, 1], 0.5, H=2)
    learner, rng = st.SUCBVI(mdp.known, episodes=10, bonus_scale=0.0), np.random.default_rng(3)
    for states, actions in [([0, 0, 0], [0, a]) for a in range(5)] + [([0, 1, 1], [3, 3])]:
        learner.observe(Episode(np.array(states), np.array(actions), np.zeros(2), np.zeros(2)))
    learner.costs.N[1], learner.costs.mean[1] = 10**8, 1.0
    plans = np.array([learner.plan(rng).copy() for _ in range(3000)])
    assert learner.U.tolist() == [[False, True], [False, True]]
    assert learner.safe_actions[0, 0].tolist() == [True, True, True, False, True]
    counts = np.bincount(plans[:, 0, 0], minlength=5)
    assert counts[0] == counts[3] == 0 and chisquare(counts[[1, 2, 4]]).pvalue > 1e-4


def test_ties_follow_the_documented_draw():
    mdp = st.instances.random_mdp(7, 4, 3, seed=4)
    learner = st.UCBVI(mdp.known, episodes=5)
    uniform = np.random.default_rng(11).random((3, 7))
    assert (learner.plan(np.random.default_rng(11)) == (4 * uniform).astype(int)).all()


@pytest.mark.parametrize("name", ["SUCBVI", "UCBVI", "OptCMDP", "OptPess", "TripleQ"])
def test_compiled_and_plain_kernels_give_the_same_bits(name, monkeypatch):
    mdp = st.instances.random_mdp(20, 2, 4, seed=4, successors=20, unsafe=0.4, stationary=False)
    scale = {"OptCMDP": 1e-4, "OptPess": 1e-6, "TripleQ": 1e-3}.get(name, 0.01)
    extra = {"OptPess": {"safe_policy": np.zeros((4, 20), int), "safe_cost": 3.9, "budget": 4.0},
             "OptCMDP": {"budget": 1.4}, "TripleQ": {"epsilon": 0.1}}  # fmt: skip

    def history():
        make = getattr(st, name)
        learner = make(mdp.known, episodes=120, bonus_scale=scale, **extra.get(name, {}))
        return st.run(learner, mdp, seed=3, noise=0.2), learner

    fast, fast_learner = history()
    plain = 0
    for module in ("planning.pricing", "running.playing", "learners.model", "learners.sucbvi",
                   "learners.optcmdp", "learners.optpess", "learners.triple_q"):  # fmt: skip
        module = importlib.import_module(f"safeteach.{module}")
        for attribute, value in vars(module).copy().items():
            if hasattr(value, "py_func"):
                monkeypatch.setattr(module, attribute, value.py_func)
                plain += 1
    assert plain >= 12
    slow, slow_learner = history()
    for part in ("reward", "violation", "regret"):
        assert getattr(fast, part).tobytes() == getattr(slow, part).tobytes()
    for part in {"Q", "V", "C", "policy", "bonus"} & vars(fast_learner).keys():
        one, other = (np.asarray(getattr(x, part)) for x in (fast_learner, slow_learner))
        assert one.tobytes() == other.tobytes(), part
