"""The interactive figure of the chapter *The problem and RF-UCRL*: what is not known yet."""

from __future__ import annotations

from safeteach.chapters.the_problem_and_rf_ucrl import figures
from safeteach.figures import DescribedFigure
from safeteach.instances import laboratory
from safeteach.learners import RFUCRL
from safeteach.running.exploring import explore
from safeteach.widgets import Interactive, Slider, interactive

__all__ = ["uncertainty"]

EPISODES = (1, 30, 100, 300, 3_000)
STEPS = (1, 4, 8)


def uncertainty(bonus_scale: float = 0.02, seed: int = 0) -> Interactive:
    """Move the number of episodes and the step: RF-UCRL's uncertainty in the laboratory.

    The number in a room is the largest uncertainty of its actions, max_a E_h(s, a), as a share of
    the cap H - h + 1; the arrows are the moves it plans at that step.

    Parameters
    ----------
    bonus_scale : float
        Factor on RF-UCRL's bonus.
    seed : int
        Of the exploration.

    Notes
    -----
    A setting with k episodes is a run of its own, with the same seed; the runs agree as far as
    they go.

    Examples
    --------
    >>> import safeteach as st
    >>> from safeteach.chapters.the_problem_and_rf_ucrl import controls
    >>> widget = controls.uncertainty()
    >>> "Values: room 0 1, room 1 1, " in widget.figure(k=1, h=4).alt
    True
    """
    mdp = laboratory()
    seen = {}

    def figure(k: int, h: int) -> DescribedFigure:
        if k not in seen:
            learner = RFUCRL(mdp.known, bonus_scale=bonus_scale)
            explore(learner, mdp, episodes=k, seed=seed)
            seen[k] = learner.W.max(axis=2) / learner.cap[:, None], learner.policy
        share, policy = seen[k]
        return figures.laboratory(mdp, share[h - 1], policy, h, most=1.0)

    return interactive(
        figure,
        k=Slider("episodes", values=EPISODES, start=100),
        h=Slider("step h", values=STEPS, start=4),
    )
