"""The deck of a pursuit: who stands where, and what each of the two may do next."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike, NDArray

from safeteach.figures.deck import EDGE, deck_entries, draw_deck, draw_piece, outline
from safeteach.figures.described import (
    DescribedFigure,
    Point,
    arrow,
    draw_legend,
    legend_height,
    sheet,
    write,
)
from safeteach.instances.games import MOVES, PursuitGame
from safeteach.worlds.games import SafeGame

__all__ = ["board"]

CELL, RADIUS = 0.95, 0.21
WIDTH = 4.6  # inches at least: room for the two lines of words and the legend
LINE_OF_WORDS = 0.27
LEAST = 0.005  # a chance below this is neither drawn nor said
SIGNS = {"stay": "stay", "up": "↑", "down": "↓", "left": "←", "right": "→"}


def board(
    game: PursuitGame,
    s: int,
    mu_row: ArrayLike | None = None,
    nu_row: ArrayLike | None = None,
    headline: str = "",
) -> DescribedFigure:
    """Draw the deck of a pursuit with both players, and what each of them may do next.

    The agent is a round piece, the rival a diamond.  An arrow shows where a player may go and a
    ring that it may stay, the thicker the likelier.  In the water both pieces are pale: they
    stand where they will stand at the next step.

    Parameters
    ----------
    game : PursuitGame
        At most seven cells wide.
    s : int
        A state.
    mu_row, nu_row : (5,) arrays of probabilities, optional
        The mixed strategies of agent and rival in this state, in the order of the game's moves.
    headline : str
        A line above the deck; it comes first in the alt text too.

    Returns
    -------
    DescribedFigure

    Notes
    -----
    Taught in the chapters *Safe zero-sum games* and *Learning to play safely*.

    Examples
    --------
    >>> import safeteach as st
    >>> from safeteach.classroom.drawing.board import board
    >>> game = st.instances.pursuit()
    >>> plan = st.safe_optimal(game)
    >>> print(board(game, game.s1, plan.mu[4, game.s1], plan.nu[4, game.s1]).alt)
    A deck, 2 rows by 4 columns: treasure at b1, d2; water at a2, b2. Agent at c1, rival at c2.
    The agent goes left 33%, goes right 67%. The rival goes up 67%, goes right 33%.
    """
    _check(game, s)
    rows = {"agent": _row("mu_row", mu_row), "rival": _row("nu_row", nu_row)}
    given = {who: row for who, row in rows.items() if row is not None}
    entries = deck_entries(game)
    deep, wide = len(game.map), len(game.map[0])
    width = max(wide * CELL + 0.3, WIDTH)
    wet = s == game.S - 1
    said = [f"{who}:  {_said(row, SIGNS, '   ')}" for who, row in given.items()]
    words = LINE_OF_WORDS * max(len(said), int(wet)) + 0.2  # arrows may lead off the deck
    bottom = legend_height(entries, width) + words
    top = 0.52 if headline else 0.2
    alt = " ".join(filter(None, [headline and f"{headline}.", _describe(game, s, given)]))
    figure, axes = sheet(width, bottom + deep * CELL + top, alt)
    corner = ((width - wide * CELL) / 2, bottom)
    draw_deck(axes, game, corner, CELL)
    cells = game.positions[game.s1 if wet else s]
    for who, (i, j) in zip(rows, cells, strict=True):
        middle = np.add(corner, ((j + 0.5) * CELL, (deep - i - 0.5) * CELL))
        draw_piece(axes, who, middle, RADIUS, 0.35 if wet else 1.0, gid=f"{who}/{i},{j}")
        if who in given and not wet:
            _draw_moves(axes, who, middle, given[who])
    for i, line in enumerate(["the agent is in the water"] if wet else said):
        write(axes, (width / 2, bottom - 0.2 - LINE_OF_WORDS * (i + 0.5)), line)
    if headline:
        write(axes, (width / 2, bottom + deep * CELL + 0.34), headline)
    draw_legend(axes, entries, width)
    return figure


def _check(game: SafeGame, s: int) -> None:
    if not isinstance(game, PursuitGame):
        raise TypeError(
            f"game is a {type(game).__name__}; only a PursuitGame has a deck to draw "
            f"(see st.instances.pursuit)"
        )
    if len(game.map[0]) > 7:
        raise ValueError(f"the deck is {len(game.map[0])} cells wide; at most 7 can be read")
    game.check_state(s)


def _row(name: str, row: ArrayLike | None) -> NDArray[np.float64] | None:
    if row is None:
        return None
    chance = np.asarray(row, float)
    if chance.shape != (len(MOVES),) or not np.isclose(chance.sum(), 1) or (chance < 0).any():
        raise ValueError(f"{name} is {row}; expected {len(MOVES)} probabilities, one a move")
    return chance


def _draw_moves(axes: Axes, who: str, xy: Point, row: NDArray[np.float64]) -> None:
    """Arrows from a piece, each to the right of its way so that two that meet pass each other."""
    for (move, (down, right)), chance in zip(MOVES.items(), row, strict=True):
        if chance < LEAST:
            continue
        gid, thick = f"move/{who}/{move}", 1.0 + 6.0 * chance
        if move == "stay":
            ring = outline(who, xy, RADIUS + 0.055 + thick / 144)
            ring.set(fill=False, edgecolor=EDGE[who], linewidth=thick, zorder=3.8, gid=gid)
            axes.add_artist(ring)
        else:
            way = np.array([right, -down])
            start = np.asarray(xy) + 0.1 * np.array([way[1], -way[0]]) + 0.2 * way
            arrow(axes, start, start + 0.46 * way, EDGE[who], width=thick, gid=gid)


def _said(row: NDArray[np.float64], names: dict[str, str], comma: str) -> str:
    return comma.join(
        f"{names[move]} {100 * chance:.0f}%"
        for move, chance in zip(MOVES, row, strict=True)
        if chance >= LEAST
    )


def _describe(game: PursuitGame, s: int, given: dict[str, NDArray[np.float64]]) -> str:
    def cells(x: str) -> str:
        found = [
            f"{chr(ord('a') + j)}{i + 1}"
            for i, line in enumerate(game.map)
            for j, here in enumerate(line)
            if here == x
        ]
        return ", ".join(found) or "none"

    posts = f"; posts at {cells('#')}" if "#" in "".join(game.map) else ""
    text = (
        f"A deck, {len(game.map)} rows by {len(game.map[0])} columns: treasure at {cells('$')}; "
        f"water at {cells('X')}{posts}. "
    )
    if s == game.S - 1:
        return text + "The agent is in the water; at the next step both stand where they started."
    agent, rival = game.state_name(s).split()
    text += f"Agent at {agent}, rival at {rival}."
    names = {move: move if move == "stay" else f"goes {move}" for move in MOVES}
    names["stay"] = "stays"
    for who, row in given.items():
        text += f" The {who} {_said(row, names, ', ')}."
    return text
