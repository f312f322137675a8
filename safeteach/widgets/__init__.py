"""The same figures with controls: live where there is a kernel, precomputed in the page."""

from safeteach.widgets.board import board
from safeteach.widgets.bonus import bonus
from safeteach.widgets.confidence import confidence
from safeteach.widgets.curves import curves
from safeteach.widgets.gap_price import gap_price
from safeteach.widgets.interactive import Choice, Interactive, Picture, Slider, interactive
from safeteach.widgets.mask import mask
from safeteach.widgets.matrix_game import matrix_game
from safeteach.widgets.model import doom, spread, threshold
from safeteach.widgets.paint_reward import paint_reward
from safeteach.widgets.price_of_safety import price_of_safety
from safeteach.widgets.regret import regret
from safeteach.widgets.replay import replay
from safeteach.widgets.sample_complexity import sample_complexity
from safeteach.widgets.two_worlds import two_worlds
from safeteach.widgets.uncertainty import uncertainty

__all__ = [
    "Choice",
    "Interactive",
    "Picture",
    "Slider",
    "board",
    "bonus",
    "confidence",
    "curves",
    "doom",
    "gap_price",
    "interactive",
    "mask",
    "matrix_game",
    "paint_reward",
    "price_of_safety",
    "regret",
    "replay",
    "sample_complexity",
    "spread",
    "threshold",
    "two_worlds",
    "uncertainty",
]
