"""The pictures of the chapter *MDPs you can run*.

- Running averages: how slowly dice find out what a policy is worth.
- The timetable of a plan: what to do in each state at each step, and what is still to earn.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import numpy as np
from matplotlib.patches import Rectangle
from numpy.typing import ArrayLike, NDArray

from safeteach.figures.chart import CHART, chart, draw_averages, legend_above, running_averages
from safeteach.figures.described import (
    LINE,
    PALE_SKY,
    PAPER,
    SKY,
    WIDEST,
    DescribedFigure,
    listing,
    sheet,
    shorten,
    text_size,
    write,
)
from safeteach.planning.induction import Plan
from safeteach.worlds.mdp import SafeMDP

__all__ = ["averages", "timetable"]


def averages(samples: Mapping[str, ArrayLike]) -> DescribedFigure:
    """Draw the average of the first n numbers of each sample against n.

    Parameters
    ----------
    samples : mapping from str to (N,) arrays
        One to three samples by their names, such as what policies earned in each episode.

    Returns
    -------
    DescribedFigure

    Notes
    -----
    Taught in the chapter *MDPs you can run*.

    Examples
    --------
    >>> from safeteach.chapters.mdps_you_can_run import figures
    >>> print(figures.averages({"coin": [1, 0, 0, 1]}).alt)
    Running averages over 4 episodes. coin: 1 after 1, 0.5 after 4.
    """
    running = running_averages(samples)
    figure = DescribedFigure(*CHART, _describe_averages(running))
    axes = chart(figure, "episodes $n$", "average of the first $n$")
    draw_averages(axes, running)
    axes.set_xlim(0, max(mean.size for mean in running.values()) + 1)
    legend_above(axes)
    return figure


def _describe_averages(running: Mapping[str, NDArray[np.float64]]) -> str:
    longest = max(mean.size for mean in running.values())
    said = []
    for name, mean in running.items():
        stops = sorted({1, max(1, mean.size // 10), mean.size})
        after = ", ".join(f"{mean[n - 1]:.3g} after {n}" for n in stops)
        said.append(f"{name}: {after}.")
    return f"Running averages over {longest} episodes. {' '.join(said)}"


ROW, MARGIN, GAP = 0.52, 0.12, 0.1  # inches
SHADES = (PAPER, PALE_SKY, LINE, SKY)  # of the actions, in turn; each cell names its own too
MOST_STATES = 12


def timetable(mdp: SafeMDP, plan: Plan) -> DescribedFigure:
    """Draw a plan as a table: a row for each state, a column for each step.

    Each cell names the action and, below it, the value :math:`V_h(s)` that goes with it.  The
    shade of a cell is that of its action, so that changes over time stand out.

    Parameters
    ----------
    mdp : SafeMDP
        With at most 12 states and about 8 steps; the names of the actions decide how many fit.
    plan : Plan
        Made for this world by ``optimal`` or ``safe_optimal``.

    Returns
    -------
    DescribedFigure

    Notes
    -----
    Taught in the chapter *MDPs you can run*.

    Examples
    --------
    >>> import safeteach as st
    >>> from safeteach.chapters.mdps_you_can_run import figures
    >>> mdp = st.instances.union_counterexample()
    >>> print(figures.timetable(mdp, st.optimal(mdp)).alt)
    Timetable of a plan, 5 states by 4 steps, worth 2.5 from start. start: a1 at step 1, then a0. x:
    a0 throughout. y: a0 at step 1, a1 at step 2, then a0. g: a0 throughout. u: a0 throughout.
    """
    if plan.policy.shape != (mdp.H, mdp.S):
        raise ValueError(
            f"the plan is for (H, S) = {plan.policy.shape}, the world has {(mdp.H, mdp.S)}"
        )
    states = [shorten(mdp.state_name(s)) for s in range(mdp.S)]
    actions = [shorten(mdp.action_name(a)) for a in range(mdp.A)]
    left = max(text_size(name)[0] for name in states) + MARGIN + GAP
    cell = max(text_size(name)[0] for name in [*actions, f"{plan.V.max():.2f}"]) + 2 * GAP
    width = left + mdp.H * cell + MARGIN
    if width > WIDEST or mdp.S > MOST_STATES:
        raise ValueError(
            f"a timetable of {mdp.S} states and {mdp.H} steps does not fit: at most {MOST_STATES} "
            f"states and, with these names, {int((WIDEST - left - MARGIN) / cell)} steps"
        )
    height = (mdp.S + 1) * ROW + MARGIN
    figure, axes = sheet(width, height, _describe_timetable(mdp, plan))
    for i in range(mdp.H):
        x = left + i * cell
        write(axes, (x + cell / 2, height - ROW / 2), f"$h={i + 1}$", math=True)
        for s, a in enumerate(plan.policy[i]):
            y = height - (s + 2) * ROW
            box = Rectangle((x, y), cell, ROW, gid=f"cell/{i + 1}/{s}/{a}")
            box.set(facecolor=SHADES[a % len(SHADES)], edgecolor=LINE, linewidth=0.8, zorder=1)
            axes.add_artist(box)
            write(axes, (x + cell / 2, y + ROW / 2), f"{actions[a]}\n{plan.V[i, s]:.2f}")
    for s, name in enumerate(states):
        write(axes, (left - GAP, height - (s + 1.5) * ROW), name, align="right")
    return figure


def _describe_timetable(mdp: SafeMDP, plan: Plan) -> str:
    rows = [f"{mdp.state_name(s)}: {_changes(mdp, plan, s)}" for s in range(mdp.S)]
    return (
        f"Timetable of a plan, {mdp.S} states by {mdp.H} steps, worth {plan.value:.4g} from "
        f"{mdp.state_name(mdp.s1)}. {listing(rows, 480, comma='. ')}."
    )


def _changes(mdp: SafeMDP, plan: Plan, s: int) -> str:
    """Say what the plan does in one state over time."""
    said, h = [], 1
    for a, run in itertools.groupby(plan.policy[:, s]):
        last = h + len(list(run)) - 1
        when = f"at step {h}" if h == last else f"at steps {h} to {last}"
        said.append(f"{mdp.action_name(a)} {when}")
        h = last + 1
    if len(said) == 1:
        return f"{mdp.action_name(plan.policy[0, s])} throughout"
    return ", ".join([*said[:-1], f"then {mdp.action_name(plan.policy[-1, s])}"])
