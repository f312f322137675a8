r"""The contract of a learner: what it must offer, what it may say, and what a run asks of it.

A learner *must* offer three things, see :class:`safeteach.learners.Learner`: ``known``, what it
was told of the world; ``plan(rng)``, the policy of the next episode; and ``observe(episode)``,
which takes in what happened.  Its constructor takes ``known`` first and keeps every setting under
the setting's own name, as the estimators of scikit-learn do; so
:func:`safeteach.learners.settings_of` reads the settings off the constructor, and none can be
forgotten.

It *may* say more.  What it does not say has a default:

``episodes``
    how many episodes it wants; by default as many as a run is told
``check_world(world)``
    an error if it cannot live in this world; by default the world must be the one that it was
    built for.  It is not asked where there is only an environment to step
``done``
    whether it knows enough after its last plan; by default never
``nu``
    in a game, what its last plan expects of the adversary, (H, S, B)

No run knows a learner by name.  :func:`safeteach.check_learner` tries a class of your own and says
what is missing.

Taught in *Write a learner of your own*.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from safeteach.arguments import number, shown, whole
from safeteach.worlds.environments import is_environment
from safeteach.worlds.games import SafeGame
from safeteach.worlds.known import Episode, Known
from safeteach.worlds.mdp import SafeMDP
from safeteach.worlds.world import check_world

__all__ = [
    "Learner",
    "Shown",
    "asks_for_episodes",
    "check_learner_of",
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

    Examples
    --------
    >>> import numpy as np
    >>> import safeteach as st
    >>> class Still:
    ...     def __init__(self, known, *, episodes):
    ...         self.known, self.episodes = known, episodes
    ...     def plan(self, rng):
    ...         return np.zeros((self.known.H, self.known.S), int)
    ...     def observe(self, episode):
    ...         pass
    >>> st.check_learner(Still)
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
    if not hasattr(learner, "plan"):
        raise TypeError(f"learner is {shown(learner)}; expected a learner, which plans")
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


def check_learner_of(
    learner: Any, world: Any, name: str = "world", steps: bool = False
) -> None:
    """Raise a clear error if something is no learner, or none for a world of this kind.

    Parameters
    ----------
    learner, world : what was handed over
    name : str
        The argument that holds the world.
    steps : bool
        Whether an environment that can only be stepped will do.
    """
    if isinstance(learner, type):
        raise TypeError(
            f"learner is the class {learner.__name__}; expected one that is built, "
            f"{learner.__name__}(world.known, ...)"
        )
    if isinstance(learner, list | tuple | set | dict):
        raise TypeError(
            f"learner is a {type(learner).__name__}; expected one learner: compare takes several"
        )
    if not all(callable(getattr(learner, verb, None)) for verb in ("plan", "observe")):
        raise TypeError(
            f"learner is {shown(learner)}; expected one with plan(rng) and observe(episode), such "
            f"as SUCBVI(mdp.known, episodes=1000)"
        )
    if not (steps and is_environment(world)):
        more = ", or an environment with reset(seed=) and step(action)" if steps else ""
        check_world(world, name, more)
    if not hasattr(learner, "known"):
        raise TypeError(
            f"learner is {shown(learner)} and does not keep what it is told of the world: its "
            f"constructor should say self.known = known"
        )
    if (getattr(learner.known, "B", 0) > 0) != isinstance(world, SafeGame):
        built = "an MDP" if isinstance(world, SafeGame) else "a game"
        raise ValueError(f"learner is {shown(learner)}, built for {built}; {name} is {world}")


class Shown:
    """Show a learner by its sizes and settings."""

    known: Known

    def __repr__(self) -> str:
        told = {name: getattr(self.known, name) for name in ("S", "A", "H")}
        with suppress(AttributeError, TypeError):  # of a subclass that does not keep them
            told |= settings_of(self)
        parts = (
            f"{name}=<{value.dtype} {value.shape}>"
            if isinstance(value, np.ndarray)
            else f"{name}={value!r}"
            for name, value in told.items()
        )
        return f"{type(self).__name__}({', '.join(parts)})"


def check_settings(
    known: Any,
    *,
    game: bool = False,
    episodes: int = 1,
    delta: float = 0.005,
    bonus_scale: float = 1.0,
    budget: float = 0.0,
) -> None:
    """Raise a clear error for what no learner can be built from, or for settings that do not work.

    Parameters
    ----------
    known : Known, or anything with the same attributes
    game : bool
        Whether the learner plays games.
    episodes, delta, bonus_scale, budget
        Settings that many learners share.
    """
    if isinstance(known, SafeMDP | SafeGame):
        raise TypeError(f"known is {known}; expected what is known of it, its .known")
    if not all(hasattr(known, name) for name in ("S", "A", "H", "tau", "s1")):
        raise TypeError(f"known is {shown(known)}; expected what is known of a world, mdp.known")
    if not game and getattr(known, "B", 0) > 0:
        raise ValueError(
            f"known is of a game, with B = {known.B}; this learner is built from mdp.known"
        )
    if game and known.B == 0:
        raise ValueError("known has no adversary; a learner of games is built from game.known")
    whole(episodes, "episodes")
    number(delta, "delta", 0, 1)
    number(bonus_scale, "bonus_scale", 0, ends="[)")
    number(budget, "budget", 0, ends="[]")
