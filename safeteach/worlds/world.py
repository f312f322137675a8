"""What a safe MDP and a safe game have in common: states, transitions, rewards, costs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any, NoReturn, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from safeteach.arguments import check_fits, frozen, instance, numbered, whole
from safeteach.worlds.known import Known
from safeteach.worlds.reading import (
    look_up,
    read_costs,
    read_names,
    read_rewards,
    read_threshold,
    thin,
)
from safeteach.worlds.rows import Rows
from safeteach.worlds.transitions import read_drop_below, read_transitions

__all__ = ["World", "check_world"]


class World:
    """What a safe MDP and a safe game have in common: states, steps, costs and sparse rows.

    A row of transitions belongs to a state and the moves made in it, (s, a) in an MDP and
    (s, a, b) in a game; rows are numbered in that order.

    A world never changes: when this constructor is done, attributes cannot be set, and arrays
    cannot be written to.  That is so after pickle too; a copy is the world itself.  A subclass
    that adds attributes sets them before it calls this constructor.  Two worlds are equal when
    they are of one class and all that they were told is equal.
    """

    S: int
    A: int
    H: int
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
        drop_below: float | None,
        names: dict[str, Sequence[str] | None],
    ) -> None:
        self.H = whole(H, "H")
        self._shape, self._steps, self.dropped = read_transitions(
            P, r, self.H, letters, read_drop_below(drop_below)
        )
        self.S, self.A = self._shape[:2]
        self.stationary = len(self._steps) == 1
        self.r = read_rewards(r, self.H, self._shape, letters)
        self.c = read_costs(c, self.S)
        self.tau = read_threshold(tau)
        self.s1 = numbered(s1, "s1", "states", 0, self.S - 1)
        self._names = tuple(
            read_names(given, f"{thing}_names", n)
            for (thing, given), n in zip(names.items(), self._shape, strict=True)
        )
        self.unsafe = frozen(self.c > self.tau)
        self.violation = frozen(np.maximum(self.c - self.tau, 0.0))  # the last: see __setattr__

    def __setattr__(self, name: str, value: object) -> None:
        if "violation" in self.__dict__:
            self._refuse(name)
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> NoReturn:
        self._refuse(name)

    def _refuse(self, name: str) -> NoReturn:
        raise AttributeError(
            f"{name} cannot be changed: a {type(self).__name__} stays what it is; build a new one"
        )

    def __getstate__(self) -> dict[str, Any]:
        """What the world was told, without what was computed from it later."""
        kind = type(self)
        told = {
            name: value
            for name, value in self.__dict__.items()
            if not isinstance(getattr(kind, name, None), cached_property)
        }
        steps = tuple((x.indptr, x.successors, x.probability) for x in self._steps)
        return told | {"r": thin(self.r), "_steps": steps}

    def __setstate__(self, state: dict[str, Any]) -> None:
        _freeze(tuple(state.values()))
        r, steps = state["r"], state["_steps"]
        state["r"] = frozen(np.broadcast_to(r, (state["H"], *r.shape[1:])))
        self.__dict__.update(state, _steps=tuple(Rows(*step) for step in steps))

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, World) or type(self) is not type(other):
            return NotImplemented
        mine, theirs = self.__getstate__(), other.__getstate__()
        if mine["r"].shape != theirs["r"].shape:  # one of them repeats what the other says once
            mine["r"], theirs["r"] = self.r, other.r
        return self is other or (
            mine.keys() == theirs.keys() and all(_same(mine[x], theirs[x]) for x in mine)
        )

    def __hash__(self) -> int:
        arrows = sum(len(rows.successors) for rows in self._steps)
        sizes = (*self._shape, self.H, self.tau, self.s1, arrows, float(self.c.sum()))
        return hash((type(self), *sizes))

    def __repr__(self) -> str:
        n = int(self.unsafe.sum())
        kind = "stationary" if self.stationary else "step-dependent"
        sizes = ", ".join(f"{x}={n}" for x, n in zip("SAB", self._shape, strict=False))
        mass, rows = self.dropped
        less = f", at most {mass:.2g} dropped from {rows} row{'' if rows == 1 else 's'}"
        return (
            f"{type(self).__name__}({sizes}, H={self.H}, tau={self.tau:g}, "
            f"s1={self.s1}, {n} unsafe state{'' if n == 1 else 's'}, {kind}{less if rows else ''})"
        )

    @property
    def hidden_risk(self) -> float:
        """The most by which ``drop_below`` can have changed the risk of any policy.

        With at most p dropped from each row, an episode of the world that was handed over takes
        a dropped arrow at some step with probability at most 1 - (1 - p)^H ≤ H p; until then
        it moves as here.  So whatever is asked of an episode, and whoever plays, the two
        probabilities differ by no more than that; 0 where nothing was dropped.

        Examples
        --------
        >>> import safeteach as st
        >>> P = [[[1 - 1e-12, 1e-12]], [[0, 1]]]
        >>> mdp = st.SafeMDP(P, r=[[1], [1]], c=[0, 1], tau=0.5, H=50, drop_below=1e-9)
        >>> mdp.dropped
        Dropped(mass=1e-12, rows=1)
        >>> f"{mdp.hidden_risk:.3g}"
        '5e-11'
        """
        return -math.expm1(self.H * math.log1p(-self.dropped.mass))

    @cached_property
    def known(self) -> Known:
        """What a learner may know: (S, A, H, r, tau, s1), neither P nor c."""
        return Known(self.S, self.A, self.H, self.r, self.tau, self.s1)

    def rows(self, h: int) -> Rows:
        """The transitions of step ``h`` = 1..H as sparse rows."""
        h = self.check_step(h)
        return self._steps[0 if self.stationary else h - 1]

    def all_rows(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """The rows of all steps, one after the other, as the compiled kernels read them.

        Returns
        -------
        span : (n, 2) array, n the number of rows of a step, or H times that where P depends on it
            Row i is ``span[i, 0] : span[i, 1]`` of the other two.  Unsigned, as long as that is
            enough: numba need not ask whether an index counts from the end.
        successor : uint32 array
        probability : array
        """
        return self._flat_rows

    @cached_property
    def _flat_rows(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        room = np.cumsum([0, *(len(rows.successors) for rows in self._steps)])
        ends = [rows.indptr + n for rows, n in zip(self._steps, room, strict=False)]
        index = np.uint32 if room[-1] < 2**32 else np.int64
        return (
            _joined([np.stack([x[:-1], x[1:]], axis=1) for x in ends], index),
            _joined([rows.successors for rows in self._steps], np.uint32),
            _joined([rows.probability for rows in self._steps], np.float64),
        )

    def state_name(self, s: int) -> str:
        """What to call state ``s``: its given name, or its number."""
        return self._name(0, s, "s", "states")

    def state(self, name: str) -> int:
        """The number of the state that is called ``name``.

        Examples
        --------
        >>> import safeteach as st
        >>> mdp = st.instances.laboratory()
        >>> mdp.state("furnace")
        10
        >>> mdp.state("furnaces")
        Traceback (most recent call last):
        ValueError: name is 'furnaces', which no state has; close to it: 'furnace'
        """
        return self._number(0, name, "state")

    def action_name(self, a: int) -> str:
        """What to call the agent's action ``a``: its given name, or its number."""
        return self._name(1, a, "a", "actions")

    def action(self, name: str) -> int:
        """The number of the agent's action that is called ``name``.

        Examples
        --------
        >>> import safeteach as st
        >>> st.instances.grid().action("left")
        2
        """
        return self._number(1, name, "action")

    def _name(self, axis: int, i: int, argument: str, things: str) -> str:
        i = numbered(i, argument, things, 0, self._shape[axis] - 1)
        names = self._names[axis]
        return names[i] if names else str(i)

    def _number(self, axis: int, name: str, thing: str) -> int:
        return look_up(name, self._names[axis] or [*map(str, range(self._shape[axis]))], thing)

    @property
    def P(self) -> NDArray[np.float64]:
        """Transition probabilities, (H, S, A, S), or (H, S, A, B, S) of a game, if they fit."""
        return self._dense("P", np.float64, [rows.probability for rows in self._steps])

    def support(self) -> NDArray[np.bool_]:
        """Δ as a table of the same shape, bool: whether t can follow at step h; if it fits."""
        return self._dense("support()", np.bool_, [True for _ in self._steps])

    def check_step(self, h: int) -> int:
        """``h`` if it is one of the steps 1..H, else an error that says so."""
        return numbered(h, "h", "steps", 1, self.H)

    def check_state(self, s: int) -> int:
        """``s`` if it is one of the states 0..S-1, else an error that says so."""
        return numbered(s, "s", "states", 0, self.S - 1)

    def _row(self, h: int, *pair: int) -> NDArray[np.integer]:
        """The successors of one row, increasing."""
        rows, i = self.rows(h), int(np.ravel_multi_index(pair, self._shape))
        return rows.successors[rows.indptr[i] : rows.indptr[i + 1]]

    def _dense(self, name: str, dtype: Any, entries: Sequence[Any]) -> NDArray[Any]:
        pairs = math.prod(self._shape)
        shape = (len(self._steps), *self._shape, self.S)
        check_fits(shape, dtype, name, instead="use rows(h) or successors(h, ...)")
        table = np.zeros((len(self._steps), pairs, self.S), dtype)
        for step, rows, entry in zip(table, self._steps, entries, strict=True):
            step[np.repeat(np.arange(pairs), np.diff(rows.indptr)), rows.successors] = entry
        table = frozen(table).reshape(shape)
        return frozen(np.broadcast_to(table, (self.H, *self._shape, self.S)))


def check_world(world: Any, name: str, more: str = "") -> None:
    """Refuse what is no world; ``name`` is the argument's, ``more`` what else it may be."""
    instance(world, name, World, f"a SafeMDP or a SafeGame{more}")


def _joined(parts: Sequence[NDArray[Any]], dtype: Any) -> NDArray[Any]:
    """Several arrays as one; a single one is not copied where it need not be."""
    whole = parts[0] if len(parts) == 1 else np.concatenate(parts)
    return frozen(whole.astype(dtype, copy=False))


def _freeze(value: object) -> None:
    if isinstance(value, np.ndarray):
        frozen(value)
    elif isinstance(value, tuple):
        for part in value:
            _freeze(part)


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return np.array_equal(one, other)
    return bool(one == other)
