"""What a learner is told of a world, and what it sees of an episode in it.

Neither holds the transitions or the costs: from these two a learner cannot peek.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Episode", "Known"]


@dataclass(frozen=True)
class Known:
    """What a learner is told about the world before it starts: everything but P and c.

    Attributes
    ----------
    S, A, H : int
        Numbers of states, of the agent's actions and of steps.
    r : (H, S, A) array, or (H, S, A, B) in a game
        Rewards.
    tau : float
        Threshold of the cost.
    s1 : int
        Initial state.
    """

    S: int
    A: int
    H: int
    r: NDArray[np.float64]
    tau: float
    s1: int

    @property
    def B(self) -> int:
        """Number of the adversary's actions; 0 where there is no adversary."""
        return self.r.shape[3] if self.r.ndim == 4 else 0


class Episode(NamedTuple):
    """One trajectory as a learner sees it.

    Attributes
    ----------
    states : (H + 1,) int array
        s_1 .. s_H and the state after the last step.
    actions : (H,) int array
    rewards : (H,) array
    costs : (H,) array
        c(s_h) plus noise, one for each visited step; the true cost is the world's secret.
    replies : (H,) int array or None
        In a game, what the adversary did.
    """

    states: NDArray[np.int64]
    actions: NDArray[np.int64]
    rewards: NDArray[np.float64]
    costs: NDArray[np.float64]
    replies: NDArray[np.int64] | None = None
