r"""The study of the rule that ends exploration, on three states and three steps.

SRF-UCRL explores with the theorem's constants until its uncertainty is :math:`\varepsilon/2` for
the smallest of a few :math:`\varepsilon`; on the way it passes the others.  Each time it plans for
many rewards, and what the plans lose and how unsafe they are is computed exactly.  ``make
stopping`` stores in ``book/data/stopping.npz``:

====================  ==========================================================================
``about``             JSON: the command, the settings, the world, and a digest of the code
``seeds`` (R,)        seeds of the runs
``epsilons`` (E,)     falling
``episodes`` (R, E)   after how many episodes the uncertainty is at most ε/2
``loss`` (R, E)       the most that a plan loses against the best feasible policy, over the rewards
``violation`` (R, E)  the most expected violation of a plan, over the rewards
====================  ==========================================================================
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from storing import Bench, Study

import safeteach as st

SEEDS = range(10)
EPSILONS = (3.0, 2.0, 1.0)
DELTA = 0.1
NOISE = 1.0
RANDOM_REWARDS = 64


def world() -> st.SafeMDP:
    """A bank, a path and a brook; whoever walks on the path is likely to stand in the brook.

    >>> world()
    SafeMDP(S=3, A=2, H=3, tau=0.2, s1=1, 1 unsafe state, stationary)
    """
    P = [
        [[0.8, 0.2, 0.0], [0.3, 0.7, 0.0]],
        [[0.5, 0.5, 0.0], [0.1, 0.0, 0.9]],
        [[0.0, 0.0, 1.0], [0.0, 0.0, 1.0]],
    ]
    return st.SafeMDP(
        P, np.zeros((3, 2)), c=[0.0, 0.1, 1.0], tau=0.2, H=3, s1=1,
        state_names=["bank", "path", "brook"], action_names=["stay", "walk"],
    )  # fmt: skip


def rewards() -> NDArray[np.float64]:
    """Every reward of 0 and 1 on the pairs, and random ones that depend on the step."""
    bits = np.reshape(list(product((0.0, 1.0), repeat=6)), (64, 1, 3, 2))
    corners = np.broadcast_to(bits, (64, 3, 3, 2))
    return np.concatenate([corners, np.random.default_rng(0).random((RANDOM_REWARDS, 3, 3, 2))])


def judged(learner: st.SRFUCRL, mdp: st.SafeMDP) -> tuple[float, float]:
    """The largest loss and the largest expected violation of its plans, over the rewards."""
    loss = violation = 0.0
    for r in rewards():
        here = st.SafeMDP(mdp.P, r, mdp.c, mdp.tau, mdp.H, mdp.s1)
        plan = st.evaluate(here, learner.plan_for(r).policy)
        loss = max(loss, st.safe_optimal(here).value - plan.value)
        violation = max(violation, plan.violation)
    return loss, violation


@dataclass(frozen=True)
class Followed:
    """Of one run, at each ε: how many episodes there were, the largest loss and violation."""

    episodes: NDArray[np.int64]
    loss: NDArray[np.float64]
    violation: NDArray[np.float64]


def follow(seed: int, epsilons: tuple[float, ...] = EPSILONS) -> Followed:
    """Let it explore until the smallest ε is reached."""
    mdp, found = world(), list[tuple[float, float, float]]()
    learner = st.SRFUCRL(mdp.known, delta=DELTA)
    for k, _ in st.play(learner, mdp, seed, NOISE):
        while len(found) < len(epsilons) and learner.width <= epsilons[len(found)] / 2:
            found.append((k, *judged(learner, mdp)))
        if len(found) == len(epsilons):
            break
    episodes, loss, violation = np.array(found).T
    return Followed(episodes.astype(int), loss, violation)


class Stopping(Study):
    """Explore to the end."""

    def arrays(self, bench: Bench) -> dict[str, Any]:
        """Run what has not been run, and tell what the chapter shows."""
        runs = bench.each(follow, SEEDS, Followed)
        columns = ("episodes", "loss", "violation")
        return {"seeds": SEEDS, "epsilons": EPSILONS} | {
            name: np.stack([getattr(run, name) for run in runs]) for name in columns
        }

    def facts(self) -> dict[str, Any]:
        """What a reader of the stored file has to know."""
        return {
            "world": repr(world()),
            "learner": "SRFUCRL",
            "delta": DELTA,
            "bonus_scale": 1.0,
            "noise": NOISE,
            "rewards": len(rewards()),
        }


STUDY = Stopping(
    "stopping", "stopping", "When does exploration end, and how good are the plans then?"
)
