"""Make the stored studies of the book: experiments that take longer than a chapter may run.

Run it through ``make figure1`` and ``make sweep``.  Every run is kept in ``_build/studies`` as
soon as it is finished, so that after an interruption the same command goes on where it stopped.
What the chapters show of a study is stored small in ``book/data/<study>.npz``:

========================  ======================================================================
``about``                 JSON: the command, the settings of every learner, the optima of the
                          world, and a digest of the library that made it
``names`` (L,)            names of the learners
``seeds`` (R,)            seeds of the runs
``episodes`` (N,)         after how many episodes a point of a curve was taken, from 0 to K
``reward`` (L, R, N)      reward so far, as it came
``violation`` (L, R, N)   violation so far, as it came
``regret`` (L, R, N)      regret so far: exact, and negative where unsafe policies earn more
``last`` (L, R)           value of the last policy, V_1 at s_1, exact
``digests`` (L, R)        SHA-256 of the run's full history, :func:`digest`
========================  ======================================================================

Numbers are in double precision; with the pinned versions histories are equal bit for bit, in any
process.
"""

import argparse
import hashlib
import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import safeteach as st
from safeteach.experiment import History, library_digest
from safeteach.playing import Learner

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "book" / "data"
RUNS = ROOT / "_build" / "studies"

Maker = Callable[..., Learner]


@dataclass(frozen=True)
class Study:
    """An experiment on the frozen pond.

    It has standard normal noise on the costs, the widest Gaussian that the paper's model allows.

    Attributes
    ----------
    target
        What ``make`` is asked for.
    question
        What it is to answer.
    learners
        From a name to what :func:`safeteach.compare` takes.
    seeds
        One run of every learner each.
    points
        How many are stored of a curve, behind the one at 0.
    episodes
        The paper's 20,000.
    mdp
        The world; by default the frozen pond.
    noise
        Standard deviation of the Gaussian noise on every cost seen.
    """

    target: str
    question: str
    learners: dict[str, Maker]
    seeds: range
    points: int = 200
    episodes: int = 20_000
    mdp: st.SafeMDP = field(default_factory=st.instances.grid)
    noise: float = 1.0

    def learner(self, name: str) -> Learner:
        """A new learner of that name."""
        return self.learners[name](self.mdp.known, episodes=self.episodes)


SCALES = (1, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001, 0)
WIDER_SCALES = (1, 0.1, 0.01, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 0)
BUDGET = 0.5
# What the study "tuning" chose, by the rule that the chapter states and the tests apply.
TUNED = {"SUCBVI": 3e-3, "UCBVI": 3e-3, "OptCMDP": 3e-4, "OptPess": 3e-5, "Triple-Q": 3e-5}


def studies() -> dict[str, Study]:
    """Every study by its name."""
    home = st.safe_optimal(st.instances.grid()).policy
    variants: dict[str, Maker] = {
        "SUCBVI": st.SUCBVI,
        "UCBVI": st.UCBVI,
        "OptCMDP": partial(st.OptCMDP, budget=BUDGET, clip=True),
        "OptCMDP, not clipped": partial(st.OptCMDP, budget=BUDGET),
        "OptPess": partial(st.OptPess, budget=BUDGET, safe_policy=home, safe_cost=0.0),
        "Triple-Q": partial(st.TripleQ, budget=BUDGET, epsilon=0.0),
        "Triple-Q, epsilon 0.1": partial(st.TripleQ, budget=BUDGET, epsilon=0.1),
    }
    return {
        "figure1": Study(
            target="figure1",
            question="What do five learners earn, and what do they violate, at the paper's scale?",
            learners={
                name: partial(variants[name], bonus_scale=scale) for name, scale in TUNED.items()
            },
            seeds=range(10),
        ),
        "bonus": Study(
            target="sweep",
            question="What does the factor on the exploration bonus do?",
            learners={
                f"{name} {scale:g}": partial(getattr(st, name), bonus_scale=scale)
                for name in ("SUCBVI", "UCBVI")
                for scale in SCALES
            },
            seeds=range(5),
        ),
        "tuning": Study(
            target="sweep",
            question="Which factor on its bonus suits each learner, on seeds of their own?",
            learners={
                f"{name} {scale:g}": partial(make, bonus_scale=scale)
                for name, make in variants.items()
                for scale in WIDER_SCALES
            },
            seeds=range(100, 103),
            points=20,
        ),
    }


def digest(history: History, seed: int | slice = slice(None)) -> str:
    """SHA-256 of a history's reward, violation and regret, one after the other.

    Examples
    --------
    >>> import numpy as np
    >>> digest(History(np.zeros(2), np.zeros(2), np.ones(2)))[:8]
    'ab288217'
    """
    hashed = hashlib.sha256()
    for array in (history.reward, history.violation, history.regret):
        hashed.update(np.ascontiguousarray(array[seed], np.float64).tobytes())
    return hashed.hexdigest()


def make(name: str) -> Path:
    """Run what has not been run of a study and store what the chapters show."""
    study = studies()[name]
    results = st.compare(
        study.learners, study.mdp, study.episodes, study.seeds, folder=RUNS, noise=study.noise
    )
    ends = np.unique(np.linspace(0, study.episodes, study.points + 1).round().astype(int))
    value = st.safe_optimal(study.mdp).value
    file = DATA / f"{name}.npz"
    store(
        file,
        about=json.dumps(about(study), indent=1),
        names=list(results),
        seeds=study.seeds,
        episodes=ends,
        reward=np.stack([so_far(h.reward, ends) for h in results.values()]),
        violation=np.stack([so_far(h.violation, ends) for h in results.values()]),
        regret=np.stack([so_far(h.regret, ends) for h in results.values()]),
        last=np.stack([value - h.regret[:, -1] for h in results.values()]),
        digests=[[digest(h, i) for i in range(len(study.seeds))] for h in results.values()],
    )
    return file


def store(file: Path, **arrays: Any) -> None:
    """Write the whole file or nothing."""
    table: dict[str, Any] = {name: np.asarray(array) for name, array in arrays.items()}
    file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=file.parent, suffix=".part", delete=False) as part:
        np.savez_compressed(part, **table)
    Path(part.name).chmod(0o644)
    Path(part.name).replace(file)


def so_far(values: np.ndarray[Any, Any], ends: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Sums of the first ``ends`` values of each row.

    Examples
    --------
    >>> so_far(np.array([[1.0, 2.0, 4.0]]), np.array([0, 1, 3])).tolist()
    [[0.0, 1.0, 7.0]]
    """
    return np.pad(np.cumsum(values, axis=1), ((0, 0), (1, 0)))[:, ends]


def about(study: Study) -> dict[str, Any]:
    """What a reader of the stored file has to know."""
    mdp = study.mdp
    return {
        "question": study.question,
        "made by": f"make {study.target}",
        "world": f"safeteach.instances.grid(): {mdp!r}",
        "noise": study.noise,
        "episodes": study.episodes,
        "optima": {
            "safe": st.safe_optimal(mdp).value,
            "constrained": st.constrained_optimal(mdp, BUDGET).value,
            "unconstrained": st.optimal(mdp).value,
        },
        "learners": {name: told(study.learner(name)) for name in study.learners},
        "library": library_digest(),
    }


def told(learner: Learner) -> dict[str, Any]:
    """Class and settings of a learner, as JSON can say them."""
    return {"class": type(learner).__name__} | {
        name: plain(value) for name, value in learner.settings.items()
    }


def plain(value: Any) -> Any:
    """A setting as JSON can say it."""
    if isinstance(value, np.ndarray):
        return (
            f"array of shape {value.shape}, SHA-256 {hashlib.sha256(value.tobytes()).hexdigest()}"
        )
    return value


def main() -> None:
    """Make the studies that the command line names."""
    parser = argparse.ArgumentParser(
        description="Run stored studies of the book and write book/data/<study>.npz.",
        epilog="Finished runs are kept in _build/studies; called again, it goes on from there.",
    )
    parser.add_argument("study", nargs="+", choices=tuple(studies()), help="which study to make")
    for name in parser.parse_args().study:
        print(f"{name}: {studies()[name].question}")
        file = make(name)
        print(f"{file.relative_to(ROOT)}: {file.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
