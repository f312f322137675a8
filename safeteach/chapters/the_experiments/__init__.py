"""*The experiments*: how to compare learners, and how a comparison can mislead."""

from safeteach.classroom.rooms import open_room

check, quiz, __getattr__ = open_room(__name__)
