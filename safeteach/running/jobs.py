r"""Run many jobs, in processes or wherever one likes, and lose nothing that is finished.

The comparisons of :func:`safeteach.compare` and the studies of the book are run by one function,
:func:`run_jobs`.  What it promises:

- What is finished is kept at once and found again; whatever is killed, it is not done twice.
- Two commands at once in one folder share the work.
- An error in one job lets the others finish; so does a process that dies.
- When the command ends, by whatever means, its processes end.  An interrupt is taken while it
  waits, and not in the middle of its books.
"""

from __future__ import annotations

import sys
from collections import Counter, deque
from collections.abc import Callable, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    wait,
)
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from safeteach.running.interrupts import Hold
from safeteach.running.keeping import Claim, Shelf
from safeteach.running.progress import bar
from safeteach.running.workers import ELSEWHERE, Workers, workers_for

__all__ = ["Job", "run_jobs"]

Place = str | int  # of a job: its key, or its number


@dataclass(frozen=True)
class Job:
    """A piece of work, ``call(*args)``.

    Attributes
    ----------
    name : str
        For people: "SUCBVI, seed 3".
    call : function that a fresh process can import
    args : tuple
    key : str or None
        Under which the result is kept, see :class:`safeteach.running.keying.Keys`; None: not kept.
    kind : type
        What the fields of a kept result are put into, ``kind(**fields)``: a dataclass, or dict.
    """

    name: str
    call: Callable[..., Any]
    args: tuple[Any, ...] = ()
    key: str | None = None
    kind: type = dict


def run_jobs(
    jobs: Sequence[Job],
    *,
    folder: str | Path | None = None,
    executor: Executor | None = None,
    progress: bool = True,
) -> list[Any]:
    """Run jobs and return their results, in their order.

    Parameters
    ----------
    jobs : sequence of Job
        Begun in this order.  Two with the same key are one.
    folder : path, optional
        Where results with a key are kept as soon as they are finished, and found.
    executor : concurrent.futures.Executor, optional
        Where the jobs take place; by default processes, one a core.
    progress : bool
        Whether to show a progress bar on stderr.

    Examples
    --------
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> jobs = [Job(f"7 by {n}", divmod, (7, n)) for n in (2, 3)]
    >>> run_jobs(jobs, executor=ThreadPoolExecutor(), progress=False)
    [(3, 1), (2, 1)]
    """
    places: list[Place] = [i if job.key is None else job.key for i, job in enumerate(jobs)]
    quiet = nullcontext(SimpleNamespace(update=int, set_description=str))
    work = _Work(dict(zip(places, jobs, strict=True)), None if folder is None else Shelf(folder))
    hold = Hold()
    with (
        bar(len(work.jobs), len(work.done), "runs", "run") if progress else quiet as shown,
        workers_for(len(jobs), executor, hold) as workers,
    ):
        try:
            with hold:
                work.do(workers, shown, hold)
        except KeyboardInterrupt:
            kept = len([key for key in places if work.shelf and work.shelf.has(key)])
            where = f" in {folder}: the same call goes on from there" if kept else ""
            print(f"\ninterrupted; {kept} of {len(jobs)} runs are kept{where}", file=sys.stderr)
            raise
        finally:
            for claim in work.claims.values():
                claim.release()
    if work.failed:
        failed = [(job.name, work.failed[p]) for p, job in work.jobs.items() if p in work.failed]
        first = f"{len(failed)} of {len(work.jobs)} runs failed; the others are finished"
        told = [f"{name}: {type(error).__name__}: {error}{_notes(error)}" for name, error in failed]
        raise RuntimeError(
            "\n  ".join([first + (" and kept:" if folder else ":"), *told])
        ) from failed[0][1]
    return [work.done[place] for place in places]


@dataclass
class _Work:
    """Jobs, and what has become of them."""

    jobs: dict[Place, Job]
    shelf: Shelf | None
    done: dict[Place, Any] = field(default_factory=dict)
    failed: dict[Place, BaseException] = field(default_factory=dict)
    deaths: Counter[Place] = field(default_factory=Counter)  # of the processes that were at it
    claims: dict[Place, Claim] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for place in self.jobs:
            self.find(place)

    def find(self, place: Place) -> bool:
        """Whether the result is there already."""
        job = self.jobs[place]
        if self.shelf and job.key and (found := self.shelf.find(job.key, job.kind)) is not None:
            self.done[place] = found
            self.give_back(place)
        return place in self.done

    def give_back(self, place: Place) -> None:
        """Let others do the job."""
        if place in self.claims:
            self.claims.pop(place).release()

    def claim(self, place: Place, wait: bool = False) -> bool:
        """Whether the job is ours to do."""
        key = self.jobs[place].key
        if self.shelf and key and place not in self.claims:
            claim = self.shelf.claim(key, wait)
            if claim is None:
                return False
            self.claims[place] = claim
        return True

    def do(self, workers: Workers, shown: Any, hold: Hold) -> None:
        """Do what is not done."""
        todo = deque(place for place in self.jobs if place not in self.done)
        elsewhere = deque[Place]()  # what another command is at
        flying: dict[Future[Any], Place] = {}
        try:
            while flying or ((todo or elsewhere) and not workers.dead):
                if not flying and not todo:
                    shown.set_description("runs, waiting for another command")
                    with hold.lifted():
                        self.claim(elsewhere[0], wait=True)
                    todo, elsewhere = elsewhere, todo
                while todo and len(flying) < workers.window and not workers.dead:
                    place = todo.popleft()
                    job = self.jobs[place]
                    if not self.claim(place):
                        elsewhere.append(place)
                    elif self.find(place):  # another command has finished it
                        shown.update()
                    else:
                        flying[workers.submit(job.call, *job.args)] = place
                with hold.lifted():
                    ended = wait(flying, return_when=FIRST_COMPLETED).done
                for future in ended:
                    place = flying.pop(future)
                    if self.finish(place, future, workers):
                        shown.update(place in self.done)
                    else:
                        todo.appendleft(place)
        finally:
            for future in flying:
                future.cancel()
        if workers.dead:
            raise RuntimeError(
                f"the executor died with {len(self.jobs) - len(self.done)} of {len(self.jobs)} "
                f"runs unfinished; runs that were finished are kept if a folder was named: make "
                f"the same call again to go on. {ELSEWHERE}"
            ) from workers.dead

    def finish(self, place: Place, future: Future[Any], workers: Workers) -> bool:
        """Take in what came of a job; False if it is to be done again."""
        error = CancelledError() if future.cancelled() else future.exception()
        lost = isinstance(error, BrokenExecutor | CancelledError)
        self.deaths[place] += workers.take_back(future, error if lost else None)
        if lost and self.deaths[place] < 2:
            return False
        if lost:
            error = RuntimeError("the process that was at it died without a word, twice")
        if error:
            self.failed[place] = error
        else:
            if place in self.claims:
                self.claims[place].keep(future.result())
            self.done[place] = future.result()
        self.give_back(place)
        return True


def _notes(error: BaseException) -> str:
    """What was added to an error on its way."""
    notes = getattr(error, "__notes__", [])
    return f" ({'; '.join(notes)})" if notes else ""
