r"""The study of the game: two learners against four adversaries on the deck.

``make duels`` stores in ``book/data/duels.npz``:

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

from dataclasses import dataclass
from typing import Any

import numpy as np
from storing import Bench, Study, digest, plain, points_of, so_far

import safeteach as st
from safeteach.learners.contract import settings_of
from safeteach.running.adversaries import ADVERSARIES
from safeteach.running.playing import History

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


@dataclass(frozen=True)
class Fought(History):
    """A history, and what the last strategy earns against a best response to it."""

    worst: float


def fight(duel: Duel) -> Fought:
    """One run."""
    game, learner = st.instances.pursuit(), duel.new_learner()
    history = st.run(learner, game, duel.seed, NOISE, adversary=duel.adversary)
    return Fought(**vars(history), worst=st.best_response(game, mu=learner.mu).value)


@dataclass(frozen=True)
class Duels(Study):
    """Both learners against all adversaries."""

    seeds: range = SEEDS
    episodes: int = EPISODES

    def arrays(self, bench: Bench) -> dict[str, Any]:
        """Run what has not been run, and tell what the chapter shows."""
        shape = len(LEARNERS), len(ADVERSARIES), len(self.seeds)
        cases = [
            Duel(learner, adversary, seed, self.episodes)
            for learner in LEARNERS
            for adversary in ADVERSARIES
            for seed in self.seeds
        ]
        found = bench.each(fight, cases, Fought)
        ends = points_of(self.episodes, POINTS)
        return {
            "names": list(LEARNERS),
            "adversaries": list(ADVERSARIES),
            "seeds": self.seeds,
            "episodes": ends,
            "worst": np.reshape([one.worst for one in found], shape),
            "digests": np.reshape([digest(one) for one in found], shape),
        } | {
            what: so_far(np.stack([getattr(one, what) for one in found]), ends).reshape(*shape, -1)
            for what in ("reward", "violation", "regret")
        }

    def facts(self) -> dict[str, Any]:
        """What a reader of the stored file has to know."""
        game = st.instances.pursuit()
        uniform = np.full((game.H, game.S, game.B), 1 / game.B)
        learners = {name: Duel(name, "uniform", 0).new_learner() for name in LEARNERS}
        return {
            "game": f"safeteach.instances.pursuit(): {game!r}",
            "noise": NOISE,
            "episodes": self.episodes,
            "values": {
                "safe": st.safe_optimal(game).value,
                "unconstrained": st.optimal(game).value,
                "safe against uniform": st.best_response(game, nu=uniform).value,
            },
            "learners": {
                name: {key: plain(value) for key, value in settings_of(one).items()}
                for name, one in learners.items()
            },
        }


STUDY = Duels("duels", "duels", "Who is unsafe against whom, for how long, and what does it earn?")
