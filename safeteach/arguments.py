"""Check what is handed over: one way to say which argument is wrong, and what was expected.

Each function returns what it was given, unless it is not what its name says.  A single value of a
wrong kind is a ``TypeError``, any other mistake a ``ValueError``; both name the argument, say what
was given and what was expected.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

__all__ = [
    "check_fits",
    "flag",
    "floats",
    "frozen",
    "instance",
    "number",
    "numbered",
    "numbers",
    "one_of",
    "read_seed",
    "real_array",
    "shown",
    "string",
    "whole",
    "whole_array",
]

LARGEST = 2**63 - 1  # what an array of whole numbers can hold
LONGEST = 80  # of what a message shows
UNKNOWN_MEMORY = 8 * 2**30  # taken to be free where the system does not tell


def shown(value: object) -> str:
    """A value in one line, of bearable length."""
    try:
        plain = value.item() if isinstance(value, np.generic) else value
        line = " ".join(repr(plain).split())
    except Exception:  # a number of thousands of digits, or an object that cannot say what it is
        return f"an object of class {type(value).__name__}"
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"


def whole(value: Any, name: str, at_least: float = 1, at_most: float = LARGEST) -> int:
    """A whole number, and no bool, in a range.

    >>> whole(2.0, "K")
    Traceback (most recent call last):
    TypeError: K is 2.0; expected a whole number
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise TypeError(f"{name} is {shown(value)}; expected a whole number")
    if value < at_least:
        raise ValueError(f"{name} is {shown(value)}; it must be at least {at_least}")
    if value > at_most:
        raise ValueError(f"{name} is {shown(value)}; it must be at most {at_most}")
    return int(value)


def numbered(value: Any, name: str, things: str, first: int, last: int) -> int:
    """The number of one of several things that are numbered from first to last.

    >>> numbered(9, "h", "steps", 1, 4)
    Traceback (most recent call last):
    ValueError: h is 9; the steps are 1..4
    """
    if not first <= whole(value, name, -math.inf, math.inf) <= last:
        raise ValueError(f"{name} is {shown(value)}; the {things} are {first}..{last}")
    return int(value)


def number(
    value: Any,
    name: str,
    low: float = -math.inf,
    high: float = math.inf,
    ends: str = "()",
    rule: str = "",
) -> Any:
    """A number between two others; NaN is none, and infinite ones lie only in closed intervals.

    ``rule`` says what is expected in other words.

    >>> number(99, "delta", 0, 1)
    Traceback (most recent call last):
    ValueError: delta is 99; expected a number in (0, 1)
    """
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} is {shown(value)}; expected a number")
    try:
        inside = _inside(float(value), low, high, ends)
    except OverflowError:  # a whole number that no float can hold
        inside = False
    if not inside:
        expected = rule or f"expected {_range(low, high, ends)}"
        raise ValueError(f"{name} is {shown(value)}; {expected}")
    return value


def numbers(
    value: ArrayLike, name: str, low: float = -math.inf, high: float = math.inf, ends: str = "()"
) -> NDArray[np.float64]:
    """Numbers between two others, of any shape, as floats; it may be the array that was given.

    >>> numbers([3, -1], "n", 0, ends="[]")
    Traceback (most recent call last):
    ValueError: n[1] is -1.0; expected a number in [0, inf]
    """
    given = real_array(value, name)
    if given.dtype.kind == "b":
        raise ValueError(f"{name} is {shown(value)}; expected numbers, not bool")
    array = given.astype(np.float64, copy=False)
    bad = np.argwhere(~_inside(array, low, high, ends))
    if len(bad):
        place = f"[{', '.join(map(str, bad[0]))}]" if array.ndim else ""
        raise ValueError(
            f"{name}{place} is {array[tuple(bad[0])]}; expected "
            f"{_range(low, high, ends)}"
        )
    return array


def real_array(value: ArrayLike, name: str) -> NDArray[Any]:
    """What is handed over as an array of real numbers of whatever type, not copied if it is one.

    Truth values count as 0 and 1.  Text, complex numbers, objects and masked entries do not count.
    """
    if hasattr(value, "tocsr"):
        raise ValueError(f"{name} is a sparse matrix; expected an array, such as {name}.toarray()")
    if _is_masked(value):
        raise ValueError(f"{name} has masked entries; expected an array that says all its numbers")
    try:
        array = np.asarray(value)
    except Exception as error:  # an object may raise anything when it is asked for its numbers
        raise ValueError(f"{name} is not a rectangular array of numbers ({error})") from None
    if array.dtype.kind not in "biuf":
        raise ValueError(
            f"{name} is not a rectangular array of numbers (it holds {array.dtype}, not real "
            f"numbers)"
        )
    return array


def floats(value: ArrayLike, name: str) -> NDArray[np.float64]:
    """What is handed over as a new array of floats."""
    return np.array(real_array(value, name), dtype=np.float64)


def whole_array(value: ArrayLike, name: str, *shape: int) -> NDArray[np.int64]:
    """Whole numbers in an array of this shape, which is new and frozen."""
    array = real_array(value, name)
    if array.dtype.kind not in "iu" or array.shape != shape:
        raise ValueError(
            f"{name} holds {array.dtype} in shape {array.shape}; expected whole numbers in shape "
            f"{shape}"
        )
    return frozen(array.astype(np.int64))


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """``array``, which nobody can write to any more."""
    array.flags.writeable = False
    return array


def flag(value: Any, name: str) -> bool:
    """True or False, and nothing that only counts as one of them."""
    return bool(instance(value, name, bool | np.bool_, "True or False"))


def read_seed(seed: int | np.random.Generator) -> np.random.Generator:
    """A source of random numbers from a whole number, or the one that is handed over."""
    if isinstance(seed, np.random.Generator):
        return seed
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer):
        raise TypeError(
            f"seed is {shown(seed)}; expected a whole number, at least 0, or a numpy Generator"
        )
    return np.random.default_rng(whole(seed, "seed", 0, math.inf))


def one_of(value: Any, name: str, options: tuple[str, ...]) -> Any:
    """One of a few words."""
    if not isinstance(value, str) or value not in options:
        words = " or ".join(f'"{option}"' for option in options)
        raise ValueError(f"{name} is {shown(value)}; expected {words}")
    return value


def string(value: Any, name: str) -> Any:
    """A string."""
    return instance(value, name, str, "a string")


def instance(value: Any, name: str, kind: Any, expected: str) -> Any:
    """Something of a kind, or of one of several."""
    if not isinstance(value, kind):
        raise TypeError(f"{name} is {shown(value)}; expected {expected}")
    return value


def check_fits(shape: Sequence[int], dtype: DTypeLike, name: str, instead: str = "") -> None:
    """Refuse an array that would not fit into the memory that is free, before it is allocated.

    Parameters
    ----------
    shape : sequence of int
    dtype : numpy dtype, or what numpy makes one of
    name : str
        What the array is, as the error begins: the call or the arguments that ask for it.
    instead : str
        What to do instead, if anything.

    Examples
    --------
    >>> check_fits((2, 3), bool, "support()")
    >>> check_fits((10**6, 10**9), float, "P", instead="use rows(h)")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: P would take 8000.0 TB (shape (1000000, 1000000000), float64), and ... are free; ...
    """
    takes = math.prod(map(int, shape)) * np.dtype(dtype).itemsize
    free = _free_memory()
    if takes > free:
        raise ValueError(
            f"{name} would take {_size(takes)} (shape {shown(tuple(map(int, shape)))}, "
            f"{np.dtype(dtype)}), and {_size(free)} are free{instead and f'; {instead}'}"
        )


def _free_memory() -> int:
    """How many bytes can be had without swapping, as far as the system tells."""
    try:
        told = Path("/proc/meminfo").read_text("ascii").partition("MemAvailable:")[2]
        return int(told.split()[0]) * 1024
    except (OSError, IndexError):
        pass
    try:  # all of the memory, where nobody says how much of it is free
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return UNKNOWN_MEMORY


def _size(size: int) -> str:
    unit, scale = ("GB", 10**9) if size < 10**12 else ("TB", 10**12)
    return f"{shown(size // scale)}.{size * 10 // scale % 10} {unit}"


def _is_masked(value: object) -> bool:
    if isinstance(value, list | tuple):
        return any(map(_is_masked, value))
    return isinstance(value, np.ma.MaskedArray)


def _inside(value: Any, low: float, high: float, ends: str) -> Any:
    """Whether it lies in the interval; never for NaN."""
    above = value > low if ends[0] == "(" else value >= low
    below = value < high if ends[1] == ")" else value <= high
    return above & below


def _range(low: float, high: float, ends: str) -> str:
    if low == -high == -math.inf and ends == "()":
        return "a finite number"
    return f"a number in {ends[0]}{low:g}, {high:g}{ends[1]}"
