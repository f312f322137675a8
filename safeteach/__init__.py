"""safeteach: reinforcement learning that is safe at every step.

The library behind the book *Safe at Every Step*.  It needs numpy alone to be imported; what
learns, draws or asks is loaded when it is first used.
"""

import importlib
from typing import Any

from safeteach import bounds, divergence, instances
from safeteach.equilibria import GamePlan, Response, best_response
from safeteach.games import GameEpisode, KnownGame, SafeGame
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
    "GameEpisode",
    "GamePlan",
    "InfeasibleError",
    "Known",
    "KnownGame",
    "Plan",
    "Response",
    "SafeGame",
    "SafeMDP",
    "Witness",
    "best_response",
    "bounds",
    "constrained_optimal",
    "divergence",
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

# Where to find what is loaded when it is first used: it needs numba, matplotlib or ipywidgets.
_MODULES = ("exercises", "figures", "learners", "widgets")
_NAMES = {
    **dict.fromkeys(("MatrixGame", "game_value"), "matrix_games"),
    **dict.fromkeys(("OptCMDP", "OptPess", "SUCBVI", "TripleQ", "UCBVI"), "learners"),
    **dict.fromkeys(("RFUCRL", "SRFUCRL", "NashVI", "SafeNashVI"), "learners"),
    **dict.fromkeys(("History", "compare", "run"), "experiment"),
    "play": "playing",
    **dict.fromkeys(("duel", "face"), "dueling"),
    **dict.fromkeys(("Exploration", "explore"), "exploring"),
    **dict.fromkeys(("Audit", "audit"), "auditing"),
    **dict.fromkeys(("check", "quiz"), "exercises"),
}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"safeteach.{name}")
    if name in _NAMES:
        return getattr(importlib.import_module(f"safeteach.{_NAMES[name]}"), name)
    raise AttributeError(f"module 'safeteach' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, *_MODULES, *_NAMES])
