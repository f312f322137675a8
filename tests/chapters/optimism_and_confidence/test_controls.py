"""The interactive figure of confidence: one draw of luck, read further or trusted less."""

import re

import numpy as np
import pytest

import safeteach as st
from safeteach.chapters.optimism_and_confidence import controls

ROOM = st.instances.server_room()
SHOWN = {f"{t} °C": ROOM.state(f"{t} middle") for t in (28, 30, 32, 33, 34, 36)}


@pytest.mark.slow
def test_live_and_static_show_the_same_and_every_move_shows(check_both):
    check_both(controls.confidence(ROOM, SHOWN))


def flagged(widget, n, delta):
    said = re.search(r"Flagged: (.*?)\. Unsafe", widget.figure(n=n, delta=delta).alt)[1]
    return set() if said == "none" else set(said.split(", "))


def test_more_looks_flag_the_unsafe_states_and_none_of_the_safe_ones():
    widget = controls.confidence(ROOM, SHOWN)
    unsafe = {name for name, s in SHOWN.items() if ROOM.unsafe[s]}
    moved = widget.controls
    by_n = [flagged(widget, n, 0.005) for n in moved["n"].values]
    assert by_n[0] == set() and by_n[-1] == unsafe == {"33 °C", "34 °C", "36 °C"}
    assert all(found <= unsafe for found in by_n)
    by_level = [flagged(widget, 3000, delta) for delta in moved["delta"].values]
    assert by_level == sorted(by_level, key=len, reverse=True), "less trust, fewer flags"


def test_more_visits_read_on_in_the_same_list():
    """The average after n + 1 looks differs from that after n by one look only."""
    widget = controls.confidence(ROOM, SHOWN)

    def averages(n):
        said = widget.figure(n=n, delta=0.5).alt.split("threshold 0.5: ")[1]
        return np.array(re.findall(r"°C (-?[\d.e-]+)", said.split(". Flagged")[0]), float)

    fine = list(widget.controls["n"].fine)
    assert set(widget.controls["n"].values) <= set(fine)
    a, b = averages(300), averages(next(n for n in fine if n > 300))
    assert abs(a - b).max() < 0.1 < abs(averages(1) - a).max()


def test_no_more_states_than_fit():
    many = {str(s): s for s in range(9)}
    with pytest.raises(ValueError, match="9 states; one to 8 fit beside each other"):
        controls.confidence(ROOM, many).figure(n=1, delta=0.5)
