"""*SRF-UCRL*: the uncertainty of safe pairs, the mask, the plan, when to stop."""

from safeteach.classroom.rooms import open_room

check, quiz, __getattr__ = open_room(__name__)
