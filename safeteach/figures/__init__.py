"""Pictures of worlds that describe themselves: cards, Δ graphs, U_h, grids, witnesses.

Every function takes a world, draws what the library computes from it and returns a
:class:`DescribedFigure`, whose ``alt`` says in words what the picture shows.
"""

from safeteach.figures.card import card
from safeteach.figures.delta import delta_graph
from safeteach.figures.described import DescribedFigure
from safeteach.figures.escape import escape
from safeteach.figures.grid import grid
from safeteach.figures.learning_curves import learning_curves
from safeteach.figures.propagation import propagation, propagation_frame
from safeteach.figures.risk_curve import risk_curve
from safeteach.figures.witness import witness

__all__ = [
    "DescribedFigure",
    "card",
    "delta_graph",
    "escape",
    "grid",
    "learning_curves",
    "propagation",
    "propagation_frame",
    "risk_curve",
    "witness",
]
