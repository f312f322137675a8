"""Worlds from and to tables: a row for each transition, in a CSV file or a data frame.

=============== ==============================================================
``state``       the name of a state
``action``      the name of an action that it has
``next``        a state that can follow
``probability`` how probable that is, above 0; those of a pair sum to 1
``reward``      any number; of a pair, the mean counts
``cost``        of the state, in [0, 1]: the same in all its rows
=============== ==============================================================

Columns may stand in any order, and others are not read.  Taught in the chapter *Your own world*.
"""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from safeteach.arguments import instance, number, shown, string
from safeteach.exchange.imported import (
    LARGEST_REWARD,
    Arrows,
    ImportedMDP,
    imported,
    is_one_table,
    sum_rule,
)
from safeteach.worlds.mdp import SafeMDP
from safeteach.worlds.reading import ROW_SUM_TOLERANCE, look_up

__all__ = ["from_table", "to_table"]

COLUMNS = ("state", "action", "next", "probability", "reward", "cost")
UNREADABLE = re.compile("[\r\ud800-\udfff]")  # a line's end to some, and nothing in UTF-8
MISSING = ("None", "nan", "NaT", "<NA>")  # what a data frame's missing values are called


class Row(NamedTuple):
    """One transition, and where it stands."""

    place: str
    state: str
    action: str
    next: str
    probability: float
    reward: float
    cost: float


def from_table(table: Any, H: int, tau: float, start: str | None = None) -> ImportedMDP:
    """A world from a table of its transitions.

    Parameters
    ----------
    table : path, data frame, or sequence of dicts
        A CSV file with a first line that names the columns; or anything with
        ``to_dict("records")``, as a data frame of pandas has it; or such records.  The columns are
        ``state``, ``action``, ``next``, ``probability``, ``reward`` and ``cost``.
    H : int
        Number of steps.
    tau : float
        Threshold of the cost.
    start : str, optional
        The name of the first state; that of the first row by default.

    Returns
    -------
    ImportedMDP
        States and actions are numbered in the order in which the columns ``state`` and ``action``
        first name them.  An action without rows in a state is not available there: it is a copy
        of the first one that is, and ``copied`` says so.

    Raises
    ------
    ValueError
        With the line of the file, or the number of the record from 0: for probabilities that do
        not sum to 1, a transition that stands there twice, a state that is reached and has no
        rows, costs that disagree, or what is no number.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import safeteach as st
    >>> text = '''state,action,next,probability,reward,cost
    ... shore,walk,shore,1,0,0
    ... shore,swim,island,0.9,2,0
    ... shore,swim,deep,0.1,0,0
    ... island,walk,island,1,0,0
    ... deep,sink,deep,1,0,1'''
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "lake.csv")
    ...     _ = file.write_text(text)
    ...     world = st.from_table(file, H=3, tau=0.5)
    >>> world
    ImportedMDP(S=3, A=3, H=3, tau=0.5, s1=0, 1 unsafe state, stationary)
    >>> st.safe_actions(world)[0, world.state("shore")]      # no sinking here: as good as walking
    array([ True, False,  True])
    """
    rows = _read_rows(table)
    states = {name: i for i, name in enumerate(dict.fromkeys(row.state for row in rows))}
    actions = {name: i for i, name in enumerate(dict.fromkeys(row.action for row in rows))}
    costs = _check_agreement(rows, states)
    s1 = 0 if start is None else _read_start(start, [*states])
    arrows = Arrows.of(
        [
            (states[x.state], actions[x.action], states[x.next], x.probability, x.reward)
            for x in rows
        ]
    )
    sizes = len(states), len(actions)
    return imported(arrows, sizes, costs, tau, H, s1, range(len(states)), [*states], [*actions])


def to_table(world: SafeMDP, path: str | os.PathLike[str]) -> None:
    """Write a world as a table that :func:`~safeteach.from_table` reads.

    Every number is written so that it is read as the same number, and a name that would not be
    read as the same name is refused before anything is written.  H, the threshold and the start
    are not in the table, and neither is how the world was imported: actions that were copied are
    written like others, and rewards as they are here, in [0, 1].

    Parameters
    ----------
    world : SafeMDP
        With transitions and rewards that are the same at every step.
    path : path
        The file to write; what it holds is replaced.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import safeteach as st
    >>> mdp = st.instances.ice_corridor()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "corridor.csv")
    ...     st.to_table(mdp, file)
    ...     again = st.from_table(file, H=mdp.H, tau=mdp.tau, start="(1,0)")
    ...     print(file.read_text().splitlines()[4])
    "(0,0)",right,"(0,1)",1.0,0.0,0.0
    >>> bool((again.P == mdp.P).all()), again.s1 == mdp.s1
    (True, True)
    """
    instance(world, "world", SafeMDP, "a SafeMDP")
    file = Path(instance(path, "path", str | os.PathLike, "the path of a file"))
    if not is_one_table(world):
        raise ValueError(
            f"world is {world!r}; expected one whose transitions and rewards are the same at every "
            f"step, because a table holds one"
        )
    for things, name_of, n in (
        ("state", world.state_name, world.S),
        ("action", world.action_name, world.A),
    ):
        for i in range(n):
            _check_name(name_of(i), f"the name of {things} {i}")
    if file.is_dir():
        raise ValueError(f"path is {str(path)!r}, a folder; expected the path of a file")
    part = file.with_name(f"{file.name}.part")
    try:
        with part.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow(COLUMNS)
            writer.writerows(_rows_of(world))
        part.replace(file)
    except OSError as error:
        raise ValueError(
            f"path is {str(path)!r}; expected a file that can be written ({error.strerror})"
        ) from None
    finally:
        with suppress(OSError):
            part.unlink()


def _check_name(name: str, place: str) -> None:
    """Refuse a name that would be read as another, or not at all."""
    if not name or name != name.strip():
        rule = "that is not empty and has no blanks at its ends"
    elif UNREADABLE.search(name):
        rule = "without carriage returns and halves of characters"
    elif len(name) > csv.field_size_limit():
        rule = f"of at most {csv.field_size_limit()} characters"
    else:
        return
    raise ValueError(f"{place} is {shown(name)}; expected one for a table, {rule}")


def _rows_of(world: SafeMDP) -> Iterator[tuple[Any, ...]]:
    rows = world.rows(1)
    ends = rows.indptr.tolist()
    for s in range(world.S):
        state, cost = world.state_name(s), float(world.c[s])
        for a in range(world.A):
            action, reward = world.action_name(a), float(world.r[0, s, a])
            for j in range(ends[s * world.A + a], ends[s * world.A + a + 1]):
                t = world.state_name(int(rows.successors[j]))
                yield state, action, t, float(rows.probability[j]), reward, cost


def _read_rows(table: Any) -> list[Row]:
    """The rows of a table, each by itself as it should be."""
    if isinstance(table, str | os.PathLike):
        given, what = _lines(Path(table)), f"table is {str(table)!r},"
    else:
        given, what = _records(table), "table"
    rows = [_read_row(place, record) for place, record in given]
    if not rows:
        raise ValueError(f"{what} without rows; expected one for each transition")
    return rows


def _lines(file: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The lines of a CSV file after the first, with where they stand."""
    try:
        with file.open(encoding="utf-8-sig", newline="") as stream:  # some spreadsheets sign files
            reader = csv.DictReader(stream, strict=True)
            _check_separator(reader.fieldnames or (), f"{file}, line 1")
            _check_columns(reader.fieldnames or (), f"{file}, line 1")
            for record in reader:
                place = f"{file}, line {reader.line_num}"
                if None in record or None in record.values():
                    n = len(reader.fieldnames or ())
                    raise ValueError(f"{place}, of table has more or fewer cells than {n} columns")
                yield place, record
    except (OSError, UnicodeError, csv.Error) as error:
        raise ValueError(
            f"table is {str(file)!r}; expected a CSV file that can be read "
            f"({getattr(error, 'strerror', None) or error})"
        ) from None


def _records(table: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The rows of a data frame, or of several dicts, with where they stand."""
    if callable(getattr(table, "to_dict", None)):
        table = table.to_dict("records")
    if not isinstance(table, list | tuple):
        raise TypeError(
            f"table is {shown(table)}; expected the path of a CSV file, a data frame or its records"
        )
    for i, record in enumerate(table):
        if not isinstance(record, Mapping):
            raise TypeError(f"table[{i}] is {shown(record)}; expected a dict, with a key a column")
        _check_columns(record, f"table[{i}]")
        yield f"table[{i}]", record


def _check_separator(head: Sequence[str], place: str) -> None:
    """Say what stands between the columns of a file, if it is no comma."""
    for separator, name in ((";", "semicolons"), ("\t", "tabs"), ("|", "bars")):
        if len(head) == 1 and separator in head[0]:
            raise ValueError(
                f"{place}, of table has {name} between its columns; expected commas, and a point "
                f"in numbers"
            )


def _check_columns(there: Iterable[str], place: str) -> None:
    missing = [name for name in COLUMNS if name not in there]
    if missing:
        raise ValueError(
            f"{place}, of table lacks {', '.join(missing)}; expected the columns "
            f"{', '.join(COLUMNS)}"
        )
    names = [*there]
    twice = [name for name in COLUMNS if names.count(name) > 1]
    if twice:
        raise ValueError(f"{place}, of table names the column {twice[0]} twice")


def _read_row(place: str, record: Mapping[str, Any]) -> Row:
    for name in COLUMNS[:3]:
        if not isinstance(record[name], str) and str(record[name]) in MISSING:
            raise ValueError(f"{place}: {name} is missing ({record[name]}); expected a name")
    state, action, after = (str(record[name]).strip() for name in COLUMNS[:3])
    if not (state and action and after):
        raise ValueError(f"{place}: state, action or next is empty; expected a name")
    return Row(
        place,
        state,
        action,
        after,
        _number(record["probability"], f"{place}: probability", 0, 1 + ROW_SUM_TOLERANCE, "(]"),
        _number(record["reward"], f"{place}: reward", -LARGEST_REWARD, LARGEST_REWARD),
        _number(record["cost"], f"{place}: cost", 0, 1, "[]"),
    )


def _read_start(start: str, states: list[str]) -> int:
    try:
        return look_up(string(start, "start"), states, "state")
    except ValueError as error:
        raise ValueError(f"start: {error}") from None


def _number(value: Any, name: str, low: float, high: float, ends: str = "()") -> float:
    try:
        read = float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{name} is {shown(value)}; expected a number") from None
    except OverflowError:  # a whole number that no float can hold
        read = value
    return float(number(read, name, low, high, ends))


def _check_agreement(rows: list[Row], states: Mapping[str, int]) -> list[float]:
    """Refuse rows that do not go together; the cost of each state."""
    first: dict[tuple[str, str, str], Row] = {}
    owner: dict[str, Row] = {}
    pairs: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        same = first.setdefault((row.state, row.action, row.next), row)
        if same is not row:
            raise ValueError(
                f"{row.place}: {shown(row.action)} in {shown(row.state)} leads to "
                f"{shown(row.next)}, and so it does in {same.place}; expected one row for it"
            )
        if row.next not in states:
            raise ValueError(
                f"{row.place}: next is {shown(row.next)}, a state without rows; expected at least "
                f"one from each, and from an end back to itself"
            )
        told = owner.setdefault(row.state, row)
        if told.cost != row.cost:
            raise ValueError(
                f"{row.place}: cost of {shown(row.state)} is {row.cost:g}, and {told.cost:g} in "
                f"{told.place}; expected the same in all rows of a state"
            )
        pairs.setdefault((row.state, row.action), []).append(row)
    for (state, action), outcomes in pairs.items():
        total = sum(row.probability for row in outcomes)
        if abs(total - 1) > ROW_SUM_TOLERANCE:
            raise ValueError(
                f"{outcomes[-1].place}: with this row, the last of {shown(action)} in "
                f"{shown(state)}, its probabilities sum to {total:.12g}; they {sum_rule(total)}"
            )
    return [row.cost for row in owner.values()]
