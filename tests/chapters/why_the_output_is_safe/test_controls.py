"""The terms of the sample complexity with controls: every setting says what the bound says."""

import pytest

import safeteach as st
from safeteach.chapters.why_the_output_is_safe import controls


@pytest.mark.slow
def test_live_and_static_show_the_same_and_every_move_shows(check_both):
    check_both(controls.sample_complexity(A=3, H=2))


def test_every_setting_says_the_bound():
    widget = controls.sample_complexity(A=3, H=2)
    S, epsilon, delta = (widget.controls[name].values for name in ("S", "epsilon", "delta"))
    for size in S[::2]:
        for asked in epsilon:
            K = st.bounds.exploration_episodes(size, 3, 2, asked, delta[-1])
            alt = widget.figure(S=size, epsilon=asked, delta=delta[-1]).alt
            assert f"at K = {K:.3g};" in alt
