"""The interactive figure of the chapter *The regret lower bound*: what violation buys back."""

from __future__ import annotations

from safeteach.chapters.the_regret_lower_bound import figures
from safeteach.widgets import Interactive, Slider, interactive

__all__ = ["price_of_safety"]

EPISODES = (10**4, 10**5, 10**6, 10**7)
ALPHAS = (0.25, 0.4, 0.5, 0.75)


def price_of_safety(depth: int) -> Interactive:
    """Move K, n and α: the floor under the regret, and what violation T^(1-α) buys back.

    Parameters
    ----------
    depth : int
        Layers of branching of the tree, at least 1; n = 2^depth, 3^depth or 4^depth.

    Examples
    --------
    >>> import safeteach as st
    >>> from safeteach.chapters.the_regret_lower_bound import controls
    >>> widget = controls.price_of_safety(depth=3)
    >>> widget.figure(K=10_000, n=8, alpha=0.75).alt.split(": ")[1]
    'the floor under the regret is 41.3; violation buys back 4.16 on the repaired tree, less
     than the floor, and 7.41 on the printed one, less than the floor. In the long run the
     first loses to the floor, and the second loses as well.'
    """
    leaves = [degree**depth for degree in (2, 3, 4)]
    return interactive(
        lambda K, n, alpha: figures.price_of_safety(K, n, alpha, depth),
        K=Slider("episodes K", values=EPISODES, start=10**4),
        n=Slider("leaves n", values=leaves, start=leaves[0]),
        alpha=Slider("α", values=ALPHAS, start=0.25),
    )
