"""Which chapters there are, which exercises they have, and the numbers that follow from the order.

The book says it: the chapters in ``_toc.yml``, the exercises in the notebooks.  ``contents.json``
carries it to where there is no book; ``make contents`` writes it, and a test keeps the two equal.
"""

from __future__ import annotations

import json
from functools import cache
from importlib import resources

__all__ = ["chapter_number", "contents", "exercise_number", "named", "slug_of"]


@cache
def contents() -> dict[str, list[str]]:
    """The names of the exercises of every chapter, both in the order of the book.

    >>> contents()["danger_ahead"][:2]
    ['by-hand', 'recursion']
    """
    text = resources.files("safeteach.classroom").joinpath("contents.json").read_text("utf-8")
    found: dict[str, list[str]] = json.loads(text)
    return found


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
