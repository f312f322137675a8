"""A matrix game is drawn with its entries, its bans, and bars as long as the chances."""

import numpy as np
import pytest
from looping import each

import safeteach as st
from safeteach.chapters.safe_zero_sum_games import figures

PENNIES = np.array([[0, 4.0], [4, 0], [3, 3]])


def bars(figure, who):
    """Return the lengths of one side's bars, in the order of its rows or columns."""
    found = figure.findobj(lambda artist: (artist.get_gid() or "").startswith(who + "/"))
    found.sort(key=lambda bar: int(bar.get_gid().split("/")[1]))
    return np.array([bar.get_width() if who == "agent" else bar.get_height() for bar in found])


def texts(figure):
    return [text.get_text() for text in figure.axes[0].texts]


@each("seed", range(20))
def test_the_bars_are_an_equilibrium_over_the_rows_that_are_left(seed):
    rng = np.random.default_rng(seed)
    m, n = rng.integers(1, 6, size=2)
    M = rng.integers(-5, 9, size=(m, n)) / 2
    banned = [i for i in range(m - 1) if rng.random() < 0.4]
    figure = figures.matrix_game(M, banned)
    mu, nu = bars(figure, "agent") / 0.8, bars(figure, "adversary") / 0.8
    assert mu.sum() == pytest.approx(1)
    assert nu.sum() == pytest.approx(1)
    assert (mu[banned] == 0).all()
    left = [i for i in range(m) if i not in banned]
    value = st.game_value(M[left]).value
    assert (mu @ M).min() == pytest.approx(value)
    assert (M[left] @ nu).max() == pytest.approx(value)
    assert f"Its value is {value + 0.0:.4g}." in figure.alt


def test_banned_rows_are_hatched_and_nothing_else(drawn):
    figure = figures.matrix_game(PENNIES, banned=[2])
    looks = dict(drawn(figure, "entry"))
    assert {at for at, look in looks.items() if look == "banned"} == {"2,0", "2,1"}
    for at, look in looks.items():
        (cell,) = figure.findobj(lambda a, gid=f"entry/{at}/{look}": a.get_gid() == gid)
        assert bool(cell.get_hatch()) == (look == "banned")
    assert texts(figure).count("banned") == 1
    assert "row 3 (banned): 3, 3. Its value is 2." in figure.alt
    assert "sure of 0 by one row alone" in texts(figure)


def test_if_every_row_is_banned_all_are_played(drawn):
    figure = figures.matrix_game(PENNIES, banned=[0, 1, 2])
    assert {look for _, look in drawn(figure, "entry")} == {"banned"}
    assert bars(figure, "agent") == pytest.approx([0, 0, 0.8])
    assert "Every row is banned, so all are played. Its value is 3." in figure.alt
    assert "every row is banned: all are played" in texts(figure)


def test_the_entries_are_written_where_they_belong(legible):
    figure = figures.matrix_game(
        [[-1.5, 1 / 3], [1e6, 0]], rows=["up", "a long name"], columns=["calm", "strong headwind"]
    )
    assert {"-1.5", "0.3333", "1e+06", "0", "a long name", "strong headwind"} <= set(texts(figure))
    at = {text.get_text(): text.get_position() for text in figure.axes[0].texts}
    assert at["-1.5"][1] > at["1e+06"][1]
    assert at["-1.5"][0] == at["1e+06"][0] == at["calm"][0] < at["0.3333"][0]
    legible(figure)
    legible(figures.matrix_game(np.arange(40).reshape(8, 5)))


def test_what_cannot_be_drawn():
    with pytest.raises(ValueError, match="leave a forbidden row out"):
        figures.matrix_game([[0, -np.inf]])
    with pytest.raises(ValueError, match=r"banned has row 3; the rows are 0\.\.2"):
        figures.matrix_game(PENNIES, banned=[3])
    with pytest.raises(ValueError, match="columns has 3 names; the matrix has 2"):
        figures.matrix_game(PENNIES, columns=["a", "b", "c"])
    with pytest.raises(ValueError, match="9 rows and 2 columns; at most 8 and 5"):
        figures.matrix_game(np.zeros((9, 2)))
