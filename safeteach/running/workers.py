r"""Where jobs are done: in processes of our own, in somebody's executor, or right here."""

from __future__ import annotations

import os
import pickle
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import get_context, resource_tracker
from typing import Any, Protocol

__all__ = ["ELSEWHERE", "Workers", "workers_for"]

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


@contextmanager
def workers_for(jobs: int, executor: Executor | None) -> Iterator[Workers]:
    """Workers for a number of jobs: an executor if one is given, else processes, one a core.

    Who leaves with an error leaves nobody at work in those.
    """
    cores = os.cpu_count() or 1
    if executor:
        yield _Given(executor, 2 * getattr(executor, "_max_workers", 64))
    elif cores == 1 or jobs == 1:
        yield _Given(_Here(), 1)
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
    dead: BaseException | None = None

    def submit(self, call: Callable[..., Any], *args: Any) -> Future[Any]:
        try:
            return self.executor.submit(call, *args)
        except BrokenExecutor as error:
            return _failed(error)

    def take_back(self, _future: Future[Any], error: BaseException | None) -> int:
        self.dead = self.dead or error
        return 0


class _Processes:
    """Processes of our own, each an executor: one that dies takes no other with it."""

    dead: BaseException | None = None
    stillborn = 0  # processes in a row that died before they did anything

    def __init__(self, window: int) -> None:
        self.window = window
        # Fresh ones: a fork of a kernel with threads may hang.
        self.context = get_context("spawn")
        self.theirs, self.lifeline = self.context.Pipe(duplex=False)
        self.idle: list[tuple[ProcessPoolExecutor, Future[int]]] = []
        self.busy: dict[Future[Any], tuple[ProcessPoolExecutor, Future[int]]] = {}

    def submit(self, call: Callable[..., Any], *args: Any) -> Future[Any]:
        worker = self.idle.pop() if self.idle else self.begin()
        try:
            future = worker[0].submit(_work, pickle.dumps((call, args)))
        except BrokenExecutor:  # it died while it was idle
            return self.submit(call, *args)
        except Exception as error:
            future = _failed(RuntimeError(f"{ELSEWHERE} ({error})"))
        self.busy[future] = worker
        return future

    def begin(self) -> tuple[ProcessPoolExecutor, Future[int]]:
        """A new process; the job that it does first tells whether it lived to do any."""
        executor = ProcessPoolExecutor(1, self.context, _begin, (self.theirs,))
        with _undisturbed():
            return executor, executor.submit(int)

    def take_back(self, future: Future[Any], error: BaseException | None) -> int:
        executor, first = self.busy.pop(future)
        if error is None:
            self.idle.append((executor, first))
            return 0
        executor.shutdown()
        born = first.exception() is None
        self.stillborn = 0 if born else self.stillborn + 1
        if self.stillborn > 2:
            raise RuntimeError(
                "processes die before they do anything: a script that starts some must do so "
                'below `if __name__ == "__main__":`'
            ) from error
        return int(born)

    def close(self) -> None:
        """Let the processes end, those that are still at work when they have finished."""
        for executor, _ in (*self.idle, *self.busy.values()):
            executor.shutdown(cancel_futures=True)
        self.lifeline.close()
        self.theirs.close()


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


def _begin(lifeline: Any) -> None:
    """What a worker does first."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(lifeline,), daemon=True).start()


def _end_with(lifeline: Any) -> None:
    """End when the other end of a pipe is closed, as it is when its owner dies."""
    with suppress(EOFError, OSError):
        lifeline.recv_bytes()
    os._exit(1)  # pragma: no cover, nothing is written down after this


def _work(pickled: bytes) -> Any:
    """Do a job in a worker; whatever goes wrong can be told to the parent."""
    try:
        call, args = pickle.loads(pickled)
    except Exception as error:
        raise RuntimeError(f"{ELSEWHERE} ({error})") from None
    try:
        return call(*args)
    except Exception as error:
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:
            raise RuntimeError(f"{type(error).__name__}: {error}") from None
        raise
