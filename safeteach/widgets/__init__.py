"""The same figures with controls: live where there is a kernel, precomputed in the page."""

from safeteach.widgets.interactive import Choice, Interactive, Picture, Slider, interactive
from safeteach.widgets.model import doom, spread, threshold

__all__ = [
    "Choice",
    "Interactive",
    "Picture",
    "Slider",
    "doom",
    "interactive",
    "spread",
    "threshold",
]
