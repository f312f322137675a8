"""What a chapter is for, what it needs and what its exercises ask, as its room says it.

``chapter.toml`` holds outcomes, prerequisites and reading paths, ``exercises.toml`` the difficulty,
the minutes, the points and the outcome of each exercise.  Heads of chapters, titles of exercises
and the pages about reading paths and status are made of them; whoever sets a course may read them
too.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safeteach.arguments import instance, numbered, one_of, string, whole

__all__ = [
    "READING_PATHS", "ExerciseOutline", "Outline", "ReadingPath", "read_outline", "read_outlines",
]  # fmt: skip

CHAPTER = "chapter.toml"
EXERCISES = "exercises.toml"
OUTCOMES = (2, 5)  # how many a chapter has: fewer say too little, more are not remembered


@dataclass(frozen=True)
class ReadingPath:
    """A way through the book; ``paths`` in ``chapter.toml`` says which chapters are on it.

    Attributes
    ----------
    key : str
        By which chapters name it.
    name : str
    audience : str
        Whom it is for, a sentence.
    afterwards : str
        What whoever has walked it can do: it completes "Afterwards you can".
    """

    key: str
    name: str
    audience: str
    afterwards: str


WHOLE = "course"  # the key of the path that contains every chapter
READING_PATHS = (
    ReadingPath(
        "engineer",
        "the engineer",
        "For somebody with a world that is known or can be simulated, and with something in it "
        "that must never happen.",
        "write your world down with its costs and its threshold, compute from which states safety "
        "can no longer be kept and what staying out of them costs, let SUCBVI learn in your world, "
        "and say of each number that comes out whether it is proved, tuned or only measured",
    ),
    ReadingPath(
        "lectures",
        "two lectures",
        "For a course on reinforcement learning that has room for the idea and for one algorithm.",
        "say what a step-wise constraint forbids that a budget allows, compute the doomed states "
        "of a small world by hand, and explain how SUCBVI finds them out while it learns",
    ),
    ReadingPath(
        WHOLE,
        "the whole course",
        "For a seminar, or for a reader who wants the theory down to its last inequality.",
        "build every algorithm of the book, prove what is proved of it, say what no learner can "
        "do, and say what is open",
    ),
)


@dataclass(frozen=True)
class ExerciseOutline:
    """What an exercise asks of a reader.

    Attributes
    ----------
    name : str
    difficulty : int
        In stars, 1 to 3.
    minutes : int
    points : int
    outcome : str
        The key of the outcome of its chapter that it practises.
    """

    name: str
    difficulty: int
    minutes: int
    points: int
    outcome: str


@dataclass(frozen=True)
class Outline:
    """What a chapter is for and what it needs.

    Attributes
    ----------
    needs : tuple of str
        The slugs of the chapters that are needed directly.
    background : str
        What else is needed; may be empty.
    paths : tuple of str
        The keys of the reading paths that contain the chapter.
    outcomes : mapping of str to str
        By their keys; each completes "you will be able to".
    exercises : tuple of ExerciseOutline
        In the order of the chapter.
    """

    needs: tuple[str, ...]
    background: str
    paths: tuple[str, ...]
    outcomes: Mapping[str, str]
    exercises: tuple[ExerciseOutline, ...]


def read_outlines(rooms: Path, contents: Mapping[str, Sequence[str]]) -> dict[str, Outline]:
    """The outlines of all chapters, which fit to each other.

    Parameters
    ----------
    rooms : Path
        The folder that holds a folder for each chapter.
    contents : mapping of str to sequence of str
        The slugs of the chapters and the names of their exercises, in the order of the book.

    Raises
    ------
    FileNotFoundError
        If a room lacks one of the two files.
    ValueError, TypeError
        If a file says something else than it may; the message names the file.

    Examples
    --------
    >>> from safeteach.classroom.contents import contents
    >>> import safeteach.chapters
    >>> rooms = Path(safeteach.chapters.__path__[0])
    >>> read_outlines(rooms, contents())["danger_ahead"].paths[-1]
    'course'
    """
    found = {slug: read_outline(rooms / slug, names) for slug, names in contents.items()}
    slugs = list(found)
    for place, (slug, outline) in enumerate(found.items()):
        for need in outline.needs:
            if need not in slugs[:place]:
                why = "comes later" if need in slugs[place:] else "is no chapter"
                raise ValueError(
                    f"{slug}/{CHAPTER}: needs says {need!r}, which {why}; "
                    f"expected chapters that come earlier"
                )
            if left := [path for path in outline.paths if path not in found[need].paths]:
                raise ValueError(
                    f"{slug}/{CHAPTER}: paths says {left[0]!r}, but the chapter needs {need!r}, "
                    f"which is not on that path"
                )
    return found


def read_outline(room: Path, names: Sequence[str]) -> Outline:
    """The outline of one chapter.

    Parameters
    ----------
    room : Path
        The folder with the two files.
    names : sequence of str
        Of the exercises, in the order of the chapter.

    Raises
    ------
    FileNotFoundError, ValueError, TypeError
        As in :func:`read_outlines`.
    """
    said = _read(room / CHAPTER)
    where = f"{room.name}/{CHAPTER}: "
    _check_keys(said, ("needs", "background", "paths", "outcomes"), where)
    outcomes = _read_outcomes(said["outcomes"], where)
    background = _phrase(said["background"], f"{where}background")
    needs = _strings(said["needs"], f"{where}needs")
    if not (needs or background):
        raise ValueError(f"{where}needs and background are empty; expected what a reader needs")
    return Outline(
        needs, background, _read_paths(said["paths"], where), outcomes,
        _read_exercises(room, names, tuple(outcomes)),
    )  # fmt: skip


def _read_outcomes(said: Any, where: str) -> dict[str, str]:
    instance(said, f"{where}outcomes", dict, "a table")
    least, most = OUTCOMES
    if not least <= len(said) <= most:
        raise ValueError(f"{where}outcomes are {len(said)}; expected {least} to {most}")
    found = {key: _phrase(text, f"{where}outcomes.{key}") for key, text in said.items()}
    if empty := [key for key, text in found.items() if not text]:
        raise ValueError(f"{where}outcomes.{empty[0]} is empty; expected what one can do")
    return found


def _read_paths(said: Any, where: str) -> tuple[str, ...]:
    known = tuple(path.key for path in READING_PATHS)
    paths = _strings(said, f"{where}paths")
    for path in paths:
        one_of(path, f"{where}paths", known)
    if WHOLE not in paths:
        raise ValueError(f"{where}paths lacks {WHOLE!r}, the path that contains every chapter")
    return tuple(sorted(paths, key=known.index))


def _read_exercises(
    room: Path, names: Sequence[str], outcomes: tuple[str, ...]
) -> tuple[ExerciseOutline, ...]:
    said = _read(room / EXERCISES)
    where = f"{room.name}/{EXERCISES}: "
    _check_keys(said, names, where)
    if list(said) != list(names):
        first = next(name for name, other in zip(said, names, strict=True) if name != other)
        raise ValueError(f"{where}{first} is out of order; the chapter asks {', '.join(names)}")
    return tuple(_read_exercise(name, of, f"{where}{name}", outcomes) for name, of in said.items())


def _read_exercise(name: str, said: Any, where: str, outcomes: tuple[str, ...]) -> ExerciseOutline:
    instance(said, where, dict, "a table")
    _check_keys(said, ("difficulty", "minutes", "points", "outcome"), f"{where}: ")
    return ExerciseOutline(
        name,
        numbered(said["difficulty"], f"{where}.difficulty", "difficulties", 1, 3),
        whole(said["minutes"], f"{where}.minutes"),
        whole(said["points"], f"{where}.points"),
        one_of(said["outcome"], f"{where}.outcome", outcomes),
    )


def _read(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text("utf-8"))
    except FileNotFoundError:
        raise FileNotFoundError(f"{file.parent.name} has no {file.name}") from None
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{file.parent.name}/{file.name} is no TOML: {error}") from None


def _check_keys(said: Mapping[str, Any], keys: Sequence[str], where: str) -> None:
    if more := [key for key in said if key not in keys]:
        raise ValueError(f"{where}there is no {more[0]!r}; expected {', '.join(keys)}")
    if missing := [key for key in keys if key not in said]:
        raise ValueError(f"{where}{missing[0]!r} is missing; expected {', '.join(keys)}")


def _strings(said: Any, where: str) -> tuple[str, ...]:
    strings = tuple(string(one, where) for one in instance(said, where, list, "a list"))
    if len(set(strings)) < len(strings):
        raise ValueError(f"{where} is {list(strings)}; expected each once")
    return strings


def _phrase(said: Any, where: str) -> str:
    text = " ".join(string(said, where).split())
    if text.endswith("."):
        raise ValueError(f"{where} is {text!r}; expected a part of a sentence, without full stop")
    return text
