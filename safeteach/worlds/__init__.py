"""Worlds: safe MDPs and safe games, what is known of them, and an episode in one."""

from safeteach.worlds.games import GameEpisode, KnownGame, SafeGame
from safeteach.worlds.mdp import Episode, Known, SafeMDP, rollout
from safeteach.worlds.rows import Rows
from safeteach.worlds.world import World

__all__ = [
    "Episode",
    "GameEpisode",
    "Known",
    "KnownGame",
    "Rows",
    "SafeGame",
    "SafeMDP",
    "World",
    "rollout",
]
