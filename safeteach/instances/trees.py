r"""The trees of the two lower bounds: worlds that nobody can tell apart in time.

**Violation** (Theorem 5.1).  A tree in which each of A actions takes its own branch, ``depth``
times; its n = A^depth leaves are absorbing.  With H = 3·depth an episode spends its last
H' = 2·depth steps in one leaf.  Leaf 1 pays nothing and is safe; every other leaf pays 1 a step
and costs ½ + gap, which is above the threshold ½.  That is :math:`\tau_1`.  In :math:`\tau_j`
leaf j costs ½: it is safe, and the best.

**Regret** (Theorem 5.2).  A tree with A - 1 branches and n = (A-1)^depth leaves.  From leaf i a
branching action leads to ``sB``, which pays 1 a step, with probability p_i, and else to ``sA``,
which pays nothing; the last action leads to the unsafe ``sU``, which pays ½ + unsafe_gap.
Here p_1 = ½ + gap, in :math:`\tau_j` also p_j = ½ + 2·gap, and p_i = ½ for all others.  All three
are absorbing and are entered with H' = 2·depth - 1 steps to go.

States are numbered layer by layer from the root, 0.

Taught in the chapters *The violation lower bound* and *The regret lower bound*.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safeteach.arguments import check_fits, flag, frozen, number, numbered, shown, whole
from safeteach.worlds.mdp import SafeMDP

__all__ = ["TreeMDP", "regret_tree", "violation_tree"]

MOST_LEVELS = 62  # of two branches each: their leaves are counted by 64 bits


class TreeMDP(SafeMDP):
    """A tree of choices, as the proofs of the lower bounds use it.

    Attributes
    ----------
    leaves : (n,) int array
        The states of the leaves s_1 .. s_n; ``leaves[i-1]`` is s_i.
    special : int or None
        j of τ_j, from 2 to n; None of τ_1.
    degree : int
        How many branches leave each inner node.
    depth : int
        How many branchings an episode goes through.
    gap : float

    Notes
    -----
    :func:`violation_tree` and :func:`regret_tree` make one.  The constructor takes what
    :class:`~safeteach.SafeMDP` takes, and all attributes but the leaves by name.

    Examples
    --------
    >>> import safeteach as st
    >>> tree = st.instances.violation_tree(A=2, depth=2, gap=0.1)
    >>> tree.leaves, tree.parent(3), tree.special
    (array([3, 4, 5, 6]), 1, None)
    """

    leaves: NDArray[np.int64]
    special: int | None
    degree: int
    depth: int
    gap: float

    def __init__(
        self, *args: Any, degree: int, depth: int, gap: float, special: int | None, **named: Any
    ) -> None:
        self.degree = whole(degree, "degree", at_least=2)
        self.depth = whole(depth, "depth")
        n = _leaves(self.degree, self.depth)
        inner = (n - 1) // (self.degree - 1)
        self.leaves = frozen(np.arange(inner, inner + n))
        self.special = None if special is None else _special(special, n, "special")
        self.gap = _gap(gap)
        super().__init__(*args, **named)
        if inner + n > self.S:
            raise ValueError(
                f"degree and depth make {inner + n} nodes; expected at most S = {self.S}"
            )

    def parent(self, s: int) -> int:
        """The inner node above a node of the tree other than the root."""
        s = numbered(s, "s", "nodes with a parent", 1, int(self.leaves[-1]))
        return (s - 1) // self.degree


def violation_tree(A: int, depth: int, gap: float, j: int | None = None) -> TreeMDP:
    """The world τ_1 or τ_j of the violation lower bound.

    Parameters
    ----------
    A : int
        Actions and branches, at least 2.
    depth : int
        Layers of branching, at least 1; H = 3·depth and n = A^depth leaves.
    gap : float
        How far the cost of an unsafe leaf is above the threshold, in (0, ½].
    j : int, optional
        The leaf 2..n that is safe as well; none by default.

    Examples
    --------
    >>> import safeteach as st
    >>> tau_1 = st.instances.violation_tree(A=2, depth=2, gap=0.1)
    >>> tau_1
    TreeMDP(S=7, A=2, H=6, tau=0.5, s1=0, 3 unsafe states, stationary)
    >>> st.safe_optimal(tau_1).value, st.optimal(tau_1).value
    (0.0, 4.0)
    >>> st.safe_optimal(st.instances.violation_tree(A=2, depth=2, gap=0.1, j=3)).value
    4.0
    """
    A, depth, gap, n = _check_tree(A, 0, depth, gap, j)
    P, leaves = _branches(degree=A, actions=A, n=n, others=0)
    P[leaves, :, leaves] = 1.0
    r, c = np.zeros((len(P), A)), np.zeros(len(P))
    r[leaves[1:]] = 1.0
    c[leaves] = 0.5 + gap
    c[leaves[0]] = 0.5
    if j is not None:
        c[leaves[j - 1]] = 0.5
    names = _names(leaves)
    actions = [f"a{a + 1}" for a in range(A)]
    return TreeMDP(
        P, r, c, 0.5, 3 * depth, state_names=names, action_names=actions,
        degree=A, depth=depth, gap=gap, special=j,
    )  # fmt: skip


def regret_tree(
    A: int,
    depth: int,
    gap: float,
    unsafe_gap: float,
    j: int | None = None,
    printed: bool = False,
) -> TreeMDP:
    """The world τ_1 or τ_j of the regret lower bound.

    Parameters
    ----------
    A : int
        Actions, at least 3: A - 1 that branch and one that leads to ``sU``.
    depth : int
        Layers of branching, at least 1; H = 3·depth and n = (A-1)^depth leaves.
    gap : float
        By how much leaf 1 beats a fair coin, in (0, ½); leaf j beats it by twice as much, so
        that with a j the gap is at most ¼.
    unsafe_gap : float
        ``sU`` pays ½ + unsafe_gap, in [0, ½].
    j : int, optional
        The leaf 2..n that is better than leaf 1; none by default.
    printed : bool
        Whether the last action leads to ``sU`` from every node of the tree, as the paper has it.
        By default it does so from the leaves only; in an inner node it takes the first branch.

    Examples
    --------
    >>> import safeteach as st
    >>> tau_1 = st.instances.regret_tree(A=3, depth=3, gap=0.01, unsafe_gap=0.05)
    >>> tau_1
    TreeMDP(S=18, A=3, H=9, tau=0, s1=0, 1 unsafe state, stationary)
    >>> round(st.safe_optimal(tau_1).value, 6), round(st.optimal(tau_1).value, 6)
    (2.55, 2.75)
    """
    A, depth, gap, n = _check_tree(A, 1, depth, gap, j)
    flag(printed, "printed")
    if j is not None and gap > 0.25:
        raise ValueError(f"gap is {gap}; leaf j wins with ½ + 2·gap, so it must be at most ¼")
    rule = "sU pays ½ + unsafe_gap, at most 1"
    unsafe_gap = float(number(unsafe_gap, "unsafe_gap", 0, 0.5, "[]", rule))
    P, leaves = _branches(degree=A - 1, actions=A, n=n, others=3)
    sA, sB, sU = range(len(P) - 3, len(P))
    win = np.full(n, 0.5)
    win[0] += gap
    if j is not None:
        win[j - 1] += 2 * gap
    P[leaves, :, sB] = win[:, None]
    P[leaves, :, sA] = 1 - win[:, None]
    P[leaves[0] if not printed else 0 : sA, -1] = 0.0
    P[leaves[0] if not printed else 0 : sA, -1, sU] = 1.0
    P[[sA, sB, sU], :, [sA, sB, sU]] = 1.0
    r, c = np.zeros((len(P), A)), np.zeros(len(P))
    r[sB], r[sU], c[sU] = 1.0, 0.5 + unsafe_gap, 1.0
    names = [*_names(leaves), "sA", "sB", "sU"]
    actions = [f"a{a + 1}" for a in range(A)]
    return TreeMDP(
        P, r, c, 0.0, 3 * depth, state_names=names, action_names=actions,
        degree=A - 1, depth=depth, gap=gap, special=j,
    )  # fmt: skip


def _check_tree(
    A: int, extra: int, depth: int, gap: float, j: int | None
) -> tuple[int, int, float, int]:
    """A, depth, gap and the number of leaves, once they make sense; ``extra`` do not branch."""
    A = whole(A, "A", at_least=2 + extra)
    depth = whole(depth, "depth")
    gap = _gap(gap)
    n = _leaves(A - extra, depth)
    if j is not None:
        _special(j, n, "j")
    S = (n - 1) // (A - extra - 1) + n
    check_fits((S, A, S), np.float64, f"a tree with A = {A} and depth = {depth}")
    return A, depth, gap, n


def _gap(value: float) -> float:
    return float(number(value, "gap", 0, 0.5, "(]", rule="it must lie in (0, ½]"))


def _leaves(degree: int, depth: int) -> int:
    """How many leaves there are, if they can be counted."""
    if depth > MOST_LEVELS or depth * math.log2(degree) > MOST_LEVELS:
        raise ValueError(
            f"depth is {shown(depth)}; with {shown(degree)} branches at each node (A, or degree) "
            f"there are too many leaves to count"
        )
    return degree**depth


def _special(j: int, n: int, name: str) -> int:
    if isinstance(j, bool) or not isinstance(j, int | np.integer):
        raise TypeError(f"{name} is {shown(j)}; expected a whole number, or None for the world τ_1")
    return numbered(j, name, "leaves that may be special", 2, n)


def _branches(
    degree: int, actions: int, n: int, others: int
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """P with the inner nodes filled in, and the leaves.

    Child a of node s has number ``degree*s + a + 1``; an action beyond the branches takes the
    first one.
    """
    inner = (n - 1) // (degree - 1)
    S = inner + n + others
    P = np.zeros((S, actions, S))
    for s in range(inner):
        for a in range(actions):
            P[s, a, degree * s + 1 + (a if a < degree else 0)] = 1.0
    return P, np.arange(inner, inner + n)


def _names(leaves: NDArray[np.int64]) -> list[str]:
    """Names of the nodes: root, n1, n2, ... and the leaves s1 .. sn."""
    inner = ["root", *(f"n{s}" for s in range(1, leaves[0]))]
    return [*inner, *(f"s{i + 1}" for i in range(len(leaves)))]
