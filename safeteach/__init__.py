"""safeteach: reinforcement learning that is safe at every step.

The library behind the book *Safe at Every Step*.  It needs numpy alone to be imported; what
draws or asks (``safeteach.figures``, ``.widgets``, ``.exercises``) is loaded when it is first used.
"""

import importlib
from typing import Any

from safeteach import instances
from safeteach.mdp import Episode, Known, SafeMDP, rollout
from safeteach.planning import (
    BudgetError,
    ConstrainedPlan,
    Evaluation,
    Plan,
    constrained_optimal,
    evaluate,
    optimal,
    safe_optimal,
)
from safeteach.safety import (
    InfeasibleError,
    Witness,
    is_feasible,
    potentially_unsafe,
    safe_actions,
    witness,
)

__version__ = "0.1.0"

__all__ = [
    "BudgetError",
    "ConstrainedPlan",
    "Episode",
    "Evaluation",
    "InfeasibleError",
    "Known",
    "Plan",
    "SafeMDP",
    "Witness",
    "constrained_optimal",
    "evaluate",
    "instances",
    "is_feasible",
    "optimal",
    "potentially_unsafe",
    "rollout",
    "safe_actions",
    "safe_optimal",
    "witness",
]

_LOADED_WHEN_USED = ("exercises", "figures", "widgets")
_OF_EXERCISES = ("check", "quiz")


def __getattr__(name: str) -> Any:
    if name in _LOADED_WHEN_USED:
        return importlib.import_module(f"safeteach.{name}")
    if name in _OF_EXERCISES:
        return getattr(importlib.import_module("safeteach.exercises"), name)
    raise AttributeError(f"module 'safeteach' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, *_LOADED_WHEN_USED, *_OF_EXERCISES])
