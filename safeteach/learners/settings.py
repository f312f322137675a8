"""What every learner is told, checked."""

from __future__ import annotations

import numpy as np

__all__ = ["check_settings"]


def check_settings(
    *, episodes: int = 1, delta: float = 0.005, bonus_scale: float = 1.0, budget: float = 0.0
) -> None:
    """Raise a clear error for a setting that no learner can work with."""
    if isinstance(episodes, bool) or not isinstance(episodes, int | np.integer):
        raise TypeError(f"episodes is {episodes!r}; expected a whole number")
    if episodes < 1:
        raise ValueError(f"episodes is {episodes}; it must be at least 1")
    if not 0 < delta < 1:
        raise ValueError(f"delta is {delta}; a probability in (0, 1) is expected")
    if not 0 <= bonus_scale < np.inf:
        raise ValueError(f"bonus_scale is {bonus_scale}; it must be at least 0 and finite")
    if not budget >= 0:
        raise ValueError(f"budget is {budget}; a bound on costs must be at least 0")
