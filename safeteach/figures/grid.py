"""Maps of grid worlds: the ground, the danger at a step, and where a policy goes.

Taught in the chapter *MDPs you can run*.
"""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import PathPatch, Rectangle
from matplotlib.path import Path
from numpy.typing import ArrayLike, NDArray

from safeteach.figures.described import (
    BLUE,
    GREY,
    INK,
    LINE,
    PALE_SKY,
    PAPER,
    SKY,
    WIDEST,
    DescribedFigure,
    Entry,
    Point,
    arrow,
    describe_kinds,
    draw_legend,
    draw_state,
    kind_entries,
    kinds_at,
    legend_height,
    listing,
    sheet,
)
from safeteach.instances import GridMDP
from safeteach.instances.grids import MOVES
from safeteach.worlds.mdp import SafeMDP

__all__ = ["grid"]

LARGEST_CELL, SMALLEST_CELL = 0.95, 0.34
MARGIN = 0.15
GROUND = {".": PAPER, "S": PAPER, "G": PAPER, "~": PALE_SKY, "X": SKY, "#": GREY}


def grid(mdp: SafeMDP, policy: ArrayLike | None = None, h: int = 1) -> DescribedFigure:
    """Draw a grid world: its ground, the kinds of its states at step ``h``, a policy's arrows.

    Ice has small waves, water is darker with full ones, walls are hatched.  In each cell stands
    the state's kind at step h, with an S at the start and a G at the goal.  A policy adds an arrow
    from each cell in the direction of its action at step h, or, if it draws its action at
    random, one for each action it may take, the longer and darker the likelier.

    Parameters
    ----------
    mdp : GridMDP
        At most 20 cells wide.
    policy : (H, S) actions or (H, S, A) probabilities of actions, optional
    h : int
        A step 1..H.

    Returns
    -------
    DescribedFigure

    Notes
    -----
    The kinds are those of Section 4.1 of the paper; the maps are this book's own.

    Examples
    --------
    >>> import safeteach as st
    >>> mdp = st.instances.ice_corridor()
    >>> figure = st.figures.grid(mdp, st.safe_optimal(mdp).policy, h=8)
    >>> print(figure.alt)
    Map of a grid world, 3 rows by 6 columns: 13 cells to stand on, 3 of ice, 1 of water, 5
    walls; start at (1,0), goal at (1,5). Kinds at step 8: Unsafe: (2,3). Doomed but
    not unsafe: (1,2), (1,3). Safe: (0,0), (0,1), (0,2), (0,3), (0,4), (0,5), (1,0), (1,1),
    (1,4), (1,5). Arrows show the policy at step 8; from the start it leads up.
    """
    world = check_grid(mdp)
    columns, rows = len(world.map[0]), len(world.map)
    kinds = kinds_at(mdp, h)
    chance = _chances(world, policy, h)
    size = min(LARGEST_CELL, (WIDEST - 2 * MARGIN) / columns)
    width = max(columns * size + 2 * MARGIN, 4.5)
    entries = [*kind_entries(), *ground_entries(world)]
    bottom = legend_height(entries, width)
    left = (width - columns * size) / 2
    figure, axes = sheet(width, bottom + rows * size + MARGIN + 0.05, _describe(world, chance, h))
    draw_ground(axes, world, (left, bottom + 0.05), size)
    middles = cell_middles(world, (left, bottom + 0.05), size)
    radius = (0.24 if chance is None else 0.16) * size
    for s, kind in enumerate(kinds):
        letter = cell_letter(world, s)
        draw_state(axes, middles[s], kind, radius, letter, gid=f"state/{s}/{kind.name}")
        if chance is not None:
            for a, move in enumerate(MOVES):
                if chance[s, a] > 0:
                    draw_move(axes, middles[s], move, chance[s, a], size, f"policy/{s}/{a}")
    draw_legend(axes, entries, width)
    return figure


def check_grid(mdp: SafeMDP) -> GridMDP:
    """The world if it is a grid whose map fits on paper, else an error that says why not."""
    if not isinstance(mdp, GridMDP):
        raise TypeError(
            f"mdp is a {type(mdp).__name__}; only a GridMDP has a map to draw "
            f"(see st.instances.grid_from_map)"
        )
    most = int((WIDEST - 2 * MARGIN) / SMALLEST_CELL)
    if max(len(mdp.map), len(mdp.map[0])) > most:
        raise ValueError(
            f"the map is {len(mdp.map)} by {len(mdp.map[0])} cells; "
            f"a picture of more than {most} either way cannot be read"
        )
    return mdp


def cell_middles(mdp: GridMDP, corner: Point, size: float) -> NDArray[np.float64]:
    """(S, 2) middles of the cells of a map whose lower left corner stands at ``corner``."""
    rows, columns = mdp.cells.T
    middles = np.stack([columns + 0.5, len(mdp.map) - rows - 0.5], axis=1)
    return np.asarray(corner) + middles * size


def cell_letter(mdp: GridMDP, s: int) -> str:
    """S for the start, G for a goal, nothing for any other cell."""
    i, j = mdp.cells[s]
    return mdp.map[i][j] if mdp.map[i][j] in "SG" else ""


def draw_ground(axes: Axes, mdp: GridMDP, corner: Point, size: float) -> None:
    """Draw the map without its states."""
    for i, row in enumerate(mdp.map):
        for j, ground in enumerate(row):
            lower_left = (corner[0] + j * size, corner[1] + (len(mdp.map) - 1 - i) * size)
            draw_cell(axes, lower_left, ground, size, gid=f"cell/{i},{j}/{ground}")


def draw_cell(axes: Axes, corner: Point, ground: str, size: float, gid: str | None = None) -> None:
    cell = Rectangle((corner[0], corner[1]), size, size)
    cell.set(facecolor=GROUND[ground], edgecolor=LINE, linewidth=0.8, zorder=1, gid=gid)
    if ground == "#":
        cell.set(hatch="xxx", edgecolor=LINE, hatch_linewidth=0.8)
    axes.add_artist(cell)
    if ground in "~X":
        _draw_waves(axes, corner, size, full=ground == "X")


def _draw_waves(axes: Axes, corner: Point, size: float, full: bool) -> None:
    """Waves across a cell: three lines of water, or two broken ones of ice."""
    x = np.linspace(0.08, 0.92, 43)
    for height in (0.14, 0.5, 0.86) if full else (0.14, 0.86):
        y = height + 0.035 * np.sin(x * 2 * np.pi * 3)
        points = np.stack([x, y], axis=1) * size + np.asarray(corner)
        shown = np.ones(len(x), np.bool_) if full else np.arange(len(x)) % 15 < 8
        codes = np.where(shown & np.roll(shown, 1), Path.LINETO, Path.MOVETO)
        codes[0] = Path.MOVETO
        wave = PathPatch(Path(points, codes.astype(np.uint8)), fill=False, zorder=1.5)
        wave.set(edgecolor=BLUE, linewidth=1.2 if full else 0.9)
        axes.add_artist(wave)


def draw_move(axes: Axes, middle: Point, move: str, chance: float, size: float, gid: str) -> None:
    """Draw the arrow of a move from the middle of a cell, the longer and darker the likelier."""
    down, right = MOVES[move]
    way = np.array([right, -down])
    start = np.asarray(middle) + way * 0.18 * size
    end = start + way * (0.12 + 0.19 * chance) * size
    width = 2.0 * min(1.0, size / 0.6)
    arrow(axes, start, end, color=INK, width=width, alpha=0.35 + 0.65 * chance, gid=gid)


def ground_entries(mdp: GridMDP) -> list[Entry]:
    """The legend of the grounds that occur on the map, dry floor apart."""

    def cell(ground: str) -> Entry:
        words = {"~": "ice", "X": "water", "#": "wall"}
        return Entry(
            lambda axes, xy: draw_cell(axes, (xy[0] - 0.13, xy[1] - 0.13), ground, 0.26),
            words[ground],
        )

    return [cell(ground) for ground in "~X#" if ground in "".join(mdp.map)]


def _chances(mdp: GridMDP, policy: ArrayLike | None, h: int) -> NDArray[np.float64] | None:
    """(S, A) probabilities of the actions at step ``h``."""
    if policy is None:
        return None
    now = mdp.check_policy(policy)[h - 1]
    return now if now.ndim == 2 else np.eye(mdp.A)[now]


def _describe(mdp: GridMDP, chance: NDArray[np.float64] | None, h: int) -> str:
    letters = "".join(mdp.map)
    goals = [mdp.state_name(s) for s in range(mdp.S) if cell_letter(mdp, s) == "G"]
    text = (
        f"Map of a grid world, {len(mdp.map)} rows by {len(mdp.map[0])} columns: {mdp.S} cells to "
        f"stand on, {letters.count('~')} of ice, {letters.count('X')} of water, "
        f"{letters.count('#')} walls; start at {mdp.state_name(mdp.s1)}, "
        f"goal at {listing(goals, 30)}. "
        f"Kinds at step {h}: {describe_kinds(mdp, kinds_at(mdp, h), most=80)}"
    )
    if chance is None:
        return text
    moves = [
        name if p == 1 else f"{name} (probability {p:.2g})"
        for name, p in zip(MOVES, chance[mdp.s1], strict=True)
        if p > 0
    ]
    return f"{text} Arrows show the policy at step {h}; from the start it leads {', '.join(moves)}."
