"""*Learning to play safely*: planning against every reply, and rivals of one's own."""

from safeteach.classroom.rooms import open_room

check, quiz, __getattr__ = open_room(__name__)
