"""``check`` and ``quiz``: what a reader calls in a chapter."""

from __future__ import annotations

import importlib
import importlib.util
import textwrap
from dataclasses import dataclass
from functools import cache
from importlib import resources
from types import ModuleType
from typing import TYPE_CHECKING, Any

from safeteach.classroom.checking import isolation
from safeteach.classroom.checking.forms import shown
from safeteach.classroom.checking.kinds import Exercise, Finding, Function, Status
from safeteach.classroom.checking.quizzes import Quiz, read_questions
from safeteach.classroom.checking.worlds import describe_world
from safeteach.classroom.contents import (
    chapter_number,
    contents,
    exercise_number,
    named,
    slug_of,
)
from safeteach.instances import GridMDP
from safeteach.worlds.mdp import SafeMDP

if TYPE_CHECKING:
    from safeteach.figures import DescribedFigure

__all__ = ["Verdict", "all_exercises", "check", "check_exercise", "quiz", "quiz_of"]

WIDTH = 79


@dataclass(frozen=True)
class Verdict:
    """What ``check`` says about an answer; a notebook shows it, with the failing world drawn.

    Attributes
    ----------
    exercise : str
        The number of the exercise.
    status : "right", "not yet" or "no answer yet"
    text : str
        All that is said, deterministic.
    world : SafeMDP or None
        The smallest world found on which the answer fails.
    h : int
        The step at which it is drawn.
    """

    exercise: str
    status: Status
    text: str
    world: SafeMDP | None = None
    h: int = 1

    def __repr__(self) -> str:
        return self.text

    def figure(self) -> DescribedFigure | None:
        """Draw the failing world, if there is one and matplotlib to draw it with."""
        if self.world is None or importlib.util.find_spec("matplotlib") is None:
            return None
        from safeteach import figures

        if isinstance(self.world, GridMDP):
            return figures.grid(self.world, h=self.h)
        return figures.delta_graph(self.world, self.h)

    def _ipython_display_(self) -> None:
        # Two outputs: of one with a text and a picture, a notebook would show the picture alone.
        from IPython.display import display

        display({"text/plain": self.text}, raw=True)  # type: ignore[no-untyped-call]
        figure = self.figure()
        if figure is not None:
            display(figure)  # type: ignore[no-untyped-call]


def check(exercise: str, answer: Any) -> Verdict:
    """Say whether an answer to an exercise is right, and if not, what was seen and a hint.

    A function is tried on many small worlds in a process of its own, so that it may raise, print
    or never end, and the notebook goes on.

    Parameters
    ----------
    exercise : str
        Its number in the book, such as "4.2": exercise 2 of chapter 4.
    answer : object
        What the exercise asks for; ``...`` and a function that returns nothing are no answer yet.

    Returns
    -------
    Verdict

    Raises
    ------
    ValueError
        If there is no such exercise.

    Examples
    --------
    >>> import safeteach as st
    >>> verdict = st.check("4.2", ...)
    >>> verdict.status
    'no answer yet'
    """
    found = named(exercise) if isinstance(exercise, str) else None
    if found is None:
        known = ", ".join(all_exercises())
        raise ValueError(f"there is no exercise {exercise!r}; the exercises are {known}")
    return check_exercise(*found, answer)


def check_exercise(slug: str, name: str, answer: Any) -> Verdict:
    """The same for an exercise that is given by its chapter and its name.

    Examples
    --------
    >>> import safeteach as st
    >>> check_exercise("danger_ahead", "recursion", st.potentially_unsafe)  # doctest: +ELLIPSIS
    Exercise ...: right. Tried on 76 worlds.
    """
    exercises = _exercises(slug)
    if not isinstance(name, str) or name not in exercises:
        known = ", ".join(map(repr, exercises))
        raise ValueError(f"there is no exercise {name!r} in this chapter; they are {known}")
    _prepare(slug)
    run = isolation.isolated(lambda: exercises[name].judge(answer))
    return _verdict(exercise_number(slug, name), name, exercises[name], _final(run))


def quiz(chapter: str) -> Quiz:
    """Ask the questions of a chapter, as a form to be answered in the page.

    Parameters
    ----------
    chapter : str
        Its number, such as "4".

    Examples
    --------
    >>> import safeteach as st
    >>> len(st.quiz("4").questions) >= 3
    True
    """
    slug = slug_of(chapter)
    if slug is None:
        known = ", ".join(map(chapter_number, contents()))
        raise ValueError(f"there is no quiz {chapter!r}; the quizzes are {known}")
    return quiz_of(slug)


def quiz_of(slug: str) -> Quiz:
    """The same for a chapter that is given by its name."""
    file = resources.files(f"safeteach.chapters.{slug}").joinpath("quiz.toml")
    return Quiz(chapter_number(slug), read_questions(file.read_text("utf-8")))


def all_exercises() -> dict[str, Exercise]:
    """All exercises by their numbers, in the order of the book.

    >>> "4.2" in all_exercises()
    True
    """
    return {
        exercise_number(slug, name): _exercises(slug)[name]
        for slug, names in contents().items()
        for name in names
        if name in _exercises(slug)
    }


@cache
def _prepare(slug: str) -> None:
    """Compile what a chapter's checkers need, once, before the time of an answer is counted."""
    getattr(_room(slug), "prepare", lambda: None)()


def _exercises(slug: str) -> dict[str, Exercise]:
    exercises: dict[str, Exercise] = _room(slug).EXERCISES
    return exercises


def _room(slug: str) -> ModuleType:
    return importlib.import_module(f"safeteach.chapters.{slug}.exercises")


def _final(run: isolation.Run[Finding]) -> Finding:
    """Return the finding of a run, also of one that was cut off."""
    last = run.last or Finding("trying")
    if last.status != "trying":
        return last
    if run.ended == "late":
        text = f"It was stopped: it did not end within {isolation.LIMIT:g} seconds."
    elif run.signal:
        text = f"It crashed Python ({run.signal}); a recursion without an end can do that."
    else:
        text = "It ended Python instead of returning."
    return Finding("not yet", text, last.instance)


def _verdict(number: str, name: str, exercise: Exercise, finding: Finding) -> Verdict:
    head = f"Exercise {number}: {finding.status}."
    if finding.status == "right":
        lines = _wrap(f"{head} {finding.text}".rstrip())
        return Verdict(number, "right", "\n".join([*lines, *_no_limit()]))
    if finding.status == "no answer yet":
        lines = [*_wrap(f"{head} {finding.text}".rstrip()), *_wrap(f"Asked for: {exercise.asks}.")]
        return Verdict(number, "no answer yet", "\n".join(lines))
    world = finding.instance if isinstance(finding.instance, SafeMDP) else None
    lines = [head, *_wrap(finding.text)]
    if world is not None:
        about, *moves = describe_world(world).split("\n")
        lines += [*_wrap(f"The world: {about}"), *(line for move in moves for line in _wrap(move))]
        if isinstance(exercise, Function):
            lines.append(f'To try it yourself: chapter.check("{name}", …).world')
    elif finding.instance is not None and isinstance(exercise, Function):
        arguments = exercise.arguments(finding.instance).items()
        lines += _wrap("Seen with " + ", ".join(f"{n} = {shown(x)}" for n, x in arguments) + ".")
    if finding.printed:
        lines += ["It printed:", textwrap.indent(finding.printed.rstrip(), "  ")]
    lines += [*_wrap(f"Hint: {exercise.hint}"), *_no_limit()]
    return Verdict(number, "not yet", "\n".join(lines), world, finding.h)


def _wrap(text: str) -> list[str]:
    indent = " " * (len(text) - len(text.lstrip()))
    return textwrap.wrap(
        text, WIDTH, subsequent_indent=2 * indent, break_long_words=False, break_on_hyphens=False
    )


def _no_limit() -> list[str]:
    return (
        []
        if isolation.can_fork()
        else ["(Checked without a limit on time: this system cannot fork.)"]
    )
