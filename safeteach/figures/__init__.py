"""Pictures of safe MDPs that describe themselves: Δ graphs, U_h, grids, witnesses.

Every function takes an MDP, draws what the library computes from it and returns a
:class:`DescribedFigure`, whose ``alt`` says in words what the picture shows.
"""

from safeteach.figures.averages import averages
from safeteach.figures.board import board
from safeteach.figures.confidence import confidence, confidence_frame
from safeteach.figures.costs import costs
from safeteach.figures.decomposition import decomposition
from safeteach.figures.delta import delta_graph
from safeteach.figures.described import DescribedFigure
from safeteach.figures.duels import duels
from safeteach.figures.envelope import envelope
from safeteach.figures.escape import escape
from safeteach.figures.frontier import frontier
from safeteach.figures.gap_price import gap_price
from safeteach.figures.grid import grid
from safeteach.figures.guarantee import guarantee
from safeteach.figures.laboratory import laboratory
from safeteach.figures.learning_curves import learning_curves
from safeteach.figures.looks import looks
from safeteach.figures.mask import mask
from safeteach.figures.matrix_game import matrix_game
from safeteach.figures.painted import painted
from safeteach.figures.price_of_safety import price_of_safety
from safeteach.figures.propagation import propagation, propagation_frame
from safeteach.figures.reasons import reasons
from safeteach.figures.regret import regret_bounds
from safeteach.figures.replay import replay
from safeteach.figures.sample_complexity import sample_complexity
from safeteach.figures.steps import ledgers, steps
from safeteach.figures.stopping_times import stopping_times
from safeteach.figures.timetable import timetable
from safeteach.figures.tree import tree
from safeteach.figures.two_worlds import two_worlds
from safeteach.figures.witness import witness

__all__ = [
    "DescribedFigure",
    "averages",
    "board",
    "confidence",
    "confidence_frame",
    "costs",
    "decomposition",
    "delta_graph",
    "duels",
    "envelope",
    "escape",
    "frontier",
    "gap_price",
    "grid",
    "guarantee",
    "laboratory",
    "learning_curves",
    "ledgers",
    "looks",
    "mask",
    "matrix_game",
    "painted",
    "price_of_safety",
    "propagation",
    "propagation_frame",
    "reasons",
    "regret_bounds",
    "replay",
    "sample_complexity",
    "steps",
    "stopping_times",
    "timetable",
    "tree",
    "two_worlds",
    "witness",
]
