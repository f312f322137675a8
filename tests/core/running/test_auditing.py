"""The auditor against the long way round: dense tables, recomputed in every episode."""

from dataclasses import fields

import numpy as np
import pytest

import safeteach as st
from safeteach.bounds import beta

WORLDS = {
    "corridor": st.instances.ice_corridor(),
    "crossing": st.instances.union_counterexample(),
    "random": next(
        mdp
        for mdp in (
            st.instances.random_mdp(6, 3, 4, seed, unsafe=0.3, stationary=False)
            for seed in range(99)
        )
        if st.is_feasible(mdp) and st.potentially_unsafe(mdp)[0].any()
    ),
}


def values(mdp, policy):
    V = np.zeros((mdp.H + 1, mdp.S))
    for i in reversed(range(mdp.H)):
        for s in range(mdp.S):
            V[i, s] = mdp.r[i, s, policy[i, s]] + mdp.P[i, s, policy[i, s]] @ V[i + 1]
    return V


def the_long_way(learner, mdp, seed, noise):
    """Yield what an Audit says of each episode, from dense tables and loops."""
    H, tau, delta = mdp.H, mdp.tau, learner.delta
    ell = np.log(2 * mdp.S**2 * mdp.A * H * learner.episodes / delta)
    best, U, safe, P = st.safe_optimal(mdp), st.potentially_unsafe(mdp), st.safe_actions(mdp), mdp.P
    for _k, episode in st.play(learner, mdp, seed, noise):
        P_hat, n = learner.transitions.P_hat, learner.transitions.N
        seen = learner.costs.N > 0
        width = beta(learner.costs.N, mdp.S, delta)
        low, high = learner.costs.mean - width, learner.costs.mean + width
        tried = n > 0
        off = np.abs(P_hat - P)[tried]
        V_pi = values(mdp, learner.policy)
        f = learner.V - V_pi
        parts = dict.fromkeys(("bonus", "model", "luck", "cap", "violation", "lenient"), 0.0)
        flagged, surprises, over = 0.0, 0, False
        for i in range(H):
            s, a, t = episode.states[i], episode.actions[i], episode.states[i + 1]
            excess = max(mdp.c[s] - tau, 0)
            parts["violation"] += excess
            flagged += excess * learner.flagged[s]
            if mdp.unsafe[s]:
                parts["lenient"] += min(1 - tau, 2 * width[s])
            if i < H - 1 and t not in learner.transitions.successors(i + 1, s, a):
                surprises += 1
            if over:
                continue
            if not tried[i, s, a]:
                parts["bonus"] += H
                parts["cap"] += V_pi[i, s]
                over = True
                continue
            alpha = learner.alpha / np.sqrt(n[i, s, a])
            parts["bonus"] += alpha
            parts["model"] += (P_hat[i, s, a] - P[i, s, a]) @ learner.V[i + 1]
            parts["luck"] += P[i, s, a] @ f[i + 1] - f[i + 1, t]
            free = mdp.r[i, s, a] + P_hat[i, s, a] @ learner.V[i + 1] + alpha
            parts["cap"] += free - min(free, H)
        looks_safe = ~np.array([
            [[i < H - 1 and learner.U[i + 1][P_hat[i, s, a] > 0].any() for a in range(mdp.A)]
             for s in range(mdp.S)] for i in range(H)
        ])  # fmt: skip
        pairs = safe & ~U[:, :, None]
        n = n[tried][:, None]
        yield {
            "costs_low": (low <= mdp.c)[seen].all(),
            "costs_high": (mdp.c <= high)[seen].all(),
            "transitions": (
                off <= np.sqrt(2 * P[tried] * ell / n) + 2 * ell / (3 * n) + 1e-9
            ).all(),
            "contained": not (learner.U & ~U).any(),
            "kept": not (safe & ~looks_safe).any(),
            "optimistic": (learner.Q[pairs] >= best.Q[pairs] - 1e-9).all(),
            "surprises": surprises,
            "violation": parts["violation"],
            "violation_flagged": flagged,
            "allowed": H * (1 - tau) if surprises else parts["lenient"],
            "value": V_pi[0, mdp.s1],
            "gap": f[0, mdp.s1],
            **{name: parts[name] for name in ("bonus", "model", "luck", "cap")},
        }


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scale", "noise"),
    [
        (1.0, 1.0), (0.003, 4.0),
        pytest.param(1.0, 4.0, marks=pytest.mark.thorough),
        pytest.param(0.003, 1.0, marks=pytest.mark.thorough),
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", WORLDS)
def test_an_audit_finds_what_the_long_way_finds(name, scale, noise):
    mdp = WORLDS[name]
    new = lambda: st.SUCBVI(mdp.known, episodes=150, delta=0.5, bonus_scale=scale)  # noqa: E731
    found = st.audit(new(), mdp, seed=3, noise=noise)
    rows = list(the_long_way(new(), mdp, 3, noise))
    for field in fields(st.Audit):
        expected = np.array([row[field.name] for row in rows], float)
        assert np.allclose(getattr(found, field.name), expected, atol=1e-9), field.name
    assert np.allclose(found.gap, found.bonus + found.model + found.luck - found.cap)
    assert (found.cap >= -1e-9).all()
    assert ((found.surprises > 0) == found.surprise).all()


def test_an_audited_run_is_the_run():
    mdp = WORLDS["corridor"]
    new = lambda: st.SUCBVI(mdp.known, episodes=300, bonus_scale=0.01)  # noqa: E731
    history, found = st.run(new(), mdp, seed=5), st.audit(new(), mdp, seed=5)
    assert (history.violation == found.violation).all()
    assert np.allclose(history.regret, st.safe_optimal(mdp).value - found.value, atol=1e-12)


@pytest.mark.slow
def test_every_check_can_fail():
    """With far more noise than promised, few looks and no bonus, each of the checks fails."""
    failed = {}
    for seed in range(12):
        for mdp in WORLDS.values():
            learner = st.SUCBVI(mdp.known, episodes=120, delta=0.9, bonus_scale=0.0)
            found = st.audit(learner, mdp, seed, noise=20.0)
            for name in ("costs_low", "costs_high", "contained", "kept", "optimistic"):
                failed[name] = failed.get(name, 0) + int((~getattr(found, name)).sum())
    assert min(failed.values()) > 0, failed


def test_a_world_without_feasible_policies_is_refused():
    mdp = st.SafeMDP(np.ones((1, 1, 1)), [[0.0]], [1.0], 0.5, H=2)
    with pytest.raises(st.InfeasibleError):
        st.audit(st.SUCBVI(mdp.known, episodes=3), mdp)
