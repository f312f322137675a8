"""The statements of the chapter: laws carried forward, Bellman's equations, and the best policy."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as hs
from looping import many
from oracles.brute_force import episodes, worlds, worth

import safeteach as st


def random_policy(mdp, seed):
    return np.random.default_rng(seed).dirichlet(np.ones(mdp.A), size=(mdp.H, mdp.S))


@given(worlds(max_actions=2), hs.integers(0, 99))
@settings(max_examples=many(50, 150), deadline=None)
def test_the_law_of_the_state(mdp, seed):
    """prop-law: d_{h+1} from d_h, and the value as a sum over the laws."""
    policy = random_policy(mdp, seed)
    played = episodes(mdp, lambda x: policy[len(x) // 2, x[-1]])
    law, value = np.eye(mdp.S)[mdp.s1], 0.0
    for i in range(mdp.H):
        seen = np.zeros(mdp.S)
        for x, p, _ in played:
            seen[x[2 * i]] += p
        assert np.allclose(law, seen, rtol=0, atol=1e-12)
        value += np.einsum("s,sa,sa->", law, policy[i], mdp.r[i])
        law = np.einsum("s,sa,sat->t", law, policy[i], mdp.P[i])
    assert abs(value - sum(p * earned for _, p, earned in played)) < 1e-12


@given(worlds(max_actions=2), hs.integers(0, 99))
@settings(max_examples=many(50, 150), deadline=None)
def test_bellman_equations_of_a_policy(mdp, seed):
    """thm-evaluation: the recursion gives what the episodes give."""
    policy = random_policy(mdp, seed)
    V = np.zeros(mdp.S)
    for i in reversed(range(mdp.H)):
        V = (policy[i] * (mdp.r[i] + mdp.P[i] @ V)).sum(axis=1)
    assert abs(V[mdp.s1] - worth(mdp, lambda x: policy[len(x) // 2, x[-1]])) < 1e-12


@given(worlds(max_states=2, max_actions=2), hs.integers(0, 99), hs.booleans())
@settings(max_examples=many(50, 150), deadline=None)
def test_nothing_beats_backward_induction(mdp, seed, dice):
    """thm-optimality: no policy with memory, with or without dice, is worth more."""

    def choose(x):
        drawn = np.random.default_rng([seed, *x, len(x)]).dirichlet(np.ones(mdp.A))
        return drawn if dice else np.eye(mdp.A)[drawn.argmax()]

    plan = st.optimal(mdp)
    assert worth(mdp, choose) <= plan.value + 1e-12
    best = np.eye(mdp.A)[plan.policy]
    assert abs(worth(mdp, lambda x: best[len(x) // 2, x[-1]]) - plan.value) < 1e-12


@given(worlds(max_states=2, max_actions=2), hs.integers(0, 99))
@settings(max_examples=many(35, 100), deadline=None)
def test_one_step(mdp, seed):
    """lem-one-step, at the first step: the value splits into the first step and the rest."""

    def choose(x):
        return np.random.default_rng([seed, *x, len(x)]).dirichlet(np.ones(mdp.A))

    played = episodes(mdp, choose)
    rest = {}
    for x, p, earned in played:
        probability, later = rest.get(x[:3], (0.0, 0.0))
        first = mdp.r[0, mdp.s1, x[1]]
        rest[x[:3]] = probability + p, later + p * (earned - first)
    total = 0.0
    for (_, a, t), (probability, later) in rest.items():
        chance = choose((mdp.s1,))[a] * mdp.P[0, mdp.s1, a, t]
        assert abs(probability - chance) < 1e-12
        total += chance * (mdp.r[0, mdp.s1, a] + later / probability)
    assert abs(total - worth(mdp, choose)) < 1e-12
