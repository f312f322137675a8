"""The picture of the track marks exactly the states that are unsafe or doomed."""

import numpy as np
import pytest

import safeteach as st
from safeteach.classroom.drawing.track import track

LINE = st.instances.railway()


def marked(figure):
    """Return the states that are drawn as unsafe, and as doomed."""
    found = {"unsafe": set(), "doomed": set()}
    for patch in figure.axes[0].patches:
        kind, block, speed = patch.get_gid().split("/")
        found[kind].add(int(block) * 9 + int(speed))
    return found["unsafe"], found["doomed"]


@pytest.mark.parametrize("h", [None, 14, 12, 7, 1])
def test_cells_are_the_sets(h):
    unsafe, doomed = marked(track(h=h))
    assert unsafe == set(np.flatnonzero(LINE.unsafe))
    U = LINE.unsafe if h is None else st.potentially_unsafe(LINE)[h - 1]
    assert doomed == set(np.flatnonzero(U & ~LINE.unsafe))


def test_runs_are_drawn_and_an_unsafe_one_is_dashed():
    runs = {
        name: st.rollout(LINE, plan.policy, seed=0).states[:-1]
        for name, plan in [("fast", st.optimal(LINE)), ("safe", st.safe_optimal(LINE))]
    }
    figure = track(runs)
    lines = {x.get_gid(): x for x in figure.axes[0].lines if x.get_gid()}
    assert lines["run/fast"].get_linestyle() == "--" and lines["run/safe"].get_linestyle() == "-"
    assert lines["run/fast"].get_ydata()[-1] == 106 and lines["run/safe"].get_ydata()[-1] == 50
    assert {"fast", "safe"} <= {text.get_text() for text in figure.axes[0].texts}
    assert "Run fast: at most 106 mph, in the curve 106." in figure.alt
