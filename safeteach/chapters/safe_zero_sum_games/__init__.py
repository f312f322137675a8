"""*Safe zero-sum games*: doom with an adversary, matrix games, the safe minimax."""

from safeteach.classroom.rooms import open_room

check, quiz, __getattr__ = open_room(__name__)
