"""Why a state is doomed, drawn: an answer to every action, down to an unsafe state.

Taught in the chapter *Danger ahead*.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import networkx as nx
import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from safeteach.arguments import instance
from safeteach.figures.delta import action_label, actions_phrase, edge_style
from safeteach.figures.described import (
    DOOMED,
    UNSAFE,
    WIDEST,
    DescribedFigure,
    Entry,
    Point,
    arrow,
    box_size,
    draw_box,
    draw_legend,
    draw_state,
    full_name,
    kind_entries,
    legend_height,
    listing,
    sheet,
    shorten,
    state_radius,
    write,
)
from safeteach.safety import Witness
from safeteach.safety import witness as explain
from safeteach.worlds.mdp import SafeMDP

__all__ = ["witness"]

MOST_NODES = 40
HEADLINE = 0.4
EDGE = 0.2

Node = tuple[int, int]


def witness(mdp: SafeMDP, s: int, h: int) -> DescribedFigure:
    """Draw why state ``s`` is in U_h: the DAG of :func:`safeteach.witness`, left to right by step.

    An arrow stands for an action of the agent and for the world's answer to it, a successor
    that is still doomed; actions with the same answer share an arrow.  Every path ends in an
    unsafe state.  A witness over many steps goes on in a second line, which first repeats,
    faintly, where the one above has stopped.

    Parameters
    ----------
    mdp : SafeMDP
    s : int
        A state of U_h.
    h : int
        A step 1..H.

    Returns
    -------
    DescribedFigure

    Raises
    ------
    ValueError
        If s is not in U_h, or if the witness has more than 40 nodes.

    Notes
    -----
    U_h is that of Section 4.1 of the paper.

    Examples
    --------
    >>> import safeteach as st
    >>> print(st.figures.witness(st.instances.union_counterexample(), s=1, h=3).alt)
    Why x is in U_3, in 2 nodes: at x in step 3, a0 and a1 may lead to u. Every path ends in an
    unsafe state, at the latest in step 4: u.
    """
    instance(mdp, "mdp", SafeMDP, "a SafeMDP")
    why = explain(mdp, s, h)
    if len(why.answers) > MOST_NODES:
        raise ValueError(
            f"the witness of {mdp.state_name(s)} at step {h} has {len(why.answers)} nodes; a "
            f"picture of more than {MOST_NODES} cannot be read. Start at a later step, or read "
            f"st.witness(mdp, s, h).answers"
        )
    graph = witness_graph(mdp, why)
    columns = _columns(graph)
    radius = state_radius([shorten(mdp.state_name(t)) for _, t in graph])
    widest_label = max([box_size(label)[0] for *_, label in graph.edges(data="label")] or [0])
    across = max(1.05, 2 * radius + widest_label + 0.5)
    bands = _bands(columns, graph, fit=1 + int((WIDEST - 2 * EDGE - 2 * radius) / across))
    down = max(2 * radius + 0.3, 0.85)

    entries = _entries()
    longest = max(map(len, bands))
    width = max((longest - 1) * across + 2 * radius + 2 * EDGE, 4.0)
    bottom = legend_height(entries, width) + 0.1
    tall = [max(map(len, band)) for band in bands]
    height = bottom + sum(n * down + HEADLINE for n in tall)
    figure, axes = sheet(width, height, _describe(mdp, why))
    left = (width - (longest - 1) * across) / 2
    top = height
    for number, (band, n) in enumerate(zip(bands, tall, strict=True)):
        places = {
            node: np.array([left + x * across, top - HEADLINE - (n - len(column)) * down / 2])
            - [0, (i + 0.5) * down]
            for x, column in enumerate(band)
            for i, node in enumerate(column)
        }
        for x, column in enumerate(band):
            step = f"$h = {column[0][0]}$"
            write(axes, (left + x * across, top - 0.6 * HEADLINE), step, math=True)
            for node in column:
                repeated = number > 0 and x == 0
                _draw_node(axes, mdp, node, places[node], radius, repeated)
        _draw_edges(axes, graph.subgraph(places), places, radius)
        top -= n * down + HEADLINE
    draw_legend(axes, entries, width)
    return figure


def witness_graph(mdp: SafeMDP, why: Witness) -> nx.DiGraph:
    """The witness as a graph: nodes (h, s), and edges with their ``actions`` and ``label``."""
    graph = nx.DiGraph()
    for (h, s), answers in why.answers.items():
        graph.add_node((h, s))
        for t in dict.fromkeys(answers):
            actions = tuple(a for a, answer in enumerate(answers) if answer == t)
            graph.add_edge((h, s), (h + 1, t), actions=actions, label=action_label(mdp, actions))
    return graph


def _columns(graph: nx.DiGraph) -> list[list[Node]]:
    """The nodes by step, each column in the order of its predecessors' mean height."""
    columns: dict[int, list[Node]] = {}
    for node in sorted(graph):
        columns.setdefault(node[0], []).append(node)
    ordered = [columns[h] for h in sorted(columns)]
    height: dict[Node, float] = {}
    for column in ordered:
        pull = {
            v: float(np.mean([height[u] for u in graph.predecessors(v)] or [0])) for v in column
        }
        column.sort(key=lambda v: (pull[v], v))
        height.update((v, i - (len(column) - 1) / 2) for i, v in enumerate(column))
    return ordered


def _bands(columns: list[list[Node]], graph: nx.DiGraph, fit: int) -> list[list[list[Node]]]:
    """Break the columns into lines of about equal length, at most ``fit`` columns each.

    A line begins with those nodes of the one above's last column from which it goes on.
    """
    arrows = len(columns) - 1
    lines = max(1, -(-arrows // (fit - 1)))
    ends = np.linspace(0, arrows, lines + 1).round().astype(int)
    return [
        [[v for v in columns[i] if i == 0 or graph.out_degree(v)], *columns[i + 1 : j + 1]]
        for i, j in itertools.pairwise(ends)
    ]


def _draw_node(
    axes: Axes, mdp: SafeMDP, node: Node, xy: Point, radius: float, repeated: bool
) -> None:
    h, s = node
    kind = UNSAFE if mdp.unsafe[s] else DOOMED
    gid = f"{'repeated' if repeated else 'node'}/{h}/{s}/{kind.name}"
    name = shorten(mdp.state_name(s))
    draw_state(axes, xy, kind, radius, name, gid=gid, alpha=0.4 if repeated else 1.0)


def _draw_edges(
    axes: Axes, graph: nx.DiGraph, places: dict[Node, NDArray[np.float64]], radius: float
) -> None:
    """Draw the arrows, then put each label where it overlaps the fewest others."""
    taken: list[tuple[NDArray[np.float64], NDArray[np.float64]]] = []
    for u, v, data in graph.edges(data=True):
        actions = ",".join(map(str, data["actions"]))
        gid = f"answer/{u[0]}/{u[1]}/{actions}/{v[1]}"
        gap = (0.8 * radius, 1.1 * radius)
        arrow(axes, places[u], places[v], gap=gap, gid=gid, **edge_style(doomed=True))
        size = np.array(box_size(data["label"]))
        spots = [places[u] + share * (places[v] - places[u]) for share in LABEL_SHARES]
        spot = min(spots, key=lambda xy: _overlap(xy, size, taken))
        taken.append((spot, size))
        draw_box(axes, spot, data["label"])


LABEL_SHARES = (0.46, 0.4, 0.52, 0.36, 0.58)


def _overlap(
    xy: NDArray[np.float64],
    size: NDArray[np.float64],
    taken: Sequence[tuple[NDArray[np.float64], NDArray[np.float64]]],
) -> float:
    shared = [np.maximum(0, (size + other) / 2 + 0.04 - np.abs(xy - at)) for at, other in taken]
    return float(sum(side.prod() for side in shared))


def _entries() -> list[Entry]:
    def answer(axes: Axes, xy: Point) -> None:
        start, end = (xy[0] - 0.2, xy[1]), (xy[0] + 0.15, xy[1])
        arrow(axes, start, end, **edge_style(doomed=True))

    return [
        *kind_entries()[1:],
        Entry(lambda axes, xy: draw_box(axes, xy, "a"), "action"),
        Entry(answer, "may lead to"),
    ]


def _describe(mdp: SafeMDP, why: Witness) -> str:
    h, s = why.root
    opening = f"Why {full_name(mdp, s)} is in U_{h}"
    if mdp.unsafe[s]:
        return f"{opening}: it is unsafe itself."
    told = []
    for (step, state), answers in why.answers.items():
        for t in dict.fromkeys(answers):
            who = actions_phrase(mdp, [a for a, answer in enumerate(answers) if answer == t])
            where = f"at {full_name(mdp, state)} in step {step}"
            told.append(f"{where}, {who} may lead to {full_name(mdp, t)}")
    ends = sorted({node for node in why.answers if mdp.unsafe[node[1]]})
    unsafe = list(dict.fromkeys(full_name(mdp, t) for _, t in ends))
    return (
        f"{opening}, in {len(why.answers)} nodes: {listing(told, 300, comma='; ')}. Every path "
        f"ends in an unsafe state, at the latest in step {ends[-1][0]}: {listing(unsafe)}."
    )
