"""Pictures of safe MDPs that describe themselves: Δ graphs, U_h, grids, witnesses.

Every function takes an MDP, draws what the library computes from it and returns a
:class:`DescribedFigure`, whose ``alt`` says in words what the picture shows.
"""

from safeteach.figures.averages import averages
from safeteach.figures.confidence import confidence, confidence_frame
from safeteach.figures.costs import costs
from safeteach.figures.decomposition import decomposition
from safeteach.figures.delta import delta_graph
from safeteach.figures.described import DescribedFigure
from safeteach.figures.escape import escape
from safeteach.figures.gap_price import gap_price
from safeteach.figures.grid import grid
from safeteach.figures.learning_curves import learning_curves
from safeteach.figures.looks import looks
from safeteach.figures.propagation import propagation, propagation_frame
from safeteach.figures.reasons import reasons
from safeteach.figures.regret import regret_bounds
from safeteach.figures.replay import replay
from safeteach.figures.steps import ledgers, steps
from safeteach.figures.timetable import timetable
from safeteach.figures.witness import witness

__all__ = [
    "DescribedFigure",
    "averages",
    "confidence",
    "confidence_frame",
    "costs",
    "decomposition",
    "delta_graph",
    "escape",
    "gap_price",
    "grid",
    "learning_curves",
    "ledgers",
    "looks",
    "propagation",
    "propagation_frame",
    "reasons",
    "regret_bounds",
    "replay",
    "steps",
    "timetable",
    "witness",
]
