"""Running averages: how slowly dice find out what a policy is worth."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from safeteach.figures.described import BLUE, INK, VERMILION, WIDEST, DescribedFigure
from safeteach.figures.steps import _axes, _legend

__all__ = ["averages"]

STYLES = ((BLUE, "solid"), (VERMILION, (0, (5, 2))), (INK, (0, (1, 1.5))))


def averages(samples: Mapping[str, ArrayLike]) -> DescribedFigure:
    """Draw the average of the first n numbers of each sample against n.

    Parameters
    ----------
    samples : mapping from str to (N,) arrays
        One to three samples by their names, such as what policies earned in each episode.

    Returns
    -------
    DescribedFigure

    Notes
    -----
    Taught in the chapter *MDPs you can run*.

    Examples
    --------
    >>> from safeteach import figures
    >>> print(figures.averages({"coin": [1, 0, 0, 1]}).alt)
    Running averages over 4 episodes. coin: 1 after 1, 0.5 after 4.
    """
    if not 1 <= len(samples) <= len(STYLES):
        raise ValueError(f"{len(samples)} samples; one to {len(STYLES)} can be told apart")
    running = {name: _running(name, sample) for name, sample in samples.items()}
    figure = DescribedFigure(WIDEST, 3.2, _describe(running))
    axes = _axes(figure, "episodes $n$", "average of the first $n$")
    for (name, mean), (color, dashes) in zip(running.items(), STYLES, strict=False):
        n = np.arange(1, mean.size + 1)
        axes.plot(n, mean, color=color, linewidth=2.0, linestyle=dashes, label=name, gid=name)
    axes.set_xlim(0, max(mean.size for mean in running.values()) + 1)
    _legend(axes)
    return figure


def _running(name: str, sample: ArrayLike) -> NDArray[np.float64]:
    x = np.asarray(sample, float)
    if x.ndim != 1 or not x.size:
        raise ValueError(f"the sample {name!r} has shape {x.shape}; expected (N,)")
    return x.cumsum() / np.arange(1, x.size + 1)


def _describe(running: Mapping[str, NDArray[np.float64]]) -> str:
    longest = max(mean.size for mean in running.values())
    said = []
    for name, mean in running.items():
        stops = sorted({1, max(1, mean.size // 10), mean.size})
        after = ", ".join(f"{mean[n - 1]:.3g} after {n}" for n in stops)
        said.append(f"{name}: {after}.")
    return f"Running averages over {longest} episodes. {' '.join(said)}"
