"""A field of obstacles, of the kind and the size on which learners of constraints are compared.

Taught in the chapter *Your own world*.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from safeteach.arguments import check_fits, number, read_seed, shown, whole
from safeteach.instances.grids import MOVES, GridMDP, grid_from_map

__all__ = ["obstacle_field"]

ICE = 0.1  # share of the free cells that slip
SLIP = 0.03
MOST_MAPS = 1_000


def obstacle_field(
    side: int = 18,
    H: int = 25,
    seed: int | np.random.Generator = 1,
    obstacles: float = 0.4,
) -> GridMDP:
    """A square field full of obstacles, with 324 cells as a rule, and a dry way through them.

    ::

        bottom right corner       ──▶ the start
        top row, column 3/4 side  ──▶ the goal
        first and last row        ──▶ free
        any other cell            ──▶ an obstacle with probability ``obstacles``, or free
        a free cell               ──▶ ice with probability 0.1, where a move goes astray with
                                      probability 0.03; else dry

    Maps are drawn until dry floor leads from the start to the goal in fewer than H moves, so that
    some policy is safe.  An obstacle is unsafe and stops nobody; the goal pays 1 a step.

    It is the kind of grid that Triple-Q was tried on (Wei, Liu and Ying, AISTATS 2022): there are
    324 cells, obstacles on two fifths of rows 2 to 17, and every move goes astray with probability
    0.03.  With that no policy would be safe at every step; so here only ice slips.  There the way
    to the goal pays too; here the goal alone does.

    Parameters
    ----------
    side : int
        Cells in a row and in a column, at least 2.
    H : int
        Number of steps; the goal must be fewer moves away.
    seed : int, at least 0, or numpy Generator
        The same seed gives the same field; 1 is the first with which safety has a price.
    obstacles : float
        Probability in [0, 1).

    Examples
    --------
    >>> import safeteach as st
    >>> field = st.instances.obstacle_field()
    >>> field
    GridMDP(S=324, A=4, H=25, tau=0.5, s1=323, 110 unsafe states, stationary)
    >>> st.safe_optimal(field).value, st.optimal(field).value
    (2.0, 4.0)
    """
    side = whole(side, "side", 2)
    share = float(number(obstacles, "obstacles", 0, 1, "[)"))
    column = 3 * side // 4
    moves = 2 * (side - 1) - column
    H = whole(H, "H")
    if moves >= H:
        raise ValueError(
            f"H is {H}; the goal is {moves} moves away, and a step there needs H = {moves + 1}"
        )
    check_fits((side**2, len(MOVES), side**2), np.float64, f"a field with side = {shown(side)}")
    rng = read_seed(seed)
    for _ in range(MOST_MAPS):
        ground = np.full((side, side), ".")
        ground[1:-1][rng.random((side - 2, side)) < share] = "X"
        ground[(ground == ".") & (rng.random((side, side)) < ICE)] = "~"
        ground[-1, -1], ground[0, column] = "S", "G"
        if _dry_moves(ground) < H:
            return grid_from_map("\n".join(map("".join, ground.tolist())), H, SLIP)
    raise ValueError(
        f"obstacles is {shown(obstacles)}: on none of {MOST_MAPS:,} maps dry floor leads to the "
        f"goal in fewer than H = {H} moves; expected fewer obstacles, or more steps"
    )


def _dry_moves(ground: NDArray[np.str_]) -> float:
    """The fewest moves over dry floor from the start to the goal, infinite where there is none."""
    dry = np.isin(ground, [".", "S", "G"])
    been, moves = ground == "S", 0
    while not been[ground == "G"]:
        near = np.pad(been, 1)
        grown = dry & (
            been | near[2:, 1:-1] | near[:-2, 1:-1] | near[1:-1, 2:] | near[1:-1, :-2]
        )
        if (grown == been).all():
            return np.inf
        been, moves = grown, moves + 1
    return moves
