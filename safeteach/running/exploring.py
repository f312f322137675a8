r"""Explore without a reward, and plan for any reward afterwards.

:func:`explore` lets a reward-free learner live through episodes until its uncertainty is at most
:math:`\varepsilon/2`, or for a given number of them.  Then ``learner.plan_for(r)`` plans for any
reward, any number of times.

Taught in the chapters *The problem and RF-UCRL* and *SRF-UCRL*.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from safeteach.arguments import instance, whole
from safeteach.learners.srf_ucrl import SRFUCRL, read_reward
from safeteach.planning.forward import worth
from safeteach.records import Kept
from safeteach.running.loop import episodes as played
from safeteach.running.playing import stage_for
from safeteach.running.progress import Progress
from safeteach.running.refusing import blamed
from safeteach.worlds.environments import refuse_environment
from safeteach.worlds.mdp import SafeMDP

__all__ = ["Exploration", "explore", "read_watched"]


@dataclass(frozen=True, eq=False, repr=False)
class Exploration(Kept):
    """What happened while a learner explored for K episodes.

    Attributes
    ----------
    episodes : int
        K.
    finished : bool
        Whether the uncertainty came down to ε/2.
    width : (K,) array, or (K + 1,) where it is finished
        W̄_1(s_1, π_1(s_1)) of the plan of each episode, and of the last one that was not played.
    violation : (K,) array
        Sum of (c(s_h) - tau)_+ over h = 1..H of each episode, as it came.
    planned : (K, 2) array or None
        If a reward was watched: expected sum of that reward and expected violation of ``plan_for``
        after each episode, exact.

    Examples
    --------
    >>> import safeteach as st
    >>> mdp = st.instances.ice_corridor()
    >>> exploration = st.explore(st.RFUCRL(mdp.known), mdp, episodes=20)
    >>> exploration.finished, exploration.width.shape, exploration.planned is None
    (False, (20,), True)
    """

    episodes: int
    finished: bool
    width: NDArray[np.float64]
    violation: NDArray[np.float64]
    planned: NDArray[np.float64] | None = None


def explore(
    learner: SRFUCRL,
    mdp: SafeMDP,
    episodes: int | None = None,
    seed: int = 0,
    noise: float = 1.0,
    watch: ArrayLike | None = None,
    *,
    progress: bool | None = None,
) -> Exploration:
    """Let a reward-free learner explore until it knows enough, or for a number of episodes.

    Parameters
    ----------
    learner : a new :class:`SRFUCRL` or :class:`RFUCRL`, built from ``mdp.known``
    mdp : SafeMDP
    episodes : int, optional
        The largest number of episodes; needed if the learner has no epsilon.
    seed : int
        The same seed gives the same exploration, bit for bit.
    noise : float
        Standard deviation of the Gaussian noise on each cost seen; the paper allows up to 1.
    watch : (S, A) or (H, S, A) array, optional
        A reward to plan for after every episode.  The learner does not learn from it.
    progress : bool, optional
        As of :func:`safeteach.run`.

    Examples
    --------
    >>> import safeteach as st
    >>> mdp = st.instances.laboratory()
    >>> exploration = st.explore(st.SRFUCRL(mdp.known), mdp, episodes=100, watch=mdp.r)
    >>> exploration.episodes, exploration.finished, exploration.planned.shape
    (100, False, (100, 2))
    """
    refuse_environment(
        mdp, "mdp", "explore says what plans are worth, exactly: let the learner "
        "play(learner, env) until it is done",
    )  # fmt: skip
    instance(mdp, "mdp", SafeMDP, "a SafeMDP")
    stage = stage_for(learner, mdp, seed, noise, None, progress)
    name, laws = type(learner).__name__, np.zeros((2, mdp.S))
    if not hasattr(learner, "plan_for"):
        raise ValueError(
            f"{name} plans for one reward; explore takes a learner without reward, such as "
            f"SRFUCRL: let this one run(learner, mdp)"
        )
    if episodes is None and learner.epsilon is None:
        raise ValueError("give the learner an epsilon, or explore a number of episodes")
    if episodes is not None:
        whole(episodes, "episodes")
    reward = None if watch is None else read_watched(watch, mdp)
    width, planned = [], []
    k, finished = 0, False
    with (
        blamed(lambda: f"{name}, seed {seed}, after {k} episodes"),
        Progress(name, episodes, progress) as shown,
    ):
        for k, episode in played(learner, stage):
            width.append(learner.width)
            finished = learner.done
            if finished or k == episodes:
                break
            learner.observe(episode)
            if reward is not None:
                policy = learner.plan_for(reward).policy
                planned.append(
                    worth(*mdp.all_rows(), reward, mdp.violation, mdp.s1, policy, None, laws)
                )
            if k >= shown.next:
                shown.reach(k)
    return Exploration(
        k,
        finished,
        np.array(width if finished else width[:k]),
        stage.totals[:k, 1].copy(),
        None if reward is None else np.array(planned).reshape(-1, 2),
    )


def read_watched(watch: ArrayLike, mdp: SafeMDP) -> NDArray[np.float64]:
    """The reward to plan for, (H, S, A)."""
    try:
        return read_reward(watch, mdp.H, mdp.S, mdp.A)
    except (TypeError, ValueError) as error:
        raise type(error)(f"watch: {error}") from None
