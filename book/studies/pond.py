"""Studies on the frozen pond: the left half of the paper's Figure 1, and sweeps over bonuses.

``make figure1`` and ``make sweep`` store in ``book/data/<study>.npz``:

========================  ======================================================================
``about``                 JSON: the command, the settings of every learner, the optima of the
                          world, and a digest of the code that made it
``names`` (L,)            names of the learners
``seeds`` (R,)            seeds of the runs
``episodes`` (N,)         after how many episodes a point of a curve was taken, from 0 to K
``reward`` (L, R, N)      reward so far, as it came
``violation`` (L, R, N)   violation so far, as it came
``regret`` (L, R, N)      regret so far: exact, and negative where unsafe policies earn more
``last`` (L, R)           value of the last policy, V_1 at s_1, exact
``digests`` (L, R)        SHA-256 of the run's full history, :func:`storing.digest`
========================  ======================================================================

Numbers are in double precision; with the pinned versions histories are equal bit for bit, in any
process.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from storing import Bench, Study, digest, points_of, so_far, told

import safeteach as st
from safeteach.learners.contract import Learner

Maker = Callable[..., Learner]


@dataclass(frozen=True)
class OnThePond(Study):
    """An experiment on the frozen pond.

    It has standard normal noise on the costs, the widest Gaussian that the paper's model allows.

    Attributes
    ----------
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

    learners: dict[str, Maker]
    seeds: range
    points: int = 200
    episodes: int = 20_000
    mdp: st.SafeMDP = field(default_factory=st.instances.grid)
    noise: float = 1.0

    def learner(self, name: str) -> Learner:
        """A new learner of that name."""
        return self.learners[name](self.mdp.known, episodes=self.episodes)

    def arrays(self, bench: Bench) -> dict[str, Any]:
        """Run what has not been run, and tell what the chapters show."""
        results = st.compare(
            self.learners, self.mdp, self.episodes, self.seeds,
            folder=bench.folder, noise=self.noise,
        )  # fmt: skip
        ends = points_of(self.episodes, self.points)
        value = st.safe_optimal(self.mdp).value
        return {
            "names": list(results),
            "seeds": self.seeds,
            "episodes": ends,
            "reward": np.stack([so_far(h.reward, ends) for h in results.values()]),
            "violation": np.stack([so_far(h.violation, ends) for h in results.values()]),
            "regret": np.stack([so_far(h.regret, ends) for h in results.values()]),
            "last": np.stack([value - h.regret[:, -1] for h in results.values()]),
            "digests": [[digest(h, i) for i in range(len(self.seeds))] for h in results.values()],
        }

    def facts(self) -> dict[str, Any]:
        """What a reader of the stored file has to know."""
        mdp = self.mdp
        return {
            "world": f"safeteach.instances.grid(): {mdp!r}",
            "noise": self.noise,
            "episodes": self.episodes,
            "optima": {
                "safe": st.safe_optimal(mdp).value,
                "constrained": st.constrained_optimal(mdp, BUDGET).value,
                "unconstrained": st.optimal(mdp).value,
            },
            "learners": {name: told(self.learner(name)) for name in self.learners},
        }


SCALES = (1, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001, 0)
WIDER_SCALES = (1, 0.1, 0.01, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 0)
BUDGET = 0.5
# What the study "tuning" chose, by the rule that the chapter states and the tests apply.
TUNED = {"SUCBVI": 3e-3, "UCBVI": 3e-3, "OptCMDP": 3e-4, "OptPess": 3e-5, "Triple-Q": 3e-5}


def studies() -> dict[str, OnThePond]:
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
    found = (
        OnThePond(
            name="figure1",
            target="figure1",
            question="What do five learners earn, and what do they violate, at the paper's scale?",
            learners={
                name: partial(variants[name], bonus_scale=scale) for name, scale in TUNED.items()
            },
            seeds=range(10),
        ),
        OnThePond(
            name="bonus",
            target="sweep",
            question="What does the factor on the exploration bonus do?",
            learners={
                f"{name} {scale:g}": partial(variants[name], bonus_scale=scale)
                for name in ("SUCBVI", "UCBVI")
                for scale in SCALES
            },
            seeds=range(5),
        ),
        OnThePond(
            name="tuning",
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
    )
    return {study.name: study for study in found}
