"""OptPess-LP: when it stays with its safe policy, and what it plays when it does not."""

import math
import re

import numpy as np
import pytest
from oracles.linear_programs import model_lp, model_worth

import safeteach as st


def pessimistic_model(learner):
    """P̂, r̄ and c̲ from the counts."""
    known, told = learner.known, vars(learner)
    S, A, H = known.S, known.A, known.H
    Z = math.log(16 * S**2 * A * H * told["episodes"] / told["delta"])
    beta = told["bonus_scale"] * np.sqrt(Z / np.maximum(learner.transitions.N, 1))
    slack = told["budget"] - told["safe_cost"]
    r = known.r + (1 + S * H + 4 * H * (1 + S * H) / slack) * beta
    return learner.transitions.P_hat, r, learner.costs.mean[:, None] + (1 + H * S) * beta


def home_and_world(stationary, randomised):
    """A world, a policy that is cheap there, and its cost; some policies cost much more."""
    mdp = st.instances.random_mdp(6, 3, 4, seed=5, unsafe=0.5, stationary=stationary)
    home = st.constrained_optimal(mdp, 0.9 if randomised else least_cost(mdp)).policy
    assert (home.max(axis=2) < 0.99).any() == randomised
    if not randomised:
        home = home.argmax(axis=2)
    return mdp, home, st.evaluate(mdp, home).cost


def least_cost(mdp):
    V = np.zeros(mdp.S)
    for i in reversed(range(mdp.H)):
        V = (mdp.c[:, None] + mdp.P[i] @ V).min(axis=1)
    return V[mdp.s1]


@pytest.mark.parametrize("stationary", [True, False])
@pytest.mark.parametrize("randomised", [True, False])
def test_it_stays_at_home_until_home_looks_cheap_enough_and_then_plans(stationary, randomised):
    mdp, home, cost = home_and_world(stationary, randomised)
    budget = cost + 1
    learner = st.OptPess(
        mdp.known, episodes=2000, safe_policy=home, safe_cost=cost, bonus_scale=0.02, budget=budget
    )
    chances = home if randomised else np.eye(mdp.A)[home]
    cautious, plans = [], 0
    for k, _episode in st.play(learner, mdp, seed=2, noise=0.1):
        P, r, c = pessimistic_model(learner)
        looks = model_worth(P, c, mdp.s1, chances)
        assert abs(looks - (budget + cost) / 2) > 1e-9  # no tie that rounding decides
        cautious.append(learner.cautious)
        assert learner.cautious == (looks >= (budget + cost) / 2)
        if learner.cautious:
            assert (learner.policy == chances).all()
        elif k % 100 == 0:
            best = model_lp(P, r, c, mdp.s1, budget)
            assert abs(model_worth(P, r, mdp.s1, learner.policy) - best) < 1e-9 * best
            assert model_worth(P, c, mdp.s1, learner.policy) <= budget + 1e-9
            plans += (learner.policy != chances).any()
    assert all(cautious[:100]) and not any(cautious[-100:]) and plans > 3


def test_with_the_published_bonus_it_plays_the_safe_policy_throughout():
    mdp, home, cost = home_and_world(stationary=True, randomised=False)
    learner = st.OptPess(
        mdp.known, episodes=2000, safe_policy=home, safe_cost=cost, budget=cost + 1
    )
    for _, episode in st.play(learner, mdp, seed=0):
        assert learner.cautious
        assert (episode.actions == home[np.arange(mdp.H), episode.states[:-1]]).all()


def test_a_safe_cost_above_the_budget_is_refused():
    known = st.instances.grid().known
    home = np.zeros((12, 25), int)
    for safe_cost, budget in ((0.5, 0.5), (0.6, 0.5), (-0.1, 0.5), (float("nan"), 0.5)):
        message = f"safe_cost is {safe_cost:g} and budget {budget:g}"
        if np.isnan(safe_cost):
            message = "safe_cost is nan"
        with pytest.raises(ValueError, match=f"^{re.escape(message)}; "):
            st.OptPess(known, episodes=9, safe_policy=home, safe_cost=safe_cost, budget=budget)


@pytest.mark.parametrize("shape", [(12,), (25, 12), (12, 24), (12, 25, 3), (11, 25, 4)])
def test_a_safe_policy_of_another_shape_is_refused(shape):
    known, wrong = st.instances.grid().known, np.zeros(shape, int)
    expected = "expected (H, S) = (12, 25) actions or (H, S, A) = (12, 25, 4)"
    with pytest.raises(ValueError, match=re.escape(f"safe_policy has shape {shape}; {expected}")):
        st.OptPess(known, episodes=9, safe_policy=wrong, safe_cost=0.0)


@pytest.mark.parametrize("action", [4, -1])
def test_a_safe_policy_with_an_action_that_there_is_not_is_refused(action):
    wrong = np.full((12, 25), action)
    with pytest.raises(ValueError, match=r"^safe_policy.* is -?\d; the actions are 0\.\.3"):
        st.OptPess(st.instances.grid().known, episodes=9, safe_policy=wrong, safe_cost=0.0)


def test_a_promise_that_is_not_kept_is_refused_before_anything_is_played():
    mdp = st.instances.grid()
    across = st.optimal(mdp).policy
    cost = st.evaluate(mdp, across).cost
    learner = st.OptPess(mdp.known, episodes=9, safe_policy=across, safe_cost=0.1)
    message = f"safe_policy costs {cost:.6g} in this world, more than the promised safe_cost 0.1"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}\n"):
        st.run(learner, mdp)
    assert learner.transitions.visits.sum() == 0


def test_a_safe_policy_that_is_none_is_refused():
    mdp = st.instances.grid()
    half = np.full((12, 25, 4), 0.2)
    with pytest.raises(ValueError, match=r"^safe_policy.*must be nonnegative and sum to 1"):
        st.OptPess(mdp.known, episodes=9, safe_policy=half, safe_cost=0.1)
