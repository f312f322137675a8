"""The pictures of the chapter *Costs, thresholds, violation*.

- The map of costs: what a threshold calls unsafe, and what one walk across it pays.
- Noisy looks at a few states: how their averages find their side of the threshold.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.patheffects import withStroke
from numpy.typing import ArrayLike, NDArray

from safeteach.classroom.drawing.steps import steps
from safeteach.figures.chart import CHART, chart, draw_averages, legend_above, running_averages
from safeteach.figures.described import (
    FONT,
    INK,
    LINE,
    PAPER,
    TEXT,
    UNSAFE,
    WIDEST,
    DescribedFigure,
    Entry,
    Point,
    arrow,
    draw_legend,
    draw_state,
    legend_height,
    listing,
    sheet,
    state_radius,
    write,
)
from safeteach.figures.grid import cell_letter, cell_middles, check_grid, draw_ground
from safeteach.instances import GridMDP
from safeteach.worlds.mdp import SafeMDP

__all__ = ["costs", "looks", "steps"]


CELL = 0.8  # inches
MARGIN = 0.2
BETWEEN = 0.1  # least room between the states of two cells
HEADING = 0.42
SMOKE = "#8a8a8a"  # the shade of cost 1; black numbers stay readable on it


def costs(mdp: SafeMDP, tau: float | None = None, path: Sequence[int] = ()) -> DescribedFigure:
    r"""Draw the cost of every cell of a map, and which of them a threshold makes unsafe.

    Each cell holds its :math:`c(s)`, as a number and as a shade of grey.  A state with
    :math:`c(s) > \tau` is unsafe; one with :math:`c(s) = \tau` is not.

    Parameters
    ----------
    mdp : GridMDP
        About 10 cells wide at most.
    tau : float, optional
        A threshold in [0, 1]; the world's own by default.
    path : sequence of int, optional
        The states of one episode, :math:`s_1 \ldots s_H`.  Its way is drawn, and its violation
        :math:`\sum_h (c(s_h) - \tau)_+` written above the map.

    Returns
    -------
    DescribedFigure

    Notes
    -----
    The cost, the threshold and the violation are those of Section 3 of the paper.

    Examples
    --------
    >>> import safeteach as st
    >>> from safeteach.chapters.costs_thresholds_violation import figures
    >>> mdp = st.instances.smoke()
    >>> walk = st.rollout(mdp, st.optimal(mdp).policy, seed=0).states[:-1]
    >>> print(figures.costs(mdp, tau=0.6, path=walk).alt)
    Map of 34 cells with costs from 0 to 0.9. At the threshold τ = 0.6, 4 are unsafe: (0,3), (1,2),
    (1,4), (2,3). An episode of 14 steps passes (2,0), (2,1), (2,2), (2,3), (2,4), (2,5), (2,6) and
    pays the violation 0.3.
    """
    world = check_grid(mdp)
    tau = mdp.tau if tau is None else tau
    if not 0 <= tau <= 1:
        raise ValueError(f"tau is {tau}; the threshold must lie in [0, 1]")
    path = [mdp.check_state(int(s)) for s in path]

    labels = [f"{cost:.3g}" for cost in mdp.c]
    radius = state_radius(labels)
    rows, columns = len(world.map), len(world.map[0])
    most = int((WIDEST - 2 * MARGIN) / (2 * radius + BETWEEN))
    if columns > most:
        raise ValueError(
            f"the map is {columns} cells wide; at most {most} leave room for these costs"
        )
    size = min(CELL, (WIDEST - 2 * MARGIN) / columns)
    width = max(columns * size + 2 * MARGIN, 4.8)
    entries = _entries(bool(path))
    bottom = legend_height(entries, width) + 0.1
    height = bottom + rows * size + HEADING
    corner = ((width - columns * size) / 2, bottom)
    middles = cell_middles(world, corner, size)

    figure, axes = sheet(width, height, _describe_costs(mdp, tau, path))
    draw_ground(axes, world, corner, size)
    _draw_shades(axes, world, corner, size)
    for s, middle in enumerate(middles):
        if mdp.c[s] > tau:
            draw_state(axes, middle, UNSAFE, radius, labels[s], gid=f"state/{s}/{UNSAFE.name}")
        else:  # no kind: it may still be doomed, and this figure does not know
            write(axes, middle, labels[s])
        if letter := cell_letter(world, s):
            write(axes, middle + np.array([-0.38, 0.37]) * size, letter)
    gap = 1.12 * radius
    for s, t in _ways(path):
        ends = middles[s], middles[t]
        arrow(axes, *ends, color=INK, width=2.2, gap=(gap, gap), gid=f"path/{s}/{t}")
    write(axes, (width / 2, height - HEADING / 2), _heading(mdp, tau, path))
    draw_legend(axes, entries, width)
    return figure


def _violation(mdp: SafeMDP, tau: float, path: Sequence[int]) -> float:
    return float(np.maximum(mdp.c[list(path)] - tau, 0).sum())


def _ways(path: Sequence[int]) -> list[tuple[int, int]]:
    """The moves of a path from one state to another, each once."""
    return list(dict.fromkeys((s, t) for s, t in itertools.pairwise(path) if s != t))


def _draw_shades(axes: Axes, mdp: GridMDP, corner: Point, size: float) -> None:
    """Lay the shade of its cost over each cell, as one mesh: much quicker than cell by cell."""
    rows, columns = len(mdp.map), len(mdp.map[0])
    shades = np.zeros((rows, columns, 4))  # walls stay clear
    white, full = np.ones(4), np.array(to_rgba(SMOKE))
    shades[tuple(mdp.cells.T)] = white + mdp.c[:, None] * (full - white)
    x = corner[0] + np.arange(columns + 1) * size
    y = corner[1] + np.arange(rows, -1, -1) * size
    axes.pcolormesh(x, y, shades, edgecolors=LINE, linewidth=0.8, zorder=1.2, gid="shades")


def _heading(mdp: SafeMDP, tau: float, path: Sequence[int]) -> str:
    # Plain text: mathematics that is new in every picture takes a third of its time.
    said = f"τ = {tau:g}:  {int((mdp.c > tau).sum())} of {mdp.S} unsafe"
    if path:
        said += f",  violation of the episode {_violation(mdp, tau, path):.3g}"
    return said


def _entries(with_path: bool) -> list[Entry]:
    def sample(axes: Axes, xy: Point) -> None:
        arrow(axes, (xy[0] - 0.2, xy[1]), (xy[0] + 0.18, xy[1]), color=INK, width=2.2)

    unsafe = Entry(lambda axes, xy: draw_state(axes, xy, UNSAFE, 0.13), r"unsafe: $c > \tau$")
    return [unsafe, *([Entry(sample, "episode")] if with_path else [])]


def _describe_costs(mdp: SafeMDP, tau: float, path: Sequence[int]) -> str:
    unsafe = [mdp.state_name(int(s)) for s in np.flatnonzero(mdp.c > tau)]
    said = (
        f"Map of {mdp.S} cells with costs from {mdp.c.min():g} to {mdp.c.max():g}. "
        f"At the threshold τ = {tau:g}, {len(unsafe)} {'is' if len(unsafe) == 1 else 'are'} unsafe"
        f"{': ' + listing(unsafe, 150) if unsafe else ''}."
    )
    if path:
        visited = [mdp.state_name(s) for s in dict.fromkeys(path)]
        said += (
            f" An episode of {len(path)} step{'s' * (len(path) > 1)} passes "
            f"{listing(visited, 150)} and pays the violation {_violation(mdp, tau, path):.3g}."
        )
    return said


def looks(samples: Mapping[str, ArrayLike], tau: float) -> DescribedFigure:
    r"""Draw the average of the first n looks at each state against n, with the threshold.

    The axis of n is logarithmic: what n must be depends on the gap :math:`|c(s) - \tau|` by its
    square, so that states differ by factors.

    Parameters
    ----------
    samples : mapping from str to (N,) arrays
        The noisy costs seen in one to three states, by what the legend calls the states.
    tau : float
        Threshold.

    Returns
    -------
    DescribedFigure

    Notes
    -----
    The noisy costs are the z(s) of Section 3 of the paper.  Taught in the chapter *Costs,
    thresholds, violation*.

    Examples
    --------
    >>> import safeteach as st
    >>> from safeteach.chapters.costs_thresholds_violation import figures
    >>> print(figures.looks({"hot": [0.4, 1.0, 1.0], "cold": [0.0, 0.1, 0.2]}, tau=0.5).alt)
    Running averages of noisy looks against the threshold 0.5. hot: 0.8 after 3 looks, above the
    threshold from look 2 on. cold: 0.1 after 3 looks, not above it from look 1 on.
    """
    running = running_averages(samples)
    said = " ".join(f"{name}: {_describe_looks(mean, tau)}" for name, mean in running.items())
    figure = DescribedFigure(
        *CHART, f"Running averages of noisy looks against the threshold {tau:.3g}. {said}"
    )
    axes = chart(figure, "number of looks $n$", "average of the first $n$")
    axes.axhline(tau, color=INK, linewidth=1.6, gid="threshold")
    draw_averages(axes, running)
    axes.set_xscale("log")
    axes.set_xlim(1, max(2, *(mean.size for mean in running.values())))
    axes.xaxis.set_major_formatter("{x:,.0f}")
    label = axes.annotate(rf"$\tau$ = {tau:.3g}", (1, tau), (4, 4), textcoords="offset points")
    label.set(fontsize=TEXT, fontfamily=FONT, color=INK)
    label.set_path_effects([withStroke(linewidth=3.5, foreground=PAPER)])
    legend_above(axes)
    return figure


def _describe_looks(mean: NDArray[np.float64], tau: float) -> str:
    """Say where an average ends, and from which look on it is on that side of the threshold."""
    above = mean > tau
    elsewhere = np.flatnonzero(above != above[-1])
    first = 1 if not elsewhere.size else int(elsewhere[-1]) + 2
    side = "above the threshold" if above[-1] else "not above it"
    n = mean.size
    return f"{mean[-1]:.3g} after {n} look{'s' * (n > 1)}, {side} from look {first} on."
