"""What the best of many learners pays, beside what every learner must."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.ticker import LogLocator
from numpy.typing import ArrayLike, NDArray

from safeteach.figures.chart import chart, legend_above
from safeteach.figures.described import BLUE, GREY, INK, PAPER, DescribedFigure
from safeteach.figures.learning_curves import half_width

__all__ = ["envelope"]

SIZE = (5.7, 4.3)  # inches


def envelope(
    at: ArrayLike,
    paid: Mapping[str, ArrayLike],
    floor: ArrayLike,
    x: str,
    y: str,
) -> DescribedFigure:
    """Draw the least that any of the learners pays on average, and the lower bound.

    Parameters
    ----------
    at : (N,) increasing array
        Where it was measured: episodes, or states.
    paid : mapping from str to (R, N) arrays
        What each learner paid in each run, above 0 on average.  NaN where there is no run; a
        column of NaN where the learner is not one that the bound speaks of.
    floor : (N,) array
        The lower bound, above 0.
    x, y : str
        What ``at`` and ``paid`` are, for the axes.

    Returns
    -------
    DescribedFigure

    Notes
    -----
    Both axes are logarithmic.  Bars are 95% t-intervals of the mean of the learner that is
    lowest there; the lowest of several means lies a little low, which is unfavourable to the
    bound.  Taught in the chapters *The violation lower bound* and *The regret lower bound*.

    Examples
    --------
    >>> from safeteach.classroom.drawing.envelope import envelope
    >>> paid = {"bold": [[4, 8], [6, 8]], "shy": [[3, 9], [3, 9]]}
    >>> print(envelope([10, 40], paid, [2, 4], "episodes", "violation").alt)
    The least of violation among 2 learners against episodes from 10 to 40, with 95% intervals,
    and its lower bound: 3 ± 0 (shy) against 2 at 10; 8 ± 0 (bold) against 4 at 40.
    The envelope is 1.5 to 2 times the bound. Slope on logarithmic axes 0.71 ± 0, of the bound 0.5.
    """
    where, runs, least = _checked(at, paid, floor)
    means = {name: np.array([_mean(v) for v in values.T]) for name, values in runs.items()}
    lowest = _lowest(means)
    mean = np.array([means[name][i] for i, name in enumerate(lowest)])
    half = np.array([_half(runs[name][:, i]) for i, name in enumerate(lowest)])
    figure = DescribedFigure(*SIZE, _describe(where, lowest, mean, half, least, x, y, len(runs)))
    axes = chart(figure, x, y)
    axes.set_position((0.185, 0.135, 0.755, 0.7))  # numbers on the left are long
    axes.set(xscale="log", yscale="log")
    bottom = least.min() / 2
    axes.fill_between(
        where, bottom, least, facecolor="#e3e1da", edgecolor=GREY, hatch="////", linewidth=0,
        label="below the bound", gid="forbidden",
    )  # fmt: skip
    axes.plot(where, least, color=INK, linewidth=1.4, gid="floor")
    for i, (name, values) in enumerate(means.items()):
        axes.plot(
            where, values, color=GREY, linewidth=0.8, alpha=0.8, marker=".", markersize=5,
            label="each learner" if i == 0 else None, gid=f"learner/{name}",
        )  # fmt: skip
    axes.errorbar(
        where, mean, np.array([np.minimum(half, 0.999 * mean), half]), color=BLUE, linewidth=2.0,
        elinewidth=1.4, capsize=3, marker="o", markersize=7, markeredgecolor=PAPER,
        label="the lowest", gid="lowest",
    )  # fmt: skip
    axes.set_xlim(where[0] * 0.94, where[-1] * 1.06)
    axes.set_ylim(bottom=bottom)
    axes.set_xticks(where, minor=False)
    axes.minorticks_off()
    axes.xaxis.set_major_formatter("{x:,g}")
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter("{x:,g}")
    legend_above(axes)
    return figure


def slope(at: ArrayLike, mean: ArrayLike, half: ArrayLike) -> tuple[float, float]:
    """The least-squares slope of log mean against log ``at``, and half of its 95% interval.

    The interval takes the means as independent with these half widths, and a small relative
    error of the mean as an error of the logarithm.

    Examples
    --------
    >>> slope([1, 10, 100], [2, 20, 200], [0, 0, 0])
    (1.0, 0.0)
    """
    u = np.log(np.asarray(at, float))
    weight = (u - u.mean()) / np.sum((u - u.mean()) ** 2)
    mean, half = np.asarray(mean, float), np.asarray(half, float)
    value = float(weight @ np.log(mean))
    return round(value, 12), float(np.sqrt(np.sum((weight * half / mean) ** 2)))


def _mean(values: NDArray[np.float64]) -> float:
    there = values[~np.isnan(values)]
    return float(there.mean()) if there.size else np.nan


def _half(values: NDArray[np.float64]) -> float:
    return float(half_width(values[~np.isnan(values)][:, None])[0])


def _lowest(means: Mapping[str, NDArray[np.float64]]) -> list[str]:
    table = np.array(list(means.values()))
    return [list(means)[int(np.nanargmin(column))] for column in table.T]


def _checked(
    at: ArrayLike, paid: Mapping[str, ArrayLike], floor: ArrayLike
) -> tuple[NDArray[np.float64], dict[str, NDArray[np.float64]], NDArray[np.float64]]:
    where, least = np.asarray(at, float), np.asarray(floor, float)
    if where.ndim != 1 or where.size < 2 or not (np.diff(where) > 0).all() or where[0] <= 0:
        raise ValueError("at must be at least two increasing numbers above 0")
    if least.shape != where.shape or not (least > 0).all():
        raise ValueError(f"floor must be {where.size} numbers above 0")
    runs = {name: np.asarray(values, float) for name, values in paid.items()}
    for name, values in runs.items():
        if values.ndim != 2 or values.shape[1] != where.size:
            raise ValueError(
                f"{name!r} has shape {values.shape}; expected (runs, {where.size}), a row a run"
            )
        if any(_mean(column) <= 0 for column in values.T):
            raise ValueError(f"{name!r} paid nothing on average, which has no logarithm")
    if not runs or np.isnan(np.concatenate(list(runs.values()))).all(axis=0).any():
        raise ValueError("somewhere there is no run of any learner")
    return where, runs, least


def _describe(
    where: NDArray[np.float64],
    lowest: list[str],
    mean: NDArray[np.float64],
    half: NDArray[np.float64],
    least: NDArray[np.float64],
    x: str,
    y: str,
    learners: int,
) -> str:
    ends = "; ".join(
        f"{_number(mean[i])} ± {half[i]:.2g} ({lowest[i]}) against {_number(least[i])} "
        f"at {where[i]:,g}"
        for i in (0, -1)
    )
    times = mean / least
    rise, error = slope(where, mean, half)
    return (
        f"The least of {y} among {learners} learners against {x} from {where[0]:,g} to "
        f"{where[-1]:,g}, with 95% intervals, and its lower bound: {ends}. The envelope is "
        f"{times.min():.2g} to {times.max():.2g} times the bound. Slope on logarithmic axes "
        f"{rise:.2g} ± {error:.1g}, of the bound {slope(where, least, 0 * least)[0]:.2g}."
    )


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
