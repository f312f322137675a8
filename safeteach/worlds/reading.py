"""Read the parts of a world: policies, rewards, costs and names that fit it, or a clear error."""

from __future__ import annotations

import math
from collections.abc import Sequence
from difflib import get_close_matches
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from safeteach.arguments import floats, frozen, number, real_array, shown

__all__ = [
    "ROW_SUM_TOLERANCE",
    "check_unit_interval",
    "look_up",
    "read_costs",
    "read_names",
    "read_policy",
    "read_rewards",
    "read_threshold",
    "thin",
]

ROW_SUM_TOLERANCE = 1e-8
MOST_NUMBERS = 2**60  # of an array, or numpy cannot count its bytes
NAMES_COMPARED = 10_000  # with a name that nothing has


def read_policy(
    policy: ArrayLike, name: str, H: int, S: int, n: int, letter: str
) -> NDArray[Any]:
    """(H, S) actions or (H, S, n) probabilities of actions, once they are that."""
    array = real_array(policy, name)
    if array.shape == (H, S):
        if array.dtype.kind not in "iu":
            raise ValueError(f"{name} holds {array.dtype}; actions are whole numbers")
        if array.min() < 0 or array.max() >= n:
            h, s = np.argwhere((array < 0) | (array >= n))[0]
            raise ValueError(f"{name}[{h}, {s}] is {array[h, s]}; the actions are 0..{n - 1}")
        return array
    if array.shape == (H, S, n):
        if array.dtype.kind == "b":
            raise ValueError(f"{name} holds bool; probabilities of actions are numbers")
        array = array.astype(np.float64)
        with np.errstate(invalid="ignore"):  # of infinite numbers, which are refused
            off = ~(np.abs(array.sum(axis=2) - 1) <= ROW_SUM_TOLERANCE)
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
    """Rewards of one or of all steps, in [0, 1], as an (H, *shape) array.

    Those of one step are not repeated in memory.
    """
    array = floats(r, "r")
    if array.shape not in (shape, (H, *shape)):
        sizes = ", ".join(letters)
        raise ValueError(
            f"r has shape {array.shape}; expected ({sizes}) = {shape} or "
            f"(H, {sizes}) = {(H, *shape)}"
        )
    check_unit_interval(array, "r")
    if H * math.prod(shape) > MOST_NUMBERS:
        raise ValueError(f"H is {shown(H)}; expected at most {MOST_NUMBERS // math.prod(shape)}")
    return frozen(np.broadcast_to(frozen(array), (H, *shape)))


def thin(r: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rewards without the steps that only repeat the first; broadcasting brings them back."""
    return r[:1] if r.strides[0] == 0 else r


def read_costs(c: ArrayLike, S: int) -> NDArray[np.float64]:
    """Costs of states, in [0, 1], as an (S,) array."""
    array = floats(c, "c")
    if array.shape != (S,):
        raise ValueError(f"c has shape {array.shape}; expected (S,) = {(S,)}")
    check_unit_interval(array, "c")
    return frozen(array)


def read_threshold(tau: float) -> float:
    """The threshold of the cost, in [0, 1]."""
    return float(number(tau, "tau", 0, 1, "[]", rule="the threshold must lie in [0, 1]"))


def check_unit_interval(array: NDArray[np.float64], name: str) -> None:
    """Refuse numbers outside [0, 1], and what is no number."""
    if array.min() >= 0 and array.max() <= 1:
        return
    bad = np.argwhere(~((array >= 0) & (array <= 1)))[0]
    place = ", ".join(map(str, bad))
    raise ValueError(f"{name}[{place}] is {array[tuple(bad)]}; it must lie in [0, 1]")


def read_names(names: Sequence[str] | None, argument: str, n: int) -> tuple[str, ...]:
    """Different names of n things, none if none are given."""
    if names is None:
        return ()
    try:
        given = () if isinstance(names, str | dict | set | frozenset) else tuple(names)
    except TypeError:
        given = ()
    if not given and not isinstance(names, list | tuple):
        raise TypeError(f"{argument} is {shown(names)}; expected {n} names, each a str")
    if len(given) != n:
        raise ValueError(f"{argument} has {len(given)} names; expected {n}")
    first: dict[str, int] = {}
    for i, name in enumerate(given):
        if not isinstance(name, str):
            raise TypeError(f"{argument}[{i}] is {shown(name)}; expected a name, a str")
        if first.setdefault(name, i) != i:
            raise ValueError(
                f"{argument}[{i}] is {shown(name)}, and so is {argument}[{first[name]}]; names "
                f"must be different"
            )
    return tuple(map(str, given))


def look_up(name: str, names: Sequence[str], thing: str) -> int:
    """The number of the thing that has a name; an error with those that are like it."""
    if not isinstance(name, str):
        raise TypeError(f"name is {shown(name)}; expected the name of a {thing}, a str")
    if name in names:
        return names.index(name)
    like = get_close_matches(name, islice(names, NAMES_COMPARED))
    there = ", ".join(map(shown, like or names[:3]))
    raise ValueError(
        f"name is {shown(name)}, which no {thing} has; "
        + (f"close to it: {there}" if like else f"the first of {len(names)} are {there}")
    )
