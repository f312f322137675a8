"""Grid worlds drawn as text: dry floor, ice that slips, and water to stay out of.

A map has one character a cell:

=======  ===========================================================================
``S``    the start, dry floor
``G``    the goal: it pays 1 for every step spent in it, and whoever is there stays
``.``    dry floor: a move goes where it is meant to go
``~``    ice: a move may go in any direction
``X``    water: unsafe (c = 1 > tau), a move goes where it is meant to go
``#``    wall: no state
=======  ===========================================================================

The actions are up, down, left and right; a move into a wall or off the map stays put.  On ice
the move goes as meant with probability 1 - slip and otherwise in one of the four directions,
each with probability slip/4.

Taught in the chapter *MDPs you can run*.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from safeteach.arguments import check_fits, number, whole_array
from safeteach.instances.maps import check_text, read_rows
from safeteach.worlds.mdp import SafeMDP

__all__ = ["GridMDP", "grid", "grid_from_map", "ice_corridor"]

MOVES = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}


class GridMDP(SafeMDP):
    r"""A safe MDP that remembers the map it came from, so that it can be drawn.

    Attributes
    ----------
    map : tuple of str
        The rows of the map.
    cells : (S, 2) int array
        Row and column of each state, counted from the top left.

    Notes
    -----
    :func:`grid_from_map` makes one.  The constructor takes what
    :class:`~safeteach.SafeMDP` takes, and both attributes by name.

    Examples
    --------
    >>> import safeteach as st
    >>> mdp = st.instances.grid_from_map("S~G\n.X.", H=4)
    >>> mdp.map[1], mdp.cells[4]                             # the water
    ('.X.', array([1, 1]))
    """

    map: tuple[str, ...]
    cells: NDArray[np.int64]

    def __init__(self, *args: Any, map: Sequence[str], cells: ArrayLike, **named: Any) -> None:
        self.map = read_rows(map)
        inside = [(i, j) for i, row in enumerate(self.map) for j, x in enumerate(row) if x != "#"]
        self.cells = whole_array(cells, "cells", len(inside), 2)
        if (self.cells != inside).any():
            raise ValueError("cells differ from those of map; expected all but its walls, in order")
        super().__init__(*args, **named)
        if len(inside) != self.S:
            raise ValueError(f"map has {len(inside)} cells without a wall; expected S = {self.S}")


def grid_from_map(text: str, H: int, slip: float = 0.2, tau: float = 0.5) -> GridMDP:
    """A grid world from its map.

    Parameters
    ----------
    text : str
        Rows of equal length in the characters of this module's table, exactly one ``S``.
    H : int
        Number of steps.
    slip : float
        Probability in (0, 1] that a move on ice goes astray (into one of the four directions).
    tau : float
        Threshold of the cost in [0, 1); the cost of water is 1, of everything else 0.

    Examples
    --------
    >>> import safeteach as st
    >>> mdp = st.instances.grid_from_map('''
    ...     S ~ G
    ...     # X .
    ... ''', H=4)
    >>> mdp
    GridMDP(S=5, A=4, H=4, tau=0.5, s1=0, 1 unsafe state, stationary)
    >>> mdp.successors(h=1, s=1, a=3)               # on ice, any direction
    array([0, 1, 2, 3])
    """
    lines = check_text(text).split("\n")
    rows = tuple(line.replace(" ", "") for line in lines if line.strip())
    _check_map(rows)
    rule = "a probability in (0, 1] is expected"
    slip = float(number(slip, "slip", 0, 1, "(]", rule))
    number(tau, "tau", 0, 1, "[)", rule="in [0, 1) the water, whose cost is 1, is unsafe")
    cells = [(i, j) for i, row in enumerate(rows) for j, kind in enumerate(row) if kind != "#"]
    state = {cell: s for s, cell in enumerate(cells)}
    kinds = [rows[i][j] for i, j in cells]
    S, A = len(cells), len(MOVES)

    target = np.empty((S, A), np.int64)
    for s, (i, j) in enumerate(cells):
        for a, (down, right) in enumerate(MOVES.values()):
            target[s, a] = s if kinds[s] == "G" else state.get((i + down, j + right), s)
    check_fits((S, A, S), np.float64, f"P of a map (text) with {S} cells")
    P = np.zeros((S, A, S))
    for s, kind in enumerate(kinds):
        for a in range(A):
            P[s, a, target[s, a]] += 1 - slip if kind == "~" else 1
            if kind == "~":
                np.add.at(P[s, a], target[s], slip / A)

    at_goal = np.array([kind == "G" for kind in kinds], float)
    return GridMDP(
        P,
        r=np.repeat(at_goal[:, None], A, axis=1),
        c=np.array([kind == "X" for kind in kinds], float),
        tau=tau,
        H=H,
        s1=kinds.index("S"),
        state_names=[f"({i},{j})" for i, j in cells],
        action_names=list(MOVES),
        map=rows,
        cells=cells,
    )


def grid() -> GridMDP:
    """The frozen pond: 25 cells, 4 actions, 12 steps, in the spirit of the paper's grid.

    ::

        . . . . .
        . ~ ~ ~ .
        S ~ X ~ G
        . ~ X ~ .
        . . . . .

    Across the ice the goal is four moves away, around it eight.  Every cell of ice is doomed
    with enough steps to go: each slip may carry the agent one cell further, and at last into
    the water.  So there are 2 unsafe and 9 potentially unsafe states at step 1, and the best
    safe policy walks around the pond.  The paper gives no layout; this one is ours.

    Examples
    --------
    >>> import safeteach as st
    >>> mdp = st.instances.grid()
    >>> int(mdp.unsafe.sum()), st.potentially_unsafe(mdp).sum(axis=1).tolist()
    (2, [9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 7, 2])
    """
    return grid_from_map(
        """
        . . . . .
        . ~ ~ ~ .
        S ~ X ~ G
        . ~ X ~ .
        . . . . .
        """,
        H=12,
    )


def ice_corridor() -> GridMDP:
    """A lane of ice with a hole beside its far end, and a dry lane next to it.

    ::

        . . . . . .
        S ~ ~ ~ . G
        # # # X # #

    Only the three marked cells slip.  The last of them is doomed one step before the end, the
    one before it two steps, the first three: danger travels back along the ice one cell a step.

    Examples
    --------
    >>> import safeteach as st
    >>> mdp = st.instances.ice_corridor()
    >>> [mdp.state_name(s) for s in st.potentially_unsafe(mdp)[0].nonzero()[0]]
    ['(1,1)', '(1,2)', '(1,3)', '(2,3)']
    """
    return grid_from_map(
        """
        . . . . . .
        S ~ ~ ~ . G
        # # # X # #
        """,
        H=10,
    )


def _check_map(rows: tuple[str, ...]) -> None:
    if not rows:
        raise ValueError("text is empty; expected a map")
    for i, row in enumerate(rows):
        if len(row) != len(rows[0]):
            raise ValueError(f"text has {len(row)} cells in row {i} and {len(rows[0])} in row 0")
        for j, kind in enumerate(row):
            if kind not in "SG.~X#":
                raise ValueError(f"text has {kind!r} at ({i},{j}); expected one of SG.~X#")
    starts = "".join(rows).count("S")
    if starts != 1:
        raise ValueError(f"text has {starts} starts 'S'; expected exactly one")
