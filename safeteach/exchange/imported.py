"""A world from outside, and what was done to it so that it is a safe MDP.

Outside, rewards may be any numbers, actions may be missing in some states, and an episode may
begin in several.  Here rewards lie in [0, 1], every state has the same actions, and there is one
start.  What is said differently is recorded, so that an answer can be said in the words of the
world it is about.

Taught in the chapter *Your own world*.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from safeteach.arguments import check_fits, frozen, number, numbers, whole_array
from safeteach.worlds.mdp import SafeMDP
from safeteach.worlds.reading import thin
from safeteach.worlds.rows import ranges

__all__ = [
    "LARGEST_REWARD",
    "Arrows",
    "ImportedMDP",
    "check_size",
    "imported",
    "is_one_table",
    "sum_rule",
]

LARGEST_REWARD = 1e300  # in size; the difference of two is still a number
ROUNDED = 1e-5  # by which a sum of numbers of seven digits may miss


class ImportedMDP(SafeMDP):
    r"""A safe MDP from outside, which remembers how it was translated.

    Rewards that all lie in [0, 1] stay what they are.  Others are mapped by one line, those of
    absorbing states and of an added first step too: the lowest becomes 0 and the highest 1.
    Every episode has H steps, so that best policies stay best and values can be mapped back.

    Attributes
    ----------
    low, high : float
        The rewards of the outside that are 0 and 1 here; 0.0 and 1.0 where nothing was mapped.
    stands_for : (S,) int array
        Which state of the outside each state is.  A state that was added for danger on the way,
        or for an episode's end, stands for the one that is reached; -1 is an added start.
    copied : (n, 3) int array
        Rows (s, a, b): outside, s has no action a; here it is a copy of its action b.

    Notes
    -----
    :func:`~safeteach.from_gymnasium`, :func:`~safeteach.from_table` and
    :func:`~safeteach.from_prism` make one.  The constructor takes what
    :class:`~safeteach.SafeMDP` takes, and its own attributes by name.

    Examples
    --------
    Two moves, each of which costs 3, or none:

    >>> import safeteach as st
    >>> rows = [{"state": "here", "action": "go", "next": "there", "probability": 1,
    ...          "reward": -3, "cost": 0},
    ...         {"state": "there", "action": "rest", "next": "there", "probability": 1,
    ...          "reward": 0, "cost": 0}]
    >>> world = st.from_table(rows, H=2, tau=0.5)
    >>> world.low, world.high, world.r[0].tolist()
    (-3.0, 0.0, [[0.0, 0.0], [1.0, 1.0]])
    >>> world.copied.tolist()                     # "here" cannot rest, "there" cannot go
    [[0, 1, 0], [1, 0, 1]]
    >>> plan = st.safe_optimal(world)
    >>> plan.value, float(world.outside(plan.value))
    (1.0, -3.0)
    """

    low: float
    high: float
    stands_for: NDArray[np.int64]
    copied: NDArray[np.int64]

    def __init__(
        self,
        *args: Any,
        low: float,
        high: float,
        stands_for: ArrayLike,
        copied: ArrayLike,
        **named: Any,
    ) -> None:
        self.low = float(number(low, "low"))
        self.high = float(number(high, "high", self.low))
        self.stands_for = whole_array(stands_for, "stands_for", len(np.atleast_1d(stands_for)))
        self.copied = whole_array(copied, "copied", len(np.atleast_1d(copied)), 3)
        super().__init__(*args, **named)
        if len(self.stands_for) != self.S:
            raise ValueError(f"stands_for has {len(self.stands_for)} states; expected S = {self.S}")

    def outside(self, x: ArrayLike, steps: ArrayLike | None = None) -> Any:
        """What a sum of rewards of this world is in rewards of the outside.

        Parameters
        ----------
        x : float or array
            Values, or rewards of episodes.  For a difference of values, such as regret, take
            ``steps=0``.
        steps : int or array, optional
            Over how many steps each is a sum; H by default.  V of a plan, (H + 1, S), has
            ``np.arange(H, -1, -1)[:, None]``.

        Returns
        -------
        float or array
            (high - low) x + steps · low.

        Examples
        --------
        >>> import safeteach as st
        >>> rows = [["door", "wait", "door", 1, -7, 0]]
        >>> columns = ["state", "action", "next", "probability", "reward", "cost"]
        >>> world = st.from_table([dict(zip(columns, row)) for row in rows], H=5, tau=0.5)
        >>> float(world.outside(st.optimal(world).value))
        -35.0
        """
        x = numbers(x, "x")
        return (self.high - self.low) * x + self.low * numbers(
            self.H if steps is None else steps, "steps", 0, ends="[)"
        )


class Arrows(NamedTuple):
    """The transitions of a world, one after the other, in any order and even twice.

    Attributes
    ----------
    state, action, successor : (n,) int arrays
    probability, reward : (n,) float arrays
        Probabilities above 0.
    """

    state: NDArray[np.int64]
    action: NDArray[np.int64]
    successor: NDArray[np.int64]
    probability: NDArray[np.float64]
    reward: NDArray[np.float64]

    @classmethod
    def of(cls, rows: list[tuple[int, int, int, float, float]]) -> Self:
        """The same from rows (s, a, t, probability, reward), at least one."""
        s, a, t, p, reward = zip(*rows, strict=True)
        numbers_of = np.array(p, np.float64), np.array(reward, np.float64)
        return cls(np.array(s, np.int64), np.array(a, np.int64), np.array(t, np.int64), *numbers_of)


def sum_rule(total: float) -> str:
    """What is to be said of probabilities that do not sum to 1.

    >>> sum_rule(0.9), sum_rule(1.00000003)
    ('must sum to 1', 'must sum to 1; were they float32, or rounded? Divide them by their sum')
    """
    hint = "; were they float32, or rounded? Divide them by their sum"
    return f"must sum to 1{hint if abs(total - 1) <= ROUNDED else ''}"


def check_size(S: int, A: int) -> None:
    """Refuse a world that would not fit once every state has every action."""
    check_fits((12, S, A), float, f"a world with each of A = {A} actions in each of S = {S} states")


def is_one_table(world: SafeMDP) -> bool:
    """Whether the same transitions and rewards serve all steps."""
    r = thin(world.r)
    return world.stationary and not (r != r[0]).any()


@dataclass(frozen=True)
class _Sparse:
    """Rows as scipy's csr_array keeps them, for who has no scipy."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int64]
    data: NDArray[np.float64]
    shape: tuple[int, int]
    format: str = "csr"

    tocsr = None  # by this name a sparse matrix is known; these rows need not be changed any more


def imported(
    arrows: Arrows, sizes: tuple[int, int], c: ArrayLike, tau: float, H: int, s1: int,
    stands_for: ArrayLike, states: Sequence[str], actions: Sequence[str],
) -> ImportedMDP:  # fmt: skip
    """A world from its arrows, whatever their rewards are and though some pairs have none.

    Parameters
    ----------
    arrows : Arrows
        At least one from each state; those of a pair have probabilities that sum to 1.
    sizes : (S, A)
    c, tau, H, s1, stands_for
        As of :class:`ImportedMDP`.
    states, actions : sequences of str
        Their names.  Numbers in their order are no names: they are what is called so anyway.
    """
    S, A = sizes
    check_size(S, A)
    pair = arrows.state * A + arrows.action
    order = np.lexsort((arrows.successor, pair))
    pair, t, p = pair[order], arrows.successor[order], arrows.probability[order]

    begin = np.flatnonzero(np.diff(pair, prepend=-1))  # of each pair that there is
    there, reward = pair[begin], arrows.reward[order]
    mean = np.clip(  # rewards that agree are their mean, to the last bit
        np.add.reduceat(p * reward, begin),
        np.minimum.reduceat(reward, begin),
        np.maximum.reduceat(reward, begin),
    )
    first = np.flatnonzero((np.diff(pair, prepend=-1) != 0) | (np.diff(t, prepend=-1) != 0))
    pair, t, p = pair[first], t[first], np.add.reduceat(p, first)

    available = np.zeros((S, A), np.bool_)
    available.ravel()[there] = True
    s, a = np.nonzero(~available)
    b = available.argmax(axis=1)[s]
    source = np.arange(S * A)
    source[s * A + a] = s * A + b

    length = np.bincount(pair, minlength=S * A)
    start = np.cumsum(length) - length
    arrows_here = int(length[source].sum())
    check_fits((6, arrows_here), float, f"a world whose copied actions make {arrows_here} arrows")
    taken = ranges(start[source], length[source])
    indptr = np.concatenate([[0], np.cumsum(length[source])])
    r = np.zeros(S * A)
    r[there] = mean
    low, high, r = _into_the_unit_interval(r[source])
    return ImportedMDP(
        _Sparse(indptr, t[taken], p[taken], (S * A, S)), r.reshape(S, A), c, tau, H, s1,
        low=low, high=high, stands_for=stands_for,
        copied=np.stack([s, a, b], axis=1),
        state_names=_given(states), action_names=_given(actions),
    )  # fmt: skip


def _given(names: Sequence[str]) -> Sequence[str] | None:
    return None if all(name == str(i) for i, name in enumerate(names)) else names


def _into_the_unit_interval(
    r: NDArray[np.float64],
) -> tuple[float, float, NDArray[np.float64]]:
    """Which rewards become 0 and 1, and all of them mapped."""
    low, high = float(r.min()), float(r.max())
    if low >= 0 and high <= 1:
        return 0.0, 1.0, frozen(r)
    if low == high:  # any scale will do
        high = low + max(1.0, abs(low))
    return low, high, frozen((r - low) / (high - low))
