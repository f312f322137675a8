"""The interactive figure of the chapter on experiments: one learner or all, measure by measure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from numpy.typing import ArrayLike

from safeteach import figures
from safeteach.figures import DescribedFigure
from safeteach.widgets import Choice, Interactive, interactive

__all__ = ["Measure", "curves"]

ALL = "all five"


@dataclass(frozen=True)
class Measure:
    """What is measured, of whom, and how it is shown.

    Attributes
    ----------
    label
        What is written beside the vertical axis.
    runs : mapping from str to (R, N) arrays
        The curves of each learner, one row a seed.
    references : mapping from str to float or (N,) array
        Named lines.
    log
        Whether the vertical axis is logarithmic, with every seed in place of the bands.
    """

    label: str
    runs: Mapping[str, ArrayLike]
    references: Mapping[str, ArrayLike] = field(default_factory=dict)
    log: bool = False


def curves(episodes: ArrayLike, measures: Mapping[str, Measure]) -> Interactive:
    """Choose what is measured, and whether to see all learners or every seed of one.

    Parameters
    ----------
    episodes : (N,) array
        After how many episodes each point was taken.
    measures : mapping from str to Measure
        By what is shown in the menu; all of the same learners.

    Notes
    -----
    Taught in the chapter *The experiments*.

    Examples
    --------
    >>> import safeteach as st
    >>> from safeteach.chapters.the_experiments import controls
    >>> reward = {"quick": [[0, 3, 4], [0, 4, 4]], "slow": [[0, 1, 3], [0, 1, 2]]}
    >>> measure = controls.Measure("reward", reward)
    >>> widget = controls.curves([0, 10, 20], {"reward": measure, "the same": measure})
    >>> list(widget.controls["learner"].options)
    ['all five', 'quick', 'slow']
    """

    def figure(measure: str, learner: str) -> DescribedFigure:
        shown = measures[measure]
        alone = learner != ALL
        return figures.learning_curves(
            episodes, shown.runs, shown.label, shown.references,
            log=shown.log, each=alone or shown.log, only=learner if alone else None,
        )  # fmt: skip

    first, *_ = measures.values()
    return interactive(
        figure,
        measure=Choice("measure", {name: name for name in measures}, start=next(iter(measures))),
        learner=Choice("learner", {name: name for name in (ALL, *first.runs)}, start=ALL),
    )
