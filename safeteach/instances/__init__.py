"""Worlds to learn in: grids, fields, roads, a server room, random ones, trees, games."""

from safeteach.instances.costs import smoke
from safeteach.instances.counterexample import union_counterexample
from safeteach.instances.fields import obstacle_field
from safeteach.instances.games import PursuitGame, penny_bridge, pursuit, quay, random_game
from safeteach.instances.grids import GridMDP, grid, grid_from_map, ice_corridor
from safeteach.instances.laboratory import laboratory
from safeteach.instances.railway import railway
from safeteach.instances.random import random_mdp
from safeteach.instances.road import school_road
from safeteach.instances.server_room import server_room
from safeteach.instances.trees import TreeMDP, regret_tree, violation_tree

__all__ = [
    "GridMDP",
    "PursuitGame",
    "TreeMDP",
    "grid",
    "grid_from_map",
    "ice_corridor",
    "laboratory",
    "obstacle_field",
    "penny_bridge",
    "pursuit",
    "quay",
    "railway",
    "random_game",
    "random_mdp",
    "regret_tree",
    "school_road",
    "server_room",
    "smoke",
    "union_counterexample",
    "violation_tree",
]
