"""On painted worlds the playground says what the library says, to the last bit."""

from types import SimpleNamespace

import numpy as np
import pytest

import safeteach as st
from safeteach.worlds.known import Episode

KINDS = np.array(list(".~X#G"))


def painted(rng):
    """Return a world as somebody might paint it: of any size, more or less wild."""
    height, width = rng.integers(1, 13, 2)
    chances = rng.dirichlet([2, 3, 0.7, 0.7, 0.3])
    cells = rng.choice(KINDS, size=(height, width), p=chances)
    cells[rng.integers(height), rng.integers(width)] = "S"
    rows = ["".join(row) for row in cells]
    H = int(rng.choice([1, 2, 5, 12, 60]))
    return {
        "rows": rows, "H": H, "slip": round(float(rng.uniform(0.01, 1)), 2),
        "tau": round(float(rng.uniform(0, 0.99)), 2),
    }  # fmt: skip


def made(told):
    """Return the library's world."""
    return st.instances.grid_from_map("\n".join(told["rows"]), told["H"], told["slip"], told["tau"])


FEW, ALL = 4, 40  # times fifty worlds


@pytest.fixture(
    params=[pytest.param(seed, marks=[pytest.mark.thorough] * (seed >= FEW)) for seed in range(ALL)]
)
def fifty(request, ask):
    """Return fifty painted worlds with what the playground says of them."""
    rng = np.random.default_rng([18, request.param])
    told = [painted(rng) for _ in range(50)]
    for world in told:
        mdp = made(world)
        U = st.potentially_unsafe(mdp)
        doomed = np.argwhere(U & ~mdp.unsafe)
        asked = rng.permutation(doomed)[:4].tolist()
        world["ask"] = [[s, h + 1] for h, s in asked]
    return list(zip(told, ask(*(("world", world) for world in told)), strict=True))


def test_sets_plans_values_and_witnesses_equal_the_librarys(fifty):
    doomed = explained = 0
    for told, said in fifty:
        mdp = made(told)
        rows = mdp.rows(1)
        assert (said["S"], said["s1"]) == (mdp.S, mdp.s1)
        assert said["first"] == rows.indptr.tolist()
        assert said["successors"] == rows.successors.tolist()
        assert said["chances"] == rows.probability.tolist()
        until = st.doomed_until(mdp)
        assert said["until"] == until.tolist()
        steps = np.arange(1, mdp.H + 1)[:, None]
        safe = steps >= np.array(said["safeFrom"])
        assert (safe.reshape(mdp.H, mdp.S, mdp.A) == st.safe_actions(mdp)).all()
        doomed += int(((until > 0) & ~mdp.unsafe).sum())
        plans = {"optimal": st.optimal(mdp), "oneStepAhead": one_step(mdp)}
        if st.is_feasible(mdp):
            plans["safe"] = st.safe_optimal(mdp)
        for name, plan in plans.items():
            found = said["plans"][name]
            assert found["V"] == plan.V.ravel().tolist(), name
            assert found["policy"] == plan.policy.ravel().tolist(), name
            exact = st.evaluate(mdp, plan.policy)
            assert found["value"] == exact.value
            assert found["violation"] == exact.violation
            assert found["cost"] == exact.cost
            assert found["unsafeProbability"] == exact.unsafe_probability
        for (s, h), answers in zip(told["ask"], said["witnesses"], strict=True):
            found = {(step, t): tuple(after) for step, t, after in answers}
            assert found == st.witness(mdp, s, h).answers
            explained += 1
    assert doomed > 100, "nothing is doomed in these worlds"
    assert explained > 50, "nothing is explained in these worlds"


def one_step(mdp):
    """Return the plan that forbids what may be unsafe one step later, unless every action may."""
    rows, V = mdp.rows(1), np.zeros((mdp.H + 1, mdp.S))
    policy = np.empty((mdp.H, mdp.S), int)
    wet = rows.touches(mdp.unsafe).reshape(mdp.S, mdp.A)
    lost = wet.all(axis=1, keepdims=True)
    for h in range(mdp.H, 0, -1):
        Q = mdp.r[h - 1] + rows.expect(V[h]).reshape(mdp.S, mdp.A)
        Q = np.where((h == mdp.H) | lost | ~wet, Q, -np.inf)
        policy[h - 1], V[h - 1] = Q.argmax(axis=1), Q.max(axis=1)
    return SimpleNamespace(V=V, policy=policy)


def test_the_python_that_it_shows_makes_the_same_world(fifty):
    for told, said in fifty:
        names = {}
        exec(said["python"], names)
        assert names["world"] == made(told)


def test_a_link_brings_the_world_back(fifty):
    for told, said in fifty:
        world = {name: told[name] for name in ("rows", "H", "slip", "tau")}
        assert said["back"] == {"wrong": "", "found": world}
        assert not set(said["link"]) & set("#<>\"' "), "to be escaped in an address"


class Ties:
    """A generator whose numbers are known beforehand."""

    def __init__(self, numbers):
        self.numbers = numbers

    def random(self, out):
        out[:] = self.numbers
        return out


def learned(rng, flags):
    """Return a question about a learner, and what the library's learner answers."""
    while True:
        told = painted(rng)
        told["H"] = int(rng.integers(2, 9))
        told["tau"] = 0.01
        told["slip"] = 0.9
        mdp = made(told)
        if 4 < mdp.S < 40 and mdp.unsafe.mean() > 0.1 and not mdp.unsafe[mdp.s1]:
            break
    episodes = 250
    make = st.SUCBVI if flags else st.UCBVI
    learner = make(mdp.known, episodes=episodes, bonus_scale=0.02, delta=0.3)
    played, policies = [], []
    for k in range(episodes):
        ties = rng.random((mdp.H, mdp.S))
        policy = learner.plan(Ties(ties)).copy()
        policies.append(policy.ravel().tolist())
        # Somebody else plays half of the time, so that much is seen.
        walk = policy if k % 2 else rng.integers(mdp.A, size=policy.shape)
        episode: Episode = st.rollout(mdp, walk, seed=rng, noise=0.1)
        learner.observe(episode)
        played.append(
            {
                "ties": ties.ravel().tolist(),
                **{
                    name: getattr(episode, name).tolist() for name in ("states", "actions", "costs")
                },
            }
        )
    settings = {"episodes": episodes, "bonusScale": 0.02, "delta": 0.3, "flags": flags}
    question = ("learner", {"told": told, "settings": settings, "episodes": played})
    return question, learner, policies


@pytest.mark.parametrize(
    "batch", [0, *(pytest.param(i, marks=pytest.mark.thorough) for i in range(1, 20))]
)
def test_the_learners_believe_and_do_the_same(batch, ask):
    rng = np.random.default_rng([19, batch])
    asked = [learned(rng, flags=i % 4 > 0) for i in range(12)]
    doomed = 0
    for (_, learner, policies), said in zip(
        asked, ask(*(question for question, _, _ in asked)), strict=True
    ):
        assert said["policies"] == policies
        assert said["U"] == learner.U.ravel().astype(int).tolist()
        np.testing.assert_allclose(said["Q"], learner.Q.ravel(), rtol=1e-13)
        np.testing.assert_allclose(said["V"], learner.V.ravel(), rtol=1e-13)
        doomed += int(learner.U.any(axis=0).sum() > learner.U[-1].sum())
    assert doomed, "no learner believed anything doomed but what it flagged"
