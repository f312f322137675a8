"""Which states are doomed, at which steps, from when on they can be met, and why.

Taught in the chapter *Your own world*.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safeteach.figures.delta import actions_phrase
from safeteach.reporting.saying import count
from safeteach.safety import Witness, doomed_until, potentially_unsafe
from safeteach.worlds.mdp import SafeMDP

__all__ = ["Doom", "explain_in_words", "find_doom", "is_short"]


@dataclass(frozen=True)
class Doom:
    """The states of U_1 .. U_H, and which of them an episode can meet.

    Attributes
    ----------
    doomed : (S,) int array or (H, S) bool array
        In a stationary world the last step at which each state is doomed, 0 for never; in any
        other the sets themselves.
    met : (S,) int array
        The first step at which some policy can be in the state while it is doomed, 0 for never.
    """

    doomed: NDArray[Any]
    met: NDArray[np.int64]

    @property
    def ever(self) -> NDArray[np.bool_]:
        """(S,) bool: doomed at some step."""
        return np.asarray(self.doomed > 0 if self.doomed.ndim == 1 else self.doomed.any(axis=0))

    def now(self, h: int) -> NDArray[np.bool_]:
        """(S,) bool: U_h."""
        return np.asarray(self.doomed >= h if self.doomed.ndim == 1 else self.doomed[h - 1])

    def steps(self, s: int) -> list[tuple[int, int]]:
        """The first and the last step of each time in which a state is doomed."""
        if self.doomed.ndim == 1:
            return [(1, int(self.doomed[s]))] if self.doomed[s] else []
        change = np.flatnonzero(np.diff(self.doomed[:, s], prepend=False, append=False))
        return [(int(i) + 1, int(j)) for i, j in change.reshape(-1, 2)]


def find_doom(world: SafeMDP) -> Doom:
    """Who is doomed in a world, and when one can be there.

    Examples
    --------
    >>> import safeteach as st
    >>> mdp = st.instances.union_counterexample()
    >>> doom, x = find_doom(mdp), 1
    >>> doom.steps(x), int(doom.met[x])             # at step 2, when one comes there, it is free
    ([(3, 3)], 3)
    """
    doomed = doomed_until(world) if world.stationary else potentially_unsafe(world)
    doom = Doom(doomed, np.zeros(world.S, np.int64))
    here = np.arange(world.S) == world.s1
    been = here.copy()
    for h in range(1, world.H + 1):
        doom.met[here & doom.now(h) & (doom.met == 0)] = h
        rows = world.rows(h)
        leaves = np.repeat(here, np.diff(rows.indptr).reshape(world.S, -1).sum(axis=1))
        here = np.zeros(world.S, np.bool_)
        here[rows.successors[leaves]] = True
        if world.stationary:  # who comes back later meets no doom that was not there before
            here &= ~been
            been |= here
        if not here.any():
            break
    return doom


def is_short(world: SafeMDP, h: int, most: int) -> bool:
    """Whether no witness from step ``h`` can have more than so many nodes."""
    nodes = abreast = 1
    for _ in range(h, world.H):
        abreast = min(world.S, abreast * world.A)
        nodes += abreast
        if nodes > most:
            break
    return nodes <= most


def explain_in_words(world: SafeMDP, why: Witness, most: int) -> list[str]:
    """A witness as sentences, from its root on, at most so many.

    Examples
    --------
    >>> import safeteach as st
    >>> mdp = st.instances.union_counterexample()
    >>> explain_in_words(mdp, st.witness(mdp, s=1, h=3), most=9)
    ['At x in step 3: a0 and a1 may lead to u, which is unsafe.']
    """
    told = []
    for (h, s), answers in sorted(why.answers.items()):
        ways = []
        for t in dict.fromkeys(answers):
            who = actions_phrase(world, [a for a, answer in enumerate(answers) if answer == t])
            what = "unsafe" if world.unsafe[t] else f"doomed at step {h + 1}"
            ways.append(f"{who} may lead to {world.state_name(t)}, which is {what}")
        if ways:
            told.append(f"At {world.state_name(s)} in step {h}: {'; '.join(ways)}.")
    left = len(told) - most
    return told[:most] + [f"And so on, in {count(left, 'more step')}."] * (left > 0)
