"""The floor under the regret of a learner of small violation, and what violation buys back."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from safeteach.classroom.drawing.envelope import envelope
from safeteach.classroom.drawing.tree import tree
from safeteach.figures.chart import CHART, chart, legend_above
from safeteach.figures.described import BLUE, INK, PAPER, VERMILION, DescribedFigure

__all__ = ["envelope", "price_of_safety", "tree"]


EPISODES = np.geomspace(1e3, 1e8, 101)
SHADE = "#e6e3d8"
STYLES = {
    "floor": (INK, "solid", "D"),
    "repaired tree": (BLUE, (0, (5, 2)), "o"),
    "printed tree": (VERMILION, (0, (1, 1.5)), "s"),
}


def price_of_safety(K: int, n: int, alpha: float, depth: int) -> DescribedFigure:
    r"""Draw the regret that cannot be avoided beside the regret that violation may pay for.

    A learner whose violation is at most :math:`T^{1-\alpha}` has regret at least

    .. math:: H'\sqrt{(n-1)K}/32 - p\,T^{1-\alpha}

    on one of the trees of Theorem 5.2, where p is what one unit of violation earns:
    :math:`\Delta' = T^{(\alpha-1)/2}` on the repaired tree, and
    :math:`\Delta' + H/(6(H-1))` on the printed one, where danger can be entered from the root.

    Parameters
    ----------
    K : int
        Episodes, from 1,000 to 100,000,000.
    n : int
        Leaves, from 2 to 500.
    alpha : float
        In (0, 0.75]: how little violation is allowed.
    depth : int
        Layers of branching; H = 3·depth and H' = 2·depth - 1.

    Returns
    -------
    DescribedFigure

    Notes
    -----
    Shaded is where Δ' < 2Δ, with Δ = ¼√((n-1)/K): danger does not pay best there, so the world is
    not one in which safety is what makes it hard.  Taught in the chapter *The regret lower bound*.

    Examples
    --------
    >>> from safeteach.chapters.the_regret_lower_bound import figures
    >>> print(figures.price_of_safety(100_000, n=8, alpha=0.25, depth=3).alt)
    After K = 100,000 episodes on a tree with 8 leaves and H = 9 steps, at a violation of at most
    T^0.75 = 29,220: the floor under the regret is 131; violation buys back 171 on the
    repaired tree, more than the floor, and 5,650 on the printed one, more than the floor.
    In the long run the first loses to the floor, and the second swamps it.
    """
    if not EPISODES[0] <= K <= EPISODES[-1]:
        raise ValueError(f"K is {K}; from {EPISODES[0]:,.0f} to {EPISODES[-1]:,.0f} it is drawn")
    if not 2 <= n <= EPISODES[0] / 2:
        raise ValueError(f"n is {n}; a tree of 2 to {EPISODES[0] / 2:.0f} leaves can be drawn")
    if not 0 < alpha <= 0.75:
        raise ValueError(f"alpha is {alpha}; it must lie in (0, 0.75]")
    if depth < 1:
        raise ValueError(f"depth is {depth}; it must be at least 1")
    figure = DescribedFigure(*CHART, _describe(K, n, alpha, depth))
    axes = chart(figure, "episodes $K$", "regret")
    axes.set_position((0.155, 0.165, 0.8, 0.62))  # its numbers are long
    every = _terms(EPISODES, n, alpha, depth)
    here = _terms(K, n, alpha, depth)
    early = _danger_pays_best_from(n, alpha, depth)
    if early > EPISODES[0]:
        axes.axvspan(
            EPISODES[0], min(early, EPISODES[-1]),
            facecolor=SHADE, linewidth=0, zorder=0, gid="early",
        )  # fmt: skip
    axes.axvline(K, color=INK, linewidth=0.8, linestyle=(0, (4, 3)))
    for name, (color, dashes, mark) in STYLES.items():
        axes.plot(
            EPISODES, every[name],
            color=color, linestyle=dashes, linewidth=2.0, gid=name,
            label=name if name == "floor" else f"bought back, {name.split()[0]}",
        )  # fmt: skip
        axes.plot(
            [K], [here[name]], color=color, marker=mark, markersize=8, markeredgecolor=PAPER,
            gid=f"{name}, here",
        )  # fmt: skip
    axes.set(xscale="log", yscale="log", xlim=(EPISODES[0], EPISODES[-1]), ylim=(1, 1e7))
    axes.minorticks_off()
    legend_above(axes)
    return figure


def _terms(K: ArrayLike, n: int, alpha: float, depth: int) -> dict[str, NDArray[np.float64]]:
    """The floor, and the regret bought back on either tree."""
    K, H, leaf_steps = np.asarray(K, np.float64), 3 * depth, 2 * depth - 1
    T = H * K
    price = T ** ((alpha - 1) / 2)
    return {
        "floor": leaf_steps * np.sqrt((n - 1) * K) / 32,
        "repaired tree": price * T ** (1 - alpha),
        "printed tree": (price + H / (6 * (H - 1))) * T ** (1 - alpha),
    }


def _danger_pays_best_from(n: int, alpha: float, depth: int) -> float:
    """The K from which T^((alpha-1)/2) >= ½ √((n-1)/K)."""
    return float(((n - 1) / 4) ** (1 / alpha) * (3 * depth) ** ((1 - alpha) / alpha))


def _describe(K: int, n: int, alpha: float, depth: int) -> str:
    """Say what is left of the floor at K, and in the long run."""
    floor, repaired, printed = (float(term) for term in _terms(K, n, alpha, depth).values())

    def against(term: float) -> str:
        return f"{'more' if term >= floor else 'less'} than the floor"

    ends = "swamps it" if alpha < 0.5 else "keeps pace with it" if alpha == 0.5 else "loses as well"
    early = ""
    if _danger_pays_best_from(n, alpha, depth) > K:
        early = " At this K danger does not pay best yet: Δ' is less than 2Δ."
    return (
        f"After K = {K:,} episodes on a tree with {n} leaves and H = {3 * depth} steps, at a "
        f"violation of at most T^{1 - alpha:g} = {(3 * depth * K) ** (1 - alpha):,.0f}: the floor "
        f"under the regret is {_shown(floor)}; violation buys back {_shown(repaired)} on the "
        f"repaired tree, {against(repaired)}, and {_shown(printed)} on the printed one, "
        f"{against(printed)}. In the long run the first loses to the floor, and the second "
        f"{ends}.{early}"
    )


def _shown(regret: float) -> str:
    return f"{regret:,.0f}" if regret >= 100 else f"{regret:.3g}"
