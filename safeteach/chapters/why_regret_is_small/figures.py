"""The pictures of the chapter *Why regret is small*.

- Where an estimate's excess comes from: bonus, model, luck and cap, summed over the episodes.
- What the theorems say of regret at each number of episodes, against what is true anyway.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.ticker import EngFormatter
from numpy.typing import NDArray

from safeteach.figures.chart import CHART, chart, legend_above
from safeteach.figures.described import BLUE, INK, ORANGE, SKY, VERMILION, DescribedFigure

if TYPE_CHECKING:
    from safeteach.running.auditing import Audit
import math
from collections.abc import Callable

from safeteach.bounds import most_dangerous_pairs, regret_bound, regret_bound_masks
from safeteach.figures.described import GREY

__all__ = ["decomposition", "regret_bounds"]


LOOKS = {  # colour, dashes, width
    "bonus": (BLUE, "solid", 2.0),
    "model": (ORANGE, (0, (6, 1.5, 1, 1.5)), 2.0),
    "luck": (SKY, (0, (1, 1.2)), 2.4),
    "minus cap": (VERMILION, (0, (5, 2)), 2.0),
    "gap, their sum": (INK, "solid", 3.0),
}


def decomposition(audit: Audit) -> DescribedFigure:
    """Draw the running sums of bonus, model, luck and minus cap, and of the gap they make up.

    Parameters
    ----------
    audit : Audit
        As :func:`safeteach.audit` returns it; its arrays ``bonus``, ``model``, ``luck``, ``cap``
        and ``gap`` are read.

    Returns
    -------
    DescribedFigure

    Notes
    -----
    The exact form of the decomposition in the proof of Theorem 4.2 of the paper.  Taught in the
    chapter *Why regret is small*.

    Examples
    --------
    >>> import safeteach as st
    >>> from safeteach.chapters.why_regret_is_small import figures
    >>> mdp = st.instances.union_counterexample()
    >>> a = st.audit(st.SUCBVI(mdp.known, episodes=200, bonus_scale=0.01), mdp, seed=0)
    >>> figures.decomposition(a).alt[:66]
    'Running sums over 200 episodes of the excess of the estimate and i'
    """
    sums = {
        name: np.cumsum(part)
        for name, part in zip(
            LOOKS, (audit.bonus, audit.model, audit.luck, -audit.cap, audit.gap), strict=True
        )
    }
    figure = DescribedFigure(CHART[0], 3.8, _describe(sums))
    axes = chart(figure, "episodes", "running sum")
    axes.set_position((0.155, 0.155, 0.815, 0.61))  # the legend has three lines
    axes.axhline(0, color=INK, linewidth=0.8)
    for name, total in sums.items():
        color, dashes, width = LOOKS[name]
        axes.plot(
            np.arange(1, total.size + 1),
            total,
            color=color,
            linestyle=dashes,
            linewidth=width,
            label=name,
            gid=name,
        )
    axes.set_xlim(0, audit.gap.size + 1)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.yaxis.set_major_formatter(EngFormatter(sep=" "))  # 2 k, or 2 M with the full α
    legend_above(axes)
    return figure


def _describe(sums: dict[str, NDArray[np.float64]]) -> str:
    episodes = sums["bonus"].size
    stops = sorted({max(1, episodes // 10), episodes})
    said = [
        f"{name} " + ", ".join(f"{total[n - 1]:,.4g} after {n:,}" for n in stops)
        for name, total in sums.items()
    ]
    return (
        f"Running sums over {episodes:,} episodes of the excess of the estimate and its parts: "
        f"{'; '.join(said)}."
    )


FIRST, LAST = 2, 25  # powers of ten of K
LOWEST, HIGHEST = 1e-10, 1e10  # shares

Bound = Callable[[int, int, int, int, float], float]
BOUNDS: dict[str, tuple[Bound, str, object]] = {
    "always": (regret_bound, BLUE, "solid"),
    "few dangerous pairs": (regret_bound_masks, VERMILION, (0, (5, 2))),
}


def regret_bounds(S: int, A: int, H: int, K: int, delta: float = 0.005) -> DescribedFigure:
    """Draw both bounds on the regret of SUCBVI per K H, against K; below 1 they say something.

    Parameters
    ----------
    S, A, H : int
        Numbers of states, actions and steps.
    K : int
        Number of episodes at which the bounds are marked and told, 10² to 10²⁵.
    delta : float
        Probability with which one event may fail.

    Returns
    -------
    DescribedFigure

    Notes
    -----
    The bounds are repairs of Theorem 4.2 of the paper.  Taught in the chapter *Why regret is
    small*.

    Examples
    --------
    >>> from safeteach.chapters.why_regret_is_small import figures
    >>> print(figures.regret_bounds(S=25, A=4, H=12, K=10**9).alt)
    What is proved of the regret of SUCBVI, as a share of K H, for S = 25, A = 4, H = 12.
    At K = 10^9: always 0.352, below 1 from K = 1.16e+08 on; few dangerous pairs
    (at most 4,860) 3.28, below 1 from K = 6.1e+09 on.
    """
    if not 10**FIRST <= K <= 10**LAST:
        raise ValueError(f"K is {K}; from 10^{FIRST} to 10^{LAST} it is drawn")
    episodes = np.logspace(FIRST, LAST, 20 * (LAST - FIRST) + 1)
    shares = {
        name: np.array([bound(S, A, H, int(k), delta) / (int(k) * H) for k in episodes])
        for name, (bound, _, _) in BOUNDS.items()
    }
    now = {name: bound(S, A, H, K, delta) / (K * H) for name, (bound, _, _) in BOUNDS.items()}
    few = f"(at most {most_dangerous_pairs(S, A, H, K, delta):,}) "
    said = "; ".join(
        f"{name} {few if i else ''}{now[name]:.3g}, {_informative(episodes, shares[name])}"
        for i, name in enumerate(BOUNDS)
    )
    figure = DescribedFigure(
        *CHART,
        f"What is proved of the regret of SUCBVI, as a share of K H, for S = {S:,}, A = {A}, "
        f"H = {H}. At K = {_power(K)}: {said}.",
    )
    axes = chart(figure, "episodes $K$", "bound / $KH$")
    axes.axhspan(1, HIGHEST, color=GREY, alpha=0.18, linewidth=0, gid="nothing")
    axes.axhline(1, color=INK, linewidth=1.6, gid="trivial")
    axes.axvline(float(K), color=INK, linewidth=1.0, linestyle=(0, (1, 1.5)), gid="K")
    for (name, (_, color, dashes)), marker in zip(BOUNDS.items(), "os", strict=True):
        axes.plot(
            episodes,
            shares[name],
            color=color,
            linestyle=dashes,
            linewidth=2.0,
            label=f"{name}: {now[name]:.3g}",
            gid=name,
        )
        axes.plot([float(K)], [now[name]], marker, color=color, markersize=7, clip_on=True)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(10.0**FIRST, 10.0**LAST)
    axes.set_ylim(LOWEST, HIGHEST)
    legend_above(axes)
    return figure


def _informative(episodes: NDArray[np.float64], share: NDArray[np.float64]) -> str:
    """Say from where on a bound is below what is true anyway."""
    if share[-1] >= 1:
        return "nowhere below 1"
    last = int(np.flatnonzero(share >= 1)[-1])
    between = np.interp(0, -np.log(share[last : last + 2]), np.log(episodes[last : last + 2]))
    return f"below 1 from K = {np.exp(between):.3g} on"


def _power(K: int) -> str:
    exponent = round(math.log10(K))
    return f"10^{exponent}" if 10**exponent == K else f"{K:,}"
