"""Run a reader's code so that nothing it does can hurt the notebook.

Where the system can fork, the work runs in a child process with a limit on time and memory, and
with nothing to write on; the child is killed at the end, whatever it is doing.  A function from a
notebook cannot be pickled, and a fork need not pickle it.  Where the system cannot fork (Windows,
a browser) the same work runs in this process, without the two limits.
"""

from __future__ import annotations

import builtins
import contextlib
import faulthandler
import io
import os
import pickle
import re
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

__all__ = ["KEEPS_FROZEN", "LIMIT", "Called", "Run", "call", "can_fork", "isolated"]

LIMIT = 8.0  # seconds for a whole check
MEMORY = 2**30  # bytes that the work may ask for beyond the notebook's own; Binder has 2 GB in all
LONGEST_OUTPUT = 400  # characters of what a reader's code prints
KEEPS_FROZEN = 5  # the protocol of pickle under which a read-only array stays one
LONGEST_MESSAGE = 200  # characters of an error's own message

T = TypeVar("T")


@dataclass(frozen=True)
class Run(Generic[T]):
    """How isolated work went.

    Attributes
    ----------
    last : T or None
        The last thing that the work yielded.
    ended : "done", "late" or "died"
        By itself, by the limit on time, or by the end of its process.
    signal : str
        The name of the signal that ended the process, if one did.
    """

    last: T | None
    ended: Literal["done", "late", "died"]
    signal: str = ""


def can_fork() -> bool:
    """Whether this system can run work in a child, with its limits."""
    return hasattr(os, "fork")


def isolated(work: Callable[[], Iterator[T]]) -> Run[T]:
    """Run a generator to its end, in a child process if the system can fork.

    Parameters
    ----------
    work : function that returns an iterator
        What it yields must be picklable.  Of a child that is stopped, the last thing remains.

    Raises
    ------
    RuntimeError
        If the work raises: it must catch what a reader's code raises.

    Examples
    --------
    >>> isolated(lambda: iter([1, 2]))
    Run(last=2, ended='done', signal='')
    >>> import os
    >>> isolated(lambda: iter(lambda: os._exit(0), None))
    Run(last=None, ended='died', signal='')
    """
    if can_fork():
        return _in_child(work)
    last = None
    for thing in work():
        last = thing
    return Run(last, "done")


def _in_child(work: Callable[[], Iterator[T]]) -> Run[T]:
    # Imported here because a browser's Python has neither.
    import signal
    from multiprocessing.connection import Pipe

    reader, writer = Pipe(duplex=False)
    with warnings.catch_warnings():
        # A kernel has threads, and newer Pythons warn that a child of such a process may find a
        # lock held for ever.  If it does, the limit on time ends it.
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid == 0:
        _be_the_child(work, writer)  # pragma: no cover
    writer.close()
    deadline = time.monotonic() + LIMIT
    last: T | None = None
    ended: Literal["done", "late", "died"] = "late"
    failure = ""
    try:
        while ended == "late" and reader.poll(max(0.0, deadline - time.monotonic())):
            match pickle.loads(reader.recv_bytes()):
                case ("yields", thing):
                    last = thing
                case ("fails", failure):
                    ended = "died"
                case _:
                    ended = "done"
    except EOFError:
        ended = "died"
    finally:
        reader.close()
        status = _end(pid, patience=1.0 if ended == "died" else 0.0)
    if failure:
        raise RuntimeError(f"the checker itself failed:\n{failure}")
    killed = ended == "died" and os.WIFSIGNALED(status)
    return Run(last, ended, signal.Signals(os.WTERMSIG(status)).name if killed else "")


def _end(pid: int, patience: float) -> int:
    """Wait a little for a child to end by itself, then end it and all that it started.

    Returns
    -------
    int
        The child's status, as ``os.waitpid`` gives it.
    """
    import signal

    until = time.monotonic() + patience
    ended, status = 0, 0
    while not ended and time.monotonic() < until:
        ended, status = os.waitpid(pid, os.WNOHANG)
        time.sleep(0.001)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
    if not ended:
        os.kill(pid, signal.SIGKILL)  # in case it has left its group, or not yet made it
        status = os.waitpid(pid, 0)[1]
    return status


# From here on in the child, which is killed: what it reaches coverage cannot see.
def _be_the_child(work: Callable[[], Iterator[Any]], writer: Any) -> None:  # pragma: no cover
    """Do the work, say what it yields, and end here: the notebook goes on in the parent alone."""

    def send(*message: Any) -> None:
        writer.send_bytes(pickle.dumps(message, KEEPS_FROZEN))

    try:
        os.setpgid(0, 0)
        _cut_off()
        _limit_memory()
        for thing in work():
            send("yields", thing)
        send("ends")
    except BaseException:
        send("fails", traceback.format_exc())
    finally:
        os._exit(0)


def _cut_off() -> None:  # pragma: no cover
    """Take away every way to write to the notebook or to ask it for input."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in range(3):
        os.dup2(nowhere, descriptor)
    faulthandler.disable()  # it has kept a way to write of its own
    builtins.input = _no_input
    # A kernel listens to what its forks print, log and display; all of that passes through here.
    if "ipykernel.iostream" in sys.modules:
        thread = sys.modules["ipykernel.iostream"].IOPubThread
        thread.send_multipart = lambda *_things, **_options: None


def _no_input(prompt: object = "") -> str:  # pragma: no cover
    raise EOFError(f"an answer cannot ask for input, as in input({prompt!r})")


def _limit_memory() -> None:  # pragma: no cover
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    used = Path("/proc/self/statm")
    if used.exists():  # Linux; macOS does not enforce this limit
        now = int(used.read_text().split()[0]) * resource.getpagesize()
        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        most = now + MEMORY if hard == resource.RLIM_INFINITY else min(now + MEMORY, hard)
        resource.setrlimit(resource.RLIMIT_AS, (most, hard))


@dataclass(frozen=True)
class Called:
    """What a call of a reader's function gave.

    Attributes
    ----------
    value : object
        What it returned, None if it raised.
    error : BaseException or None
        What it raised.
    complaint : str
        The same in one line, with the reader's own line of code.
    printed : str
        The beginning of what it printed.
    """

    value: Any
    error: BaseException | None
    complaint: str
    printed: str


def call(function: Callable[..., Any], *arguments: Any) -> Called:
    r"""Call a reader's function, and keep what it returns, raises and prints.

    Examples
    --------
    >>> def half(n):
    ...     print("half of", n)
    ...     return 1 / n
    >>> call(half, 2)
    Called(value=0.5, error=None, complaint='', printed='half of 2\n')
    >>> call(half, 0).complaint
    'ZeroDivisionError: division by zero (line 3: return 1 / n)'
    """
    value, error = None, None
    tap = _Tap()
    with contextlib.redirect_stdout(tap), contextlib.redirect_stderr(tap):
        try:
            value = function(*arguments)
        except BaseException as raised:
            error = raised
    return Called(value, error, "" if error is None else _complain(error), tap.kept())


class _Tap(io.TextIOBase):
    """A stream that keeps the beginning of what is written and lets the rest run off."""

    def __init__(self) -> None:
        self._beginning = ""
        self._more = False

    def write(self, text: str) -> int:
        room = LONGEST_OUTPUT - len(self._beginning)
        self._beginning += text[:room]
        self._more |= len(text) > room
        return len(text)

    def kept(self) -> str:
        return without_addresses(self._beginning) + (" …" if self._more else "")


def _complain(error: BaseException) -> str:
    if isinstance(error, SystemExit):
        what = "SystemExit: it ends Python instead of returning"
    else:
        try:
            message = " ".join(str(error).split())
        except Exception:
            message = ""  # an error of the reader's own that cannot even be printed
        if len(message) > LONGEST_MESSAGE:
            message = message[:LONGEST_MESSAGE] + " …"
        what = type(error).__name__ + (f": {without_addresses(message)}" if message else "")
    # The first frame is the call above; the second, if there is one, the reader's function.
    frames = traceback.extract_tb(error.__traceback__)[1:]
    own = [frame for frame in frames if frame.filename == frames[0].filename]
    if not own:
        return what
    code = f": {own[-1].line}" if own[-1].line else ""
    return f"{what} (line {own[-1].lineno}{code})"


def without_addresses(text: str) -> str:
    """Take the memory addresses out of a text: they differ from run to run.

    >>> without_addresses("<function f at 0x7f3b5c0>")
    '<function f>'
    """
    return re.sub(r" at 0x[0-9a-fA-F]+", "", text)
