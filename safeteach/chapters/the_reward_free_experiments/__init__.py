"""*The reward-free experiments*: what 500 episodes without a reward can show."""

from safeteach.classroom.rooms import open_room

check, quiz, __getattr__ = open_room(__name__)
