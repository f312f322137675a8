r"""Make the stored study of the game: two learners against four adversaries on the deck.

Run it through ``make duels``.  Every run is kept in ``_build/studies`` as soon as it is finished,
so that after an interruption the same command goes on where it stopped.  What the chapter shows
is stored small in ``book/data/duels.npz``:

============================  ==================================================================
``about``                     JSON: the command, the settings of both learners, the values of the
                              game, and a digest of the code that made it
``names`` (L,)                names of the learners
``adversaries`` (D,)          names of the adversaries
``seeds`` (R,)                seeds of the runs
``episodes`` (N,)             after how many episodes a point of a curve was taken, from 0 to K
``reward`` (L, D, R, N)       reward so far, as it came
``violation`` (L, D, R, N)    violation so far, as it came
``regret`` (L, D, R, N)       regret so far against the safe minimax value: exact, and negative
                              where the adversary lets the agent have more
``worst`` (L, D, R)           what the last strategy earns against a best response to it, exact
``digests`` (L, D, R)         SHA-256 of the run's full history
============================  ==================================================================
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from storing import DATA, ROOT, RUNS, code_digest, digest, plain, so_far, store
from tqdm.auto import tqdm

import safeteach as st
from safeteach.learners.contract import settings_of
from safeteach.running.adversaries import ADVERSARIES
from safeteach.running.playing import History

FILE = "duels.npz"
LEARNERS = {"SafeNashVI": st.SafeNashVI, "NashVI": st.NashVI}
SEEDS = range(8)
EPISODES = 4_000
POINTS = 80  # of a curve, behind the one at 0
SCALE = 3e-3  # on the bonus, as in the other studies of the book
NOISE = 1.0


@dataclass(frozen=True)
class Duel:
    """One run: who learns, against whom, with which seed."""

    learner: str
    adversary: str
    seed: int
    episodes: int = EPISODES

    def new_learner(self) -> st.SafeNashVI:
        """A learner that knows nothing yet."""
        game = st.instances.pursuit()
        return LEARNERS[self.learner](game.known, episodes=self.episodes, bonus_scale=SCALE)

    def fight(self) -> tuple[History, float]:
        """The history, and what the last strategy earns against a best response to it."""
        game, learner = st.instances.pursuit(), self.new_learner()
        history = st.run(learner, game, self.seed, NOISE, adversary=self.adversary)
        return history, st.best_response(game, mu=learner.mu).value

    def file(self) -> Path:
        """Where it is kept: a name that changes with anything that the outcome depends on."""
        told = asdict(self) | {"settings": settings_of(self.new_learner()), "noise": NOISE}
        text = json.dumps(told, sort_keys=True) + code_digest(__file__)
        return RUNS / f"duel-{self.learner}-{hashlib.sha256(text.encode()).hexdigest()[:24]}.npz"


def duels() -> list[Duel]:
    """All of the study."""
    return [
        Duel(learner, adversary, seed)
        for learner in LEARNERS
        for adversary in ADVERSARIES
        for seed in SEEDS
    ]


def make() -> Path:
    """Run what has not been run and store what the chapter shows."""
    study = duels()
    found: dict[Duel, tuple[History, float]] = {}
    with (
        tqdm(total=len(study), desc="duels", unit="duel") as bar,
        ProcessPoolExecutor(mp_context=get_context("spawn")) as pool,
    ):
        started = {}
        for duel in study:
            if (file := duel.file()).exists():
                found[duel] = load(file)
                bar.update()
            else:
                started[pool.submit(duel.fight)] = duel
        try:
            for future in as_completed(started):
                duel, (history, worst) = started[future], future.result()
                store(duel.file(), **vars(history), worst=worst)
                found[duel] = history, worst
                bar.update()
        finally:
            for future in started:  # of an interruption, leave what has not begun
                future.cancel()
    shape = len(LEARNERS), len(ADVERSARIES), len(SEEDS)
    ends = np.unique(np.linspace(0, EPISODES, POINTS + 1).round().astype(int))
    histories = [found[duel][0] for duel in study]
    store(
        DATA / FILE,
        about=json.dumps(about(), indent=1),
        names=list(LEARNERS),
        adversaries=list(ADVERSARIES),
        seeds=SEEDS,
        episodes=ends,
        worst=np.reshape([found[duel][1] for duel in study], shape),
        digests=np.reshape([digest(history) for history in histories], shape),
        **{
            what: curves([getattr(history, what) for history in histories], ends).reshape(
                *shape, len(ends)
            )
            for what in ("reward", "violation", "regret")
        },
    )
    return DATA / FILE


def load(file: Path) -> tuple[History, float]:
    """A run that was kept."""
    with np.load(file) as kept:
        history = History(kept["reward"], kept["violation"], kept["regret"])
        return history, float(kept["worst"])


def curves(
    rows: Sequence[np.ndarray[Any, Any]], ends: np.ndarray[Any, Any]
) -> np.ndarray[Any, Any]:
    """Sums of the first ``ends`` numbers of each row.

    >>> curves([np.array([1.0, 2.0]), np.array([0.0, 4.0])], np.array([0, 2])).tolist()
    [[0.0, 3.0], [0.0, 4.0]]
    """
    return so_far(np.stack(rows), ends)


def about() -> dict[str, Any]:
    """What a reader of the stored file has to know."""
    game = st.instances.pursuit()
    uniform = np.full((game.H, game.S, game.B), 1 / game.B)
    return {
        "question": "Who is unsafe against whom, for how long, and what does it earn?",
        "made by": "make duels",
        "game": f"safeteach.instances.pursuit(): {game!r}",
        "noise": NOISE,
        "episodes": EPISODES,
        "values": {
            "safe": st.safe_optimal(game).value,
            "unconstrained": st.optimal(game).value,
            "safe against uniform": st.best_response(game, nu=uniform).value,
        },
        "learners": {
            name: {key: plain(value) for key, value in settings_of(one).items()}
            for name, one in ((name, Duel(name, "uniform", 0).new_learner()) for name in LEARNERS)
        },
        "code": code_digest(__file__),
    }


def main() -> None:
    """Make the study and say where it is."""
    print(about()["question"])
    file = make()
    print(f"{file.relative_to(ROOT)}: {file.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
