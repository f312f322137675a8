"""Where the actions of a Δ graph stand on the paper and how their lines run, in the clear."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from safeteach.figures.described import bow
from safeteach.figures.layout import Points
from safeteach.worlds.mdp import SafeMDP

ROUNDS = 3
BENDS = np.array([0.0, 0.16, -0.16, 0.32, -0.32, 0.5, -0.5])
LOOPS = np.array([0.55, -0.55])
ALONG = np.linspace(0.06, 0.94, 17)
CLOSE = np.radians(28)  # between two lines at a state; closer ones are hard to tell apart


@dataclass(frozen=True)
class Junction:
    """A state and actions that share their successors: one small box with several arrows out.

    Attributes
    ----------
    s : int
    actions : tuple of int
    successors : tuple of int
        Δ_h(s, a), the same for each of the actions.
    """

    s: int
    actions: tuple[int, ...]
    successors: tuple[int, ...]


def junctions(mdp: SafeMDP, h: int) -> list[Junction]:
    """The Δ graph at step ``h``, with actions of a state joined where they do the same."""
    found: list[Junction] = []
    for s in range(mdp.S):
        actions: dict[tuple[int, ...], list[int]] = {}
        for a in range(mdp.A):
            actions.setdefault(tuple(mdp.successors(h, s, a).tolist()), []).append(a)
        found.extend(Junction(s, tuple(joined), to) for to, joined in actions.items())
    return found


@dataclass(frozen=True)
class Route:
    """A junction on the paper.

    Attributes
    ----------
    spot : (2,) array
        The middle of its box, inches.
    stem : float
        The bend of the line from its state; see :func:`safeteach.figures.described.bow`.
    bends : tuple of float
        The bend of the arrow to each successor.
    """

    spot: Points
    stem: float
    bends: tuple[float, ...]


@dataclass(frozen=True)
class Paper:
    """What a box must keep off.

    Attributes
    ----------
    states : (S, 2) array
        Inches, like everything here.
    radius : float
        Of a state.
    marks : (n, 2) array
        Other places to leave free.
    corners : (2, 2) array
        Lowest and highest x and y.
    """

    states: Points
    radius: float
    marks: Points
    corners: Points


def choices_around(paper: Paper, box: Junction, size: Points) -> Points:
    """Where a box may stand: halfway to its successors, or on rings around its state."""
    angle = np.arange(16) * np.pi / 8
    compass = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    here = paper.states[box.s]
    edge = paper.radius + np.abs(compass) @ size[:, None] / 2
    rings = [here + compass * (edge + far) for far in (0.28, 0.46)]
    ways = []
    for t in box.successors:
        if t != box.s:
            way = paper.states[t] - here
            aside = np.array([way[1], -way[0]]) / np.hypot(*way)
            ways += [here + way * 0.5 + aside * offset for offset in (0, 0.2, -0.2, 0.4, -0.4)]
    return np.concatenate([np.array(ways).reshape(-1, 2), *rings])


def choices_on_grid(
    paper: Paper, box: Junction, size: Points, pitch: float, moves: Points
) -> Points:
    """Where a box of a grid may stand, so that all cells look alike.

    On the right-hand lane of the way to the one next cell; where the move bumps, on the side
    that it bumps against; where it slips, at a corner of the cell.  ``moves`` are the (A, 2)
    directions of the actions on the paper.
    """
    here = paper.states[box.s]
    if len(box.successors) == 1 and box.s not in box.successors:
        way = paper.states[box.successors[0]] - here
        return (here + way * 0.5 + np.array([way[1], -way[0]]) * 0.14)[None]
    if len(box.successors) == 1 and len(box.actions) < len(moves):
        bumps = moves[list(box.actions)]
        return here + bumps * (paper.radius + np.abs(bumps) @ size[:, None] / 2 + 0.24)
    diagonals = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]])
    return np.concatenate([here + diagonals * share * pitch for share in (0.42, 0.36, 0.5)])


def find_routes(
    paper: Paper, boxes: Sequence[Junction], choices: Sequence[Points], sizes: Points
) -> list[Route]:
    """Find room for the boxes of a Δ graph and a bend for each line at them.

    Each box in turn goes where its lines are short, meet no other state or box, cross few
    others and come to their states from a side of their own.  A few rounds are enough for all
    to make room for each other.

    Parameters
    ----------
    paper : Paper
    boxes : sequence of n Junctions
    choices : sequence of n (m, 2) arrays
        Where each box may stand.
    sizes : (n, 2) array
        Widths and heights of the boxes, inches.
    """
    routes = [
        Route(spots[0], 0.0, (0.0,) * len(box.successors))
        for box, spots in zip(boxes, choices, strict=True)
    ]
    for _ in range(ROUNDS):
        for i, box in enumerate(boxes):
            rest = [j for j in range(len(boxes)) if j != i]
            drawn = [(boxes[j], routes[j]) for j in rest]
            around = _surroundings(paper, drawn, sizes[rest])
            routes[i] = _best_route(paper, around, box, choices[i], sizes[i])
    return routes


@dataclass(frozen=True)
class Surroundings:
    """What one box finds on the paper: everything but itself.

    Attributes
    ----------
    blocks, keep_off : (n, 2) and (n,) arrays
        States, marks and boxes, and how far a line should stay from the middle of each.
    starts, ends, points : (l, 2), (l, 2) and (k, 2) arrays
        The lines drawn: their ends, and points on all of them.
    met, angles : (l,) arrays
        The state at which each line starts or ends, and in which direction it leaves it.
    """

    blocks: Points
    keep_off: NDArray[np.float64]
    starts: Points
    ends: Points
    points: Points
    met: NDArray[np.int64]
    angles: NDArray[np.float64]


def _surroundings(
    paper: Paper, drawn: Sequence[tuple[Junction, Route]], sizes: Points
) -> Surroundings:
    lines = []
    for box, route in drawn:
        lines.append((paper.states[box.s], route.spot, route.stem, box.s, True))
        for t, bend in zip(box.successors, route.bends, strict=True):
            lines.append((route.spot, paper.states[t], bend, t, False))
    starts = np.array([line[0] for line in lines]).reshape(-1, 2)
    ends = np.array([line[1] for line in lines]).reshape(-1, 2)
    bends = np.array([line[2] for line in lines])
    leaves = np.array([line[4] for line in lines], np.bool_)
    spots = np.array([route.spot for _, route in drawn]).reshape(-1, 2)
    return Surroundings(
        blocks=np.concatenate([paper.states, paper.marks, spots]),
        keep_off=np.concatenate(
            [
                np.full(len(paper.states), paper.radius + 0.1),
                np.full(len(paper.marks), 0.2),
                np.hypot(*sizes.T) / 2 + 0.05,
            ]
        ),
        starts=starts,
        ends=ends,
        points=bow(starts, ends, bends, ALONG).reshape(-1, 2),
        met=np.array([line[3] for line in lines], np.int64),
        angles=_angle(starts, ends, bends, leaves),
    )


def _best_route(
    paper: Paper, around: Surroundings, box: Junction, spots: Points, size: Points
) -> Route:
    home = np.broadcast_to(paper.states[box.s], spots.shape)
    reach = np.hypot(*size) / 2
    cost = 40 * _crowding(spots, around.blocks, around.keep_off + reach)
    cost += 8 * _crowding(spots, around.points, np.full(len(around.points), reach + 0.06))
    cost += 40 * _outside(spots, paper.corners + np.array([[1], [-1]]) * size / 2)
    cost -= 0.2 * (spots - home)[:, 1]  # all else equal, above: so loops look alike

    stays = box.s in box.successors
    options = LOOPS if stays else BENDS[:1]
    stem = _prices(paper, around, home, spots, options, box.s, leaves=True)
    if stays:  # the way back bends like the way out, so that the two make a loop
        stem += _prices(paper, around, spots, home, options, box.s, leaves=False)
    cost += stem.min(axis=1)
    bends = {box.s: options[stem.argmin(axis=1)]}
    for t in box.successors:
        if t != box.s:
            end = np.broadcast_to(paper.states[t], spots.shape)
            way = _prices(paper, around, spots, end, BENDS, t, leaves=False)
            cost += way.min(axis=1)
            bends[t] = BENDS[way.argmin(axis=1)]
    best = int(cost.argmin())
    return Route(
        spots[best],
        float(bends[box.s][best]),
        tuple(float(bends[t][best]) for t in box.successors),
    )


def _prices(
    paper: Paper,
    around: Surroundings,
    start: Points,
    end: Points,
    bends: NDArray[np.float64],
    at: int,
    leaves: bool,
) -> Points:
    """How bad each of n lines with each of m bends would be, (n, m); state ``at`` is its own."""
    others = np.arange(len(around.blocks)) != at
    curves = bow(start[:, None], end[:, None], bends[None], ALONG)
    cost = 12 * _crowding(curves, around.blocks[others], around.keep_off[others]).sum(axis=-1)
    cost += 4 * _outside(curves, paper.corners).sum(axis=-1)
    cost += 0.6 * np.hypot(*(end - start).T)[:, None] + 0.5 * np.abs(bends)
    angles = _angle(start[:, None], end[:, None], bends, np.array(leaves))
    away = np.abs(angles[..., None] - around.angles[around.met == at]) % (2 * np.pi)
    away = np.minimum(away, 2 * np.pi - away)
    cost += 1.5 * np.maximum(0, 1 - away / CLOSE).sum(axis=-1)
    cost += 0.8 * _crossings(start, end, around.starts, around.ends)[:, None]
    return cost


def _angle(
    start: Points, end: Points, bend: NDArray[np.float64], leaves: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """The direction, seen from the state at its start or end, in which a line goes away."""
    way = end - start
    forward = np.arctan2(way[..., 1], way[..., 0])
    turn = np.arctan(2 * bend)  # a bow leaves its chord by this angle, to the right
    return np.where(leaves, forward - turn, forward + np.pi + turn)


def _crowding(points: Points, blocks: Points, keep_off: NDArray[np.float64]) -> Points:
    """How deep each point lies within the space of all blocks, as shares of it, added up.

    This is where the time goes: blocks out of reach are left out, and the rest is done in place.
    """
    ends = points.reshape(-1, 2)
    low, high = ends.min(axis=0) - keep_off[:, None], ends.max(axis=0) + keep_off[:, None]
    near = ((blocks > low) & (blocks < high)).all(axis=1)
    depth = points[..., None, 0] - blocks[near, 0]
    depth *= depth
    up = points[..., None, 1] - blocks[near, 1]
    up *= up
    depth += up
    np.sqrt(depth, out=depth)
    depth /= -keep_off[near]
    depth += 1
    return np.maximum(depth, 0, out=depth).sum(axis=-1)


def _outside(points: Points, corners: Points) -> Points:
    """How many inches each point lies off the paper."""
    low, high = corners
    return (np.maximum(0, low - points) + np.maximum(0, points - high)).sum(axis=-1)


def _crossings(start: Points, end: Points, starts: Points, ends: Points) -> Points:
    """How many of the lines ``starts``-``ends`` each line ``start``-``end`` crosses inside."""

    def side(a: Points, b: Points, c: Points) -> Points:
        return (b[..., 0] - a[..., 0]) * (c[..., 1] - a[..., 1]) - (b[..., 1] - a[..., 1]) * (
            c[..., 0] - a[..., 0]
        )

    a, b = start[:, None], end[:, None]
    apart = side(a, b, starts) * side(a, b, ends) < -1e-9
    return (apart & (side(starts, ends, a) * side(starts, ends, b) < -1e-9)).sum(axis=1)
