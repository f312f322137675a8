r"""Studies of a field with 324 states: a learner with and one without safety, and what they cost.

``make field`` stores in ``book/data/field.npz`` and ``book/data/field_tuning.npz`` what
:mod:`pond` says, of the field in the place of the pond, and in ``book/data/field_growth.npz``:

=====================  =========================================================================
``about``              JSON: the command, the settings, and a digest of the code that made it
``names`` (L,)         names of the learners
``side`` (F,)          of each field, side² = S
``steps`` (F,)         H
``dense`` (F,)         H S² A, the numbers in a dense table of transitions
``seen`` (L, F)        successors (h, s, a, t) that the learner has seen in the end
``digests`` (L, F)     SHA-256 of the run's full history
``seconds`` (L, F)     processor time of an episode, the least of a few runs: measured once, and the
                       one thing here that another run finds otherwise
=====================  =========================================================================
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from pond import OnThePond
from storing import Bench, Study, digest, told

import safeteach as st

LEARNERS = {"SUCBVI": st.SUCBVI, "UCBVI": st.UCBVI}
SCALES = (1, 0.1, 0.01, 3e-3, 1e-3, 3e-4, 1e-4, 1e-5)
# What the study "field-tuning" chose, by the rule that the chapter states and the tests apply.
TUNED = {"SUCBVI": 3e-4, "UCBVI": 3e-4}
EPISODES = 80_000
SIDES = (6, 12, 18, 24, 30, 36)
FEW = 5_000  # episodes of a run that is timed
RUNS = 3


class OnTheField(OnThePond):
    """An experiment on the field."""

    def facts(self) -> dict[str, Any]:
        """What a reader of the stored file has to know."""
        mdp = self.mdp
        best = st.optimal(mdp)
        reckless = st.evaluate(mdp, best.policy)
        return {
            "world": f"safeteach.instances.obstacle_field(): {mdp!r}",
            "noise": self.noise,
            "episodes": self.episodes,
            "optima": {"safe": st.safe_optimal(mdp).value, "unconstrained": best.value},
            "violation of the unconstrained": reckless.violation,
            "learners": {name: told(self.learner(name)) for name in self.learners},
        }


@dataclass(frozen=True)
class Timed:
    """What a run has cost: seconds an episode; and how many successors it has seen."""

    seconds: float
    seen: int
    digest: str


def field_of(side: int) -> st.SafeMDP:
    """A field with fewer obstacles, so that even a large one has a dry way through it."""
    return st.instances.obstacle_field(side, H=7 * side // 5, obstacles=0.25)


def learner_of(name: str, mdp: st.SafeMDP) -> st.SUCBVI:
    """A new learner whose run is timed."""
    return LEARNERS[name](mdp.known, episodes=FEW, bonus_scale=TUNED[name])


def timed(case: tuple[str, int]) -> Timed:
    """The least time of a few equal runs."""
    name, side = case
    mdp, seconds = field_of(side), []
    for _ in range(RUNS):
        learner = learner_of(name, mdp)
        start = time.process_time()
        history = st.run(learner, mdp)
        seconds.append((time.process_time() - start) / FEW)
    return Timed(min(seconds), int(learner.transitions.length.sum()), digest(history))


class Growth(Study):
    """What an episode costs in fields of several sizes."""

    def arrays(self, bench: Bench) -> dict[str, Any]:
        """Run what has not been run, and tell what the chapter shows."""
        found = bench.each(timed, [(name, side) for name in LEARNERS for side in SIDES], Timed)
        worlds = [field_of(side) for side in SIDES]
        shape = len(LEARNERS), len(SIDES)
        return {
            "names": list(LEARNERS),
            "side": SIDES,
            "steps": [mdp.H for mdp in worlds],
            "dense": [mdp.H * mdp.S**2 * mdp.A for mdp in worlds],
            "seen": np.reshape([one.seen for one in found], shape),
            "seconds": np.reshape([one.seconds for one in found], shape),
            "digests": np.reshape([one.digest for one in found], shape),
        }

    def facts(self) -> dict[str, Any]:
        """What a reader of the stored file has to know."""
        small = field_of(SIDES[0])
        return {
            "worlds": "safeteach.instances.obstacle_field(side, H=7 * side // 5, obstacles=0.25)",
            "noise": 1.0,
            "seeds": {"of the field": 1, "of the runs": 0},
            "episodes": FEW,
            "runs": RUNS,
            "learners": {name: told(learner_of(name, small)) for name in LEARNERS},
        }


def studies() -> dict[str, Study]:
    """Every study by its name."""
    field = st.instances.obstacle_field()
    found = (
        OnTheField(
            name="field",
            target="field",
            question="On a field with 324 states, who goes on violating, and who earns what?",
            learners={
                name: partial(make, bonus_scale=TUNED[name]) for name, make in LEARNERS.items()
            },
            seeds=range(8),
            points=160,
            episodes=EPISODES,
            mdp=field,
        ),
        OnTheField(
            name="field-tuning",
            target="field",
            question="Which factor on its bonus suits each learner there, on seeds of their own?",
            learners={
                f"{name} {scale:g}": partial(make, bonus_scale=scale)
                for name, make in LEARNERS.items()
                for scale in SCALES
            },
            seeds=range(100, 103),
            points=20,
            episodes=EPISODES,
            mdp=field,
        ),
        Growth("field-growth", "field", "What does an episode cost as the number of states grows?"),
    )
    return {study.name: study for study in found}
