"""Read what the user hands over: arrays that are what they should be, or a clear error."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from safeteach.worlds.rows import Rows

__all__ = [
    "frozen",
    "read_costs",
    "read_names",
    "read_policy",
    "read_rewards",
    "read_transitions",
    "whole_number",
]

ROW_SUM_TOLERANCE = 1e-8


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """``array``, which nobody can write to any more."""
    array.flags.writeable = False
    return array


def whole_number(value: int, name: str, at_least: int) -> int:
    """A whole number that is large enough."""
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


def read_transitions(P: Any, H: int, letters: str) -> tuple[tuple[int, ...], tuple[Rows, ...]]:
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
    return Rows(frozen(indptr), frozen(successors), frozen(probability))


def read_policy(
    policy: ArrayLike, name: str, H: int, S: int, n: int, letter: str
) -> NDArray[Any]:
    """(H, S) actions or (H, S, n) probabilities of actions, once they are that."""
    array = np.asarray(policy)
    if array.shape == (H, S):
        if not np.issubdtype(array.dtype, np.integer):
            raise ValueError(f"{name} holds {array.dtype}; actions are whole numbers")
        bad = np.argwhere((array < 0) | (array >= n))
        if bad.size:
            h, s = bad[0]
            raise ValueError(f"{name}[{h}, {s}] is {array[h, s]}; the actions are 0..{n - 1}")
        return array
    if array.shape == (H, S, n):
        array = array.astype(np.float64)
        off = np.abs(array.sum(axis=2) - 1) > ROW_SUM_TOLERANCE
        bad = np.argwhere(~(array >= 0).all(axis=2) | off)
        if bad.size:
            h, s = bad[0]
            raise ValueError(
                f"{name}[{h}, {s}] is {array[h, s]}; probabilities of actions must be "
                f"nonnegative and sum to 1"
            )
        return array
    raise ValueError(
        f"{name} has shape {array.shape}; expected (H, S) = {(H, S)} actions or "
        f"(H, S, {letter}) = {(H, S, n)} probabilities"
    )


def read_rewards(
    r: ArrayLike, H: int, shape: tuple[int, ...], letters: str
) -> NDArray[np.float64]:
    """Rewards of one or of all steps, in [0, 1], as an (H, *shape) array."""
    array = _real_array(r, "r")
    if array.shape not in (shape, (H, *shape)):
        sizes = ", ".join(letters)
        raise ValueError(
            f"r has shape {array.shape}; expected ({sizes}) = {shape} or "
            f"(H, {sizes}) = {(H, *shape)}"
        )
    _check_unit_interval(array, "r")
    return frozen(np.broadcast_to(array, (H, *shape)))


def read_costs(c: ArrayLike, S: int) -> NDArray[np.float64]:
    """Costs of states, in [0, 1], as an (S,) array."""
    array = _real_array(c, "c")
    if array.shape != (S,):
        raise ValueError(f"c has shape {array.shape}; expected (S,) = {(S,)}")
    _check_unit_interval(array, "c")
    return frozen(array)


def _check_unit_interval(array: NDArray[np.float64], name: str) -> None:
    bad = np.argwhere(~((array >= 0) & (array <= 1)))
    if bad.size:
        place = ", ".join(map(str, bad[0]))
        raise ValueError(f"{name}[{place}] is {array[tuple(bad[0])]}; it must lie in [0, 1]")


def read_names(names: Sequence[str] | None, argument: str, n: int) -> tuple[str, ...]:
    """Names of n things, none if none are given."""
    if names is not None and len(names) != n:
        raise ValueError(f"{argument} has {len(names)} names; expected {n}")
    return tuple(names or ())
