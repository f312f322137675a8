"""The interactive figure of *The reward-free experiments*: paint a reward, see the plan."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from safeteach import figures
from safeteach.learners import SRFUCRL
from safeteach.mdp import SafeMDP
from safeteach.widgets.interactive import Choice, Interactive, interactive

__all__ = ["paint_reward"]


def paint_reward(
    mdp: SafeMDP,
    learners: Mapping[str, SRFUCRL],
    paintings: Mapping[str, Mapping[str, float]],
) -> Interactive:
    """Choose who has explored and a painted reward: the plan, its value and its violation.

    Parameters
    ----------
    mdp : SafeMDP
        The laboratory.
    learners : mapping from str to learners
        At least two that have explored it, by their names.
    paintings : mapping from str to mappings from str to float
        At least two painted rewards by their names: the reward of a step in each room, in [0, 1],
        by the room's name; 0 in rooms that are not named.

    Notes
    -----
    Nothing is explored anew: each plan comes from what the learner has seen, by ``plan_for``.

    Examples
    --------
    >>> import safeteach as st
    >>> lab = st.instances.laboratory()
    >>> learners = {"SRF-UCRL": st.SRFUCRL(lab.known), "RF-UCRL": st.RFUCRL(lab.known)}
    >>> for learner in learners.values():
    ...     exploration = st.explore(learner, lab, episodes=500)
    >>> paintings = {"shelf": {"shelf": 1}, "vault, shelf": {"vault": 1, "shelf": 0.5}}
    >>> widget = st.widgets.paint_reward(lab, learners, paintings)
    >>> widget.figure(learner="SRF-UCRL", painting="vault, shelf").alt.split(". ")[1]
    'Value 3.39, best safe 3.39, best of all 4.91; expected violation 0.00'
    """
    rooms = {mdp.state_name(s): s for s in range(mdp.S)}
    rewards = {}
    for name, painting in paintings.items():
        rewards[name] = np.zeros(mdp.S)
        for room, reward in painting.items():
            if room not in rooms:
                raise ValueError(f"there is no {room!r}; the rooms are {', '.join(rooms)}")
            rewards[name][rooms[room]] = reward

    def figure(learner: str, painting: str) -> figures.DescribedFigure:
        paint = rewards[painting]
        plan = learners[learner].plan_for(np.repeat(paint[:, None], mdp.A, axis=1))
        return figures.painted(mdp, paint, plan.policy)

    return interactive(
        figure,
        learner=Choice(
            "explored by", {name: name for name in learners}, start=next(iter(learners))
        ),
        painting=Choice("reward", {name: name for name in paintings}, start=next(iter(paintings))),
    )
