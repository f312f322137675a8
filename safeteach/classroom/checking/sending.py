"""Send a reader's function to another Python, where a fork cannot take it along.

Pickle sends a function by its name, and a function of a notebook has none that another process
could look up.  Here it is sent as its code, its defaults, what it closes over and those globals of
the notebook that it names, functions among them in the same way.  Both sides are the same Python.
"""

from __future__ import annotations

import importlib
import io
import marshal
import pickle
import sys
import types
from collections.abc import Iterator
from typing import Any

__all__ = ["Unsendable", "pack", "unpack"]


class Unsendable(TypeError):
    """Something that cannot be sent, such as an instance of a class that a notebook defines."""


def pack(thing: Any) -> bytes:
    """Turn a thing with whatever functions it holds into bytes.

    Raises
    ------
    Unsendable
        If something in it can be sent neither by its name nor by its content.

    Examples
    --------
    >>> threshold = 3
    >>> high = unpack(pack(lambda n: n > threshold))
    >>> high(4), high(3)
    (True, False)
    """
    packed = io.BytesIO()
    try:
        _Packer(packed, protocol=5).dump(thing)
    except Exception as error:
        raise Unsendable(str(error)) from error
    return packed.getvalue()


def unpack(packed: bytes) -> Any:
    """The thing again, in any process of the same Python.

    Bytes from elsewhere must not come here: to unpack is to run what they say.
    """
    return pickle.loads(packed)


class _Packer(pickle.Pickler):
    def reducer_override(self, thing: Any) -> Any:
        if isinstance(thing, types.ModuleType):
            return importlib.import_module, (thing.__name__,)
        if isinstance(thing, types.FunctionType) and not _has_a_name(thing):
            code = marshal.dumps(thing.__code__)
            # First the bare function, then what it holds: which may be the function itself.
            return _bare, (code, len(thing.__closure__ or ())), _held(thing), None, None, _fill
        if isinstance(thing, type) and thing.__module__ == "__main__":
            raise Unsendable(f"{thing.__qualname__} is a class that only this process knows")
        return NotImplemented


def _has_a_name(function: types.FunctionType) -> bool:
    """Whether another process can look a function up."""
    found: Any = sys.modules.get(function.__module__ or "")
    if function.__module__ == "__main__":
        return False
    for part in function.__qualname__.split("."):
        found = getattr(found, part, None)
    return found is function


def _held(function: types.FunctionType) -> dict[str, Any]:
    known = function.__globals__
    return {
        "globals": {name: known[name] for name in _names(function.__code__) if name in known},
        "closure": [cell.cell_contents for cell in function.__closure__ or ()],
        "about": {
            name: getattr(function, name)
            for name in ("__name__", "__qualname__", "__defaults__", "__kwdefaults__", "__dict__")
        },
    }


def _names(code: types.CodeType) -> Iterator[str]:
    """The names that some code looks up, also in the functions that it defines."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)


def _bare(code: bytes, cells: int) -> types.FunctionType:
    own = {"__builtins__": __builtins__}
    closure = tuple(types.CellType() for _ in range(cells))
    return types.FunctionType(marshal.loads(code), own, closure=closure)


def _fill(function: types.FunctionType, held: dict[str, Any]) -> None:
    function.__globals__.update(held["globals"])
    for cell, contents in zip(function.__closure__ or (), held["closure"], strict=True):
        cell.cell_contents = contents
    for name, value in held["about"].items():
        setattr(function, name, value)
