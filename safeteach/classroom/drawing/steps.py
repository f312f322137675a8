"""Costs over time: one episode step by step, and the two ledgers of many episodes."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from safeteach.figures.chart import CHART, chart, legend_above
from safeteach.figures.described import (
    BLUE,
    GREY,
    INK,
    PALE_BLUE,
    VERMILION,
    DescribedFigure,
    listing,
)

__all__ = ["ledgers", "steps"]


def steps(costs: ArrayLike, tau: float) -> DescribedFigure:
    """The cost of each step of one episode, with what exceeds the threshold hatched.

    Parameters
    ----------
    costs : (H,) array
        c(s_1) .. c(s_H).
    tau : float
        Threshold.

    Examples
    --------
    >>> from safeteach.classroom.drawing.steps import steps
    >>> steps([0.1, 0.9, 0.2], tau=0.5).alt
    'Costs of 3 steps against the threshold 0.5. Above it: step 2 (0.9). Mean cost 0.4, \
step-wise violation 0.4.'
    """
    c = np.asarray(costs, float)
    if c.ndim != 1 or not c.size:
        raise ValueError(f"costs has shape {c.shape}; expected (H,)")
    above = np.flatnonzero(c > tau)
    excess = np.maximum(c - tau, 0)
    where = listing([f"step {i + 1} ({c[i]:.3g})" for i in above])
    figure = DescribedFigure(
        *CHART,
        alt=f"Costs of {c.size} steps against the threshold {tau:.3g}. Above it: {where}. "
        f"Mean cost {c.mean():.3g}, step-wise violation {excess.sum():.3g}.",
    )
    axes = chart(figure, "step $h$", "cost $c(s_h)$")
    h = np.arange(1, c.size + 1)
    axes.bar(h, np.minimum(c, tau), color=PALE_BLUE, edgecolor=BLUE, linewidth=1.2)
    if above.size:  # else the legend would name what no bar has
        axes.bar(h[above], excess[above], bottom=tau, color=VERMILION, edgecolor=INK,
                 linewidth=1.2, hatch="xx", label="violation $(c-\\tau)_+$")
    axes.axhline(tau, color=INK, linewidth=1.6, label=f"threshold $\\tau$ = {tau:.3g}")
    axes.axhline(c.mean(), color=BLUE, linewidth=1.6, linestyle=(0, (5, 2)),
                 label=f"mean cost {c.mean():.3g}")
    axes.set(xlim=(0.4, c.size + 0.6), ylim=(0, 1.05))
    legend_above(axes)
    return figure


def ledgers(
    costs: ArrayLike, tau: float, budget: float, limits: tuple[float, float] | None = None
) -> DescribedFigure:
    """Two ways to keep the books of many episodes: with and without credit.

    Parameters
    ----------
    costs : (K, H) array
        The cost of each step of each episode.
    tau : float
        Threshold of a step, for the step-wise violation Σ_k Σ_h (c - tau)_+.
    budget : float
        Budget of an episode, for the episode-wise account Σ_k (Σ_h c - budget).
    limits : (low, high), optional
        Ends of the vertical axis, the same for figures that are to be compared.

    Examples
    --------
    >>> from safeteach.classroom.drawing.steps import ledgers
    >>> ledgers([[0.1, 0.9], [0.2, 0.2]], tau=0.5, budget=1.0).alt
    'Two ledgers over 2 episodes. Step-wise violation (threshold 0.5) ends at 0.4. Episode-wise \
account (budget 1) ends at -0.6.'
    """
    c = np.asarray(costs, float)
    if c.ndim != 2 or not c.size:
        raise ValueError(f"costs has shape {c.shape}; expected (K, H)")
    stepwise = np.maximum(c - tau, 0).sum(axis=1).cumsum()
    account = (c.sum(axis=1) - budget).cumsum()
    figure = DescribedFigure(
        *CHART,
        alt=f"Two ledgers over {len(c)} episodes. Step-wise violation (threshold {tau:.3g}) ends "
        f"at {stepwise[-1]:.3g}. Episode-wise account (budget {budget:.3g}) ends at "
        f"{account[-1]:.3g}.",
    )
    axes = chart(figure, "episode $k$", "total up to episode $k$")
    k = np.arange(1, len(c) + 1)
    axes.axhline(0, color=GREY, linewidth=1)
    axes.plot(k, stepwise, color=VERMILION, linewidth=2.2, label="step-wise violation $C(k)$")
    axes.plot(k, account, color=BLUE, linewidth=2.2, linestyle=(0, (5, 2)),
              label=f"account by daily costs, budget {budget:.3g}")
    axes.set_xlim(0, len(c) + 1)
    axes.set_ylim(limits)
    legend_above(axes, columns=1)
    return figure
