"""The door to a chapter's room: what its notebook calls, bound to the chapter."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safeteach.classroom.captions import Captioned, captioned
from safeteach.classroom.checking.quizzes import Quiz
from safeteach.classroom.checking.verdicts import Verdict, check_exercise, quiz_of
from safeteach.classroom.contents import figure_number

__all__ = ["Listing", "open_room", "show", "stored"]

LAZY = ("controls", "exercises", "figures", "plain")  # loaded when first used


def open_room(
    package: str,
) -> tuple[Callable[..., Verdict], Callable[[], Quiz], Callable[[str], Any]]:
    """``check``, ``quiz`` and ``__getattr__`` of the room that is this package.

    Examples
    --------
    >>> check, quiz, look_up = open_room("safeteach.chapters.danger_ahead")
    >>> check("by-hand", (1, 2)).status
    'not yet'
    >>> look_up("exercises").__name__
    'safeteach.chapters.danger_ahead.exercises'
    """
    slug = package.rpartition(".")[2]

    def check(exercise: str, answer: Any, *, seed: int | None = None) -> Verdict:
        """Say whether an answer to an exercise of this chapter, given by its name, is right.

        Of the worlds that a function is tried on, a few are drawn anew; with the ``seed`` that a
        verdict names, the same again.  A verdict is true if the answer is right, and only then.
        """
        return check_exercise(slug, exercise, answer, seed=seed)

    def quiz() -> Quiz:
        """Ask the questions of this chapter."""
        return quiz_of(slug)

    def figure(name: str, picture: Any, caption: str) -> Captioned:
        """Show a picture with its number and a caption: one sentence that says what it shows."""
        return captioned(slug, name, picture, caption)

    def fig(name: str) -> str:
        """What the text calls a figure of this chapter, as in "Figure 4.2"."""
        return f"Figure {figure_number(slug, name)}"

    offered = {"fig": fig, "figure": figure, "show": show, "stored": stored}

    def look_up(name: str) -> Any:
        if name in offered:
            return offered[name]
        if name in LAZY:
            return importlib.import_module(f"safeteach.chapters.{slug}.{name}")
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return check, quiz, look_up


@dataclass(frozen=True)
class Listing:
    """Source code that a notebook and a page show as they show code of their own.

    Attributes
    ----------
    source : str
    """

    source: str

    def __repr__(self) -> str:
        return self.source

    def _repr_markdown_(self) -> str:
        # Not HTML: so the page and JupyterLab colour it each in its own way, in light and dark.
        return f"```python\n{self.source}\n```"


def show(*pieces: Callable[..., Any]) -> Listing:
    """The source of functions and classes, one below the other.

    Examples
    --------
    >>> from safeteach.chapters.learning_to_play_safely import plain
    >>> show(plain.draw).source.splitlines()[0]
    'def draw(row: Array, uniform: float) -> int:'
    """
    return Listing("\n\n\n".join(inspect.getsource(piece).rstrip() for piece in pieces))


def stored(name: str) -> Path:
    """The file of a stored study, ``book/data/<name>``, from wherever in the book a notebook runs.

    Away from the book the file is looked for beside the notebook.

    Raises
    ------
    FileNotFoundError
        With a sentence that says how to get it.
    """
    here = Path.cwd()
    places = [here, *(folder / "data" for folder in here.parents)]
    places += [folder / "book" / "data" for folder in (here, *here.parents)]
    for place in places:
        if (place / name).is_file():
            return place / name
    raise FileNotFoundError(
        f"{name} is neither beside this notebook nor in book/data above it. It holds runs that "
        f"take longer than a chapter may: copy it from the folder book/data of the book's "
        f"repository to {here}, or run the chapter in a clone of the repository"
    )
