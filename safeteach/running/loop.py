r"""The one loop: the learner plans, the world plays an episode, whoever asked may look.

:func:`safeteach.run`, :func:`safeteach.play`, :func:`safeteach.explore` and
:func:`safeteach.audit` read it, each in its own way.  It knows no learner by name: what it asks of
one is the contract of :mod:`safeteach.learners.contract`.

The world's random numbers come from streams of their own, one each for moves, for the choices of
a randomised policy, in a game for the adversary's, for the noise of the costs and for the
learner's ties.  So two learners with the same seed meet the same luck, and the same seed gives the
same episodes, bit for bit.

The learner's half of the loop, :func:`episodes`, sees of the world only a :class:`Stage`: what
plays an episode of a policy.  Another stage may stand in its place, such as that of an environment
that can only be stepped, :class:`safeteach.running.stepping.Stepped`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import count, repeat
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from safeteach.kernels import compiled, draw
from safeteach.learners.contract import Learner, check_same_world
from safeteach.planning.forward import worth
from safeteach.running.adversaries import Adversary, find_adversary
from safeteach.running.refusing import both_strategies, readable
from safeteach.worlds.games import SafeGame
from safeteach.worlds.known import Episode
from safeteach.worlds.mdp import SafeMDP

__all__ = ["Playable", "Stage", "episodes", "streams_of"]

BLOCK = 256  # episodes whose random numbers are drawn together; the bits do not depend on it


class Playable(Protocol):
    """What the loop needs of a stage; the parts are those of :class:`Stage`.

    Where there is no ``world`` that a learner could be shown, the stage sees to it that it fits.
    """

    world: Any
    ties: np.random.Generator

    def play(self, policy: NDArray[Any], learner: Learner, /) -> Episode:
        """Play an episode with a policy of the learner."""


def episodes(learner: Learner, stage: Playable) -> Iterator[tuple[int, Episode]]:
    """Yield k = 0, 1, ... and the episode, planned and played; observing is left to the caller.

    It ends after as many episodes as the learner wants, ``learner.episodes``, if it says so.
    """
    if stage.world is not None:
        accept = getattr(learner, "check_world", partial(check_same_world, learner.known))
        accept(stage.world)
    if getattr(learner, "started", False):
        raise ValueError("this learner has run before; build a new one for a new run")
    learner.started = True  # type: ignore[attr-defined]
    wanted = getattr(learner, "episodes", None)
    for k in count() if wanted is None else range(wanted):
        yield k, stage.play(learner.plan(stage.ties), learner)


def streams_of(seed: int, *names: str) -> dict[str, np.random.Generator]:
    """Sources of random numbers that have nothing to do with each other, by their names."""
    children = np.random.SeedSequence(seed).spawn(len(names))
    return {n: np.random.default_rng(child) for n, child in zip(names, children, strict=True)}


class Stage:
    """A world with the luck of one seed, ready to play.

    Parameters
    ----------
    world : SafeMDP or SafeGame
    seed : int
    noise : float
        Standard deviation of the Gaussian noise on each cost seen.
    adversary : name or function
        Who plays against the learner; in a game alone, and there it is needed.

    Attributes
    ----------
    ties : Generator
        The learner's own random numbers.
    totals : (n, 3) array
        Reward and violation of each episode, and what its policy is worth, V_1^π(s_1).
    """

    def __init__(
        self,
        world: SafeMDP | SafeGame,
        seed: int,
        noise: float,
        adversary: str | Adversary | None = None,
    ) -> None:
        self.adversary = None
        if isinstance(world, SafeGame):
            self.adversary = find_adversary(adversary)
        elif adversary is not None:
            raise ValueError("adversary plays in a game; an MDP has none")
        self.world, self.noise = world, noise
        streams = ["moves", "choices", "noises", "ties"]
        if self.adversary:
            streams.insert(2, "replies")
        self._streams = streams_of(seed, *streams)
        self.ties = self._streams["ties"]
        H, S = world.H, world.S
        self._world = (
            *world.all_rows(), np.ascontiguousarray(world.r).reshape(H, S, -1), world.c,
            world.tau, world.s1,
        )  # fmt: skip
        self._shapes = ((H, S), (H, S, world.A))
        self._laws = np.zeros((2, S))
        self._totals: list[NDArray[np.float64]] = []
        self._played = 0

    @property
    def totals(self) -> NDArray[np.float64]:  # noqa: D102, said above
        return np.concatenate(self._totals)[: self._played]

    def play(self, policy: NDArray[Any], learner: Learner) -> Episode:
        """Play an episode with a policy of the learner."""
        k = self._played % BLOCK
        if k == 0:
            self._new_block()
        self._played += 1
        nu = None
        if self.adversary:
            assert isinstance(self.world, SafeGame)
            policy, nu = both_strategies(
                self.world, policy, learner, self.adversary, self._played
            )
        try:
            played = (
                policy.shape in self._shapes
                and (k > 0 or policy.dtype.kind in "iuf")  # a bool is compiled as a number
                and _episode(k, *self._world, policy, nu, *self._block)
            )
        except Exception:  # what numba says of a wrong kind of policy
            played = False
        if not played:
            policy, nu = readable(
                self.world, policy, nu, learner, self.adversary, self._played
            )
            _episode(k, *self._world, policy, nu, *self._block)
        return self._episodes[k]

    def _new_block(self) -> None:
        """Draw the luck of the next episodes, and make room for what happens in them."""
        H, streams = self.world.H, self._streams
        names = ["moves", "choices"] + ["replies"] * bool(self.adversary)
        luck = np.empty((len(names) + 1, BLOCK, H))
        for name, numbers in zip(names, luck, strict=False):
            streams[name].random(out=numbers)
        streams["noises"].standard_normal(out=luck[-1])
        luck[-1] *= self.noise
        states = np.empty((BLOCK, H + 1), np.int64)
        actions = np.empty((len(names) - 1, BLOCK, H), np.int64)
        seen = np.empty((2, BLOCK, H))
        totals = np.empty((BLOCK, 3))
        self._block = luck, self._laws, states, actions, seen, totals
        self._totals.append(totals)
        replies = actions[1] if self.adversary else repeat(None, BLOCK)
        rows = zip(states, actions[0], *seen, replies, strict=True)
        # Filled in as they are played.  Episode._make does the same and takes three times as long.
        self._episodes = [tuple.__new__(Episode, row) for row in rows]


@compiled
def _episode(
    k: int, span: Any, successor: Any, probability: Any, r: Any, c: Any,
    tau: float, s1: int, policy: Any, nu: Any, luck: Any, laws: Any,
    states: Any, actions: Any, seen: Any, totals: Any,
) -> bool:  # fmt: skip
    """Play episode k of a block into row k of the last four arrays; False for a bad policy.

    Parameters
    ----------
    span, successor, probability, r, s1, policy, nu, laws
        As of :func:`safeteach.planning.forward.worth`.
    luck : (3, n, H) array, or (4, n, H) with an adversary
        Uniform numbers for moves, choices and replies; noise on costs.
    states : (n, H + 1) int array
    actions : (1, n, H) int array, or (2, n, H) with the adversary's
    seen : (2, n, H) array
        Rewards and costs.
    totals : (n, 3) array
        Reward, violation, and what the policy is worth.
    """
    value, _spent = worth(
        span, successor, probability, r, None, s1, policy, nu, laws
    )
    if np.isnan(value):
        return False
    H, S, pairs = r.shape
    B = 1 if nu is None else nu.shape[2]
    per_step = S * pairs if len(span) == H * S * pairs else 0
    reward, violation = 0.0, 0.0
    s = states[k, 0] = s1
    for h in range(H):
        if policy.ndim == 2:  # noqa: SIM108, numba drops the branch that does not fit the shape
            a = policy[h, s]
        else:
            a = draw(policy[h, s], luck[1, k, h])
        actions[0, k, h] = a
        pair = s * (pairs // B) + a
        if nu is not None:
            b = draw(nu[h, s], luck[2, k, h])
            actions[1, k, h] = b
            pair = pair * B + b
        seen[0, k, h] = r[h, s, pair - s * pairs]
        seen[1, k, h] = c[s] + luck[-1, k, h]
        reward += seen[0, k, h]
        violation += max(c[s] - tau, 0.0)
        i = np.uint64(h * per_step + pair)
        row = probability[span[i, 0] : span[i, 1]]
        s = states[k, h + 1] = successor[span[i, 0] + draw(row, luck[0, k, h])]
    totals[k, 0], totals[k, 1], totals[k, 2] = reward, violation, value
    return True
