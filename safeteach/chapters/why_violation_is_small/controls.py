"""The interactive figure of the chapter *Why violation is small*: the price of a gap."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from safeteach.chapters.why_violation_is_small import figures
from safeteach.figures.described import DescribedFigure
from safeteach.widgets import Interactive, Slider, interactive

__all__ = ["gap_price"]

GAPS = (0.02, 0.05, 0.1, 0.2, 0.5)
FINE = tuple(np.arange(1, 51) / 50)


def gap_price(S: int, delta: float, runs: Mapping[float, NDArray[np.float64]]) -> Interactive:
    """Move the gap c(s) - tau and the number of visits: visits until flagged, and violation.

    Parameters
    ----------
    S : int
        Number of states, at least 2.
    delta : float
        Probability with which the event may fail.
    runs : dict of (episodes,) arrays
        By the gap of the one unsafe state, which is visited at most once an episode, the violation
        of each episode; all of one length, at least 1,000.

    Notes
    -----
    The width of the costs is the anytime β of :func:`safeteach.bounds.beta`.

    Examples
    --------
    >>> import numpy as np
    >>> from safeteach.chapters.why_violation_is_small import controls
    >>> widget = controls.gap_price(S=25, delta=0.005, runs={0.4: np.full(20_000, 0.001)})
    >>> widget.figure(gap=0.4, visits=20_000).alt.split(". ")[1].split("; ")[0]
    'Flagged for sure after 1,129 visits, violation 451.6'
    """
    (most,) = {violation.size for violation in runs.values()}

    def draw(gap: float, visits: int) -> DescribedFigure:
        measured = {g: float(violation[:visits].sum()) for g, violation in runs.items()}
        return figures.gap_price(gap, S, delta, visits, measured)

    return interactive(
        draw,
        gap=Slider("gap c − τ", values=GAPS, start=0.1, fine=sorted({*GAPS, *FINE})),
        visits=Slider("visits", values=(most // 20, most // 4, most), start=most),
    )
