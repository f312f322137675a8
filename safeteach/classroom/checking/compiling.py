"""Compile what checkers run, before the time of an answer is counted.

On a machine where a learner has never run, numba compiles it first, which takes longer than a
check may.  A chapter whose checkers run learners names one of these functions ``prepare``.
"""

from __future__ import annotations

from safeteach.instances import ice_corridor, penny_bridge

__all__ = ["explorers", "games", "learners"]


def learners() -> None:
    """SUCBVI, and the world that it plays in."""
    from safeteach.learners import SUCBVI
    from safeteach.running.playing import play

    mdp = ice_corridor()
    for _ in play(SUCBVI(mdp.known, episodes=2), mdp):
        pass


def explorers() -> None:
    """The learners without reward, and their plans."""
    from safeteach.learners import SRFUCRL
    from safeteach.running.exploring import explore

    mdp = ice_corridor()
    explore(SRFUCRL(mdp.known), mdp, episodes=2, watch=mdp.r)


def games() -> None:
    """The solver of matrix games, and the learner that uses it."""
    from safeteach.learners import SafeNashVI
    from safeteach.running.playing import run

    game = penny_bridge()
    run(SafeNashVI(game.known, episodes=2), game, adversary="hazard seeker")
