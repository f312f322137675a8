"""The stored study of reward-free exploration is what the library makes today."""

import json

import numpy as np
import pytest
import reward_free as study
import storing

import safeteach as st

AGAIN = "run `make figure1`"


@pytest.fixture(scope="module")
def stored():
    with np.load(study.STUDY.file) as file:
        return dict(file)


@pytest.fixture(scope="module")
def about(stored):
    return json.loads(str(stored["about"]))


def test_it_was_made_by_this_code_and_says_how(stored, about):
    assert about["code"] == storing.code_digest(study.__file__), f"the library has changed: {AGAIN}"
    assert about == json.loads(json.dumps(study.STUDY.about())), AGAIN
    assert stored["names"].tolist() == list(study.LEARNERS)
    assert stored["seeds"].tolist() == list(study.SEEDS)


def test_it_has_the_size_of_the_papers_figure(stored):
    for name in ("reward", "violation", "explored"):
        assert stored[name].shape == (2, 100, 500) and (stored[name] >= 0).all()
    assert stored["digests"].shape == stored["width"].shape == (2, 100)
    assert len(np.unique(stored["digests"])) == 200
    assert study.STUDY.file.stat().st_size < 200_000


@pytest.mark.parametrize(("name", "seed"), [("SRF-UCRL", 17), ("RF-UCRL", 62)])
def test_a_run_made_again_is_the_stored_one_bit_for_bit(stored, name, seed):
    mdp = st.instances.laboratory()
    learner = study.LEARNERS[name](mdp.known)
    run = st.explore(learner, mdp, study.EPISODES, seed=seed, noise=study.NOISE, watch=mdp.r)
    place = list(study.LEARNERS).index(name), list(study.SEEDS).index(seed)
    digest = storing.digest_of(run.width, run.violation, run.planned)
    assert digest == stored["digests"][place], AGAIN
    assert run.planned[:, 0].tobytes() == stored["reward"][place].tobytes()
    assert run.planned[:, 1].tobytes() == stored["violation"][place].tobytes()
    assert run.violation.tobytes() == stored["explored"][place].tobytes()
    assert run.width[-1] == stored["width"][place]


def test_what_is_stored_is_the_plan_evaluated(stored):
    mdp = st.instances.laboratory()
    learner = study.LEARNERS["SRF-UCRL"](mdp.known)
    for k, _ in st.play(learner, mdp, seed=4, noise=study.NOISE):
        if k in (20, 130, 500):
            e = st.evaluate(mdp, learner.plan_for(mdp.r).policy)
            assert abs(e.value - stored["reward"][0, 4, k - 1]) < 1e-12
            assert abs(e.violation - stored["violation"][0, 4, k - 1]) < 1e-12
        if k == 500:
            break


def test_forgetting_safety_shows(stored, about):
    """In the end the one is safe and near the safe optimum, the other neither."""
    optima = about["optima"]
    assert optima["unconstrained"] - optima["safe"] > 3
    (safe, free), (harmless, harmful) = stored["reward"][..., -1], stored["violation"][..., -1]
    assert (harmless < 0.01).mean() >= 0.97 and abs(safe.mean() - optima["safe"]) < 0.05
    assert (harmful > 1).all() and abs(free.mean() - optima["unconstrained"]) < 0.05
    late = stored["explored"][..., -100:].mean(axis=(1, 2))
    assert late[0] < late[1] / 10
    assert (stored["width"] == 10).all()  # the constants of the theorems: no rule fires here


def test_until_something_is_flagged_the_two_explore_alike(stored):
    """Both are at their caps, all is a tie, and they have the same luck."""
    mdp = st.instances.laboratory()
    apart = stored["explored"][0] != stored["explored"][1]
    first = apart.argmax(axis=1)
    for seed in (int(first.argmin()), 17):
        learner = study.LEARNERS["SRF-UCRL"](mdp.known)
        plays = st.play(learner, mdp, seed=seed, noise=study.NOISE)
        assert next(k for k, _ in plays if learner.flagged.any()) <= first[seed]
    assert apart.any(axis=1).all() and 40 < np.median(first) < 100
