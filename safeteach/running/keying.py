r"""Name results by all that they depend on, so that none is taken for another.

A key changes with values, and with code as far as it is imported from files: of a class its own
module, those of its bases, and what these import.  Of installed packages it knows the versions.
What code reads when it runs (data, environment variables, the arguments of a command) is not seen.
"""

from __future__ import annotations

import hashlib
import inspect
import os
import platform
import re
import sys
from contextlib import suppress
from dataclasses import fields, is_dataclass
from functools import cache, partial
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from types import CodeType
from typing import Any

import numpy as np

from safeteach.running.closure import HOME, INSTALLED, STANDARD, digest_with_own

__all__ = ["DIGITS", "Keys", "NotKeyable"]

DIGITS = 24  # of a digest, in a key
PLAIN = (type(None), bool, int, float, complex, str, bytes, range)


class NotKeyable(Exception):
    """Nobody could tell whether a kept result is still right; says why."""


class Keys:
    """Make keys of what results depend on.

    Parameters
    ----------
    version : str, optional
        Stands for what cannot be keyed: code that is in no file, objects of an unknown kind.

    Examples
    --------
    >>> keys = Keys()
    >>> keys.key("sum", sum, [1, 2]) == keys.key("sum", sum, (1, 2))
    False
    >>> keys.key("rule", lambda s: s)
    Traceback (most recent call last):
    safeteach.running.keying.NotKeyable: <lambda> cannot be imported from a file
    >>> Keys(version="1").key("rule", lambda s: s)[:5]
    'rule-'
    """

    def __init__(self, version: str | None = None) -> None:
        self.version = version
        self._codes: dict[Any, list[str]] = {}  # read once: all keys speak of the same code

    def key(self, label: str, *told: Any) -> str:
        """A name of a file, which begins with the label; NotKeyable if there can be none."""
        text = repr([platform.python_version(), self.version, self._told(told)])
        digest = hashlib.sha256(text.encode()).hexdigest()[:DIGITS]
        return re.sub(r"[^\w.-]+", "_", label) + f"-{digest}"

    def _told(self, value: Any) -> Any:
        """A value as nested lists of strings, different for different values."""
        kind = type(value)
        if kind in PLAIN:
            return [kind.__name__, repr(value)]
        if kind in (tuple, list):
            return [kind.__name__, *map(self._told, value)]
        if kind is dict:
            return ["dict", *map(self._told, value.items())]
        if (kind is np.ndarray or isinstance(value, np.generic)) and not value.dtype.hasobject:
            digest = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
            return [kind.__name__, repr(value.dtype.descr), repr(value.shape), digest]
        if kind is partial:
            return ["partial", *map(self._told, (value.func, value.args, value.keywords))]
        if isinstance(getattr(value, "__qualname__", None), str):
            return self._code(value)
        if is_dataclass(value):
            content = {field.name: getattr(value, field.name) for field in fields(value)}
            return [self._code(kind), self._told(content | getattr(value, "__dict__", {}))]
        if self.version is None:
            raise NotKeyable(f"nobody can tell what is in an object of class {kind.__qualname__}")
        return [f"{kind.__module__}.{kind.__qualname__}"]

    def _code(self, thing: Any) -> list[str]:
        """The code of a class or function: a digest of its files, and versions of packages."""
        if thing in self._codes:
            return self._codes[thing]
        roots, packages, unknown = dict[str, Path](), set[str](), []
        for part in _parts(thing):
            try:
                module, file = _origin(part)
            except NotKeyable:
                if self.version is None:
                    raise
                unknown.append(f"{part.__module__}.{part.__qualname__}")
            else:
                roots |= {module: file} if file else {}
                packages |= set() if file else {module}
        digest, more = digest_with_own(roots)
        name = f"{thing.__module__}.{thing.__qualname__}"
        if _SEEN.setdefault(name, digest) != digest:
            raise NotKeyable(f"the code of {name} was edited while this Python ran")
        versions = map(_version, sorted(packages | more))
        self._codes[thing] = [name, digest, *versions, *unknown]
        return self._codes[thing]


_SEEN: dict[str, str] = {}  # the digest of code when it was first used here


def _parts(thing: Any) -> list[Any]:
    """A function; or a class, its bases, and what somebody put into them from elsewhere."""
    if not isinstance(thing, type):
        return [thing]
    parts: list[Any] = [*thing.__mro__, *type.mro(type(thing))]
    for base in thing.__mro__:
        own = getattr(sys.modules.get(base.__module__), "__file__", None) or ""
        for value in vars(base).values():
            function = getattr(value, "__func__", getattr(value, "fget", value))
            file = function.__code__.co_filename if inspect.isfunction(function) else own
            # A dataclass writes methods in a string; installed code may do what it likes.
            if file not in (own, "<string>") and not _is_installed(Path(file)):
                parts.append(function)
    return parts


def _is_installed(file: Path) -> bool:
    """Whether a file is the standard library's or a package's that somebody installed."""
    inside = bool(INSTALLED & {*file.parts}) or file.is_relative_to(STANDARD)
    return inside and not file.is_relative_to(HOME)


def _origin(thing: Any) -> tuple[str, Path | None]:
    """The module that a class or function is imported from, and its file.

    Of what is installed the package is told, without a file.
    """
    place = thing.__module__ or ""  # of a method of an object there is none
    found = module = sys.modules.get(place)
    for name in thing.__qualname__.split("."):
        found = getattr(found, name, None)
    file = Path(getattr(module, "__file__", None) or os.devnull)
    code = getattr(inspect.unwrap(thing), "__code__", None)
    if found is thing and (place in sys.builtin_module_names or _is_installed(file)):
        return place.partition(".")[0], None
    if found is not thing or not file.is_file() or (code and not _is_from(code, file)):
        raise NotKeyable(f"{thing.__qualname__} cannot be imported from a file")
    spec = getattr(module, "__spec__", None)  # which knows the name of ``python -m name``
    return spec.name if spec else place, file.resolve()


def _is_from(code: CodeType, file: Path) -> bool:
    """Whether code was read from a file."""
    with suppress(OSError):
        return file.samefile(code.co_filename)
    return False


@cache
def _version(package: str) -> str:
    """The version of what is installed under a name; of the standard library there is one."""
    if package in sys.stdlib_module_names:
        return package
    names = [package]
    try:
        metadata.version(package)
    except metadata.PackageNotFoundError:
        names = metadata.packages_distributions().get(package, [])
    if not names and (package in sys.modules or find_spec(package)):
        raise NotKeyable(f"nobody can tell the version of the package {package}")
    return " ".join([package, *(f"{name} {metadata.version(name)}" for name in names)])
