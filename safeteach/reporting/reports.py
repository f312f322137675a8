"""A report: one page that says of a world whether it can be safe, what that costs, and why.

Taught in the chapter *Your own world*.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from safeteach.arguments import instance, string
from safeteach.reporting.judging import judge, takes_too_long
from safeteach.reporting.markup import document, frame
from safeteach.reporting.saying import count
from safeteach.reporting.sections import (
    assumptions,
    doomed_states,
    sensitivity,
    the_verdict,
    the_world,
    verdict_of,
)
from safeteach.worlds.mdp import SafeMDP

__all__ = ["Report", "report"]

PASSES = 5  # over the steps of a world, for the plans behind a verdict


@dataclass(frozen=True, repr=False)
class Report:
    """A page about a world; a notebook shows it.

    Attributes
    ----------
    title : str
    verdict : str
        In one sentence, as on the page.
    html : str
        The whole page, for a file of its own.

    Examples
    --------
    >>> import safeteach as st
    >>> found = st.report(st.instances.union_counterexample())
    >>> found.html[:15], found.html.count("<h2")
    ('<!DOCTYPE html>', 5)
    """

    title: str
    verdict: str
    html: str

    def __repr__(self) -> str:
        return f"{self.title}. {self.verdict}"

    def _repr_html_(self) -> str:
        return frame(self.title, self.html)


def report(
    world: SafeMDP, path: str | os.PathLike[str] | None = None, title: str | None = None
) -> Report:
    """One page about a world, to hand to a colleague.

    It says what the world is; whether some policy is safe, and what safety costs or how little
    risk there is; which states are doomed and why; how all this changes with the horizon, with the
    threshold, and if small probabilities are ignored; and what was assumed.  The page is one file
    without a script, which needs no network.  The same world gives the same page.

    Of a large world it leaves out what would take too long, and says what.

    Parameters
    ----------
    world : SafeMDP
    path : path, optional
        A file to write the page to, whole or not at all; what it holds is replaced.
    title : str, optional
        The heading of the page.

    Returns
    -------
    Report

    Notes
    -----
    In a terminal, ``safeteach report plant.csv --horizon 12 --threshold 0.5`` does the same with a
    table that :func:`~safeteach.from_table` reads.

    Examples
    --------
    >>> import safeteach as st
    >>> st.report(st.instances.grid(), title="The pond")
    The pond. Yes: from (2,0) some policy is safe at every step; the best one earns 4, and the best
    of all policies 7.32181, unsafe with probability 0.950143: the price of safety is 3.32181.
    """
    instance(world, "world", SafeMDP, "a SafeMDP")
    file = None if path is None else _file(path)
    if title is None:
        sizes = count(world.S, "state"), count(world.A, "action"), count(world.H, "step")
        title = f"Safety report: a world of {sizes[0]}, {sizes[1]} and {sizes[2]}"
    string(title, "title")
    found = judge(world, values=not takes_too_long(world, PASSES))
    with warnings.catch_warnings():  # names may be written in letters that the figures' font lacks
        warnings.filterwarnings("ignore", r"Glyph \d+ .* missing from font", UserWarning)
        sections = [
            the_world(world),
            the_verdict(world, found),
            doomed_states(world),
            sensitivity(world),
            assumptions(world),
        ]
    made = Report(title, verdict_of(world, found), document(title, sections))
    if file:
        _write(file, made.html)
    return made


def _file(path: object) -> Path:
    """The file to write to, if it can be: better known before than after."""
    file = Path(instance(path, "path", str | os.PathLike, "the path of a file"))
    with _in_a_sentence(file):
        if file.is_dir():
            raise IsADirectoryError(0, "it is a folder")
        if not file.parent.is_dir():
            raise FileNotFoundError(0, f"there is no folder {str(file.parent)!r}")
    return file


def _write(file: Path, page: str) -> None:
    """Write the page, whole or not at all."""
    part = file.with_name(f"{file.name}.part")
    with _in_a_sentence(file):
        part.write_bytes(page.encode("utf-8", "xmlcharrefreplace"))
        part.replace(file)


@contextmanager
def _in_a_sentence(file: Path) -> Iterator[None]:
    """Around what the system may refuse: an error that names the argument."""
    try:
        yield
    except OSError as error:
        raise ValueError(
            f"path is {str(file)!r}; expected a file that can be written ({error.strerror})"
        ) from None
