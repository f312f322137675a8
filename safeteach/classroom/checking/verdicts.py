"""``check`` and ``quiz``: what a reader calls in a chapter.

Taught in the *Preface*.
"""

from __future__ import annotations

import importlib
import importlib.util
import secrets
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from importlib import resources
from types import ModuleType
from typing import TYPE_CHECKING, Any

from safeteach import arguments
from safeteach.classroom.checking import isolation
from safeteach.classroom.checking.forms import is_whole, shown
from safeteach.classroom.checking.kinds import (
    Exercise,
    Finding,
    Function,
    Status,
    Value,
    first_world,
)
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
from safeteach.worlds.games import SafeGame
from safeteach.worlds.mdp import SafeMDP

if TYPE_CHECKING:
    from safeteach.figures import DescribedFigure

__all__ = ["Verdict", "all_exercises", "check", "check_exercise", "new_seed", "quiz", "quiz_of"]

WIDTH = 79


@dataclass(frozen=True)
class Verdict:
    """What ``check`` says about an answer; a notebook shows it, with the failing world drawn.

    It is true if the answer is right, and only then: ``assert chapter.check("recursion", f)``.

    Attributes
    ----------
    exercise : str
        The number of the exercise.
    status : "right", "not yet" or "no answer yet"
    text : str
        All that is said; the same answer and the same seed get the same words.
    case : dict
        The smallest arguments found with which the answer fails, by name; of an answer that is
        itself a world, that world.  Empty if there are none.
    h : int
        The step at which the world among them is drawn.
    seed : int
        With this seed the same cases are tried again.
    """

    exercise: str
    status: Status
    text: str
    case: Mapping[str, Any] = field(default_factory=dict)
    h: int = 1
    seed: int = 0

    def __bool__(self) -> bool:
        return self.status == "right"

    @property
    def world(self) -> SafeMDP | SafeGame | None:
        """The world in ``case``, if there is one."""
        return first_world(self.case)

    def __repr__(self) -> str:
        return self.text

    def figure(self) -> DescribedFigure | None:
        """Draw the failing world, if there is one and matplotlib to draw it with."""
        if not isinstance(self.world, SafeMDP) or importlib.util.find_spec("matplotlib") is None:
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


def check(exercise: str, answer: Any, *, seed: int | None = None) -> Verdict:
    """Say whether an answer to an exercise is right, and if not, what was seen and a hint.

    A function is tried on many small worlds in a process of its own, so that it may raise, print
    or never end, and the notebook goes on.  Most of the worlds are always the same; a few are drawn
    anew in each check.

    Parameters
    ----------
    exercise : str
        Its number in the book, such as "4.2": exercise 2 of chapter 4.
    answer : object
        What the exercise asks for; ``...`` and a function that returns nothing are no answer yet.
    seed : int, optional
        Draws the same again as an earlier check, whose verdict says its seed.

    Returns
    -------
    Verdict
        True if the answer is right, else false.

    Raises
    ------
    ValueError
        If there is no such exercise, or the seed is no whole number.

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
    return check_exercise(*found, answer, seed=seed)


def check_exercise(slug: str, name: str, answer: Any, *, seed: int | None = None) -> Verdict:
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
    if seed is None:
        seed = new_seed()
    elif not is_whole(seed) or seed < 0:
        raise ValueError(f"seed is {seed!r}; expected a whole number, at least 0")
    _prepare(slug)
    run = isolation.isolated(_judged, slug, name, answer, int(seed))
    return _verdict(slug, name, answer, int(seed), run)


def _judged(slug: str, name: str, answer: Any, seed: int) -> Iterator[dict[str, Any]]:
    """What the judge finds, fit to be sent; a new Python has to prepare for it first."""
    _prepare(slug)
    return map(asdict, _exercises(slug)[name].judge(answer, seed))


def new_seed() -> int:
    """A seed that nobody knew before, short enough to type.

    >>> 0 <= new_seed() < 10**6
    True
    """
    return secrets.randbelow(10**6)


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
    slug = slug_of(chapter) if isinstance(chapter, str) else None
    if slug is None:
        known = ", ".join(map(chapter_number, contents()))
        raise ValueError(
            f"chapter is {arguments.shown(chapter)}; there is no quiz of that number; the quizzes "
            f"are {known}"
        )
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


def _final(run: isolation.Run) -> Finding:
    """Return the finding of a run, also of one that was cut off."""
    last = Finding("trying")
    if run.last is not None:
        at = run.last["at"]
        last = Finding(**run.last | {"at": None if at is None else tuple(at)})
    if last.status != "trying":
        return last
    if run.ended == "late":
        text = f"It was stopped: it did not end within {isolation.LIMIT:g} seconds."
    elif run.ended == "garbled":
        text = "It wrote to a descriptor that it has not opened, the one that we listen to."
    elif run.signal in ("SIGKILL", "SIGXCPU"):
        text = f"The system has ended it ({run.signal}): it took too much time or memory."
    elif run.signal:
        text = f"It crashed Python ({run.signal}); a recursion without an end can do that."
    else:
        text = "It ended Python instead of returning."
    return replace(last, status="not yet", text=text)


def _verdict(slug: str, name: str, answer: Any, seed: int, run: isolation.Run) -> Verdict:
    """Put into words what was found."""
    number, exercise, finding = exercise_number(slug, name), _exercises(slug)[name], _final(run)
    head = f"Exercise {number}: {finding.status}."
    no_limit = [] if run.limited else ["(Checked without a limit on time, in this process.)"]
    if finding.status == "right":
        lines = [*_wrap(f"{head} {finding.text}".rstrip()), *no_limit]
        return Verdict(number, "right", "\n".join(lines), seed=seed)
    if finding.status == "no answer yet":
        lines = [*_wrap(f"{head} {finding.text}".rstrip()), *_wrap(f"Asked for: {exercise.asks}.")]
        return Verdict(number, "no answer yet", "\n".join(lines), seed=seed)
    case: Mapping[str, Any] = {}
    if finding.at is not None and not isinstance(exercise, Value):  # there it is the solution
        case = exercise.case(answer, finding.at, seed)
    lines = [head, *_wrap(finding.text), *_describe(case)]
    if isinstance(exercise, Function) and case:
        again = f", seed={seed}" if finding.fresh else ""
        if again:
            lines += _wrap("This case was drawn anew; the seed draws it again.")
        first, *others = (f'"{argument}"' for argument in case)
        also = f" (and {', '.join(others)})" if others else ""
        lines += _wrap(f'To try it yourself: chapter.check("{name}", …{again}).case[{first}]{also}')
    if finding.printed:
        lines += ["It printed:", textwrap.indent(finding.printed.rstrip(), "  ")]
    lines += [*_wrap(f"Hint: {exercise.hint}"), *no_limit]
    return Verdict(number, "not yet", "\n".join(lines), case, finding.h, seed)


def _describe(case: Mapping[str, Any]) -> list[str]:
    """Lines about the arguments with which something was seen: the world, then the others."""
    lines, world = [], first_world(case)
    if world is not None:
        about, *moves = describe_world(world).split("\n")
        lines += [*_wrap(f"The world: {about}"), *(line for move in moves for line in _wrap(move))]
    others = [f"{name} = {shown(value)}" for name, value in case.items() if value is not world]
    if others:
        lines += _wrap(f"Seen with {', '.join(others)}.")
    return lines


def _wrap(text: str) -> list[str]:
    indent = " " * (len(text) - len(text.lstrip()))
    return textwrap.wrap(
        text, WIDTH, subsequent_indent=2 * indent, break_long_words=False, break_on_hyphens=False
    )
