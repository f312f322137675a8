"""The graph of a card: states in the clear, boxes for what can be done, probabilities on arrows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from safeteach.figures.card_moves import Move, on_one_line, say, state_words
from safeteach.figures.card_parts import Piece
from safeteach.figures.delta import INTO_START, draw_start
from safeteach.figures.described import (
    PAPER,
    SAFE,
    TEXT,
    UNSAFE,
    WIDEST,
    Point,
    arrow,
    bow,
    box_size,
    draw_box,
    draw_state,
    text_size,
    write,
)
from safeteach.figures.layout import Points, laboratory_places, state_positions
from safeteach.figures.routing import BENDS, Junction, Paper, Route, choices_around, find_routes
from safeteach.worlds.world import World

RADIUS = 0.2  # of a state
LINE = TEXT * 1.1 / 72  # inches from line to line
MARGIN = 0.75  # around the outermost states, for boxes and loops
LONGEST_NAME = 14  # letters
WIDE_BOX, NARROW_BOX = 1.35, 0.9  # inches, in a world of few and of many columns
TWO_WAY = np.array([0.14, 0.3, 0.46])  # bends of an arrow that has another in return
ALONG = np.linspace(0, 1, 61)
Boxes = NDArray[np.float64]  # (n, 4): lowest and highest x, lowest and highest y


@dataclass(frozen=True)
class Label:
    """A text with its middle, in inches."""

    xy: Points
    text: str

    @property
    def box(self) -> Points:
        """Lowest x and y, highest x and y."""
        half = np.array(text_size(self.text)) / 2
        return np.concatenate([self.xy - half, self.xy + half])


def graph(world: World, moves: Sequence[Sequence[Move]]) -> Piece:
    """Draw every move: a line from its state to a box that names it, arrows to its successors."""
    all_moves = [move for its in moves for move in its]
    places = state_positions(world, abreast=6)
    most = WIDE_BOX if places[:, 0].max() <= 3 else NARROW_BOX
    texts = ["\n".join(_narrow(line, most) for line in move.lines) for move in all_moves]
    sizes = np.array([box_size(text) for text in texts]).reshape(-1, 2)
    places = places * _pitch(world, places, sizes)
    labels = _labels(places, [_words(world, s) for s in range(world.S)])
    routes = _routes(world, places, labels, all_moves, sizes)
    chances = _chances(places, labels, all_moves, routes, sizes)
    low, high = _corners(places[world.s1], places, labels, chances, all_moves, routes, sizes)

    def draw(axes: Axes, corner: Point) -> None:
        shift = np.asarray(corner) - low
        for move, route, text in zip(all_moves, routes, texts, strict=True):
            home, spot = places[move.s] + shift, route.spot + shift
            arrow(axes, home, spot, bend=route.stem, head=False, gap=(0.8 * RADIUS, 0))
            for t, bend in zip(move.successors, route.bends, strict=True):
                gid = f"arrow/{move.s}/{t}"
                arrow(axes, spot, places[t] + shift, bend=bend, gap=(0, 1.15 * RADIUS), gid=gid)
            draw_box(axes, spot, text)
        for label in chances:
            _draw_chance(axes, Label(label.xy + shift, label.text))
        _draw_states(axes, world, places + shift, labels, shift)

    return Piece(float(high[0] - low[0]), float(high[1] - low[1]), draw)


def sketch(world: World) -> Piece:
    """Draw the states, with an arrow where some move leads from one to another, without words."""
    names = [_name(world, s) for s in range(world.S)]
    places = laboratory_places([world.state_name(s) for s in range(world.S)])
    if places is None:
        places = state_positions(world, abreast=10)
        widest = max((text_size(name)[0] for name in names if name), default=2 * RADIUS)
        room = WIDEST - 0.75 - max(widest / 2, 0.5) - max(widest / 2, 0.24)
        places = places * [min(1.2, room / max(places[:, 0].max(), 1)), 1.2]
    labels = _labels(places, names, _above(world, places, names))
    low, high = _corners(places[world.s1], places, labels, [], [], [], np.empty((0, 2)))
    pairs = arrows_between(world)
    bends = {(s, t): _clear_bend(places, labels, s, t, (t, s) in pairs) for s, t in pairs}
    for (s, t), bend in bends.items():
        way = bow(places[s], places[t], np.array(bend), ALONG)
        low, high = np.minimum(low, way.min(axis=0)), np.maximum(high, way.max(axis=0))
    low, high = low - 0.08, high + 0.08

    def draw(axes: Axes, corner: Point) -> None:
        shift = np.asarray(corner) - low
        for (s, t), bend in bends.items():
            gap = (1.1 * RADIUS, 1.15 * RADIUS)
            gid = f"arrow/{s}/{t}"
            arrow(axes, places[s] + shift, places[t] + shift, bend=bend, gap=gap, gid=gid)
        _draw_states(axes, world, places + shift, labels, shift)

    return Piece(float(high[0] - low[0]), float(high[1] - low[1]), draw)


def arrows_between(world: World) -> list[tuple[int, int]]:
    """The pairs of different states of which the second can follow the first at some step."""
    pairs: set[tuple[int, int]] = set()
    for h in range(1, 2 if world.stationary else world.H + 1):
        rows = world.rows(h)
        n = len(rows.indptr) - 1
        sources = np.repeat(np.arange(n) // (n // world.S), np.diff(rows.indptr))
        pairs |= set(zip(sources.tolist(), rows.successors.tolist(), strict=True))
    return sorted((s, t) for s, t in pairs if s != t)


def _pitch(world: World, places: Points, sizes: Points) -> Points:
    """How far apart columns and rows of states stand, so that boxes fit between them."""
    columns = places[:, 0].max()
    widest, highest = sizes.max(axis=0, initial=0.3)
    room = (WIDEST - 0.3 - 2 * MARGIN) / max(columns, 1)
    across = min(2 * RADIUS + widest + (1.2 if columns <= 2 else 0.85), room)
    words = max(_words(world, s).count("\n") for s in range(world.S)) + 1
    return np.array([across, 2 * RADIUS + words * LINE + highest + 0.5])


def _narrow(line: str, most: float) -> str:
    """A line of a box, broken before further moves and replies until it is narrow enough."""
    for between, broken in ((r", (?!r |\d)", ",\n"), (" / ", " /\n")):
        if text_size(line)[0] > most:
            line = re.sub(between, broken, line)
    return line


def _name(world: World, s: int) -> str:
    name = world.state_name(s)
    return "" if name == str(s) else on_one_line(name, LONGEST_NAME)


def _words(world: World, s: int) -> str:
    words = ", ".join(state_words(world, s))
    return "\n".join(filter(None, [_name(world, s), words]))


def _labels(places: Points, texts: Sequence[str], above: Sequence[int] = ()) -> list[Label]:
    """The words of each state that has some, below it or above."""
    labels = []
    for s, text in enumerate(texts):
        if text:
            off = RADIUS + 0.05 + text_size(text)[1] / 2
            labels.append(Label(places[s] + np.array([0, off if s in above else -off]), text))
    return labels


def _above(world: World, places: Points, names: Sequence[str]) -> list[int]:
    """The states whose names meet fewer arrows above than below."""
    ways = [bow(places[s], places[t], np.array(0.0), ALONG) for s, t in arrows_between(world)]
    points = np.concatenate(ways) if ways else np.empty((0, 2))
    met = []
    for label in (*_labels(places, names), *_labels(places, names, range(world.S))):
        half = np.array(text_size(label.text)) / 2
        met.append(_covered(label.xy[None], half, points)[0])
    named = [s for s in range(world.S) if names[s]]
    return [s for s, below, above in zip(named, met, met[len(named) :], strict=False)
            if above < below and s != world.s1]  # fmt: skip


def _routes(
    world: World, places: Points, labels: Sequence[Label], moves: Sequence[Move], sizes: Points
) -> list[Route]:
    start = places[world.s1] + INTO_START * (RADIUS + 0.2)
    marks = np.array([start, *(xy for label in labels for xy in _covering(label))])
    margin = np.array([MARGIN, 1.6 * MARGIN])
    corners = np.array([places.min(axis=0) - margin, places.max(axis=0) + margin])
    paper = Paper(places, RADIUS, marks, corners)
    boxes = [Junction(move.s, (), move.successors) for move in moves]
    choices = [
        np.concatenate([choices_around(paper, box, size), _farther(places, box)])
        for box, size in zip(boxes, sizes, strict=True)
    ]
    return find_routes(paper, boxes, choices, sizes)


def _farther(places: Points, box: Junction) -> Points:
    """More places for a box, on wider bows: with its rewards it may need them."""
    here, spots = places[box.s], []
    for t in box.successors:
        if t != box.s:
            way = places[t] - here
            aside = np.array([way[1], -way[0]]) / np.hypot(*way)
            along = np.array([0.35, 0.5, 0.65])[:, None] * way
            spots += [here + along + off * aside for off in (0.6, -0.6, 0.85, -0.85)]
    return np.array(spots).reshape(-1, 2)


def _covering(label: Label) -> Points:
    """Points that cover a label, for lines and boxes to keep off."""
    x0, y0, x1, y1 = label.box
    across = np.linspace(x0 + 0.05, x1 - 0.05, max(2, int((x1 - x0) / 0.15)))
    down = np.linspace(y0 + 0.05, y1 - 0.05, max(1, int((y1 - y0) / 0.12)))
    return np.array([(x, y) for x in across for y in down])


def _chances(
    places: Points,
    labels: Sequence[Label],
    moves: Sequence[Move],
    routes: Sequence[Route],
    sizes: Points,
) -> list[Label]:
    """The probabilities below 1, each on its arrow where nothing else is."""
    spots = np.array([route.spot for route in routes]).reshape(-1, 2)
    taken = [label.box for label in labels]
    taken += [np.concatenate([xy - RADIUS, xy + RADIUS]) for xy in places]
    taken += [np.concatenate([xy - size / 2, xy + size / 2])
              for xy, size in zip(spots, sizes, strict=True)]  # fmt: skip
    ways = [
        (i, t, p, bow(route.spot, places[t], np.array(bend), ALONG))
        for i, (move, route) in enumerate(zip(moves, routes, strict=True))
        for t, p, bend in zip(move.successors, move.chances, route.bends, strict=True)
    ]
    lines = [way for _, _, _, way in ways]
    lines += [bow(places[move.s], route.spot, np.array(route.stem), ALONG)
              for move, route in zip(moves, routes, strict=True)]  # fmt: skip
    found: list[Label] = []
    for j, (i, t, p, way) in enumerate(ways):
        if p < 1:
            others = np.concatenate([line for k, line in enumerate(lines) if k != j])
            label = _on_the_way(say(p), way, _seen(way, spots[i], sizes[i], places[t]),
                                np.array(taken), others)  # fmt: skip
            taken.append(label.box)
            found.append(label)
    return found


def _seen(way: Points, spot: Points, size: Points, end: Points) -> NDArray[np.bool_]:
    """Which points of an arrow neither its box nor its last state covers."""
    free = (np.abs(way - spot) > size / 2 + 0.02).any(axis=1)
    return free & (np.hypot(*(way - end).T) > RADIUS + 0.17)


def _on_the_way(
    text: str, way: Points, seen: NDArray[np.bool_], taken: Boxes, others: Points
) -> Label:
    """A label on an arrow or right beside it, where it covers least."""
    half = np.array(text_size(text)) / 2 + 0.02
    points = way[seen] if seen.any() else way[len(way) // 2 :][:1]
    ahead = np.gradient(points, axis=0) if len(points) > 1 else np.array([[1.0, 0.0]])
    aside = np.stack([ahead[:, 1], -ahead[:, 0]], axis=1)
    aside = aside / np.maximum(np.hypot(*aside.T), 1e-9)[:, None]
    off = np.abs(aside) @ half + 0.05
    room = np.hypot(*(points[-1] - points[0]))
    best: tuple[float, Points] | None = None
    for side in (0, 1, -1):
        middles = points + side * aside * off[:, None]
        cost = 8 * _overlap(middles, half, taken) + 0.02 * _covered(middles, half, others)
        cost += 0.25 * abs(side) + (side == 0) * 2.0 * max(0.0, 2 * half[0] + 0.25 - room)
        cost += 0.2 * np.abs(np.linspace(-1, 1, len(points)))
        i = int(cost.argmin())
        if best is None or cost[i] < best[0]:
            best = float(cost[i]), middles[i]
    assert best is not None
    return Label(best[1], text)


def _overlap(middles: Points, half: Points, taken: Boxes) -> NDArray[np.float64]:
    """By how much of an inch boxes around these middles reach into those that are taken."""
    into = np.minimum(
        middles[:, None] + half - taken[:, :2], taken[:, 2:] - middles[:, None] + half
    )
    return np.maximum(0, into + 0.03).min(axis=-1).sum(axis=-1)


def _covered(middles: Points, half: Points, points: Points) -> NDArray[np.float64]:
    """How many points of other lines lie in boxes around these middles."""
    inside = (np.abs(points - middles[:, None]) < half + 0.03).all(axis=-1)
    return inside.sum(axis=-1).astype(np.float64)


def _corners(
    start: Points,
    places: Points,
    labels: Sequence[Label],
    chances: Sequence[Label],
    moves: Sequence[Move],
    routes: Sequence[Route],
    sizes: Points,
) -> tuple[Points, Points]:
    """The lowest and highest x and y of all that is drawn."""
    mark = start + INTO_START * (1.1 * RADIUS + 0.4)
    low = [places.min(axis=0) - 1.2 * RADIUS, mark]
    high = [places.max(axis=0) + 1.2 * RADIUS, mark]
    for label in (*labels, *chances):
        low.append(label.box[:2])
        high.append(label.box[2:])
    for move, route, size in zip(moves, routes, sizes, strict=True):
        ways = [bow(route.spot, places[t], np.array(bend), ALONG)
                for t, bend in zip(move.successors, route.bends, strict=True)]  # fmt: skip
        points = np.concatenate(
            [*ways, bow(places[move.s], route.spot, np.array(route.stem), ALONG)]
        )
        low += [route.spot - size / 2, points.min(axis=0)]
        high += [route.spot + size / 2, points.max(axis=0)]
    return np.min(low, axis=0) - 0.06, np.max(high, axis=0) + 0.06


def _clear_bend(places: Points, labels: Sequence[Label], s: int, t: int, both: bool) -> float:
    """The bend at which an arrow meets the fewest states and words that are not its own."""
    marks = np.concatenate([*(places[[x]] for x in range(len(places)) if x not in (s, t)),
                            *(_covering(label) for label in labels)])  # fmt: skip
    bends = TWO_WAY if both else BENDS
    ways = bow(places[s], places[t], bends, ALONG)[:, 6:-6]
    away = np.hypot(*(ways[:, :, None] - marks).transpose(3, 0, 1, 2))
    cost = np.maximum(0, 1 - away / (RADIUS + 0.06)).sum(axis=(1, 2)) + 0.8 * np.abs(bends)
    return float(bends[cost.argmin()])


def _draw_chance(axes: Axes, label: Label) -> None:
    x0, y0, x1, y1 = label.box
    paper = Rectangle((x0, y0), x1 - x0, y1 - y0, facecolor=PAPER, edgecolor="none", zorder=3.6)
    axes.add_artist(paper)
    write(axes, label.xy, label.text)


def _draw_states(
    axes: Axes, world: World, places: Points, labels: Sequence[Label], shift: Points
) -> None:
    for s, xy in enumerate(places):
        kind = UNSAFE if world.unsafe[s] else SAFE
        draw_state(axes, xy, kind, RADIUS, str(s), gid=f"state/{s}/{kind.name}")
    for label in labels:
        write(axes, label.xy + shift, label.text, halo=PAPER)
    draw_start(axes, places[world.s1] + INTO_START * 1.1 * RADIUS, gid=f"start/{world.s1}")
