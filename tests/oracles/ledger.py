"""The ledger of a run: its steps, each with what a learner knew when it planned the episode."""

import math
from dataclasses import dataclass


@dataclass
class Step:
    """One step: its place, visits to the state so far, and what was known of it."""

    k: int
    h: int
    s: int
    edge: tuple
    n: int
    flagged: bool
    doomed: bool
    surprise: bool


def width(n, S, delta):
    """β(n), for every count and state at once."""
    return math.sqrt(2 * math.log(S * n * (n + 1) / delta) / n)
