r"""Refuse a policy that cannot be played: say whose it is, and where it is wrong.

The kernel of :mod:`safeteach.running.loop` finds out that a policy is none before the first step
that it would decide.  What is wrong with it is found out here, where time does not matter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safeteach.arguments import shown
from safeteach.running.adversaries import ADVERSARIES, Adversary
from safeteach.worlds.games import SafeGame
from safeteach.worlds.known import Known
from safeteach.worlds.mdp import SafeMDP

__all__ = ["blamed", "both_strategies", "readable"]

Floats = NDArray[np.float64]
TOLERANCE = 0.99e-8  # of sums of probabilities; a little less than that of the kernel


def readable(
    world: SafeMDP | SafeGame | Known,
    policy: Any,
    nu: Any,
    learner: Any,
    adversary: Adversary | None,
    k: int,
) -> tuple[NDArray[Any], Floats | None]:
    """What was played in episode k as kernels read it, or an error that says what is wrong."""
    mine = f"{type(learner).__name__} in episode {k}"
    if not isinstance(world, SafeGame):
        return _strategy(policy, "policy", world.A, "A", world, mine), None
    theirs = f"the adversary {_name(adversary)} in episode {k}"
    mu = _mixed(policy, "mu", world.A, "A", world, mine)
    return mu, _mixed(nu, "nu", world.B, "B", world, theirs)


def both_strategies(
    game: SafeGame, mu: Any, learner: Any, adversary: Adversary, k: int
) -> tuple[Floats, Floats]:
    """Those of episode k of a game; the adversary gets copies of the learner's."""
    mine = f"{type(learner).__name__} in episode {k}"
    if _kind(mu) != (np.float64, (game.H, game.S, game.A)):
        mu = _mixed(mu, "mu", game.A, "A", game, mine)
    expected: Any = getattr(learner, "nu", None)
    if _kind(expected) != (np.float64, (game.H, game.S, game.B)):
        expected = _mixed(expected, "its nu", game.B, "B", game, mine)
    nu = adversary(game, mu.copy(), expected.copy())
    if _kind(nu) != (np.float64, (game.H, game.S, game.B)):
        theirs = f"the adversary {_name(adversary)} in episode {k}"
        nu = _mixed(_array(nu), "nu", game.B, "B", game, theirs)
    return mu, nu


@contextmanager
def blamed(whom: Callable[[], str]) -> Iterator[None]:
    """Say with an error whose it is."""
    try:
        yield
    except Exception as error:
        error.add_note(whom())
        raise


def _array(strategy: Any) -> Any:
    """A list as an array, if it is rectangular."""
    with suppress(ValueError):
        return np.array(strategy) if isinstance(strategy, list) else strategy
    return strategy


def _kind(array: Any) -> tuple[Any, Any]:
    return getattr(array, "dtype", None), getattr(array, "shape", None)


def _name(adversary: Any) -> str:
    names = {function: f'"{name}"' for name, function in ADVERSARIES.items()}
    return names.get(adversary) or str(getattr(adversary, "__name__", shown(adversary)))


def _mixed(strategy: Any, name: str, n: int, letter: str, game: SafeGame, whose: str) -> Floats:
    """The same as probabilities."""
    array = _strategy(strategy, name, n, letter, game, whose)
    return array if array.ndim == 3 else np.eye(n)[array]


def _strategy(
    policy: Any, name: str, n: int, letter: str, world: SafeMDP | SafeGame | Known, whose: str
) -> NDArray[Any]:
    """(H, S) actions of n, int64, or (H, S, n) probabilities of them, float64."""
    H, S = world.H, world.S
    shapes = f"expected (H, S) = {(H, S)} actions or (H, S, {letter}) = {(H, S, n)} probabilities"
    if not isinstance(policy, np.ndarray):
        raise TypeError(f"{whose}: {name} is {shown(policy)}; {shapes}, in an array")
    array = np.asarray(policy)  # of a subclass the plain one
    if array.shape not in ((H, S), (H, S, n)):
        raise ValueError(f"{whose}: {name} has shape {array.shape}; {shapes}")
    if array.dtype.kind not in ("iu" if array.ndim == 2 else "iuf"):
        raise TypeError(
            f"{whose}: {name} holds {array.dtype}; actions are whole numbers, and probabilities "
            f"of actions real ones"
        )
    if array.ndim == 2:
        bad, rule = (array < 0) | (array >= n), f"the actions are 0..{n - 1}"
    else:
        array = np.ascontiguousarray(array, np.float64)
        bad = ~(array >= 0).all(axis=2) | ~(np.abs(array.sum(axis=2) - 1) <= TOLERANCE)
        rule = "probabilities of actions must be nonnegative and sum to 1"
    name_of = getattr(world, "state_name", str)  # of what can only be stepped, the number
    for h, s in np.argwhere(bad)[:1]:
        raise ValueError(
            f"{whose}, at step {h + 1} in state {name_of(int(s))}: "
            f"{name}[{h}, {s}] is {array[h, s]}; {rule}"
        )
    return array if array.ndim == 3 else np.ascontiguousarray(array, np.int64)
