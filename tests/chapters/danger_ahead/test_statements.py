"""The statements of *Danger ahead*, one test each, on worlds that would show a false one.

Each test checks its statement directly, on random worlds, by means that do not assume it.
"""

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as hs
from looping import each, many
from oracles.brute_force import all_policies, episodes, meets_unsafe, worlds, worth

import safeteach as st


def reached(mdp, policy):
    """(H, S) bool: where a policy goes with positive probability from s_1."""
    here = np.zeros((mdp.H, mdp.S), bool)
    here[0, mdp.s1] = True
    for i in range(mdp.H - 1):
        moves = mdp.P[i][np.arange(mdp.S), policy[i]] > 0
        here[i + 1] = (here[i][:, None] & moves).any(axis=0)
    return here


@given(worlds())
@settings(max_examples=many(105, 300), deadline=None)
def test_two_reasons(mdp):
    """A state is outside U_h iff it is safe and has a safe action."""
    U, safe = st.potentially_unsafe(mdp), st.safe_actions(mdp)
    assert ((~mdp.unsafe & safe.any(axis=2)) == ~U).all()


@given(worlds(max_policies=256))
@settings(max_examples=many(70, 200), deadline=None)
def test_who_can_stay_safe(mdp):
    """s outside U_h iff some policy avoids U; otherwise every policy risks p_min^(H-h)."""
    policies, U = all_policies(mdp), st.potentially_unsafe(mdp)
    p_min = mdp.P[mdp.P > 0].min()
    risk = np.empty((len(policies), mdp.H, mdp.S))
    risk[:, -1] = mdp.unsafe
    for i in reversed(range(mdp.H - 1)):
        moves = mdp.P[i][np.arange(mdp.S), policies[:, i]]
        risk[:, i] = np.where(mdp.unsafe, 1.0, np.einsum("nst,nt->ns", moves, risk[:, i + 1]))
    least = risk.min(axis=0)
    assert ((least == 0) == ~U).all()
    bound = p_min ** (mdp.H - np.arange(1, mdp.H + 1))
    assert (least[U] >= np.broadcast_to(bound[:, None], U.shape)[U] - 1e-12).all()


@given(worlds())
@settings(max_examples=many(105, 300), deadline=None)
def test_when_a_safe_policy_exists(mdp):
    """A feasible policy exists iff s_1 is not in U_1."""
    start = np.arange(mdp.S) == mdp.s1
    exists = not meets_unsafe(mdp, all_policies(mdp), 1, start).all()
    assert st.is_feasible(mdp) == exists


@given(worlds(max_policies=256))
@settings(max_examples=many(70, 200), deadline=None)
def test_what_feasible_policies_look_like(mdp):
    """A policy is feasible iff it takes only safe actions where it goes."""
    assume(st.is_feasible(mdp))
    safe = st.safe_actions(mdp)
    start = np.arange(mdp.S) == mdp.s1
    policies = all_policies(mdp)
    feasible = ~meets_unsafe(mdp, policies, 1, start)
    for policy, is_feasible in zip(policies, feasible, strict=True):
        chosen = np.take_along_axis(safe, policy[:, :, None], axis=2)[:, :, 0]
        assert is_feasible == chosen[reached(mdp, policy)].all()


@given(worlds(max_states=3, max_actions=2, max_policies=64), hs.integers(0, 99))
@settings(max_examples=many(50, 150), deadline=None)
def test_the_best_feasible_policy(mdp, seed):
    """safe_optimal is feasible, and none that is random and remembers has a larger value."""
    assume(st.is_feasible(mdp))
    safe = st.safe_actions(mdp)

    def choose(x):
        allowed = safe[len(x) // 2, x[-1]]
        weights = np.random.default_rng([seed, *x, len(x)]).exponential(size=mdp.A) * allowed
        return weights / weights.sum()

    plan = st.safe_optimal(mdp)
    best = np.eye(mdp.A)[plan.policy]
    for policy in (choose, lambda x: best[len(x) // 2, x[-1]]):
        for x, _, _ in episodes(mdp, policy):
            assert not mdp.unsafe[list(x[0 : 2 * mdp.H : 2])].any()
    assert worth(mdp, choose) <= plan.value + 1e-12
    assert abs(worth(mdp, lambda x: best[len(x) // 2, x[-1]]) - plan.value) < 1e-12


@each("seed", range(200))
def test_the_recursions_agree_when_the_world_is_stationary(seed):
    """For stationary P: U_{h+1} is part of U_h, and the printed sets are the exact ones."""
    mdp = st.instances.random_mdp(12, 2, 6, seed, unsafe=0.3)
    U = st.potentially_unsafe(mdp)
    assert (U[:-1] >= U[1:]).all()
    assert (st.potentially_unsafe(mdp, recursion="paper") == U).all()


def test_the_printed_equivalence_is_false():
    """Eq. (2) and Appendix E as printed: a feasible world whose s_1 is in the printed U_1."""
    crossing = st.instances.union_counterexample()
    mdp = st.SafeMDP(crossing.P[1:], crossing.r[1:], crossing.c, crossing.tau, H=3, s1=1)
    assert st.potentially_unsafe(mdp, recursion="paper")[0, mdp.s1]
    start = np.arange(mdp.S) == mdp.s1
    assert not meets_unsafe(mdp, all_policies(mdp), 1, start).all()
