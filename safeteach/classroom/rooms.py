"""The door to a chapter's room: what its notebook calls, bound to the chapter."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from safeteach.classroom.checking.quizzes import Quiz
from safeteach.classroom.checking.verdicts import Verdict, check_exercise, quiz_of

__all__ = ["open_room"]

LAZY = ("controls", "exercises", "figures")  # they draw, learn and ask: loaded when first used


def open_room(
    package: str,
) -> tuple[Callable[[str, Any], Verdict], Callable[[], Quiz], Callable[[str], Any]]:
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

    def check(exercise: str, answer: Any) -> Verdict:
        """Say whether an answer to an exercise of this chapter, given by its name, is right."""
        return check_exercise(slug, exercise, answer)

    def quiz() -> Quiz:
        """Ask the questions of this chapter."""
        return quiz_of(slug)

    def look_up(name: str) -> Any:
        if name in LAZY:
            return importlib.import_module(f"safeteach.chapters.{slug}.{name}")
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return check, quiz, look_up
