"""The threshold with a slider: the same live and in the page, and of use."""

import pytest

import safeteach as st
from safeteach.chapters.costs_thresholds_violation import controls

SMOKE = st.instances.smoke()


@pytest.mark.slow
def test_live_and_static_show_the_same_and_every_move_shows(check_both):
    check_both(controls.threshold(SMOKE))


def test_every_threshold_shows_its_unsafe_states_and_the_violation():
    widget = controls.threshold(SMOKE)
    walk = st.rollout(SMOKE, st.optimal(SMOKE).policy, seed=0).states[:-1]
    tau = widget.controls["tau"]
    assert (tau.values[0], tau.values[-1], tau.start) == (0, 1, SMOKE.tau)
    assert {0.3, 0.6, 0.9} <= set(tau.values), "the costs themselves, as the same floats"
    for value in (0, 0.3, 0.31, 0.6, 0.85, 0.9, 1):
        assert value in tau.fine
        alt = widget.figure(tau=value).alt
        assert f"τ = {value:g}, {(SMOKE.c > value).sum()} are unsafe" in alt
        violation = sum(max(SMOKE.c[s] - value, 0) for s in walk)
        assert alt.endswith(f"Its violation is {violation:.3g}.")


def test_threshold_needs_a_map():
    with pytest.raises(TypeError, match="only a GridMDP has a map"):
        controls.threshold(st.instances.union_counterexample())
