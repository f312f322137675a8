"""What a learner is told of a world, and what it sees of an episode in it.

Neither holds the transitions or the costs: from these two a learner cannot peek.

Taught in the chapter *The algorithm*, and in *Write a learner of your own*.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from safeteach.arguments import frozen, numbered, real_array, whole
from safeteach.worlds.reading import check_unit_interval, read_threshold, thin

__all__ = ["Episode", "Known"]


@dataclass(frozen=True, eq=False)
class Known:
    """What a learner is told about the world before it starts: everything but P and c.

    A world makes it, as ``world.known``.  It cannot be changed, and neither can its rewards: those
    of a world are shared with it, others are copied.

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

    Examples
    --------
    >>> import safeteach as st
    >>> known = st.instances.ice_corridor().known
    >>> known.S, known.A, known.H, known.r.shape, hasattr(known, "P")
    (13, 4, 10, (10, 13, 4), False)
    """

    S: int
    A: int
    H: int
    r: NDArray[np.float64]
    tau: float
    s1: int

    def __post_init__(self) -> None:
        told: dict[str, Any] = {
            name: whole(getattr(self, name), name) for name in ("S", "A", "H")
        }
        sizes = (told["H"], told["S"], told["A"])
        r = real_array(self.r, "r")
        if r.shape[:3] != sizes or r.ndim > 4 or r.size == 0:
            raise ValueError(
                f"r has shape {r.shape}; expected (H, S, A) = {sizes}, or (H, S, A, B) in a game"
            )
        if r.flags.writeable or r.dtype != np.float64:
            r = frozen(r.astype(np.float64))
        check_unit_interval(thin(r), "r")
        tau = read_threshold(self.tau)
        s1 = numbered(self.s1, "s1", "states", 0, told["S"] - 1)
        self.__dict__.update(told, r=r, tau=tau, s1=s1)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"r": thin(self.r)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        r = frozen(state["r"])
        self.__dict__.update(state, r=frozen(np.broadcast_to(r, (state["H"], *r.shape[1:]))))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Known):
            return NotImplemented
        mine, theirs = vars(self), vars(other)
        return all(np.array_equal(mine[name], theirs[name]) for name in mine)

    def __hash__(self) -> int:
        return hash((self.S, self.A, self.H, self.tau, self.s1))

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

    Examples
    --------
    >>> import safeteach as st
    >>> mdp = st.instances.ice_corridor()
    >>> episode = st.rollout(mdp, st.safe_optimal(mdp).policy, seed=0)
    >>> episode.states                                       # around the ice, to the goal
    array([ 6,  0,  1,  2,  3,  4, 10, 11, 11, 11, 11])
    >>> episode.rewards.sum(), episode.costs.shape
    (np.float64(3.0), (10,))
    """

    states: NDArray[np.int64]
    actions: NDArray[np.int64]
    rewards: NDArray[np.float64]
    costs: NDArray[np.float64]
    replies: NDArray[np.int64] | None = None
