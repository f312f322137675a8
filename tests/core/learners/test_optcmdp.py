"""OptCMDP: its model computed anew, its plan against the linear program (HiGHS)."""

import math

import numpy as np
import pytest
from looping import each
from oracles.linear_programs import model_lp, model_worth
from oracles.omniscient import teach, world_in_eighths

import safeteach as st


def optimistic_model(learner, clip=False):
    """P̂, r̃ and c̃ from the counts, over all S successors of every pair."""
    known, told = learner.known, vars(learner)
    S, A, H = known.S, known.A, known.H
    P, n = learner.transitions.P_hat, np.maximum(learner.transitions.N, 1)[..., None]
    L = math.log(6 * S * A * H * told["episodes"] / told["delta"])
    width = 2 * np.sqrt(L * P * (1 - P) / n) + 14 * L / (3 * n)
    b = told["bonus_scale"] * H * width.sum(axis=3)
    visits = np.maximum(learner.costs.N, 1)
    beta = np.sqrt(2 * np.log(S * visits * (visits + 1) / told["delta"]) / visits)
    c = (learner.costs.mean - beta)[:, None] - b
    return P, known.r + b, np.maximum(c, 0) if clip else c, b


def least_cost(P, c, s1):
    V = np.zeros(P.shape[1])
    for i in reversed(range(len(P))):
        V = (c[i] + P[i] @ V).min(axis=1)
    return V[s1]


@pytest.mark.parametrize("stationary", [True, False])
@pytest.mark.parametrize(
    ("bonus_scale", "clip", "budget", "episodes", "kinds"),
    [
        (1.0, False, 0.8, 100, {"loose"}),
        (1e-3, False, 0.8, 300, {"loose"}),
        (1e-4, True, 0.5, 300, {"loose", "tight"}),
        (0.0, False, 0.3, 1500, {"loose", "tight", "none"}),
    ],
)
def test_every_plan_is_best_in_the_optimistic_model(
    stationary, bonus_scale, clip, budget, episodes, kinds
):
    mdp = st.instances.random_mdp(6, 3, 4, seed=1, unsafe=0.5, stationary=stationary)
    learner = st.OptCMDP(
        mdp.known, episodes=episodes, delta=0.5, bonus_scale=bonus_scale, budget=budget, clip=clip
    )
    met, unseen = set(), False
    for k, _episode in st.play(learner, mdp, seed=3, noise=0.1):
        if k % (episodes // 25):
            continue
        P, r, c, b = optimistic_model(learner, clip)
        assert np.allclose(learner.bonus, b, rtol=1e-12, atol=0)
        assert np.abs(learner.policy.sum(axis=2) - 1).max() < 1e-12
        unseen |= (learner.transitions.N == 0).any()
        value, cost = (model_worth(P, x, mdp.s1, learner.policy) for x in (r, c))
        best = model_lp(P, r, c, mdp.s1, budget)
        assert learner.found == (best is not None)
        if best is None:
            assert abs(cost - least_cost(P, c, mdp.s1)) < 1e-12
            met.add("none")
            continue
        assert abs(value - best) < 1e-9 * max(1, best)
        assert cost <= budget + 1e-9 * max(1, np.abs(c).max())
        met.add("tight" if abs(cost - budget) < 1e-9 else "loose")
    assert met == kinds and unseen  # rows of zeros were among them


def test_a_pair_that_was_never_tried_has_the_bonus_of_one_visit_and_no_future():
    mdp = st.instances.random_mdp(5, 2, 3, seed=0)
    learner = st.OptCMDP(mdp.known, episodes=10, budget=0.5)
    learner.plan(np.random.default_rng(0))
    P, _r, c, b = optimistic_model(learner)
    assert (P == 0).all() and (c < 0).all()
    assert np.allclose(learner.bonus, b, rtol=1e-12)
    assert b[0, 0, 0] == pytest.approx(3 * 5 * 14 * math.log(6 * 5 * 2 * 3 * 10 / 0.005) / 3)


def knowing(mdp, budget):
    """A learner without bonuses that knows the world."""
    learner = teach(st.OptCMDP(mdp.known, episodes=1, bonus_scale=0.0, budget=budget), mdp)
    assert (learner.bonus == 0).all()
    learner.low[:] = mdp.c
    return learner


@each("seed", range(40))
def test_with_the_true_model_and_no_bonus_it_is_the_best_plan_within_the_budget(seed):
    mdp = world_in_eighths(seed, stationary=seed % 2 == 0)
    c = np.broadcast_to(mdp.c[:, None], mdp.r.shape)
    low, high = least_cost(mdp.P, c, mdp.s1), st.evaluate(mdp, st.optimal(mdp).policy).cost
    budget = low + [0.0, 0.3, 0.8, 1.5][seed % 4] * (high - low)
    learner = knowing(mdp, budget)
    learner.plan(np.random.default_rng(seed))
    best, e = st.constrained_optimal(mdp, budget), st.evaluate(mdp, learner.policy)
    assert learner.found
    assert abs(e.value - best.value) < 1e-9 and abs(e.cost - best.cost) < 1e-9


@pytest.mark.parametrize("seed", range(5))
def test_where_no_policy_meets_the_budget_it_plays_the_cheapest(seed):
    mdp = world_in_eighths(seed)
    c = np.broadcast_to(mdp.c[:, None], mdp.r.shape)
    low = least_cost(mdp.P, c, mdp.s1)
    learner = knowing(mdp, 0.9 * low)
    learner.plan(np.random.default_rng(seed))
    assert not learner.found and low > 0
    assert abs(st.evaluate(mdp, learner.policy).cost - low) < 1e-12


def test_it_notices_in_a_run_that_no_policy_meets_the_budget():
    mdp = st.SafeMDP(np.full((2, 2, 2), 0.5), np.zeros((2, 2)), [1, 1], 0.5, H=2)
    learner = st.OptCMDP(mdp.known, episodes=600, delta=0.5, bonus_scale=0.0, budget=0.5)
    found = [learner.found for _ in st.play(learner, mdp, seed=0, noise=0.1)]
    assert found[0] and not found[-1]
