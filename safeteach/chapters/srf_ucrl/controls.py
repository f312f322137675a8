"""The interactive figure of the chapter *SRF-UCRL*: mask and uncertainty, episode by episode."""

from __future__ import annotations

import copy

import numpy as np

from safeteach.chapters.srf_ucrl import figures
from safeteach.learners.srf_ucrl import SRFUCRL
from safeteach.running.playing import play
from safeteach.widgets import Choice, Interactive, Slider, interactive
from safeteach.worlds.mdp import SafeMDP

__all__ = ["mask"]

STOPS, FINE_STOPS = 8, 41  # sixteen tables make a page full


def mask(mdp: SafeMDP, learner: SRFUCRL, episodes: int, seed: int = 0) -> Interactive:
    """Move through the episodes of an exploration: what is banned, and how uncertain the rest is.

    Parameters
    ----------
    mdp : SafeMDP
        At most 14 states and 6 actions, with four steps or more.
    learner : SRFUCRL or RFUCRL
        A new one, built from ``mdp.known``.
    episodes : int
        At least 40; the stops are spread evenly over them.
    seed : int
        Of the run, as of :func:`safeteach.explore`.

    Notes
    -----
    Algorithm 2 of the paper.

    Examples
    --------
    >>> import safeteach as st
    >>> from safeteach.chapters.srf_ucrl import controls
    >>> mdp = st.instances.laboratory()
    >>> widget = controls.mask(mdp, st.SRFUCRL(mdp.known, bonus_scale=0.001), episodes=400)
    >>> widget.controls["k"].values
    [1, 58, 115, 172, 229, 286, 343, 401]
    >>> widget.figure(k=1, h=5).alt.split(". ")[1:3]
    ['Flagged: none', 'Known to be doomed: none']
    """
    H = mdp.H
    if episodes < FINE_STOPS - 1 or H < 4:
        raise ValueError(
            f"{episodes} episodes of {H} steps; at least {FINE_STOPS - 1} of 4 can be moved through"
        )
    stops, fine = _stops(episodes, STOPS), _stops(episodes, FINE_STOPS)
    kept = {}
    for k, _ in play(learner, mdp, seed):
        if k + 1 in {*stops, *fine}:
            kept[k + 1] = copy.deepcopy(learner)
        if k == episodes:
            break
    return interactive(
        lambda k, h: figures.mask(mdp, kept[k], h),
        k=Slider("episode k", values=stops, start=stops[STOPS // 2], fine=sorted(kept)),
        h=Choice("step h", {str(h): h for h in (H // 2, H - 1)}, start=H // 2),
    )


def _stops(episodes: int, n: int) -> list[int]:
    """The plans of n episodes from the first to the one after the last."""
    return sorted({int(k) for k in np.linspace(1, episodes + 1, n)})
