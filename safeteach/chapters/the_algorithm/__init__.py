"""*The algorithm*: flags, doom in what was seen, the lifted mask, optimistic values."""

from safeteach.classroom.rooms import open_room

check, quiz, __getattr__ = open_room(__name__)
