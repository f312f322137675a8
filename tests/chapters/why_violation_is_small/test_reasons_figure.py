"""Why it was unsafe: the lines are running sums of an audit, the words say how they end."""

from types import SimpleNamespace

import numpy as np
import pytest

import safeteach as st
from safeteach.chapters.why_violation_is_small import figures


def audited(violation, flagged, surprises, allowed=1.0):
    violation = np.array(violation, float)
    return SimpleNamespace(
        violation=violation,
        violation_flagged=np.array(flagged, float),
        surprise=np.array(surprises) > 0,
        allowed=np.full(violation.size, allowed),
    )


BY_HAND = audited([0.5, 0, 1.5, 0, 0], [0, 0, 1.0, 0, 0], [4, 0, 1, 0, 2])


def lines(figure):
    (axes,) = figure.axes
    return {line.get_gid(): line.get_xydata() for line in axes.lines}


def test_lines_are_running_sums():
    drawn = lines(figures.reasons(BY_HAND))
    assert np.array_equal(drawn["not yet flagged"].T, [[1, 2, 3, 4, 5], [0.5, 0.5, 1, 1, 1]])
    after = drawn["flagged: after a surprise"][:, 1]
    assert np.isnan(after[:2]).all()
    assert after[2:].tolist() == [1, 1, 1]
    assert drawn["what the proof allows"][:, 1].tolist() == [1, 2, 3, 4, 5]
    assert drawn["surprise"][:, 0].tolist() == [1, 3, 5]


def test_the_description_says_how_it_ends():
    assert figures.reasons(BY_HAND).alt == (
        "Running violation of 5 episodes, by its reason: 1 in states not yet flagged, 1 in flagged "
        "states, after a surprise; the proof allows 5. 2 episodes were unsafe, the last in episode "
        "3. 3 had a surprise, the last one episode 5."
    )


def test_a_run_without_anything_is_drawn_too():
    alt = figures.reasons(audited([0], [0], [0], allowed=0.0)).alt
    assert alt.endswith("0 episodes were unsafe. 0 had a surprise.")


@pytest.fixture(scope="module")
def corridor():
    mdp = st.instances.ice_corridor()
    return st.audit(st.SUCBVI(mdp.known, episodes=400, bonus_scale=0.01), mdp, seed=0)


def test_the_lines_of_a_run_add_up(corridor):
    drawn = lines(figures.reasons(corridor))
    total = np.nan_to_num(drawn["not yet flagged"][:, 1])
    total = total + np.nan_to_num(drawn["flagged: after a surprise"][:, 1])
    assert np.allclose(total, np.cumsum(corridor.violation))
    assert (total <= drawn["what the proof allows"][:, 1] + 1e-9).all()


def test_legible_without_colour(corridor, on_paper):
    figure = figures.reasons(corridor)
    (axes,) = figure.axes
    dashes = [str(line._dash_pattern) for line in axes.lines if line.get_gid() != "surprise"]
    assert len(set(dashes)) == 3
    on_paper(figure)
