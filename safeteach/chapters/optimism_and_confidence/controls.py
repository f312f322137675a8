"""The interactive figure of the chapter *Optimism and confidence*: what n looks say at level δ."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from safeteach.bounds import beta
from safeteach.chapters.optimism_and_confidence import figures
from safeteach.figures import DescribedFigure
from safeteach.widgets import Interactive, Slider, interactive
from safeteach.worlds.mdp import SafeMDP

__all__ = ["confidence"]

VISITS = (1, 10, 30, 100, 300, 1000, 3000, 10_000, 30_000)
FINE = sorted({*VISITS, *(np.round(np.geomspace(1, 30_000, 60)).astype(int).tolist())})
LEVELS = (0.5, 0.005, 5e-7)


def confidence(mdp: SafeMDP, states: Mapping[str, int]) -> Interactive:
    """Move the visits n and the level δ, and watch estimates of costs and who is flagged.

    The noisy costs are drawn once: more visits read on in the same list, as in a run.

    Parameters
    ----------
    mdp : SafeMDP
    states : mapping from str to int
        The states to show, at most eight, by what is written below them.

    Notes
    -----
    The bars are ĉ ± β(n, δ), with the β of :func:`safeteach.bounds.beta`.

    Examples
    --------
    >>> import safeteach as st
    >>> from safeteach.chapters.optimism_and_confidence import controls
    >>> room = st.instances.server_room()
    >>> two = {"30 °C": room.state("30 low"), "36 °C": room.state("36 low")}
    >>> controls.confidence(room, two).figure(n=1000, delta=0.005).alt.split(". ")[1]
    'Flagged: 36 °C'
    """
    at = list(states.values())
    noises = np.random.default_rng(5).standard_normal((len(at), FINE[-1]))
    sums = noises.cumsum(axis=1)

    def figure(n: int, delta: float) -> DescribedFigure:
        means = {name: mdp.c[s] + sums[i, n - 1] / n for i, (name, s) in enumerate(states.items())}
        width = float(beta(n, mdp.S, delta))
        return figures.confidence_frame(means, mdp.c[at].tolist(), mdp.tau, width)

    return interactive(
        figure,
        n=Slider("visits n", values=VISITS, start=1000, fine=FINE),
        delta=Slider("level δ", values=LEVELS, start=0.005),
    )
