"""The interactive figure of the chapter *The algorithm*: a run, to be scrubbed through."""

from __future__ import annotations

import numpy as np

from safeteach.chapters.the_algorithm import figures
from safeteach.learners import SUCBVI
from safeteach.running.playing import play
from safeteach.widgets import Choice, Interactive, Slider, interactive
from safeteach.worlds.mdp import SafeMDP

__all__ = ["replay"]

STOPS, FINE_STOPS = 10, 61  # twenty maps with numbers make a page full


def replay(mdp: SafeMDP, learner: SUCBVI, seed: int = 0) -> Interactive:
    """Move through the episodes of a run: what is believed, visited, chosen and paid.

    The run takes place at once; the stops are closer together at its beginning, where most is
    learned.

    Parameters
    ----------
    mdp : GridMDP
        At most 8 cells wide and high, with two steps or more.
    learner : SUCBVI or UCBVI
        A new one, built from ``mdp.known``.
    seed : int
        Of the run, as of :func:`safeteach.run`.

    Notes
    -----
    U_h^k and the policy are those of Algorithm 1 of the paper.

    Examples
    --------
    >>> import safeteach as st
    >>> from safeteach.chapters.the_algorithm import controls
    >>> mdp = st.instances.ice_corridor()
    >>> learner = st.SUCBVI(mdp.known, episodes=1_000, bonus_scale=0.01)
    >>> widget = controls.replay(mdp, learner, seed=1)
    >>> widget.controls["k"].values
    [1, 12, 49, 111, 198, 309, 444, 605, 790, 1000]
    >>> widget.figure(k=1000, h=None).alt.split(". ")[1:4]
    ['Flagged: (2,3)', 'Known to be doomed: (1,3)', 'Doomed and not yet known: (1,1), (1,2)']
    """
    K, H = learner.episodes, mdp.H
    if K < FINE_STOPS or H < 2:
        raise ValueError(
            f"the run has {K} episodes of {H} steps; a replay needs {FINE_STOPS} of 2 or more"
        )
    stops, fine = _stops(K, STOPS), _stops(K, FINE_STOPS)
    kept = {}
    paid = np.empty(K)
    for k, episode in play(learner, mdp, seed):
        paid[k] = mdp.violation[episode.states[:-1]].sum()
        if k + 1 in fine or k + 1 in stops:
            visits = learner.transitions.N.sum(axis=2)
            kept[k + 1] = learner.U.copy(), learner.policy.copy(), visits
    return interactive(
        lambda k, h: figures.replay(mdp, *kept[k], paid, k, h),
        k=Slider("episode k", values=stops, start=stops[STOPS // 2], fine=sorted(kept)),
        h=Choice("step h", {"all": None, str(H // 2): H // 2}, start=None),
    )


def _stops(K: int, n: int) -> list[int]:
    """Choose n episodes from 1 to K, or fewer if they fall together, more at the beginning."""
    squares = np.linspace(0, 1, n) ** 2
    return sorted({max(1, round(K * share)) for share in squares.tolist()})
