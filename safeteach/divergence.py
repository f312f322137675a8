r"""How hard it is to tell two worlds apart.

A learner plays K episodes in one of two worlds, P or Q.  Everything that it does is decided by
what it has seen, so the two laws of its run differ only where the worlds answer differently, and

.. math:: \mathrm{KL}(P, Q) = \sum_i E_P[t_i]\, \mathrm{KL}(P_i, Q_i),

with :math:`t_i` the number of answers of kind i that it asked for (:func:`run_divergence`).
Whatever it then reports, a number :math:`\varphi \in [0, 1]`, is wrong in one world or the other
(:func:`bretagnolle_huber`):

.. math:: E_P[\varphi] + E_Q[1 - \varphi] \ge \tfrac12 e^{-\mathrm{KL}(P, Q)}.

Taught in the chapters *The violation lower bound* and *The regret lower bound*.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from safeteach.arguments import number, numbers

__all__ = ["bretagnolle_huber", "kl_bernoulli", "kl_gaussian", "run_divergence"]

ROUNDING = -1e-9  # a divergence is at least 0, and may be computed as a little less


def kl_gaussian(mean_p: ArrayLike, mean_q: ArrayLike, sigma: float = 1.0) -> NDArray[np.float64]:
    """KL(N(mean_p, sigma²), N(mean_q, sigma²)) = (mean_p - mean_q)²/(2 sigma²).

    >>> float(kl_gaussian(0.6, 0.5))
    0.0049999999999999975
    """
    number(sigma, "sigma", 0)
    p, q = _alike(mean_p=numbers(mean_p, "mean_p"), mean_q=numbers(mean_q, "mean_q"))
    difference = p - q
    return np.asarray(difference**2 / (2 * sigma**2))


def kl_bernoulli(p: ArrayLike, q: ArrayLike) -> NDArray[np.float64]:
    """KL(Bern(p), Bern(q)) = p ln(p/q) + (1-p) ln((1-p)/(1-q)); infinite where q rules p out.

    >>> round(float(kl_bernoulli(0.5, 0.7)), 4)           # the paper says at most 2·0.1² = 0.02
    0.0872
    """
    p, q = _alike(p=numbers(p, "p", 0, 1, ends="[]"), q=numbers(q, "q", 0, 1, ends="[]"))
    return _part(p, q) + _part(1 - p, 1 - q)


def run_divergence(asked: ArrayLike, kl: ArrayLike) -> float:
    """Σ_i E_P[t_i] KL(P_i, Q_i): the KL divergence of the laws of whole runs.

    Parameters
    ----------
    asked : (n,) array
        How often each kind of answer is asked for in the world P, in expectation.
    kl : (n,) array or float
        The divergence of one answer.

    Examples
    --------
    >>> run_divergence([10, 3], [0.0, 0.02])
    0.06
    """
    times, each = _alike(
        asked=numbers(asked, "asked", 0, ends="[)"), kl=numbers(kl, "kl", ROUNDING, ends="[]")
    )
    # Nothing asked costs nothing, also where one answer would tell all.
    return float(np.sum(times * np.where(times > 0, each, 0.0)))


def bretagnolle_huber(divergence: ArrayLike) -> NDArray[np.float64]:
    """½ exp(-divergence): how wrong any report must be, in the two worlds together.

    >>> float(bretagnolle_huber(0.0))            # the truth is 1: the two worlds are the same
    0.5
    """
    return np.asarray(0.5 * np.exp(-numbers(divergence, "divergence", ROUNDING, ends="[]")))


def _alike(**arrays: NDArray[np.float64]) -> tuple[NDArray[np.float64], ...]:
    """Arrays of one shape, by numpy's rules."""
    try:
        return tuple(np.broadcast_arrays(*arrays.values()))
    except ValueError:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
        raise ValueError(f"the shapes do not fit together: {shapes}") from None


def _part(p: NDArray[np.float64], q: NDArray[np.float64]) -> NDArray[np.float64]:
    """The term p ln(p/q): 0 where p = 0 and infinite where only q = 0."""
    ratio = np.divide(p, q, out=np.full(p.shape, np.inf), where=q > 0)
    return np.asarray(np.multiply(p, np.log(ratio, where=p > 0, out=np.zeros(p.shape))))
