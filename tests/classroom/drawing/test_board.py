"""The deck is drawn as the game has it, and arrows are as thick as their moves are likely."""

import numpy as np
import pytest

import safeteach as st
from safeteach.classroom.drawing.board import board

DECK = st.instances.pursuit()
WITH_POST = st.instances.pursuit("A.#\n.RX")
WAYS = {"up": (0, 1), "down": (0, -1), "left": (-1, 0), "right": (1, 0)}


def moves(figure, who):
    """Return {move: its artist} of one player."""
    found = figure.findobj(lambda artist: (artist.get_gid() or "").startswith(f"move/{who}/"))
    return {artist.get_gid().split("/")[2]: artist for artist in found}


@pytest.mark.parametrize("game", [DECK, WITH_POST])
def test_the_deck_and_both_players_are_where_the_game_has_them(game, drawn):
    cells = [(f"{i},{j}", x) for i, row in enumerate(game.map) for j, x in enumerate(row)]
    for s in range(game.S - 1):
        figure = board(game, s)
        assert drawn(figure, "cell") == sorted(cells)
        (agent, rival) = game.positions[s]
        assert drawn(figure, "agent") == [("{},{}".format(*agent),)]
        assert drawn(figure, "rival") == [("{},{}".format(*rival),)]
        assert drawn(figure, "treasure") == [(at,) for at, x in cells if x == "$"]
        assert f"Agent at {game.state_name(s).replace(' ', ', rival at ')}." in figure.alt


def test_arrows_point_along_the_moves_and_are_the_thicker_the_likelier():
    figure = board(DECK, 0, [0.1, 0.2, 0.3, 0.4, 0.0], [0.0, 0.0, 0.002, 0.0, 0.998])
    agent, rival = moves(figure, "agent"), moves(figure, "rival")
    assert set(agent) == {"stay", "up", "down", "left"}
    assert set(rival) == {"right"}  # 0.2% is too little to draw
    widths = [agent[move].get_linewidth() for move in ("stay", "up", "down", "left")]
    assert widths == sorted(set(widths))
    for move in ("up", "down", "left"):
        points = agent[move].get_path().vertices
        way = points[-1] - points[0]
        assert (way / np.hypot(*way)).round(6) == pytest.approx(WAYS[move])
    assert "The agent stays 10%, goes up 20%, goes down 30%, goes left 40%." in figure.alt
    assert figure.alt.endswith("The rival goes right 100%.")


def test_in_the_water_both_pieces_are_pale_and_stand_where_they_start(drawn):
    figure = board(DECK, DECK.S - 1, [0.2] * 5, [0.2] * 5)
    assert drawn(figure, "agent") == [("0,2",)]
    assert drawn(figure, "rival") == [("1,2",)]
    assert moves(figure, "agent") == moves(figure, "rival") == {}
    for who in ("agent/0,2", "rival/1,2"):
        (piece,) = figure.findobj(lambda artist, who=who: artist.get_gid() == who)
        assert piece.get_alpha() < 0.5
    assert "in the water; at the next step both stand where they started." in figure.alt
    assert any("is in the water" in text.get_text() for text in figure.axes[0].texts)


def test_one_size_for_every_state_of_a_run_and_legible(legible):
    pair = [0.2] * 5, [0.2] * 5
    figures = [board(DECK, s, *pair, headline="step 1") for s in (0, 13, DECK.S - 1)]
    assert len({tuple(figure.get_size_inches()) for figure in figures}) == 1
    for figure in [*figures, board(WITH_POST, 0), board(DECK, DECK.S - 1)]:
        legible(figure)
    assert figures[0].alt.startswith("step 1. A deck, 2 rows by 4 columns")
    assert "treasure at none; water at c2; posts at c1" in board(WITH_POST, 0).alt


def test_what_cannot_be_drawn():
    with pytest.raises(TypeError, match="game is a SafeGame; only a PursuitGame has a deck"):
        board(st.instances.quay(), 0)
    with pytest.raises(ValueError, match="state"):
        board(DECK, DECK.S)
    for bad in ([0.5, 0.5], [0.3] * 5, [1.5, -0.5, 0, 0, 0]):
        with pytest.raises(ValueError, match=r"nu_row is .*; expected 5 probabilities, one a move"):
            board(DECK, 0, nu_row=bad)
    with pytest.raises(ValueError, match="8 cells wide; at most 7"):
        board(st.instances.pursuit("A" + 6 * "." + "R"), 0)
