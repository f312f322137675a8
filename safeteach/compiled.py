"""Compile a function where numba is installed; run the same function as it is where it is not.

Importing numba takes a quarter of a second, so that only modules with kernels import this one,
and these are loaded when they are first used.  A compiled function is kept on disk; numba looks
for changes in its own file only, which is why a kernel calls none of another file.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

__all__ = ["compiled"]

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def compiled(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """``function``, compiled if numba is there; ``.py_func`` is then the plain one.

    Floating-point numbers are added in the order that the code says, so that the compiled and
    the plain function give the same bits.
    """
    try:
        from numba import njit
    except ImportError:
        return function
    return njit(cache=True, nogil=True, error_model="numpy")(function)
