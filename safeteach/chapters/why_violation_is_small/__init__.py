"""*Why violation is small*: surprises, flags that are late, and how they add up."""

from safeteach.classroom.rooms import open_room

check, quiz, __getattr__ = open_room(__name__)
