"""Learners of MDPs with settings that let them move, and how to compare what came of them."""

from functools import partial

import numpy as np

import safeteach as st

PARTS = ("reward", "violation", "regret")


def home_of(mdp):
    """A policy for OptPess and what it may promise of it."""
    policy = np.zeros((mdp.H, mdp.S), int)
    cost = st.evaluate(mdp, policy).cost
    return {"safe_policy": policy, "safe_cost": cost, "budget": cost + 0.5}


def all_five(mdp):
    return {
        "SUCBVI": partial(st.SUCBVI, bonus_scale=0.01, delta=0.5),
        "UCBVI": partial(st.UCBVI, bonus_scale=0.01),
        "OptCMDP": partial(st.OptCMDP, bonus_scale=1e-4, delta=0.5, clip=True, budget=0.2),
        "OptPess": partial(st.OptPess, bonus_scale=1e-3, **home_of(mdp)),
        "TripleQ": partial(st.TripleQ, bonus_scale=1e-4, epsilon=0.1),
    }


def same_bits(one, other):
    return all(getattr(one, part).tobytes() == getattr(other, part).tobytes() for part in PARTS)
