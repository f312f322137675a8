"""Worlds to learn in: grids, a counterexample, random MDPs."""

from safeteach.instances.counterexample import union_counterexample
from safeteach.instances.grids import GridMDP, grid, grid_from_map, ice_corridor
from safeteach.instances.random import random_mdp

__all__ = [
    "GridMDP",
    "grid",
    "grid_from_map",
    "ice_corridor",
    "random_mdp",
    "union_counterexample",
]
