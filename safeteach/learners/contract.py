r"""The contract of a learner: what it must offer, what it may say, and what a run asks of it.

A learner *must* offer three things, see :class:`Learner`: ``known``, what it was told of the
world; ``plan(rng)``, the policy of the next episode; and ``observe(episode)``, which takes in what
happened.  Its constructor takes ``known`` first and keeps every setting under the setting's own
name, as the estimators of scikit-learn do; so :func:`settings_of` reads the settings off the
constructor, and none can be forgotten.

It *may* say more.  What it does not say has a default:

``episodes``             how many episodes it wants; by default as many as a run is told
``check_world(world)``   an error if it cannot live in this world; by default the world must be the
                         one that it was built for, :func:`check_same_world`
``done``                 whether it knows enough after its last plan; by default never
``nu``                   in a game, what its last plan expects of the adversary, (H, S, B)

No run knows a learner by name.  :func:`safeteach.check_learner` tries a class of your own and says
what is missing.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from safeteach.worlds.known import Episode, Known

__all__ = [
    "Learner",
    "asks_for_episodes",
    "check_same_world",
    "check_settings",
    "new_learner",
    "settings_of",
]


class Learner(Protocol):
    """What every learner has to offer.

    Attributes
    ----------
    known : Known
        What it was told of the world, ``world.known``.
    """

    known: Known

    def plan(self, rng: np.random.Generator) -> NDArray[Any]:
        """Make the policy of the next episode, (H, S) actions or (H, S, A) probabilities of them.

        ``rng`` is the learner's own stream of random numbers, for ties and coins.
        """

    def observe(self, episode: Episode) -> None:
        """Take in what happened."""


def new_learner(make: Callable[..., Learner], known: Known, episodes: int) -> Learner:
    """Build a learner, and tell it the number of episodes if it asks for it: an explorer does not.

    Examples
    --------
    >>> import safeteach as st
    >>> known = st.instances.ice_corridor().known
    >>> new_learner(st.UCBVI, known, 50).episodes
    50
    >>> hasattr(new_learner(st.RFUCRL, known, 50), "episodes")
    False
    """
    return make(known, episodes=episodes) if asks_for_episodes(make) else make(known)


def asks_for_episodes(make: Callable[..., Learner]) -> bool:
    """Whether what makes a learner wants to know the number of episodes."""
    return any(
        name == "episodes" or parameter.kind is parameter.VAR_KEYWORD
        for name, parameter in inspect.signature(make).parameters.items()
    )


def settings_of(learner: object) -> dict[str, Any]:
    """Read the settings of a learner off its constructor: each by its name, beside ``known``.

    Examples
    --------
    >>> import safeteach as st
    >>> known = st.instances.ice_corridor().known
    >>> settings_of(st.UCBVI(known, episodes=50))
    {'episodes': 50, 'delta': 0.005, 'bonus_scale': 1.0}
    """
    kind = type(learner)
    settings = {}
    for name, parameter in inspect.signature(kind).parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise TypeError(
                f"{kind.__name__} takes {parameter}, so nobody can tell its settings: name each "
                f"of them in the constructor"
            )
        if name == "known":
            continue
        try:
            settings[name] = getattr(learner, name)
        except AttributeError:
            raise AttributeError(
                f"{kind.__name__} does not keep its setting {name}: its constructor should say "
                f"self.{name} = {name}"
            ) from None
    return settings


def check_same_world(known: Known, world: Any, rewards: bool = True) -> None:
    """Raise an error if a world is not the one that a learner was told of.

    Parameters
    ----------
    known : Known
    world : SafeMDP or SafeGame
    rewards : bool
        Whether the rewards must be the same; a learner that never reads them does not care.
    """
    for name in ("S", "A", "B", "H", "tau", "s1"):
        told, true = getattr(known, name, 0), getattr(world, name, 0)  # an MDP has no B
        if told != true:
            raise ValueError(
                f"the learner was built for a world with {name} = {told}; this one has {true}"
            )
    if rewards and not np.array_equal(known.r, world.r):
        raise ValueError("the learner was built for a world with other rewards")


def check_settings(
    *, episodes: int = 1, delta: float = 0.005, bonus_scale: float = 1.0, budget: float = 0.0
) -> None:
    """Raise a clear error for a setting that no learner can work with."""
    if isinstance(episodes, bool) or not isinstance(episodes, int | np.integer):
        raise TypeError(f"episodes is {episodes!r}; expected a whole number")
    if episodes < 1:
        raise ValueError(f"episodes is {episodes}; it must be at least 1")
    if not 0 < delta < 1:
        raise ValueError(f"delta is {delta}; a probability in (0, 1) is expected")
    if not 0 <= bonus_scale < np.inf:
        raise ValueError(f"bonus_scale is {bonus_scale}; it must be at least 0 and finite")
    if not budget >= 0:
        raise ValueError(f"budget is {budget}; a bound on costs must be at least 0")
