"""Learning curves: what learners have reached after so many episodes, over several seeds."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.patheffects import withStroke
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike, NDArray

from safeteach.arguments import flag, floats, instance, number, numbers, string
from safeteach.extras import extra
from safeteach.figures.chart import chart, legend_above
from safeteach.figures.described import (
    BLUE,
    FONT,
    GREY,
    INK,
    ORANGE,
    PAPER,
    TEXT,
    VERMILION,
    DescribedFigure,
)

__all__ = ["learning_curves"]

SIZE = (5.7, 4.1)  # inches, with room for three lines of legend
GREEN = "#009e73"
STYLES = (  # colour, dashes, marker
    (BLUE, "solid", "o"),
    (VERMILION, (0, (5, 2)), "s"),
    (GREEN, (0, (7, 2, 1.5, 2)), "^"),
    (INK, (0, (1, 1.5)), "D"),
    (ORANGE, (0, (3, 1)), "v"),
)
MARKERS = 8  # along a curve
TICKS = 5  # numbers of episodes are long
LEVEL = 0.95


def learning_curves(
    episodes: ArrayLike,
    curves: Mapping[str, ArrayLike],
    label: str,
    references: Mapping[str, float] | None = None,
    *,
    log: bool = False,
    each: bool = False,
) -> DescribedFigure:
    """Draw the mean over seeds against episodes, with a 95% t-interval of that mean as a band.

    Parameters
    ----------
    episodes : (N,) increasing array
        After how many episodes each point was taken.
    curves : mapping from str to (R, N) arrays
        One to five learners by their names: one row a seed.
    label : str
        What is measured, for the vertical axis.
    references : mapping from str to float, optional
        Named horizontal lines.
    log : bool
        Whether the vertical axis is logarithmic; a mean of 0 then has no place on it.
    each : bool
        Whether to draw every seed as a thin line in place of the band.

    Returns
    -------
    DescribedFigure

    Notes
    -----
    The interval is for the mean of all seeds that there could be, and takes the means of seeds
    as roughly normal; it does not say where a single run lies, which ``each`` shows.  Taught in
    the chapter *The experiments*.

    Examples
    --------
    >>> from safeteach import figures
    >>> curves = {"quick": [[0, 3, 4], [0, 4, 4]], "slow": [[0, 1, 3], [0, 1, 2]]}
    >>> print(figures.learning_curves([0, 10, 20], curves, "reward", {"best": 4.5}).alt)
    Learning curves: reward, mean over 2 seeds with its 95% t-interval, up to episode 20.
    quick: 3.5 at episode 10, 4 ± 0 at the end. slow: 1 at episode 10, 2.5 ± 6.4 at the end.
    Reference: best 4.5.
    """
    k, runs = _checked(episodes, curves)
    references = {} if references is None else references
    _named(references, "references")
    references = {
        name: number(value, f"references[{name!r}]") for name, value in references.items()
    }
    string(label, "label")
    flag(log, "log")
    flag(each, "each")
    means = {name: y.mean(axis=0) for name, y in runs.items()}
    halves = {name: half_width(y) for name, y in runs.items()}
    figure = DescribedFigure(*SIZE, _describe(k, runs, halves, label, references, each))
    axes = chart(figure, "episodes", label)
    axes.set_position((0.185, 0.14, 0.755, 0.625))  # numbers on the left are long
    if log:
        axes.set_yscale("log")
    for i, ((name, y), (color, dashes, marker)) in enumerate(
        zip(runs.items(), STYLES, strict=False)
    ):
        mean, half = means[name], halves[name]
        shown = np.where(mean > 0, mean, np.nan) if log else mean
        if each:
            for row in y:
                thin = np.where(row > 0, row, np.nan) if log else row
                axes.plot(k, thin, color=color, linewidth=0.8, alpha=0.55, gid=f"{name}/seed")
        else:
            low = mean - half
            if log and (mean > 0).any():
                low = np.maximum(low, mean[mean > 0].min() / 2)
            axes.fill_between(
                k, low, mean + half, (mean > 0) | (not log), color=color, alpha=0.22, linewidth=0
            )
        every = max(1, k.size // MARKERS)
        axes.plot(
            k, shown, color=color, linestyle=dashes, linewidth=2.0, marker=marker, markersize=6,
            markevery=(i * every // len(STYLES), every), label=name, gid=name,
        )  # fmt: skip
    for name, value in references.items():
        axes.axhline(value, color=GREY, linewidth=1.2, zorder=1, gid=f"reference/{name}")
        text = axes.annotate(
            f"{name} {value:.2f}", (1, value), (-3, 3), xycoords=("axes fraction", "data"),
            textcoords="offset points", ha="right",
        )  # fmt: skip
        text.set(fontsize=TEXT, fontfamily=FONT, color=INK, zorder=6)
        text.set_path_effects([withStroke(linewidth=3.5, foreground=PAPER)])
    axes.set_xlim(k[0], k[-1])
    axes.xaxis.set_major_locator(MaxNLocator(TICKS, integer=True))
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.yaxis.set_major_formatter("{x:,g}")
    legend_above(axes)
    return figure


def half_width(y: NDArray[np.float64]) -> NDArray[np.float64]:
    """Half of the t-interval of each column's mean; nothing is said of a single row.

    Examples
    --------
    >>> half_width(np.array([[1.0, 5.0], [2.0, 5.0], [3.0, 5.0]])).round(2).tolist()
    [2.48, 0.0]
    """
    with extra("figures"):
        from scipy.special import stdtrit  # Student's quantile

    R = len(y)
    if R == 1:
        return np.zeros(y.shape[1])
    quantile = float(stdtrit(R - 1, (1 + LEVEL) / 2))
    return quantile * y.std(axis=0, ddof=1) / np.sqrt(R)


def _named(values: object, argument: str) -> None:
    """Refuse what is no mapping from strings."""
    for name in instance(values, argument, Mapping, "a mapping from names"):
        string(name, f"a name in {argument}")


def _checked(
    episodes: ArrayLike, curves: Mapping[str, ArrayLike]
) -> tuple[NDArray[np.float64], dict[str, NDArray[np.float64]]]:
    k = numbers(episodes, "episodes")
    if k.ndim != 1 or k.size < 2 or not (np.diff(k) > 0).all():
        raise ValueError("episodes must be at least two increasing numbers")
    _named(curves, "curves")
    if not 1 <= len(curves) <= len(STYLES):
        raise ValueError(f"{len(curves)} curves; one to {len(STYLES)} can be told apart")
    runs = {name: floats(y, f"curves[{name!r}]") for name, y in curves.items()}
    for name, y in runs.items():
        if y.ndim != 2 or not len(y) or y.shape[1] != k.size:
            raise ValueError(
                f"the curve {name!r} has shape {y.shape}; expected (seeds, {k.size}), a row a seed"
            )
        if not np.isfinite(y).all():
            raise ValueError(f"the curve {name!r} holds a number that is not finite")
    return k, runs


def _describe(
    k: NDArray[np.float64],
    runs: Mapping[str, NDArray[np.float64]],
    halves: Mapping[str, NDArray[np.float64]],
    label: str,
    references: Mapping[str, float],
    each: bool,
) -> str:
    early = int(np.argmin(np.abs(k - k[-1] / 10))) if k.size > 10 else k.size // 2
    said = []
    for name, y in runs.items():
        end = f"{_number(y[:, -1].mean())} ± {_number(halves[name][-1], 2)}"
        if each:
            end = f"from {_number(y[:, -1].min())} to {_number(y[:, -1].max())}"
        said.append(
            f"{name}: {_number(y[:, early].mean())} at episode {k[early]:,.0f}, {end} at the end."
        )
    seeds = sorted({len(y) for y in runs.values()})
    over = f"{' or '.join(map(str, seeds))} seed{'s' * (seeds != [1])}"
    how = (
        f"mean over {over} and every seed" if each else f"mean over {over} with its 95% t-interval"
    )
    lines = ", ".join(f"{name} {value:.3g}" for name, value in references.items())
    return f"Learning curves: {label}, {how}, up to episode {k[-1]:,.0f}. {' '.join(said)}" + (
        f" Reference{'s' * (len(references) > 1)}: {lines}." if references else ""
    )


def _number(x: float, digits: int = 3) -> str:
    """A few digits, and all that stand before the point."""
    return f"{x:,.0f}" if abs(x) >= 100 else f"{x:.{digits}g}"
