"""Worlds to learn in: grids, a road, a counterexample, random MDPs."""

from safeteach.instances.costs import smoke
from safeteach.instances.counterexample import union_counterexample
from safeteach.instances.grids import GridMDP, grid, grid_from_map, ice_corridor
from safeteach.instances.random import random_mdp
from safeteach.instances.road import school_road

__all__ = [
    "GridMDP",
    "grid",
    "grid_from_map",
    "ice_corridor",
    "random_mdp",
    "school_road",
    "smoke",
    "union_counterexample",
]
