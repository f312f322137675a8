"""The interactive figure of the chapter *The violation lower bound*: telling worlds apart."""

from __future__ import annotations

from safeteach.chapters.the_violation_lower_bound import figures
from safeteach.widgets import Interactive, Slider, interactive

__all__ = ["two_worlds"]

GAPS = (0.01, 0.02, 0.05, 0.1, 0.2)
MORE_GAPS = tuple(g / 100 for g in range(1, 21))
LEAVES = (4, 8, 16)
EPISODES = (100, 1_000, 10_000)
MORE_EPISODES = tuple(m * 10**e for e in (2, 3, 4) for m in (1, 2, 5))


def two_worlds(leaf_steps: int) -> Interactive:
    """Move the gap, the leaves n and the episodes K: what the costs of a leaf's fair share say.

    Parameters
    ----------
    leaf_steps : int
        H' = 2H/3, the steps that an episode spends in its leaf.

    Examples
    --------
    >>> import safeteach as st
    >>> from safeteach.chapters.the_violation_lower_bound import controls
    >>> widget = controls.two_worlds(leaf_steps=6)
    >>> widget.figure(gap=0.1, n=8, K=1_000).alt.split(". ")[2]
    'The two bells share 0.143, the least sum of the two probabilities of error; ½exp(-D) = 0.00688'
    """
    return interactive(
        lambda gap, n, K: figures.two_worlds(gap, n, K, leaf_steps),
        gap=Slider("gap Δ", values=GAPS, start=0.02, fine=MORE_GAPS),
        n=Slider("leaves n", values=LEAVES, start=8),
        K=Slider("episodes K", values=EPISODES, start=1_000, fine=MORE_EPISODES),
    )
