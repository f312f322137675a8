"""The pictures of the chapter *The reward-free experiments*.

- A reward painted on the rooms of the laboratory, and what a plan for it does and earns.
- How many episodes exploration takes until the plans are good to ε, for many ε.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Circle, Patch
from numpy.typing import ArrayLike, NDArray

from safeteach.classroom.drawing.laboratory import laboratory
from safeteach.figures.chart import chart, legend_above
from safeteach.figures.described import (
    BLUE,
    GREY,
    INK,
    PAPER,
    DescribedFigure,
    arrow,
    full_name,
    listing,
    write,
)
from safeteach.planning.evaluation import evaluate
from safeteach.planning.induction import optimal, safe_optimal
from safeteach.worlds.mdp import SafeMDP

__all__ = ["laboratory", "painted", "stopping_times"]


LINE_HEIGHT, MARGIN = 0.24, 0.1  # inches
SELDOM = 0.02  # moves made less often in an episode are not drawn


def painted(mdp: SafeMDP, paint: ArrayLike, policy: ArrayLike) -> DescribedFigure:
    """Draw what a plan does with an episode, the reward it was made for, and what it is worth.

    The number in a room is how many of the H steps the plan is expected to be there; heavy arrows
    are the moves it makes, the darker the more often.  A disc at a room shows its reward.

    Parameters
    ----------
    mdp : SafeMDP
        The laboratory; its own reward is not looked at.
    paint : (S,) array in [0, 1]
        The reward of a step in each room, whatever the action.
    policy : (H, S) int array
        The plan.

    Returns
    -------
    DescribedFigure

    Notes
    -----
    Value and violation are exact, in the true world.  Taught in the chapter *The reward-free
    experiments*.

    Examples
    --------
    >>> import safeteach as st
    >>> from safeteach.chapters.the_reward_free_experiments import figures
    >>> lab = st.instances.laboratory()
    >>> plan = st.safe_optimal(lab)
    >>> alt = figures.painted(lab, lab.r[0, :, 0], plan.policy).alt
    >>> print(alt.split(" It is most")[0])
    A plan in the laboratory for the reward shelf 0.5, vault 1, spill 1.
    Value 3.39, best safe 3.39, best of all 6.89; expected violation 0.00.
    """
    world = _painted_world(mdp, paint)
    plan = mdp.check_policy(policy)
    if plan.ndim != 2:
        raise ValueError("policy draws its actions at random; one action a state can be drawn")
    worth = evaluate(world, plan)
    steps, moves = _flows(world, plan)
    rewards = world.r[0, :, 0]
    named = [f"{full_name(mdp, s)} {rewards[s]:.2g}" for s in np.flatnonzero(rewards).tolist()]
    best = safe_optimal(world).value, optimal(world).value
    told = f"alue {worth.value:.2f}, best safe {best[0]:.2f}, best of all {best[1]:.2f}"
    paid = f"expected violation {worth.violation:.2f}"

    figure = laboratory(mdp, steps.round(2), most=mdp.H)
    most = [f"{full_name(mdp, s)} ({steps[s]:.1f} steps)" for s in np.argsort(-steps)[:3].tolist()]
    figure.alt = (
        f"A plan in the laboratory for the reward {listing(named, 200)}. V{told}; {paid}. "
        f"It is most often in {', '.join(most)}."
    )
    (axes,) = figure.axes
    places, radius = _rooms(axes, mdp.S)
    possible = (mdp.P[0] > 0).any(axis=1)
    for s, t in np.argwhere(moves > SELDOM).tolist():
        arrow(
            axes, places[s], places[t], bend=0.14 if possible[t, s] else 0.0,
            gap=(1.08 * radius, 1.12 * radius), color=INK, width=2.6,
            alpha=0.25 + 0.75 * min(1.0, float(moves[s, t])), gid=f"flow/{s}/{t}",
        )  # fmt: skip
        axes.patches[-1].set_zorder(3.2)  # above the broken arrows
    for s in np.flatnonzero(rewards).tolist():
        _draw_mark(axes, places[s] + 0.78 * radius, float(rewards[s]), gid=f"reward/{s}")
    _write_above(figure, axes, [f"reward: {listing(named, 36)}", f"v{told}", paid])
    return figure


def _painted_world(mdp: SafeMDP, paint: ArrayLike) -> SafeMDP:
    rewards = np.asarray(paint, np.float64)
    if rewards.shape != (mdp.S,):
        raise ValueError(f"paint has shape {rewards.shape}; expected (S,) = {(mdp.S,)}")
    r = np.repeat(rewards[:, None], mdp.A, axis=1)
    return SafeMDP(mdp.P, r, mdp.c, mdp.tau, mdp.H, s1=mdp.s1)


def _flows(
    mdp: SafeMDP, policy: NDArray[np.integer]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(S,) expected steps in each state, (S, S) expected moves from one to another of them."""
    states = np.arange(mdp.S)
    law, steps, moves = np.eye(mdp.S)[mdp.s1], np.zeros(mdp.S), np.zeros((mdp.S, mdp.S))
    for h in range(mdp.H):
        steps += law
        made = law[:, None] * mdp.P[h][states, policy[h]]
        if h < mdp.H - 1:
            moves += made
        law = made.sum(axis=0)
    np.fill_diagonal(moves, 0.0)
    return steps, moves


def _rooms(axes: Axes, S: int) -> tuple[NDArray[np.float64], float]:
    """(S, 2) middles of the drawn rooms, and the radius of a room."""
    places, radius = np.zeros((S, 2)), 0.0
    for artist in axes.get_children():
        sort, _, rest = (artist.get_gid() or "").partition("/")
        if sort == "state" and isinstance(artist, Patch):
            box = artist.get_path().get_extents(artist.get_patch_transform())
            places[int(rest.split("/")[0])] = (box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2
            if isinstance(artist, Circle):
                radius = artist.get_radius()
    return places, radius


def _draw_mark(axes: Axes, xy: NDArray[np.float64], reward: float, gid: str) -> None:
    """Draw a reward: a black disc with its number."""
    label = f"{reward:.2g}".replace("0.", ".")
    disc = Circle((xy[0], xy[1]), 0.15, facecolor=PAPER, edgecolor=INK, linewidth=1.8, gid=gid)
    disc.set_zorder(7)
    axes.add_artist(disc)
    write(axes, xy, label)
    axes.texts[-1].set_zorder(8)


def _write_above(figure: DescribedFigure, axes: Axes, lines: list[str]) -> None:
    """Make the sheet higher and write lines above the drawing."""
    width, height = (float(side) for side in figure.get_size_inches())
    extra = LINE_HEIGHT * len(lines) + 2 * MARGIN
    figure.set_size_inches(width, height + extra)
    axes.set(ylim=(0, height + extra))
    for i, line in enumerate(lines):
        y = height + extra - MARGIN - LINE_HEIGHT * (i + 0.5)
        write(axes, (width / 2, y), line)


SIZE = (5.7, 4.3)  # inches, with room for three lines of legend
GREEN = "#009e73"
STYLES = (  # colour, dashes, marker; a bound and its terms are black
    (INK, "solid", ""),
    (INK, (0, (5, 2)), ""),
    (INK, (0, (1, 1.5)), ""),
    (GREEN, "solid", "o"),
    (BLUE, "solid", "s"),
    (GREY, (0, (7, 2, 1.5, 2)), ""),
)


def stopping_times(epsilons: ArrayLike, curves: Mapping[str, ArrayLike]) -> DescribedFigure:
    r"""Draw numbers of episodes against ε, both in logarithms.

    A number that falls as :math:`\varepsilon^{-2}` is a straight line of slope -2.

    Parameters
    ----------
    epsilons : (n,) increasing array
    curves : mapping from str to (n,) arrays
        One to six numbers of episodes for each ε; 0 and less have no place on the axis.

    Returns
    -------
    DescribedFigure

    Notes
    -----
    Taught in the chapter *The reward-free experiments*.

    Examples
    --------
    >>> from safeteach.chapters.the_reward_free_experiments import figures
    >>> curves = {"bound": [4e6, 1e6], "measured": [4e4, 1e4]}
    >>> print(figures.stopping_times([0.5, 1.0], curves).alt)
    Episodes against ε from 0.5 to 1. bound: 4e+06 to 1e+06, slope -2.0.
    measured: 40,000 to 10,000, slope -2.0.
    """
    x = np.asarray(epsilons, float)
    if x.ndim != 1 or x.size < 2 or not (np.diff(x) > 0).all() or x[0] <= 0:
        raise ValueError("epsilons must be at least two increasing numbers above 0")
    if not 1 <= len(curves) <= len(STYLES):
        raise ValueError(f"{len(curves)} curves; one to {len(STYLES)} can be told apart")
    lines = {name: np.asarray(y, float) for name, y in curves.items()}
    said = []
    for name, y in lines.items():
        if y.shape != x.shape or not (y > 0).all():
            raise ValueError(f"the curve {name!r} must have {x.size} numbers above 0")
        slope = np.log(y[-1] / y[0]) / np.log(x[-1] / x[0])
        said.append(f"{name}: {_number(y[0])} to {_number(y[-1])}, slope {slope:.1f}.")
    figure = DescribedFigure(
        *SIZE, f"Episodes against ε from {x[0]:g} to {x[-1]:g}. {' '.join(said)}"
    )
    axes = chart(figure, "ε", "episodes")
    axes.set_position((0.135, 0.14, 0.83, 0.62))
    for (name, y), (color, dashes, marker) in zip(lines.items(), STYLES, strict=False):
        axes.plot(
            x, y, color=color, linestyle=dashes, linewidth=2.0, marker=marker, markersize=6,
            markeredgecolor=PAPER, label=name, gid=name,
        )  # fmt: skip
    axes.set(xscale="log", yscale="log", xlim=(x[0], x[-1]))
    axes.xaxis.set_major_formatter("{x:g}")
    ticks = [tick for tick in (0.1, 0.2, 0.5, 1, 2, 3, 5, 10) if x[0] <= tick <= x[-1]]
    axes.set_xticks(ticks)
    axes.set_xticks([], minor=True)
    legend_above(axes)
    return figure


def _number(y: float) -> str:
    return f"{y:,.0f}" if y < 10**6 else f"{y:.2g}"
