r"""Straw men: learners to hold against the lower bounds, most of them bad on purpose.

A lower bound speaks of *every* learner, so the more different learners it is tried on, the better.
These span what a learner can be: one that never learns (:class:`FixedPolicy`,
:class:`UniformPolicy`), one that learns first and then trusts it (:class:`ExploreThenCommit`),
SUCBVI with a dial on its suspicion (:class:`Cautious`), and one that cheats: it knows the tree,
the gap and all the worlds that it may be in, and asks only which one it is (:class:`Informed`).

Taught in the chapters *The violation lower bound* and *The regret lower bound*.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from safeteach.arguments import number, shown, whole
from safeteach.kernels import compiled
from safeteach.learners.contract import Shown, check_settings
from safeteach.learners.model import SeenCosts, SeenTransitions
from safeteach.learners.sucbvi import SUCBVI
from safeteach.worlds.known import Episode, Known
from safeteach.worlds.reading import read_policy

__all__ = ["Cautious", "ExploreThenCommit", "FixedPolicy", "Informed", "UniformPolicy"]


class FixedPolicy(Shown):
    """Plays one policy for ever and learns nothing.

    Parameters
    ----------
    known : Known
    episodes : int
    policy : (H, S) actions or (H, S, A) probabilities of actions

    Examples
    --------
    >>> import safeteach as st
    >>> mdp = st.instances.violation_tree(A=2, depth=2, gap=0.1)
    >>> home = st.safe_optimal(mdp).policy
    >>> learner = st.learners.FixedPolicy(mdp.known, episodes=100, policy=home)
    >>> float(st.run(learner, mdp).violation.sum())
    0.0
    """

    def __init__(self, known: Known, *, episodes: int, policy: ArrayLike) -> None:
        check_settings(known, episodes=episodes)
        sizes = known.H, known.S, known.A
        self.policy: NDArray[Any] = read_policy(policy, "policy", *sizes, "A").copy()
        self.known = known
        self.episodes = episodes

    def plan(self, rng: np.random.Generator) -> NDArray[Any]:  # noqa: ARG002, all are asked so
        """``policy``, whatever happened."""
        return self.policy

    def observe(self, episode: Episode) -> None:
        """Take in nothing."""


class UniformPolicy(FixedPolicy):
    """Draws every action from all A, for ever.

    Examples
    --------
    >>> import safeteach as st
    >>> mdp = st.instances.violation_tree(A=2, depth=2, gap=0.1)
    >>> learner = st.learners.UniformPolicy(mdp.known, episodes=1_000)
    >>> share = st.run(learner, mdp).violation.mean() / 0.4    # in a leaf other than leaf 1
    >>> bool(abs(share - 3 / 4) < 0.05)
    True
    """

    def __init__(self, known: Known, *, episodes: int) -> None:
        check_settings(known, episodes=episodes)
        uniform = np.full((known.H, known.S, known.A), 1 / known.A)
        super().__init__(known, episodes=episodes, policy=uniform)


class ExploreThenCommit(Shown):
    """Plays at random for a share of the episodes, then for ever what looks best and safe.

    It believes its averages to the letter: a state is unsafe if its mean cost is above the
    threshold, transitions are as they were seen, and there is neither width nor bonus.  An action
    that was never tried is not chosen where another was.  Where nothing looks safe, everything
    that was tried is allowed.

    Parameters
    ----------
    known : Known
    episodes : int
    share : float
        In (0, 1]: the first ⌈share·K⌉ episodes are for exploring.

    Attributes
    ----------
    policy : (H, S, A) probabilities of actions, and from the commitment on (H, S) actions
    flagged : (S,) bool array
        What looked unsafe at the commitment.
    transitions : SeenTransitions
    costs : SeenCosts

    Examples
    --------
    >>> import safeteach as st
    >>> mdp = st.instances.violation_tree(A=2, depth=2, gap=0.5)         # easy to tell apart
    >>> learner = st.learners.ExploreThenCommit(mdp.known, episodes=1_000, share=0.5)
    >>> history = st.run(learner, mdp, seed=3)
    >>> history.violation[:500].mean() > 1, history.violation[500:].mean()
    (np.True_, np.float64(0.0))
    """

    def __init__(self, known: Known, *, episodes: int, share: float) -> None:
        check_settings(known, episodes=episodes)
        number(share, "share", 0, 1, ends="(]")
        self.known = known
        self.episodes = episodes
        self.share = share
        self.left = math.ceil(share * episodes)  # episodes to explore
        self.committed = False
        self.transitions = SeenTransitions(known)
        self.costs = SeenCosts(known)
        self.flagged = np.zeros(known.S, np.bool_)
        self.policy: NDArray[Any] = np.full((known.H, known.S, known.A), 1 / known.A)

    def plan(self, rng: np.random.Generator) -> NDArray[Any]:
        """Explore, commit, or keep to it; ``rng`` breaks ties of the commitment."""
        if self.left == 0 and not self.committed:
            self._commit(rng.random((self.known.H, self.known.S, self.known.A)))
        return self.policy

    def observe(self, episode: Episode) -> None:
        """Take in what happened, until the commitment."""
        if self.left > 0:
            self.left -= 1
            self.transitions.record(episode, self.costs)

    def _commit(self, ties: NDArray[np.float64]) -> None:
        """Backward induction in the model as it was seen."""
        known, seen = self.known, self.transitions
        tried, P_hat = seen.N > 0, seen.P_hat
        self.committed = True
        self.flagged = self.costs.mean > known.tau
        self.policy = np.empty((known.H, known.S), np.int64)
        V, U = np.zeros(known.S), np.zeros(known.S, np.bool_)  # after the last step
        for h in range(known.H - 1, -1, -1):
            Q = np.where(tried[h], known.r[h] + P_hat[h] @ V, -1.0)  # what was not tried is last
            safe = tried[h] & ~((P_hat[h] > 0) & U).any(axis=2)
            allowed = np.where(safe | ~safe.any(axis=1, keepdims=True), Q, -2.0)
            best = allowed == allowed.max(axis=1, keepdims=True)
            self.policy[h] = np.where(best, ties[h], -1.0).argmax(axis=1)
            V = np.maximum(allowed.max(axis=1), 0.0)
            U = self.flagged | (tried[h].any(axis=1) & ~safe.any(axis=1))


class Cautious(SUCBVI):
    r"""SUCBVI with a dial on its suspicion.

    It flags s when :math:`\hat c(s) - \mathit{caution} \cdot \beta(N(s)) > \tau`.  At 1 it is
    SUCBVI: innocent until proven guilty.  At 0 it believes its averages.  Below 0 a state is
    guilty until proven innocent.

    A state that was never visited is not flagged, whatever the dial says: there is nothing to
    hold against it, and who never goes there never learns.  Below 1 the dial also flags safe
    states that had bad luck, at 0 about half of those whose cost is the threshold itself; when
    all of them are flagged SUCBVI lifts its mask and safety is forgotten.  So this learner may
    be told of states that are safe, as OptPess is told of a policy.

    Parameters
    ----------
    known, episodes, delta, bonus_scale
        As of :class:`safeteach.SUCBVI`.
    caution : float
    trusted : sequence of int
        States that are known to be safe and are never flagged.

    Examples
    --------
    >>> import safeteach as st
    >>> mdp = st.instances.violation_tree(A=2, depth=2, gap=0.1)
    >>> home = range(4)                                        # the inner nodes and leaf 1
    >>> for caution in (1, 0.5, 0):
    ...     learner = st.learners.Cautious(
    ...         mdp.known, episodes=1_000, caution=caution, trusted=home)
    ...     print(round(st.run(learner, mdp).violation.mean() / 0.4, 2))
    0.74
    0.36
    0.01
    """

    def __init__(
        self,
        known: Known,
        *,
        episodes: int,
        caution: float,
        delta: float = 0.005,
        bonus_scale: float = 1.0,
        trusted: Sequence[int] = (),
    ) -> None:
        super().__init__(known, episodes=episodes, delta=delta, bonus_scale=bonus_scale)
        number(caution, "caution")
        self.suspect = np.ones(known.S, np.bool_)
        self.caution = caution
        self.trusted = _states(trusted, "trusted", known.S)
        self.suspect[self.trusted] = False

    def _flag(self) -> None:
        _flag(
            self.costs.N, self.costs.mean, self.known.tau, self.delta,
            float(self.caution), self.suspect, self.flagged,
        )  # fmt: skip


class Informed(Shown):
    r"""Knows the trees of Theorem 5.1 and the gap, and asks only which world it is in.

    With costs of a leaf i that it has seen it weighs safe against unsafe,

    .. math:: L_i = \sum_t \bigl(\Delta^2/2 - \Delta (c_t - \tau)\bigr),

    the logarithm of the likelihood ratio.  It goes to the leaf 2..n with the largest
    :math:`L_i`, for as long as the likelihood ratio of "one of them is safe" to "none is", the
    mean of :math:`e^{L_i}`, is at least :math:`e^{-\mathit{caution}} \sqrt{k/K}` after
    episode k.  Then it goes to leaf 1 for ever.  The root makes it patient while there is much
    to be won by asking on.

    Parameters
    ----------
    known : Known
    episodes : int
    leaves : (n,) ints
        States of the leaves s_1 .. s_n.
    gap : float
        Δ, by how much an unsafe leaf is above the threshold.
    caution : float
        How much evidence against a safe leaf it asks for before it gives up, in nats; far
        below 0 it gives up after one episode, far above 0 never.

    Attributes
    ----------
    L : (n - 1,) array
        Of the leaves 2..n.
    home : bool
        Whether it has given up.
    policy : (H, S) int array

    Examples
    --------
    >>> import safeteach as st
    >>> mdp = st.instances.violation_tree(A=2, depth=2, gap=0.5)
    >>> make = lambda mdp: st.learners.Informed(
    ...     mdp.known, episodes=100, leaves=mdp.leaves, gap=0.5, caution=2)
    >>> float(st.run(make(mdp), mdp).violation[-50:].sum())
    0.0
    """

    def __init__(
        self, known: Known, *, episodes: int, leaves: ArrayLike, gap: float, caution: float
    ) -> None:
        check_settings(known, episodes=episodes)
        number(gap, "gap", 0, 0.5, ends="(]")
        number(caution, "caution", ends="[]")
        self.leaves = np.array(_states(leaves, "leaves", known.S))
        if len(self.leaves) < 2 or not (np.diff(self.leaves) > 0).all():
            raise ValueError(f"leaves is {self.leaves}; expected two or more states, increasing")
        self.known = known
        self.episodes = episodes
        self.gap = gap
        self.caution = caution
        self.L = np.zeros(len(self.leaves) - 1)
        self.home = False
        self.played = 0
        self.policy = np.zeros((known.H, known.S), np.int64)

    def plan(self, rng: np.random.Generator) -> NDArray[np.int64]:
        """The way to a leaf, (H, S); ``rng`` breaks ties."""
        best = np.flatnonzero(self.L.max() == self.L)
        i = 0 if self.home else 1 + best[int(len(best) * rng.random())]
        s = int(self.leaves[i])
        while s > 0:
            s, a = divmod(s - 1, self.known.A)
            self.policy[:, s] = a
        return self.policy

    def observe(self, episode: Episode) -> None:
        """Weigh the costs of the leaf."""
        self.played += 1
        if self.home:
            return
        gap, leaf = self.gap, episode.states[-1]
        costs = episode.costs[episode.states[:-1] == leaf]
        i = np.searchsorted(self.leaves, leaf) - 1
        self.L[i] += np.sum(gap**2 / 2 - gap * (costs - self.known.tau))
        ratio = np.logaddexp.reduce(self.L) - math.log(len(self.L))
        least = math.log(self.played / self.episodes) / 2 - self.caution
        self.home = bool(ratio < least)


def _states(values: Any, name: str, S: int) -> list[int]:
    """States of a world of S, or a clear error."""
    if isinstance(values, str | bytes | dict) or not np.iterable(values):
        raise TypeError(f"{name} is {shown(values)}; expected several states")
    return [whole(s, f"{name}[{i}]", 0, S - 1) for i, s in enumerate(values)]


@compiled
def _flag(
    N: Any, mean: Any, tau: float, delta: float, caution: float, suspect: Any, flagged: Any
) -> None:
    """{s : ĉ(s) - caution·β(N(s)) > tau} among the visited suspects."""
    S = len(N)
    for s in range(S):
        n = N[s]
        flagged[s] = (
            suspect[s]
            and n > 0
            and mean[s] - caution * math.sqrt(2 * math.log(S * n * (n + 1) / delta) / n) > tau
        )
