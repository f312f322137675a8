"""Learning curves: what learners have reached after so many episodes, over several seeds."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike, NDArray

from safeteach.arguments import flag, floats, instance, number, numbers, shown, string
from safeteach.extras import extra
from safeteach.figures.chart import chart, spread
from safeteach.figures.described import (
    BLUE,
    FONT,
    GREY,
    INK,
    LINE,
    ORANGE,
    TEXT,
    VERMILION,
    DescribedFigure,
    text_size,
)

__all__ = ["learning_curves"]

SIZE = (5.7, 3.8)  # inches
LEFT, BOTTOM, TOP = 1.02, 0.56, 0.2  # beside the axes; numbers on the left are long
MARK, GAP, AIR = 0.2, 0.1, 0.06  # inches from the axes to a mark, on to its name, and behind it
NAME = 14  # letters of a name in one line
LINE_OF_TEXT = TEXT * 1.25 / 72  # inches
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
    references: Mapping[str, ArrayLike] | None = None,
    *,
    log: bool = False,
    each: bool = False,
    only: str | None = None,
) -> DescribedFigure:
    """Draw the mean over seeds against episodes, with a 95% t-interval of that mean as a band.

    Each curve has its name at its right end.

    Parameters
    ----------
    episodes : (N,) increasing array
        After how many episodes each point was taken.
    curves : mapping from str to (R, N) arrays
        One to five learners by their names: one row a seed.
    label : str
        What is measured, for the vertical axis.
    references : mapping from str to float or (N,) array, optional
        Named lines, horizontal ones or any.
    log : bool
        Whether the vertical axis is logarithmic; a mean of 0 then has no place on it.
    each : bool
        Whether to draw every seed as a thin line in place of the band.
    only : str, optional
        One of the names: draw this learner alone, as it looks among the others.

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
    lines = _checked_references(k, {} if references is None else references)
    string(label, "label")
    flag(log, "log")
    flag(each, "each")
    styles = dict(zip(runs, STYLES, strict=False))
    if only is not None:
        if string(only, "only") not in runs:
            raise ValueError(f"only is {shown(only)}; the learners are {', '.join(runs)}")
        runs = {only: runs[only]}
    means = {name: y.mean(axis=0) for name, y in runs.items()}
    halves = {name: half_width(y) for name, y in runs.items()}
    figure = DescribedFigure(*SIZE, _describe(k, runs, halves, label, lines, each))
    axes = chart(figure, "episodes", label)
    if log:
        axes.set_yscale("log")
    for name, y in runs.items():
        color, dashes, marker = styles[name]
        mean, half = means[name], halves[name]
        if each:
            for row in y:
                axes.plot(
                    k, _above(row, log), color=color, linewidth=0.8, alpha=0.55, gid=f"{name}/seed"
                )
        else:
            low = mean - half
            if log and (mean > 0).any():
                low = np.maximum(low, mean[mean > 0].min() / 2)
            axes.fill_between(
                k, low, mean + half, (mean > 0) | (not log), color=color, alpha=0.22, linewidth=0
            )
        every = max(1, k.size // MARKERS)
        at = list(styles).index(name) * every // len(STYLES)
        axes.plot(
            k, _above(mean, log), color=color, linestyle=dashes, linewidth=2.0, marker=marker,
            markersize=6, markevery=(at, every), gid=name,
        )  # fmt: skip
    for name, line in lines.items():
        axes.plot(
            k, _above(line, log), color=GREY, linewidth=1.2, zorder=1, gid=f"reference/{name}"
        )
    axes.set_xlim(k[0], k[-1])
    axes.xaxis.set_major_locator(MaxNLocator(TICKS, integer=True))
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.yaxis.set_major_formatter("{x:,g}")
    _write_names(
        axes,
        [End(name, float(means[name][-1]), name, styles[name]) for name in runs]
        + [
            End(name, float(line[-1]), name if np.ptp(line) else f"{name} {line[-1]:.3g}")
            for name, line in lines.items()
        ],
    )
    return figure


@dataclass(frozen=True)
class End:
    """The right end of a curve, or of a reference, which has no style of its own."""

    name: str
    y: float
    said: str
    style: tuple[str, Any, str] | None = None

    @property
    def text(self) -> str:
        """What is written beside it, in short lines."""
        return textwrap.fill(self.said, NAME, break_long_words=False)


def _write_names(axes: Axes, ends: Sequence[End]) -> None:
    """Write beside the axes what each curve is, at its end, or as near to it as there is room."""
    width, height = SIZE[0], SIZE[1] - BOTTOM - TOP
    beside = MARK + GAP + AIR + max(text_size(end.text)[0] for end in ends)
    inches = width - LEFT - beside
    axes.set_position((LEFT / SIZE[0], BOTTOM / SIZE[1], inches / SIZE[0], height / SIZE[1]))
    low, high = axes.get_ylim()
    axes.set_ylim(low, high)
    scale = axes.yaxis.get_transform()
    low, high = scale.transform([low, high])
    at = []
    for end in ends:
        (y,) = scale.transform([end.y]) if end.y > 0 or axes.get_yscale() != "log" else [low]
        at.append(height * min(max((float(y) - low) / (high - low), 0.0), 1.0))
    lines = [end.text.count("\n") + 1 for end in ends]
    places = spread(at, LINE_OF_TEXT, lines, height + TOP - AIR)
    x = 1 + MARK / inches
    for end, y, place in zip(ends, at, places, strict=True):
        foot, head = y / height, place / height
        axes.add_collection(
            LineCollection(
                [[(1.0, foot), (x, head)]], colors=[LINE], linewidths=1.0, clip_on=False,
                transform=axes.transAxes, zorder=1,
            ),
            autolim=False,
        )  # fmt: skip
        if end.style:
            color, _, marker = end.style
            axes.scatter(
                [x], [head], 36, color=color, marker=marker, clip_on=False,
                transform=axes.transAxes, zorder=3,
            )  # fmt: skip
        text = axes.text(x + GAP / inches, head, end.text, transform=axes.transAxes, va="center")
        text.set(fontsize=TEXT, fontfamily=FONT, color=INK if end.style else GREY)
        text.set_gid(f"name/{end.name}")


def _above(y: NDArray[np.float64], log: bool) -> NDArray[np.float64]:
    """What of a curve has a place on the axis."""
    return np.where(y > 0, y, np.nan) if log else y


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


def _checked_references(
    k: NDArray[np.float64], references: Mapping[str, ArrayLike]
) -> dict[str, NDArray[np.float64]]:
    _named(references, "references")
    lines = {}
    for name, value in references.items():
        where = f"references[{name!r}]"
        if isinstance(value, Sequence | np.ndarray) and not isinstance(value, str | bytes):
            line = floats(value, where)
            if line.shape != k.shape or not np.isfinite(line).all():
                raise ValueError(f"{where} must be a number, or {k.size} of them, one a point")
        else:
            line = np.full(k.size, number(value, where), float)
        lines[name] = line
    return lines


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
    references: Mapping[str, NDArray[np.float64]],
    each: bool,
) -> str:
    early = int(np.argmin(np.abs(k - k[-1] / 10))) if k.size > 10 else k.size // 2
    said = []
    for name, y in runs.items():
        end = _number(y[:, -1].mean())
        if each:
            end = f"from {_number(y[:, -1].min())} to {_number(y[:, -1].max())}"
        elif len(y) > 1:
            end = f"{end} ± {_number(halves[name][-1], 2)}"
        said.append(
            f"{name}: {_number(y[:, early].mean())} at episode {k[early]:,.0f}, {end} at the end."
        )
    seeds = sorted({len(y) for y in runs.values()})
    over = f"mean over {' or '.join(map(str, seeds))} seeds"
    how = f"{over} and every seed" if each else f"{over} with its 95% t-interval"
    if seeds == [1]:
        how = "one run each"
    lines = ", ".join(
        f"{name} {line[-1]:.3g}" if np.ptp(line) == 0 else f"{name} {_number(line[-1])} at the end"
        for name, line in references.items()
    )
    return f"Learning curves: {label}, {how}, up to episode {k[-1]:,.0f}. {' '.join(said)}" + (
        f" Reference{'s' * (len(references) > 1)}: {lines}." if references else ""
    )


def _number(x: float, digits: int = 3) -> str:
    """A few digits, and all that stand before the point."""
    return f"{x:,.0f}" if abs(x) >= 100 else f"{x:.{digits}g}"
