"""The table of the mask shows what the learner has banned, tried and planned at one step."""

import numpy as np
import pytest

import safeteach as st
from safeteach.chapters.srf_ucrl import figures

LAB = st.instances.laboratory()


def explored(episodes, make=st.SRFUCRL, mdp=LAB, **settings):
    """A learner that has planned its next episode."""
    learner = make(mdp.known, **({"bonus_scale": 0.0003} | settings))
    for k, _ in st.play(learner, mdp, seed=1):
        if k == episodes:
            return learner
    return None


@pytest.mark.parametrize("h", [1, 5, 10])
@pytest.mark.parametrize("episodes", [0, 90, 300])
def test_cells_frames_and_states_are_those_of_the_learner(episodes, h, drawn):
    learner = explored(episodes)
    figure = figures.mask(LAB, learner, h)
    tried = learner.transitions.N[h - 1] > 0
    U = learner.U[h] if h < LAB.H else np.zeros(LAB.S, bool)
    cells, unknown = [], []
    true = st.potentially_unsafe(LAB)[h] if h < LAB.H else np.zeros(LAB.S, bool)
    for s, a in np.ndindex(LAB.S, LAB.A):
        seen = learner.transitions.successors(h, s, a)
        banned = bool(U[seen].any())
        look = "untried" if not tried[s, a] else "banned" if banned else "safe"
        cells.append((str(s), str(a), look))
        if true[LAB.successors(h, s, a)].any() and not banned:
            unknown.append((str(s), str(a)))
    assert drawn(figure, "cell") == sorted(cells)
    assert drawn(figure, "unknown") == sorted(unknown)
    chosen = [(str(s), str(a)) for s, a in enumerate(learner.policy[h - 1])]
    assert drawn(figure, "chosen") == sorted(chosen)
    kinds = np.where(
        learner.flagged, "unsafe", np.where(learner.U[h - 1], "doomed", "safe")
    )
    assert drawn(figure, "state") == sorted((str(s), str(x)) for s, x in enumerate(kinds))


def test_the_numbers_are_the_uncertainties(written):
    learner = explored(300)
    figure = figures.mask(LAB, learner, h=5)
    tried = learner.transitions.N[4] > 0
    texts = [text.get_text() for text in written(figure)]
    assert texts.count("–") == (~tried).sum() > 0
    shown = [float(x) for x in texts if x.replace(".", "").isdigit()]
    assert np.abs(np.sort(shown) - np.sort(learner.W[4][tried])).max() <= 0.05 + 1e-9
    assert len(shown) == tried.sum()


@pytest.mark.parametrize("make", [st.SRFUCRL, st.RFUCRL])
def test_legible(make, legible):
    legible(figures.mask(LAB, explored(150, make), h=5))


def test_it_says_what_it_shows():
    learner = explored(300)
    alt = figures.mask(LAB, learner, h=5).alt
    assert alt.startswith("Before episode 301, step 5 of 10. Flagged: spill, furnace.")
    assert "Known to be doomed: slide." in alt and "Banned: room 0 dash, room 1 enter" in alt
    width = learner.W[4, 0, learner.policy[4, 0]]
    action = LAB.action_name(learner.policy[4, 0])
    assert alt.endswith(f"In room 0 the plan is {action}, uncertainty {width:.2f}.")
    fresh = figures.mask(LAB, explored(0), h=1).alt
    assert fresh.startswith("Before episode 1, ") and "Tried: 0 of 55 pairs." in fresh
    assert len(alt) <= 600


def test_it_only_reads_the_learner():
    learner = explored(150)
    before = learner.W.tobytes(), learner.U.tobytes(), learner.policy.tobytes()
    figures.mask(LAB, learner, h=3)
    assert before == (learner.W.tobytes(), learner.U.tobytes(), learner.policy.tobytes())


def test_what_cannot_be_drawn():
    with pytest.raises(ValueError, match="h is 11"):
        figures.mask(LAB, explored(1), h=11)
    pond = st.instances.grid()
    learner = st.SRFUCRL(pond.known)
    with pytest.raises(ValueError, match=f"the table would have {pond.S} rows and 4 columns"):
        figures.mask(pond, learner, h=1)
