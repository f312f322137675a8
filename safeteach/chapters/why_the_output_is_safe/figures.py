"""The pictures of the chapter *Why the output is safe*.

- What a reward-free learner promises after each episode, and what its plans can do wrong.
- Where the bound on the episodes of SRF-UCRL comes from: two terms that fall, and ε/2.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from safeteach.bounds import exploration_episodes, exploration_terms
from safeteach.figures.chart import CHART, chart, legend_above
from safeteach.figures.described import BLUE, INK, PAPER, VERMILION, DescribedFigure

__all__ = ["guarantee", "sample_complexity"]


STYLES = (
    (INK, "solid", ""),
    (BLUE, (0, (5, 2)), "o"),
    (VERMILION, (0, (1, 1.5)), "s"),
    (INK, (0, (3, 1, 1, 1)), "^"),
)
FLOOR = 1e-6  # what is below is drawn here


def guarantee(
    episodes: ArrayLike, curves: Mapping[str, ArrayLike], level: float
) -> DescribedFigure:
    """Draw quantities that should lie one below the other, against the episodes, both in logs.

    Parameters
    ----------
    episodes : (n,) array
        Numbers of episodes, increasing.
    curves : mapping from str to (n,) arrays
        Up to four, what is said to be the largest first.
    level : float
        A line across, such as ε/2.

    Returns
    -------
    DescribedFigure

    Notes
    -----
    Taught in the chapter *Why the output is safe*.

    Examples
    --------
    >>> from safeteach.chapters.why_the_output_is_safe import figures
    >>> print(figures.guarantee([10, 100], {"width": [2, 0.4], "violation": [0.2, 0.1]}, 0.5).alt)
    After 10 to 100 episodes: width from 2 to 0.4, violation from 0.2 to 0.1.
    The first is nowhere below another. A line across at 0.5.
    """
    k = np.asarray(episodes, float)
    lines = {name: np.asarray(values, float) for name, values in curves.items()}
    if not 1 <= len(lines) <= len(STYLES):
        raise ValueError(f"{len(lines)} curves; one to {len(STYLES)} can be told apart")
    for name, y in lines.items():
        if y.shape != k.shape:
            raise ValueError(f"the curve {name!r} has shape {y.shape}; expected {k.shape}")
    first = next(iter(lines.values()))
    crossed = any((y > first).any() for y in lines.values())
    said = ", ".join(f"{name} from {y[0]:.3g} to {y[-1]:.3g}" for name, y in lines.items())
    figure = DescribedFigure(
        *CHART,
        f"After {k[0]:,.0f} to {k[-1]:,.0f} episodes: {said}. The first is "
        f"{'somewhere' if crossed else 'nowhere'} below another. A line across at {level:g}.",
    )
    axes = chart(figure, "episodes $k$", "per episode")
    axes.set_position((0.155, 0.165, 0.795, 0.62))
    axes.axhline(
        level, color=INK, linewidth=0.8, linestyle=(0, (4, 3)), label=f"{level:g}", gid="level"
    )
    for (name, y), (color, dashes, mark) in zip(lines.items(), STYLES, strict=False):
        axes.plot(
            k, np.maximum(y, FLOOR),
            color=color, linestyle=dashes, linewidth=2.0, marker=mark, markersize=5,
            markeredgecolor=PAPER, label=name, gid=name,
        )  # fmt: skip
    axes.set(xscale="log", yscale="log", xlim=(k[0], k[-1]))
    axes.yaxis.set_major_formatter("{x:g}")
    legend_above(axes)
    return figure


EPISODES = np.logspace(3, 15, 121)
LOWEST, HIGHEST = 1e-3, 1e4


def sample_complexity(S: int, A: int, H: int, epsilon: float, delta: float) -> DescribedFigure:
    r"""Draw the bound on the uncertainty of an average episode, and where it comes down to ε/2.

    Parameters
    ----------
    S, A, H : int
        Numbers of states, actions and steps.
    epsilon : float
        What is asked for, above 0 and at most 2H.
    delta : float
        Probability with which one event may fail.

    Returns
    -------
    DescribedFigure

    Notes
    -----
    The terms are those of :func:`safeteach.bounds.exploration_terms`, divided by K; they meet ε/2
    at :func:`safeteach.bounds.exploration_episodes`.  Theorem 6.2 of the paper.  Taught in the
    chapter *Why the output is safe*.

    Examples
    --------
    >>> from safeteach.chapters.why_the_output_is_safe import figures
    >>> print(figures.sample_complexity(S=2, A=2, H=2, epsilon=1, delta=0.1).alt)
    The bound on the episodes of SRF-UCRL for S = 2, A = 2, H = 2, ε = 1, δ = 0.1.
    The terms come down to ε/2 at K = 5.59e+06; the second is 9% of their sum there.
    """
    K = exploration_episodes(S, A, H, epsilon, delta)
    root, rest = (float(term) / K for term in exploration_terms(K, S, A, H, delta))
    figure = DescribedFigure(
        *CHART,
        f"The bound on the episodes of SRF-UCRL for S = {S}, A = {A}, H = {H}, ε = {epsilon:g}, "
        f"δ = {delta:g}. The terms come down to ε/2 at K = {K:.3g}; the second is "
        f"{100 * rest / (root + rest):.0f}% of their sum there.",
    )
    axes = chart(figure, "episodes $K$", "bound on the average width")
    axes.set_position((0.155, 0.165, 0.795, 0.62))
    terms = exploration_terms(EPISODES, S, A, H, delta)
    axes.axhline(
        epsilon / 2, color=INK, linewidth=0.8, linestyle=(0, (4, 3)), label="ε/2", gid="ε/2"
    )
    for name, total, color, dashes in (
        ("first term", terms[0], BLUE, (0, (5, 2))),
        ("second term", terms[1], VERMILION, (0, (1, 1.5))),
        ("both", terms[0] + terms[1], INK, "solid"),
    ):
        axes.plot(
            EPISODES, total / EPISODES,
            color=color, linestyle=dashes, linewidth=2.0, label=name, gid=name,
        )  # fmt: skip
    axes.plot(
        [K], [root + rest],
        color=INK, marker="o", markersize=8, markeredgecolor=PAPER, gid="bound",
    )  # fmt: skip
    axes.set(xscale="log", yscale="log", xlim=(EPISODES[0], EPISODES[-1]), ylim=(LOWEST, HIGHEST))
    axes.yaxis.set_major_formatter("{x:g}")
    legend_above(axes)
    return figure
