"""Plans: backward induction, evaluation, budgets, matrix games, equilibria, best responses."""

from safeteach.planning.budgets import BudgetError, ConstrainedPlan, constrained_optimal
from safeteach.planning.equilibria import GamePlan, Response, best_response
from safeteach.planning.evaluation import Evaluation, evaluate
from safeteach.planning.induction import Plan, optimal, safe_optimal
from safeteach.planning.risk import LeastRisk, RiskPlan, least_risk

__all__ = [
    "BudgetError",
    "ConstrainedPlan",
    "Evaluation",
    "GamePlan",
    "LeastRisk",
    "Plan",
    "Response",
    "RiskPlan",
    "best_response",
    "constrained_optimal",
    "evaluate",
    "least_risk",
    "optimal",
    "safe_optimal",
]
