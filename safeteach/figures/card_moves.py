"""What a card says of a world: its moves, grouped by where they lead, and its numbers in words.

Three silences keep a card short, and every card explains those that it uses: a probability that
is not written is 1, a cost or reward that is not written is 0, and a move that is not drawn
stays where it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from safeteach.figures.described import shorten
from safeteach.worlds.games import SafeGame
from safeteach.worlds.reading import thin
from safeteach.worlds.world import World

DIGITS = 3  # of a number that has no end
EXACT = 1e-9
LONGEST_NAME = 24  # letters


@dataclass(frozen=True)
class Move:
    """All that can be done in one state with the same successors and the same probabilities.

    Attributes
    ----------
    s : int
    successors : tuple of int
        The likeliest first.
    chances : tuple of float
    lines : tuple of str
        What is to be done, when and for which reward: "h = 2: jump, r 0.5".
    """

    s: int
    successors: tuple[int, ...]
    chances: tuple[float, ...]
    lines: tuple[str, ...]


def say(x: float) -> str:
    """A number with up to six digits if that is all of it, else with three; never a false 0 or 1.

    >>> [say(x) for x in (0, 1, 0.5, 0.9999, 1e-5, 2 / 3, 1e-9, 1 - 1e-9)]
    ['0', '1', '0.5', '0.9999', '0.00001', '0.667', '1e-09', '1 − 1e-09']
    """
    texts = (f"{x:.{digits}f}" for digits in range(7))
    text = next((text for text in texts if abs(float(text) - x) < EXACT), f"{x:.{DIGITS}f}")
    if float(text) == 0 != x:
        return f"{x:.2g}"
    if float(text) == 1 != x:
        return f"1 − {1 - x:.2g}"
    return text


def is_exact(x: float) -> bool:
    """Whether six digits are all that the number has."""
    return abs(round(x, 6) - x) < EXACT


def rounded(world: World) -> bool:
    """Whether some number of the world does not stand on its card in full."""
    numbers = [
        thin(world.r).ravel(),
        world.c,
        *(world.rows(h).probability for h in steps_of(world)),
    ]
    return not all(is_exact(float(x)) for x in np.unique(np.concatenate(numbers)))


def on_one_line(name: str, most: int = LONGEST_NAME) -> str:
    """A name for a card: on one line, and not too long."""
    return shorten(" ".join(name.split()), most)


def called(name: str, i: int) -> str:
    """An index with its name, if it has one: "3 far", or "3"."""
    return str(i) if name == str(i) else f"{i} {on_one_line(name)}"


def state_called(world: World, s: int) -> str:
    """A state's index, and its name if it has one."""
    return called(world.state_name(s), s)


def start_called(world: World) -> str:
    """The index of the first state, and its name, in brackets if it has none."""
    name = on_one_line(world.state_name(world.s1))
    if name == str(world.s1):
        return name
    return f"{world.s1} {name}" if name.startswith("(") else f"{world.s1} ({name})"


def state_words(world: World, s: int) -> list[str]:
    """A state's cost, and its rewards where they are the same whatever is done: "c 1", "r 0.5"."""
    words = [f"c {say(world.c[s])}"] if world.c[s] else []
    if not _own_reward(world, s):
        return words
    paid: dict[float, list[int]] = {}
    for h in steps_of(world):
        paid.setdefault(float(world.r[h - 1, s].flat[0]), []).append(h)
    return [*words, *(f"r {say(r)}{_when(world, steps)}" for r, steps in paid.items() if r)]


def moves_of(world: World, s: int) -> list[Move]:
    """What can be done in a state, without what stays there and pays no more than the state."""
    own = _own_reward(world, s)
    found: dict[tuple[tuple[int, ...], tuple[float, ...]], dict[float, dict[int, list[int]]]] = {}
    for h in steps_of(world):
        rows = world.rows(h)
        n = (len(rows.indptr) - 1) // world.S
        for m in range(n):
            row = slice(rows.indptr[s * n + m], rows.indptr[s * n + m + 1])
            reward = 0.0 if own else float(world.r[h - 1, s].flat[m])
            if reward or rows.successors[row].tolist() != [s]:
                key = _likeliest_first(rows.successors[row].tolist(), rows.probability[row])
                found.setdefault(key, {}).setdefault(reward, {}).setdefault(h, []).append(m)
    return [Move(s, *key, tuple(_lines(world, rewards, n))) for key, rewards in found.items()]


def leads_to(move: Move) -> str:
    """Where a move leads: "2 (0.6), 1 (0.4)", or "2" if that is sure."""
    if len(move.successors) == 1:
        return str(move.successors[0])
    ends = zip(move.successors, move.chances, strict=True)
    return ", ".join(f"{t} ({say(p)})" for t, p in ends)


def in_words(moves: Sequence[Move]) -> list[str]:
    """The moves of a state, each in one phrase: "work, r 0.05 → 0"."""
    return [f"{' and '.join(move.lines)} → {leads_to(move)}" for move in moves]


def steps_of(world: World) -> list[int]:
    """The steps to look at: only the first of a world that is the same at every step."""
    r = thin(world.r)
    alike = world.stationary and bool((r == r[:1]).all())
    return [1] if alike else list(range(1, world.H + 1))


def some_stay(world: World) -> bool:
    """Whether some move of some state stays there for sure."""
    for h in steps_of(world):
        rows = world.rows(h)
        n = len(rows.indptr) - 1
        first = rows.successors[rows.indptr[:-1]]
        if ((np.diff(rows.indptr) == 1) & (first == np.arange(n) // (n // world.S))).any():
            return True
    return False


def _own_reward(world: World, s: int) -> bool:
    """Whether a state's reward is the same for all moves, though it may depend on the step."""
    r = thin(world.r)[:, s]
    r = r.reshape(len(r), -1)
    return bool((r == r[:, :1]).all())


def _when(world: World, steps: list[int]) -> str:
    return "" if steps == steps_of(world) else f" at {_span(steps)}"


def _span(steps: list[int]) -> str:
    """Steps in few letters.

    >>> _span([1, 2, 3, 5])
    'h=1–3, 5'
    """
    runs: list[list[int]] = []
    for h in steps:
        if runs and h == runs[-1][-1] + 1:
            runs[-1].append(h)
        else:
            runs.append([h])
    return "h=" + ", ".join(f"{x[0]}–{x[-1]}" if len(x) > 1 else str(x[0]) for x in runs)


def _likeliest_first(
    successors: list[int], chances: np.ndarray
) -> tuple[tuple[int, ...], tuple[float, ...]]:
    pairs = sorted((-round(float(p), 12), t) for t, p in zip(successors, chances, strict=True))
    return tuple(t for _, t in pairs), tuple(-p for p, _ in pairs)


def _lines(world: World, rewards: dict[float, dict[int, list[int]]], n: int) -> list[str]:
    """What leads to the same successors: a line for each reward, and for steps that differ."""
    lines = []
    for reward, steps in rewards.items():
        alike: dict[tuple[int, ...], list[int]] = {}
        for h, at_h in steps.items():
            alike.setdefault(tuple(at_h), []).append(h)
        for done, when in alike.items():
            at = "" if when == steps_of(world) else f"{_span(when)}: "
            paid = f", r {say(reward)}" if reward else ""
            lines.append(at + _done(world, done, n) + paid)
    return lines


def _done(world: World, done: tuple[int, ...], n: int) -> str:
    """The names of moves: of actions, or of pairs of an action and a reply."""
    if len(done) == n > 1:
        return "any"
    if not isinstance(world, SafeGame):
        return ", ".join(action_called(world, a) for a in done)
    pairs = np.zeros((world.A, world.B), np.bool_)
    pairs.flat[list(done)] = True
    rows: dict[tuple[int, ...], list[int]] = {}
    for a in range(world.A):
        if pairs[a].any():
            rows.setdefault(tuple(np.flatnonzero(pairs[a]).tolist()), []).append(a)
    return ", ".join(
        f"{_some([action_called(world, a) for a in actions], world.A)} / "
        f"{_some([_reply_called(world, b) for b in replies], world.B)}"
        for replies, actions in rows.items()
    )


def _some(names: list[str], of: int) -> str:
    return "any" if len(names) == of > 1 else " or ".join(names)


def action_called(world: World, a: int) -> str:
    """What a card calls an action: its name, or a0, a1, .. ."""
    name = world.action_name(a)
    return f"a{a}" if name == str(a) else on_one_line(name)


def _reply_called(game: SafeGame, b: int) -> str:
    name = game.reply_name(b)
    return f"b{b}" if name == str(b) else on_one_line(name)
