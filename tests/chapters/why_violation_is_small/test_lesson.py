"""What the lesson writes down of a run is what the library's audit finds in it."""

import notebooks
import numpy as np
import pytest

import safeteach as st

CELLS = notebooks.read(notebooks.BOOK / "sucbvi" / "why-violation-is-small.ipynb").cells
EPISODES = 1_500


@pytest.fixture(scope="module")
def replay():
    """The function of the notebook that writes down the unsafe steps."""
    found = {"np": np, "st": st}
    (source,) = (c.source for c in CELLS if c.cell_type == "code" and "def replay(" in c.source)
    exec(source, found)
    return found["replay"]


def learner(pond, make=st.SUCBVI):
    return make(pond.known, episodes=EPISODES, bonus_scale=0.01)


def test_the_list_of_accidents_agrees_with_the_audit(replay):
    pond = st.instances.grid()
    run, audit = replay(learner(pond), pond), st.audit(learner(pond), pond)

    def by_episode(weights, k=run["k"]):
        return np.bincount(k - 1, weights, minlength=EPISODES)

    assert np.array_equal(by_episode(run["violation"]), audit.violation)
    in_flagged = run["violation"] * run["flagged"]
    assert np.array_equal(by_episode(in_flagged), audit.violation_flagged)
    assert audit.violation_flagged.sum() > 0
    assert np.array_equal(by_episode(None, run["surprises"]), audit.surprises)
    assert run["held"] == bool((audit.costs_low & audit.costs_high).all())
    assert run["held"]
    assert (audit.violation <= audit.allowed + 1e-9).all()


def test_flagged_means_what_the_learner_has_flagged(replay):
    pond = st.instances.grid()
    flags = [
        bool(one.flagged[s])
        for one in [learner(pond)]
        for _, episode in st.play(one, pond)
        for s in episode.states[:-1]
        if pond.unsafe[s]
    ]
    assert replay(learner(pond), pond)["flagged"].tolist() == flags


def test_the_empty_field_fills_without_the_mask(replay):
    """A check that no program could fail is worth nothing: UCBVI fails it."""
    pond = st.instances.grid()
    run, bold = replay(learner(pond), pond), replay(learner(pond, st.UCBVI), pond)
    assert not (run["flagged"] & ~run["surprised"]).any()
    assert (bold["flagged"] & ~bold["surprised"]).sum() > 100
    unmasked = st.audit(learner(pond, st.UCBVI), pond)
    assert (unmasked.violation > unmasked.allowed + 1e-9).sum() > 100


def test_events_that_fail_are_noticed(replay):
    pond = st.instances.grid()
    assert not replay(learner(pond), pond, noise=3.0)["held"]
