"""Run a reader's code so that an accident in it does not hurt the notebook.

This protects against accidents, not intent: against code that never ends, fills the memory, floods
the page with prints, crashes or ends Python.  It is no jail: code that means harm can still
write files, open connections and start processes that outlive it.

Where the system can fork, the work runs in a forked child: a function from a notebook cannot be
pickled, and a fork need not pickle it.  Where it cannot fork (Windows), the work is sent to a new
Python, functions with their code and what they refer to; what cannot be sent, such as an instance
of a class that the notebook defines, is judged in this process without limits, as all is in a
browser, which can start no process.  The verdict then says so.

A child

- has nothing to write on, and none of the descriptors of the notebook: it holds no port of a kernel
  that restarts meanwhile;
- may take a limited time by the clock, which the parent watches, and, where the system has such
  limits, a limited time of the processor and a limited memory;
- says what it finds in lines of JSON: the parent runs nothing that the child has made.  A line that
  never ends takes no longer than the clock allows;
- ends when its parent ends, and is killed when it has said its last.
"""

from __future__ import annotations

import builtins
import contextlib
import faulthandler
import io
import json
import os
import queue
import re
import signal
import subprocess
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Literal, Protocol

from safeteach.classroom.checking.sending import Unsendable, pack, unpack
from safeteach.running.interrupts import Hold

__all__ = ["LIMIT", "Called", "Run", "call", "isolated"]

LIMIT = 8.0  # seconds for a whole check
START = 120.0  # seconds until a new Python has loaded and compiled what it needs
PROCESSOR = 60  # seconds of all threads together; it ends a child that nobody else can end
MEMORY = 2**30  # bytes that the work may ask for beyond the notebook's own; Binder has 2 GB in all
LONGEST_LINE = 2**20  # bytes of JSON
LONGEST_OUTPUT = 400  # characters of what a reader's code prints
LONGEST_MESSAGE = 200  # characters of an error's own message

Way = Literal["fork", "new Python", "here"]
Ended = Literal["done", "late", "died", "garbled"]


@dataclass(frozen=True)
class Run:
    """How isolated work went.

    Attributes
    ----------
    last : object
        The last thing that the work yielded, None if there is none.
    ended : "done", "late", "died" or "garbled"
        By itself, by the limit on time, by the end of its process, or by a line that is no message.
    signal : str
        The name of the signal that ended the process, if one did.
    limited : bool
        Whether there was a limit on time: not if the work ran in this process.
    """

    last: Any
    ended: Ended
    signal: str = ""
    limited: bool = True


def way() -> Way:
    """How this system can run work apart from the notebook."""
    if hasattr(os, "fork"):
        return "fork"
    return "here" if sys.platform in ("emscripten", "wasi") else "new Python"


def isolated(work: Callable[..., Iterator[Any]], *arguments: Any) -> Run:
    """Run a generator to its end, in a child process if there can be one.

    Parameters
    ----------
    work : function that returns an iterator
        What it yields must be fit for JSON.  Of a child that is stopped, the last thing remains.
        What it does before it returns does not count as time.
    *arguments : objects
        What to call it with.

    Raises
    ------
    RuntimeError
        If the work raises: it must catch what a reader's code raises.

    Examples
    --------
    >>> isolated(iter, [1, 2])
    Run(last=2, ended='done', signal='', limited=True)
    >>> import os
    >>> isolated(lambda: iter(lambda: os._exit(0), None))
    Run(last=None, ended='died', signal='', limited=True)
    """
    how = way()
    if how == "fork":
        return _listen(lambda: _Forked(work, arguments))
    if how == "new Python":
        with contextlib.suppress(Unsendable, OSError):  # or no Python can be started
            packed = pack((work, arguments))
            return _listen(lambda: _NewPython(packed))
    last = None
    for thing in work(*arguments):
        last = thing
    return Run(last, "done", limited=False)


# The parent's side ------------------------------------------------------------------------------


class _Child(Protocol):
    """What the parent needs of a child: as much of ``subprocess.Popen``."""

    pid: int
    stdout: Any

    def poll(self) -> int | None: ...
    def wait(self) -> int: ...
    def kill(self) -> None: ...
    def close(self) -> None: ...


class _Forked:
    """A forked child that does the work and writes what it yields to ``stdout``."""

    def __init__(self, work: Callable[..., Iterator[Any]], arguments: tuple[Any, ...]) -> None:
        reader, writer = os.pipe()
        life, self._life = os.pipe()  # nobody writes: it ends when the parent does
        parent = os.getpid()
        with warnings.catch_warnings():
            # A kernel has threads, and newer Pythons warn that a child of such a process may find
            # a lock held for ever.  If it does, the limit on time ends it.
            warnings.simplefilter("ignore", DeprecationWarning)
            self.pid = os.fork()
        if self.pid == 0:
            _be_the_child(life, writer, parent, lambda: (work, arguments))  # pragma: no cover
        os.close(life)
        os.close(writer)
        self.stdout = os.fdopen(reader, "rb")
        self._code: int | None = None

    def poll(self) -> int | None:
        return self._reap(os.WNOHANG)

    def wait(self) -> int:
        code = self._reap(0)
        assert code is not None
        return code

    def kill(self) -> None:
        if self._code is None:
            os.kill(self.pid, signal.SIGKILL)

    def close(self) -> None:
        os.close(self._life)

    def _reap(self, how: int) -> int | None:
        if self._code is None:
            pid, status = os.waitpid(self.pid, how)
            if pid:
                self._code = os.waitstatus_to_exitcode(status)
        return self._code


class _NewPython(subprocess.Popen[bytes]):
    """A child that has to be told its work, through a pipe that stays open as long as we live."""

    stdin: Any

    def __init__(self, packed: bytes) -> None:
        super().__init__(
            [sys.executable, "-c", f"from {__name__} import be_told; be_told({os.getpid()})"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
        self.stdin.write(len(packed).to_bytes(8, "big") + packed)
        self.stdin.flush()

    def close(self) -> None:
        self.stdin.close()


def _listen(start: Callable[[], _Child]) -> Run:
    """Hear what a child says until it has ended, fallen silent or run out of time; then end it."""
    lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    deadline = time.monotonic() + START
    last, failure = None, ""
    ended: Ended | None = None
    with Hold() as hold:  # an interrupt cannot part a child from who will end it
        child = start()
        try:
            # A thread, since not every system can wait for a pipe and a clock at once.
            threading.Thread(target=_read_lines, args=(child.stdout, lines), daemon=True).start()
            with hold.lifted():
                while ended is None:
                    try:
                        line = lines.get(timeout=max(0.0, deadline - time.monotonic()))
                    except queue.Empty:
                        ended = "late"
                        break
                    match _read(line):
                        case ["ready"]:
                            deadline = time.monotonic() + LIMIT
                        case ["yields", thing]:
                            last = thing
                        case ["fails", str(failure)]:
                            ended = "died"
                        case ["ends"]:
                            ended = "done"
                        case ["does not understand", str(why)]:
                            ended = "died"
                            raise Unsendable(why)
                        case _:
                            ended = "garbled" if line else "died"
        finally:
            code = _end(child, patience=1.0 if ended == "died" else 0.0)
            child.close()
    if failure:
        raise RuntimeError(f"the checker itself failed:\n{failure}")
    killed = ended == "died" and code < 0
    return Run(last, ended, signal.Signals(-code).name if killed else "")


def _read_lines(stream: BinaryIO, lines: queue.SimpleQueue[bytes]) -> None:
    """Hand on each line, cut where it is too long to be one of ours; at the end an empty one."""
    with stream:
        while line := stream.readline(LONGEST_LINE):
            lines.put(line)
        lines.put(b"")


def _read(line: bytes) -> Any:
    """The message on a line, None if it is none."""
    try:
        return json.loads(line)
    except ValueError:
        return None


def _end(child: _Child, patience: float) -> int:
    """Wait a little for a child to end by itself, then end it and all that it started.

    Returns
    -------
    int
        Its exit code; if a signal ended it, the signal's number with a minus.
    """
    until = time.monotonic() + patience
    while child.poll() is None and time.monotonic() < until:
        time.sleep(0.001)
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)
    child.kill()  # in case it has left its group, or not yet made it
    return child.wait()


# The child's side -------------------------------------------------------------------------------


# What a child reaches coverage cannot see: it is killed.
def be_told(parent: int) -> None:  # pragma: no cover
    """In a new Python: read from the parent what to do, and do it."""
    told = os.fdopen(os.dup(0), "rb", buffering=0)
    size = int.from_bytes(_exactly(told, 8), "big")
    _be_the_child(told.fileno(), os.dup(1), parent, lambda: unpack(_exactly(told, size)))


def _exactly(stream: Any, size: int) -> bytes:  # pragma: no cover
    parts = []
    while size:
        part = stream.read(size)
        if not part:
            os._exit(0)  # the parent is gone
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _be_the_child(
    life: int, writer: int, parent: int, told: Callable[[], tuple[Any, tuple[Any, ...]]]
) -> None:  # pragma: no cover
    """Do the work, say what it yields, and end here: the notebook goes on in the parent alone."""

    def say(*message: Any) -> None:
        line = json.dumps(message).encode() + b"\n"
        while line:
            line = line[os.write(writer, line) :]

    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)  # the parent's may be waiting
        if hasattr(os, "setpgid"):
            os.setpgid(0, 0)
        _let_go(keep=(life, writer))
        _cut_off()
        try:
            work, arguments = told()
        except Exception as error:  # what was sent needs something that is not here
            say("does not understand", str(error))
            return
        _end_with_the_parent(life, parent)
        things = work(*arguments)
        _limit()
        say("ready")
        for thing in things:
            say("yields", thing)
        say("ends")
    except BaseException:
        say("fails", traceback.format_exc())
    finally:
        os._exit(0)


def _let_go(keep: tuple[int, int]) -> None:  # pragma: no cover
    """Let go of all that was inherited: files, the kernel's sockets, every way to write.

    A descriptor leads nowhere from then on.  It is not closed: an object of the notebook may close
    it again later, and would then close what the answer has opened meanwhile.
    """
    nowhere = os.open(os.devnull, os.O_RDWR)
    listed = Path("/dev/fd")
    inherited = [int(path.name) for path in listed.iterdir()] if listed.exists() else [0, 1, 2]
    for descriptor in inherited:
        if descriptor not in (*keep, nowhere):
            with contextlib.suppress(OSError):  # the one that listed them is gone
                os.fstat(descriptor)
                os.dup2(nowhere, descriptor, inheritable=descriptor < 3)


def _cut_off() -> None:  # pragma: no cover
    """Take away what else writes to the notebook or asks it for input."""
    faulthandler.disable()  # it has kept a way to write of its own
    builtins.input = _no_input
    # A kernel listens to what its forks print, log and display; all of that passes through here.
    if "ipykernel.iostream" in sys.modules:
        thread = sys.modules["ipykernel.iostream"].IOPubThread
        thread.send_multipart = lambda *_things, **_options: None


def _no_input(prompt: object = "") -> str:  # pragma: no cover
    raise EOFError(f"an answer cannot ask for input, as in input({prompt!r})")


def _end_with_the_parent(life: int, parent: int) -> None:  # pragma: no cover
    """End as soon as nobody waits for us any more, whatever the answer is doing."""

    def watch() -> None:
        while os.read(life, 1):
            pass
        if hasattr(os, "killpg"):
            os.killpg(0, signal.SIGKILL)  # with all that the answer has started
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
    if sys.platform == "linux":  # and if the answer never lets another thread run
        import ctypes

        PR_SET_PDEATHSIG = 1
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:  # it has died before it was asked
            os._exit(1)


def _limit() -> None:  # pragma: no cover
    """Limit the processor's time and the memory, as far as the system can."""
    try:
        import resource
    except ImportError:
        return  # Windows: the clock alone
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _lower(resource.RLIMIT_CPU, PROCESSOR)
    used = Path("/proc/self/statm")
    if used.exists():  # Linux; macOS does not enforce this limit
        now = int(used.read_text().split()[0]) * resource.getpagesize()
        _lower(resource.RLIMIT_AS, now + MEMORY)


def _lower(which: int, most: int) -> None:  # pragma: no cover
    import resource

    hard = resource.getrlimit(which)[1]
    least = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(which, (least, least))


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
