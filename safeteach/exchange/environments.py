"""Worlds as environments of Gymnasium, for whoever wants to step them.

Taught in *Bring a world*.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safeteach.arguments import instance, number, numbered
from safeteach.exchange.imported import is_one_table
from safeteach.extras import extra
from safeteach.worlds.mdp import SafeMDP

with extra("gym"):
    import gymnasium as gym
    from gymnasium.envs.registration import EnvSpec

__all__ = ["WorldEnv", "to_gymnasium"]

Table = dict[int, dict[int, list[tuple[float, int, float, bool]]]]


class WorldEnv(gym.Env[Any, Any]):
    """A safe MDP that is stepped; :func:`~safeteach.to_gymnasium` makes one.

    Attributes
    ----------
    world : SafeMDP
    noise : float
    initial_state_distrib : (S,) array
        1 at s_1.
    P : dict
        ``P[s][a]`` lists outcomes ``(probability, next state, reward, False)``: no state of a
        world ends an episode.  Only where one table serves all steps.

    Examples
    --------
    >>> import safeteach as st
    >>> env = st.to_gymnasium(st.instances.ice_corridor())
    >>> env.P[0][3]                               # on dry floor, to the right
    [(1.0, 1, 0.0, False)]
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012, as Gymnasium declares it

    def __init__(self, world: SafeMDP, noise: float = 1.0, render_mode: str | None = None) -> None:
        self.world = instance(world, "world", SafeMDP, "a SafeMDP")
        rule = "a standard deviation must be at least 0, and finite"
        self.noise = float(number(noise, "noise", 0, ends="[)", rule=rule))
        self.observation_space = gym.spaces.Discrete(world.S)
        self.action_space = gym.spaces.Discrete(world.A)
        self.render_mode = render_mode
        self.spec = EnvSpec(
            "safeteach/World-v0", _make, kwargs={"world": world, "noise": self.noise}
        )
        self._s, self._h = world.s1, world.H + 1  # an episode begins with reset

    @cached_property
    def initial_state_distrib(self) -> NDArray[np.float64]:
        """The probability of each start."""
        return np.eye(1, self.world.S, self.world.s1)[0]

    @cached_property
    def P(self) -> Table:
        """The table of outcomes, as Gymnasium's own tabular environments have it."""
        world = self.world
        if not is_one_table(world):
            raise AttributeError(
                f"{world!r} has no table P[s][a]: its transitions or rewards change with the step"
            )
        rows = world.rows(1)
        table: Table = {s: {} for s in range(world.S)}
        for i, (s, a) in enumerate(np.ndindex(world.S, world.A)):
            row, reward = slice(rows.indptr[i], rows.indptr[i + 1]), float(world.r[0, s, a])
            outcomes = zip(
                rows.probability[row].tolist(), rows.successors[row].tolist(), strict=True
            )
            table[s][a] = [(p, t, reward, False) for p, t in outcomes]
        return table

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[int, dict[str, Any]]:
        """Begin an episode in s_1; ``info`` is empty, and ``options`` are not read."""
        super().reset(seed=seed, options=options)
        self._s, self._h = self.world.s1, 1
        return self._s, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        """Pay the cost of the state one is in, take an action in it, and move."""
        world, s, h = self.world, self._s, self._h
        if h > world.H:
            raise ValueError(f"no step of H = {world.H} is left; expected reset() first")
        a = numbered(action, "action", "actions", 0, world.A - 1)
        rows, i = world.rows(h), s * world.A + a
        row = slice(rows.indptr[i], rows.indptr[i + 1])
        self._s = int(self.np_random.choice(rows.successors[row], p=rows.probability[row]))
        self._h = h + 1
        cost = float(world.c[s] + self.noise * self.np_random.standard_normal())
        return self._s, float(world.r[h - 1, s, a]), False, h == world.H, {"cost": cost}


def _make(**named: Any) -> WorldEnv:
    return WorldEnv(**named)


def to_gymnasium(world: SafeMDP, noise: float = 1.0) -> WorldEnv:
    """A world as an environment of Gymnasium.

    Observations are states and actions are actions, both by their numbers.  No episode
    terminates; each is truncated after H steps.  The ``info`` of step h holds ``"cost"``, the
    cost c(s_h) of the state in which the action was taken, plus noise: H steps give exactly the H
    costs of an :class:`~safeteach.Episode`.  The state after the last step has no cost, and the
    ``info`` of ``reset`` is empty.

    Parameters
    ----------
    world : SafeMDP
        Its transitions and rewards may depend on the step: the environment counts steps.
    noise : float
        Standard deviation of the Gaussian noise on each cost seen, finite.

    Returns
    -------
    gymnasium.Env
        ``env.reset(seed=0)`` makes what follows repeatable.  Where transitions and rewards are the
        same at every step, ``env.P`` is their table, and ``st.from_gymnasium(env)`` says the
        world again; where not, there is none.  ``env.world`` is what it was made from: of an
        :class:`~safeteach.ImportedMDP` the table says what the world is here, rewards in [0, 1]
        and copied actions like others, and not how it was translated; for ``outside``,
        ``stands_for`` and ``copied`` ask ``env.world``.

    Notes
    -----
    Gymnasium's own ``check_env`` has nothing to complain of, if H is at least 2: it takes an
    environment for broken that is truncated after one step.

    Examples
    --------
    >>> import safeteach as st
    >>> env = st.to_gymnasium(st.instances.ice_corridor(), noise=0.0)
    >>> env.reset(seed=0)
    (6, {})
    >>> env.step(0)                               # up, onto the dry lane
    (0, 0.0, False, False, {'cost': 0.0})
    """
    return WorldEnv(world, noise)
