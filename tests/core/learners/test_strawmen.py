"""Straw men: each does what its name says, and no more than it may know."""

import re

import numpy as np
import pytest
from scipy import stats

import safeteach as st
from safeteach.learners import (
    SUCBVI,
    Cautious,
    ExploreThenCommit,
    FixedPolicy,
    Informed,
    UniformPolicy,
)

TREE = st.instances.violation_tree(2, 2, 0.25)
HOME = range(4)  # the inner nodes and leaf 1
LEAF_3 = np.tile([1, 0, 0, 0, 0, 0, 0], (TREE.H, 1))


def leaves(learner, mdp=TREE, seed=0):
    """Where each episode ends, and the policies."""
    ends, plans = [], []
    for _k, episode in st.play(learner, mdp, seed=seed):
        ends.append(int(episode.states[-1] - mdp.leaves[0]) + 1)
        plans.append(learner.policy.copy())
    return np.array(ends), plans


def test_a_fixed_policy_is_played_for_ever():
    learner = FixedPolicy(TREE.known, episodes=50, policy=LEAF_3)
    ends, plans = leaves(learner)
    assert (ends == 3).all()
    assert all(np.array_equal(plan, LEAF_3) for plan in plans)
    history = st.run(FixedPolicy(TREE.known, episodes=50, policy=LEAF_3), TREE)
    assert np.allclose(history.violation, 4 * 0.25) and (history.regret == -4).all()


def test_a_fixed_policy_may_draw_its_actions():
    policy = 0.3 * np.eye(2)[LEAF_3] + 0.7 * np.eye(2)[np.zeros_like(LEAF_3)]
    ends, _ = leaves(FixedPolicy(TREE.known, episodes=2_000, policy=policy))
    assert set(ends) == {1, 3}
    assert np.mean(ends == 3) == pytest.approx(0.3, abs=0.04)


def test_the_uniform_policy_ends_in_every_leaf_alike():
    ends, _ = leaves(UniformPolicy(TREE.known, episodes=2_000))
    assert stats.chisquare(np.bincount(ends)[1:]).pvalue > 0.01


@pytest.mark.parametrize(("share", "explored"), [(0.3, 30), (0.301, 31), (1.0, 100), (1e-9, 1)])
def test_it_explores_for_its_share_and_then_commits(share, explored):
    ends, plans = leaves(ExploreThenCommit(TREE.known, episodes=100, share=share))
    assert all((plan == 0.5).all() for plan in plans[:explored])
    assert all(plan.ndim == 2 and np.array_equal(plan, plans[-1]) for plan in plans[explored:])
    assert len(set(ends[explored:])) <= 1


def in_front_of(share, seed, mdp):
    """Explore and commit; what was seen at the commitment, and the plan."""
    learner = ExploreThenCommit(mdp.known, episodes=400, share=share)
    seen = []
    for k, episode in st.play(learner, mdp, seed=seed):
        if k < share * 400:
            seen.append(episode)
    return learner, seen


def test_it_commits_to_the_best_safe_policy_of_what_it_saw():
    """What it saw as a world of its own, in which the untried leads to a state that is unsafe."""
    feasible = 0
    for seed in range(12):
        mdp = st.instances.random_mdp(6, 3, 4, seed=seed, unsafe=0.4)
        learner, seen = in_front_of(0.4, seed, mdp)
        counts, total, visits = np.zeros((4, 7, 3, 7)), np.zeros(7), np.zeros(7)
        for episode in seen:
            for h in range(4):
                s, a = episode.states[h], episode.actions[h]
                counts[h, s, a, episode.states[h + 1]] += 1
                total[s] += episode.costs[h]
                visits[s] += 1
        flagged = (visits > 0) & (total / np.maximum(visits, 1) > mdp.tau)
        assert np.array_equal(learner.flagged, flagged[:6])
        flagged[6] = True
        counts[..., 6] = counts.sum(axis=3) == 0
        P = counts / counts.sum(axis=3, keepdims=True)
        r = np.pad(mdp.r, ((0, 0), (0, 1), (0, 0))) * (P[..., 6] == 0)
        model = st.SafeMDP(P, r, flagged * 1.0, 0.5, 4)
        chosen = np.pad(learner.policy, ((0, 0), (0, 1)))
        if st.is_feasible(model):
            feasible += 1
            value = st.evaluate(model, chosen)
            assert value.unsafe_probability == 0
            assert value.value == pytest.approx(st.safe_optimal(model).value)
    assert 3 <= feasible < 12


def test_it_never_chooses_what_it_never_tried():
    mdp = st.instances.random_mdp(8, 4, 5, seed=2)
    learner, seen = in_front_of(0.02, 1, mdp)
    tried = {(h, e.states[h], e.actions[h]) for e in seen for h in range(5)}
    reached = {(h, s) for h, s, _a in tried}
    assert len(tried) < 60
    for h, s in reached:
        assert (h, s, learner.policy[h, s]) in tried


def test_it_looks_ahead_for_what_looks_unsafe():
    """Leaf 1 is safe and pays nothing; with a gap that nobody can miss it goes there."""
    tree = st.instances.violation_tree(2, 2, 0.5)
    for seed in range(10):
        learner = ExploreThenCommit(tree.known, episodes=1_000, share=0.9)
        ends, _ = leaves(learner, tree, seed)
        assert learner.flagged[4:].all() and not learner.flagged[:3].any()
        if not learner.flagged[3]:  # its cost is the threshold: a coin decides
            assert (ends[900:] == 1).all()
        else:
            assert (ends[900:] > 1).all()


def test_caution_1_is_sucbvi_bit_for_bit():
    mdp = st.instances.grid()
    how = {"episodes": 800, "bonus_scale": 3e-3}
    one = st.run(Cautious(mdp.known, caution=1, **how), mdp, seed=5)
    other = st.run(SUCBVI(mdp.known, **how), mdp, seed=5)
    for name in ("reward", "violation", "regret"):
        assert getattr(one, name).tobytes() == getattr(other, name).tobytes()


@pytest.mark.parametrize("caution", [1.0, 0.2, 0.0, -0.3])
def test_it_flags_by_its_dial_and_never_whom_it_trusts(caution):
    learner = Cautious(
        TREE.known, episodes=300, caution=caution, bonus_scale=1e-3, trusted=HOME, delta=0.1
    )
    some = False
    for _k, _episode in st.play(learner, TREE, seed=1):
        N, mean = learner.costs.N, learner.costs.mean
        for s in range(TREE.S):
            width = st.bounds.beta(N[s], TREE.S, 0.1) if N[s] else 0.0
            guilty = N[s] > 0 and s not in HOME and mean[s] - caution * width > 0.5
            assert learner.flagged[s] == guilty
            some |= guilty
    assert some == (caution < 1)


def test_the_lower_the_dial_the_less_violation():
    paid = [
        st.run(
            Cautious(TREE.known, episodes=2_000, caution=caution, bonus_scale=1e-3, trusted=HOME),
            TREE, seed=3,
        ).violation.sum()
        for caution in (1, 0.3, 0, -1)
    ]  # fmt: skip
    assert paid == sorted(paid, reverse=True) and paid[-1] > 0
    assert paid[0] > 4 * paid[-1]


def ratio(learner, episodes_seen, tree, gap):
    """Log of the mean likelihood ratio of "leaf i is safe" to "none is", from scipy's density."""
    logs = []
    for leaf in tree.leaves[1:]:
        costs = [e.costs[h] for e in episodes_seen for h in range(tree.H) if e.states[h] == leaf]
        safe = stats.norm.logpdf(costs, 0.5, 1).sum()
        logs.append(safe - stats.norm.logpdf(costs, 0.5 + gap, 1).sum())
    assert np.allclose(learner.L, logs)
    return np.log(np.mean(np.exp(logs)))


@pytest.mark.parametrize("caution", [-1.0, 0.0, 1.0, 3.0])
def test_informed_goes_by_the_likelihood_and_gives_up_once(caution):
    learner = Informed(TREE.known, episodes=60, leaves=TREE.leaves, gap=0.25, caution=caution)
    seen, home = [], False
    for k, episode in st.play(learner, TREE, seed=2):
        if not home and k > 0:
            home = ratio(learner, seen, TREE, 0.25) < np.log(k / 60) / 2 - caution
        assert learner.home == home
        end = int(episode.states[-1] - TREE.leaves[0])
        assert end == 0 if home else learner.L[end - 1] == learner.L.max()
        if not home:
            seen.append(episode)
    assert home == (caution < 3)
    assert len(seen) >= 1


def test_informed_tells_easy_worlds_apart():
    for j, stays in ((None, False), (2, True), (4, True)):
        tree = st.instances.violation_tree(2, 2, 0.5, j)
        learner = Informed(tree.known, episodes=400, leaves=tree.leaves, gap=0.5, caution=3)
        ends, _ = leaves(learner, tree, seed=4)
        assert (ends[200:] == (j if stays else 1)).all()


def test_informed_breaks_ties_by_luck():
    firsts = {
        leaves(
            Informed(TREE.known, episodes=1, leaves=TREE.leaves, gap=0.25, caution=0), seed=seed
        )[0][0]
        for seed in range(30)
    }
    assert firsts == {2, 3, 4}


def test_informed_needs_no_more_than_what_it_was_told_and_saw():
    """On a world of the same size but other costs it plans the same from the same episodes."""
    how = {"episodes": 80, "leaves": TREE.leaves, "gap": 0.25, "caution": 1.0}
    learner, other = Informed(TREE.known, **how), Informed(TREE.known, **how)
    ties = np.random.default_rng(np.random.SeedSequence(8).spawn(4)[3])
    for _k, episode in st.play(learner, TREE, seed=8):
        assert np.array_equal(other.plan(ties), learner.policy)
        other.observe(episode)


@pytest.mark.parametrize(
    ("make", "how", "message"),
    [
        (FixedPolicy, {"policy": [[0]]}, "policy has shape (1, 1); expected (H, S) = (6, 7)"),
        (FixedPolicy, {"policy": LEAF_3, "episodes": 0}, "episodes is 0; it must be at least 1"),
        (UniformPolicy, {"episodes": -1}, "episodes is -1; it must be at least 1"),
        (ExploreThenCommit, {"share": 0}, "share is 0; expected a number in (0, 1]"),
        (ExploreThenCommit, {"share": 1.5}, "share is 1.5"),
        (ExploreThenCommit, {"share": np.nan}, "share is nan"),
        (ExploreThenCommit, {"share": 0.5, "episodes": 0}, "episodes is 0"),
        (Cautious, {"caution": np.nan}, "caution is nan; expected a finite number"),
        (Cautious, {"caution": np.inf}, "caution is inf"),
        (Cautious, {"caution": 1, "trusted": [7]}, "trusted[0] is 7; it must be at most 6"),
        (Cautious, {"caution": 1, "trusted": [-1]}, "trusted[0] is -1; it must be at least 0"),
        (Informed, {"leaves": [3], "gap": 0.1, "caution": 0}, "leaves is [3]; expected two"),
        (Informed, {"leaves": [4, 3], "gap": 0.1, "caution": 0}, "leaves is [4 3]; expected"),
        (Informed, {"leaves": [3, 4], "gap": 0.0, "caution": 0}, "gap is 0.0; expected"),
        (Informed, {"leaves": [3, 4], "gap": 0.1, "caution": np.nan}, "caution is nan; expected"),
        (Informed, {"leaves": [3, 4], "gap": 0.1, "caution": 0, "episodes": 0}, "episodes is 0"),
    ],
)
def test_settings_that_make_no_sense_are_refused(make, how, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
        make(TREE.known, **({"episodes": 10} | how))


def test_a_policy_with_an_action_that_is_none_is_refused():
    with pytest.raises(ValueError, match="the actions are 0"):
        FixedPolicy(TREE.known, episodes=3, policy=np.full((6, 7), 2))


@pytest.mark.parametrize("states", [3, "12", None])
def test_one_state_is_not_several(states):
    with pytest.raises(TypeError, match=r"^trusted is .*; expected several states"):
        Cautious(TREE.known, episodes=3, caution=1, trusted=states)
