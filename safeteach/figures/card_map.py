"""Cards of worlds that have a map: grids, and the deck of a pursuit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from safeteach.figures.card_moves import moves_of, say, state_words
from safeteach.figures.card_parts import ROW, Body, Piece, table
from safeteach.figures.deck import deck_entries, draw_deck, draw_piece
from safeteach.figures.described import (
    LINE,
    SAFE,
    UNSAFE,
    WIDEST,
    Entry,
    Point,
    draw_state,
    listing,
    write,
)
from safeteach.figures.grid import (
    SMALLEST_CELL,
    cell_letter,
    cell_middles,
    draw_ground,
    ground_entries,
)
from safeteach.instances import GridMDP, PursuitGame, grid_from_map, pursuit
from safeteach.worlds.reading import thin

LARGEST_CELL, ROOMY_CELL = 0.8, 0.6  # inches; a roomy cell has room for more than its index
MOST_DECK = 9  # cells of a deck; the table of its states has as many rows and columns
DECK_CELL, PIECE = 0.72, 0.15
INDEX_CELL = 0.46
GROUNDS = {"~": "ice", "X": "water"}


def grid_body(mdp: GridMDP) -> Body | None:
    """The map with the indices of its cells, and how one moves; None if it does not fit."""
    deep, wide = len(mdp.map), len(mdp.map[0])
    size = min(LARGEST_CELL, (WIDEST - 0.3) / wide)
    if max(deep, wide) > int((WIDEST - 0.3) / SMALLEST_CELL) or _varies(mdp):
        return None
    slip = slip_of(mdp)
    pieces = [Piece(wide * size, deep * size, lambda axes, xy: _draw_map(axes, mdp, xy, size))]
    if slip is None:
        moves = [moves_of(mdp, s) for s in range(mdp.S)]
        pieces.append(table(mdp, moves, WIDEST - 0.3))
    notes = (*_ways(mdp, slip), *_worth(mdp, size))
    said = (
        f"A map of {deep} rows by {wide} columns, its cells numbered row by row: "
        f"{_rows_in_words(mdp)}.",
        *(f"{name.capitalize()}: {listing(_cells_of(mdp, x), 120)}." for x, name in GROUNDS.items()
          if _cells_of(mdp, x)),
        f"Goal: {listing(_cells_of(mdp, 'G'), 60)}.",
        *notes,
    )  # fmt: skip
    return Body(tuple(pieces), notes, tuple(_grid_entries(mdp)), said)


def slip_of(mdp: GridMDP) -> float | None:
    """How often a move on ice goes astray; None if one does not move as on such a map.

    0 where nothing slips.
    """
    letters = "".join(mdp.map)
    if set(letters) - set("SG.~X#") or letters.count("S") != 1 or not mdp.stationary:
        return None
    text = "\n".join(mdp.map)
    dry = grid_from_map(text.replace("~", "."), H=1).P[0]
    astray = grid_from_map(text, H=1, slip=1.0).P[0] - dry
    off, size = mdp.P[0] - dry, float((astray**2).sum())
    slip = float((off * astray).sum()) / size if size else 0.0
    return slip if 0 <= slip <= 1 and np.allclose(off, slip * astray, rtol=0, atol=1e-12) else None


def _varies(mdp: GridMDP) -> bool:
    """Whether rewards depend on the step or on the action, which a map cannot show."""
    r = thin(mdp.r)
    return not bool((r == r[:1, :, :1]).all())


def _ways(mdp: GridMDP, slip: float | None) -> list[str]:
    if slip is None:
        return []
    ways = [
        "A move goes one cell up, down, left or right, as it is meant to; "
        "into a wall or off the map it stays put."
    ]
    if slip:
        ways.append(
            f"On ice it goes as it is meant to with probability {say(1 - 0.75 * slip)}, and in "
            f"each of the other three directions with {say(slip / 4)}."
        )
    if "G" in "".join(mdp.map):
        ways.append("At the goal every move stays.")
    return ways


def _by_ground(mdp: GridMDP, x: NDArray[np.float64]) -> dict[str, float] | None:
    """The number of each ground, if it is the same for all of its cells."""
    found: dict[str, float] = {}
    for (i, j), value in zip(mdp.cells, x, strict=True):
        ground = mdp.map[i][j].replace("S", ".")
        if found.setdefault(ground, float(value)) != value:
            return None
    return found


def _worth(mdp: GridMDP, size: float) -> list[str]:
    """What cells cost and pay: by their ground, or as it stands in them."""
    notes = []
    for name, letter, x in (("Cost", "c", mdp.c), ("Reward of a step", "r", mdp.r[0, :, 0])):
        grounds = _by_ground(mdp, x)
        words = {"~": "on ice", "X": "in water", "G": "at the goal", ".": "on dry floor"}
        if grounds is not None:
            paid = [f"{say(v)} {words.get(k, k)}" for k, v in grounds.items() if v]
            notes.append(f"{name}: {', '.join(paid)}, 0 elsewhere." if paid else f"{name}: 0.")
        elif size >= ROOMY_CELL:
            notes.append(f"{name}: {letter} in the cell, 0 where none is written.")
        else:
            notes.append(f"{name}: see world.{letter}.")
    return notes


def _draw_map(axes: Axes, mdp: GridMDP, corner: Point, size: float) -> None:
    draw_ground(axes, mdp, corner, size)
    roomy = size >= ROOMY_CELL
    plain = [_by_ground(mdp, x) is not None for x in (mdp.c, mdp.r[0, :, 0])]
    for s, xy in enumerate(cell_middles(mdp, corner, size)):
        if mdp.unsafe[s]:
            draw_state(axes, xy, UNSAFE, min(0.19, 0.46 * size), str(s), gid=f"state/{s}/unsafe")
        else:
            write(axes, xy, str(s), halo=SAFE.face)
        letter = "S" if s == mdp.s1 else cell_letter(mdp, s).replace("S", "")
        if roomy and letter:
            write(axes, xy + np.array([-0.34, 0.34]) * size, letter)
        words = [x for x in state_words(mdp, s) if not plain["cr".index(x[0])]]
        if roomy and words:
            write(axes, xy - np.array([0, 0.36 * size]), ", ".join(words))


def _cells_of(mdp: GridMDP, letter: str) -> list[str]:
    return [str(s) for s, (i, j) in enumerate(mdp.cells) if mdp.map[i][j] == letter]


def _rows_in_words(mdp: GridMDP) -> str:
    rows = []
    for i in range(len(mdp.map)):
        inside = np.flatnonzero(mdp.cells[:, 0] == i).tolist()
        if inside:
            rows.append(f"{inside[0]} to {inside[-1]}" if len(inside) > 1 else str(inside[0]))
    return ", ".join(rows)


def _grid_entries(mdp: GridMDP) -> list[Entry]:
    entries = ground_entries(mdp)
    if mdp.unsafe.any():
        entries.insert(0, Entry(lambda axes, xy: draw_state(axes, xy, UNSAFE, 0.13), "unsafe"))
    return entries


def deck_body(game: PursuitGame) -> Body | None:
    """The deck, a table of its states and the rules; None if it is too large or has others."""
    n = round(np.sqrt(game.S - 0.75) + 0.5)  # cells of the deck: S = n (n - 1) + 1
    if n > MOST_DECK or len(game.map[0]) > 9 or len(game.map) > 9 or not _usual(game):
        return None
    cells = sorted({tuple(pair[0]) for pair in game.positions.tolist()})
    names = [f"{chr(ord('a') + j)}{i + 1}" for i, j in cells]
    number = {(tuple(a), tuple(b)): s for s, (a, b) in enumerate(game.positions.tolist())}
    water = game.S - 1
    deep, wide = len(game.map), len(game.map[0])
    deck = Piece(
        wide * DECK_CELL + 0.3, deep * DECK_CELL + 0.3,
        lambda axes, xy: _draw_board(axes, game, xy),
    )  # fmt: skip
    indices = [[number.get((a, b)) for b in cells] for a in cells]
    notes = (
        f"A state is where both stand; state {water} is the water. Both choose at once.",
        "The agent moves first; off the map, into a post or into the rival it stays put, and it "
        "may step into the water.",
        "Then the rival moves, never into the water. Where it steps onto the agent it pushes the "
        "agent one cell on, into the water too; against a post or the rail around the map it "
        "cannot push, and stays.",
        f"From the water both go back to the start, state {game.s1}. It costs 1, all else 0.",
        "A step that begins with the agent on a treasure pays 1, any other 0.",
    )
    said = (
        f"A deck of {deep} rows by {wide} columns, rows from the top: "
        f"{', '.join(''.join(row) for row in game.map)} "
        f"($ treasure, X water, # post, A and R where agent and rival start).",
        f"The states are numbered by the cell of the agent, then of the rival: {', '.join(names)}.",
        *notes,
    )
    return Body((deck, _index_table(names, indices)), notes, tuple(deck_entries(game)), said)


def _usual(game: PursuitGame) -> bool:
    """Whether a game has the rules of its map."""
    text = "\n".join(game.map)
    if set(text) - set(".$X#AR\n") or text.count("A") != 1 or text.count("R") != 1:
        return False
    same = pursuit(text, game.H)
    return game.stationary and all(
        np.array_equal(getattr(game, x), getattr(same, x)) for x in ("P", "r", "c", "s1")
    )


def _draw_board(axes: Axes, game: PursuitGame, corner: Point) -> None:
    deep = len(game.map)
    inner = np.add(corner, (0.3, 0.3))
    draw_deck(axes, game, inner, DECK_CELL)
    for who, (i, j) in zip(("agent", "rival"), game.positions[game.s1], strict=True):
        middle = np.add(inner, ((j + 0.5) * DECK_CELL, (deep - i - 0.5) * DECK_CELL))
        draw_piece(axes, who, middle, PIECE, gid=f"{who}/{i},{j}")
    for i in range(deep):
        write(axes, np.add(inner, (-0.15, (deep - i - 0.5) * DECK_CELL)), str(i + 1))
    for j in range(len(game.map[0])):
        write(axes, np.add(inner, ((j + 0.5) * DECK_CELL, -0.15)), chr(ord("a") + j))


def _index_table(names: Sequence[str], indices: list[list[int | None]]) -> Piece:
    """The number of each state: a row for the agent's cell, a column for the rival's."""
    n, left = len(names), 0.95
    width, height = left + n * INDEX_CELL, (n + 2) * ROW + 0.1

    def draw(axes: Axes, corner: Point) -> None:
        top = corner[1] + height
        write(axes, (corner[0] + left + n * INDEX_CELL / 2, top - ROW / 2), "rival at")
        write(axes, (corner[0], top - 1.5 * ROW), "agent at", "left")
        x = corner[0] + left + INDEX_CELL * (np.arange(n) + 0.5)
        for j, name in enumerate(names):
            write(axes, (x[j], top - 1.5 * ROW), name)
        rule = top - 2 * ROW - 0.03
        axes.plot([corner[0], corner[0] + width], [rule, rule], color=LINE, linewidth=0.8)
        for i, name in enumerate(names):
            y = rule - ROW * (i + 0.5) - 0.02
            write(axes, (corner[0] + 0.5, y), name)
            for j, s in enumerate(indices[i]):
                if s is not None:
                    write(axes, (x[j], y), str(s))

    return Piece(width, height, draw)
