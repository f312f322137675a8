"""How far the costs of one leaf can tell two worlds apart: two bells, and what they share."""

from __future__ import annotations

import math

import numpy as np
from matplotlib.ticker import MaxNLocator

from safeteach.divergence import bretagnolle_huber, kl_gaussian, run_divergence
from safeteach.figures.chart import CHART, chart, legend_above
from safeteach.figures.described import BLUE, INK, PALE_ORANGE, VERMILION, DescribedFigure

__all__ = ["two_worlds"]

POINTS = 401
TINY = 1e-12  # a probability below it is not worth its digits


def two_worlds(gap: float, n: int, K: int, leaf_steps: int) -> DescribedFigure:
    r"""Draw the law of the evidence for τ_1 against τ_j, in the one world and in the other.

    Leaf j is tried in K/(n-1) episodes, its fair share, so that N = leaf_steps·K/(n-1) costs of
    it are seen, with mean ½ + gap in τ_1 and ½ in τ_j and variance 1.  Their log-likelihood
    ratio is Gaussian with variance 2D and mean D in τ_1, -D in τ_j, where D = N·gap²/2 is the
    divergence.  What lies under both bells, :math:`2\Phi(-\sqrt{D/2})`, is the least sum of the
    two probabilities of a wrong verdict.

    Parameters
    ----------
    gap : float
        How far an unsafe leaf is above the threshold, in (0, ½].
    n : int
        Leaves, at least 2.
    K : int
        Episodes, at least 1.
    leaf_steps : int
        H' = 2H/3, the steps that an episode spends in its leaf.

    Returns
    -------
    DescribedFigure

    Notes
    -----
    The two sides of the inequality of Bretagnolle and Huber, in the proof of Theorem 5.1 of the
    paper.  Taught in the chapter *The violation lower bound*.

    Examples
    --------
    >>> from safeteach import figures
    >>> print(figures.two_worlds(gap=0.05, n=8, K=1_000, leaf_steps=6).alt)
    Evidence for τ_1 against τ_j from 857 costs of leaf j: gap 0.05, n = 8, K = 1,000. D = 1.07. The
    two bells share 0.464, the least sum of the two probabilities of error; ½exp(-D) = 0.171. The
    gap of the theorem would be 0.0171.
    """
    if not 0 < gap <= 0.5:
        raise ValueError(f"gap is {gap}; it must lie in (0, ½]")
    if n < 2 or K < 1 or leaf_steps < 1:
        raise ValueError(
            f"n is {n}, K is {K} and leaf_steps {leaf_steps}; at least 2, 1 and 1 are expected"
        )
    looks = leaf_steps * K / (n - 1)
    D = run_divergence(looks, kl_gaussian(0.5 + gap, 0.5))
    shared = math.erfc(math.sqrt(D) / 2)  # 2Φ(-√(D/2))
    promised = float(bretagnolle_huber(D))
    figure = DescribedFigure(
        *CHART,
        f"Evidence for τ_1 against τ_j from {looks:,.0f} costs of leaf j: gap {gap:g}, n = {n}, "
        f"K = {K:,}. D = {D:.3g}. The two bells share {_said(shared)}, the least sum of the two "
        f"probabilities of error; ½exp(-D) = {_said(promised)}. The gap of the theorem would be "
        f"{math.sqrt((n - 1) / (4 * K * leaf_steps)):.3g}.",
    )
    axes = chart(figure, "log-likelihood ratio of the costs seen", "density")
    spread = math.sqrt(2 * D)
    far = D + 3.6 * spread
    # Finer near the two tops, so that narrow bells are drawn as they are.
    near = spread * np.linspace(-3.6, 3.6, POINTS)
    x = np.unique(np.concatenate([near - D, near + D, [-far, far]]))
    bells = {}
    for name, mean, color, dashes in (
        (r"in $\tau_1$", D, BLUE, "solid"),
        (r"in $\tau_j$", -D, VERMILION, (0, (5, 2))),
    ):
        bells[name] = np.exp(-(((x - mean) / spread) ** 2) / 2) / (spread * math.sqrt(2 * math.pi))
        axes.plot(
            x, bells[name], color=color, linestyle=dashes, linewidth=2.0, label=name, gid=name
        )
    low = np.minimum(*bells.values())
    axes.fill_between(
        x, 0, low, facecolor=PALE_ORANGE, edgecolor=INK, hatch="//", hatch_linewidth=0.7,
        linewidth=0.0, label=f"under both: {_said(shared)}", gid="shared",
    )  # fmt: skip
    axes.plot([], [], linestyle="none", label=rf"$e^{{-D}}/2$: {_said(promised)}")
    axes.set(xlim=(-far, far), ylim=(0, 1.05 * bells[r"in $\tau_1$"].max()))
    axes.yaxis.set_ticks([])
    axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.xaxis.set_major_formatter("{x:g}")
    legend_above(axes)
    return figure


def _said(probability: float) -> str:
    return f"{probability:.3g}" if probability >= TINY else f"less than {TINY:g}"
