r"""Widths of confidence and right-hand sides of theorems, as plain formulas.

Letters: S states, A actions, H steps, K episodes (here a number that need not be whole), T = HK
steps in all, n visits, and delta the probability in (0, 1] with which one event may fail.  A width
at n = 0 is infinite: nothing is known yet.

.. math::

   \alpha(n) = 7H\sqrt{\ln(5SAHK/\delta)/n}, \qquad
   \beta(n) = \sqrt{2 \ln(S\,n(n+1)/\delta)/n}.

:func:`beta` holds for every number of visits at once, because
:math:`\sum_n 1/(n(n+1)) = 1`, and does not know K.  :func:`beta_printed` is the paper's.

Taught in the chapters *Optimism and confidence*, *Why regret is small*, *Why violation is
small*, *The violation lower bound* and *The regret lower bound*.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from safeteach.arguments import number, numbers, whole

__all__ = [
    "alpha",
    "beta",
    "beta_printed",
    "exploration_bonus",
    "exploration_episodes",
    "exploration_terms",
    "gamma",
    "l1_width",
    "most_dangerous_pairs",
    "regret_bound",
    "regret_bound_masks",
    "regret_bound_variances",
    "regret_lower_bound",
    "tradeoff",
    "value_width",
    "violation_bound",
    "violation_bound_gap",
    "violation_lower_bound",
    "visits_until_flagged",
]

# Beyond these, products of what is counted would no longer be numbers.
MOST = 1e60  # visits and episodes
LARGEST = 10**18  # states, actions, steps of an episode
LEAST = 1e-100  # delta


def alpha(n: ArrayLike, S: int, A: int, H: int, K: float, delta: float) -> NDArray[np.float64]:
    """The exploration bonus of Theorem 4.2, 7H √(ln(5SAHK/δ)/n).

    Taught in the chapter *Optimism and confidence*.

    >>> round(float(alpha(1162, S=25, A=4, H=10, K=20_000, delta=0.005)), 2)    # the cap is H
    10.0
    """
    _check(delta, S=S, A=A, H=H, K=K)
    return 7 * H * _root(math.log(5 * S * A * H * K / delta), _visits(n))


def beta(n: ArrayLike, S: int, delta: float) -> NDArray[np.float64]:
    """The width of the cost estimates, √(2 ln(S n(n+1)/δ)/n), for every n at once.

    Taught in the chapter *Optimism and confidence*.

    >>> round(float(beta(149, S=25, delta=0.005)), 3)
    0.499
    """
    _check(delta, S=S)
    return cost_width(_visits(n), S, delta)


def cost_width(n: NDArray[Any], S: int, delta: float) -> NDArray[np.float64]:
    """:func:`beta` for learners, who know what they hand over: nothing is checked."""
    return _root(2 * np.log(S * np.maximum(n, 1) * (np.maximum(n, 1) + 1) / delta), n)


def beta_printed(n: ArrayLike, S: int, K: float, delta: float) -> NDArray[np.float64]:
    """The same width as the paper prints it, √(2 ln(SK/δ)/n).

    Taught in the chapter *Optimism and confidence*.

    >>> round(float(beta_printed(149, S=25, K=20_000, delta=0.005)), 3)
    0.497
    """
    _check(delta, S=S, K=K)
    return _root(2 * math.log(S * K / delta), _visits(n))


def value_width(
    n: ArrayLike, S: int, A: int, H: int, K: float, delta: float
) -> NDArray[np.float64]:
    """What Hoeffding gives for (P̂ - P)V with one fixed V in [0, H]: H √(ln(2SAHK/δ)/(2n)).

    Taught in the chapter *Optimism and confidence*.

    >>> round(float(value_width(149, S=25, A=4, H=10, K=20_000, delta=0.005)), 2)
    2.77
    """
    _check(delta, S=S, A=A, H=H, K=K)
    return H * _root(math.log(2 * S * A * H * K / delta) / 2, _visits(n))


def l1_width(n: ArrayLike, S: int, A: int, H: int, K: float, delta: float) -> NDArray[np.float64]:
    """The width of the whole row, ‖P̂ - P‖₁ ≤ √(2 (S ln 2 + ln(SAHK/δ))/n).

    Taught in the chapter *Optimism and confidence*.

    >>> round(float(l1_width(149, S=25, A=4, H=10, K=20_000, delta=0.005)), 2)
    0.73
    """
    _check(delta, S=S, A=A, H=H, K=K)
    return _root(2 * (S * math.log(2) + math.log(S * A * H * K / delta)), _visits(n))


def gamma(n: ArrayLike, S: int, A: int, H: int, delta: float) -> NDArray[np.float64]:
    """The logarithmic term of Theorem 6.2, 2(ln(2SAH/δ) + (S-1) ln(e(1 + n/(S-1)))).

    Taught in the chapter *The problem and RF-UCRL*.

    >>> round(float(gamma(500, S=11, A=5, H=10, delta=0.1)), 1)
    117.2
    """
    _check(delta, S=S, A=A, H=H)
    n = _visits(n)
    rows = (S - 1) * np.log(math.e * (1 + n / (S - 1))) if S > 1 else 0 * n
    return np.asarray(2 * (math.log(2 * S * A * H / delta) + rows))


def exploration_bonus(n: ArrayLike, S: int, A: int, H: int, delta: float) -> NDArray[np.float64]:
    """The bonus of SRF-UCRL, M(n) = 2H √(2γ(n)/n) + SH γ(n)/n.

    Taught in the chapter *The problem and RF-UCRL*.

    >>> round(float(exploration_bonus(500, S=11, A=5, H=10, delta=0.1)), 1)      # the cap is H
    39.5
    """
    g = gamma(n, S, A, H, delta)
    return 2 * H * _root(2 * g, n) + S * H * _root(g, n) ** 2


def exploration_terms(
    K: ArrayLike, S: int, A: int, H: int, delta: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The most that the bonuses of K episodes of SRF-UCRL add up to: the root and the rest.

    6√2(1+√2) H² √(SAK γ(K)) of the first part of M, (8/ln 2) S²AH² γ(K) ln(K+1) of the second.
    While it explores, their sum is more than Kε/2, with probability 1 - (5/2)δ.

    Taught in the chapter *Why the output is safe*.

    >>> root, rest = exploration_terms(5_591_628, S=2, A=2, H=2, delta=0.1)
    >>> round(float(root + rest)) >= 5_591_628 / 2           # with epsilon = 1 it may go on so long
    True
    """
    K = numbers(K, "K", 0, MOST, ends="[]")
    g = gamma(K, S, A, H, delta)
    root = 6 * math.sqrt(2) * (1 + math.sqrt(2)) * H**2 * np.sqrt(S * A * K * g)
    return root, 8 / math.log(2) * S**2 * A * H**2 * g * np.log(K + 1)


def exploration_episodes(S: int, A: int, H: int, epsilon: float, delta: float) -> int:
    """The sample complexity proved of SRF-UCRL (Theorem 6.2): the largest K that may be needed.

    It is the largest K with Kε/2 at most the sum of :func:`exploration_terms`.

    Taught in the chapter *Why the output is safe*.

    >>> exploration_episodes(S=2, A=2, H=2, epsilon=1, delta=0.1)
    5591628
    """
    _check(delta, S=S, A=A, H=H)
    if not 0 < number(epsilon, "epsilon") <= 2 * H:
        raise ValueError(f"epsilon is {epsilon}; exploration is needed for 0 < epsilon <= 2H")

    def may_go_on(K: int) -> bool:
        if K > MOST:
            raise ValueError(f"epsilon is {epsilon}; so small that K would be more than {MOST:g}")
        return K * epsilon / 2 <= float(sum(exploration_terms(float(K), S, A, H, delta)))

    low, high = 4, 8  # for K <= 4 it may; from there on the sum grows more slowly than K
    while may_go_on(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if may_go_on(middle) else (low, middle)
    return low


def visits_until_flagged(gap: float, S: int, delta: float) -> int:
    """The first n from which on 2β(n) < gap: on E_1' an unsafe state is flagged by then.

    Taught in the chapter *Why violation is small*.

    >>> visits_until_flagged(0.5, S=25, delta=0.005)
    692
    """
    _check(delta, S=S)
    if not 0 < number(gap, "gap") <= 1:
        raise ValueError(f"gap is {gap}; costs and thresholds in [0, 1] leave it in (0, 1]")
    low, high = 0, 1
    while not 2 * beta(float(high), S, delta) < gap:
        low, high = high, 2 * high
        if high > MOST:
            raise ValueError(f"gap is {gap}; so small that it takes more than {MOST:g} visits")
    while high - low > 1:  # where beta is below 1/2 it decreases in n
        middle = (low + high) // 2
        low, high = (low, middle) if 2 * beta(float(middle), S, delta) < gap else (middle, high)
    return high


def regret_bound(S: int, A: int, H: int, K: float, delta: float) -> float:
    """What is proved of SUCBVI's regret in every feasible world, with probability 1 - 4δ.

    Taught in the chapter *Why regret is small*.

    >>> f"{regret_bound(S=25, A=4, H=12, K=20_000, delta=0.005):,.0f}"   # no episode loses 13
    '15,784,863'
    """
    _check(delta, S=S, A=A, H=H, K=K)
    T = H * K
    root = math.sqrt(H**3 * S * A * T)
    return (
        S * A * H**2
        + H * math.sqrt(2 * T * math.log(1 / delta))
        + 14 * root * math.sqrt(math.log(5 * S * A * T / delta))
        + root * math.sqrt(2 * (S * math.log(2) + math.log(S * A * T / delta)))
    )


def regret_bound_masks(S: int, A: int, H: int, K: float, delta: float) -> float:
    """The same without the factor √S, for at most :func:`most_dangerous_pairs` dangerous pairs.

    Taught in the chapter *Why regret is small*.

    >>> f"{regret_bound_masks(S=25, A=4, H=12, K=20_000, delta=0.005):,.0f}"
    '6,786,107,727'
    """
    _check(delta, S=S, A=A, H=H, K=K)
    T = H * K
    return math.e * (
        S * A * H**2
        + H * math.sqrt(T * math.log(1 / delta) / 2)
        + 28 * math.sqrt(H**3 * S * A * T * math.log(5 * S * A * T / delta))
        + 2 * H**3 * S**2 * A * math.log(2 * S**2 * A * T / delta) * (1 + math.log(K))
    )


def regret_bound_variances(
    S: int, A: int, H: int, K: float, delta: float, successors: float
) -> float:
    """What is proved of SUCBVI's regret in every feasible world by variances, probability 1 - 5δ.

    Parameters
    ----------
    S, A, H : int
        Numbers of states, actions and steps.
    K : float
        Number of episodes.
    delta : float
        Probability with which one event may fail.
    successors : float
        How many states can follow a triple (h, s, a), on average: from 1 to S.

    Notes
    -----
    Taught in the chapter *Why regret is small*.

    Examples
    --------
    >>> f"{regret_bound_variances(S=25, A=4, H=12, K=20_000, delta=0.005, successors=4):,.0f}"
    '58,299,007'
    """
    _check(delta, S=S, A=A, H=H, K=K)
    number(successors, "successors", 1, S, "[]")
    T = H * K
    rows = 2 * (successors - 1) * math.log(3) + 2 * math.log(S * A * T / delta)
    J = H**2 * S * A * rows * (1 + math.log(K))
    return (
        H * math.sqrt(2 * T * math.log(1 / delta))
        + 14 * math.sqrt(H**3 * S * A * T * math.log(5 * S * A * T / delta))
        + 3 * math.sqrt(T * J)
        + 5 * J
    )


def most_dangerous_pairs(S: int, A: int, H: int, K: float, delta: float) -> int:
    """The largest number D of dangerous pairs whose 2^D masks the bonus α covers.

    Taught in the chapter *Why regret is small*.

    >>> most_dangerous_pairs(S=25, A=4, H=12, K=20_000, delta=0.005)
    3346
    """
    _check(delta, S=S, A=A, H=H, K=K)
    N = S * A * H * K / delta
    return math.floor((98 * math.log(5 * N) - math.log(2 * N)) / math.log(2))


def violation_bound(
    S: int, H: int, K: float, tau: float, unsafe: int, edges: int, delta: float
) -> float:
    """What is proved of SUCBVI's violation, with probability 1 - 2δ.

    Taught in the chapter *Why violation is small*.

    Parameters
    ----------
    unsafe : int
        The number of unsafe states.
    edges : int
        The number of (h, s, a, t) with h < H and t in Δ_h(s, a), at most S²A(H - 1).

    Examples
    --------
    Of the pond, after 20,000 episodes that could cost 120,000:

    >>> f"{violation_bound(25, 12, 20_000, 0.5, unsafe=2, edges=2024, delta=0.005):,.0f}"
    '44,173'
    """
    _check(delta, S=S, H=H, K=K)
    number(tau, "tau", 0, 1, ends="[]")
    whole(unsafe, "unsafe", 0, S)
    whole(edges, "edges", 0, LARGEST)
    T = H * K
    late = 8 * math.sqrt(math.log(S * T * (T + 1) / delta) * unsafe * T)
    return (1 - tau) * H * edges + 2 * H * unsafe + late


def violation_bound_gap(
    S: int, H: int, K: float, tau: float, unsafe: int, edges: int, gap: float, delta: float
) -> float:
    """The same when every unsafe state costs at least tau + gap; K enters by a logarithm alone.

    Taught in the chapter *Why violation is small*.

    >>> bound = violation_bound_gap(25, 12, 20_000, 0.5, unsafe=2, edges=2024, gap=0.5, delta=0.005)
    >>> f"{bound:,.0f}"
    '13,233'
    """
    _check(delta, S=S, H=H, K=K)
    number(tau, "tau", 0, 1, ends="[]")
    whole(unsafe, "unsafe", 0, S)
    whole(edges, "edges", 0, LARGEST)
    number(gap, "gap", 0, 1, ends="(]")
    T = H * K
    late = unsafe * (8 * math.log(S * T * (T + 1) / delta) / gap + H)
    return (1 - tau) * H * edges + late


def tradeoff(share: ArrayLike, kappa: float) -> NDArray[np.float64]:
    """How much regret is left to a learner of little violation on the trees of Theorem 5.1.

    If on τ_1 a ``share`` of the K episodes ends in an unsafe leaf, then on some τ_j the regret is
    at least the returned share of its maximum KH', if positive.

    Taught in the chapter *The violation lower bound*.

    Parameters
    ----------
    share : array
        Violation on τ_1 as a share of KH'·gap; in [0, 1], but an average of few runs may be more.
    kappa : float
        KH'·gap²/(n-1): how well n - 1 leaves could be told apart if each were tried equally often.

    Examples
    --------
    >>> round(float(tradeoff(0.25, kappa=0.25)), 3)
    0.235
    """
    share = numbers(share, "share", 0, MOST, ends="[]")
    number(kappa, "kappa", 0, MOST**2, ends="[]")
    return np.asarray(np.exp(-kappa * share / 2) / 2 - share)


def violation_lower_bound(n: int, leaf_steps: float, K: float, gap: float, regret: float) -> float:
    """The least violation on τ_1 of a learner whose regret is at most ``regret`` on every τ_j.

    Taught in the chapter *The violation lower bound*.

    Parameters
    ----------
    n, leaf_steps, gap
        Leaves, H' = 2H/3 and gap of the trees of Theorem 5.1.
    regret : float
        The theorem's is HK/24 = K·leaf_steps/16.

    Examples
    --------
    With the paper's gap √((n-1)/(4KH')) it is 0.206 √((n-1)KH'):

    >>> n, leaf_steps, K = 8, 6, 1_000
    >>> gap = math.sqrt((n - 1) / (4 * K * leaf_steps))
    >>> least = violation_lower_bound(n, leaf_steps, K, gap, regret=K * leaf_steps / 16)
    >>> round(least / math.sqrt((n - 1) * K * leaf_steps), 3)
    0.206
    """
    _check_tree(n, leaf_steps, K)
    number(gap, "gap", 0, 1, ends="(]")
    number(regret, "regret", 0, ends="[]")
    kappa = K * leaf_steps * gap**2 / (n - 1)
    low, high = 0.0, 1.0  # the trade-off decreases in the share: halve
    if tradeoff(0.0, kappa) <= regret / (K * leaf_steps):
        return 0.0
    while high - low > 1e-15:
        middle = (low + high) / 2
        allowed = tradeoff(middle, kappa) > regret / (K * leaf_steps)
        low, high = (middle, high) if allowed else (low, middle)
    return low * K * leaf_steps * gap


def regret_lower_bound(n: int, leaf_steps: float, K: float, gap: float) -> float:
    """What R(τ_1) + R(τ_j) + Δ'·C(τ_1) + (Δ'-2Δ)·C(τ_j) is at least, for some j (Theorem 5.2).

    R is the regret, C the violation, Δ the ``gap`` < ¼ and Δ' the unsafe gap;
    ``leaf_steps`` is H' = 2H/3 - 1.

    Taught in the chapter *The regret lower bound*.

    Examples
    --------
    At the gap ¼√((n-1)/K) it is more than H'√((n-1)K)/16:

    >>> n, leaf_steps, K = 8, 5, 1_000
    >>> least = regret_lower_bound(n, leaf_steps, K, math.sqrt((n - 1) / K) / 4)
    >>> round(least / (leaf_steps * math.sqrt((n - 1) * K)), 4), 1 / 16
    (0.0757, 0.0625)
    """
    _check_tree(n, leaf_steps, K)
    if not 0 < number(gap, "gap") < 0.25:
        raise ValueError(f"gap is {gap}; it must lie in (0, ¼), or one visit may tell all")
    return leaf_steps * gap * K / 2 * (1 - 16 * gap**2) ** (K / (2 * (n - 1)))


def _check(delta: float, K: float = 1, **sizes: int) -> None:
    """Numbers of things, each at least 1, and a probability; K need not be whole."""
    for name, size in sizes.items():
        whole(size, name, at_most=LARGEST)
    number(K, "K", 1, MOST, "[]")
    if number(delta, "delta", 0, 1, ends="(]") < LEAST:
        raise ValueError(f"delta is {delta}; it must be at least {LEAST:g}")


def _check_tree(n: int, leaf_steps: float, K: float) -> None:
    """Leaves, and steps and episodes that need not be whole: they are rounded nowhere."""
    whole(n, "n", 2, LARGEST)
    number(leaf_steps, "leaf_steps", 0, MOST)
    number(K, "K", 0, MOST)


def _visits(n: ArrayLike) -> NDArray[np.float64]:
    return numbers(n, "n", 0, MOST, ends="[]")


def _root(numerator: ArrayLike, n: ArrayLike) -> NDArray[np.float64]:
    """√(numerator/n), infinite where n = 0."""
    n = np.asarray(n, np.float64)
    return np.sqrt(np.divide(numerator, n, out=np.full(n.shape, np.inf), where=n > 0))
