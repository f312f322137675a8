"""*The regret lower bound*: coins, prices, and a tree that proves too much."""

from safeteach.classroom.rooms import open_room

check, quiz, __getattr__ = open_room(__name__)
