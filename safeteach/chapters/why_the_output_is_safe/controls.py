"""The interactive figure of the chapter *Why the output is safe*: the two terms of the bound."""

from __future__ import annotations

from safeteach.chapters.why_the_output_is_safe import figures
from safeteach.widgets import Interactive, Slider, interactive

__all__ = ["sample_complexity"]

STATES = (2, 4, 11, 50, 200)
EPSILONS = (0.1, 0.3, 1.0, 3.0)
LEVELS = (0.1, 1e-9)


def sample_complexity(A: int, H: int) -> Interactive:
    """Move the states, ε and δ: where the two terms of the bound come down to ε/2.

    Parameters
    ----------
    A, H : int
        Numbers of actions and steps; H at least 2.

    Examples
    --------
    >>> import safeteach as st
    >>> from safeteach.chapters.why_the_output_is_safe import controls
    >>> widget = controls.sample_complexity(A=3, H=2)
    >>> widget.figure(S=4, epsilon=1.0, delta=0.1).alt.split(". ")[1]
    'The terms come down to ε/2 at K = 5.54e+07; the second is 17% of their sum there.'
    """
    return interactive(
        lambda S, epsilon, delta: figures.sample_complexity(int(S), A, H, epsilon, delta),
        S=Slider("states S", values=STATES, start=4),
        epsilon=Slider("ε", values=EPSILONS, start=1.0),
        delta=Slider("level δ", values=LEVELS, start=0.1),
    )
