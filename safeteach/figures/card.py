"""A card of a world: one picture with all that is needed to compute with it by hand.

Taught in *The worlds of this book*.
"""

from __future__ import annotations

import math

import numpy as np

from safeteach.figures.card_graph import arrows_between, graph, sketch
from safeteach.figures.card_map import deck_body, grid_body
from safeteach.figures.card_moves import (
    Move,
    called,
    in_words,
    moves_of,
    rounded,
    say,
    some_stay,
    start_called,
    state_called,
    state_words,
    steps_of,
)
from safeteach.figures.card_parts import Body, lines_of, table, text_piece
from safeteach.figures.card_tree import is_branch, tree
from safeteach.figures.delta import draw_start
from safeteach.figures.described import (
    SAFE,
    UNSAFE,
    WIDEST,
    DescribedFigure,
    Entry,
    draw_legend,
    draw_state,
    legend_height,
    listing,
    sheet,
)
from safeteach.instances import GridMDP, PursuitGame, TreeMDP
from safeteach.worlds.games import SafeGame
from safeteach.worlds.reading import thin
from safeteach.worlds.world import World, check_world

__all__ = ["card"]

MOST_STATES = 60  # of a world without a map
MOST_ROWS = 4_000  # of transitions: no table has room for more, so they need not be read
MOST_LINES = 80  # of a table
MOST_NODES, MOST_BOXES = 12, 16  # states and moves of a graph with words
MOST_SKETCHED = 24  # states of a sketch, which has no words
FEW_ARROWS, ARROWS_EACH = 9, 3  # of a graph: that many, or that many for each state
EDGE, BETWEEN = 0.15, 0.13
NARROWEST = 5.7  # as charts are
LONGEST = 1_000  # letters of the alt text, which is to say as much as the picture


def card(world: World) -> DescribedFigure:
    """Draw all that is needed to compute with a world by hand, on one card.

    The head has the sizes, τ and the start.  Below it stands, whatever shows the world best:

    - a small world is a graph: states with their index, name, cost and reward, a box for each
      move, arrows with their probabilities; "h=2:" before what holds at step 2 only;
    - a grid is its map with the indices of the cells, a pursuit its deck and a table of its
      states, each with the rules in words;
    - a tree of a lower bound lies on its side, with the actions on its branches;
    - a larger world has a table with a row for each state, and where the arrows are not too many
      a sketch of them above it;
    - a world that is too large for all of these has a card with its sizes, which says where to
      look: ``world.rows(h)``.  That is one with more than 60 states, or whose table would have
      more than 80 lines; grids may have up to 21 rows and columns, decks up to 9 cells.

    What is not written is probability 1, cost 0 and reward 0, and a move that is not drawn stays
    where it is; the card says so.  Numbers with more than six digits are rounded to three.

    Parameters
    ----------
    world : SafeMDP or SafeGame

    Returns
    -------
    DescribedFigure

    Notes
    -----
    Cards of all worlds of the book stand in its appendix, *The worlds of this book*.

    Examples
    --------
    >>> import safeteach as st
    >>> print(st.figures.card(st.instances.union_counterexample()).alt)
    Card of a world: 5 states, 2 actions, H = 4, τ = 0.5, start: state 0 (start). Actions: 0 a0,
    1 a1. Unsafe: 4 u. 0 start: h=1: a0 to 1; h=1: a1 to 2. 1 x, r 1 at h=3: h=2: any to 3; h=3:
    any to 4. 2 y, r 0.5 at h=2–4: h=2: a1 to 1. 3 g, r 1 at h=3–4: stays. 4 u, c 1, r 1 at h=4:
    stays.
    """
    check_world(world, "world")
    body = _body(world)
    width = max([NARROWEST, *(piece.width + 2 * EDGE for piece in body.pieces)])
    inner = width - 2 * EDGE
    pieces = [text_piece(_head(world), inner), *body.pieces]
    if body.notes:
        pieces.append(text_piece(body.notes, inner))
    bottom = legend_height(body.entries, width) if body.entries else 0.05
    height = bottom + sum(piece.height + BETWEEN for piece in pieces) + BETWEEN
    width, height = (math.ceil(64 * side) / 64 for side in (width, height))  # without rounding
    figure, axes = sheet(width, height, _describe(world, body))
    top = height - BETWEEN
    for piece in pieces:
        top -= piece.height
        piece.draw(axes, ((width - piece.width) / 2, top))
        top -= BETWEEN
    if body.entries:
        draw_legend(axes, body.entries, width)
    return figure


def _body(world: World) -> Body:
    body = None
    if isinstance(world, GridMDP):
        body = grid_body(world)
    elif isinstance(world, PursuitGame):
        body = deck_body(world)
    if body is None and world.S <= MOST_STATES and _rows(world) <= MOST_ROWS:
        body = _body_of_moves(world)
    return body or _sizes_only()


def _rows(world: World) -> int:
    """How many rows of transitions there are to read."""
    return len(steps_of(world)) * (len(world.rows(1).indptr) - 1)


def _sizes_only() -> Body:
    where = (
        "This world is too large for a card. world.rows(h) has the moves of step h, "
        "world.r[h - 1] their rewards, world.c the costs."
    )
    return Body((), (where,), (), ())


def _body_of_moves(world: World) -> Body | None:
    """A tree, a graph, or a table with or without a sketch; None if the table is too long."""
    moves = [moves_of(world, s) for s in range(world.S)]
    notes, entries = _reading(world), _entries(world)
    boxes = [move for its in moves for move in its]
    said = tuple(_said(world, s, its) for s, its in enumerate(moves))
    if isinstance(world, TreeMDP) and (piece := tree(world, moves)):
        return Body((piece,), (*_elsewhere(world, moves), *notes), tuple(entries), said)
    arrows = sum(len(move.successors) for move in boxes)
    few = arrows <= max(FEW_ARROWS, ARROWS_EACH * world.S)
    if few and len(boxes) <= MOST_BOXES and world.S <= MOST_NODES:
        piece = graph(world, moves)
        if piece.width <= WIDEST - 2 * EDGE:
            return Body((piece,), tuple(notes), tuple(entries), said)
    rows = table(world, moves, WIDEST - 2 * EDGE)
    if lines_of(rows) > MOST_LINES:
        return None
    pairs = len(arrows_between(world))
    drawn = world.S <= MOST_SKETCHED and pairs <= max(FEW_ARROWS, ARROWS_EACH * world.S)
    return Body((sketch(world), rows) if drawn else (rows,), tuple(notes), tuple(entries), said)


def _head(world: World) -> list[str]:
    sizes = [f"{world.S:,} state{'s' * (world.S > 1)}", f"{world.A:,} action{'s' * (world.A > 1)}"]
    if isinstance(world, SafeGame):
        sizes.append(f"{world.B} repl{'ies' if world.B > 1 else 'y'}")
    head = [
        f"{', '.join(sizes)}, H = {world.H}, τ = {say(world.tau)}, "
        f"start: state {start_called(world)}."
    ]
    actions = [called(world.action_name(a), a) for a in range(world.A)]
    if world.A > 1 or actions != ["0"]:
        head.append(f"Actions: {listing(actions, 110)}.")
    if isinstance(world, SafeGame):
        head.append(
            f"Replies: {listing([called(world.reply_name(b), b) for b in range(world.B)], 110)}."
        )
    return head


def _reading(world: World) -> list[str]:
    """How to read what is not written."""
    words = []
    cost, reward = "c is a cost", "r is the reward of a step or of a move"
    letters = [cost] * bool(world.c.any()) + [reward] * bool(thin(world.r).any())
    if letters:
        words.append(f"{', '.join(letters)}; where none is written it is 0.")
    sure = np.concatenate([world.rows(h).probability == 1 for h in steps_of(world)])
    if sure.any() and not sure.all():
        words.append("A probability that is not written is 1.")
    if some_stay(world):
        words.append("A move that is not shown stays where it is.")
    if rounded(world):
        words.append("Numbers are rounded to three digits.")
    return [" ".join(words)] if words else []


def _elsewhere(mdp: TreeMDP, moves: list[list[Move]]) -> list[str]:
    """The moves from inner nodes that follow no branch."""
    where: dict[str, list[str]] = {}
    for s in range(int(mdp.leaves[0])):
        for phrase in in_words([move for move in moves[s] if not is_branch(mdp, move)]):
            where.setdefault(phrase, []).append(str(s))
    return [f"In {', '.join(states)}: {phrase}." for phrase, states in where.items()]


def _entries(world: World) -> list[Entry]:
    entries = [Entry(lambda axes, xy: draw_state(axes, xy, SAFE, 0.13), "state, index inside")]
    if world.unsafe.any():
        unsafe = Entry(lambda axes, xy: draw_state(axes, xy, UNSAFE, 0.13), "unsafe, c > τ")
        entries.append(unsafe)
    start = Entry(lambda axes, xy: draw_start(axes, (xy[0] + 0.12, xy[1] - 0.13)), "start $s_1$")
    return [*entries, start]


def _said(world: World, s: int, moves: list[Move]) -> str:
    """All about one state, in words."""
    words = ", ".join([state_called(world, s), *state_words(world, s)])
    done = "; ".join(phrase.replace(" → ", " to ") for phrase in in_words(moves)) or "stays"
    return f"{words}: {done}."


def _describe(world: World, body: Body) -> str:
    unsafe = [state_called(world, s) for s in world.unsafe.nonzero()[0].tolist()]
    kind = "game" if isinstance(world, SafeGame) else "world"
    head = f"Card of a {kind}: {' '.join(_head(world))} Unsafe: {listing(unsafe, 80)}."
    rest = body.said or body.notes
    text, left = head, len(rest)
    while left and len(text) + len(rest[-left]) < LONGEST:
        text, left = f"{text} {rest[-left]}", left - 1
    return text if not left else f"{text} And {left} more."
