r"""Let a learner live through its episodes: all at once, or one by one to look at.

The same seed gives the same history, bit for bit, in any process.

Taught in the chapters *The algorithm* and *Learning to play safely*.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safeteach.arguments import instance, number, shown, whole
from safeteach.kernels import warn_if_plain
from safeteach.learners.contract import Learner, check_learner_of
from safeteach.planning.induction import safe_optimal
from safeteach.records import Kept
from safeteach.running.adversaries import Adversary
from safeteach.running.loop import Playable, Stage, episodes
from safeteach.running.progress import Progress
from safeteach.running.refusing import blamed
from safeteach.running.stepping import Stepped
from safeteach.safety import is_feasible
from safeteach.worlds.environments import Environment, is_environment
from safeteach.worlds.games import SafeGame
from safeteach.worlds.known import Episode
from safeteach.worlds.mdp import SafeMDP

__all__ = ["History", "play", "run", "stage_for"]


@dataclass(frozen=True, eq=False, repr=False)
class History(Kept):
    """What happened, episode by episode; (episodes,) arrays, or (seeds, episodes) of many runs.

    Two are equal if all numbers are.  ``history.save(path)`` keeps one in a file, and
    ``History.load(path)`` reads it.

    Attributes
    ----------
    reward : array
        Sum of the rewards, as they came.
    violation : array
        Sum of (c(s_h) - tau)_+ over h = 1..H, as it came.  In an environment that can only be
        stepped, of the costs that it reports: if these are noisy, it is larger on average.
    regret : array
        V*_1(s_1) - V_1^{π^k}(s_1), exact, with V* the best feasible policy's.  It is negative
        where π^k is not feasible and earns more, and NaN in a world without feasible policies.
        In a game V* is the safe minimax value, and π^k stands for both strategies: it is negative,
        too, where the adversary lets the agent have more.  In an environment that can only be
        stepped it is NaN: what a policy is worth there nobody knows.

    Examples
    --------
    >>> import safeteach as st
    >>> mdp = st.instances.ice_corridor()
    >>> history = st.run(st.UCBVI(mdp.known, episodes=50), mdp)
    >>> history.reward.shape, history.violation.shape, history.regret.shape
    ((50,), (50,), (50,))
    """

    reward: NDArray[np.float64]
    violation: NDArray[np.float64]
    regret: NDArray[np.float64]


def run(
    learner: Learner,
    world: SafeMDP | SafeGame | Environment,
    seed: int = 0,
    noise: float = 1.0,
    *,
    adversary: str | Adversary | None = None,
    progress: bool | None = None,
) -> History:
    """Let a learner live through its episodes.

    Parameters
    ----------
    learner : a new learner, built from ``world.known``
    world : SafeMDP or SafeGame, or an environment
        An environment that can only be stepped has ``reset(seed=)`` and ``step(action)`` as those
        of gymnasium have, numbered states, and the cost of the state in which an action was taken
        in the step's ``info["cost"]``; see :mod:`safeteach.running.stepping`.  A step that
        terminates an episode before H says in ``info["terminal_cost"]`` what each of the steps
        that are left costs: the agent stays where it is, and earns nothing.  Its learner is
        built from a :class:`Known` of your own.  There the violation is of the costs that it
        reports, and the regret is NaN.
    seed : int
        At least 0.  The same seed gives the same history, bit for bit.
    noise : float
        Standard deviation of the Gaussian noise on each cost seen; the paper allows up to 1.  An
        environment has its own.
    adversary : str or function
        In a game, who plays against the learner: "equilibrium", "best responder", "uniform",
        "hazard seeker", or a function; see :mod:`safeteach.running.adversaries`.
    progress : bool, optional
        Whether to show on stderr how far it is, when it takes longer than three seconds; by
        default if stderr is a terminal.

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
    stage = stage_for(learner, world, seed, noise, adversary, progress)
    wanted = getattr(learner, "episodes", None)
    if wanted is None:
        raise ValueError("this learner has no number of episodes; let it explore(learner, mdp)")
    name, total = type(learner).__name__, whole(wanted, "episodes of the learner")
    k = -1
    with (
        blamed(lambda: f"{name}, seed {seed}, after {k + 1} episodes"),
        Progress(name, total, progress) as shown,
    ):
        for k, episode in episodes(learner, stage):
            learner.observe(episode)
            if k >= shown.next:
                shown.reach(k)
    best = np.nan
    if isinstance(world, SafeMDP | SafeGame) and is_feasible(world):
        best = safe_optimal(world).value
    reward, violation, value = stage.totals.T.copy()
    return History(reward, violation, best - value)


def play(
    learner: Learner,
    world: SafeMDP | SafeGame | Environment,
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
    stage = stage_for(learner, world, seed, noise, adversary)
    return _one_by_one(learner, stage, seed)


def _one_by_one(learner: Learner, stage: Playable, seed: int) -> Iterator[tuple[int, Episode]]:
    k = -1
    with blamed(lambda: f"{type(learner).__name__}, seed {seed}, after {k + 1} episodes"):
        for k, episode in episodes(learner, stage):
            yield k, episode
            learner.observe(episode)


def stage_for(
    learner: Any,
    world: Any,
    seed: Any,
    noise: Any,
    adversary: str | Adversary | None = None,
    progress: Any = None,
) -> Stage | Stepped:
    """Where a run takes place, once all that was handed over for it is checked."""
    check_learner_of(learner, world, steps=True)
    number(noise, "noise", 0, ends="[)")
    instance(progress, "progress", bool | None, "True, False or None")
    warn_if_plain()
    whole(seed, "seed", at_least=0, at_most=np.inf)
    if not is_environment(world):
        return Stage(world, int(seed), noise, adversary)
    if noise != 1:
        raise ValueError(
            f"noise is {shown(noise)}; the costs of an environment are seen as it reports them: "
            f"leave noise out, and set it there"
        )
    if adversary is not None:
        raise ValueError("adversary plays in a game; an environment has none")
    return Stepped(world, learner.known, int(seed))
