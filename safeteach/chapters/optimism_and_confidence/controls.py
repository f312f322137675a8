"""The interactive figure of the chapter *Optimism and confidence*: what n looks say at level δ."""

from __future__ import annotations

import numpy as np

from safeteach.bounds import beta
from safeteach.chapters.optimism_and_confidence import figures
from safeteach.chapters.optimism_and_confidence.figures import MOST_STATES
from safeteach.figures import DescribedFigure
from safeteach.widgets import Interactive, Slider, interactive
from safeteach.worlds.mdp import SafeMDP

__all__ = ["confidence"]

VISITS = (1, 10, 30, 100, 300, 1000, 3000, 10_000, 30_000)
FINE = sorted({*VISITS, *(np.round(np.geomspace(1, 30_000, 60)).astype(int).tolist())})
LEVELS = (0.5, 0.005, 5e-7)


def confidence(mdp: SafeMDP) -> Interactive:
    """Move the visits n and the level δ, and watch estimates of costs and who is flagged.

    Shown are the first two states of every cost that occurs.  Their noisy costs are drawn once:
    more visits read on in the same list, as in a run.

    Parameters
    ----------
    mdp : SafeMDP
        With few different costs, such as :func:`safeteach.instances.smoke`.

    Notes
    -----
    The bars are ĉ ± β(n, δ), with the β of :func:`safeteach.bounds.beta`.

    Examples
    --------
    >>> import safeteach as st
    >>> from safeteach.chapters.optimism_and_confidence import controls
    >>> widget = controls.confidence(st.instances.smoke())
    >>> widget.figure(n=1000, delta=0.005).alt.split(". ")[1]
    'Flagged: (0,3), (1,2)'
    """
    # 0.3 from a formula and 0.3 as it is written are one cost.
    costs = np.round(mdp.c, 9)
    states = [s for cost in np.unique(costs) for s in np.flatnonzero(costs == cost)[:2].tolist()]
    if len(states) > MOST_STATES:
        raise ValueError(
            f"{len(np.unique(costs))} different costs make {len(states)} states to show; "
            f"{MOST_STATES} fit beside each other"
        )
    noises = np.random.default_rng(5).standard_normal((len(states), FINE[-1]))
    sums = noises.cumsum(axis=1)

    def figure(n: int, delta: float) -> DescribedFigure:
        means = {mdp.state_name(s): mdp.c[s] + sums[i, n - 1] / n for i, s in enumerate(states)}
        width = float(beta(n, mdp.S, delta))
        return figures.confidence_frame(means, mdp.c[states].tolist(), mdp.tau, width)

    return interactive(
        figure,
        n=Slider("visits n", values=VISITS, start=1000, fine=FINE),
        delta=Slider("level δ", values=LEVELS, start=0.005),
    )
