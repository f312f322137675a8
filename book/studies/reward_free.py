r"""The study of reward-free exploration: the right half of the paper's Figure 1.

Two learners explore the laboratory for 500 episodes without a reward, 100 times each, with the
constants of the theorems.  After every episode each plans for the laboratory's reward with what it
has seen, and what the plan is worth is computed exactly.  ``make figure1`` stores in
``book/data/reward_free.npz``:

==========================  ====================================================================
``about``                   JSON: the command, the settings of both learners, the optima of the
                            world, and a digest of the code that made it
``names`` (L,)              names of the learners
``seeds`` (R,)              seeds of the runs
``reward`` (L, R, K)        expected sum of rewards of the plan after episode 1 .. K, exact
``violation`` (L, R, K)     its expected violation, exact
``explored`` (L, R, K)      violation of the episode itself, as it came
``width`` (L, R)            the uncertainty :math:`\bar W_1(s_1, \pi_1(s_1))` of the last episode
``digests`` (L, R)          SHA-256 of the run's width, violation and plans
==========================  ====================================================================
"""

from __future__ import annotations

from typing import Any

import numpy as np
from storing import Bench, Study, digest_of, told

import safeteach as st

LEARNERS = {"SRF-UCRL": st.SRFUCRL, "RF-UCRL": st.RFUCRL}
SEEDS = range(100)
EPISODES = 500
NOISE = 1.0


class RewardFree(Study):
    """Explore the laboratory, and plan for its reward."""

    def arrays(self, bench: Bench) -> dict[str, Any]:
        """Run what has not been run, and tell what the chapter shows."""
        mdp = st.instances.laboratory()
        found = st.compare(
            LEARNERS, mdp, EPISODES, SEEDS, watch=mdp.r, noise=NOISE, folder=bench.folder
        )
        planned = np.array([[run.planned for run in runs] for runs in found.values()])
        return {
            "names": list(LEARNERS),
            "seeds": SEEDS,
            "reward": planned[..., 0],
            "violation": planned[..., 1],
            "explored": [[run.violation for run in runs] for runs in found.values()],
            "width": [[run.width[-1] for run in runs] for runs in found.values()],
            "digests": [
                [digest_of(run.width, run.violation, run.planned) for run in runs]
                for runs in found.values()
            ],
        }

    def facts(self) -> dict[str, Any]:
        """What a reader of the stored file has to know."""
        mdp = st.instances.laboratory()
        best = st.optimal(mdp)
        return {
            "world": f"safeteach.instances.laboratory(): {mdp!r}",
            "noise": NOISE,
            "episodes": EPISODES,
            "optima": {
                "safe": st.safe_optimal(mdp).value,
                "unconstrained": best.value,
                "violation of the unconstrained": st.evaluate(mdp, best.policy).violation,
            },
            "learners": {name: told(make(mdp.known)) for name, make in LEARNERS.items()},
        }


STUDY = RewardFree(
    "reward-free", "figure1", "What is a plan worth that is made after exploring without a reward?"
)
