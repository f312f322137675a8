r"""Play episodes: the learner plans, the world moves, and whoever asked may look.

The world's random numbers come from streams of their own, one each for moves, for the choices of
a randomised policy, for the noise of the costs and for the learner's ties.  So two learners with
the same seed meet the same luck, and the same seed gives the same episodes, bit for bit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safeteach.kernels import compiled
from safeteach.learners.contract import Learner, check_same_world
from safeteach.planning.induction import safe_optimal
from safeteach.safety import is_feasible
from safeteach.worlds.mdp import Episode, SafeMDP

__all__ = ["History", "Stage", "play", "run"]

BLOCK = 256  # episodes whose random numbers are drawn together; the bits do not depend on it


@dataclass(frozen=True)
class History:
    """What happened, episode by episode; (episodes,) arrays, or (seeds, episodes) of many runs.

    Attributes
    ----------
    reward : array
        Sum of the rewards, as they came.
    violation : array
        Sum of (c(s_h) - tau)_+ over h = 1..H, as it came.
    regret : array
        V*_1(s_1) - V_1^{π^k}(s_1), exact, with V* the best feasible policy's.  It is negative
        where π^k is not feasible and earns more, and NaN in a world without feasible policies.
    """

    reward: NDArray[np.float64]
    violation: NDArray[np.float64]
    regret: NDArray[np.float64]


def run(learner: Learner, mdp: SafeMDP, seed: int = 0, noise: float = 1.0) -> History:
    """Let a learner live through its episodes.

    Parameters
    ----------
    learner : a new learner, built from ``mdp.known``
    mdp : SafeMDP
    seed : int
        The same seed gives the same history, bit for bit.
    noise : float
        Standard deviation of the Gaussian noise on each cost seen; the paper allows up to 1.

    Examples
    --------
    >>> import safeteach as st
    >>> mdp = st.instances.union_counterexample()
    >>> history = st.run(st.SUCBVI(mdp.known, episodes=1_000, bonus_scale=0.01), mdp, seed=0)
    >>> history.reward[-100:].mean() > 1.9, st.safe_optimal(mdp).value
    (np.True_, 2.0)
    """
    if getattr(learner, "episodes", None) is None:
        raise ValueError("this learner has no number of episodes; let it explore(learner, mdp)")
    stage = Stage(mdp, learner, noise)
    best = safe_optimal(mdp).value if is_feasible(mdp) else np.nan
    for _k, episode in stage.play(seed):
        learner.observe(episode)
    reward, violation, value = stage.totals.T.copy()
    return History(reward, violation, best - value)


def play(
    learner: Learner, mdp: SafeMDP, seed: int = 0, noise: float = 1.0
) -> Iterator[tuple[int, Episode]]:
    """The episodes of :func:`run` one by one, for whoever wants to look into the learner.

    Yields k = 0, 1, ... and the episode, when the learner has planned it and not yet observed.

    Examples
    --------
    >>> import safeteach as st
    >>> mdp = st.instances.ice_corridor()
    >>> learner = st.SUCBVI(mdp.known, episodes=2_000, bonus_scale=0.01)
    >>> flags = [int(learner.flagged.sum()) for k, episode in st.play(learner, mdp)]
    >>> flags[0], flags[-1]
    (0, 1)
    """
    for k, episode in Stage(mdp, learner, noise).play(seed):
        yield k, episode
        learner.observe(episode)


class Stage:
    """A world and a learner, ready to play.

    Attributes
    ----------
    episodes : int or None
        How many to play; None, of a learner that is not told, goes on for ever.
    totals : (n, 3) array
        Reward and violation of each episode played, and what its policy is worth, V_1^π(s_1).
    """

    def __init__(self, mdp: SafeMDP, learner: Learner, noise: float) -> None:
        accept = getattr(learner, "check_world", partial(check_same_world, learner.known))
        accept(mdp)
        if not 0 <= noise < np.inf:
            raise ValueError(
                f"noise is {noise}; a standard deviation must be at least 0 and finite"
            )
        if getattr(learner, "started", False):
            raise ValueError("this learner has run before; build a new one for a new run")
        learner.started = True  # type: ignore[attr-defined]
        self.learner = learner
        self.noise = noise
        self.mdp = mdp
        self.episodes: int | None = getattr(learner, "episodes", None)
        self.rows = mdp.all_rows()
        self.r = np.ascontiguousarray(mdp.r)
        self._blocks: list[NDArray[np.float64]] = []

    @property
    def totals(self) -> NDArray[np.float64]:  # noqa: D102, said above
        return np.concatenate(self._blocks)

    def play(self, seed: int) -> Iterator[tuple[int, Episode]]:
        """Yield the episodes; observing them is left to the caller."""
        learner, mdp, H = self.learner, self.mdp, self.mdp.H
        moves, choices, noises, ties = (
            np.random.default_rng(child) for child in np.random.SeedSequence(seed).spawn(4)
        )
        laws = np.zeros((2, mdp.S))
        shapes = ((H, mdp.S), (H, mdp.S, mdp.A))
        for first in count(0, BLOCK):
            n = BLOCK if self.episodes is None else min(BLOCK, self.episodes - first)
            if n <= 0:
                return
            totals = np.full((n, 3), np.nan)
            self._blocks.append(totals)
            move, choice = moves.random((n, H)), choices.random((n, H))
            luck = self.noise * noises.standard_normal((n, H))
            states, actions = np.empty((n, H + 1), np.int64), np.empty((n, H), np.int64)
            rewards, costs = np.empty((n, H)), np.empty((n, H))
            for k in range(n):
                policy = learner.plan(ties)
                if policy.shape not in shapes or not _episode(
                    k, *self.rows, self.r, mdp.c, mdp.tau, mdp.s1, policy, move, choice, luck,
                    laws, states, actions, rewards, costs, totals,
                ):  # fmt: skip
                    mdp.check_policy(policy)  # says what is wrong with it
                yield first + k, Episode(states[k], actions[k], rewards[k], costs[k])


@compiled
def _draw(probability: Any, uniform: float) -> int:
    """The index that a uniform number falls on, as :func:`safeteach.rollout` draws it."""
    total = 0.0
    for p in probability:
        total += p
    below = min(uniform * total, np.nextafter(total, 0.0))
    i = 0
    total = probability[0]
    while total <= below and i < len(probability) - 1:
        i += 1
        total += probability[i]
    return i


@compiled
def _episode(
    k: int, start: Any, length: Any, successor: Any, probability: Any, r: Any, c: Any,
    tau: float, s1: int, policy: Any, move: Any, choice: Any, luck: Any, laws: Any,
    states: Any, actions: Any, rewards: Any, costs: Any, totals: Any,
) -> bool:  # fmt: skip
    """Play episode k of a block into row k of the last five arrays; False for a bad action.

    ``policy`` holds actions, (H, S), or probabilities of actions, (H, S, A).
    """
    H, S, A = r.shape
    reward, violation, value = 0.0, 0.0, 0.0
    s = states[k, 0] = s1
    for h in range(H):
        if policy.ndim == 2:  # noqa: SIM108, numba drops the branch that does not fit the shape
            a = policy[h, s]
        else:
            a = _draw(policy[h, s], choice[k, h])
        if not 0 <= a < A:
            return False
        actions[k, h] = a
        rewards[k, h] = r[h, s, a]
        costs[k, h] = c[s] + luck[k, h]
        reward += r[h, s, a]
        violation += max(c[s] - tau, 0.0)
        i = s * A + a + (h * S * A if len(start) == H * S * A else 0)
        row = probability[start[i] : start[i] + length[i]]
        s = states[k, h + 1] = successor[start[i] + _draw(row, move[k, h])]

    law, after = laws[0], laws[1]  # where the policy is at this step and at the next
    law[:] = 0.0
    law[s1] = 1.0
    for h in range(H):
        after[:] = 0.0
        for s in range(S):
            if law[s] > 0:
                for b in range(1 if policy.ndim == 2 else A):
                    if policy.ndim == 2:
                        a, weight = policy[h, s], law[s]
                    else:
                        a, weight = b, law[s] * policy[h, s, b]
                    if not 0 <= a < A:
                        return False
                    value += weight * r[h, s, a]
                    i = s * A + a + (h * S * A if len(start) == H * S * A else 0)
                    for j in range(start[i], start[i] + length[i]):
                        after[successor[j]] += weight * probability[j]
        law, after = after, law
    totals[k, 0], totals[k, 1], totals[k, 2] = reward, violation, value
    return True
