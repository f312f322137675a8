r"""An environment that can only be stepped: nobody can look into it, or make another one like it.

It is known by what it can do, as those of gymnasium are; gymnasium itself is not needed.

Taught in *Run and keep an experiment*.
"""

from __future__ import annotations

from typing import Any, Protocol

from safeteach.arguments import shown

__all__ = ["Environment", "is_environment", "refuse_environment"]


class Environment(Protocol):
    """What :func:`safeteach.run` and :func:`safeteach.play` step, where they get no world.

    States are numbered 0..S-1 and actions 0..A-1, as in the ``Known`` of the learner; if there are
    ``observation_space`` and ``action_space``, their ``n`` must be S and A.

    Examples
    --------
    A corridor of three cells, the last of which is too hot, and a bell in the first:

    >>> import numpy as np
    >>> import safeteach as st
    >>> class Corridor:
    ...     def reset(self, *, seed=None):
    ...         self.s = 1
    ...         return self.s, {}
    ...     def step(self, action):
    ...         cost, reward = float(self.s == 2), float(self.s == 0)
    ...         self.s = min(max(self.s + 2 * action - 1, 0), 2)
    ...         return self.s, reward, False, False, {"cost": cost}
    >>> r = np.zeros((4, 3, 2))
    >>> r[:, 0] = 1
    >>> known = st.Known(S=3, A=2, H=4, r=r, tau=0.5, s1=1)
    >>> history = st.run(st.SUCBVI(known, episodes=500, bonus_scale=0.01), Corridor())
    >>> float(history.reward[-1]), float(history.violation[-1])
    (3.0, 0.0)
    """

    def reset(self, *, seed: int | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode: s_1, and a dict of which nothing is read.

        A seed, given before the first episode alone, settles all that is random from then on.
        """

    def step(self, action: Any, /) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Take an action in s_h: s_{h+1}, the reward, whether it is terminated, truncated, a dict.

        ``info["cost"]`` is that of s_h, *in which the action was taken*, with or without noise; so
        H steps report the costs of s_1..s_H, which are those of :class:`safeteach.Episode`.
        """


def is_environment(world: object) -> bool:
    """Whether it can be reset and stepped.

    >>> import safeteach as st
    >>> is_environment(st.instances.ice_corridor())
    False
    """
    verbs = (getattr(world, verb, None) for verb in ("reset", "step"))
    return not isinstance(world, type) and all(map(callable, verbs))


def refuse_environment(world: object, name: str, why: str) -> None:
    """Raise an error for an environment in the place of a world; ``name`` is the argument's."""
    if is_environment(world):
        raise TypeError(f"{name} is {shown(world)}, an environment that can only be stepped; {why}")
