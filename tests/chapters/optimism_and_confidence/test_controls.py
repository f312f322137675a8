"""The interactive figure of confidence: one draw of luck, read further or trusted less."""

import re

import numpy as np
import pytest

import safeteach as st
from safeteach.chapters.optimism_and_confidence import controls

SMOKE = st.instances.smoke()


@pytest.mark.slow
def test_live_and_static_show_the_same_and_every_move_shows(check_both):
    check_both(controls.confidence(SMOKE))


def flagged(widget, n, delta):
    said = re.search(r"Flagged: (.*?)\. Unsafe", widget.figure(n=n, delta=delta).alt)[1]
    return set() if said == "none" else set(re.findall(r"\(\d,\d\)", said))


def test_two_states_of_every_cost_and_none_of_the_safe_ones_flagged():
    widget = controls.confidence(SMOKE)
    names = [SMOKE.state_name(s) for s in range(SMOKE.S)]
    said = widget.figure(n=1, delta=0.005).alt.split("threshold 0.5: ")[1].split(". Flagged")[0]
    shown = re.findall(r"\(\d,\d\)", said)
    cost = [SMOKE.c[names.index(name)] for name in shown]
    assert np.allclose(cost, np.repeat([0, 0.3, 0.6, 0.9], 2))
    unsafe = {name for name, c in zip(shown, cost, strict=True) if c > SMOKE.tau}
    moved = widget.controls
    by_n = [flagged(widget, n, 0.005) for n in moved["n"].values]
    assert by_n[0] == set() and by_n[-1] == unsafe
    assert all(found <= unsafe for found in by_n)
    by_level = [flagged(widget, 3000, delta) for delta in moved["delta"].values]
    assert by_level == sorted(by_level, key=len, reverse=True), "less trust, fewer flags"


def test_more_visits_read_on_in_the_same_list():
    """The average after n + 1 looks differs from that after n by one look only."""
    widget = controls.confidence(SMOKE)

    def averages(n):
        said = widget.figure(n=n, delta=0.5).alt.split("threshold 0.5: ")[1]
        return np.array(re.findall(r"\(\d,\d\) (-?[\d.e-]+)", said.split(". Flagged")[0]), float)

    fine = list(widget.controls["n"].fine)
    assert set(widget.controls["n"].values) <= set(fine)
    a, b = averages(300), averages(next(n for n in fine if n > 300))
    assert abs(a - b).max() < 0.1 < abs(averages(1) - a).max()


def test_it_needs_few_different_costs():
    many = st.SafeMDP(np.eye(9)[:, None], np.zeros((9, 1)), np.arange(9) / 9, tau=0.5, H=1)
    with pytest.raises(ValueError, match="9 different costs make 9 states to show; 8 fit"):
        controls.confidence(many)
