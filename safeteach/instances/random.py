"""Random worlds from a seed: what tests, checkers and benchmarks throw at everything.

Taught in the chapter *MDPs you can run*.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from safeteach.arguments import check_fits, flag, number, read_seed, shown, whole
from safeteach.worlds.mdp import SafeMDP

__all__ = ["random_mdp"]

TAU = 0.5


def random_mdp(
    S: int,
    A: int,
    H: int,
    seed: int | np.random.Generator,
    successors: int = 3,
    unsafe: float = 0.2,
    stationary: bool = True,
) -> SafeMDP:
    """A random safe MDP: few successors a row, so that dooms are neither rare nor universal.

    ::

        (s, a) ──▶ between 1 and ``successors`` states, drawn without replacement,
                   with probabilities uniform on the simplex
        c(s)   ──▶ uniform on (tau, 1] with probability ``unsafe``, else on [0, tau]; tau = .5
        r      ──▶ uniform on [0, 1]
        s_1    ──▶ state 0, feasible or not: ask ``is_feasible``

    Parameters
    ----------
    S, A, H : int
        Numbers of states, actions and steps.
    seed : int, at least 0, or numpy Generator
        The same seed gives the same world, bit for bit.
    successors : int
        Largest number of successors of a pair, at most S.
    unsafe : float
        Probability in [0, 1] that a state is unsafe.
    stationary : bool
        One P and r for all steps, or one for each.

    Examples
    --------
    >>> import safeteach as st
    >>> st.instances.random_mdp(S=6, A=2, H=4, seed=3)
    SafeMDP(S=6, A=2, H=4, tau=0.5, s1=0, 2 unsafe states, stationary)
    """
    S, A, H, successors = check_sizes(
        {"S": S, "A": A, "H": H}, successors, unsafe, stationary
    )
    rng = read_seed(seed)
    c = random_costs(rng, S, unsafe)
    steps = 1 if stationary else H
    P = random_rows(rng, steps * S * A, S, successors).reshape(steps, S, A, S)
    r = rng.random((steps, S, A))
    return SafeMDP(P[0] if stationary else P, r[0] if stationary else r, c, TAU, H)


def check_sizes(
    sizes: dict[str, int], successors: int, unsafe: float, stationary: bool
) -> tuple[int, ...]:
    """The sizes and the successors, or a clear error for what no random world can have."""
    sizes = {name: whole(value, name) for name, value in sizes.items()}
    successors = whole(successors, "successors")
    if successors > sizes["S"]:
        raise ValueError(f"successors is {shown(successors)}; there are only {sizes['S']} states")
    number(unsafe, "unsafe", 0, 1, "[]", rule="a probability in [0, 1] is expected")
    told = ", ".join(f"{name}={shown(value)}" for name, value in sizes.items())
    steps = 1 if flag(stationary, "stationary") else sizes["H"]
    moves = [n for name, n in sizes.items() if name != "H"]
    # While it is made there are four of that size: rows, what is permuted, its copy, the world's.
    check_fits((4, steps, *moves, sizes["S"]), np.float64, f"drawing a world with {told}")
    return (*sizes.values(), successors)


def random_costs(rng: np.random.Generator, S: int, unsafe: float) -> NDArray[np.float64]:
    """(S,) costs: above TAU with probability ``unsafe``, uniform on either side of it."""
    dangerous = rng.random(S) < unsafe
    level = rng.random(S)
    return np.where(dangerous, 1 - (1 - TAU) * level, TAU * level)


def random_rows(
    rng: np.random.Generator, n: int, S: int, successors: int
) -> NDArray[np.float64]:
    """(n, S) rows with 1..successors positive entries that sum to 1."""
    weight = rng.exponential(size=(n, successors))
    weight[np.arange(successors) >= rng.integers(1, successors + 1, size=(n, 1))] = 0
    chosen = rng.permuted(np.broadcast_to(np.arange(S), (n, S)), axis=1)[:, :successors]
    rows = np.zeros((n, S))
    np.put_along_axis(rows, chosen, weight / weight.sum(axis=1, keepdims=True), axis=1)
    return rows
