"""The interactive figure of the chapter *Why violation is small*: the price of a gap."""

from __future__ import annotations

import numpy as np

from safeteach.chapters.why_violation_is_small import figures
from safeteach.widgets import Interactive, Slider, interactive

__all__ = ["gap_price"]

GAPS = (0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5)
FINE = tuple(np.arange(1, 51) / 50)
LEVELS = (0.5, 0.05, 0.005, 5e-7)


def gap_price(S: int, visits: int) -> Interactive:
    """Move the gap c(s) - tau and the level δ: visits until flagged, violation paid.

    Parameters
    ----------
    S : int
        Number of states, at least 2.
    visits : int
        The most visits that there are.

    Notes
    -----
    The width of the costs is the anytime β of :func:`safeteach.bounds.beta`.

    Examples
    --------
    >>> import safeteach as st
    >>> from safeteach.chapters.why_violation_is_small import controls
    >>> widget = controls.gap_price(S=25, visits=20_000)
    >>> widget.figure(gap=0.4, delta=0.005).alt.split(". ")[1]
    'Flagged for sure after 1,129 visits, 451.6 paid; without luck after 244 visits, 97.6 paid'
    """
    return interactive(
        lambda gap, delta: figures.gap_price(gap, S, delta, visits),
        gap=Slider("gap c − τ", values=GAPS, start=0.1, fine=sorted({*GAPS, *FINE})),
        delta=Slider("level δ", values=LEVELS, start=0.005),
    )
