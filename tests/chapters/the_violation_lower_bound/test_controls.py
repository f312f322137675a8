"""The two worlds with controls: every setting says what the formulas say."""

import itertools
import math

import pytest

from safeteach.chapters.the_violation_lower_bound import controls


@pytest.mark.slow
def test_live_and_static_show_the_same_and_every_move_is_said(check_both):
    static = check_both(controls.two_worlds(leaf_steps=6), settings=45, every_move_shows=False)
    assert len({alt for _, alt in static.values()}) == len(static)


def test_every_setting_says_what_is_shared():
    widget = controls.two_worlds(leaf_steps=6)
    gaps, leaves, episodes = (widget.controls[name].values for name in ("gap", "n", "K"))
    for gap, n, K in itertools.product(gaps, leaves, episodes):
        alt = widget.figure(gap=gap, n=n, K=K).alt
        D = 3 * K * gap**2 / (n - 1)
        assert f"gap {gap:g}, n = {n}, K = {K:,}. D = {D:.3g}. " in alt
        shared = math.erfc(math.sqrt(D) / 2)  # 2Φ(-√(D/2))
        if shared > 1e-12:
            assert f"share {shared:.3g}, " in alt
    for control in widget.controls.values():
        assert set(control.values) <= set(control.fine or control.values)
