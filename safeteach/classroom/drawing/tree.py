"""A tree of choices, lying on its side: which leaves are safe, what they cost and what they pay."""

from __future__ import annotations

import itertools

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from safeteach.figures.described import (
    GREY,
    UNSAFE,
    VERMILION,
    DescribedFigure,
    Entry,
    Kind,
    Point,
    arrow,
    draw_legend,
    draw_state,
    kind_entries,
    kinds_at,
    legend_height,
    listing,
    ring,
    sheet,
    text_size,
    write,
)
from safeteach.instances import TreeMDP

__all__ = ["tree"]

MOST_LEAVES = 16
RADIUS = 0.13  # of a state, in inches
ROW, COLUMN = 0.36, 0.68  # from leaf to leaf and from layer to layer
MARGIN = 0.32
NARROWEST = 4.4  # room for the legend


def tree(mdp: TreeMDP) -> DescribedFigure:
    r"""Draw a tree of a lower bound from its root on the left to its leaves.

    Each node has the kind that it has at the step at which an episode is there, so a branch all
    of whose leaves are unsafe is seen to be lost.  The special leaf j of :math:`\tau_j` has a
    ring.  In a tree of the regret bound the absorbing states stand to the right of the leaves; a
    dashed line is the last action, which leads to the unsafe one.

    Parameters
    ----------
    mdp : TreeMDP
        With at most 16 leaves.

    Returns
    -------
    DescribedFigure

    Notes
    -----
    The figures of the proofs of Theorems 5.1 and 5.2, whose source the paper lacks.  Taught in
    the chapters *The violation lower bound* and *The regret lower bound*.

    Examples
    --------
    >>> import safeteach as st
    >>> from safeteach.classroom.drawing.tree import tree
    >>> print(tree(st.instances.violation_tree(A=2, depth=2, gap=0.1, j=3)).alt)
    A tree with 2 branches a node and 4 leaves, which an episode of 6 steps reaches at step 3;
    threshold 0.5. Leaf 1: safe, cost 0.5, reward 0. Leaf 2: unsafe, cost 0.6, reward 1. Leaf 3:
    safe, cost 0.5, reward 1; this is the special one. Leaf 4: unsafe, cost 0.6, reward 1.
    """
    if not isinstance(mdp, TreeMDP):
        raise TypeError(f"expected a TreeMDP, got a {type(mdp).__name__}")
    n = len(mdp.leaves)
    if n > MOST_LEAVES:
        raise ValueError(f"the tree has {n} leaves; up to {MOST_LEAVES} are drawn")
    doors = mdp.leaves[-1] + 1 < mdp.S  # beyond the leaves
    labels = [_label(mdp, i) for i in range(n)]
    text = max(text_size(label)[0] for label in labels)
    last = MARGIN + mdp.depth * COLUMN  # where the leaves stand
    bar = last + 0.3 + text + 0.15
    beyond = bar + 0.6
    right = beyond + 0.3 + max(text_size(_door(mdp, s))[0] for s in _doors(mdp)) if doors else bar
    width = max(right + 0.1, NARROWEST)
    entries = _entries(mdp, doors)
    bottom = legend_height(entries, width)
    rows = max(n, 4) if doors else n
    height = bottom + rows * ROW + 2 * MARGIN - 0.2
    top = height - MARGIN

    places = np.zeros((mdp.leaves[-1] + 1, 2))
    places[mdp.leaves, 0] = last
    places[mdp.leaves, 1] = top - ROW * (np.arange(n) + (rows - n) / 2)
    layers = _layers(mdp)
    for s in reversed(range(mdp.leaves[0])):
        children = mdp.degree * s + 1 + np.arange(mdp.degree)
        places[s] = MARGIN + layers[s] * COLUMN, places[children, 1].mean()

    figure, axes = sheet(width, height, _describe(mdp, labels, doors))
    special = None if mdp.special is None else mdp.leaves[mdp.special - 1]
    for s in range(1, mdp.leaves[-1] + 1):
        gap = (1.1 * RADIUS, (1.5 if s == special else 1.1) * RADIUS)
        arrow(axes, places[mdp.parent(s)], places[s], gap=gap, gid=f"branch/{mdp.parent(s)}/{s}")
    kinds = [kinds_at(mdp, h) for h in range(1, mdp.depth + 2)]
    for s, xy in enumerate(places):
        kind = kinds[layers[s]][s]
        draw_state(axes, xy, kind, RADIUS, gid=f"state/{s}/{kind.name}")
        if s < mdp.leaves[0] and doors and mdp.P[0, s, -1, mdp.S - 1] == 1:
            _draw_stub(axes, xy, s)
    for i, label in enumerate(labels):
        x, y = places[mdp.leaves[i]]
        write(axes, (x + 0.3, y), label, align="left")
    if special is not None:
        ring(axes, places[special], kinds[-1][special], RADIUS, gid=f"special/{special}")
    if doors:
        _draw_doors(axes, mdp, bar, beyond, places[mdp.leaves, 1])
    draw_legend(axes, entries, width)
    return figure


def _layers(mdp: TreeMDP) -> list[int]:
    """How many branchings lie above each node."""
    return [d for d in range(mdp.depth + 1) for _ in range(mdp.degree**d)]


def _doors(mdp: TreeMDP) -> list[int]:
    """From top to bottom: sB, sA, sU."""
    return [mdp.S - 2, mdp.S - 3, mdp.S - 1]


def _label(mdp: TreeMDP, i: int) -> str:
    """What is written beside a leaf."""
    s = mdp.leaves[i]
    if mdp.leaves[-1] + 1 < mdp.S:
        return f"leaf {i + 1}: to sB {mdp.P[0, s, 0, mdp.S - 2]:.3g}"
    return f"leaf {i + 1}: cost {mdp.c[s]:.3g}, reward {mdp.r[0, s, 0]:.3g}"


def _door(mdp: TreeMDP, s: int) -> str:
    cost = f",\ncost {mdp.c[s]:.3g}" if mdp.c[s] else ""
    return f"{mdp.state_name(s)}: pays {mdp.r[0, s, 0]:.3g}{cost}"


def _draw_doors(axes: Axes, mdp: TreeMDP, bar: float, x: float, rows: NDArray[np.float64]) -> None:
    """A bar that gathers the leaves, and the three absorbing states behind it."""
    axes.plot([bar, bar], [rows.min() - 0.12, rows.max() + 0.12], color=GREY, linewidth=1.2)
    middle = (rows.min() + rows.max()) / 2
    apart = min(max(ROW * (len(rows) - 1) / 2, 1.5 * ROW), 3 * ROW)
    kinds = kinds_at(mdp, mdp.depth + 2)
    for s, y in zip(_doors(mdp), middle + apart * np.array([1, 0, -1]), strict=True):
        unsafe = kinds[s] is UNSAFE
        arrow(
            axes, (bar, middle + 0.5 * (y - middle)), (x, y), gap=(0.0, 1.1 * RADIUS),
            color=VERMILION if unsafe else GREY, dashed=unsafe, gid=f"door/{s}",
        )  # fmt: skip
        draw_state(axes, (x, y), kinds[s], RADIUS, gid=f"state/{s}/{kinds[s].name}")
        write(axes, (x + 0.25, y), _door(mdp, s), align="left")


def _draw_stub(axes: Axes, xy: Point, s: int) -> None:
    """A short dashed way from an inner node to the unsafe state."""
    spot = (xy[0] + 0.05, xy[1] + 0.28)
    arrow(
        axes, xy, spot, color=VERMILION, dashed=True, head=False, gap=(1.1 * RADIUS, 0.0),
        gid=f"stub/{s}",
    )  # fmt: skip
    draw_state(axes, spot, UNSAFE, 0.07)


def _entries(mdp: TreeMDP, doors: bool) -> list[Entry]:
    kinds = [kinds_at(mdp, h) for h in range(1, mdp.depth + 3)]
    drawn = {kinds[layer][s].name for s, layer in enumerate(_layers(mdp))}
    drawn |= {kinds[-1][s].name for s in range(mdp.leaves[-1] + 1, mdp.S)}
    entries = [entry for entry in kind_entries() if entry.text in drawn]
    if doors:
        entries.append(Entry(_last_action, f"{mdp.action_name(mdp.A - 1)}, to sU"))
    if mdp.special is not None:
        kind = kinds_at(mdp, mdp.depth + 1)[mdp.leaves[mdp.special - 1]]
        entries.append(Entry(lambda axes, xy: _ringed(axes, xy, kind), "the special leaf"))
    return entries


def _last_action(axes: Axes, xy: Point) -> None:
    arrow(axes, (xy[0] - 0.18, xy[1]), (xy[0] + 0.18, xy[1]), color=VERMILION, dashed=True)


def _ringed(axes: Axes, xy: Point, kind: Kind) -> None:
    draw_state(axes, xy, kind, 0.1)
    ring(axes, xy, kind, 0.1)


def _describe(mdp: TreeMDP, labels: list[str], doors: bool) -> str:
    n, said = len(labels), []
    for i, label in enumerate(labels):
        what = label.split(": ")[1]
        if not doors:
            what = f"{'unsafe' if mdp.unsafe[mdp.leaves[i]] else 'safe'}, {what}"
        said.append(what + ("; this is the special one" if mdp.special == i + 1 else ""))
    groups = [
        (what, [i + 1 for i, _ in same])
        for what, same in itertools.groupby(enumerate(said), key=lambda one: one[1])
    ]
    leaves = " ".join(
        f"Leaf {which[0]}: {what}." if len(which) == 1
        else f"Leaves {which[0]} to {which[-1]}: {what}."
        for what, which in groups
    )  # fmt: skip
    beyond = ""
    if doors:
        states = listing([_door(mdp, s).replace("\n", " ").replace(":", "") for s in _doors(mdp)])
        where = "every node" if mdp.P[0, 0, -1, mdp.S - 1] == 1 else "the leaves only"
        beyond = (
            f" Behind the leaves: {states}. {mdp.action_name(mdp.A - 1)} leads to sU, which is "
            f"unsafe, from {where}."
        )
    return (
        f"A tree with {mdp.degree} branches a node and {n} leaves, which an episode of {mdp.H} "
        f"steps reaches at step {mdp.depth + 1}; threshold {mdp.tau:g}. {leaves}{beyond}"
    )
