"""Worlds: safe MDPs and safe games, what is known of them, and an episode in one."""

from safeteach.worlds.games import SafeGame
from safeteach.worlds.known import Episode, Known
from safeteach.worlds.mdp import SafeMDP, rollout
from safeteach.worlds.rows import Rows
from safeteach.worlds.world import World

__all__ = [
    "Episode",
    "Known",
    "Rows",
    "SafeGame",
    "SafeMDP",
    "World",
    "rollout",
]
