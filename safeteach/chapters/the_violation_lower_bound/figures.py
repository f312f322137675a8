"""The pictures of the chapter *The violation lower bound*.

- Where learners stand between violation and regret, and where no learner can.
- How far the costs of one leaf can tell two worlds apart: two bells, and what they share.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import product

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike, NDArray

from safeteach.bounds import tradeoff
from safeteach.classroom.drawing.envelope import envelope
from safeteach.classroom.drawing.tree import tree
from safeteach.divergence import bretagnolle_huber, kl_gaussian, run_divergence
from safeteach.figures.chart import CHART, chart, legend_above
from safeteach.figures.described import (
    BLUE,
    FONT,
    GREY,
    INK,
    ORANGE,
    PALE_ORANGE,
    PAPER,
    TEXT,
    VERMILION,
    DescribedFigure,
    text_size,
)
from safeteach.figures.learning_curves import GREEN, half_width

__all__ = ["envelope", "frontier", "tree", "two_worlds"]


SIZE = (5.7, 4.9)  # inches
PLACE = (0.115, 0.115, 0.865, 0.725)
STYLES = ((BLUE, "o"), (VERMILION, "s"), (GREEN, "^"), (ORANGE, "v"), (INK, "D"))
ENDS = (-0.03, 1.04)  # of both axes
SAME = 0.045  # points nearer than this have their names in one place
CLEAR = 0.08  # inches from a point to its name
REACHES = (1, 2.5, 5, 8)  # times that far, with a line to it
WAYS = ((1, 1), (1, 0), (-1, 1), (-1, 0), (-1, -1), (1, -1), (0, 1), (0, -1))
MARK = 0.05  # inches from the middle of a point to its edge


def frontier(
    points: Mapping[str, tuple[ArrayLike, ArrayLike]],
    kappa: float,
    families: Mapping[str, Sequence[str]],
) -> DescribedFigure:
    r"""Draw violation on τ_1 against regret on τ_j, with what the trade-off forbids.

    Both are shares of the most that there can be.  Every learner has
    :math:`y \ge \tfrac12 e^{-\kappa x/2} - x` for some j (:func:`safeteach.bounds.tradeoff`).

    Parameters
    ----------
    points : mapping from str to pairs of arrays
        By the learner's name: x in every run on τ_1, and y in every run on τ_j.  A NaN is no run.
    kappa : float
        KH'·gap²/(n-1).
    families : mapping from str to sequences of names
        One to five: how the legend calls them, and who belongs to them.  If all are called by
        the same word and a number they are settings of one dial: they are joined by a line in
        this order, and only the number is written.

    Returns
    -------
    DescribedFigure

    Notes
    -----
    Bars are 95% t-intervals of the mean over runs, cut at 0 and 1.  Names of points in one place
    stand together; one for which there is no room is left out.  Taught in the chapter *The
    violation lower bound*.

    Examples
    --------
    >>> from safeteach.chapters.the_violation_lower_bound import figures
    >>> points = {"leaf 1": ([0, 0], [1, 1]), "coin": ([0.5, 0.5], [0.5, 0.5])}
    >>> print(figures.frontier(points, 4.0, {"fixed": ["leaf 1", "coin"]}).alt)
    Share x of the greatest violation on τ_1 against share y of the greatest regret on the τ_j
    that the proof picks, of 2 learners with 95% intervals, κ = 4. Nobody can be in the shaded
    region below y = ½exp(-κx/2) - x, which ends at (0, 0.5) and at (0.284, 0); nobody is.
    leaf 1 (0, 1); coin (0.5, 0.5). Nearest to that curve: leaf 1, 0.5 above it.
    """
    spots, dials = _checked(points, families), _dials(families)
    figure = DescribedFigure(
        *SIZE, _describe(spots, kappa, [name for name in spots if name not in dials])
    )
    axes = chart(figure, r"violation share $x$ on $\tau_1$", r"regret share $y$ on $\tau_j$")
    axes.set_position(PLACE)
    axes.set(xlim=ENDS, ylim=ENDS, xticks=np.arange(6) / 5, yticks=np.arange(6) / 5)
    x = np.linspace(0, 1, 501)
    least = np.maximum(tradeoff(x, kappa), 0)
    axes.fill_between(
        x, 0, least, where=list(least > 0), facecolor="#e3e1da", edgecolor=GREY, hatch="////",
        linewidth=0, label="forbidden", gid="forbidden",
    )  # fmt: skip
    axes.plot(x[least > 0], least[least > 0], color=INK, linewidth=1.4, gid="edge")
    for (family, names), (color, mark) in zip(families.items(), STYLES, strict=False):
        dial = [spots[name] for name in names if name in dials]
        if dial:
            axes.plot(
                [spot.x for spot in dial], [spot.y for spot in dial],
                color=color, linewidth=1.2, alpha=0.7, zorder=2, gid=f"dial/{family}",
            )  # fmt: skip
        here = [spots[name] for name in names]
        for name, spot in zip(names, here, strict=True):
            axes.errorbar(
                spot.x, spot.y, spot.bars(1), spot.bars(0), color=color,
                elinewidth=0.9, alpha=0.6, gid=f"bars/{name}", zorder=3,
            )  # fmt: skip
        axes.plot(
            [spot.x for spot in here], [spot.y for spot in here], color=color, marker=mark,
            linestyle="none", markersize=7, markeredgecolor=PAPER, label=family,
            gid=f"points/{family}", zorder=4,
        )  # fmt: skip
    _write_names(axes, spots, dials)
    legend_above(axes)
    return figure


class _Spot:
    """The means of one learner and their intervals."""

    def __init__(self, runs: tuple[NDArray[np.float64], NDArray[np.float64]]) -> None:
        self.x, self.y = (float(values.mean()) for values in runs)
        self.half = [float(half_width(values[:, None])[0]) for values in runs]

    def bars(self, axis: int) -> NDArray[np.float64]:
        """How far the interval reaches below and above, (2, 1), within [0, 1]."""
        mean = (self.x, self.y)[axis]
        room = np.clip([[mean], [1 - mean]], 0, 1)
        return np.asarray(np.minimum(room, self.half[axis]))

    def above(self, kappa: float) -> float:
        """How far it is above the edge of what is forbidden."""
        return self.y - float(tradeoff(self.x, kappa))

    def inside(self, kappa: float) -> bool:
        """Whether even the end of its intervals that is farthest out is forbidden."""
        return self.y + self.half[1] < float(tradeoff(self.x + self.half[0], kappa))


def _checked(
    points: Mapping[str, tuple[ArrayLike, ArrayLike]], families: Mapping[str, Sequence[str]]
) -> dict[str, _Spot]:
    if not 1 <= len(families) <= len(STYLES):
        raise ValueError(f"{len(families)} families; one to {len(STYLES)} can be told apart")
    members = [name for names in families.values() for name in names]
    if sorted(members) != sorted(points):
        raise ValueError("every point must be in one family, and every member must be a point")
    spots = {}
    for name in members:
        runs = [np.asarray(values, float) for values in points[name]]
        runs = [values[~np.isnan(values)] for values in runs]
        if len(runs) != 2 or any(values.ndim != 1 or not values.size for values in runs):
            raise ValueError(f"the point {name!r} must have runs on two worlds, x and y")
        if any(((values < -1e-9) | (values > 1 + 1e-9)).any() for values in runs):
            raise ValueError(f"the point {name!r} has a share that is not in [0, 1]")
        spots[name] = _Spot((runs[0], runs[1]))
    return spots


def _dials(families: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """From the names that are settings of a dial to their numbers."""
    numbers: dict[str, str] = {}
    for names in families.values():
        parts = [name.rpartition(" ") for name in names]
        words = {word for word, _, _ in parts}
        if len(words) == 1 and "" not in words:
            with suppress(ValueError):
                numbers |= {
                    name: f"{float(number):g}".replace("-", "\N{MINUS SIGN}")
                    for name, (_, _, number) in zip(names, parts, strict=True)
                }
    return numbers


def _write_names(axes: Axes, spots: Mapping[str, _Spot], dials: Mapping[str, str]) -> None:
    """Write each name beside its point, where it covers no other name and no point."""
    scale = np.array(SIZE) * PLACE[2:] / (ENDS[1] - ENDS[0])  # inches for one unit
    low, high = ENDS[0] * scale + MARK, ENDS[1] * scale
    marks = [np.array([spot.x, spot.y]) * scale for spot in spots.values()]
    taken: list[tuple[NDArray[np.float64], NDArray[np.float64]]] = []
    for at, label, is_name in _labels(spots, dials):
        size = np.array(text_size(label)) + 0.02
        for reach, way in product(REACHES if is_name else REACHES[:1], WAYS):
            middle = at * scale + (CLEAR * reach + size / 2) * way
            middle = np.clip(middle, low + size / 2, high - size / 2)
            corners = middle - size / 2, middle + size / 2
            free = not any(_overlap(corners, other) for other in taken)
            free &= not any(_overlap(corners, (mark - MARK, mark + MARK)) for mark in marks)
            if free:
                taken.append(corners)
                if reach > 1:
                    ends = np.array([at, np.clip(at * scale, *corners) / scale])
                    axes.plot(*ends.T, color=GREY, linewidth=0.7, zorder=2, gid="pointer")
                x, y = middle / scale
                text = axes.text(x, y, label, ha="center", va="center", zorder=6)
                text.set(fontsize=TEXT, fontfamily=FONT, color=INK, linespacing=1.1)
                text.set_path_effects([withStroke(linewidth=3, foreground=PAPER)])
                break


def _labels(
    spots: Mapping[str, _Spot], dials: Mapping[str, str]
) -> list[tuple[NDArray[np.float64], str, bool]]:
    """Where, what, and whether it is a name: names in one place together, then numbers of dials.

    The labels that need most room come first.
    """
    named: list[tuple[NDArray[np.float64], list[str]]] = []
    numbers: list[tuple[NDArray[np.float64], str, bool]] = []
    for name, spot in spots.items():
        at = np.array([spot.x, spot.y])
        if name in dials:
            numbers.append((at, dials[name], False))
            continue
        for other, together in named:
            if np.abs(at - other).max() < SAME:
                together.append(name)
                break
        else:
            named.append((at, [name]))
    named.sort(key=lambda label: -len(label[1]))
    return [(at, "\n".join(together), True) for at, together in named] + numbers


def _overlap(
    one: tuple[NDArray[np.float64], NDArray[np.float64]],
    other: tuple[NDArray[np.float64], NDArray[np.float64]],
) -> bool:
    return bool((one[0] < other[1]).all() and (other[0] < one[1]).all())


def _describe(spots: Mapping[str, _Spot], kappa: float, named: Sequence[str]) -> str:
    zero = np.linspace(0, 0.5, 50_001)
    end = zero[int(np.argmax(tradeoff(zero, kappa) <= 0))]
    nearest = min(spots, key=lambda name: spots[name].above(kappa))
    inside = [name for name, spot in spots.items() if spot.inside(kappa)]
    said = "; ".join(f"{name} ({spots[name].x:.2g}, {spots[name].y:.2g})" for name in named[:6])
    return (
        f"Share x of the greatest violation on τ_1 against share y of the greatest regret on the "
        f"τ_j that the proof picks, of {len(spots)} learners with 95% intervals, κ = {kappa:g}. "
        f"Nobody can be in the shaded region below y = ½exp(-κx/2) - x, which ends at (0, 0.5) "
        f"and at ({end:.3g}, 0); {', '.join(inside) + ' is' if inside else 'nobody is'}. "
        f"{said + '. ' if said else ''}Nearest to that curve: {nearest}, "
        f"{spots[nearest].above(kappa):.2g} above it."
    )


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
    >>> from safeteach.chapters.the_violation_lower_bound import figures
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
