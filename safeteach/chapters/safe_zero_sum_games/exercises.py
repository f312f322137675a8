r"""*Safe zero-sum games*: doom with an adversary, matrix games, the safe minimax."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from safeteach.classroom.checking import compiling
from safeteach.classroom.checking.forms import form_of, is_whole
from safeteach.classroom.checking.kinds import (
    Counterexample,
    Exercise,
    Finding,
    Function,
    Slip,
    Value,
    not_yet,
)
from safeteach.planning.induction import safe_optimal
from safeteach.safety import is_feasible, potentially_unsafe, safe_actions
from safeteach.worlds.games import SafeGame

__all__ = ["EXERCISES"]

# 17.1 and 17.5 --------------------------------------------------------------------------------

# MARSH[s][a][b] is where the agent goes from s; state 4 is the water.
MARSH = (
    ((1, 1), (2, 2)),
    ((3, 1), (1, 3)),
    ((2, 1), (3, 3)),
    ((4, 2), (2, 4)),
    ((0, 0), (0, 0)),
)
STEPS, LOST = 4, 2


def _marsh(H: int = STEPS) -> SafeGame:
    P = np.eye(5)[np.array(MARSH)]
    return SafeGame(P, np.zeros((5, 2, 2)), c=[0, 0, 0, 0, 1], tau=0.5, H=H)


def _lost(H: int = STEPS) -> frozenset[int]:
    """U_1 of the marsh with H steps."""
    return frozenset(np.flatnonzero(potentially_unsafe(_marsh(H))[0]).tolist())


def _no_witness(answer: object) -> Finding | None:
    """Say what a table of answers lacks to show that the state is lost from step 1 on."""
    if not isinstance(answer, dict):
        return not_yet(f"Expected a dict, got {form_of(answer)}.")
    game, table = _marsh(), {}
    for key, pairs in answer.items():
        if not _whole(key, 2):
            return not_yet(f"The key {key!r} is no pair (h, s) of a step and a state.")
        if not isinstance(pairs, tuple | list) or len(pairs) not in (0, game.A):
            return not_yet(f"At {key!r} stands {pairs!r}; a pair (b, t) for each action is asked.")
        if not all(_whole(pair, 2) for pair in pairs):
            return not_yet(f"At {key!r} stands {pairs!r}; (b, t) are a reply and a state.")
        table[int(key[0]), int(key[1])] = [(int(b), int(t)) for b, t in pairs]
    to_show, shown = [(1, LOST)], set()
    while to_show:
        h, s = to_show.pop()
        if game.unsafe[s] or (h, s) in shown:
            continue
        if h >= game.H:
            return not_yet(
                f"State {s} at step {h} is safe, and the episode ends there: this way the "
                f"adversary never gets the agent into the water."
            )
        if not table.get((h, s)):
            return not_yet(f"There is no answer for state {s} at step {h}, which you need.")
        shown.add((h, s))
        for a, (b, t) in enumerate(table[h, s]):
            if not 0 <= b < game.B or not 0 <= t < game.S:
                return not_yet(f"At {(h, s)}: replies are 0 and 1, states 0 to 4, not {(b, t)}.")
            if t not in game.successors(h, s, a, b):
                return not_yet(
                    f"From state {s}, action {a} against reply {b} does not lead to {t}."
                )
            to_show.append((h + 1, t))
    return None


def _whole(value: object, length: int) -> bool:
    return isinstance(value, tuple | list) and len(value) == length and all(map(is_whole, value))


# 17.2 -----------------------------------------------------------------------------------------

TABLE = ((4.0, 0.0), (1.0, 3.0), (5.0, 5.0))  # the last row is banned


def _by_hand() -> tuple[float, float, float]:
    """The value, the chance of the first row and that of the first column."""
    (a, b), (c, d) = TABLE[:2]
    all_four = a + d - b - c
    return (a * d - b * c) / all_four, (d - c) / all_four, (d - b) / all_four


# 17.3 -----------------------------------------------------------------------------------------


def _exploitability(
    matrix: NDArray[np.float64],
    banned: NDArray[np.bool_],
    row: NDArray[np.float64],
    column: NDArray[np.float64],
) -> float:
    by_row = np.where(banned, -math.inf, matrix @ column)
    return float(np.max(by_row) - np.min(row @ matrix))


def _pairs() -> Iterator[dict[str, Any]]:
    """Yield matrices with banned rows and a strategy of each side, from one entry to several."""

    def case(matrix: Any, banned: list[bool], row: Any, column: Any) -> dict[str, Any]:
        strategies = {"row": np.array(row, float), "column": np.array(column, float)}
        return {"matrix": np.array(matrix, float), "banned": np.array(banned)} | strategies

    none, pennies = [False, False], np.eye(2)
    yield case([[2]], [False], [1], [1])
    yield case(pennies, none, [0.5, 0.5], [0.5, 0.5])
    yield case(pennies, none, [1, 0], [1, 0])
    yield case([[1, -2, 0]], [False], [1], [0.5, 0.5, 0])
    yield case([[1], [2]], [False, True], [1, 0], [1])  # the banned row pays more
    yield case([[1], [0]], [False, True], [1, 0], [1])  # ... or less
    yield case([*pennies, [1, 1]], [*none, True], [0.5, 0.5, 0], [0.5, 0.5])
    for k in range(30):
        yield _pair(k, np.random.default_rng(k))


def _pair(k: int, rng: np.random.Generator) -> dict[str, Any]:
    m, n = rng.integers(1, 5, size=2)
    banned = rng.random(m) < (0.0, 0.4, 0.7)[k % 3]
    banned[rng.integers(m)] = False
    row = np.where(banned, 0.0, rng.exponential(size=m))
    return {
        "matrix": rng.integers(-4, 5, size=(m, n)).astype(float),
        "banned": banned,
        "row": row / row.sum(),
        "column": rng.dirichlet(np.ones(n)),
    }


# 17.4 -----------------------------------------------------------------------------------------


def _one_step_back(
    possible: NDArray[np.bool_], unsafe: NDArray[np.bool_], lost: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    touches: NDArray[np.bool_] = np.any(possible & lost, axis=(2, 3))  # (S, A): by some reply
    return unsafe | np.all(touches, axis=1)


def _steps() -> Iterator[dict[str, Any]]:
    """Yield supports (S, A, B, S), unsafe states and U_{h+1}, from the smallest on."""

    def case(moves: Any, unsafe: list[int], lost: list[int]) -> dict[str, Any]:
        to = np.array(moves)
        S = len(to)
        states = np.arange(S)
        return {
            "possible": np.eye(S, dtype=bool)[to],
            "unsafe": np.isin(states, unsafe),
            "lost": np.isin(states, lost),
        }

    yield case([[[0]]], [], [])
    yield case([[[1]], [[1]]], [1], [1])
    yield case([[[0]], [[0]]], [1], [1])  # an unsafe state that leads to safety
    yield case([[[0, 1]], [[1, 1]]], [1], [1])  # one reply in two is bad
    yield case([[[0], [1]], [[1], [1]]], [1], [1])  # one action in two is bad
    yield case([[[0, 1], [1, 0]], [[1, 1], [1, 1]]], [1], [1])  # each action has its own bad reply
    yield case([[[1]], [[1]]], [], [1])  # lost later, not unsafe
    yield case([[[0]], [[0]]], [], [1])  # lost later, with a way out now
    for k in range(40):
        yield _step(k, np.random.default_rng(k))


def _step(k: int, rng: np.random.Generator) -> dict[str, Any]:
    S, A, B = 2 + k // 14, 1 + k % 3, 1 + k // 3 % 3
    possible = rng.random((S, A, B, S)) < 0.35
    possible |= np.eye(S, dtype=bool)[rng.integers(S, size=(S, A, B))]
    unsafe = rng.random(S) < 0.25
    lost = unsafe | (rng.random(S) < 0.3)
    return {"possible": possible, "unsafe": unsafe, "lost": lost}


# 17.6 -----------------------------------------------------------------------------------------


def _state_value(Q: NDArray[np.float64], banned: NDArray[np.bool_]) -> float:
    from safeteach.planning.matrix_games import game_value  # compiled: loaded when first needed

    return game_value(Q if banned.all() else Q[~banned]).value


def _planned() -> Iterator[dict[str, Any]]:
    """Yield Q of one state and which rows are banned: none, some, all."""
    pennies = np.eye(2)
    yield {"Q": np.array([[1.0]]), "banned": np.array([False])}
    yield {"Q": np.array([[1.0]]), "banned": np.array([True])}
    yield {"Q": np.array([[1.0], [2.0]]), "banned": np.array([False, True])}
    yield {"Q": pennies, "banned": np.array([False, False])}
    yield {"Q": np.vstack([pennies, [0.75, 0.75]]), "banned": np.array([False, False, True])}
    yield {"Q": pennies, "banned": np.array([True, True])}
    for k in range(30):
        yield _plan(k, np.random.default_rng(k))


def _plan(k: int, rng: np.random.Generator) -> dict[str, Any]:
    m, n = 2 + k % 3, 1 + k % 4
    banned = rng.random(m) < (0.0, 0.4, 0.4, 1.0)[k % 4]
    return {"Q": rng.integers(0, 9, size=(m, n)) / 2, "banned": banned}


# 17.7 -----------------------------------------------------------------------------------------

MOST = {"states": 2, "actions": 2, "replies": 2, "steps": 3}
AT_LEAST = 2.0
ROUNDING = 1e-9


def _no_loss_by_pure_rows(answer: object) -> Finding | None:
    """Say what a game lacks to show how much the printed Bellman equation loses."""
    if not isinstance(answer, SafeGame):
        return not_yet(f"Expected a SafeGame, got {form_of(answer)}.")
    sizes = dict(zip(MOST, (answer.S, answer.A, answer.B, answer.H), strict=True))
    if any(sizes[name] > most for name, most in MOST.items()):
        has, allowed = (", ".join(f"{n} {name}" for name, n in d.items()) for d in (sizes, MOST))
        return not_yet(f"It has {has}; at most {allowed} are allowed.")
    if not is_feasible(answer):
        return not_yet("The agent is lost from the start: no strategy is safe here.")
    printed, value = _printed(answer), safe_optimal(answer).value
    if printed > ROUNDING:
        return not_yet(
            f"The printed equation says {printed:.4g}, not 0: some row pays whatever the reply."
        )
    if value < AT_LEAST - ROUNDING:
        return not_yet(f"The safe minimax value is {value:.4g}, less than {AT_LEAST:g}.")
    return None


def _printed(game: SafeGame) -> float:
    """V_1(s_1) with max over rows and min over columns, both pure."""
    allowed = safe_actions(game) | potentially_unsafe(game)[:, :, None]
    V = np.zeros(game.S)
    for i in reversed(range(game.H)):
        Q = game.r[i] + game.rows(i + 1).expect(V).reshape(game.S, game.A, game.B)
        V = np.where(allowed[i], Q.min(axis=2), -np.inf).max(axis=1)
    return float(V[game.s1])


prepare = compiling.games

EXERCISES: dict[str, Exercise] = {
    "marsh-by-hand": Value(
        asks="U_1 of the marsh with H = 4, a set of states",
        hint="Begin with U_4, the water alone. A state joins U_h if for every action there is a "
        "reply, which may be another one for another action, that leads into U_{h+1}.",
        expected=_lost,
        slips=(
            Slip(
                lambda: frozenset({4}),
                "You look for one reply that ruins every action. The adversary need not have one: "
                "a bad reply to each action is enough.",
            ),
            Slip(lambda: _lost(3), "This is U_2: one more step back is left."),
            Slip(lambda: _lost(2), "This is U_3: two more steps back are left."),
            Slip(
                lambda: _lost(5),
                "State 0 still has a way out at step 1. It would be lost with one step more, or "
                "if one bad action were enough.",
            ),
            Slip(lambda: _lost() - {4}, "An unsafe state is in every U_h."),
        ),
    ),
    "banned-row-by-hand": Value(
        asks="the triple (value, probability of the first row, probability of the first column)",
        hint="Leave the banned row out. The agent mixes the other two so that both columns pay "
        "it the same; the adversary mixes the columns so that both rows pay the same.",
        expected=_by_hand,
        slips=(
            Slip(
                lambda: (_by_hand()[0], 1 - _by_hand()[1], _by_hand()[2]),
                "That is the probability of the second row.",
            ),
            Slip(
                lambda: (_by_hand()[0], _by_hand()[2], _by_hand()[1]),
                "The two probabilities are swapped: each side makes the other indifferent.",
            ),
            Slip(lambda: (5.0, 0.0, math.nan), "You have played the third row, which is banned."),
            Slip(
                lambda: (1.0, 0.0, math.nan),
                "That is the best row alone; a mixture of rows can be sure of more.",
            ),
            Slip(
                lambda: (3.0, 0.0, 0.0),
                "That is what the agent gets if the adversary has to show its column first. Let "
                "neither know what the other does: both mix.",
            ),
            Slip(
                lambda: (4.0, 1.0, math.nan),
                "The agent cannot count on the first column when it plays the first row.",
            ),
            Slip(
                lambda: (0.0, 1.0, math.nan),
                "That is the first row alone, against the worst column; a mixture of rows can be "
                "sure of more.",
            ),
        ),
    ),
    "exploitability": Function(
        asks="a function my_exploitability(matrix, banned, row, column) that returns a number",
        hint="Add up what the agent could gain by its best row against column, and what the "
        "adversary could gain by its best column against row. What the pair pays cancels. Which "
        "rows may the agent turn to?",
        oracle=_exploitability,
        instances=_pairs,
        draw=_pair,
    ),
    "one-step-back": Function(
        asks="a function one_step_back(possible, unsafe, lost) that returns U_h as an (S,) array "
        "of bool",
        hint="Along which axis must there be some entry, and along which must all be? The reply "
        "may depend on the action. And where does an unsafe state belong?",
        oracle=_one_step_back,
        instances=_steps,
        draw=_step,
        axes="S",
    ),
    "witness": Counterexample(
        asks=f"a dict {{(h, s): ((b, t), (b, t))}}: for each action in turn a reply and where it "
        f"leads, from (1, {LOST}) on down to the water",
        hint=f"Answer for state {LOST} at step 1, then for each state that your answers lead to, "
        f"one step later, until all that is left is the water.",
        missing=_no_witness,
    ),
    "find-the-bugs": Function(
        asks="a function state_value(Q, banned) that returns the value of the state",
        hint="Is the best single row the most that the agent can be sure of? And st.game_value "
        "takes a matrix with at least one row: what is played in a state where none is left?",
        oracle=_state_value,
        instances=_planned,
        draw=_plan,
    ),
    "printed-equation": Counterexample(
        asks=f"a SafeGame with at most {MOST['states']} states, {MOST['actions']} actions, "
        f"{MOST['replies']} replies and {MOST['steps']} steps whose printed value is 0 and whose "
        f"safe minimax value is at least {AT_LEAST:g}",
        hint="Matching pennies at every step is worth 1.5. Let a match also bring the agent where "
        "it need not guess any more.",
        missing=_no_loss_by_pure_rows,
    ),
}
