"""*The violation lower bound*: trees, two laws, and learners that claim too much."""

from safeteach.classroom.rooms import open_room

check, quiz, __getattr__ = open_room(__name__)
