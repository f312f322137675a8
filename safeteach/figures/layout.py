"""Where states stand on the paper: the same place at every step, on every run."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from safeteach.extras import extra
from safeteach.instances import GridMDP
from safeteach.worlds.mdp import SafeMDP
from safeteach.worlds.world import World

with extra("figures"):
    import networkx as nx

MOST_STATES = 40
COLUMN_LENGTH = 4  # a layer with more states than this takes several columns
COLUMNS_ABREAST = 5  # a world with more columns than this goes on below, like lines of text
RING, ASIDE, ABOVE = 1.22, 1.3, 1.08  # the laboratory: radius of its ring, between columns, rows

Points = NDArray[np.float64]


def check_drawable(mdp: SafeMDP) -> None:
    """Refuse a world whose picture nobody could read."""
    if mdp.S > MOST_STATES:
        raise ValueError(
            f"the MDP has {mdp.S} states; a picture of more than {MOST_STATES} cannot be read. "
            f"Draw a smaller instance, or look at st.potentially_unsafe(mdp) directly"
        )


def state_positions(mdp: World, abreast: int = COLUMNS_ABREAST) -> Points:
    """(S, 2) places of the states in columns and rows, y upwards, from (0, 0).

    A grid's states stand on their cells.  Others stand in layers from left to right by the
    fewest steps that lead to them from s_1, those that cannot be reached last; with more than
    ``abreast`` columns they go on below.
    """
    if isinstance(mdp, GridMDP):
        places = np.stack([mdp.cells[:, 1], -mdp.cells[:, 0]], axis=1).astype(float)
        return places - places.min(axis=0)
    graph = _moves(mdp)
    columns = _columns(mdp, graph)
    _untangle(columns, graph)
    places = np.empty((mdp.S, 2))
    top = 0.0
    for first in range(0, len(columns), abreast):
        band = columns[first : first + abreast]
        tallest = max(map(len, band))
        for x, column in enumerate(band):
            for i, s in enumerate(column):
                places[s] = x, top - (tallest - len(column)) / 2 - i
        top -= tallest
    return places - places.min(axis=0)


def laboratory_places(names: Sequence[str]) -> Points | None:
    """(11, 2) places of the laboratory's rooms in inches, the ring clockwise from the left.

    None unless these are the names of its rooms, in any order.
    """
    where: dict[str, tuple[float, float]] = {
        f"room {i}": (-RING * math.cos(i * math.pi / 3), RING * math.sin(i * math.pi / 3))
        for i in range(6)
    }
    (x1, y1), (x2, _) = where["room 1"], where["room 2"]
    where["slide"], where["spill"] = (x1, y1 + ABOVE), (x2, y1 + ABOVE)
    where["vault"], where["shelf"] = (x2 + ASIDE, y1 + ABOVE), (x2 + ASIDE, y1)
    between = 7 * math.pi / 6  # the furnace stands outside, between the rooms 5 and 0
    where["furnace"] = (1.64 * RING * math.cos(between), 1.64 * RING * math.sin(between))
    if sorted(names) != sorted(where):
        return None
    return np.array([where[name] for name in names])


def _moves(mdp: World) -> nx.DiGraph:
    """The states, with an arrow where some action at some step may lead from one to another."""
    graph = nx.DiGraph()
    graph.add_nodes_from(range(mdp.S))
    for h in range(1, 2 if mdp.stationary else mdp.H + 1):
        rows = mdp.rows(h)
        n = len(rows.indptr) - 1
        sources = np.repeat(np.arange(n) // (n // mdp.S), np.diff(rows.indptr))
        graph.add_edges_from(zip(sources.tolist(), rows.successors.tolist(), strict=True))
    return graph


def _columns(mdp: World, graph: nx.DiGraph) -> list[list[int]]:
    depth = nx.single_source_shortest_path_length(graph, mdp.s1)
    unreachable = max(depth.values()) + 1
    layers: dict[int, list[int]] = {}
    for s in range(mdp.S):
        layers.setdefault(depth.get(s, unreachable), []).append(s)
    columns: list[list[int]] = []
    for _, layer in sorted(layers.items()):
        pieces = -(-len(layer) // COLUMN_LENGTH)
        columns.extend(piece.tolist() for piece in np.array_split(np.array(layer), pieces))
    return columns


def _untangle(columns: list[list[int]], graph: nx.DiGraph) -> None:
    """Order each column by the mean height of its states' neighbours, a few times over."""
    height = {s: i - (len(c) - 1) / 2 for c in columns for i, s in enumerate(c)}
    neighbours = {s: (set(graph.predecessors(s)) | set(graph.successors(s))) - {s} for s in graph}
    for _ in range(4):
        for column in columns:
            pull = {
                s: float(np.mean([height[t] for t in sorted(neighbours[s])] or [height[s]]))
                for s in column
            }
            column.sort(key=lambda s: (pull[s], s))
            height.update((s, i - (len(column) - 1) / 2) for i, s in enumerate(column))
