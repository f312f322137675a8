"""The interactive figure of the chapter on costs: the threshold."""

from __future__ import annotations

from safeteach.chapters.costs_thresholds_violation import figures
from safeteach.instances import GridMDP
from safeteach.planning.induction import optimal
from safeteach.widgets import Interactive, Slider, interactive
from safeteach.worlds.mdp import rollout

__all__ = ["threshold"]


def threshold(mdp: GridMDP) -> Interactive:
    r"""Move the threshold τ over a map of costs; below it, one episode and its violation.

    The episode is that of the policy with the most reward, which knows of no cost.

    Parameters
    ----------
    mdp : GridMDP
        Best with costs in degrees, such as :func:`safeteach.instances.smoke`.

    Notes
    -----
    The violation :math:`(c - \tau)_+` is that of Section 3 of the paper.

    Examples
    --------
    >>> import safeteach as st
    >>> from safeteach.chapters.costs_thresholds_violation import controls
    >>> widget = controls.threshold(st.instances.smoke())
    >>> widget.figure(tau=0.6).alt[-21:]
    'Its violation is 0.3.'
    """
    path = rollout(mdp, optimal(mdp).policy, seed=0).states[:-1].tolist()

    def stops(parts: int) -> list[float]:
        # k / parts is the float that "0.3" is, so that a cost equal to τ is found equal.
        return sorted({mdp.tau, *(k / parts for k in range(parts + 1))})

    return interactive(
        lambda tau: figures.costs(mdp, tau, path),
        tau=Slider("threshold τ", values=stops(20), start=mdp.tau, fine=stops(100)),
    )
