"""The pictures of the chapter say and draw what a run has."""

import math

import numpy as np
import pytest
from matplotlib.colors import to_rgba

import safeteach as st
from safeteach.chapters.why_violation_is_small import figures
from safeteach.figures.described import PAPER


def by_gid(figure):
    """The lines of the only axes of a figure, by their names; several runs may share one."""
    (axes,) = figure.axes
    found = {}
    for line in axes.lines:
        found.setdefault(line.get_gid(), []).append(line.get_xydata())
    return found


# sorted by two questions ----------------------------------------------------------------------

TABLES = {"A": [[3, 1], [0, 1200]], "B": [[1, 1], [5, 0]]}


def test_each_field_says_how_many(on_paper):
    figure = figures.fields(TABLES)
    on_paper(figure)
    (axes,) = figure.axes
    texts = [text.get_text() for text in axes.texts]
    numbers = [text for text in texts if text.replace(",", "").isdigit()]
    assert sorted(numbers) == sorted(["3", "1", "0", "1,200", "1", "1", "5", "0"])
    assert {"A", "B", "flagged", "not flagged"} <= set(texts)
    assert "A: not flagged, no surprise before 3; not flagged, after a surprise 1;" in figure.alt
    assert "flagged, no surprise before 0; flagged, after a surprise 1,200. B: " in figure.alt


def test_an_empty_field_looks_different():
    (axes,) = figures.fields(TABLES).axes
    boxes = {patch.get_gid(): patch for patch in axes.patches}
    assert len(boxes) == 8
    for gid, box in boxes.items():
        _, name, i, j = gid.split("/")
        empty = TABLES[name][int(i)][int(j)] == 0
        assert (box.get_linestyle() != "solid") == empty
        assert (box.get_facecolor() == to_rgba(PAPER)) == empty


# when a run was unsafe ------------------------------------------------------------------------


def test_two_layers_add_up_to_the_violation(on_paper):
    k, paid, flagged = [1, 3, 3, 8, 9], [0.5, 0.25, 0.5, 0.5, 1], [0, 0, 1, 1, 0]
    figure = figures.accidents(k, paid, flagged, episodes=20)
    on_paper(figure)
    drawn = by_gid(figure)
    (early,), (total,) = drawn["not yet flagged"], drawn["flagged, after a surprise"]
    assert early[:, 0].tolist() == total[:, 0].tolist() == [0, *k, 20]
    assert early[:, 1].tolist() == [0, 0.5, 0.75, 0.75, 0.75, 1.75, 1.75]
    assert total[:, 1].tolist() == [0, 0.5, 0.75, 1.25, 1.75, 2.75, 2.75]
    assert drawn["not yet flagged, last"][0].tolist() == [[9, 1.75]]
    assert drawn["flagged, after a surprise, last"][0].tolist() == [[8, 2.75]]
    assert figure.alt == (
        "Running violation of 20 episodes. In states not yet flagged: 1.75 in 3 steps, the last in "
        "episode 9. Flagged, after a surprise: 1 in 2 steps, the last in episode 8."
    )


def test_a_run_without_surprises_or_without_anything_is_drawn_too():
    alt = figures.accidents([2], [0.5], [0], episodes=9).alt
    assert alt.endswith("0.5 in 1 step, in episode 2. Flagged, after a surprise: none.")
    assert "not yet flagged: none" in figures.accidents([], [], [], episodes=9).alt


# a danger that is known -----------------------------------------------------------------------


def test_falls_after_the_flag_stand_out(on_paper):
    runs = {"p = 0.1": [([1, 4, 9], False), ([2, 5], True)], "p = 1/10,000": [([3, 5], False)]}
    figure = figures.falls(runs, known=5, episodes=50)
    on_paper(figure)
    drawn = by_gid(figure)
    assert [line[:, 0].tolist() for line in drawn["early"]] == [[1, 4], [2, 5], [3, 5]]
    assert [line[:, 0].tolist() for line in drawn["late"]] == [[9], [], []]
    (axes,) = figure.axes
    (pending,) = (text for text in axes.texts if text.get_gid() == "pending")
    assert pending.get_position()[1] == drawn["early"][1][0, 1]  # in the row of its run
    (none,) = (text for text in axes.texts if text.get_gid() == "none")
    assert none.get_position()[1] == drawn["early"][2][0, 1]
    legend = [text.get_text() for text in axes.texts if text.get_gid() == "legend"]
    assert [text[0] for text in legend] == ["|", "■"]  # as ticks and squares are drawn
    assert figure.alt == (
        "Episodes with a fall, up to episode 50. p = 0.1: after episode 5 in run 1 episode 9, in "
        "run 2 none yet. p = 1/10,000: after episode 5 in run 1 none."
    )


# the lines of the proof -----------------------------------------------------------------------


def test_the_ladder_has_a_mark_for_each_line_and_world(on_paper):
    halves = [
        {"paid": (50.5, 0), r"$(1-\tau)HE$": (12_144, 6)},
        {"looks": (176, 300), r"$8\sqrt{\Lambda|U|T}$": (2_000, 4_000)},
    ]
    figure = figures.ladder(halves, ["pond", "faint"])
    on_paper(figure)
    drawn = by_gid(figure)
    assert [line[:, 0].tolist() for line in drawn["pond"]] == [[50.5, 12_144], [176, 2_000]]
    assert [line[:, 0].tolist() for line in drawn["faint"]] == [[figures.LOW, 6], [300, 4_000]]
    heights = np.concatenate([line[:, 1] for line in drawn["pond"]])
    assert (np.diff(heights) < 0).all()
    (axes,) = figure.axes
    assert "0" in [text.get_text() for text in axes.texts]  # what has no place on the axis
    assert figure.alt == (
        "The lines of the proof, in two worlds. pond: paid 50.5; (1-τ)HE 1.214e+04; looks 176; "
        "8√(Λ|U|T) 2,000. faint: paid 0; (1-τ)HE 6; looks 300; 8√(Λ|U|T) 4,000."
    )


# the price of a gap ---------------------------------------------------------------------------


def width(n, S, delta):
    return math.sqrt(2 * math.log(S * n * (n + 1) / delta) / n)


def first_below(gap, S, delta, visits, twice):
    """By trying n = 1, 2, 3, ..."""
    for n in range(1, visits + 1):
        if (2 if twice else 1) * width(n, S, delta) < gap:
            return n
    return visits


@pytest.mark.parametrize(("S", "delta", "visits"), [(25, 0.005, 3_000), (2, 0.9, 500), (3, 0.5, 1)])
def test_lines_are_the_gap_times_the_visits(S, delta, visits):
    lines = by_gid(figures.gap_price(0.3, S, delta, visits, {}))
    for name, twice in (("at most", True), ("exact estimate", False)):
        for gap, paid in [*lines[name][0][::15], *lines[f"{name}, here"][0]]:
            assert paid == pytest.approx(gap * first_below(gap, S, delta, visits, twice))
        assert lines[f"{name}, here"][0][0][0] == 0.3


def test_for_sure_is_what_the_bounds_say():
    for gap in (0.2, 0.5, 1):
        n = st.bounds.visits_until_flagged(gap, 25, 0.005)
        alt = figures.gap_price(gap, 25, 0.005, 20_000, {}).alt
        assert f"for sure after {n:,} visits, violation {gap * n:,.4g}" in alt


def test_a_gap_too_small_for_the_visits_is_said_to_be():
    alt = figures.gap_price(0.02, 25, 0.005, 1_000, {}).alt
    assert "for sure not within 1,000 visits, violation 20; exact estimate not within 1,000" in alt
    assert alt.endswith("Measured: nothing.")


def test_what_was_measured_stands_on_the_hill():
    figure = figures.gap_price(0.1, 3, 0.005, 20_000, {0.02: 399.8, 0.5: 55})
    assert by_gid(figure)["measured"][0].tolist() == [[0.02, 399.8], [0.5, 55]]
    assert figure.alt.endswith("Measured: 399.8 at 0.02, 55 at 0.5.")


def test_lines_differ_without_colour(on_paper):
    figure = figures.gap_price(0.1, 25, 0.005, 20_000, {0.1: 400.0})
    (axes,) = figure.axes
    lines = {line.get_gid(): line for line in axes.lines}
    assert lines["at most"]._dash_pattern != lines["exact estimate"]._dash_pattern
    marked = ("at most, here", "exact estimate, here", "measured")
    assert len({lines[gid].get_marker() for gid in marked}) == 3
    on_paper(figure)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, 25, 0.005, 100), "gap is 0; from 0.01 to 1 it is drawn"),
        ((1.5, 25, 0.005, 100), "gap is 1.5"),
        ((0.5, 1, 0.005, 100), "S is 1 and visits 100; at least 2 and 1"),
        ((0.5, 2, 0.005, 0), "visits 0"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(ValueError, match=message):
        figures.gap_price(*arguments, measured={})
