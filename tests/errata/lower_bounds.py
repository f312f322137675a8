"""Slips in the proofs of Theorems 5.1 and 5.2 (Appendices B.3 and B.4).

How to read these classes is said in ``model.py``.
"""

import itertools
import math

import numpy as np

import safeteach as st
from safeteach.divergence import kl_bernoulli

GAP, UNSAFE_GAP = 0.02, 0.06


def regret_trees(**more):
    """The first tree of Theorem 5.2 in several sizes, with the depth of each."""
    return [
        (d, st.instances.regret_tree(A, d, GAP, UNSAFE_GAP, **more))
        for A, d in [(3, 1), (3, 2), (3, 3), (4, 2)]
    ]


class SafeOptimum:
    """What the best safe policy of τ_j is worth: H, or 2H/3."""

    def holds(worth):
        trees = [st.instances.violation_tree(A, d, 0.1, 2) for A, d in [(2, 1), (2, 3), (3, 2)]]
        return all(np.isclose(st.safe_optimal(tree).value, worth(tree.H)) for tree in trees)

    def printed():
        return SafeOptimum.holds(lambda H: H)

    def corrected():
        return SafeOptimum.holds(lambda H: 2 * H / 3)


class MisplacedBar:
    """The gap of Theorem 5.1's trees is at most ½ for n ≤ KH'."""

    def holds(gap):
        sizes = itertools.product((2, 10, 1_000), (1_000, 10**6), (2, 20))
        return all(gap(n, K, H) <= 0.5 for n, K, H in sizes)

    def printed():
        return MisplacedBar.holds(lambda n, K, H: math.sqrt(n - 1 / (4 * K * H)))

    def corrected():
        return MisplacedBar.holds(lambda n, K, H: math.sqrt((n - 1) / (4 * K * H)))


class Coin:
    """KL(½, ½ + 2Δ) is at most 2Δ²; or it is -½ ln(1 - 16Δ²)."""

    GAPS = np.linspace(0.001, 0.249, 100)

    def printed():
        return (kl_bernoulli(0.5, 0.5 + 2 * Coin.GAPS) <= 2 * Coin.GAPS**2).any()

    def corrected():
        exact = -np.log1p(-16 * Coin.GAPS**2) / 2
        return np.allclose(kl_bernoulli(0.5, 0.5 + 2 * Coin.GAPS), exact, rtol=1e-9)


class Tree:
    """A unit of violation buys back at most Δ' of regret in τ_1, for all who go at once to s_U."""

    def holds(printed):
        for d, tree in regret_trees(printed=printed):
            danger = np.full((tree.H, tree.S), tree.A - 1)
            done = st.evaluate(tree, danger)
            regret = st.safe_optimal(tree).value - done.value
            if regret < (2 * d - 1) * GAP - UNSAFE_GAP * done.violation - 1e-9:
                return False
        return True

    def printed():
        return Tree.holds(printed=True)

    def corrected():
        return Tree.holds(printed=False)


class LeafSteps:
    """Behind a door an episode has 2H/3 steps; or one less."""

    def holds(steps):
        return all(
            np.isclose(st.safe_optimal(tree).value, steps(tree.H) * (0.5 + GAP))
            for _, tree in regret_trees()
        )

    def printed():
        return LeafSteps.holds(lambda H: 2 * H / 3)

    def corrected():
        return LeafSteps.holds(lambda H: 2 * H / 3 - 1)


class LeafIndex:
    """The lines that define τ_1 say one thing about each probability."""

    def agree(last):
        said = {("A", 1): 0.5 - GAP, ("B", 1): 0.5 + GAP, ("A", 2): 0.5}
        return said.setdefault(("B", last), 0.5) == 0.5 and ("B", 2) in said

    def printed():
        return LeafIndex.agree(last=1)

    def corrected():
        return LeafIndex.agree(last=2)


class SmallestGap:
    """Every positive gap is at least H'(Δ' - 2Δ); or every one at a state that can be reached."""

    def holds(everywhere):
        for d, tree in regret_trees(j=2):
            plan, here = st.optimal(tree), np.eye(tree.S, dtype=bool)[tree.s1]
            for i in range(tree.H):
                gaps = (plan.V[i][:, None] - plan.Q[i])[slice(None) if everywhere else here]
                if (gaps[gaps > 1e-9] < (2 * d - 1) * (UNSAFE_GAP - 2 * GAP) - 1e-9).any():
                    return False
                here = (tree.P[i] > 0)[here].any(axis=(0, 1))
        return True

    def printed():
        return SmallestGap.holds(everywhere=True)

    def corrected():
        return SmallestGap.holds(everywhere=False)


class OneOfTwo:
    """Of two probabilities with sum ≥ 1/(2e) one is at least that; or half of it."""

    def holds(least):
        total = 1 / (2 * math.e)
        return all(max(share, total - share) >= least for share in np.linspace(0, total, 101))

    def printed():
        return OneOfTwo.holds(1 / (2 * math.e))

    def corrected():
        return OneOfTwo.holds(1 / (4 * math.e))
