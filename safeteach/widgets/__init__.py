"""The same figures with controls: live where there is a kernel, precomputed in the page."""

from safeteach.widgets.bonus import bonus
from safeteach.widgets.confidence import confidence
from safeteach.widgets.curves import curves
from safeteach.widgets.gap_price import gap_price
from safeteach.widgets.interactive import Choice, Interactive, Picture, Slider, interactive
from safeteach.widgets.model import doom, spread, threshold
from safeteach.widgets.regret import regret
from safeteach.widgets.replay import replay

__all__ = [
    "Choice",
    "Interactive",
    "Picture",
    "Slider",
    "bonus",
    "confidence",
    "curves",
    "doom",
    "gap_price",
    "interactive",
    "regret",
    "replay",
    "spread",
    "threshold",
]
