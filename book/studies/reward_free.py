r"""Make the stored study of reward-free exploration: the right half of the paper's Figure 1.

Run it through ``make figure1``.  Two learners explore the laboratory for 500 episodes without a
reward, 100 times each, with the constants of the theorems.  After every episode each plans for
the laboratory's reward with what it has seen, and what the plan is worth is computed exactly.
What the chapter shows is stored small in ``book/data/reward_free.npz``:

==========================  ====================================================================
``about``                   JSON: the command, the settings of both learners, the optima of the
                            world, and a digest of the code that made it
``names`` (L,)              names of the learners
``seeds`` (R,)              seeds of the runs
``reward`` (L, R, K)        expected sum of rewards of the plan after episode 1 .. K, exact
``violation`` (L, R, K)     its expected violation, exact
``explored`` (L, R, K)      violation of the episode itself, as it came
``width`` (L, R)            the uncertainty :math:`\bar W_1(s_1, \pi_1(s_1))` of the last episode
``digests`` (L, R)          SHA-256 of the run, :func:`digest_of`
==========================  ====================================================================
"""

from __future__ import annotations

import hashlib
import json
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from storing import DATA, ROOT, code_digest, store, told
from tqdm.auto import tqdm

import safeteach as st

FILE = "reward_free.npz"
LEARNERS = {"SRF-UCRL": st.SRFUCRL, "RF-UCRL": st.RFUCRL}
SEEDS = range(100)
EPISODES = 500
NOISE = 1.0
TOGETHER = 5  # runs that a process does before it reports


def explored(name: str, seed: int) -> st.Exploration:
    """One run."""
    mdp = st.instances.laboratory()
    learner = LEARNERS[name](mdp.known)
    return st.explore(learner, mdp, EPISODES, seed=seed, noise=NOISE, watch=mdp.r)


def some(name: str, seeds: range) -> list[st.Exploration]:
    """A few runs."""
    return [explored(name, seed) for seed in seeds]


def digest_of(run: st.Exploration) -> str:
    """SHA-256 of a run's width, violation and plans, one after the other.

    >>> import numpy as np
    >>> digest_of(st.Exploration(1, False, np.ones(1), np.zeros(1), np.zeros((1, 2))))[:8]
    '41e57a81'
    """
    hashed = hashlib.sha256()
    for array in (run.width, run.violation, run.planned):
        hashed.update(np.ascontiguousarray(array, np.float64).tobytes())
    return hashed.hexdigest()


def make() -> Path:
    """Run everything and store what the chapter shows."""
    found: dict[str, dict[int, st.Exploration]] = {name: {} for name in LEARNERS}
    with (
        tqdm(total=len(LEARNERS) * len(SEEDS), desc="reward-free", unit="run") as bar,
        ProcessPoolExecutor(mp_context=get_context("spawn")) as pool,
    ):
        started = {
            pool.submit(some, name, seeds): (name, seeds)
            for first in range(0, len(SEEDS), TOGETHER)
            for name in LEARNERS
            for seeds in (SEEDS[first : first + TOGETHER],)
        }
        try:
            for future in as_completed(started):
                name, seeds = started[future]
                found[name] |= zip(seeds, future.result(), strict=True)
                bar.update(len(seeds))
        finally:
            for future in started:  # of an interruption, leave what has not begun
                future.cancel()
    runs = [[found[name][seed] for seed in SEEDS] for name in LEARNERS]
    planned = np.array([[run.planned for run in row] for row in runs])
    store(
        DATA / FILE,
        about=json.dumps(about(), indent=1),
        names=list(LEARNERS),
        seeds=SEEDS,
        reward=planned[..., 0],
        violation=planned[..., 1],
        explored=[[run.violation for run in row] for row in runs],
        width=[[run.width[-1] for run in row] for row in runs],
        digests=[[digest_of(run) for run in row] for row in runs],
    )
    return DATA / FILE


def about() -> dict[str, Any]:
    """What a reader of the stored file has to know."""
    mdp = st.instances.laboratory()
    best = st.optimal(mdp)
    return {
        "question": "What is a plan worth that is made after exploring without a reward?",
        "made by": "make figure1",
        "world": f"safeteach.instances.laboratory(): {mdp!r}",
        "noise": NOISE,
        "episodes": EPISODES,
        "optima": {
            "safe": st.safe_optimal(mdp).value,
            "unconstrained": best.value,
            "violation of the unconstrained": st.evaluate(mdp, best.policy).violation,
        },
        "learners": {
            name: told(make(mdp.known)) for name, make in LEARNERS.items()
        },
        "code": code_digest(__file__),
    }


def main() -> None:
    """Make the study and say where it is."""
    print(f"reward_free: {about()['question']}")
    file = make()
    print(f"{file.relative_to(ROOT)}: {file.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
