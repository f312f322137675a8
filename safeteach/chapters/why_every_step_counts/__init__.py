"""*Why every step counts*: what a budget hides and a step-wise constraint does not."""

from safeteach.classroom.rooms import open_room

check, quiz, __getattr__ = open_room(__name__)
