r"""Keep results in a folder: each whole or not at all, and made once though many want it.

While a file is made its ``.part`` is locked, so that two commands do not make it twice; the kernel
unlocks it when a process ends, however it ends.  Where Python has no ``fcntl``, as on Windows,
there are no locks: two commands at once may make a thing twice, and a killed one leaves its parts.
"""

from __future__ import annotations

import io
import os
import warnings
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from safeteach.running.keying import DIGITS

try:
    import fcntl
except ImportError:  # pragma: no cover, Windows alone has none
    fcntl = None  # type: ignore[assignment]

__all__ = ["Claim", "Shelf"]


class Shelf:
    """A folder with one file a key.

    Parameters
    ----------
    folder : path
        Made if it is not there.  What dead processes have left in it is removed.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self._damaged: set[tuple[str, int, int]] = set()
        for part in self.folder.glob(f"*-{'[0-9a-f]' * DIGITS}.part") if fcntl else ():
            with suppress(OSError):  # it has gone meanwhile, or is not ours
                if left := _claim(part, part, os.O_RDWR, wait=False):
                    left.release()

    def has(self, key: object) -> bool:
        """Whether something is kept under a key."""
        return (self.folder / f"{key}.npz").exists()

    def find(self, key: str, kind: type) -> Any | None:
        """What is kept under a key, as ``kind(**fields)``; None if there is nothing.

        A file that cannot be read counts as nothing, and a warning names it.
        """
        file = self.folder / f"{key}.npz"
        if not file.exists():
            return None
        found = (key, file.stat().st_ino, file.stat().st_mtime_ns)
        if found in self._damaged:
            return None
        try:
            with file.open("rb") as stream, np.load(stream) as kept:
                content = {name: kept[name] for name in kept.files}
            return kind(**{n: x if x.ndim else x.item() for n, x in content.items()})
        except Exception as problem:  # numpy, zipfile and zlib have many words for it
            self._damaged.add(found)
            warnings.warn(f"{file} cannot be read and is made again: {problem}", stacklevel=2)
            return None

    def claim(self, key: str, wait: bool = False) -> Claim | None:
        """The right to make what is kept under a key; None if somebody else has it.

        Whoever gets it looks for the file once more: it may have been made meanwhile.
        """
        part = self.folder / (f"{key}.part" if fcntl else f"{key}.{os.getpid()}.part")
        return _claim(part, self.folder / f"{key}.npz", os.O_RDWR | os.O_CREAT, wait)


@dataclass
class Claim:
    """The right to make a file, until something is kept in it or the right is given back."""

    part: Path
    file: Path
    descriptor: int
    given_back: bool = False

    def keep(self, result: Any) -> None:
        """Write the fields of a result, a dict or a dataclass: the whole file or nothing."""
        told = result if isinstance(result, dict) else vars(result)
        content = io.BytesIO()
        np.savez(content, **{name: value for name, value in told.items() if value is not None})
        os.ftruncate(self.descriptor, 0)
        with open(self.descriptor, "wb", closefd=False) as file:
            file.write(content.getbuffer())
        if not fcntl:  # Windows does not rename what is open
            self._close()
        self.part.replace(self.file)
        self._close()

    def release(self) -> None:
        """Give the right back, if it has not been used."""
        if not self.given_back and self.descriptor in _HELD and _is_at(self.descriptor, self.part):
            self.part.unlink()
        self._close()

    def _close(self) -> None:
        if not self.given_back and self.descriptor in _HELD:  # else a fork's parent has it
            self.given_back = True
            _HELD.remove(self.descriptor)  # before its number is free for another thread
            os.close(self.descriptor)


_HELD: set[int] = set()  # descriptors of claims


def _claim(part: Path, file: Path, flags: int, wait: bool) -> Claim | None:
    while True:
        descriptor, mine = os.open(part, flags, 0o666), False
        try:
            if fcntl:
                fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            mine = _is_at(descriptor, part)
        except BlockingIOError:
            return None
        finally:
            if not mine:
                os.close(descriptor)
        if mine:  # else whoever had it has renamed or removed it
            _HELD.add(descriptor)
            return Claim(part, file, descriptor)


def _is_at(descriptor: int, path: Path) -> bool:
    """Whether an open file is the one at a path."""
    with suppress(OSError):
        return os.path.samestat(os.fstat(descriptor), path.stat())
    return False


def _forget() -> None:  # pragma: no cover, runs in children alone
    """Close what the parent has locked: a lock lives as long as anybody has it open."""
    while _HELD:
        os.close(_HELD.pop())


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
