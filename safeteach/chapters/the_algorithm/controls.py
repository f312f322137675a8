"""The interactive figures of *The algorithm*: penalties, the three moves, learners at work."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from safeteach.arguments import instance
from safeteach.chapters.the_algorithm import figures
from safeteach.classroom.playground import playground
from safeteach.figures.described import DescribedFigure
from safeteach.instances import GridMDP
from safeteach.learners import SUCBVI
from safeteach.planning.evaluation import evaluate
from safeteach.running.playing import play
from safeteach.widgets import Choice, Interactive, Slider, interactive
from safeteach.worlds.mdp import SafeMDP

__all__ = ["best_with_penalty", "learners", "penalties", "three_moves"]

LOOK_AT = 3  # the step at which the learners' beliefs are shown: by then they can be on the ice


def best_with_penalty(mdp: SafeMDP, penalty: float) -> NDArray[np.int64]:
    """(H, S): the policy of the largest reward minus a penalty for each step in an unsafe state.

    Examples
    --------
    >>> import safeteach as st
    >>> from safeteach.chapters.the_algorithm.controls import best_with_penalty
    >>> ice = st.instances.ice_corridor()
    >>> plans = [st.evaluate(ice, best_with_penalty(ice, penalty)) for penalty in (0, 1000)]
    >>> [round(plan.unsafe_probability, 3) for plan in plans]
    [0.046, 0.0]
    """
    V, policy = np.zeros(mdp.S), np.empty((mdp.H, mdp.S), np.int64)
    for h in range(mdp.H, 0, -1):
        Q = mdp.r[h - 1] - penalty * mdp.unsafe[:, None] + mdp.P[h - 1] @ V
        V, policy[h - 1] = Q.max(axis=1), Q.argmax(axis=1)
    return policy


def penalties(worlds: Mapping[str, SafeMDP], values: Sequence[float], start: float) -> Interactive:
    """Choose a penalty and a world, and see where a planner goes that knows the world.

    Parameters
    ----------
    worlds : dict of GridMDP
        By what the control calls them.
    values : sequence of float
        The penalties.
    start : float
        One of them.
    """

    def frame(world: str, penalty: float) -> DescribedFigure:
        mdp = worlds[world]
        policy = best_with_penalty(mdp, penalty)
        risk = 100 * evaluate(mdp, policy).unsafe_probability
        headline = f"penalty {penalty:g}: falls in with probability {risk:.1f}%"
        return figures.ways(mdp, figures.expected_moves(mdp, policy), headline)

    return interactive(
        frame,
        world=Choice("ice", {name: name for name in worlds}, start=next(iter(worlds))),
        penalty=Slider("penalty", values=values, start=start),
    )


def three_moves(mdp: SafeMDP, learner: SUCBVI, seed: int, episodes: Sequence[int]) -> Interactive:
    """Step through a run: before each of these episodes, what is flagged, spread and planned.

    Parameters
    ----------
    mdp : GridMDP
    learner : SUCBVI
        A new one, built from ``mdp.known``.
    seed : int
        Of the run, as of :func:`safeteach.run`.
    episodes : sequence of int
        Two or more of 1..K, in their order.

    Examples
    --------
    >>> import safeteach as st
    >>> from safeteach.chapters.the_algorithm import controls
    >>> ice = st.instances.ice_corridor()
    >>> learner = st.SUCBVI(ice.known, episodes=500, bonus_scale=0.01)
    >>> controls.three_moves(ice, learner, 1, [1, 400]).figure(k=1).alt.split(". ")[:3]
    ['Before episode 1', 'Flagged: none', 'Believed to be doomed: none']
    """
    instance(learner, "learner", SUCBVI, "a SUCBVI")
    kept = {
        k + 1: figures.Moment.of(learner, k + 1)
        for k, _ in play(learner, mdp, seed)
        if k + 1 in episodes
    }
    missing = [k for k in episodes if k not in kept]
    if missing:
        raise ValueError(f"the run has {learner.episodes} episodes, none with number {missing[0]}")
    return interactive(
        lambda k: figures.moves(mdp, kept[k], learner.delta),
        k=Slider("before episode", values=episodes, start=episodes[len(episodes) // 2]),
    )


def learners(
    mdp: GridMDP, figure: Callable[[float], DescribedFigure], scale: Choice
) -> Interactive:
    """Choose the bonus of SUCBVI: in the page it learns live, beside UCBVI.

    Parameters
    ----------
    mdp : GridMDP
    figure : function
        What a kernel shows, from the factor on the bonus.
    scale : Choice
        Of that factor.
    """
    return playground(figure, {"pond": mdp}, ["learn"], LOOK_AT, scale=scale)
