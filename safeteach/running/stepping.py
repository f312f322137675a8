r"""The stage of an environment that can only be stepped.

It stands in the place of ``safeteach.running.loop.Stage``, and takes its random numbers for
ties and choices from the same streams.  So with the same seed a learner plans and acts as it would
in the world itself, wherever the environment moves and reports as the world does.

An episode may end before its H steps are over, *terminated* by the environment.  Where it ends the
agent then stays: the rest of the H steps are taken in the last state, and pay nothing.  What they
cost has to be said, as ``info["terminal_cost"]`` of the step that ended the episode: no action is
taken there, so no ``info["cost"]`` would ever tell, and a learner that took it for 0 would think
of the worst place that it is the safest.  It is the cost itself, without noise, since one noisy
number would be counted many times.  An episode that is *truncated* before H says nothing about the
world, and is an error.

Taught in *Run and keep an experiment*.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safeteach.arguments import flag, instance, number, numbered, shown
from safeteach.kernels import draw
from safeteach.learners.contract import Learner
from safeteach.running.loop import streams_of
from safeteach.running.refusing import readable
from safeteach.worlds.environments import Environment
from safeteach.worlds.known import Episode, Known

__all__ = ["Stepped"]

LARGEST = 1e300  # in size, of a reward or a cost: H of them are still a number

# What is read of the info of a step, with what it should be.
COSTS = {
    "cost": "expected that of the state in which the action was taken: the violation is counted "
    "from the costs that the environment reports",
    "terminal_cost": "expected what each step costs in the state in which the episode was "
    "terminated: no action is taken there, and so no cost reported",
}


class Stepped:
    """An environment, ready to play; the parts are those of ``safeteach.running.loop.Stage``.

    Parameters
    ----------
    env : Environment
    known : Known
        What its learner was told of it.
    seed : int
        Of the environment, which gets it with its first reset, and of the learner.

    Attributes
    ----------
    world : None
        Nobody can look into it.
    ties : Generator
        The learner's own random numbers.
    totals : (n, 3) array
        Reward and violation of each episode as they were reported, and NaN: what its policy is
        worth nobody knows.
    """

    world = None

    def __init__(self, env: Environment, known: Known, seed: int) -> None:
        self.env, self.known = env, known
        for name, letter in (("observation_space", "S"), ("action_space", "A")):
            if (space := getattr(env, name, None)) is not None:
                _check_space(space, name, letter, getattr(known, letter))
        self._seed: int | None = seed
        streams = streams_of(seed, "moves", "choices", "noises", "ties")
        self.ties, self._choices = streams["ties"], streams["choices"]
        self._totals: list[tuple[float, float, float]] = []

    @property
    def totals(self) -> NDArray[np.float64]:  # noqa: D102, said above
        return np.array(self._totals).reshape(-1, 3)

    def play(self, policy: NDArray[Any], learner: Learner) -> Episode:
        """Play an episode with a policy of the learner.

        The whole policy is checked: nobody knows which states there will be.
        """
        known, k = self.known, len(self._totals) + 1
        policy, _ = readable(known, policy, None, learner, None, k)
        H, luck = known.H, self._choices.random(known.H)
        states, actions = np.empty(H + 1, np.int64), np.empty(H, np.int64)
        rewards, costs = np.empty(H), np.empty(H)
        reward, violation = 0.0, 0.0
        s = states[0] = self._reset(k)
        terminal: float | None = None  # what a step costs since the episode was terminated
        for h in range(H):
            a = int(policy[h, s] if policy.ndim == 2 else draw(policy[h, s], luck[h]))
            if terminal is None:
                s, rewards[h], costs[h], terminal = self._step(a, h + 1, k)
            else:
                rewards[h], costs[h] = 0.0, terminal
            states[h + 1], actions[h] = s, a
            reward += rewards[h]
            violation += max(costs[h] - known.tau, 0.0)
        self._totals.append((reward, violation, np.nan))
        return Episode(states, actions, rewards, costs)

    def _reset(self, k: int) -> int:
        """s_1 of episode k."""
        first = self.env.reset(seed=self._seed) if k == 1 else self.env.reset()
        if not isinstance(first, tuple) or len(first) != 2:
            raise TypeError(f"reset of episode {k} is {shown(first)}; expected (observation, info)")
        s = self._state(first[0], f"the observation at the start of episode {k}")
        if s != self.known.s1:
            raise ValueError(
                f"the observation at the start of episode {k} is {s}; the learner was built for "
                f"s1 = {self.known.s1}, and where there are several starts a first step leads "
                f"to them"
            )
        return s

    def _step(self, a: int, h: int, k: int) -> tuple[int, float, float, float | None]:
        """The next state, reward, cost and, after the end, what a step costs from now on."""
        when = f"step {h} of episode {k}"
        told = self.env.step(a)
        if not isinstance(told, tuple) or len(told) != 5:
            raise TypeError(
                f"{when} is {shown(told)}; expected (observation, reward, terminated, truncated, "
                f"info)"
            )
        observation, reward, terminated, truncated, info = told
        s = self._state(observation, f"the observation after {when}")
        reward = float(number(reward, f"the reward of {when}", -LARGEST, LARGEST))
        terminated = flag(terminated, f"terminated of {when}")
        truncated = flag(truncated, f"truncated of {when}")
        cost, terminal = _cost("cost", info, when), None
        if h < self.known.H and terminated:
            terminal = _cost("terminal_cost", info, when)
        elif h < self.known.H and truncated:
            raise ValueError(
                f"{when} is truncated; the learner was built for H = {self.known.H}, and the "
                f"environment should go on so long"
            )
        return s, reward, cost, terminal

    def _state(self, observation: Any, name: str) -> int:
        return numbered(observation, name, "states", 0, self.known.S - 1)


def _check_space(space: Any, name: str, letter: str, n: int) -> None:
    """Raise an error if a space of gymnasium's is not that of 0..n-1."""
    if getattr(space, "n", None) != n:
        raise ValueError(
            f"{name} is {shown(space)}; the learner was built for {letter} = {n}, and for "
            f"numbers: Discrete({n})"
        )
    if getattr(space, "start", 0) != 0:
        raise ValueError(f"{name} is {shown(space)}; expected numbers from 0 on")


def _cost(name: str, info: Any, when: str) -> float:
    """A number of the info of a step."""
    instance(info, f"the info of {when}", Mapping, "a dict")
    if name not in info:
        raise ValueError(f'the info of {when} has no "{name}"; {COSTS[name]}')
    return float(number(info[name], f'"{name}" in the info of {when}', -LARGEST, LARGEST))
