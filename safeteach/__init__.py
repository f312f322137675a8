"""safeteach: reinforcement learning that is safe at every step.

The library behind the book *Safe at Every Step*.  It needs numpy alone to be imported; what
learns, draws or asks is loaded when it is first used.
"""

import importlib
from typing import TYPE_CHECKING, Any

from safeteach import bounds, divergence, instances
from safeteach.planning.budgets import BudgetError, ConstrainedPlan, constrained_optimal
from safeteach.planning.equilibria import GamePlan, Response, best_response
from safeteach.planning.evaluation import Evaluation, evaluate
from safeteach.planning.induction import Plan, optimal, safe_optimal
from safeteach.planning.risk import LeastRisk, RiskPlan, least_risk
from safeteach.safety import (
    InfeasibleError,
    Witness,
    doomed_until,
    is_feasible,
    potentially_unsafe,
    safe_actions,
    witness,
)
from safeteach.worlds.games import SafeGame
from safeteach.worlds.known import Episode, Known
from safeteach.worlds.mdp import SafeMDP, rollout

if TYPE_CHECKING:  # what is loaded when it is first used, so that editors and mypy see it
    from safeteach import figures as figures
    from safeteach import learners as learners
    from safeteach import widgets as widgets
    from safeteach.classroom.checking.verdicts import check as check
    from safeteach.classroom.checking.verdicts import quiz as quiz
    from safeteach.exchange.environment_tables import from_gymnasium as from_gymnasium
    from safeteach.exchange.environments import to_gymnasium as to_gymnasium
    from safeteach.exchange.imported import ImportedMDP as ImportedMDP
    from safeteach.exchange.prism import from_prism as from_prism
    from safeteach.exchange.tables import from_table as from_table
    from safeteach.exchange.tables import to_table as to_table
    from safeteach.learners.optcmdp import OptCMDP as OptCMDP
    from safeteach.learners.optpess import OptPess as OptPess
    from safeteach.learners.rf_ucrl import RFUCRL as RFUCRL
    from safeteach.learners.safe_nash_vi import NashVI as NashVI
    from safeteach.learners.safe_nash_vi import SafeNashVI as SafeNashVI
    from safeteach.learners.srf_ucrl import SRFUCRL as SRFUCRL
    from safeteach.learners.sucbvi import SUCBVI as SUCBVI
    from safeteach.learners.triple_q import TripleQ as TripleQ
    from safeteach.learners.ucbvi import UCBVI as UCBVI
    from safeteach.planning.matrix_games import MatrixGame as MatrixGame
    from safeteach.planning.matrix_games import game_value as game_value
    from safeteach.reporting.reports import report as report
    from safeteach.running.auditing import Audit as Audit
    from safeteach.running.auditing import audit as audit
    from safeteach.running.checking import check_learner as check_learner
    from safeteach.running.comparing import compare as compare
    from safeteach.running.exploring import Exploration as Exploration
    from safeteach.running.exploring import explore as explore
    from safeteach.running.playing import History as History
    from safeteach.running.playing import play as play
    from safeteach.running.playing import run as run

__version__ = "0.1.0"

__all__ = [
    "BudgetError",
    "ConstrainedPlan",
    "Episode",
    "Evaluation",
    "GamePlan",
    "InfeasibleError",
    "Known",
    "LeastRisk",
    "Plan",
    "Response",
    "RiskPlan",
    "SafeGame",
    "SafeMDP",
    "Witness",
    "best_response",
    "bounds",
    "constrained_optimal",
    "divergence",
    "doomed_until",
    "evaluate",
    "instances",
    "is_feasible",
    "least_risk",
    "optimal",
    "potentially_unsafe",
    "rollout",
    "safe_actions",
    "safe_optimal",
    "witness",
]

# The same for Python: it needs numba, matplotlib or ipywidgets.  A test keeps the two equal.
_MODULES = ("figures", "learners", "widgets")
_NAMES = {
    "Audit": "running.auditing",
    "Exploration": "running.exploring",
    "History": "running.playing",
    "ImportedMDP": "exchange.imported",
    "MatrixGame": "planning.matrix_games",
    "NashVI": "learners.safe_nash_vi",
    "OptCMDP": "learners.optcmdp",
    "OptPess": "learners.optpess",
    "RFUCRL": "learners.rf_ucrl",
    "SRFUCRL": "learners.srf_ucrl",
    "SUCBVI": "learners.sucbvi",
    "SafeNashVI": "learners.safe_nash_vi",
    "TripleQ": "learners.triple_q",
    "UCBVI": "learners.ucbvi",
    "audit": "running.auditing",
    "check": "classroom.checking.verdicts",
    "check_learner": "running.checking",
    "compare": "running.comparing",
    "explore": "running.exploring",
    "from_gymnasium": "exchange.environment_tables",
    "from_prism": "exchange.prism",
    "from_table": "exchange.tables",
    "game_value": "planning.matrix_games",
    "play": "running.playing",
    "quiz": "classroom.checking.verdicts",
    "report": "reporting.reports",
    "run": "running.playing",
    "to_gymnasium": "exchange.environments",
    "to_table": "exchange.tables",
}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"safeteach.{name}")
    if name in _NAMES:
        return getattr(importlib.import_module(f"safeteach.{_NAMES[name]}"), name)
    raise AttributeError(f"module 'safeteach' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, *_MODULES, *_NAMES])
