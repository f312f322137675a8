r"""Explore without a reward, and plan for any reward afterwards.

:func:`explore` lets a reward-free learner live through episodes until its uncertainty is at most
:math:`\varepsilon/2`, or for a given number of them.  Then ``learner.plan_for(r)`` plans for any
reward, any number of times.

Taught in the chapters on exploring without reward.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from safeteach.kernels import compiled
from safeteach.learners.contract import check_settings
from safeteach.learners.srf_ucrl import SRFUCRL, read_reward
from safeteach.running.playing import Stage
from safeteach.worlds.mdp import SafeMDP

__all__ = ["Exploration", "explore"]


@dataclass(frozen=True)
class Exploration:
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

    Examples
    --------
    >>> import safeteach as st
    >>> mdp = st.instances.laboratory()
    >>> exploration = st.explore(st.SRFUCRL(mdp.known), mdp, episodes=100, watch=mdp.r)
    >>> exploration.episodes, exploration.finished, exploration.planned.shape
    (100, False, (100, 2))
    """
    if episodes is None and learner.epsilon is None:
        raise ValueError("give the learner an epsilon, or explore a number of episodes")
    if episodes is not None:
        check_settings(episodes=episodes)
    reward = None if watch is None else read_reward(watch, mdp.H, mdp.S, mdp.A)
    enough = -np.inf if learner.epsilon is None else learner.epsilon / 2
    width, planned = [], []
    stage = Stage(mdp, learner, noise)
    k = 0
    finished = False
    for k, episode in stage.play(seed):
        width.append(learner.width)
        finished = width[-1] <= enough
        if finished or k == episodes:
            break
        learner.observe(episode)
        if reward is not None:
            policy = learner.plan_for(reward).policy
            planned.append(_evaluate(*stage.rows, reward, mdp.violation, mdp.s1, policy))
    return Exploration(
        k,
        finished,
        np.array(width if finished else width[:k]),
        stage.totals[:k, 1].copy(),
        None if reward is None else np.array(planned).reshape(-1, 2),
    )


@compiled
def _evaluate(
    start: Any, length: Any, successor: Any, probability: Any, r: Any, violation: Any,
    s1: int, policy: Any,
) -> tuple[float, float]:  # fmt: skip
    """Expected reward and expected violation of a policy (H, S) from s_1."""
    H, S, A = r.shape
    reward, unsafe = 0.0, 0.0
    law, after = np.zeros(S), np.zeros(S)  # where the policy is at this step and at the next
    law[s1] = 1.0
    for h in range(H):
        after[:] = 0.0
        for s in range(S):
            if law[s] > 0:
                reward += law[s] * r[h, s, policy[h, s]]
                unsafe += law[s] * violation[s]
                i = s * A + policy[h, s] + (h * S * A if len(start) == H * S * A else 0)
                for j in range(start[i], start[i] + length[i]):
                    after[successor[j]] += law[s] * probability[j]
        law, after = after, law
    return reward, unsafe
