r"""Where jobs are done: in processes of our own, in somebody's executor, or right here."""

from __future__ import annotations

import os
import pickle
import signal
import threading
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import get_context, resource_tracker
from typing import Any, Protocol

from safeteach.arguments import shown
from safeteach.kernels import Uncompiled
from safeteach.running.interrupts import Hold

__all__ = ["ELSEWHERE", "Workers", "check_executor", "workers_for"]

ELSEWHERE = (
    "A fresh process must be able to import what it is to do; what is typed into a notebook runs "
    "with executor=concurrent.futures.ThreadPoolExecutor()"
)


class Workers(Protocol):
    """Who does jobs.

    Attributes
    ----------
    window : int
        How many jobs they take at a time, so that they need not wait.
    dead : error or None
        Why they will do no more.
    """

    window: int
    dead: BaseException | None

    def submit(self, call: Callable[..., Any], *args: Any) -> Future[Any]:
        """Begin a job."""

    def take_back(self, future: Future[Any], error: BaseException | None) -> int:
        """Say that a job has ended, with an error if its worker died; 1 if it died of the job."""


def check_executor(executor: Any) -> None:
    """Raise a clear error for what is neither None nor an executor."""
    if executor is not None and not callable(getattr(executor, "submit", None)):
        raise TypeError(
            f"executor is {shown(executor)}; expected a concurrent.futures.Executor, such as "
            f"ThreadPoolExecutor(4), or None for processes, one a core"
        )


@contextmanager
def workers_for(jobs: int, executor: Executor | None, hold: Hold) -> Iterator[Workers]:
    """Workers for a number of jobs: an executor if one is given, else processes, one a core.

    Who leaves with an error leaves nobody at work in those.  While an executor takes a job, which
    may last as long as the job, an interrupt need not wait.
    """
    check_executor(executor)
    cores = os.cpu_count() or 1
    if executor:
        yield _Given(executor, 2 * getattr(executor, "_max_workers", 64), hold)
    elif cores == 1 or jobs == 1:
        yield _Given(_Here(), 1, hold)
    else:
        own = _Processes(min(cores, jobs))
        try:
            yield own
        except BaseException:
            own.lifeline.close()
            raise
        finally:
            own.close()


class _Here(Executor):
    """Do a job in this process, when it is submitted."""

    def submit(self, call: Callable[..., Any], /, *args: Any, **_: Any) -> Future[Any]:
        future = Future[Any]()
        try:
            future.set_result(call(*args))
        except Exception as error:
            return _failed(error)
        return future


@dataclass
class _Given:
    """An executor that is somebody else's; when it dies there is no other."""

    executor: Executor
    window: int  # of jobs that are under way or wait there
    hold: Hold
    dead: BaseException | None = None

    def submit(self, call: Callable[..., Any], *args: Any) -> Future[Any]:
        try:
            with self.hold.lifted():
                return self.executor.submit(call, *args)
        except BrokenExecutor as error:
            return _failed(error)
        except RuntimeError as error:  # which executors raise that were shut down
            return _failed(BrokenExecutor(str(error)))
        except Exception as error:  # it does not take this job, which it cannot send, say
            return _failed(error)

    def take_back(self, _future: Future[Any], error: BaseException | None) -> int:
        self.dead = self.dead or error
        return 0


class _Processes:
    """Processes of our own; one that dies takes no other with it."""

    dead: BaseException | None = None
    stillborn = 0  # processes in a row that died before they did anything

    def __init__(self, window: int) -> None:
        self.window = window
        # Fresh ones: a fork of a kernel with threads may hang.
        self.context = get_context("spawn")
        self.theirs, self.lifeline = self.context.Pipe(duplex=False)
        self.idle: list[_Process] = []
        self.busy: dict[Future[Any], _Process] = {}

    def submit(self, call: Callable[..., Any], *args: Any) -> Future[Any]:
        try:
            job = pickle.dumps((call, args))
        except Exception as error:
            return _failed(RuntimeError(f"{ELSEWHERE} ({error})"))
        while self.idle:
            process = self.idle.pop()
            if process.is_alive():
                break
            process.close()  # it died while it was idle
        else:
            process = _Process(self.context, self.theirs)
        future = process.begin(job)
        self.busy[future] = process
        return future

    def take_back(self, future: Future[Any], error: BaseException | None) -> int:
        process = self.busy.pop(future, None)
        if process is None:  # it was never sent
            return 0
        if error is None:
            self.idle.append(process)
            return 0
        process.close()
        self.stillborn = 0 if process.born else self.stillborn + 1
        if self.stillborn > 2:
            raise RuntimeError(
                "processes die before they do anything: a script that starts some must do so "
                'below `if __name__ == "__main__":`'
            ) from error
        return int(process.born)

    def close(self) -> None:
        """Let the processes end, those that are still at work when they have finished."""
        for process in (*self.idle, *self.busy.values()):
            process.close()
        self.lifeline.close()
        self.theirs.close()


class _Process:
    """A process that does one job at a time, and a thread that waits for it.

    Not a ``ProcessPoolExecutor``: its parent holds both ends of the pipe for results, so that it
    waits for ever for the rest of a result in the middle of which a process has died.
    """

    def __init__(self, context: Any, lifeline: Any) -> None:
        self.jobs, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs, lifeline))
        self.born = False  # whether it has lived to say so
        self.waiting: threading.Thread | None = None
        with _undisturbed():
            self.process.start()
        theirs.close()  # so that its death is the end of the pipe

    def is_alive(self) -> bool:
        return bool(self.process.is_alive())

    def begin(self, job: bytes) -> Future[Any]:
        future = Future[Any]()
        future.set_running_or_notify_cancel()
        self.waiting = threading.Thread(target=self.wait, args=(job, future), daemon=True)
        self.waiting.start()
        return future

    def wait(self, job: bytes, future: Future[Any]) -> None:
        """Hand a job over and wait for what comes of it."""
        try:
            self.jobs.send_bytes(job)
            if not self.born:
                self.born = self.jobs.recv_bytes() == b"born"
            done, result = pickle.loads(self.jobs.recv_bytes())
        except (EOFError, OSError) as error:
            future.set_exception(BrokenExecutor(f"a process died: {error}"))
        except Exception as error:  # a result that can be sent and not be read
            future.set_exception(error)
        else:
            future.set_result(result) if done else future.set_exception(result)

    def close(self) -> None:
        """Let it end, when it has finished what it is at."""
        if self.waiting:
            self.waiting.join()
        self.jobs.close()
        self.process.join()


def _failed(error: BaseException) -> Future[Any]:
    future = Future[Any]()
    future.set_exception(error)
    return future


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Keep Ctrl-C away from processes that are started in here; their parent tells them to end."""
    if not hasattr(signal, "pthread_sigmask"):  # pragma: no cover, on Windows
        yield
        return
    resource_tracker.ensure_running()  # which would let signals through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _serve(jobs: Any, lifeline: Any) -> None:
    """Do job after job in a process of our own, until there are no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    warnings.simplefilter("ignore", Uncompiled)  # their parent has said so
    threading.Thread(target=_end_with, args=(lifeline,), daemon=True).start()
    with suppress(EOFError, OSError):  # nobody is there any more
        jobs.send_bytes(b"born")
        while True:
            jobs.send_bytes(_work(jobs.recv_bytes()))


def _end_with(lifeline: Any) -> None:
    """End when the other end of a pipe is closed, as it is when its owner dies."""
    with suppress(EOFError, OSError):
        lifeline.recv_bytes()
    os._exit(1)  # pragma: no cover, nothing is written down after this


def _work(job: bytes) -> bytes:
    """Do a pickled job; whether it was done, with the result or the error, pickled."""
    try:
        call, args = pickle.loads(job)
    except Exception as error:
        return pickle.dumps((False, RuntimeError(f"{ELSEWHERE} ({error})")))
    try:
        return pickle.dumps((True, call(*args)))
    except Exception as error:
        try:
            told = pickle.dumps((False, error))
            pickle.loads(told)
        except Exception:
            told = pickle.dumps((False, RuntimeError(f"{type(error).__name__}: {error}")))
        return told
