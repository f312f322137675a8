"""The deck of a pursuit on paper: its cells, its treasures and the pieces of the two players."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Circle, Patch, RegularPolygon

from safeteach.figures.described import (
    BLUE,
    INK,
    PALE_BLUE,
    PALE_ORANGE,
    PAPER,
    Entry,
    Point,
    write,
)
from safeteach.figures.grid import draw_cell
from safeteach.instances import PursuitGame

EDGE = {"agent": BLUE, "rival": INK}
FACE = {"agent": PALE_BLUE, "rival": PAPER}


def draw_deck(axes: Axes, game: PursuitGame, corner: Point, size: float) -> None:
    """Draw the cells of a deck, whose lower left corner stands at ``corner``, and its treasures."""
    for i, line in enumerate(game.map):
        for j, x in enumerate(line):
            lower_left = (corner[0] + j * size, corner[1] + (len(game.map) - 1 - i) * size)
            ground = x if x in "X#" else "."
            draw_cell(axes, lower_left, ground, size, gid=f"cell/{i},{j}/{x}")
            if x == "$":
                middle = np.add(lower_left, (0.82 * size, 0.82 * size))
                draw_treasure(axes, middle, 0.11, gid=f"treasure/{i},{j}")


def draw_piece(
    axes: Axes, who: str, xy: Point, radius: float, alpha: float = 1.0, gid: str | None = None
) -> None:
    """Draw the piece of the agent, round, or of the rival, a diamond."""
    piece = outline(who, xy, radius)
    piece.set(facecolor=FACE[who], edgecolor=EDGE[who], linewidth=2.0, zorder=4, alpha=alpha)
    piece.set(gid=gid)
    axes.add_artist(piece)
    write(axes, xy, who[0].upper(), alpha=alpha)


def outline(who: str, xy: Point, radius: float) -> Patch:
    """The outline of a player's piece."""
    if who == "agent":
        return Circle((xy[0], xy[1]), radius)
    return RegularPolygon((xy[0], xy[1]), 4, radius=1.2 * radius)


def draw_treasure(axes: Axes, xy: Point, radius: float, gid: str | None = None) -> None:
    """Draw a treasure, five-sided."""
    coin = RegularPolygon((xy[0], xy[1]), 5, radius=radius)
    coin.set(facecolor=PALE_ORANGE, edgecolor=INK, linewidth=1.2, zorder=1.8, gid=gid)
    axes.add_artist(coin)


def deck_entries(game: PursuitGame) -> list[Entry]:
    """The legend of players, treasure, water and posts, as far as they occur."""

    def cell(ground: str) -> Entry:
        name = {"X": "water", "#": "post"}[ground]
        return Entry(
            lambda axes, xy: draw_cell(axes, (xy[0] - 0.13, xy[1] - 0.13), ground, 0.26), name
        )

    players = [
        Entry(lambda axes, xy, who=who: draw_piece(axes, who, xy, 0.12), who)  # type: ignore[misc]
        for who in EDGE
    ]
    treasure = [Entry(lambda axes, xy: draw_treasure(axes, xy, 0.11), "treasure")]
    there = "".join(game.map)
    return [*players, *treasure[: "$" in there], *(cell(x) for x in "X#" if x in there)]
