"""What form an answer has, what form was expected, and where two answers differ.

The expected value says which form it wants: True or False, a number, a tuple of numbers, a set of
states, or an array.  Messages name both forms and never the expected value itself.
"""

from __future__ import annotations

import numbers
import types
from collections.abc import Callable, Sequence
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from safeteach.worlds.mdp import SafeMDP

__all__ = [
    "STEPS",
    "Misfit",
    "close",
    "first_difference",
    "fitted",
    "form_of",
    "is_whole",
    "place",
    "shown",
]

LARGEST_SHOWN = 24  # entries

STEPS = ("H", "H + 1")  # axes along which time runs

Expected = bool | int | float | tuple[float, ...] | frozenset[int] | NDArray[Any]


class Misfit(ValueError):
    """An answer of the wrong form; the message says which form it has and which it needs."""


def form_of(value: object) -> str:
    """Say in a few words what a value is.

    >>> import numpy as np
    >>> [form_of(v) for v in (None, 3, [1, 2], np.zeros((2, 3)), len, "abc", {})]
    ['None', '3', 'a list of length 2', 'an array of float64 with shape (2, 3)', 'a function',
     'a str', 'an empty dict']
    """
    if value is None:
        return "None"
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} with shape {value.shape}"
    if isinstance(value, bool | np.bool_):
        return str(bool(value))
    if isinstance(value, numbers.Real):
        return f"{float(value):.10g}"
    if isinstance(value, types.GeneratorType):
        return "a generator (write return, not yield)"
    if callable(value) and not isinstance(value, type):
        return "a function"
    name = type(value).__name__
    if isinstance(value, list | tuple | set | frozenset | dict) and not hasattr(value, "_fields"):
        return f"a {name} of length {len(value)}" if value else f"an empty {name}"
    return f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}"


def is_whole(value: object) -> TypeGuard[int]:
    """Whether a value is a whole number; True and False are none.

    >>> [is_whole(v) for v in (3, np.int64(3), 3.0, True)]
    [True, True, False, False]
    """
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def shown(value: object) -> str:
    """Write a value out, if it is short, and otherwise say what it is.

    >>> import numpy as np
    >>> [shown(v) for v in (0.1 + 0.2, [1.0, 2.5], np.array([[0.75]]), np.zeros((9, 9)))]
    ['0.3', '[1, 2.5]', '[[0.75]]', 'an array of float64 with shape (9, 9)']
    """
    if isinstance(value, np.ndarray):
        return str(value.tolist()) if value.size <= LARGEST_SHOWN else form_of(value)
    if hasattr(value, "_fields"):  # an episode is a tuple, and one thing all the same
        return form_of(value)
    if isinstance(value, tuple | list | frozenset) and 0 < len(value) <= LARGEST_SHOWN:
        brackets = {tuple: "()", list: "[]", frozenset: "{}"}[type(value)]
        entries = sorted(value) if isinstance(value, frozenset) else value
        return brackets[0] + ", ".join(map(shown, entries)) + brackets[1]
    return form_of(value)


def fitted(expected: Expected, got: object, axes: Sequence[str] = "") -> Expected:
    """Put an answer into the form of the expected value.

    Parameters
    ----------
    expected : bool, number, tuple of numbers, frozenset of ints or array
    got : object
        Whatever the reader gave.
    axes : str or tuple of str
        A name for each axis of an expected array, such as "HSA" or ("H + 1", "S").

    Raises
    ------
    Misfit
        If the answer has another form.

    Examples
    --------
    >>> fitted((4, 3), [1, 2])
    (1.0, 2.0)
    >>> import numpy as np
    >>> fitted(np.zeros((3, 2), bool), [[0, 1], [1, 1], [0, 0]], axes="HS")
    Traceback (most recent call last):
    ...
    safeteach.classroom.checking.forms.Misfit: expected a (H, S) = (3, 2) array of bool,
    got a list of length 3
    """
    fits: Expected | None
    if isinstance(expected, np.ndarray):
        wanted = f"a ({', '.join(axes)}) = {expected.shape} array of {_content(expected)}"
        fits = got if isinstance(got, np.ndarray) and _same_form(expected, got) else None
    elif isinstance(expected, bool):
        wanted = "True or False"
        fits = bool(got) if isinstance(got, bool | np.bool_) else None
    elif isinstance(expected, tuple):
        wanted = f"a tuple of {len(expected)} numbers"
        entries = _entries(got)
        fits = tuple(map(float, entries)) if len(entries) == len(expected) else None
    elif isinstance(expected, frozenset):
        wanted = "a set of states, each by its number"
        entries = _entries(got)
        whole = all(isinstance(entry, numbers.Integral) for entry in entries)
        given = bool(entries) or _is_empty_collection(got)
        fits = frozenset(map(int, entries)) if whole and given else None
    else:
        wanted = "a number"
        entries = _entries((got,))
        fits = float(entries[0]) if entries else None
    if fits is None:
        raise Misfit(f"expected {wanted}, got {form_of(got)}")
    return fits


def _content(array: NDArray[Any]) -> str:
    return "bool" if array.dtype == bool else "numbers"


def _same_form(expected: NDArray[Any], got: NDArray[Any]) -> bool:
    kinds = "b" if expected.dtype == bool else "iuf"
    return got.shape == expected.shape and got.dtype.kind in kinds


def _entries(value: object) -> Sequence[Any]:
    """Return the entries of a flat collection of real numbers; nothing if it is anything else."""
    if isinstance(value, np.ndarray):
        value = value.tolist() if value.ndim == 1 else ()
    entries = list(value) if isinstance(value, list | tuple | set | frozenset) else []
    real = all(isinstance(x, numbers.Real) and not isinstance(x, bool | np.bool_) for x in entries)
    return entries if real else []


def _is_empty_collection(value: object) -> bool:
    return isinstance(value, list | tuple | set | frozenset | np.ndarray) and len(value) == 0


def close(expected: Expected, got: Expected, tolerance: float) -> bool:
    """Whether a fitted answer is the expected value, numbers within a tolerance.

    >>> close((1.0, 2.0), (1.0, 2.0 + 1e-12), tolerance=1e-9)
    True
    >>> close(0.5, float("nan"), tolerance=1e-9)
    False
    """
    if isinstance(expected, bool | frozenset):
        return got == expected
    arrays = np.atleast_1d(np.asarray(expected)), np.atleast_1d(np.asarray(got))
    return first_difference(*arrays, tolerance) is None


def first_difference(
    expected: NDArray[Any], got: NDArray[Any], tolerance: float
) -> tuple[int, ...] | None:
    """Find the first index, from the last row of the first axis upwards, where arrays differ.

    What is computed backwards goes wrong first at the last step.

    >>> import numpy as np
    >>> first_difference(np.array([[1, 2], [3, 4]]), np.array([[0, 2], [3, 5]]), tolerance=1e-9)
    (1, 1)
    """
    if expected.dtype == bool:
        differ = got != expected
    else:
        differ = ~np.isclose(got, expected, rtol=tolerance, atol=tolerance)
    where = np.argwhere(differ[::-1])
    return (len(expected) - 1 - int(where[0, 0]), *map(int, where[0, 1:])) if where.size else None


def place(axes: Sequence[str], index: tuple[int, ...], world: object) -> str:
    """Say where in an array an index lies, in the words of the world.

    >>> import safeteach as st
    >>> place("HSA", (2, 1, 0), st.instances.union_counterexample())
    'at step h = 3, state x, action a0'
    """
    names: dict[str, Callable[[int], str]] = dict.fromkeys(STEPS, lambda i: f"step h = {i + 1}")
    if isinstance(world, SafeMDP):
        names |= {
            "S": lambda i: f"state {world.state_name(i)}",
            "A": lambda i: f"action {world.action_name(i)}",
        }
    words = [
        names[axis](i) if axis in names else f"index {i}"
        for axis, i in zip(axes, index, strict=True)
    ]
    return "at " + ", ".join(words)
