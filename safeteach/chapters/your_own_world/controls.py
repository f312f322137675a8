"""The interactive figure of *Your own world*: change one assumption, or the horizon."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from safeteach.chapters.your_own_world import figures
from safeteach.widgets import Choice, Interactive, Slider, interactive
from safeteach.worlds.mdp import SafeMDP

__all__ = ["assumptions"]


def assumptions(
    worlds: Mapping[str, Callable[[int], SafeMDP]], steps: Sequence[int], start: int
) -> Interactive:
    """Choose an assumption and a number of steps, and see the verdict.

    Parameters
    ----------
    worlds : dict of functions
        Each makes a world of so many steps; by what the control calls it.
    steps : sequence of int
        The numbers of steps in the page; a kernel has all from 1 to the largest.
    start : int
        One of them.

    Examples
    --------
    >>> import safeteach as st
    >>> from safeteach.chapters.your_own_world import controls
    >>> def cup(leak):
    ...     P = [[[1 - leak, leak]], [[0, 1]]]
    ...     return lambda H: st.SafeMDP(P, [[0.5], [0]], c=[0, 1], tau=0.5, H=H)
    >>> cups = {"cracked": cup(0.1), "whole": cup(0.0)}
    >>> controls.assumptions(cups, [2, 3], start=2).figure(world="cracked", H=3).alt[:52]
    'cracked, 3 steps. No safe policy. Least risk: 0.19. '
    """
    made = {name: [make(H) for H in steps] for name, make in worlds.items()}
    states = max(mdp.S for row in made.values() for mdp in row)
    return interactive(
        lambda world, H: figures.verdict(worlds[world](H), world, max(steps), states),
        world=Choice("the table", {name: name for name in worlds}, start=next(iter(worlds))),
        H=Slider("steps H", values=steps, start=start, fine=range(1, max(steps) + 1)),
    )
