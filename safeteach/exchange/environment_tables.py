"""Worlds from Gymnasium's tabular environments: what their tables say, made safe MDPs.

A table ``P[s][a]`` lists outcomes ``(probability, next state, reward, whether the episode ends)``.
What it says and a safe MDP does not is said with states:

- A state in which an episode ends is absorbing, with reward 0.
- An outcome that is dangerous by itself, not by where it leads, gets a state of its own, which is
  unsafe and from which everything goes on as from the state that it stands for.
- Several starts become one more step, the first, with reward 0.

Gymnasium itself is not needed here: any object with such a table will do.  Taught in the
chapter *Your own world*.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from safeteach.arguments import flag, number, numbered, numbers, shown, whole
from safeteach.exchange.imported import (
    LARGEST_REWARD,
    Arrows,
    ImportedMDP,
    check_size,
    imported,
    sum_rule,
)
from safeteach.worlds.mdp import SafeMDP
from safeteach.worlds.reading import ROW_SUM_TOLERANCE

__all__ = ["from_gymnasium"]

Danger = Callable[[int, int, int, float], bool]
Row = tuple[int, int, int, float, float]  # s, a, t, probability, reward
Added = tuple[int, bool, bool]  # the state that it stands for, whether unsafe, whether absorbing


class Outcome(NamedTuple):
    """One entry of a table, with the pair that it belongs to."""

    s: int
    a: int
    p: float
    t: int
    reward: float
    ends: bool


def from_gymnasium(
    env: Any,
    unsafe: Any = None,
    H: int | None = None,
    tau: float | None = None,
) -> ImportedMDP:
    """A world from a tabular environment of Gymnasium.

    Parameters
    ----------
    env : environment
        With a table ``env.unwrapped.P`` and ``env.unwrapped.initial_state_distrib``, as
        FrozenLake, CliffWalking and Taxi have them.  Wrappers, a time limit too, do not count.
    unsafe : sequence of int, str, or function
        What costs 1; all else costs 0.  Some states; or letters of the environment's map, such
        as ``"H"`` for the holes of FrozenLake; or a function of an outcome, ``unsafe(s, a, t,
        reward) -> bool``, where the danger is on the way and not where it leads.  May be left out
        for an environment that :func:`~safeteach.to_gymnasium` has made: then costs, names and
        what else is not given are those of its world.
    H : int
        Number of steps.
    tau : float, optional
        Threshold of the cost in [0, 1); 0.5 by default.

    Returns
    -------
    ImportedMDP
        With the environment's states by their numbers, and then those that had to be added
        (``stands_for`` says which they stand for).  With several starts, each drawn with its
        probability, its H is one more and so is its number of states: in the first step, which
        pays nothing, any action leads to one of them.

    Notes
    -----
    The table is taken at its word: what ``step`` does and the table does not say is not in the
    world.  A Taxi with ``fickle_passenger=True`` is known to do so, and is refused.

    A state in which some outcome ends the episode is absorbing, unless an episode can also pass
    through it: then the end is a state of its own.  An unsafe end costs its violation at every
    step that is left.  What the last step leads to costs nothing: who wants n steps without
    danger, the last one's included, asks for H = n + 1.  An action that a state lacks is a copy
    of its first one; ``copied`` says which.

    Examples
    --------
    A lake: may one cross it and never fall in?

    >>> import gymnasium
    >>> import safeteach as st
    >>> lake = gymnasium.make("FrozenLake-v1", is_slippery=False)
    >>> world = st.from_gymnasium(lake, unsafe="H", H=6)
    >>> world
    ImportedMDP(S=16, A=4, H=6, tau=0.5, s1=0, 4 unsafe states, stationary)
    >>> st.safe_optimal(world).value              # it pays 1 to arrive
    1.0

    A cliff: who steps off it is back at the start and pays 100, and where that leads is harmless.
    So the fall has a state of its own, the last.

    >>> cliff = gymnasium.make("CliffWalking-v1")
    >>> world = st.from_gymnasium(cliff, unsafe=lambda s, a, t, reward: reward == -100, H=15)
    >>> world.S, world.state_name(48), world.stands_for[48]
    (49, '36, unsafe', np.int64(36))
    >>> round(float(world.outside(st.safe_optimal(world).value)), 6)
    -13.0
    """
    base = getattr(env, "unwrapped", env)
    own = getattr(base, "world", None)
    table = _read_table(base)
    S, A = 1 + max(x.s for x in table), 1 + max(x.a for x in table)
    check_size(S, A)
    starts = _read_starts(base, S)
    names = [str(s) for s in range(S)]
    actions = [str(a) for a in range(A)]
    danger: Danger = _never
    if isinstance(own, SafeMDP) and unsafe is None:
        H, tau = own.H if H is None else H, own.tau if tau is None else tau
        costs = own.c.tolist()
        names = [own.state_name(s) for s in range(S)]
        actions = [own.action_name(a) for a in range(A)]
    else:
        tau = 0.5 if tau is None else tau
        number(tau, "tau", 0, 1, "[)", rule="in [0, 1) what is unsafe, whose cost is 1, is unsafe")
        costs, danger = _read_unsafe(unsafe, base, S)
    H = whole(H, "H")

    rows, added = _unfold(table, starts, danger)
    costs += [1.0 if unsafe else costs[t] for t, unsafe, _ in added]
    names += [names[t] + ", unsafe" * unsafe + ", over" * over for t, unsafe, over in added]
    stands_for = [*range(S), *(t for t, _, _ in added)]
    drawn = np.flatnonzero(starts).tolist()
    s1 = drawn[0]
    if len(drawn) > 1:
        s1, H = len(costs), H + 1
        rows += [(s1, a, t, float(starts[t]), 0.0) for a in range(A) for t in drawn]
        costs, names, stands_for = [*costs, 0.0], [*names, "start"], [*stands_for, -1]
    return imported(Arrows.of(rows), (len(costs), A), costs, tau, H, s1, stands_for, names, actions)


def _read_table(base: Any) -> list[Outcome]:
    """All outcomes of all pairs, checked."""
    P = getattr(base, "P", None)
    if not isinstance(P, Mapping | list | tuple) or not P:
        raise TypeError(
            f"env is {shown(base)}; expected an environment with a table, env.unwrapped.P[s][a] = "
            f"[(probability, next state, reward, ends), ...]"
        )
    if getattr(base, "fickle_passenger", False) is True:
        raise ValueError(
            "env has fickle_passenger=True, of which its table env.unwrapped.P says nothing; "
            "expected an environment that moves as its table says"
        )
    table = []
    for s, there in _entries(P, "env.unwrapped.P", len(P)):
        for a, outcomes in _entries(there, f"env.unwrapped.P[{s}]"):
            table += _read_outcomes(outcomes, s, a, len(P))
    return table


def _entries(given: Any, place: str, n: int | None = None) -> list[tuple[int, Any]]:
    """The numbered parts of a table, increasing; all of 0..n-1 where n says so."""
    if not isinstance(given, Mapping | list | tuple) or not given:
        raise TypeError(f"{place} is {shown(given)}; expected a dict with a key for each number")
    pairs = given.items() if isinstance(given, Mapping) else enumerate(given)
    found = sorted(((whole(i, f"a key of {place}", 0), x) for i, x in pairs), key=lambda y: y[0])
    if n is not None and found[-1][0] != n - 1:
        raise ValueError(f"{place} has {n} keys, up to {found[-1][0]}; expected 0..{n - 1}")
    return found


def _read_outcomes(outcomes: Any, s: int, a: int, S: int) -> list[Outcome]:
    place = f"env.unwrapped.P[{s}][{a}]"
    if not isinstance(outcomes, list | tuple) or not outcomes:
        raise TypeError(f"{place} is {shown(outcomes)}; expected a list of outcomes")
    read = []
    for i, outcome in enumerate(outcomes):
        here = f"{place}[{i}]"
        if not isinstance(outcome, list | tuple) or len(outcome) != 4:
            raise TypeError(
                f"{here} is {shown(outcome)}; expected (probability, next state, reward, ends)"
            )
        p, t, reward, ends = outcome
        p = float(number(p, f"{here}[0]", 0, 1 + ROW_SUM_TOLERANCE, "[]"))
        t = numbered(t, f"{here}[1]", "states", 0, S - 1)
        reward = float(number(reward, f"{here}[2]", -LARGEST_REWARD, LARGEST_REWARD))
        read.append(Outcome(s, a, p, t, reward, flag(ends, f"{here}[3]")))
    total = sum(x.p for x in read)
    if abs(total - 1) > ROW_SUM_TOLERANCE:
        raise ValueError(f"{place} sums to {total:.12g}; its probabilities {sum_rule(total)}")
    return [x for x in read if x.p > 0]


def _read_starts(base: Any, S: int) -> NDArray[np.float64]:
    """The probability of each start, (S,)."""
    name = "env.unwrapped.initial_state_distrib"
    given = getattr(base, "initial_state_distrib", None)
    if given is None:
        raise TypeError(f"{name} is None; expected (S,) = {(S,)} probabilities of the first state")
    starts = numbers(given, name, 0, 1, "[]")
    if starts.shape != (S,) or abs(starts.sum() - 1) > ROW_SUM_TOLERANCE:
        raise ValueError(
            f"{name} has shape {starts.shape} and sums to {starts.sum():.12g}; expected "
            f"(S,) = {(S,)} probabilities that sum to 1"
        )
    return starts


def _read_unsafe(unsafe: Any, base: Any, S: int) -> tuple[list[float], Danger]:
    """The cost of each state, and whether an outcome is dangerous by itself."""
    if callable(unsafe):
        return [0.0] * S, unsafe
    if isinstance(unsafe, str):
        return _of_letters(unsafe, base, S), _never
    if unsafe is None or isinstance(unsafe, bytes | dict) or not np.iterable(unsafe):
        raise TypeError(
            f"unsafe is {shown(unsafe)}; expected several states, letters of the map of env, or a "
            f"function of (s, a, t, reward)"
        )
    costs = [0.0] * S
    for i, s in enumerate(unsafe):
        costs[numbered(s, f"unsafe[{i}]", "states", 0, S - 1)] = 1.0
    return costs, _never


def _of_letters(letters: str, base: Any, S: int) -> list[float]:
    """Cost 1 for the cells of a map that have one of several letters."""
    desc = np.asarray(getattr(base, "desc", None))
    if desc.dtype.kind != "S" or desc.size != S:
        raise ValueError(
            f"unsafe is {shown(letters)}, and env has no map with a letter for each of its {S} "
            f"states; expected states, or a function of (s, a, t, reward)"
        )
    cells = [cell.decode("latin-1") for cell in desc.ravel().tolist()]
    strange = [letter for letter in letters if letter not in cells]
    if strange or not letters:
        there = "".join(sorted(set(cells)))
        raise ValueError(
            f"unsafe is {shown(letters)}; expected letters of the map of env, which are {there}"
        )
    return [float(cell in letters) for cell in cells]


def _never(_s: int, _a: int, _t: int, _reward: float) -> bool:
    return False


def _unfold(
    table: list[Outcome], starts: NDArray[np.float64], danger: Danger
) -> tuple[list[Row], list[Added]]:
    """The rows (s, a, t, probability, reward) of a world, and the states that were added to it.

    They have the numbers from S on, in the order in which the table leads to them.
    """
    S = len(starts)
    onward: dict[int, list[Outcome]] = {s: [] for s in range(S)}
    for x in table:
        onward[x.s].append(x)
    passed = _passed(onward, np.flatnonzero(starts).tolist())
    over = {x.t for x in table if x.ends} - passed
    number_of: dict[Added, int] = {}

    def target(x: Outcome) -> int:
        ends = x.t in over or x.ends
        name = f"unsafe({x.s}, {x.a}, {x.t}, {x.reward:g})"
        unsafe = flag(danger(x.s, x.a, x.t, x.reward), name)
        if not unsafe and (x.t in over or not x.ends):
            return x.t
        return number_of.setdefault((x.t, unsafe, ends), S + len(number_of))

    actions = sorted({x.a for x in table})
    rows: list[Row] = []
    moves: dict[int, list[tuple[int, int, float, float]]] = {}
    for s in range(S):
        if s in over:
            rows += [(s, a, s, 1.0, 0.0) for a in actions]
        else:
            moves[s] = [(x.a, target(x), x.p, x.reward) for x in onward[s]]
            rows += [(s, *move) for move in moves[s]]
    for (t, _, ends), s in number_of.items():
        if ends:
            rows += [(s, a, s, 1.0, 0.0) for a in actions]
        else:
            rows += [(s, *move) for move in moves[t]]
    return rows, [*number_of]


def _passed(onward: dict[int, list[Outcome]], starts: list[int]) -> set[int]:
    """The states in which an episode can be and go on."""
    passed, waiting = set(starts), list(starts)
    while waiting:
        for x in onward[waiting.pop()]:
            if not x.ends and x.t not in passed:
                passed.add(x.t)
                waiting.append(x.t)
    return passed
