"""Compile a function where numba is installed; run the same function as it is where it is not.

Beside :func:`compiled` stand the kernels that several rooms share: :func:`draw`, which lets a
uniform number choose by probabilities, and :func:`best_of`, the one rule for ties.

Importing numba takes a quarter of a second, so that only modules with kernels import this one,
and these are loaded when they are first used.  A compiled function is kept on disk.  It may call
kernels and read constants of other files of its package: numba, which looks for changes in the
function's own file, is told of the files that this one imports.
"""

from __future__ import annotations

import hashlib
import re
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from importlib.util import resolve_name
from pathlib import Path
from typing import Any, Literal, ParamSpec, TypeVar

import numpy as np

__all__ = ["Uncompiled", "best_of", "compiled", "draw", "inlined", "warn_if_plain"]

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

# Parsing the files would take five times as long, in every process.
IMPORTS = re.compile(
    r"^[ \t]*(?:from[ \t]+([.\w]+)[ \t]+import[ \t]+(\([^)]*\)|.*)|import[ \t]+(.*))", re.MULTILINE
)


def compiled(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """``function``, compiled if numba is there; ``.py_func`` is then the plain one.

    Floating-point numbers are added in the order that the code says, so that the compiled and
    the plain function give the same bits.
    """
    return _compiled(function, "never")


def inlined(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """The same for a small function that stands in the innermost loop of others.

    It becomes part of each kernel that calls it; a call would cost more than what it does.
    """
    return _compiled(function, "always")


def _compiled(
    function: Callable[Arguments, Result], inline: Literal["never", "always"]
) -> Callable[Arguments, Result]:
    try:
        from numba import njit
    except ImportError:
        return function
    kernel = njit(cache=True, nogil=True, error_model="numpy", inline=inline)(function)
    # Not public: a numba that calls it otherwise looks at the function's own file only.
    with suppress(AttributeError):
        kept = kernel._cache._cache_file  # type: ignore[attr-defined]
        kept._source_stamp = (kept._source_stamp, _digest(function.__module__))
    return kernel


class Uncompiled(UserWarning):
    """Learners run as plain Python."""


@cache
def warn_if_plain() -> None:
    """Say, once a process, that nothing is compiled, if there is no numba."""
    if "numba" not in sys.modules:
        warnings.warn(
            "numba is not installed: learners run as plain Python, about a hundred times slower; "
            'say pip install "safeteach[fast]"',
            Uncompiled,
            stacklevel=4,
        )


@cache
def _digest(module: str) -> str:
    """A digest of a module and of what it imports from its package, directly or not."""
    return hashlib.sha256("".join(sorted(_behind(module).values())).encode()).hexdigest()


def _behind(module: str) -> dict[Path, str]:
    """A module's file and those that it imports from its package, with digests of them."""
    package = module.partition(".")[0]
    found: dict[Path, str] = {}
    # A module that is in no package, such as a notebook's, imports nothing from one.
    for folder in getattr(sys.modules.get(package), "__path__", ()):
        names = [module]
        while names:
            file = _file(Path(folder), names.pop())
            if file and file not in found:
                found[file], imported = _read(file, Path(folder), package)
                names += imported
    return found


@cache
def _file(home: Path, name: str) -> Path | None:
    """The file of a module or a package, if there is one."""
    place = home.joinpath(*name.split(".")[1:])
    file = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
    return file if file.is_file() else None


@cache
def _read(file: Path, home: Path, package: str) -> tuple[str, list[str]]:
    """A digest of a file, and the modules that it imports from its package."""
    code = file.read_bytes()
    here = ".".join((package, *file.parent.relative_to(home).parts))
    names: list[str] = []
    for source, taken, plain in IMPORTS.findall(code.decode()):
        module = resolve_name(source, here) if source else ""
        if module.split(".")[0] == package:
            parts = [f"{module}.{part}" for part in re.findall(r"\w+", taken)]
            modules = [part for part in parts if _file(home, part)]
            # Only a name that is not a module itself comes out of the package's ``__init__``.
            names += modules if parts and modules == parts else [module, *modules]
        names += [name for name in re.findall(r"[.\w]+", plain) if name.split(".")[0] == package]
    return hashlib.sha256(code).hexdigest(), names


@compiled
def draw(probability: Any, uniform: float) -> int:
    """The index that a uniform number falls on, as :func:`safeteach.rollout` draws it."""
    total = 0.0
    for p in probability:
        total += p
    below = min(uniform * total, np.nextafter(total, 0.0))
    i = 0
    total = probability[0]
    while total <= below and i < len(probability) - 1:
        i += 1
        total += probability[i]
    return i


@inlined
def best_of(values: Any, allowed: Any, best: float, uniform: float) -> int:
    """Among the m allowed indices with the value ``best`` the one with number int(m * uniform).

    With ``allowed`` None all are.  Zero where there is none, as where overflow left no number to
    compare.
    """
    m, chosen = 0, 0
    for i in range(len(values)):
        if (allowed is None or allowed[i]) and values[i] == best:
            m += 1
            chosen = i
    if m > 1:
        skip = int(m * uniform)
        for i in range(len(values)):
            if (allowed is None or allowed[i]) and values[i] == best:
                if skip == 0:
                    chosen = i
                skip -= 1
    return chosen
