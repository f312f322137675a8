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

from safeteach.worlds.games import SafeGame
from safeteach.worlds.mdp import SafeMDP

__all__ = [
    "STEPS",
    "Misfit",
    "close",
    "difference",
    "first_difference",
    "fitted",
    "form_of",
    "is_whole",
    "place",
    "shown",
    "wrong_parts",
]

LARGEST_SHOWN = 24  # entries
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")

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

    Of a table of bools is said where it is true, of one of counts where it is not zero.

    >>> import numpy as np
    >>> [shown(v) for v in (0.1 + 0.2, [1.0, 2.5], np.array([[0.75]]), np.ones((9, 9)))]
    ['0.3', '[1, 2.5]', '[[0.75]]', 'an array of float64 with shape (9, 9)']
    >>> print(shown(np.eye(2, dtype=bool)))
    True at (0, 0), (1, 1) of (2, 2)
    """
    if isinstance(value, np.ndarray):
        return _shown_array(value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):  # an episode is a tuple of arrays
        parts = zip(value._fields, value, strict=True)
        inside = ", ".join(f"{name}={shown(part)}" for name, part in parts if part is not None)
        return f"{type(value).__name__}({inside})"
    if isinstance(value, tuple | list | frozenset) and 0 < len(value) <= LARGEST_SHOWN:
        brackets = {tuple: "()", list: "[]", frozenset: "{}"}[type(value)]
        entries = sorted(value) if isinstance(value, frozenset) else value
        return brackets[0] + ", ".join(map(shown, entries)) + brackets[1]
    return form_of(value)


def _shown_array(array: NDArray[Any]) -> str:
    sparse = array.ndim > (1 if array.dtype == bool else 2) and array.dtype.kind in "biu"
    where = np.argwhere(array) if sparse else None
    if where is not None and len(where) <= LARGEST_SHOWN:
        places = [f"({', '.join(map(str, index))})" for index in where.tolist()]
        if array.dtype == bool:
            said = f"True at {', '.join(places)} of" if places else "False everywhere in"
        else:
            entries = [f"{n} at {p}" for n, p in zip(array[array != 0], places, strict=True)]
            said = f"{', '.join(entries)} and 0 elsewhere in" if places else "0 everywhere in"
        return f"{said} {array.shape}"
    if array.size > LARGEST_SHOWN:
        return form_of(array)
    if array.dtype.kind != "f":
        return str(array.tolist())
    return np.array2string(
        array, separator=", ", threshold=LARGEST_SHOWN, max_line_width=10**6,
        formatter={"float_kind": lambda x: f"{x:.6g}"},
    ).replace("\n", "")  # fmt: skip


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


def wrong_parts(
    expected: tuple[float, ...], got: Sequence[float], tolerance: float
) -> tuple[str, ...]:
    """Which entries of a tuple are wrong, as ordinals.

    >>> wrong_parts((1, 2, 3), (1, 5, 4), tolerance=1e-9)
    ('second', 'third')
    """
    pairs = zip(ORDINALS, expected, got, strict=False)
    return tuple(n for n, right, given in pairs if not close(right, given, tolerance))


def difference(expected: Expected, got: Expected, tolerance: float) -> str:
    """Say which part of a value is another one, without saying what it is.

    >>> difference((1, 2, 3), (1, 5, 4), tolerance=1e-9)
    'Of the 3 numbers the second and the third are other ones.'
    >>> difference((1, 2), (3, 4), tolerance=1e-9)
    'None of the 2 numbers is right.'
    >>> difference(frozenset({1, 2}), frozenset({1}), tolerance=1e-9)
    '1 is missing.'
    """
    if isinstance(expected, tuple) and isinstance(got, tuple):
        wrong = [f"the {ordinal}" for ordinal in wrong_parts(expected, got, tolerance)]
        if len(wrong) == len(expected):
            return f"None of the {len(expected)} numbers is right."
        said = " and ".join([", ".join(wrong[:-1]), wrong[-1]][len(wrong) < 2 :])
        are = "is another one" if len(wrong) == 1 else "are other ones"
        return f"Of the {len(expected)} numbers {said} {are}."
    if isinstance(expected, frozenset) and isinstance(got, frozenset):
        strange, missing = len(got - expected), len(expected - got)
        parts = [f"{strange} of yours {'does' if strange == 1 else 'do'} not belong there"]
        parts += [f"{missing} {'is' if missing == 1 else 'are'} missing"]
        return ", ".join(parts[strange == 0 : 1 + (missing > 0)]) + "."
    return "The value is another one."


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


def place(axes: Sequence[str], index: tuple[int, ...], world: Any) -> str:
    """Say where in an array an index lies, in the words of the world.

    >>> import safeteach as st
    >>> place("HSA", (2, 1, 0), st.instances.union_counterexample())
    'at step h = 3, state x, action a0'
    >>> place(("policy", "N"), (2, 1), None)
    'at policy 2, index 1'
    """
    known = isinstance(world, SafeMDP | SafeGame)
    names: dict[str, Callable[[int], str]] = dict.fromkeys(STEPS, lambda i: f"step h = {i + 1}")
    names["S"] = lambda i: f"state {world.state_name(i) if known else i}"
    names["A"] = lambda i: f"action {world.action_name(i) if known else i}"
    words = []
    for axis, i in zip(axes, index, strict=True):
        word = axis if axis.isalpha() and axis.islower() else "index"
        words.append(names[axis](i) if axis in names else f"{word} {i}")
    return "at " + ", ".join(words)
