"""*Costs, thresholds, violation*: what counts, when, and how well it can be seen."""

from safeteach.classroom.rooms import open_room

check, quiz, __getattr__ = open_room(__name__)
