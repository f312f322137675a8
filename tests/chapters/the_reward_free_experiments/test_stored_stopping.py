"""The stored study of the rule that ends exploration is what the library makes today."""

import json

import numpy as np
import pytest
import stopping as study

import safeteach as st

AGAIN = "run `make stopping`"


@pytest.fixture(scope="module")
def stored():
    with np.load(study.STUDY.file) as file:
        return dict(file)


def test_it_was_made_by_this_code_and_says_how(stored):
    about = json.loads(str(stored["about"]))
    assert about == json.loads(json.dumps(study.STUDY.about())), AGAIN
    assert stored["seeds"].tolist() == list(study.SEEDS)
    assert stored["epsilons"].tolist() == list(study.EPSILONS)


def test_the_guarantee_holds_in_all_but_a_share_delta_of_the_runs(stored):
    """The plan is ε-optimal and ε/2-safe; the rule fires later for smaller ε."""
    assert (np.diff(stored["episodes"], axis=1) > 0).all()
    bad = (stored["loss"] > stored["epsilons"]) | (stored["violation"] > stored["epsilons"] / 2)
    assert bad.any(axis=1).mean() <= study.DELTA


def test_the_guarantee_could_fail():
    """Whoever forgets safety breaks it at the smallest ε."""
    mdp = study.world()
    assert st.is_feasible(mdp)
    learner = st.RFUCRL(mdp.known, delta=study.DELTA)
    st.explore(learner, mdp, episodes=500)
    assert study.judged(learner, mdp)[1] > min(study.EPSILONS) / 2


@pytest.mark.slow
def test_a_run_made_again_is_the_stored_one(stored):
    first = study.follow(3, study.EPSILONS[:1])
    for name in ("episodes", "loss", "violation"):
        assert getattr(first, name).tolist() == [stored[name][3, 0]], AGAIN
