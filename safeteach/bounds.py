r"""Widths of confidence and right-hand sides of theorems, as plain formulas.

Letters: S states, A actions, H steps, K episodes, T = HK steps in all, n visits, and delta the
probability with which one event may fail.  A width at n = 0 is infinite: nothing is known yet.

.. math::

   \alpha(n) = 7H\sqrt{\ln(5SAHK/\delta)/n}, \qquad
   \beta(n) = \sqrt{2 \ln(S\,n(n+1)/\delta)/n}.

:func:`beta` holds for every number of visits at once, because
:math:`\sum_n 1/(n(n+1)) = 1`, and does not know K.  :func:`beta_printed` is the paper's.

Taught in the chapters *Optimism and confidence*, *Why regret is small* and *Why violation is
small*.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "alpha",
    "beta",
    "beta_printed",
    "l1_width",
    "most_dangerous_pairs",
    "regret_bound",
    "regret_bound_masks",
    "value_width",
    "violation_bound",
    "violation_bound_gap",
    "visits_until_flagged",
]


def alpha(n: ArrayLike, S: int, A: int, H: int, K: int, delta: float) -> NDArray[np.float64]:
    """The exploration bonus of Theorem 4.2, 7H √(ln(5SAHK/δ)/n).

    >>> round(float(alpha(1162, S=25, A=4, H=10, K=20_000, delta=0.005)), 2)    # the cap is H
    10.0
    """
    return 7 * H * _root(math.log(5 * S * A * H * K / delta), n)


def beta(n: ArrayLike, S: int, delta: float) -> NDArray[np.float64]:
    """The width of the cost estimates, √(2 ln(S n(n+1)/δ)/n), for every n at once.

    >>> round(float(beta(149, S=25, delta=0.005)), 3)
    0.499
    """
    n = np.asarray(n, np.float64)
    return _root(2 * np.log(S * np.maximum(n, 1) * (np.maximum(n, 1) + 1) / delta), n)


def beta_printed(n: ArrayLike, S: int, K: int, delta: float) -> NDArray[np.float64]:
    """The same width as the paper prints it, √(2 ln(SK/δ)/n)."""
    return _root(2 * math.log(S * K / delta), n)


def value_width(n: ArrayLike, S: int, A: int, H: int, K: int, delta: float) -> NDArray[np.float64]:
    """What Hoeffding gives for (P̂ - P)V with one fixed V in [0, H]: H √(ln(2SAHK/δ)/(2n))."""
    return H * _root(math.log(2 * S * A * H * K / delta) / 2, n)


def l1_width(n: ArrayLike, S: int, A: int, H: int, K: int, delta: float) -> NDArray[np.float64]:
    """The width of the whole row, ‖P̂ - P‖₁ ≤ √(2 (S ln 2 + ln(SAHK/δ))/n)."""
    return _root(2 * (S * math.log(2) + math.log(S * A * H * K / delta)), n)


def visits_until_flagged(gap: float, S: int, delta: float) -> int:
    """The first n from which on 2β(n) < gap: on E_1' an unsafe state is flagged by then.

    >>> visits_until_flagged(0.5, S=25, delta=0.005)
    692
    """
    if not 0 < gap <= 1:
        raise ValueError(f"gap is {gap}; costs and thresholds in [0, 1] leave it in (0, 1]")
    low, high = 0, 1
    while not 2 * beta(high, S, delta) < gap:
        low, high = high, 2 * high
    while high - low > 1:  # where beta is below 1/2 it decreases in n
        middle = (low + high) // 2
        low, high = (low, middle) if 2 * beta(middle, S, delta) < gap else (middle, high)
    return high


def regret_bound(S: int, A: int, H: int, K: int, delta: float) -> float:
    """What is proved of SUCBVI's regret in every feasible world, with probability 1 - 4δ."""
    T = H * K
    root = math.sqrt(H**3 * S * A * T)
    return (
        S * A * H**2
        + H * math.sqrt(2 * T * math.log(1 / delta))
        + 14 * root * math.sqrt(math.log(5 * S * A * T / delta))
        + root * math.sqrt(2 * (S * math.log(2) + math.log(S * A * T / delta)))
    )


def regret_bound_masks(S: int, A: int, H: int, K: int, delta: float) -> float:
    """The same without the factor √S, for at most :func:`most_dangerous_pairs` dangerous pairs."""
    T = H * K
    return math.e * (
        S * A * H**2
        + H * math.sqrt(T * math.log(1 / delta) / 2)
        + 28 * math.sqrt(H**3 * S * A * T * math.log(5 * S * A * T / delta))
        + 2 * H**3 * S**2 * A * math.log(2 * S**2 * A * T / delta) * (1 + math.log(K))
    )


def most_dangerous_pairs(S: int, A: int, H: int, K: int, delta: float) -> int:
    """The largest number D of dangerous pairs whose 2^D masks the bonus α covers.

    >>> most_dangerous_pairs(S=25, A=4, H=12, K=20_000, delta=0.005)
    3346
    """
    N = S * A * H * K / delta
    return math.floor((98 * math.log(5 * N) - math.log(2 * N)) / math.log(2))


def violation_bound(
    S: int, H: int, K: int, tau: float, unsafe: int, edges: int, delta: float
) -> float:
    """What is proved of SUCBVI's violation, with probability 1 - 2δ.

    Parameters
    ----------
    unsafe : int
        The number of unsafe states.
    edges : int
        The number of (h, s, a, t) with h < H and t in Δ_h(s, a), at most S²A(H - 1).
    """
    T = H * K
    late = 8 * math.sqrt(math.log(S * T * (T + 1) / delta) * unsafe * T)
    return (1 - tau) * H * edges + 2 * H * unsafe + late


def violation_bound_gap(
    S: int, H: int, K: int, tau: float, unsafe: int, edges: int, gap: float, delta: float
) -> float:
    """The same when every unsafe state costs at least tau + gap; K enters by a logarithm alone."""
    T = H * K
    late = unsafe * (8 * math.log(S * T * (T + 1) / delta) / gap + H)
    return (1 - tau) * H * edges + late


def _root(numerator: ArrayLike, n: ArrayLike) -> NDArray[np.float64]:
    """√(numerator/n), infinite where n = 0."""
    n = np.asarray(n, np.float64)
    return np.sqrt(np.divide(numerator, n, out=np.full(n.shape, np.inf), where=n > 0))
