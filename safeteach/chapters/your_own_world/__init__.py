"""*Your own world*: from a table to a verdict, and what to do if it is "no safe policy"."""

from safeteach.classroom.rooms import open_room

check, quiz, __getattr__ = open_room(__name__)
