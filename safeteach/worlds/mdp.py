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

Taught in the chapter *MDPs you can run*.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from safeteach.arguments import check_fits, instance, number, numbered, read_seed
from safeteach.worlds.known import Episode
from safeteach.worlds.reading import read_policy
from safeteach.worlds.world import World

__all__ = ["SafeMDP", "rollout"]


class SafeMDP(World):
    """A finite-horizon MDP with a cost of each state and a safety threshold.

    Everything is checked, copied and frozen; nothing is normalised or clipped.  A world never
    changes: to change one, build another.  Two worlds with the same content are equal.

    Parameters
    ----------
    P : (S, A, S) or (H, S, A, S) array, or sparse matrix (S*A, S), or H sparse matrices
        Transition probabilities, the same at every step or one for each.  A sparse matrix is
        one of scipy's, of any format, with row ``s*A + a`` for the pair (s, a); entries that are
        stored twice are added, as scipy does.
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
        What figures and messages call the states and actions, all different; numbers by default.
    drop_below : float, optional
        Remove smaller probabilities and divide what is left of a row by its sum.  By default
        nothing is removed: safety depends on which states *can* follow, and the tail of a
        discretised Gaussian can lead anywhere.  What this can hide is at most ``hidden_risk``:
        with at most p removed from each row, the probability that an episode of H steps takes
        a removed arrow is at most 1 - (1 - p)^H ≤ H p, whatever the policy, so that its
        unsafe probability in the world of P is at most that much above the one here.

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
    dropped : (mass, rows)
        What ``drop_below`` removed: the most from one row, and from how many; (0.0, 0) if nothing.
    hidden_risk : float
        1 - (1 - mass)^H.

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

    The same, sparse and with a gust of wind that nobody has ever seen:

    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> windy = np.array(P, float).reshape(6, 3)
    >>> windy[0] = 1 - 1e-15, 0, 1e-15
    >>> exact = st.SafeMDP(csr_array(windy), mdp.r[0], mdp.c, mdp.tau, mdp.H)
    >>> clean = st.SafeMDP(csr_array(windy), mdp.r[0], mdp.c, mdp.tau, mdp.H, drop_below=1e-9)
    >>> len(exact.successors(1, 0, 0)), len(clean.successors(1, 0, 0))
    (2, 1)
    >>> clean
    SafeMDP(S=3, A=2, H=4, tau=0.5, s1=0, 1 unsafe state, stationary, at most 1e-15 dropped from
    1 row)
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
        drop_below: float | None = None,
    ) -> None:
        names = {"state": state_names, "action": action_names}
        super().__init__(P, r, c, tau, H, s1, "SA", drop_below, names)

    def successors(self, h: int, s: int, a: int) -> NDArray[np.integer]:
        """Δ_h(s, a): the states that can follow (s, a) at step ``h`` = 1..H, increasing.

        >>> import safeteach as st
        >>> st.instances.ice_corridor().successors(h=1, s=0, a=3)
        array([1])
        """
        a = numbered(a, "a", "actions", 0, self.A - 1)
        return self._row(h, self.check_state(s), a)

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
    seed : int, at least 0, or numpy Generator
        The same seed gives the same episode, bit for bit.
    noise : float
        Standard deviation of the Gaussian noise on each cost seen, finite; the paper allows up
        to 1.

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
    instance(mdp, "mdp", SafeMDP, "a SafeMDP")
    policy = mdp.check_policy(policy)
    rule = "a standard deviation must be at least 0, and finite"
    number(noise, "noise", 0, ends="[)", rule=rule)
    rng = read_seed(seed)
    check_fits((7, mdp.H), np.float64, f"an episode of H = {mdp.H} steps")
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
