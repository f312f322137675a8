"""The interactive figure of the chapter *What the constants really do*: curves over bonus_scale."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safeteach import figures
from safeteach.figures import DescribedFigure
from safeteach.widgets import Choice, Interactive, Slider, interactive

__all__ = ["bonus"]

LEARNERS = ("SUCBVI", "UCBVI")
WINDOW = 5  # points of a stored curve that a reward is averaged over


def bonus(study: Mapping[str, Any]) -> Interactive:
    """Move the factor on the exploration bonus: reward and violation of SUCBVI and UCBVI.

    SUCBVI with the theorem's own bonus, the factor 1, stays in the picture.

    Parameters
    ----------
    study : mapping
        The stored study ``book/data/bonus.npz``, as ``numpy.load`` reads it: learners named
        "SUCBVI 0.01" and so on in ``names``, ``episodes``, and sums so far of ``reward`` and
        ``violation``; ``about`` tells the optima.

    Notes
    -----
    The bonus is the α of :func:`safeteach.bounds.alpha`.  The width β is the same at every stop.

    Examples
    --------
    >>> import json
    >>> import numpy as np
    >>> import safeteach as st
    >>> from safeteach.chapters.what_the_constants_really_do import controls
    >>> study = {
    ...     "names": np.array(["SUCBVI 1", "SUCBVI 0", "UCBVI 1", "UCBVI 0"]),
    ...     "episodes": np.array([0, 10, 20]),
    ...     "reward": np.array([[[0, 5, 10]], [[0, 20, 60]], [[0, 5, 10]], [[0, 40, 90]]]),
    ...     "violation": np.array([[[0, 2, 2]], [[0, 1, 1]], [[0, 5, 10]], [[0, 6, 12]]]),
    ...     "about": np.array(json.dumps({"optima": {"safe": 4.0}})),
    ... }
    >>> controls.bonus(study).figure(scale=0.0, shown="reward").alt.split(". ")[1]
    'SUCBVI, scale 0: 3 at episode 20, 3 at the end'
    """
    stored = {name: np.asarray(study[name]) for name in ("episodes", "reward", "violation")}
    names = [str(name) for name in study["names"]]
    scales = sorted({float(name.split()[1]) for name in names})
    optima = json.loads(str(study["about"]))["optima"]

    def figure(scale: float, shown: str) -> DescribedFigure:
        rows = {f"{name}, scale {scale:g}": f"{name} {scale:g}" for name in LEARNERS}
        rows["SUCBVI, theorem's bonus"] = "SUCBVI 1"
        sums = {name: stored[shown][names.index(row)] for name, row in rows.items()}
        if shown == "violation":
            return figures.learning_curves(stored["episodes"], sums, "violation so far", log=True)
        rates = {name: _rates(stored["episodes"], total) for name, total in sums.items()}
        return figures.learning_curves(stored["episodes"][1:], rates, "reward an episode", optima)

    return interactive(
        figure,
        scale=Slider("bonus_scale", values=scales, start=scales[(len(scales) - 1) // 2]),
        shown=Choice(
            "shown",
            {"reward an episode": "reward", "violation so far": "violation"},
            start="reward",
        ),
    )


def _rates(episodes: NDArray[Any], total: NDArray[Any]) -> NDArray[np.float64]:
    """(R, N - 1) averages an episode, over up to ``WINDOW`` points back, from (R, N) sums."""
    last = np.arange(1, len(episodes))
    first = np.maximum(last - WINDOW, 0)
    return np.asarray((total[:, last] - total[:, first]) / (episodes[last] - episodes[first]))
