"""The price of a gap with controls: every setting says what the bounds say."""

import pytest

import safeteach as st
from safeteach.chapters.why_violation_is_small import controls


@pytest.mark.slow
def test_live_and_static_show_the_same_and_every_move_shows(check_both):
    check_both(controls.gap_price(S=25, visits=20_000))


def test_every_setting_says_when_the_state_is_flagged():
    widget = controls.gap_price(S=25, visits=20_000)
    gap, delta = widget.controls["gap"], widget.controls["delta"]
    for g in gap.values:
        for level in delta.values:
            n = min(st.bounds.visits_until_flagged(g, 25, level), 20_000)
            assert f" {n:,} visits, {g * n:,.4g} paid; " in widget.figure(gap=g, delta=level).alt
    assert set(gap.values) <= set(gap.fine)
