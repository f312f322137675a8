"""*Why the output is safe*: bets, ledgers, a bonus for all, and how long it takes."""

from safeteach.classroom.rooms import open_room

check, quiz, __getattr__ = open_room(__name__)
