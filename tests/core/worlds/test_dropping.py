"""``drop_below``: what is removed is said, and what that can hide is bounded."""

import math
import re

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as some
from looping import many

import safeteach as st


def gaussian(n=40, deviation=1.0):
    """A drone on a line; its action moves it by -1, 0 or 1, and the wind by a Gaussian."""
    at = np.arange(n)
    meant = np.clip(at[:, None] + [-1, 0, 1], 2, n - 1)
    weight = np.exp(-0.5 * ((at - meant[..., None]) / deviation) ** 2)
    return weight / weight.sum(-1, keepdims=True)


def test_a_discretised_gaussian_is_feasible_once_its_tails_are_dropped():
    P, c = gaussian(), np.eye(40)[39]
    told = {"r": np.zeros((40, 3)), "c": c, "tau": 0.5, "H": 5, "s1": 5}
    exact = st.SafeMDP(P, **told)
    assert exact.dropped == (0.0, 0) and exact.hidden_risk == 0.0 and "dropped" not in repr(exact)
    assert not st.is_feasible(exact)  # from anywhere it can be anywhere, with 1e-174 or so
    clean = st.SafeMDP(P, **told, drop_below=1e-9)
    assert st.is_feasible(clean) and 0 < clean.dropped.mass < 1e-8
    plan = st.safe_optimal(clean)
    risk = st.evaluate(exact, plan.policy).unsafe_probability
    assert st.evaluate(clean, plan.policy).unsafe_probability == 0 < risk <= clean.hidden_risk


def test_what_was_dropped_is_said():
    P = np.array([[[1 - 3e-10, 1e-10, 2e-10]], [[1e-9, 0.5, 0.5 - 1e-9]], [[0, 1e-12, 1 - 1e-12]]])
    told = {"r": np.zeros((3, 1)), "c": [0, 0, 1], "tau": 0.5, "H": 7}
    mdp = st.SafeMDP(P, **told, drop_below=1e-9)
    assert mdp.dropped.rows == 2 and math.isclose(mdp.dropped.mass, 3e-10, rel_tol=1e-12)
    assert [mdp.successors(1, s, 0).tolist() for s in range(3)] == [[0], [0, 1, 2], [2]]
    assert mdp.P[0, 0, 0].tolist() == [1, 0, 0]
    assert (mdp.P[0, 1] == P[1]).all()  # a row that loses nothing keeps its bits
    assert repr(mdp).endswith("stationary, at most 3e-10 dropped from 2 rows)")
    assert mdp == st.SafeMDP(sp.csr_array(P.reshape(3, 3)), **told, drop_below=1e-9)
    assert mdp != st.SafeMDP(mdp.P[0], **told)  # which does not know that something is missing
    steps = st.SafeMDP(np.stack([P] * 6 + [mdp.P[0]]), **told, drop_below=1e-9)
    assert steps.dropped.rows == 12 and steps.dropped.mass == mdp.dropped.mass
    none = st.SafeMDP(P, **told, drop_below=1e-13)
    assert none == st.SafeMDP(P, **told) and none.dropped == (0.0, 0)


@pytest.mark.parametrize("p", [1e-300, 1e-18, 1e-12, 1e-3])
@pytest.mark.parametrize("H", [1, 50, 10**6])
def test_the_hidden_risk_is_accurate_however_small(p, H):
    mdp = st.SafeMDP([[[1 - p, p]], [[0, 1]]], [[0], [0]], [0, 1], 0.5, H, drop_below=2e-3)
    assert mdp.dropped == (p, 1)
    q, exact = mdp.dropped.mass, 0.0
    for k in range(1, 40):  # the binomial series of 1 - (1 - q)^H, where it converges fast
        exact -= math.prod((i - H) * q / (i + 1) for i in range(k))
    assert mdp.hidden_risk <= H * q
    if H * q <= 1:
        assert math.isclose(mdp.hidden_risk, exact, rel_tol=1e-10)


def test_the_bound_is_attained():
    """One arrow into the water at every step, which is dropped at every step."""
    p, H = 1e-4, 20
    P = np.array([[[1 - p, p]], [[0, 1]]])
    told = {"r": [[0], [0]], "c": [0, 1], "tau": 0.5, "H": H + 1}
    policy = np.zeros((H + 1, 2), int)
    risk = st.evaluate(st.SafeMDP(P, **told), policy).unsafe_probability
    clean = st.SafeMDP(P, **told, drop_below=1e-3)
    assert st.evaluate(clean, policy).unsafe_probability == 0
    assert math.isclose(risk, -math.expm1(H * math.log1p(-p)), rel_tol=1e-9)
    assert risk < clean.hidden_risk < risk * (H + 1.1) / H  # the last step's move has no cost


@settings(deadline=None, max_examples=many(50, 150))
@given(
    seed=some.integers(0, 10**6), below=some.sampled_from([0.001, 0.01, 0.05, 0.2]),
    stationary=some.booleans(), H=some.integers(1, 8),
)  # fmt: skip
def test_no_policy_hides_more_than_the_bound(seed, below, stationary, H):
    rng = np.random.default_rng(seed)
    steps = 1 if stationary else H
    P = rng.dirichlet(np.full(5, 0.2), size=(steps, 5, 2))
    P = P[0] if stationary else P
    told = {"r": np.zeros((5, 2)), "c": rng.random(5), "tau": 0.6, "H": H}
    exact, clean = st.SafeMDP(P, **told), st.SafeMDP(P, **told, drop_below=below)
    left = np.where(below > P, 0, P)
    assert np.allclose(clean.P, left / left.sum(-1, keepdims=True), rtol=1e-12, atol=0)
    assert math.isclose(clean.dropped.mass, (P - left).sum(-1).max(), abs_tol=1e-9)
    assert clean.dropped.rows == np.count_nonzero((left != P).any(-1))
    for policy in (rng.dirichlet(np.ones(2), size=(H, 5)), rng.integers(2, size=(H, 5))):
        risks = [st.evaluate(w, policy).unsafe_probability for w in (exact, clean)]
        assert abs(risks[0] - risks[1]) <= clean.hidden_risk + 1e-12


def test_a_game_drops_too():
    game = st.instances.random_game(5, 2, 2, 4, seed=3, successors=4, stationary=False)
    clean = st.SafeGame(game.P, game.r, game.c, game.tau, game.H, drop_below=0.1)
    assert clean.dropped.rows == np.count_nonzero(((game.P > 0) & (game.P < 0.1)).any(-1)) > 0
    rng = np.random.default_rng(0)
    for _ in range(20):
        mu, nu = rng.dirichlet(np.ones(2), size=(2, 4, 5))
        risks = [st.evaluate(w, mu, nu).unsafe_probability for w in (game, clean)]
        assert abs(risks[0] - risks[1]) <= clean.hidden_risk


@pytest.mark.parametrize("value", [0, 0.0, 1, -1e-9, np.nan, np.inf, 10**400])
def test_a_tolerance_is_a_probability(value):
    with pytest.raises(ValueError, match=r"^drop_below is .*; expected a probability in \(0, 1\)"):
        st.SafeMDP(np.ones((1, 1, 1)), [[0]], [0], 0.5, 2, drop_below=value)


@pytest.mark.parametrize("value", [True, "1e-9", [1e-9], 1e-9j])
def test_a_tolerance_is_a_number(value):
    said = f"drop_below is {value!r}; expected a number"
    with pytest.raises(TypeError, match="^" + re.escape(said)):
        st.SafeMDP(np.ones((1, 1, 1)), [[0]], [0], 0.5, 2, drop_below=value)


def test_no_row_may_become_empty_and_bad_rows_stay_bad():
    P = np.full((4, 1, 4), 0.25)
    told = {"r": np.zeros((4, 1)), "c": np.zeros(4), "tau": 0.5, "H": 2}
    assert st.SafeMDP(P, **told, drop_below=0.25).dropped == (0.0, 0)
    P[2, 0] = 1, 0, 0, 0
    said = "drop_below is 0.3, and no probability of P[0, 0] is as large; it would be empty"
    with pytest.raises(ValueError, match="^" + re.escape(said)):
        st.SafeMDP(P, **told, drop_below=0.3)
    P[3, 0, 0] = 0.1
    with pytest.raises(ValueError, match=re.escape("P[3, 0] sums to 0.85; each row must sum to 1")):
        st.SafeMDP(P, **told, drop_below=0.2)
