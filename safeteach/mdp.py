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

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["Episode", "Known", "Rows", "SafeMDP", "World", "rollout"]

ROW_SUM_TOLERANCE = 1e-8
LARGEST_DENSE = 10**8


@dataclass(frozen=True)
class Rows:
    """The transitions of one step as sparse rows; row ``s*A + a`` belongs to the pair (s, a).

    In a game row ``(s*A + a)*B + b`` belongs to (s, a, b).

    Parameters
    ----------
    indptr : (S*A + 1,) int array
        Row i is the slice ``indptr[i]:indptr[i+1]`` of the other two arrays.
    successors : (n,) int array
        The states of Δ_h(s, a), in increasing order within a row.
    probability : (n,) float array
        P_h(t | s, a) > 0 for each of them.
    """

    indptr: NDArray[np.integer]
    successors: NDArray[np.integer]
    probability: NDArray[np.float64]

    def expect(self, V: NDArray[np.float64]) -> NDArray[np.float64]:
        """The expectation Σ_t P(t | s, a) V(t) of every row, (S*A,) or (S*A, k) for V (S, k)."""
        weight = self.probability if V.ndim == 1 else self.probability[:, None]
        return np.add.reduceat(weight * V[self.successors], self.indptr[:-1], axis=0)

    def touches(self, states: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Whether Δ(s, a) meets a set of states, (S*A,) bool, for ``states`` (S,) bool."""
        return np.logical_or.reduceat(states[self.successors], self.indptr[:-1])


@dataclass(frozen=True)
class Known:
    """What a learner is told about the world before it starts: everything but P and c.

    Attributes
    ----------
    S, A, H : int
        Numbers of states, actions and steps.
    r : (H, S, A) array
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


class World:
    """What a safe MDP and a safe game have in common: states, steps, costs and sparse rows.

    A row of transitions belongs to a state and the moves made in it, (s, a) in an MDP and
    (s, a, b) in a game; rows are numbered in that order.
    """

    S: int
    A: int
    r: NDArray[np.float64]

    def __init__(
        self,
        P: Any,
        r: ArrayLike,
        c: ArrayLike,
        tau: float,
        H: int,
        s1: int,
        letters: str,
        state_names: Sequence[str] | None,
    ) -> None:
        self.H = _whole_number(H, "H", at_least=1)
        self._shape, self._steps = _read_transitions(P, self.H, letters)
        self.S, self.A = self._shape[:2]
        self.stationary = len(self._steps) == 1
        self.r = _read_rewards(r, self.H, self._shape, letters)
        self.c = _read_costs(c, self.S)
        self.tau = float(tau)
        if not 0 <= self.tau <= 1:
            raise ValueError(f"tau is {tau}; the threshold must lie in [0, 1]")
        self.s1 = _whole_number(s1, "s1", at_least=0)
        if self.s1 >= self.S:
            raise ValueError(f"s1 is {s1}; the states are 0..{self.S - 1}")
        self._state_names = _read_names(state_names, "state_names", self.S)
        self.unsafe = _frozen(self.c > self.tau)
        self.violation = _frozen(np.maximum(self.c - self.tau, 0.0))

    def __repr__(self) -> str:
        n = int(self.unsafe.sum())
        kind = "stationary" if self.stationary else "step-dependent"
        sizes = ", ".join(f"{x}={n}" for x, n in zip("SAB", self._shape, strict=False))
        return (
            f"{type(self).__name__}({sizes}, H={self.H}, tau={self.tau:g}, "
            f"s1={self.s1}, {n} unsafe state{'' if n == 1 else 's'}, {kind})"
        )

    def rows(self, h: int) -> Rows:
        """The transitions of step ``h`` = 1..H as sparse rows."""
        self.check_step(h)
        return self._steps[0 if self.stationary else h - 1]

    def all_rows(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
        """The rows of all steps, one after the other, as the compiled kernels read them.

        Returns
        -------
        start, length : int arrays, as long as one step has rows, or H times where P depends on it
            Row i is ``start[i] : start[i] + length[i]`` of the other two.
        successor : uint32 array
            Unsigned: numba need not ask whether an index counts from the end.
        probability : array
        """
        return self._flat_rows

    @cached_property
    def _flat_rows(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
        room = np.cumsum([0, *(len(rows.successors) for rows in self._steps)])
        moved = [rows.indptr[:-1] + n for rows, n in zip(self._steps, room, strict=False)]
        return (
            np.concatenate(moved).astype(np.int64),
            np.concatenate([np.diff(rows.indptr) for rows in self._steps]).astype(np.int64),
            np.concatenate([rows.successors for rows in self._steps]).astype(np.uint32),
            np.concatenate([rows.probability for rows in self._steps]),
        )

    def state_name(self, s: int) -> str:
        """What to call state ``s``: its given name, or its number."""
        return self._state_names[s] if self._state_names else str(s)

    @property
    def P(self) -> NDArray[np.float64]:
        """Transition probabilities, (H, S, A, S), or (H, S, A, B, S) of a game, if small enough."""
        return self._dense(np.float64, [rows.probability for rows in self._steps])

    def support(self) -> NDArray[np.bool_]:
        """Δ as a table of the same shape, bool: whether t can follow at step h; if small enough."""
        return self._dense(np.bool_, [True for _ in self._steps])

    def check_step(self, h: int) -> int:
        """``h`` if it is one of the steps 1..H, else an error that says so."""
        if not 1 <= h <= self.H:
            raise ValueError(f"h is {h}; the steps are 1..{self.H}")
        return h

    def check_state(self, s: int) -> int:
        """``s`` if it is one of the states 0..S-1, else an error that says so."""
        if not 0 <= s < self.S:
            raise ValueError(f"s is {s}; the states are 0..{self.S - 1}")
        return s

    def _row(self, h: int, *pair: int) -> NDArray[np.integer]:
        """The successors of one row, increasing."""
        rows, i = self.rows(h), int(np.ravel_multi_index(pair, self._shape))
        return rows.successors[rows.indptr[i] : rows.indptr[i + 1]]

    def _dense(self, dtype: Any, entries: Sequence[Any]) -> NDArray[Any]:
        pairs = math.prod(self._shape)
        size = len(self._steps) * pairs * self.S
        if size > LARGEST_DENSE:
            raise ValueError(
                f"a dense table of this world would hold {size:,} entries, more than "
                f"{LARGEST_DENSE:,}; use its rows(h) or successors(h, s, a)"
            )
        table = np.zeros((len(self._steps), pairs, self.S), dtype)
        for step, rows, entry in zip(table, self._steps, entries, strict=True):
            step[np.repeat(np.arange(pairs), np.diff(rows.indptr)), rows.successors] = entry
        table = table.reshape(-1, *self._shape, self.S)
        return _frozen(np.broadcast_to(table, (self.H, *self._shape, self.S)))


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
        self._action_names = _read_names(action_names, "action_names", self.A)

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
        array = np.asarray(policy)
        if array.shape == (self.H, self.S):
            if not np.issubdtype(array.dtype, np.integer):
                raise ValueError(f"policy holds {array.dtype}; actions are whole numbers")
            bad = np.argwhere((array < 0) | (array >= self.A))
            if bad.size:
                h, s = bad[0]
                raise ValueError(
                    f"policy[{h}, {s}] is {array[h, s]}; the actions are 0..{self.A - 1}"
                )
            return array
        if array.shape == (self.H, self.S, self.A):
            array = array.astype(np.float64)
            off = np.abs(array.sum(axis=2) - 1) > ROW_SUM_TOLERANCE
            bad = np.argwhere(~(array >= 0).all(axis=2) | off)
            if bad.size:
                h, s = bad[0]
                raise ValueError(
                    f"policy[{h}, {s}] is {array[h, s]}; probabilities of actions must be "
                    f"nonnegative and sum to 1"
                )
            return array
        raise ValueError(
            f"policy has shape {array.shape}; expected (H, S) = {(self.H, self.S)} actions or "
            f"(H, S, A) = {(self.H, self.S, self.A)} probabilities"
        )


@dataclass(frozen=True)
class Episode:
    """One trajectory as a learner sees it.

    Attributes
    ----------
    states : (H + 1,) int array
        s_1 .. s_H and the state after the last step.
    actions : (H,) int array
    rewards : (H,) array
    costs : (H,) array
        c(s_h) plus noise, one for each visited step; the true cost is the world's secret.
    """

    states: NDArray[np.int64]
    actions: NDArray[np.int64]
    rewards: NDArray[np.float64]
    costs: NDArray[np.float64]


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


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    array.flags.writeable = False
    return array


def _whole_number(value: int, name: str, at_least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise TypeError(f"{name} is {value!r}; expected a whole number")
    if value < at_least:
        raise ValueError(f"{name} is {value}; it must be at least {at_least}")
    return int(value)


def _real_array(value: ArrayLike, name: str) -> NDArray[np.float64]:
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} is not a rectangular array of numbers ({error})") from None
    return array


def _read_transitions(P: Any, H: int, letters: str) -> tuple[tuple[int, ...], tuple[Rows, ...]]:
    """Check P in any of its forms; the sizes that ``letters`` name and the rows of each step."""
    if letters == "SA" and hasattr(P, "tocsr"):
        shape = _sparse_shape(P, "P")
        return shape, (_sparse_rows(P.tocsr(copy=True), shape, None),)
    if letters == "SA" and isinstance(P, list | tuple) and P and all(
        hasattr(step, "tocsr") for step in P
    ):
        if len(P) != H:
            raise ValueError(f"P is a sequence of {len(P)} sparse matrices; expected H = {H}")
        shape = _sparse_shape(P[0], "P[0]")
        for i, step in enumerate(P):
            if step.shape != P[0].shape:
                raise ValueError(f"P[{i}] has shape {step.shape}, but P[0] {P[0].shape}")
        return shape, tuple(_sparse_rows(P[i].tocsr(copy=True), shape, i) for i in range(H))

    dense = _real_array(P, "P")
    d = len(letters) + 1  # axes of one step
    if dense.ndim not in (d, d + 1) or dense.shape[-1] != dense.shape[-d] or 0 in dense.shape:
        sizes = ", ".join(letters)
        raise ValueError(
            f"P has shape {dense.shape}; expected ({sizes}, S) or (H, {sizes}, S)"
        )
    if dense.ndim > d and len(dense) != H:
        raise ValueError(f"P has shape {dense.shape}; its first axis must be H = {H}")
    shape = dense.shape[-d:-1]
    steps = dense.reshape(-1, math.prod(shape), dense.shape[-1])
    return shape, tuple(_dense_rows(step, shape, i if dense.ndim > d else None)
                        for i, step in enumerate(steps))


def _sparse_shape(P: Any, name: str) -> tuple[int, int]:
    pairs, S = P.shape
    if S < 1 or pairs < 1 or pairs % S:
        raise ValueError(f"{name} is sparse with shape {P.shape}; expected (S*A, S)")
    return S, pairs // S


def _dense_rows(step: NDArray[np.float64], shape: tuple[int, ...], i: int | None) -> Rows:
    # NaN compares unequal to 0, so it stays among the entries and is refused by _checked_rows.
    pair, successors = np.nonzero(step)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(pair, minlength=len(step)))])
    return _checked_rows(indptr, successors, step[pair, successors], shape, i)


def _sparse_rows(step: Any, shape: tuple[int, ...], i: int | None) -> Rows:
    step.sum_duplicates()
    step.eliminate_zeros()
    return _checked_rows(step.indptr, step.indices, step.data.astype(np.float64), shape, i)


def _checked_rows(
    indptr: Any, successors: Any, probability: Any, shape: tuple[int, ...], i: int | None
) -> Rows:
    """The rows, once each holds positive numbers that sum to 1; ``i`` is h - 1, or None."""

    def place(row: int) -> str:
        pair = ", ".join(map(str, np.unravel_index(row, shape)))
        return f"P[{pair}]" if i is None else f"P[{i}, {pair}]"

    bad = np.flatnonzero(~(np.isfinite(probability) & (probability > 0)))
    if bad.size:
        row = int(np.searchsorted(indptr, bad[0], side="right")) - 1
        raise ValueError(
            f"{place(row)} gives state {successors[bad[0]]} probability {probability[bad[0]]}; "
            f"probabilities must be finite and nonnegative"
        )
    empty = np.flatnonzero(np.diff(indptr) == 0)
    if empty.size:
        raise ValueError(f"{place(int(empty[0]))} sums to 0; each row must sum to 1")
    total = np.add.reduceat(probability, indptr[:-1])
    off = np.flatnonzero(np.abs(total - 1) > ROW_SUM_TOLERANCE)
    if off.size:
        raise ValueError(
            f"{place(int(off[0]))} sums to {total[off[0]]:.12g}; each row must sum to 1"
        )
    return Rows(_frozen(indptr), _frozen(successors), _frozen(probability))


def _read_rewards(
    r: ArrayLike, H: int, shape: tuple[int, ...], letters: str
) -> NDArray[np.float64]:
    array = _real_array(r, "r")
    if array.shape not in (shape, (H, *shape)):
        sizes = ", ".join(letters)
        raise ValueError(
            f"r has shape {array.shape}; expected ({sizes}) = {shape} or "
            f"(H, {sizes}) = {(H, *shape)}"
        )
    _check_unit_interval(array, "r")
    return _frozen(np.broadcast_to(array, (H, *shape)))


def _read_costs(c: ArrayLike, S: int) -> NDArray[np.float64]:
    array = _real_array(c, "c")
    if array.shape != (S,):
        raise ValueError(f"c has shape {array.shape}; expected (S,) = {(S,)}")
    _check_unit_interval(array, "c")
    return _frozen(array)


def _check_unit_interval(array: NDArray[np.float64], name: str) -> None:
    bad = np.argwhere(~((array >= 0) & (array <= 1)))
    if bad.size:
        place = ", ".join(map(str, bad[0]))
        raise ValueError(f"{name}[{place}] is {array[tuple(bad[0])]}; it must lie in [0, 1]")


def _read_names(names: Sequence[str] | None, argument: str, n: int) -> tuple[str, ...]:
    if names is not None and len(names) != n:
        raise ValueError(f"{argument} has {len(names)} names; expected {n}")
    return tuple(names or ())
