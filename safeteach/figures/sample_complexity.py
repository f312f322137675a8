"""Where the bound on the episodes of SRF-UCRL comes from: two terms that fall, and ε/2."""

from __future__ import annotations

import numpy as np

from safeteach.bounds import exploration_episodes, exploration_terms
from safeteach.figures.chart import CHART, chart, legend_above
from safeteach.figures.described import BLUE, INK, PAPER, VERMILION, DescribedFigure

__all__ = ["sample_complexity"]

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
    at :func:`safeteach.bounds.exploration_episodes`.  Theorem 6.1 of the paper.  Taught in the
    chapter *Why the output is safe*.

    Examples
    --------
    >>> from safeteach import figures
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
