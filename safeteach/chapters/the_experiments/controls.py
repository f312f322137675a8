"""The interactive figure of the chapter on experiments: one learner or all, measure by measure."""

from __future__ import annotations

from collections.abc import Mapping

from numpy.typing import ArrayLike

from safeteach import figures
from safeteach.figures import DescribedFigure
from safeteach.widgets import Choice, Interactive, interactive

__all__ = ["curves"]

ALL = "all, with bands"


def curves(
    episodes: ArrayLike,
    measures: Mapping[str, Mapping[str, ArrayLike]],
    references: Mapping[str, Mapping[str, float]] | None = None,
) -> Interactive:
    """Choose what is measured, and whether to see all learners or every seed of one.

    Parameters
    ----------
    episodes : (N,) array
        After how many episodes each point was taken.
    measures : mapping from str to mappings from str to (R, N) arrays
        For each measure, by its label, the curves of the learners, by their names.
    references : mapping from str to mappings from str to float, optional
        For some of the measures, named horizontal lines.

    Notes
    -----
    Taught in the chapter *The experiments*.

    Examples
    --------
    >>> import safeteach as st
    >>> from safeteach.chapters.the_experiments import controls
    >>> reward = {"quick": [[0, 3, 4], [0, 4, 4]], "slow": [[0, 1, 3], [0, 1, 2]]}
    >>> regret = {"quick": [[0, 2, 2], [0, 1, 1]], "slow": [[0, 9, 12], [0, 9, 11]]}
    >>> widget = controls.curves([0, 10, 20], {"reward": reward, "regret": regret})
    >>> list(widget.controls["learner"].options)
    ['all, with bands', 'quick', 'slow']
    """
    lines = references or {}

    def figure(measure: str, learner: str) -> DescribedFigure:
        shown = measures[measure]
        if learner != ALL:
            shown = {learner: shown[learner]}
        return figures.learning_curves(
            episodes, shown, measure, lines.get(measure), each=learner != ALL
        )

    first, *_ = measures
    return interactive(
        figure,
        measure=Choice("measure", {name: name for name in measures}, start=first),
        learner=Choice("learner", {name: name for name in (ALL, *measures[first])}, start=ALL),
    )
