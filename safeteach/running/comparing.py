r"""Compare learners: many seeds, all cores, results that survive an interruption.

Taught in the chapter *The experiments*, and in *Run and keep an experiment*.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import astuple, dataclass
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from safeteach.arguments import flag, floats, instance, number, shown, string, whole
from safeteach.kernels import warn_if_plain
from safeteach.learners.contract import asks_for_episodes, settings_of
from safeteach.running.adversaries import Adversary, find_adversary
from safeteach.running.exploring import Exploration, explore, read_watched
from safeteach.running.jobs import Job, run_jobs
from safeteach.running.keying import Keys, NotKeyable
from safeteach.running.playing import History, run
from safeteach.running.workers import check_executor
from safeteach.worlds.environments import refuse_environment
from safeteach.worlds.games import SafeGame
from safeteach.worlds.mdp import SafeMDP
from safeteach.worlds.world import check_world

__all__ = ["compare"]

Maker = Callable[..., Any]


def compare(
    learners: Mapping[str, Maker],
    mdp: SafeMDP | SafeGame,
    episodes: int,
    seeds: Iterable[int] = range(10),
    *,
    adversary: str | Adversary | None = None,
    watch: ArrayLike | None = None,
    folder: str | Path | None = None,
    version: str | None = None,
    executor: Executor | None = None,
    noise: float = 1.0,
    progress: bool = True,
) -> dict[str, Any]:
    """Run several learners with several seeds.

    Parameters
    ----------
    learners : dict from a name to a learner's class
        Called as ``make(mdp.known, episodes=episodes)``; other parameters are set with
        ``functools.partial(st.SUCBVI, bonus_scale=0.01)``.  A class that takes no ``episodes``
        explores without a reward; it is called as ``make(mdp.known)``.
    mdp : SafeMDP or SafeGame
    episodes : int
        Of those that explore, the largest number.
    seeds : iterable of int
    adversary : str or function
        Who the learners meet in a game, and only there; as of :func:`run`.
    watch : (S, A) or (H, S, A) array, optional
        For learners that explore, as of :func:`explore`.
    folder : path, optional
        Where each run is kept as soon as it is finished.  A run that is found there is not run
        again: the same learner, its settings and its code, world, seed, noise and library.  What
        cannot be told from files, such as a class in a notebook or a lambda, is run every time,
        unless a ``version`` is given.  Several calls at once share the work.
    version : str, optional
        Stands for code and objects of which nobody can tell whether they have changed; say
        another one when they have.
    executor : concurrent.futures.Executor, optional
        Where the runs take place; by default processes, one a core.
    noise : float
        As of :func:`run`.
    progress : bool
        Whether to show a progress bar on stderr, and to say what is not kept.

    Returns
    -------
    dict from a name to a History of (seeds, episodes) arrays; of a learner that explores, to a
    list with an Exploration of each seed

    Raises
    ------
    RuntimeError
        When all others are finished, if runs have failed: it names them.

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

    In a game there is an adversary:

    >>> game = st.instances.penny_bridge()
    >>> results = st.compare({"SafeNashVI": st.SafeNashVI}, game, episodes=20, seeds=[3],
    ...                      adversary="uniform", progress=False)
    >>> results["SafeNashVI"].regret.shape
    (1, 20)

    Without a reward, every run has its own length:

    >>> results = st.compare({"SRF-UCRL": st.SRFUCRL}, mdp, episodes=20, seeds=[3], watch=mdp.r,
    ...                      progress=False)
    >>> [run.planned.shape for run in results["SRF-UCRL"]]
    [(20, 2)]
    """
    seeds = _whole_and_different(seeds)
    _check_learners(learners)
    refuse_environment(
        mdp, "mdp", "compare makes many runs at once in equal worlds, and keeps each under the "
        "content of its world: make a new environment for each run(learner, env, seed)",
    )  # fmt: skip
    check_world(mdp, "mdp")
    if not learners or not seeds:
        raise ValueError("nothing to run: learners and seeds need at least one each")
    whole(episodes, "episodes")
    number(noise, "noise", 0, ends="[)")
    instance(folder, "folder", str | PathLike | None, "a path or None")
    instance(version, "version", str | None, "a string or None")
    flag(progress, "progress")
    check_executor(executor)
    if adversary is not None:
        find_adversary(adversary)
    warn_if_plain()
    reward = None if watch is None else floats(watch, "watch")
    lives = {
        name: _Life(make, mdp, episodes, noise, adversary, reward)
        for name, make in learners.items()
    }
    loops = {name: life.loop for name, life in lives.items()}
    if (adversary is None) == isinstance(mdp, SafeGame):
        raise ValueError("an adversary is needed in a game, and there alone")
    if watch is not None and explore not in loops.values():
        raise ValueError("there is nothing to watch: no learner explores")
    if watch is not None:
        read_watched(watch, instance(mdp, "mdp", SafeMDP, "a SafeMDP to explore"))
    keys, jobs = Keys(version), []
    for name, life in lives.items():
        learner, key = life.learner(), None
        try:
            if folder is not None:
                key = keys.key("", life.told(learner), version and name)
        except NotKeyable as why:
            if progress:
                print(f"{name} is not kept unless it has a version: {why}", file=sys.stderr)
        for seed in seeds:
            label = f"{type(learner).__name__}-{seed}"
            kept_as = key and keys.key(label, key, seed)
            kind = Exploration if loops[name] is explore else History
            jobs.append(Job(f"{name}, seed {seed}", life, (seed,), kept_as, kind))
    found = iter(run_jobs(jobs, folder=folder, executor=executor, progress=progress))
    runs = {name: [next(found) for _ in seeds] for name in lives}
    return {n: runs[n] if loop is explore else _stack(runs[n]) for n, loop in loops.items()}


def _whole_and_different(seeds: Any) -> list[int]:
    """Seeds as a list, or a clear error."""
    if isinstance(seeds, str | bytes) or not np.iterable(seeds):
        raise TypeError(f"seeds is {shown(seeds)}; expected several, such as range(10)")
    found = [whole(seed, f"seeds[{i}]", 0, np.inf) for i, seed in enumerate(seeds)]
    for seed in found:
        if found.count(seed) > 1:
            raise ValueError(f"seeds has {seed} twice; expected different ones")
    return found


def _check_learners(learners: Any) -> None:
    """Raise a clear error for what are no names with classes of learners."""
    instance(learners, "learners", Mapping, "a dict from names to classes of learners")
    for name, make in learners.items():
        string(name, "a name in learners")
        if not callable(make):
            raise TypeError(
                f"learners[{name!r}] is {shown(make)}; expected a learner's class, or "
                f"functools.partial of one"
            )


def _stack(histories: list[History]) -> History:
    """One History of (seeds, episodes) arrays."""
    return History(*map(np.stack, zip(*map(astuple, histories), strict=True)))


@dataclass(frozen=True)
class _Life:
    """All lives of a learner, one a seed."""

    make: Maker
    world: Any
    episodes: int
    noise: float
    adversary: str | Adversary | None
    watch: NDArray[Any] | None

    @property
    def loop(self) -> Callable[..., Any]:
        """Which one it is that it lives in."""
        return run if asks_for_episodes(self.make) else explore

    @property
    def arguments(self) -> dict[str, Any]:
        """What it is made with, beside what is known of the world."""
        return {} if self.loop is explore else {"episodes": self.episodes}

    def learner(self) -> Any:
        """A new one."""
        return self.make(self.world.known, **self.arguments)

    def __call__(self, seed: int) -> History | Exploration:
        learner, world, noise = self.learner(), self.world, self.noise
        if self.loop is explore:
            return explore(
                learner, world, self.episodes, seed, noise, self.watch, progress=False
            )
        return run(learner, world, seed, noise, adversary=self.adversary, progress=False)

    def told(self, learner: Any) -> list[Any]:
        """All that a life depends on but the seed."""
        world, known = self.world, object()
        make: Any = self.make
        args, given = (known,), dict(self.arguments)
        while isinstance(make, partial):
            make, args, given = make.func, (*make.args, *args), make.keywords | given
        bound = inspect.signature(make).bind(*args, **given)
        bound.apply_defaults()
        settings = [item for item in bound.arguments.items() if item[1] is not known]
        with suppress(TypeError, AttributeError):  # it need not keep them to be told apart
            settings += settings_of(learner).items()
        sizes = [getattr(world, name, None) for name in ("S", "A", "B", "H", "tau", "s1")]
        content = [*sizes, *world.all_rows(), world.r, world.c]
        if not type(world).__module__.startswith("safeteach."):
            content.append(type(world))
        how = [self.loop, inspect.getsource(_Life), self.noise, self.adversary, self.watch]
        return [*how, self.episodes, type(learner), make, settings, content]
