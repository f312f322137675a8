"""The pictures of the chapter *Your own world*.

- A verdict, and the states and steps behind it.
- What an episode costs in worlds of more and more states.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, NullLocator
from numpy.typing import ArrayLike

from safeteach.arguments import instance, string
from safeteach.figures.chart import chart, legend_above
from safeteach.figures.described import (
    BLUE,
    GREY,
    INK,
    VERMILION,
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
    sheet,
    shorten,
    text_size,
    write,
)
from safeteach.planning.evaluation import evaluate
from safeteach.planning.induction import optimal, safe_optimal
from safeteach.planning.risk import least_risk
from safeteach.safety import is_feasible
from safeteach.worlds.mdp import SafeMDP

__all__ = ["growth", "verdict"]

MOST_STEPS, MOST_STATES = 16, 12
PITCH = 0.34  # inches from one step or state to the next
RADIUS = 0.115
EDGE = 0.25
HEAD = 0.95  # two lines of text and the numbers of the steps
NAMES = 1.05  # the column of names
CHART = (5.7, 3.6)
STYLES = ((BLUE, "solid", "o"), (VERMILION, (0, (5, 2)), "s"))


def verdict(mdp: SafeMDP, title: str, steps: int = 0, states: int = 0) -> DescribedFigure:
    """Say whether a policy can be safe, above what each state is at each step.

    The last step is always at the right, because what counts is how many steps are to go.

    Parameters
    ----------
    mdp : SafeMDP
        With at most 12 states and 16 steps.
    title : str
        What the world is.
    steps, states : int, optional
        For how many there is room at least, so that pictures of several worlds have one size.

    Examples
    --------
    >>> import safeteach as st
    >>> from safeteach.chapters.your_own_world import figures
    >>> print(figures.verdict(st.instances.union_counterexample(), "The crossing").alt)
    The crossing, 4 steps. Safe: earns 2.00. Best of all: 2.50, risk 1. At step 1: Unsafe: u.
    Doomed but not unsafe: none. Safe: start, x, y, g. At step 4: Unsafe: u. Doomed but not
    unsafe: none. Safe: start, x, y, g.
    """
    instance(mdp, "mdp", SafeMDP, "a SafeMDP")
    string(title, "title")
    steps, states = max(steps, mdp.H), max(states, mdp.S)
    if mdp.S > MOST_STATES or steps > MOST_STEPS:
        raise ValueError(
            f"mdp has {mdp.S} states and {steps} steps; more than {MOST_STATES} states and "
            f"{MOST_STEPS} steps cannot be read"
        )
    entries = [
        *kind_entries(),
        Entry(lambda axes, xy: _draw_start(axes, (xy[0] + 0.13, xy[1])), "start"),
    ]
    said = _said(mdp)
    width = 2 * EDGE + max(NAMES + steps * PITCH, text_size(said)[0], text_size(title)[0] + 1.0)
    bottom = legend_height(entries, width) + 0.1
    height = bottom + states * PITCH + HEAD
    figure, axes = sheet(width, height, _describe(mdp, title, said))
    write(axes, (EDGE, height - 0.22), f"{title}, H = {mdp.H}", align="left")
    write(axes, (EDGE, height - 0.48), said, align="left")
    top = height - HEAD
    for h in range(1, mdp.H + 1):
        x = width - EDGE - (mdp.H - h + 0.5) * PITCH
        write(axes, (x, top + 0.14), str(h))
        for s, kind in enumerate(kinds_at(mdp, h)):
            xy = (x, top - (s + 0.5) * PITCH)
            draw_state(axes, xy, kind, RADIUS, gid=f"cell/{h}/{s}/{kind.name}")
    left = width - EDGE - mdp.H * PITCH
    for s in range(mdp.S):
        name = shorten(mdp.state_name(s), 10)
        write(axes, (left - 0.26, top - (s + 0.5) * PITCH), name, align="right")
    _draw_start(axes, (left + PITCH / 2 - RADIUS, top - (mdp.s1 + 0.5) * PITCH))
    draw_legend(axes, entries, width)
    return figure


def _draw_start(axes: Axes, tip: Point) -> None:
    arrow(axes, (tip[0] - 0.26, tip[1]), tip, color=INK, width=2.2, gid="start")


def _said(mdp: SafeMDP) -> str:
    """The verdict in a line."""
    if not is_feasible(mdp):
        return f"No safe policy. Least risk: {least_risk(mdp).risk:.2g}."
    safe, best = safe_optimal(mdp).value, optimal(mdp)
    risk = evaluate(mdp, best.policy).unsafe_probability
    return f"Safe: earns {safe:.2f}. Best of all: {best.value:.2f}, risk {risk:.2g}."


def _describe(mdp: SafeMDP, title: str, said: str) -> str:
    kinds = [f"At step {h}: {describe_kinds(mdp, kinds_at(mdp, h))}" for h in (1, mdp.H)]
    return " ".join([f"{title}, {mdp.H} steps. {said}", *dict.fromkeys(kinds)])


def growth(
    states: ArrayLike, costs: Mapping[str, ArrayLike], dense: ArrayLike
) -> DescribedFigure:
    """Draw what an episode costs against the number of states, on two logarithmic axes.

    Parameters
    ----------
    states : (F,) increasing numbers
    costs : mapping from a learner to (F,) arrays
        Microseconds; one or two learners.
    dense : (F,) array
        Sizes of a dense model; a grey line grows like them, from the first cost on.

    Examples
    --------
    >>> from safeteach.chapters.your_own_world import figures
    >>> print(figures.growth([10, 100], {"A": [2, 30], "B": [4, 50]}, [10, 4_000]).alt)
    Microseconds an episode against the number of states, from 10 to 100. A: 2 to 30. B: 4 to 50.
    A cost that grew like a dense model would be 1,600 at the end.
    """
    x, model = (np.asarray(numbers, float) for numbers in (states, dense))
    micro = {name: np.asarray(cost, float) for name, cost in costs.items()}
    if any(y.shape != x.shape or y.min() <= 0 for y in (x, model, *micro.values())):
        raise ValueError("states, costs and dense must be positive numbers, as many of each")
    if not 1 <= len(micro) <= len(STYLES):
        raise ValueError(f"{len(micro)} learners; one or {len(STYLES)} can be told apart")
    line = max(y[0] for y in micro.values()) * model / model[0]
    said = " ".join(f"{name}: {_few(y[0])} to {_few(y[-1])}." for name, y in micro.items())
    figure = DescribedFigure(
        *CHART,
        f"Microseconds an episode against the number of states, from {_few(x[0])} to "
        f"{_few(x[-1])}. {said} A cost that grew like a dense model would be {_few(line[-1])} at "
        f"the end.",
    )
    axes = chart(figure, "states S", "microseconds an episode")
    axes.set_position((0.19, 0.165, 0.78, 0.62))  # numbers on the left are long
    axes.set_xscale("log")
    axes.set_yscale("log")
    for (name, y), (color, dashes, marker) in zip(micro.items(), STYLES, strict=False):
        axes.plot(
            x, y, color=color, linestyle=dashes, linewidth=2.0, marker=marker, markersize=6,
            label=name, gid=name,
        )  # fmt: skip
    axes.plot(
        x, line, color=GREY, linewidth=1.2, zorder=1, label="as a dense model grows",
        gid="reference",
    )  # fmt: skip
    axes.xaxis.set_major_locator(FixedLocator(x.tolist()))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_minor_locator(NullLocator())
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter("{x:,g}")
    legend_above(axes)
    return figure


def _few(x: float) -> str:
    return f"{x:,.0f}"
