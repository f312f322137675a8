r"""Safe Markov decision processes: what the world is.

A *safe MDP* (Section 3 of the paper) is a finite-horizon MDP together with a cost of each
state and a threshold,

.. math:: (S, A, H, P, r, c, \tau, s_1),

where :math:`P_h(t \mid s, a)` moves the agent, :math:`r_h(s, a) \in [0, 1]` pays it and
:math:`c(s) \in [0, 1]` endangers it.  A state is *unsafe* when :math:`c(s) > \tau`; every step
spent in it costs the *violation* :math:`(c(s) - \tau)_+`.

Time runs as in the paper, ``h = 1 .. H``.  The agent is in :math:`s_h`, pays the violation of
:math:`s_h`, takes :math:`a_h` and moves by :math:`P_h`.  The initial state counts.  The state
after step ``H`` is recorded and carries no cost.

Inside, the transitions are always sparse rows: the successors :math:`\Delta_h(s, a)` of a pair
and their probabilities, one after the other.  A world of a million states with four successors
a row is a few arrays of that length, never an S × S table.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from safeteach.worlds.known import Episode, Known
from safeteach.worlds.reading import read_names, read_policy
from safeteach.worlds.world import World

__all__ = ["SafeMDP", "rollout"]


class SafeMDP(World):
    """A finite-horizon MDP with a cost of each state and a safety threshold.

    Everything is checked, copied and frozen; nothing is normalised or clipped.

    Parameters
    ----------
    P : (S, A, S) or (H, S, A, S) array, or sparse matrix (S*A, S), or H sparse matrices
        Transition probabilities, the same at every step or one for each.  A sparse matrix is
        one of scipy's, with row ``s*A + a`` for the pair (s, a).
    r : (S, A) or (H, S, A) array
        Rewards in [0, 1].
    c : (S,) array
        Costs in [0, 1].
    tau : float
        Threshold in [0, 1]; a state with ``c > tau`` is unsafe.
    H : int
        Number of steps.
    s1 : int
        Initial state.
    state_names, action_names : sequences of str, optional
        What figures and messages call the states and actions; numbers by default.

    Attributes
    ----------
    S, A, H : int
    r : (H, S, A) array
    c : (S,) array
    tau : float
    s1 : int
    unsafe : (S,) bool array
        The set U of the paper: ``c > tau``.
    violation : (S,) array
        (c - tau)_+, what one step in each state costs.
    stationary : bool
        Whether one P serves all steps.

    Notes
    -----
    Section 3 of the paper; taught in the chapter *Danger ahead*.

    Examples
    --------
    A walk along three cells.  Action 1 leaves the middle cell for the last one, which is unsafe.

    >>> import safeteach as st
    >>> P = [[[1, 0, 0], [0, 1, 0]], [[1, 0, 0], [0, 0, 1]], [[0, 0, 1], [0, 0, 1]]]
    >>> mdp = st.SafeMDP(P, r=[[0, 0.5], [0, 1], [0, 0]], c=[0, 0.2, 0.9], tau=0.5, H=4)
    >>> mdp
    SafeMDP(S=3, A=2, H=4, tau=0.5, s1=0, 1 unsafe state, stationary)
    >>> mdp.unsafe
    array([False, False,  True])
    """

    def __init__(
        self,
        P: Any,
        r: ArrayLike,
        c: ArrayLike,
        tau: float,
        H: int,
        s1: int = 0,
        *,
        state_names: Sequence[str] | None = None,
        action_names: Sequence[str] | None = None,
    ) -> None:
        super().__init__(P, r, c, tau, H, s1, "SA", state_names)
        self._action_names = read_names(action_names, "action_names", self.A)

    def successors(self, h: int, s: int, a: int) -> NDArray[np.integer]:
        """Δ_h(s, a): the states that can follow (s, a) at step ``h`` = 1..H, increasing.

        >>> import safeteach as st
        >>> st.instances.ice_corridor().successors(h=1, s=0, a=3)
        array([1])
        """
        if not 0 <= a < self.A:
            raise ValueError(f"a is {a}; the actions are 0..{self.A - 1}")
        return self._row(h, self.check_state(s), a)

    def action_name(self, a: int) -> str:
        """What to call action ``a``: its given name, or its number."""
        return self._action_names[a] if self._action_names else str(a)

    @property
    def known(self) -> Known:
        """What a learner may know: (S, A, H, r, tau, s1), neither P nor c."""
        return Known(self.S, self.A, self.H, self.r, self.tau, self.s1)

    def check_policy(self, policy: ArrayLike) -> NDArray[Any]:
        """A policy as an array: (H, S) actions or (H, S, A) probabilities of actions."""
        return read_policy(policy, "policy", self.H, self.S, self.A, "A")


def rollout(
    mdp: SafeMDP, policy: ArrayLike, seed: int | np.random.Generator, noise: float = 1.0
) -> Episode:
    """Play one episode of a policy from s_1.

    Parameters
    ----------
    mdp : SafeMDP
    policy : (H, S) actions or (H, S, A) probabilities of actions
    seed : int or numpy Generator
        The same seed gives the same episode, bit for bit.
    noise : float
        Standard deviation of the Gaussian noise on each cost seen; the paper allows up to 1.

    Returns
    -------
    Episode

    Examples
    --------
    >>> import safeteach as st
    >>> mdp = st.instances.ice_corridor()
    >>> episode = st.rollout(mdp, st.safe_optimal(mdp).policy, seed=0)
    >>> float(mdp.violation[episode.states[:-1]].sum())
    0.0
    """
    policy = mdp.check_policy(policy)
    if not noise >= 0:
        raise ValueError(f"noise is {noise}; a standard deviation must be at least 0")
    rng = np.random.default_rng(seed)
    moves, choices = rng.random((2, mdp.H))
    states = np.empty(mdp.H + 1, np.int64)
    actions = np.empty(mdp.H, np.int64)
    states[0] = mdp.s1
    for i in range(mdp.H):
        s = states[i]
        a = policy[i, s] if policy.ndim == 2 else _draw(policy[i, s], choices[i])
        rows = mdp.rows(i + 1)
        row = slice(rows.indptr[s * mdp.A + a], rows.indptr[s * mdp.A + a + 1])
        actions[i] = a
        states[i + 1] = rows.successors[row][_draw(rows.probability[row], moves[i])]
    visited = states[:-1]
    costs = mdp.c[visited] + noise * rng.standard_normal(mdp.H)
    return Episode(states, actions, mdp.r[np.arange(mdp.H), visited, actions], costs)


def _draw(probability: NDArray[np.float64], uniform: float) -> int:
    """The index that a uniform number in [0, 1) falls on; never one of probability 0."""
    total = np.cumsum(probability)
    below = min(uniform * total[-1], np.nextafter(total[-1], 0))
    return int(np.searchsorted(total, below, side="right"))
