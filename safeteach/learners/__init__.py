"""Learners: one file an algorithm, two verbs for all of them.

``plan(rng)`` makes the policy of the next episode, ``observe(episode)`` takes in what happened.
A learner is built from ``mdp.known`` and never sees P or c.
"""

from safeteach.learners.contract import Learner, settings_of
from safeteach.learners.optcmdp import OptCMDP
from safeteach.learners.optpess import OptPess
from safeteach.learners.rf_ucrl import RFUCRL
from safeteach.learners.safe_nash_vi import NashVI, SafeNashVI
from safeteach.learners.srf_ucrl import SRFUCRL
from safeteach.learners.strawmen import (
    Cautious,
    ExploreThenCommit,
    FixedPolicy,
    Informed,
    UniformPolicy,
)
from safeteach.learners.sucbvi import SUCBVI
from safeteach.learners.triple_q import TripleQ
from safeteach.learners.ucbvi import UCBVI

__all__ = [
    "RFUCRL",
    "SRFUCRL",
    "SUCBVI",
    "UCBVI",
    "Cautious",
    "ExploreThenCommit",
    "FixedPolicy",
    "Informed",
    "Learner",
    "NashVI",
    "OptCMDP",
    "OptPess",
    "SafeNashVI",
    "TripleQ",
    "UniformPolicy",
    "settings_of",
]
