"""The interactive figure of *The reward-free experiments*: paint a reward, see the plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import ipywidgets
import numpy as np
from numpy.typing import NDArray

from safeteach.chapters.the_reward_free_experiments import figures
from safeteach.figures import DescribedFigure
from safeteach.learners import SRFUCRL
from safeteach.widgets import Choice, Interactive, Slider, interactive
from safeteach.worlds.mdp import SafeMDP

__all__ = ["paint_reward"]


BRUSHES = (0, 0.25, 0.5, 0.75, 1)  # the rewards that a room can be painted with


@dataclass(frozen=True)
class _Easel(Interactive):
    """In the page one picks a painting; with a kernel every room has a slider of its own."""

    mdp: SafeMDP
    learners: Mapping[str, SRFUCRL]
    start: NDArray[np.float64]

    def live(self) -> ipywidgets.VBox:
        """The version for a kernel: who explored, and a slider for each room."""
        controls: dict[str, Any] = {"learner": self.controls["learner"]}
        for s, reward in enumerate(self.start):
            controls[f"room {s}"] = Slider(self.mdp.state_name(s), BRUSHES, start=float(reward))

        def draw(learner: str, **rooms: float) -> DescribedFigure:
            return _draw(self.mdp, self.learners[learner], np.array(list(rooms.values())))

        who, *rooms, shown = Interactive(draw, controls, self.first, None).live().children
        wrapped = ipywidgets.HBox(rooms, layout={"flex_flow": "row wrap"})
        return ipywidgets.VBox([who, wrapped, shown])


def paint_reward(
    mdp: SafeMDP,
    learners: Mapping[str, SRFUCRL],
    paintings: Mapping[str, Mapping[str, float]],
) -> Interactive:
    """Choose who has explored and paint a reward: the plan, its value and its violation.

    In the page one of the paintings is chosen; with a kernel every room has a slider, which starts
    at the first painting.

    Parameters
    ----------
    mdp : SafeMDP
        The laboratory.
    learners : mapping from str to learners
        At least two that have explored it, by their names.
    paintings : mapping from str to mappings from str to float
        At least two painted rewards by their names: the reward of a step in each room, in [0, 1],
        by the room's name; 0 in rooms that are not named.  The first one uses multiples of ¼.

    Notes
    -----
    Nothing is explored anew: each plan comes from what the learner has seen, by ``plan_for``.

    Examples
    --------
    >>> import safeteach as st
    >>> from safeteach.chapters.the_reward_free_experiments import controls
    >>> lab = st.instances.laboratory()
    >>> learners = {"SRF-UCRL": st.SRFUCRL(lab.known), "RF-UCRL": st.RFUCRL(lab.known)}
    >>> for learner in learners.values():
    ...     exploration = st.explore(learner, lab, episodes=500)
    >>> paintings = {"shelf": {"shelf": 1}, "vault, shelf": {"vault": 1, "shelf": 0.5}}
    >>> widget = controls.paint_reward(lab, learners, paintings)
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

    def figure(learner: str, painting: str) -> DescribedFigure:
        return _draw(mdp, learners[learner], rewards[painting])

    made = interactive(
        figure,
        learner=Choice(
            "explored by", {name: name for name in learners}, start=next(iter(learners))
        ),
        painting=Choice("reward", {name: name for name in paintings}, start=next(iter(paintings))),
    )
    start = next(iter(rewards.values()))
    return _Easel(made.figure, made.controls, made.first, made.page, mdp, learners, start)


def _draw(
    mdp: SafeMDP, learner: SRFUCRL, paint: NDArray[np.float64]
) -> DescribedFigure:
    plan = learner.plan_for(np.repeat(paint[:, None], mdp.A, axis=1))
    return figures.painted(mdp, paint, plan.policy)
