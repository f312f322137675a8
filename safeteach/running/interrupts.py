"""Hold an interrupt back until it can do no harm.

An interrupt, Ctrl-C, is an error that may come between any two lines: when a file is open and
nobody knows of it yet, or in a callback of Python's own, which forgets errors, so that the
interrupt is lost.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["Hold"]


class Hold:
    """In ``with Hold():`` an interrupt waits for the end, or for where the hold is lifted.

    Elsewhere than in the main thread no interrupt is raised, and nothing is done.

    Examples
    --------
    >>> import signal
    >>> seen = []
    >>> try:
    ...     with Hold() as hold:
    ...         signal.raise_signal(signal.SIGINT)
    ...         seen.append("finished")
    ...         with hold.lifted():
    ...             seen.append("never")
    ... except KeyboardInterrupt:
    ...     seen.append("interrupted")
    >>> seen
    ['finished', 'interrupted']
    """

    def __init__(self) -> None:
        self._came = False
        self._before: Any = None  # how interrupts are taken outside

    def __enter__(self) -> Hold:
        self._take()
        return self

    def __exit__(self, *_: object) -> None:
        self._let_go()

    @contextmanager
    def lifted(self) -> Iterator[None]:
        """Let an interrupt through, also one that has come before."""
        self._let_go()
        try:
            yield
        finally:
            self._take()

    def _take(self) -> None:
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._note)

    def _note(self, *_: Any) -> None:
        self._came = True

    def _let_go(self) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
            self._before = None
        if self._came:
            self._came = False
            signal.raise_signal(signal.SIGINT)
