"""*Your own world*: tables, verdicts, the least risk, and the best policy within one."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safeteach.classroom.checking.kinds import (
    Counterexample,
    Exercise,
    Finding,
    Function,
    Slip,
    Value,
    by_name,
    not_yet,
    small_world,
)
from safeteach.classroom.checking.worlds import random_world, small_worlds
from safeteach.exchange.tables import from_table
from safeteach.planning.budgets import constrained_optimal
from safeteach.planning.evaluation import evaluate
from safeteach.planning.risk import least_risk
from safeteach.safety import doomed_until
from safeteach.worlds.mdp import SafeMDP

__all__ = ["EXERCISES"]

Record = dict[str, str | float]
Lake = tuple[list[str], float, int]

MOST_STATES, MOST_ACTIONS, MOST_STEPS = 3, 2, 4
WORTH = 0.1  # what memory must earn more
ROUNDING = 1e-9
MOST_TRIES = 50  # maps drawn in search of one with a risk
COLUMNS = ("state", "action", "next", "probability", "reward", "cost")


def _scooter(H: int) -> SafeMDP:
    """Riding, wobbling and fallen; steer or brake."""
    P = [[[0.8, 0.2, 0], [0.96, 0, 0.04]], [[0.7, 0, 0.3], [0.6, 0, 0.4]], [[0, 0, 1]] * 2]
    return SafeMDP(P, np.zeros((3, 2)), c=[0, 0, 1], tau=0.5, H=H)


def _risks(H: int = 3) -> tuple[float, ...]:
    risks = least_risk(_scooter(H)).risks
    return float(risks[1, 0]), float(risks[1, 1]), float(risks[0, 0])


def _stationary(k: int, rng: np.random.Generator) -> SafeMDP:
    return random_world(k - k % 2, rng)


def _stationary_worlds() -> Iterator[SafeMDP]:
    return (mdp for mdp in small_worlds() if mdp.stationary)


def _rows_of(table: list[Record]) -> NDArray[np.float64]:
    return from_table(table, H=1, tau=0.5).P[0]


def _table(k: int, rng: np.random.Generator) -> list[Record]:
    """A table in which some actions are missing in some states."""
    S, A = 2 + k // 20, 2 + k % 2
    rows: list[Record] = []
    for s in range(S):
        there = np.flatnonzero(rng.random(A) < 0.6)
        for a in there if there.size else [int(rng.integers(A))]:
            after = rng.permutation(S)[: 1 + int(rng.integers(2))]
            share = (1.0,) if len(after) == 1 else (0.75, 0.25)
            for t, p in zip(after.tolist(), share, strict=True):
                cells = f"state {s}", f"action {a}", f"state {t}", p, 0.0, 0.0
                rows.append(dict(zip(COLUMNS, cells, strict=True)))
    return rows


def _tables() -> Iterator[list[Record]]:
    for k in range(0, 60, 5):
        yield _table(k, np.random.default_rng(k))


def _fall(rows: list[str], slip: float, H: int) -> float:
    """The least probability of being in a hole, cell by cell and step by step."""
    letters = {(i, j): x for i, row in enumerate(rows) for j, x in enumerate(row)}
    ways = [(0, -1), (1, 0), (0, 1), (-1, 0)]  # each beside the two that it may slip to

    @functools.cache
    def risk(cell: tuple[int, int], left: int) -> float:
        if letters[cell] in "HG" or left == 1:
            return float(letters[cell] == "H")
        there = []
        for di, dj in ways:
            after = cell[0] + di, cell[1] + dj
            there.append(risk(after if after in letters else cell, left - 1))
        return min(
            (1 - slip) * there[d] + slip / 2 * (there[d - 1] + there[(d + 1) % 4]) for d in range(4)
        )

    return risk(next(cell for cell, x in letters.items() if x == "S"), H)


def _lake(k: int, rng: np.random.Generator) -> Lake:
    """A small map, a slip and a number of steps; in four of five there is a risk."""
    for _ in range(MOST_TRIES):
        n, m = 2 + int(rng.integers(3)), 2 + int(rng.integers(3))
        cells = rng.choice(list("FFHHG"), size=(n, m))
        cells.flat[rng.integers(n * m)] = "S"
        slip = float(rng.choice([0.1, 0.2, 0.4, 2 / 3, 0.8]))
        lake = ["".join(row) for row in cells], slip, 2 + k // 12
        if k % 5 == 0 or _fall(*lake) > 0:
            break
    return lake


def _lakes() -> Iterator[Lake]:
    yield ["SH"], 0.2, 2
    yield ["SF", "HF"], 0.2, 3
    yield ["SFH"], 0.0, 4
    yield ["SFG", "FHF"], 2 / 3, 4
    yield ["HSH", "HGH", "HHH"], 0.4, 4  # who reaches the goal is safe there
    for k in range(0, 60, 6):
        yield _lake(k, np.random.default_rng(k))


def _memory_earns_nothing(answer: object) -> Finding | None:
    """Say what a world lacks to break: at the least risk, who remembers nothing earns as much."""
    mdp = small_world(answer, MOST_STATES, MOST_STEPS, MOST_ACTIONS)
    if isinstance(mdp, Finding):
        return mdp
    if mdp.unsafe[mdp.s1]:
        return not_yet("It begins in an unsafe state, so its risk is 1 whatever is done.", mdp)
    least = least_risk(mdp).risk
    best = constrained_optimal(mdp, risk=least).value
    without = _best_without_memory(mdp, least)
    if best < without + WORTH - ROUNDING:
        return not_yet(
            f"At its least risk, {least:.3g}, the best policy that remembers earns {best:.3g} and "
            f"the best one that does not {without:.3g}.",
            mdp,
        )
    return None


def _best_without_memory(mdp: SafeMDP, least: float) -> float:
    """The most that a Markov policy of the least risk earns: one of those that do not randomise."""
    every = itertools.product(range(mdp.A), repeat=mdp.S * mdp.H)
    found = (evaluate(mdp, np.reshape(actions, (mdp.H, mdp.S))) for actions in every)
    return max(e.value for e in found if e.unsafe_probability <= least + ROUNDING)


def _grid_arguments(lake: Lake) -> dict[str, Any]:
    return {**by_name("rows", "slip", "H")(lake)}


EXERCISES: dict[str, Exercise] = {
    "by-hand": Value(
        asks="the least risks (riding with 2 steps, wobbling with 2 steps, riding with 3 steps)",
        hint="With one step to go only the fallen have a risk. With two, take for each action the "
        "mean of what comes after, and then the smaller of the two. With three, once more.",
        expected=_risks,
        slips=(
            Slip(lambda: _risks(4), "You count the state after the last step."),
            Slip(
                lambda: (*_risks()[:2], 0.2 * _risks()[1]),
                "In the third number you steer, as with two steps to go. Is braking better now?",
            ),
            Slip(lambda: (0.0, 1.0, 1.0), "Doomed is not lost: a risk lies between 0 and 1."),
        ),
    ),
    "how-long": Function(
        asks="a function longest_safe(mdp) that returns for how many steps, from 0 to mdp.H, a "
        "policy can be safe from s1",
        hint="In a world that does not change with the step, being at step h of H is the same as "
        "being at the first step with H - h + 1 to go.",
        oracle=lambda mdp: mdp.H - int(doomed_until(mdp)[mdp.s1]),
        instances=_stationary_worlds,
        draw=_stationary,
        arguments=lambda mdp: {"mdp": mdp},
    ),
    "find-the-bug": Function(
        asks="a function transitions_fixed(rows) that returns the (S, A, S) array of the "
        "transitions of a table",
        hint="What does the reader make of an action that a state does not have? Could the machine "
        "really do that?",
        oracle=_rows_of,
        instances=_tables,
        draw=_table,
        arguments=lambda rows: {"rows": rows},
        axes="SAS",
    ),
    "own-slip": Function(
        asks="a function risk_on_ice(rows, slip, H) that returns the least risk from the start of "
        "a map",
        hint="Make a state of each cell. Add up: two ways may end in the same cell, at the edge of "
        "the map for example. Holes and the goal hold.",
        oracle=_fall,
        instances=_lakes,
        draw=_lake,
        arguments=_grid_arguments,
    ),
    "memory": Counterexample(
        asks=f"a SafeMDP with at most {MOST_STATES} states, {MOST_ACTIONS} actions and "
        f"{MOST_STEPS} steps in which, at the least risk, who remembers earns at least {WORTH} "
        f"more",
        hint="You need a state that can be visited both before and after the first unsafe one, at "
        "the same step: before it the reward is not worth the risk, after it there is none.",
        missing=_memory_earns_nothing,
    ),
}
