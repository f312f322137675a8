"""The card of a tree of a lower bound: branches with their actions, leaves with their numbers."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from safeteach.figures.card_moves import Move, in_words, on_one_line, state_words
from safeteach.figures.card_parts import Piece
from safeteach.figures.delta import INTO_START, draw_start
from safeteach.figures.described import (
    PAPER,
    SAFE,
    UNSAFE,
    WIDEST,
    Point,
    arrow,
    draw_state,
    text_size,
    write,
)
from safeteach.instances import TreeMDP

MOST_LEAVES = 16
RADIUS = 0.18
ROW = 0.44  # from leaf to leaf
LEFT = 0.5


def tree(mdp: TreeMDP, moves: list[list[Move]]) -> Piece | None:
    """Draw a tree from its root on the left, what is no node below it; None if it does not fit."""
    outside = range(int(mdp.leaves[-1]) + 1, mdp.S)
    rows = [*mdp.leaves.tolist(), *outside]
    beside = {s: _beside(mdp, s, moves[s]) for s in rows}
    words = max(text_size(text)[0] for text in beside.values())
    branches = [_text(x) for its in moves for x in its if is_branch(mdp, x)]
    column = max(1.0, *(text_size(text)[0] + 2 * RADIUS + 0.25 for text in branches))
    width = LEFT + mdp.depth * column + RADIUS + 0.1 + words
    if len(mdp.leaves) > MOST_LEAVES or len(outside) > 8 or width > WIDEST - 0.3:
        return None
    places = _places(mdp, rows, column)
    height = float(places[:, 1].max()) + 0.5

    def draw(axes: Axes, corner: Point) -> None:
        at = places + np.asarray(corner)
        for s in range(int(mdp.leaves[0])):
            for move in moves[s]:
                if is_branch(mdp, move):
                    _draw_branch(axes, at[s], at[move.successors[0]], move)
        for s, xy in enumerate(at):
            kind = UNSAFE if mdp.unsafe[s] else SAFE
            draw_state(axes, xy, kind, RADIUS, str(s), gid=f"state/{s}/{kind.name}")
            if s in beside:
                write(axes, xy + np.array([RADIUS + 0.1, 0]), beside[s], "left")
            else:
                below = s == 0 or at[s, 1] < at[mdp.parent(s), 1]
                up = -RADIUS - 0.12 if below else RADIUS + 0.12
                write(axes, xy + np.array([0, up]), _beside(mdp, s, []), halo=PAPER)
        draw_start(axes, at[mdp.s1] + INTO_START * 1.1 * RADIUS, gid=f"start/{mdp.s1}")

    return Piece(width, height, draw)


def is_branch(mdp: TreeMDP, move: Move) -> bool:
    """Whether a move surely leads from an inner node to one of its children."""
    child = move.successors[0]
    inside = 0 < child <= mdp.leaves[-1] and move.s < mdp.leaves[0]
    return len(move.successors) == 1 and inside and mdp.parent(child) == move.s


def _beside(mdp: TreeMDP, s: int, moves: list[Move]) -> str:
    words = ", ".join([on_one_line(mdp.state_name(s)), *state_words(mdp, s)])
    return f"{words}: {'; '.join(in_words(moves))}" if moves else words


def _places(mdp: TreeMDP, rows: list[int], column: float) -> np.ndarray:
    places = np.zeros((mdp.S, 2))
    last = LEFT + mdp.depth * column
    for i, s in enumerate(reversed(rows)):
        places[s] = last, 0.26 + ROW * i + 0.12 * (s in mdp.leaves)
    depth = [d for d in range(mdp.depth + 1) for _ in range(mdp.degree**d)]
    for s in reversed(range(int(mdp.leaves[0]))):
        children = mdp.degree * s + 1 + np.arange(mdp.degree)
        places[s] = LEFT + depth[s] * column, places[children, 1].mean()
    return places


def _text(move: Move) -> str:
    return ", ".join(move.lines)


def _draw_branch(axes: Axes, start: np.ndarray, end: np.ndarray, move: Move) -> None:
    gid = f"arrow/{move.s}/{move.successors[0]}"
    arrow(axes, start, end, gap=(1.1 * RADIUS, 1.15 * RADIUS), gid=gid)
    text = _text(move)
    xy, half = start + 0.48 * (end - start), np.array(text_size(text)) / 2
    paper = Rectangle(tuple(xy - half), *(2 * half), facecolor=PAPER, edgecolor="none", zorder=3.6)
    axes.add_artist(paper)
    write(axes, xy, text)
