"""The price of a gap with controls: every setting says what the bounds say."""

import numpy as np
import pytest

import safeteach as st
from safeteach.chapters.why_violation_is_small import controls

RUNS = {0.1: np.full(20_000, 0.02), 0.5: np.repeat([0.5, 0.0], [110, 19_890])}


def hill():
    return controls.gap_price(S=25, delta=0.005, runs=RUNS)


@pytest.mark.slow
def test_live_and_static_show_the_same_and_every_move_shows(check_both):
    check_both(hill())


def test_every_setting_says_when_the_state_is_flagged():
    widget = hill()
    gap, visits = widget.controls["gap"], widget.controls["visits"]
    assert visits.values == (1_000, 5_000, 20_000)
    for g in gap.values:
        for most in visits.values:
            n = min(st.bounds.visits_until_flagged(g, 25, 0.005), most)
            alt = widget.figure(gap=g, visits=most).alt
            assert f" {n:,} visits, violation {g * n:,.4g}; " in alt
            assert alt.endswith(f"Measured: {0.02 * most:,.4g} at 0.1, 55 at 0.5.")
    assert set(gap.values) <= set(gap.fine)


def test_runs_of_different_lengths_are_refused():
    with pytest.raises(ValueError, match="too many values"):
        controls.gap_price(S=25, delta=0.005, runs={0.1: np.zeros(1_000), 0.2: np.zeros(2_000)})
