"""Learners against adversaries: one small chart for each adversary, all on the same scale."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike, NDArray

from safeteach.classroom.drawing.board import board
from safeteach.figures.described import FONT, GREY, INK, PAPER, TEXT, DescribedFigure
from safeteach.figures.learning_curves import STYLES, half_width

__all__ = ["board", "duels"]


WIDTH, PANEL, HEAD, FOOT = 5.7, 2.05, 0.16, 0.62  # inches
MARKERS = 4  # along a curve


def duels(
    episodes: ArrayLike,
    curves: Mapping[str, Mapping[str, ArrayLike]],
    label: str,
    references: Mapping[str, Mapping[str, float]] | None = None,
) -> DescribedFigure:
    """Draw, for each adversary, the mean over seeds of each learner with its 95% t-interval.

    Parameters
    ----------
    episodes : (N,) increasing array
        After how many episodes each point was taken.
    curves : mapping from an adversary to a mapping from a learner to (R, N) arrays
        One row a seed; at most six adversaries, the same learners against each.
    label : str
        What is measured.
    references : mapping from an adversary to a mapping from str to float, optional
        Named horizontal lines.

    Returns
    -------
    DescribedFigure

    Notes
    -----
    Taught in the chapter *Learning to play safely*.

    Examples
    --------
    >>> import safeteach as st
    >>> from safeteach.chapters.learning_to_play_safely import figures
    >>> curves = {"mild": {"A": [[0, 1, 1]], "B": [[0, 2, 4]]},
    ...           "fierce": {"A": [[0, 3, 3]], "B": [[0, 5, 9]]}}
    >>> print(figures.duels([0, 5, 10], curves, "violation so far").alt)
    One chart for each adversary: violation so far, mean over 1 seed, at episode 5 and at the end,
    episode 10. Against mild: A 1, 1; B 2, 4. Against fierce: A 3, 3; B 5, 9.
    """
    k, runs = _checked(episodes, curves)
    lines = {name: dict((references or {}).get(name, {})) for name in runs}
    rows = math.ceil(len(runs) / 2)
    height = HEAD + rows * PANEL + FOOT
    figure = DescribedFigure(WIDTH, height, _describe(k, runs, label, lines))
    drawn = [y for one in runs.values() for y in one.values()]
    marked = [value for one in lines.values() for value in one.values()]
    top = max(0.0, *marked, *(float((y.mean(axis=0) + half_width(y)).max()) for y in drawn))
    low = min(0.0, *marked, *(float((y.mean(axis=0) - half_width(y)).min()) for y in drawn))
    for i, (name, learners) in enumerate(runs.items()):
        row, column = divmod(i, 2)
        box = (
            (0.68 + 2.55 * column) / WIDTH,
            (FOOT + (rows - 1 - row) * PANEL) / height,
            2.1 / WIDTH,
            (PANEL - 0.42) / height,
        )
        axes = figure.add_axes(box, facecolor=PAPER, gid=f"panel/{name}")
        _draw(axes, k, learners, lines[name])
        axes.set(xlim=(k[0], k[-1]), ylim=(low - 0.04 * (top - low), top + 0.12 * (top - low)))
        axes.set_title(name, fontsize=TEXT, fontfamily=FONT, color=INK, loc="left", pad=4)
        if column:
            axes.tick_params(labelleft=False)
        if i < len(runs) - 2:
            axes.tick_params(labelbottom=False)
    words = figure.text(0.54, 0.1 / height, f"episodes; up: {label}", ha="center", va="bottom")
    words.set(fontsize=TEXT, fontfamily=FONT, color=INK)
    first = figure.axes[0]
    figure.legend(
        *first.get_legend_handles_labels(), loc="upper center", ncols=2, frameon=False,
        prop={"family": FONT, "size": TEXT}, handlelength=2.2,
    )  # fmt: skip
    return figure


def _draw(
    axes: Axes,
    k: NDArray[np.float64],
    learners: Mapping[str, NDArray[np.float64]],
    lines: Mapping[str, float],
) -> None:
    for i, ((name, y), (color, dashes, marker)) in enumerate(
        zip(learners.items(), STYLES, strict=False)
    ):
        mean, half = y.mean(axis=0), half_width(y)
        axes.fill_between(k, mean - half, mean + half, color=color, alpha=0.22, linewidth=0)
        every = max(1, k.size // MARKERS)
        axes.plot(
            k, mean, color=color, linestyle=dashes, linewidth=1.8, marker=marker, markersize=5,
            markevery=(i * every // 2, every), label=name, gid=name,
        )  # fmt: skip
    for name, value in lines.items():
        axes.axhline(value, color=GREY, linewidth=1.2, zorder=1, gid=f"reference/{name}")
        text = axes.annotate(
            f"{name} {_number(value)}", (1, value), (-2, -3), xycoords=("axes fraction", "data"),
            textcoords="offset points", ha="right", va="top",
        )  # fmt: skip
        text.set(fontsize=TEXT, fontfamily=FONT, color=INK, zorder=6)
        text.set_path_effects([withStroke(linewidth=3, foreground=PAPER)])
    axes.tick_params(labelsize=TEXT, colors=INK)
    axes.xaxis.set_major_locator(MaxNLocator(2, integer=True))
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.yaxis.set_major_locator(MaxNLocator(4))
    axes.yaxis.set_major_formatter("{x:,g}")
    axes.spines[["top", "right"]].set_visible(False)


def _checked(
    episodes: ArrayLike, curves: Mapping[str, Mapping[str, ArrayLike]]
) -> tuple[NDArray[np.float64], dict[str, dict[str, NDArray[np.float64]]]]:
    k = np.asarray(episodes, float)
    if k.ndim != 1 or k.size < 2 or not (np.diff(k) > 0).all():
        raise ValueError("episodes must be at least two increasing numbers")
    if not 2 <= len(curves) <= 6:
        raise ValueError(f"{len(curves)} adversaries; two to six have room")
    runs = {a: {n: np.asarray(y, float) for n, y in one.items()} for a, one in curves.items()}
    names = list(next(iter(runs.values())))
    if not 1 <= len(names) <= 2:
        raise ValueError(f"{len(names)} learners; one or two have room")
    for adversary, one in runs.items():
        if list(one) != names:
            raise ValueError(f"against {adversary!r} the learners are {list(one)}, not {names}")
        for name, y in one.items():
            if y.ndim != 2 or not len(y) or y.shape[1] != k.size or not np.isfinite(y).all():
                raise ValueError(
                    f"the curve of {name!r} against {adversary!r} has shape {y.shape}; expected "
                    f"finite numbers, (seeds, {k.size})"
                )
    return k, runs


def _describe(
    k: NDArray[np.float64],
    runs: Mapping[str, Mapping[str, NDArray[np.float64]]],
    label: str,
    lines: Mapping[str, Mapping[str, float]],
) -> str:
    early = int(np.argmin(np.abs(k - k[-1] / 8))) if k.size > 8 else k.size // 2
    said = []
    for adversary, one in runs.items():
        means = {name: y.mean(axis=0) for name, y in one.items()}
        words = [f"{name} {_number(y[early])}, {_number(y[-1])}" for name, y in means.items()]
        said.append(f"Against {adversary}: {'; '.join(words)}.")
    drawn = {name: value for one in lines.values() for name, value in one.items()}
    if drawn:
        named = ", ".join(f"{name} {_number(value)}" for name, value in drawn.items())
        said.append(f"Reference{'s' * (len(drawn) > 1)}: {named}.")
    seeds = sorted({len(y) for one in runs.values() for y in one.values()})
    over = f"{' or '.join(map(str, seeds))} seed{'s' * (seeds != [1])}"
    return (
        f"One chart for each adversary: {label}, mean over {over}, at episode {k[early]:,.0f} and "
        f"at the end, episode {k[-1]:,.0f}. {' '.join(said)}"
    )


def _number(x: float) -> str:
    """Three digits, and all that stand before the point."""
    return f"{x:,.0f}" if abs(x) >= 100 else f"{x:.3g}"
