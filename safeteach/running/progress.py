"""Show how far something is: a bar if tqdm is installed, else a line of text."""

from __future__ import annotations

import math
import sys
import time
from typing import Any

__all__ = ["Progress", "bar"]

PATIENCE = 3.0  # seconds that nobody needs to be told of
PAUSE = 0.2  # seconds between two looks at the clock


def bar(total: int | None, done: int, what: str, unit: str) -> Any:
    """A bar on stderr, with ``update`` and ``set_description``; a context manager."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return _Line(total, done, what, unit)
    return tqdm(total=total, initial=done, desc=what, unit=unit)


class _Line:
    """The same as one line of text that is written over."""

    def __init__(self, total: int | None, done: int, what: str, unit: str) -> None:
        self.total, self.n, self.what, self.unit = total, done, what, unit
        self.update(0)

    def set_description(self, what: str) -> None:
        self.what = what
        self.update(0)

    def update(self, n: int = 1) -> None:
        self.n += n
        of = "" if self.total is None else f" of {self.total:,}"
        print(f"\r{self.what}: {self.unit} {self.n:,}{of}", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        print(file=sys.stderr)

    def __enter__(self) -> _Line:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Progress:
    """Of episodes: shown from the moment on when somebody might begin to wonder.

    Parameters
    ----------
    what : str
    total : int or None
        Of episodes, if that is known.
    wanted : bool or None
        None: if stderr is a terminal.

    Attributes
    ----------
    next : float
        The number of episodes from which on :meth:`reach` wants to be told; asking it costs a
        learner nothing that can be measured.
    """

    def __init__(self, what: str, total: int | None, wanted: bool | None) -> None:
        self.what, self.total = what, total
        self.bar: Any = None
        shows = sys.stderr.isatty() if wanted is None else wanted
        self.next = 1.0 if shows else math.inf
        self.start = time.monotonic()

    def reach(self, k: int) -> None:
        """Show that k episodes are finished, and look again a moment later."""
        passed = time.monotonic() - self.start
        self.next = k + max(1.0, k / max(passed, 1e-9) * PAUSE)
        if passed > PATIENCE:
            self.bar = self.bar or bar(self.total, 0, self.what, "episode")
            self.bar.update(k - self.bar.n)

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self.bar:
            self.bar.close()
