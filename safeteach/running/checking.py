r"""Try a learner of one's own, and say what it lacks.

The contract stands in :mod:`safeteach.learners.contract`.

Taught in *Write a learner of your own*.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import numpy as np

from safeteach.arguments import shown
from safeteach.instances import ice_corridor
from safeteach.learners.contract import Learner, new_learner, settings_of
from safeteach.running.playing import play
from safeteach.worlds.games import SafeGame
from safeteach.worlds.mdp import SafeMDP
from safeteach.worlds.world import check_world

__all__ = ["check_learner"]

EPISODES = 12


def check_learner(
    make: Callable[..., Learner], world: SafeMDP | SafeGame | None = None
) -> None:
    """Play a few episodes with a learner of your own, and say what it lacks.

    Parameters
    ----------
    make : class, or anything that makes a learner
        Called as ``make(world.known, episodes=12)``, without ``episodes`` if it takes none; other
        parameters are set with ``functools.partial``.
    world : SafeMDP or SafeGame, optional
        By default the ice corridor; for a learner of games give a game.

    Raises
    ------
    ValueError
        With a sentence for each thing that is missing or wrong.

    Examples
    --------
    >>> import safeteach as st
    >>> st.check_learner(st.SUCBVI)                              # nothing is missing
    >>> class Mine:
    ...     def __init__(self, known, *, episodes, patience=3):
    ...         self.episodes = episodes
    ...     def plan(self, rng):
    ...         return None
    >>> st.check_learner(Mine)
    Traceback (most recent call last):
        ...
    ValueError: Mine is not a learner yet:
    - It does not keep what it is told of the world: its constructor should say self.known = known.
    - It has no method observe(episode), which takes in what happened.
    - Mine does not keep its setting patience: its constructor should say self.patience = patience.
    """
    if not callable(make):
        raise TypeError(f"make is {shown(make)}; expected a learner's class")
    world = ice_corridor() if world is None else world
    check_world(world, "world")
    problems = list(_problems(make, world))
    if problems:
        name = getattr(make, "__name__", repr(make))
        raise ValueError("\n- ".join([f"{name} is not a learner yet:", *problems]))


def _problems(make: Callable[..., Learner], world: SafeMDP | SafeGame) -> Iterator[str]:
    """A sentence for each thing that is wrong; it plays only where nothing is missing."""
    try:
        learner = new_learner(make, world.known, EPISODES)
    except Exception as error:
        yield f"It cannot be built from what is known of a world: {_said(error)}"
        return
    missing = list(_missing(learner))
    yield from missing or _misbehaviour(make, world)


def _missing(learner: Any) -> Iterator[str]:
    """What the contract names and the learner has not."""
    if not hasattr(learner, "known"):
        yield (
            "It does not keep what it is told of the world: its constructor should say "
            "self.known = known."
        )
    for verb, does in (
        ("plan(rng)", "makes the policy of the next episode"),
        ("observe(episode)", "takes in what happened"),
    ):
        if not callable(getattr(learner, verb.split("(")[0], None)):
            yield f"It has no method {verb}, which {does}."
    try:
        settings_of(learner)
    except (AttributeError, TypeError) as error:
        yield f"{error}."


def _misbehaviour(make: Callable[..., Learner], world: SafeMDP | SafeGame) -> Iterator[str]:
    """What goes wrong when it plays, and when another one plays with the same seed."""
    adversary = "uniform" if isinstance(world, SafeGame) else None
    lives = []
    for _ in range(2):
        learner = new_learner(make, world.known, EPISODES)
        episodes = islice(play(learner, world, seed=0, adversary=adversary), EPISODES)
        try:
            lives.append(np.array([episode.states for _, episode in episodes]))
        except Exception as error:
            if isinstance(world, SafeGame) and not hasattr(learner, "nu"):
                yield (
                    "It does not say what it expects of the adversary: after each plan its "
                    "attribute nu should hold (H, S, B) probabilities."
                )
            else:
                yield f"It cannot play: {_said(error)}"
            return
    one, other = lives
    if not np.array_equal(one, other):
        yield (
            "Two of them with the same seed go different ways: all randomness must come from the "
            "rng of plan(rng), and learners may share nothing."
        )


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error).rstrip('.')}."
