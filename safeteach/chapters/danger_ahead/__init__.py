"""*Danger ahead*: Δ, the doomed states, the safe actions, feasibility."""

from safeteach.classroom.rooms import open_room

check, quiz, __getattr__ = open_room(__name__)
