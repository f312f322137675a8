"""The parts that a card is put together from: pieces of a picture, notes, and a table."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.font_manager import findfont, get_font

from safeteach.figures.card_moves import Move, in_words, on_one_line, state_words
from safeteach.figures.described import (
    FONT,
    LINE,
    TEXT,
    UNSAFE,
    Entry,
    Point,
    draw_state,
    write,
)
from safeteach.worlds.world import World

ROW, PADDING = 0.21, 0.06  # inches from line to line, and around the rows of a table
GAP, MARKS = 0.2, 0.3  # between columns, and before the first for marks
LONGEST_NAME = 16  # letters
FINE = 720  # dots an inch, at which letters are measured without being rounded


@dataclass(frozen=True)
class Piece:
    """A rectangle of a card.

    Attributes
    ----------
    width, height : float
        Inches.
    draw : function of axes and the lower left corner
    """

    width: float
    height: float
    draw: Callable[[Axes, Point], None]


@dataclass(frozen=True)
class Body:
    """What a card shows below its head.

    Attributes
    ----------
    pieces : tuple of Piece
        From top to bottom.
    notes : tuple of str
        Sentences below them, which may be broken into lines.
    entries : tuple of Entry
        The legend.
    said : tuple of str
        The same in words, one sentence after the other; a long card may leave out the last.
    """

    pieces: tuple[Piece, ...]
    notes: tuple[str, ...]
    entries: tuple[Entry, ...]
    said: tuple[str, ...]


def text_width(text: str) -> float:
    """Inches that a line of text takes, quickly: words come again and are measured once."""
    words = text.split(" ")
    return sum(map(_word_width, words)) + (len(words) - 1) * _space()


@functools.cache
def _word_width(word: str) -> float:
    font = get_font(findfont(FONT))
    font.set_size(TEXT, FINE)
    font.set_text(word)
    return float(font.get_width_height()[0]) / 64 / FINE


@functools.cache
def _space() -> float:
    return _word_width("a a") - 2 * _word_width("a")


def wrapped(text: str, width: float, at: str = " ") -> list[str]:
    """A text in lines of at most this many inches, broken after ``at``; a word is never broken."""
    parts = [part + at.rstrip() for part in text.split(at)]
    parts[-1] = parts[-1].removesuffix(at.rstrip())
    lines, line = [], ""
    for part in parts:
        longer = f"{line} {part}" if line else part
        if line and text_width(longer) > width:
            lines.append(line)
            longer = part
        line = longer
    lines.append(line)
    if at == " ":
        return lines
    return [short for line in lines for short in wrapped(line, width)]


def text_piece(texts: Sequence[str], width: float) -> Piece:
    """Sentences, each on a line of its own, or on more if it is longer."""
    lines = [line for text in texts for line in wrapped(text, width)]

    def draw(axes: Axes, corner: Point) -> None:
        for i, line in enumerate(lines):
            write(axes, (corner[0], corner[1] + ROW * (len(lines) - i - 0.5)), line, "left")

    return Piece(width, ROW * len(lines), draw)


def table(world: World, moves: Sequence[Sequence[Move]], width: float) -> Piece:
    """A row for each state: index, name, cost and reward, and where its moves lead."""
    rows = [[str(s), *_name(world, s), ", ".join(state_words(world, s))] for s in range(world.S)]
    heads = ["s", *["name"] * (len(rows[0]) - 2), "", "moves"]
    wide = [
        max((text_width(text) + GAP for text in (head, *column) if text), default=0.0)
        for head, column in zip(heads, zip(*rows, strict=True), strict=False)
    ]
    left = [MARKS + sum(wide[:i]) for i in range(len(wide) + 1)]  # after the unsafe states' marks
    cells = [
        wrapped("; ".join(in_words(its)) or "stays", max(width - left[-1], 1.0), "; ")
        for its in moves
    ]
    heights = [ROW * len(cell) + PADDING for cell in cells]
    total = ROW + PADDING + sum(heights)

    def draw(axes: Axes, corner: Point) -> None:
        x, top = corner[0], corner[1] + total
        for at, head in zip(left, heads, strict=True):
            if head:
                write(axes, (x + at, top - ROW / 2), head, "left")
        top -= ROW + PADDING / 2
        for s in range(world.S):
            axes.plot([x, x + width], [top, top], color=LINE, linewidth=0.8)
            middle = top - PADDING / 2 - ROW / 2
            _draw_row(axes, (x, middle), left, rows[s], cells[s])
            if world.unsafe[s]:
                draw_state(axes, (x + 0.12, middle), UNSAFE, 0.09, gid=f"unsafe/{s}")
            top -= heights[s]

    return Piece(width, total, draw)


def _draw_row(
    axes: Axes, xy: Point, left: Sequence[float], row: Sequence[str], cell: Sequence[str]
) -> None:
    """Write one state's row, whose first line has its middle at ``xy``."""
    for at, text in zip(left, row, strict=False):
        if text:
            write(axes, (xy[0] + at, xy[1]), text, "left")
    for i, line in enumerate(cell):
        write(axes, (xy[0] + left[-1], xy[1] - i * ROW), line, "left")


def lines_of(piece: Piece) -> int:
    """About how many lines of text are as high as a piece."""
    return round(piece.height / ROW)


def _name(world: World, s: int) -> list[str]:
    """The state's name in a list, which is empty if no state of the world has one."""
    named = any(world.state_name(t) != str(t) for t in range(world.S))
    return [on_one_line(world.state_name(s), LONGEST_NAME)] if named else []
