r"""Compare learners: many seeds, all cores, results that survive an interruption.

Taught in the chapter *The experiments*.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import (
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    as_completed,
)
from contextlib import nullcontext, suppress
from dataclasses import astuple, dataclass
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from safeteach.learners.contract import Learner, settings_of
from safeteach.running.closure import digest_of
from safeteach.running.playing import History, run
from safeteach.worlds.mdp import SafeMDP

__all__ = ["compare"]


def compare(
    learners: Mapping[str, Callable[..., Learner]],
    mdp: SafeMDP,
    episodes: int,
    seeds: Iterable[int] = range(10),
    *,
    folder: str | Path | None = None,
    executor: Executor | None = None,
    noise: float = 1.0,
    progress: bool = True,
) -> dict[str, History]:
    """Run several learners with several seeds.

    Parameters
    ----------
    learners : dict from a name to a learner's class
        Called as ``make(mdp.known, episodes=episodes)``; other parameters are set with
        ``functools.partial(st.SUCBVI, bonus_scale=0.01)``.
    mdp : SafeMDP
    episodes : int
    seeds : iterable of int
    folder : path, optional
        Where each run is kept as soon as it is finished.  A run that is found there is not run
        again: the same learner, its settings and its code, world, seed, noise and library.
    executor : concurrent.futures.Executor, optional
        Where the runs take place; by default processes, one a core.
    noise : float
        As of :func:`run`.
    progress : bool
        Whether to show a progress bar on stderr.

    Returns
    -------
    dict from a name to a History of (seeds, episodes) arrays

    Examples
    --------
    >>> from functools import partial
    >>> import safeteach as st
    >>> mdp = st.instances.ice_corridor()
    >>> learners = {"SUCBVI": partial(st.SUCBVI, bonus_scale=0.01),
    ...             "UCBVI": partial(st.UCBVI, bonus_scale=0.01)}
    >>> results = st.compare(learners, mdp, episodes=2_000, seeds=range(3), progress=False)
    >>> results["SUCBVI"].violation.shape
    (3, 2000)
    >>> results["SUCBVI"].violation.sum() < results["UCBVI"].violation.sum()
    np.True_
    """
    seeds = [int(seed) for seed in seeds]
    if not learners or not seeds:
        raise ValueError("nothing to run: at least one learner and one seed are needed")
    jobs = {
        (name, seed): _Job(make, mdp, episodes, seed, noise)
        for name, make in learners.items()
        for seed in seeds
    }
    keep = None if folder is None else Path(folder)
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
    finished: dict[tuple[str, int], History] = {}
    for place, job in jobs.items():
        if keep is not None and (file := keep / job.file_name()).exists():
            finished[place] = _load(file)
    with _progress(len(jobs), len(finished), progress) as bar:
        todo = {place: job for place, job in jobs.items() if place not in finished}
        for place, history in _run_all(todo, executor):
            if keep is not None:
                _save(keep / jobs[place].file_name(), history)
            finished[place] = history
            bar.update()
    return {name: _stack([finished[name, seed] for seed in seeds]) for name in learners}


def _stack(histories: list[History]) -> History:
    """One History of (seeds, episodes) arrays."""
    return History(*map(np.stack, zip(*map(astuple, histories), strict=True)))


@dataclass(frozen=True)
class _Job:
    """One run to be done: everything that its outcome depends on."""

    make: Callable[..., Learner]
    mdp: SafeMDP
    episodes: int
    seed: int
    noise: float

    def __call__(self) -> History:
        return run(self.learner(), self.mdp, self.seed, self.noise)

    def learner(self) -> Learner:
        return self.make(self.mdp.known, episodes=self.episodes)

    def file_name(self) -> str:
        """A name that changes with anything that the outcome depends on."""
        learner = self.learner()
        told = {
            "learner": type(learner).__name__,
            "settings": settings_of(learner),
            "world": _digest_of_world(self.mdp),
            "seed": self.seed,
            "noise": self.noise,
            "code": _code_of(type(learner)),
        }
        text = json.dumps(told, sort_keys=True, default=_digest)
        return f"{type(learner).__name__}-{self.seed}-{_digest(text.encode())[:24]}.npz"


def _run_all(
    jobs: Mapping[tuple[str, int], _Job], executor: Executor | None
) -> Iterator[tuple[tuple[str, int], History]]:
    """Each run as it is finished."""
    cores = os.cpu_count() or 1
    if executor is None and (cores == 1 or len(jobs) < 2):
        for place, job in jobs.items():
            yield place, job()
        return
    # A fresh process each: a fork of a kernel with threads may hang.
    own = ProcessPoolExecutor(min(cores, len(jobs)), get_context("spawn")) if not executor else None
    with own or nullcontext(executor) as pool:
        assert pool is not None
        futures: dict[Future[History], tuple[str, int]] = {}
        done, died = 0, None
        try:
            try:
                for place, job in jobs.items():
                    futures[pool.submit(job)] = place
            except BrokenExecutor as error:
                died = error
            for future in as_completed(futures):  # all of them: some may be finished though it died
                if isinstance(problem := future.exception(), BrokenExecutor):
                    died = problem
                else:
                    yield futures[future], future.result()
                    done += 1
        finally:
            for future in futures:
                future.cancel()
        if died:
            raise RuntimeError(
                f"the executor died with {len(jobs) - done} of {len(jobs)} runs unfinished; runs "
                f"that were finished are kept if a folder was named: call compare again to go on. "
                f"A fresh process must be able to import the learner; for one that is defined in a "
                f"notebook use executor=concurrent.futures.ThreadPoolExecutor()"
            ) from died


def _progress(total: int, done: int, wanted: bool) -> Any:
    if wanted:
        with suppress(ImportError):
            from tqdm.auto import tqdm

            return tqdm(total=total, initial=done, desc="runs", unit="run")
    return nullcontext(SimpleNamespace(update=lambda: None))


def _save(file: Path, history: History) -> None:
    """Write the whole file or nothing."""
    with tempfile.NamedTemporaryFile(dir=file.parent, suffix=".part", delete=False) as part:
        np.savez(part, reward=history.reward, violation=history.violation, regret=history.regret)
    Path(part.name).replace(file)


def _load(file: Path) -> History:
    with np.load(file) as stored:
        return History(stored["reward"], stored["violation"], stored["regret"])


@cache
def _code_of(kind: type) -> str:
    """A digest of the code that a run depends on: the learner's, the loop's, what they use."""
    told = hashlib.sha256()
    sources: list[str | Path] = [Path(__file__)]
    for base in kind.__mro__[:-1]:
        try:
            if base.__module__.startswith("safeteach."):
                sources.append(Path(inspect.getfile(base)))
            else:
                sources.append(own := inspect.getsource(base))
                told.update(own.encode())
        except (OSError, TypeError):
            raise ValueError(
                f"the code of {base.__name__} cannot be read, so nobody could tell whether a "
                f"stored run is still right; leave out the folder, or define it in a file or a "
                f"notebook"
            ) from None
    told.update(digest_of(*sources).encode())
    return told.hexdigest()


def _digest(data: Any) -> str:
    data = data if isinstance(data, bytes) else np.asarray(data).tobytes()
    return hashlib.sha256(data).hexdigest()


def _digest_of_world(mdp: SafeMDP) -> str:
    hashed = hashlib.sha256(repr((mdp.S, mdp.A, mdp.H, mdp.tau, mdp.s1)).encode())
    for array in (*mdp.all_rows(), mdp.r, mdp.c):
        hashed.update(array.tobytes())
    return hashed.hexdigest()
