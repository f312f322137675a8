"""The matrix game with controls: two entries and a ban in the page, everything with a kernel."""

import itertools

import pytest

import safeteach as st
from safeteach.chapters.safe_zero_sum_games import controls


def live(widget):
    """Return the inputs of the kernel's version by their labels, and what shows the picture."""
    *lines, shown = widget.live().children
    return {one.description: one for line in lines for one in line.children}, shown


@pytest.mark.slow
def test_the_page_shows_what_a_kernel_shows_and_every_move_shows(read, page_of):
    widget = controls.matrix_game()
    static = read.static(widget.page)
    assert len(static) == {"some": 12, "all": 60}[page_of]
    assert len(set(static.values())) == len(static)
    inputs, shown = live(widget)
    for (left, right, banned), picture in static.items():
        inputs["left, guard right"].value = float(left)
        inputs["right, guard right"].value = float(right)
        for row in ("left", "right", "ford"):
            inputs[f"ban {row}"].value = row == banned
        assert read.now(shown) == picture


def test_every_entry_can_be_set_and_every_row_banned(read):
    widget = controls.matrix_game()
    inputs, shown = live(widget)
    assert read.now(shown) == (widget.first.src, widget.first.alt)
    rows, columns = ("left", "right", "ford"), ("guard left", "guard right")
    assert set(inputs) == {f"{r}, {c}" for r in rows for c in columns} | {f"ban {r}" for r in rows}
    for i, (row, column) in enumerate(itertools.product(rows, columns)):
        inputs[f"{row}, {column}"].value = 10.5 + i
        assert f"{10.5 + i:g}" in read.now(shown)[1]
    for row in rows:
        inputs[f"ban {row}"].value = True
        assert f"{row} (banned)" in read.now(shown)[1]
    assert "Every row is banned, so all are played. Its value is 14.5." in read.now(shown)[1]


def test_what_has_no_value_is_said_in_a_line():
    inputs, shown = live(controls.matrix_game())
    inputs["left, guard left"].value = float("inf")
    assert "No picture at this setting." in shown.value
    assert "payoffs must be finite" in shown.value
    inputs["left, guard left"].value = 0.0
    assert "<img" in shown.value


@pytest.mark.parametrize("banned", [-1, 0, 1, 2])
def test_the_value_is_that_of_the_rows_left(banned):
    widget = controls.matrix_game()
    for left, right in itertools.product((0, 1, 2, 4, 8), (0, 1, 4)):
        M = [[0, left], [4, right], [3, 3]]
        value = st.game_value([row for i, row in enumerate(M) if i != banned]).value
        alt = widget.figure(left=left, right=right, banned=banned).alt
        assert f"Its value is {value + 0.0:.4g}." in alt


def test_the_better_the_left_bridge_the_less_it_is_taken():
    """What the chapter asks the reader to guess."""
    shares = []
    for left in (1, 2, 4, 8):
        alt = controls.matrix_game().figure(left=left, right=0, banned=2).alt
        agent, guard = (alt.split(f"The {who} plays ")[-1] for who in ("agent", "adversary"))
        shares.append(int(agent.split("left ")[1].split("%")[0]))
        assert f"guard left {100 * left / (left + 4):.0f}%" in guard
    assert shares == [80, 67, 50, 33]
