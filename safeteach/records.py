"""Results that hold arrays: they can be compared, shown in one line, and kept in a file.

A result is declared by ``@dataclass(frozen=True, eq=False, repr=False)`` on a :class:`Record`, or
on a :class:`Kept` if it can be kept.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any, Self, TypeVar

import numpy as np

from safeteach.arguments import instance, shown

__all__ = ["Kept", "Record", "deferring"]

Class = TypeVar("Class", bound=type)

FEW = 8  # entries of an array that is shown whole
VERSION = 1  # of the files


class Record:
    """A dataclass with arrays.  Two are equal if all that they hold is; NaN equals NaN."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(_same(value, getattr(other, name)) for name, value in self._told().items())

    def __repr__(self) -> str:
        told = (f"{name}={_short(value)}" for name, value in self._told().items())
        return f"{type(self).__name__}({', '.join(told)})"

    def _told(self) -> dict[str, Any]:
        """All fields but a deferred one."""
        names = [field.name for field in fields(self)]  # type: ignore[arg-type]
        deferred = [n for n in names if isinstance(vars(type(self)).get(n), _Deferred)]
        return {name: getattr(self, name) for name in names if name not in deferred}


def deferring(name: str) -> Callable[[Class], Class]:
    """A record one field of which may be given as a function: called when it is first read.

    The field takes no part in comparisons, and is not shown.
    """

    def decorate(cls: Class) -> Class:
        setattr(cls, name, _Deferred(name))
        return cls

    return decorate


class _Deferred:
    def __init__(self, name: str) -> None:
        self.name = name

    def __set__(self, record: Any, given: Any) -> None:
        record.__dict__[self.name] = given

    def __get__(self, record: Any, _owner: type) -> Any:
        given = record.__dict__[self.name]
        if callable(given):
            given = record.__dict__[self.name] = given()
        return given


class Kept(Record):
    """A record that can be kept in a file."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to a file, whole or not at all; numpy's ``.npz``, which holds no code.

        Examples
        --------
        >>> import tempfile, numpy as np, safeteach as st
        >>> history = st.History(reward=np.ones(3), violation=np.zeros(3), regret=np.zeros(3))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     history.save(f"{folder}/run.npz")
        ...     st.History.load(f"{folder}/run.npz") == history
        True
        """
        file = _path(path)
        content = {
            field.name: getattr(self, field.name)
            for field in fields(self)  # type: ignore[arg-type]
        }
        part = file.with_name(f"{file.name}.part")
        with part.open("wb") as stream:
            np.savez(
                stream,
                record=np.array(f"safeteach {type(self).__name__} {VERSION}"),
                **{name: value for name, value in content.items() if value is not None},
            )
        part.replace(file)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read what :meth:`save` has written.

        Raises
        ------
        ValueError
            If the file is damaged, or holds something else.
        """
        file = _path(path)
        with file.open("rb") as stream:
            try:
                with np.load(stream) as found:
                    content = {name: found[name] for name in found.files}
            except Exception as problem:  # numpy, zipfile and zlib have many words for it
                raise ValueError(
                    f"{file} is damaged or no file of {cls.__name__}.save: {shown(problem)}"
                ) from None
        record = str(content.pop("record", "nothing that safeteach has saved"))
        if record != f"safeteach {cls.__name__} {VERSION}":
            raise ValueError(
                f"{file} holds {record}; expected safeteach {cls.__name__} {VERSION}"
            )
        needed = [
            field.name
            for field in fields(cls)  # type: ignore[arg-type]
            if field.default is MISSING and field.name not in content
        ]
        if needed:
            raise ValueError(f"{file} lacks {', '.join(needed)}")
        return cls(**{n: x if x.ndim else x.item() for n, x in content.items()})


def _path(path: Any) -> Path:
    return Path(instance(path, "path", str | os.PathLike, "the path of a file"))


def _same(one: Any, other: Any) -> bool:
    if one is None or other is None:
        return one is other
    return bool(np.array_equal(one, other, equal_nan=True))


def _short(value: Any) -> str:
    if isinstance(value, np.ndarray) and value.size > FEW:
        return f"<{value.dtype} {value.shape}>"
    return repr(value)
