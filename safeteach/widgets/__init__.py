"""The same figures with controls: live where there is a kernel, precomputed in the page."""

from safeteach.widgets.confidence import confidence
from safeteach.widgets.gap_price import gap_price
from safeteach.widgets.interactive import Choice, Interactive, Picture, Slider, interactive
from safeteach.widgets.model import doom, spread, threshold
from safeteach.widgets.regret import regret

__all__ = [
    "Choice",
    "Interactive",
    "Picture",
    "Slider",
    "confidence",
    "doom",
    "gap_price",
    "interactive",
    "regret",
    "spread",
    "threshold",
]
