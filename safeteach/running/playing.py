r"""Let a learner live through its episodes: all at once, or one by one to look at.

The same seed gives the same history, bit for bit, in any process.

Taught in the chapters *The algorithm* and *Learning to play safely*.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from safeteach.learners.contract import Learner
from safeteach.planning.induction import safe_optimal
from safeteach.running.adversaries import Adversary
from safeteach.running.loop import Stage, episodes
from safeteach.safety import is_feasible
from safeteach.worlds.games import SafeGame
from safeteach.worlds.known import Episode
from safeteach.worlds.mdp import SafeMDP

__all__ = ["History", "play", "run"]


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
        In a game V* is the safe minimax value, and π^k stands for both strategies: it is negative,
        too, where the adversary lets the agent have more.
    """

    reward: NDArray[np.float64]
    violation: NDArray[np.float64]
    regret: NDArray[np.float64]


def run(
    learner: Learner,
    world: SafeMDP | SafeGame,
    seed: int = 0,
    noise: float = 1.0,
    *,
    adversary: str | Adversary | None = None,
) -> History:
    """Let a learner live through its episodes.

    Parameters
    ----------
    learner : a new learner, built from ``world.known``
    world : SafeMDP or SafeGame
    seed : int
        The same seed gives the same history, bit for bit.
    noise : float
        Standard deviation of the Gaussian noise on each cost seen; the paper allows up to 1.
    adversary : str or function
        In a game, who plays against the learner: "equilibrium", "best responder", "uniform",
        "hazard seeker", or a function; see :mod:`safeteach.running.adversaries`.

    Examples
    --------
    >>> import safeteach as st
    >>> mdp = st.instances.union_counterexample()
    >>> history = st.run(st.SUCBVI(mdp.known, episodes=1_000, bonus_scale=0.01), mdp, seed=0)
    >>> history.reward[-100:].mean() > 1.9, st.safe_optimal(mdp).value
    (np.True_, 2.0)

    >>> game = st.instances.penny_bridge()
    >>> learner = st.SafeNashVI(game.known, episodes=300, bonus_scale=0.01)
    >>> history = st.run(learner, game, adversary="best responder")
    >>> bool(history.regret[-1] < 0.2 * st.safe_optimal(game).value)
    True
    """
    if getattr(learner, "episodes", None) is None:
        raise ValueError("this learner has no number of episodes; let it explore(learner, mdp)")
    stage = Stage(world, seed, noise, adversary)
    for _k, episode in episodes(learner, stage):
        learner.observe(episode)
    best = safe_optimal(world).value if is_feasible(world) else np.nan
    reward, violation, value = stage.totals.T.copy()
    return History(reward, violation, best - value)


def play(
    learner: Learner,
    world: SafeMDP | SafeGame,
    seed: int = 0,
    noise: float = 1.0,
    *,
    adversary: str | Adversary | None = None,
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
    for k, episode in episodes(learner, Stage(world, seed, noise, adversary)):
        yield k, episode
        learner.observe(episode)
