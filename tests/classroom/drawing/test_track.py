"""The picture of the track marks exactly the states that are unsafe or doomed."""

import numpy as np

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


def test_cells_are_the_sets_at_the_step_at_which_a_train_is_there():
    U, block = st.potentially_unsafe(LINE), np.arange(LINE.S) // 9
    then = U[block, np.arange(LINE.S)]  # in block h at step h
    assert then[~LINE.unsafe].any() and not then.all()
    unsafe, doomed = marked(track(doomed=True))
    assert unsafe == set(np.flatnonzero(LINE.unsafe))
    assert doomed == set(np.flatnonzero(then & ~LINE.unsafe))
    assert marked(track()) == (unsafe, set())


def test_a_train_is_in_block_h_at_step_h():
    run = st.rollout(LINE, st.optimal(LINE).policy, seed=0).states[:-1]
    assert (run // 9 == np.arange(LINE.H)).all()


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
