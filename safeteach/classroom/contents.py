"""Which chapters there are, their exercises and figures, and the numbers that follow from order.

The book says it: the chapters in ``_toc.yml``, the rest in the notebooks.  ``contents.json``
carries it to where there is no book; ``make contents`` writes it, and a test keeps the two equal.
"""

from __future__ import annotations

import json
from functools import cache
from importlib import resources

__all__ = ["chapter_number", "contents", "exercise_number", "figure_number", "named", "slug_of"]


@cache
def _derived() -> dict[str, dict[str, list[str]]]:
    text = resources.files("safeteach.classroom").joinpath("contents.json").read_text("utf-8")
    found: dict[str, dict[str, list[str]]] = json.loads(text)
    return found


@cache
def contents() -> dict[str, list[str]]:
    """The names of the exercises of every chapter, both in the order of the book.

    >>> contents()["danger_ahead"][:2]
    ['by-hand', 'recursion']
    """
    return {slug: of["exercises"] for slug, of in _derived().items()}


def figure_number(slug: str, name: str) -> str:
    """The number of a figure, which the notebook names ``chapter.figure("name", ...)``.

    >>> figure_number("why_every_step_counts", "sunrise")
    Traceback (most recent call last):
    ValueError: name is 'sunrise'; no figure of why_every_step_counts has it: a new one gets its
    number by `make contents`
    """
    names = _derived()[slug]["figures"]
    if name not in names:
        raise ValueError(
            f"name is {name!r}; no figure of {slug} has it: a new one gets its number by "
            f"`make contents`"
        )
    return f"{chapter_number(slug)}.{names.index(name) + 1}"


def chapter_number(slug: str) -> str:
    """The number of a chapter, from 1.

    >>> [chapter_number(slug) for slug in contents()][:3]
    ['1', '2', '3']
    """
    return str(list(contents()).index(slug) + 1)


def exercise_number(slug: str, name: str) -> str:
    """The number of an exercise.

    >>> exercise_number("danger_ahead", "recursion") == chapter_number("danger_ahead") + ".2"
    True
    """
    return f"{chapter_number(slug)}.{contents()[slug].index(name) + 1}"


def slug_of(number: str) -> str | None:
    """The chapter with that number, if there is one.

    >>> slug_of(chapter_number("danger_ahead")), slug_of("99")
    ('danger_ahead', None)
    """
    return {chapter_number(slug): slug for slug in contents()}.get(number)


def named(number: str) -> tuple[str, str] | None:
    """The chapter and the name of the exercise with that number, if there is one.

    >>> named(exercise_number("danger_ahead", "recursion")), named("99.9")
    (('danger_ahead', 'recursion'), None)
    """
    return {
        exercise_number(slug, name): (slug, name)
        for slug, names in contents().items()
        for name in names
    }.get(number)
