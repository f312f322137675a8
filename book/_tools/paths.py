"""The Sphinx extension behind the pages *Reading paths* and *Status of the book*.

``{path}`` shows the reading path whose key it gets, with its chapters and their minutes;
``{status}`` shows the table that ``make contents`` prints, with the seconds of this build, and
what is waiting.  Both are made when pages are written, since they speak of other pages.  How long
the notebooks took is kept beside the built book, for ``make contents``.

The title of an exercise says its stars and minutes; that of its solution, which repeats it, need
not.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from contents import (
    EFFORTS,
    EFFORTS_LEGEND,
    OVER,
    ROOMS,
    SIZES,
    SIZES_LEGEND,
    TIMES,
    Row,
    numbers,
    rows,
)
from deriving import EFFORT
from docutils import nodes
from measuring import excesses
from myst_nb.sphinx_ import NbMetadataCollector
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import SphinxDirective
from sphinx_exercise.nodes import solution_node  # type: ignore[import-untyped]

from safeteach.classroom import outlines
from safeteach.classroom.outlines import READING_PATHS, ReadingPath

PATHS = {path.key: path for path in READING_PATHS}
Cell: TypeAlias = str | Any  # or a node, which docutils has no types for


class about_chapters(nodes.General, nodes.Element):  # type: ignore[misc]
    """A place for what is made of all chapters; its key is that of a path, or empty for all."""


class ShowPath(SphinxDirective):
    """Show a reading path."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Keep its place."""
        (key,) = self.arguments
        if key not in PATHS:
            raise self.error(f"there is no path {key!r}; expected {', '.join(PATHS)}")
        return keep_place(self, key)


class ShowStatus(SphinxDirective):
    """Show how far the book is."""

    def run(self) -> list[nodes.Node]:
        """Keep its place."""
        return keep_place(self, "")


def keep_place(directive: SphinxDirective, key: str) -> list[nodes.Node]:
    """Keep a place, and have the page made anew when a room says something else."""
    rooms = Path(directive.env.srcdir, ROOMS)
    for file in (
        Path(outlines.__file__),
        *rooms.glob(f"*/{outlines.CHAPTER}"),
        *rooms.glob(f"*/{outlines.EXERCISES}"),
    ):
        directive.env.note_dependency(str(file))
    return [about_chapters(key=key)]


class FillPlaces(SphinxPostTransform):
    """Fill the places with what the chapters are now."""

    default_priority = 5  # before links are resolved

    def run(self, **_: Any) -> None:
        """Fill them."""
        places = list(self.document.findall(about_chapters))
        if places:
            chapters = rows(Path(self.app.srcdir), times(self.env))
            for place in places:
                path = PATHS.get(place["key"])
                place.replace_self(show_path(path, chapters) if path else show_status(chapters))


class ShortenSolutions(SphinxPostTransform):
    """Leave stars and minutes out of the titles of solutions."""

    default_priority = 25  # when these have the titles of their exercises

    def run(self, **_: Any) -> None:
        """Leave them out."""
        for solution in self.document.findall(solution_node):
            for reference in solution[0].findall(nodes.reference):
                # New texts: the old ones are part of the exercise too.
                reference[:] = [
                    nodes.Text(EFFORT.sub("", part)) if isinstance(part, nodes.Text) else part
                    for part in reference
                ]


def show_path(path: ReadingPath, chapters: Iterable[Row]) -> list[nodes.Node]:
    """Whom a path is for, what it gives, how long it takes, and its chapters."""
    on_it = [row for row in chapters if path.key in row.outline.paths]
    minutes = [(row.minutes, row.proof_minutes, row.exercise_minutes) for row in on_it]
    sums = [sum(column) for column in zip(*minutes, strict=True)]
    read, proofs, exercises = map(duration, sums)
    lines = [[link(row), *map(str, of)] for row, of in zip(on_it, minutes, strict=True)]
    return [
        paragraph(path.audience),
        paragraph(f"Afterwards you can {path.afterwards}."),
        paragraph(
            f"About {read} to read, {proofs} more for the proofs and {exercises} for the "
            f"exercises; in minutes:"
        ),
        table(
            ("chapter", "read", "proofs", "exercises"),
            [*lines, [nodes.strong("", said) for said in ("together", *map("{:,}".format, sums))]],
        ),
    ]


def show_status(chapters: Sequence[Row]) -> list[nodes.Node]:
    """The tables of all chapters, and what each of them is waiting for."""
    return [
        table(("chapter", *SIZES), [[link(row), *marked(row, SIZES)] for row in chapters]),
        paragraph(SIZES_LEGEND),
        table(("chapter", *EFFORTS), [[link(row), *marked(row, EFFORTS)] for row in chapters]),
        paragraph(EFFORTS_LEGEND),
        *show_waiting(chapters),
    ]


def marked(row: Row, columns: Iterable[str]) -> Iterator[Cell]:
    """Numbers of a chapter, with a mark where they go beyond the contract."""
    said, over = numbers(row), excesses(row.size, row.seconds)
    for name in columns:
        yield nodes.strong("", f"{said[name]}{OVER}") if name in over else said[name]


def show_waiting(chapters: Iterable[Row]) -> list[nodes.Node]:
    """The chapters that have not the form of the second edition, and what keeps them from it.

    How long a notebook runs depends on the machine too, and is not counted.
    """
    items = []
    for row in chapters:
        lacks = [*excesses(row.size).values(), *([] if row.figures else ["no numbered figure"])]
        if lacks:
            text = nodes.Text(f": {', '.join(lacks)}")
            items.append(nodes.list_item("", nodes.paragraph("", "", link(row), text)))
    if not items:
        return [paragraph("All chapters have the form of the second edition.")]
    waiting = "These chapters do not have the form of the second edition yet:"
    return [paragraph(waiting), nodes.bullet_list("", *items)]


def duration(minutes: int) -> str:
    """A time in words, hours by halves.

    Examples
    --------
    >>> [duration(minutes) for minutes in (80, 90, 130, 230)]
    ['80 minutes', '1½ hours', '2 hours', '4 hours']
    """
    if minutes < 90:
        return f"{minutes} minutes"
    hours, half = divmod(round(minutes / 30), 2)
    return f"{hours}{'½' * half} hours"


def paragraph(text: str) -> nodes.paragraph:
    """A paragraph of plain text."""
    return nodes.paragraph("", text)


def link(row: Row) -> addnodes.pending_xref:
    """A link to a chapter, which is resolved later."""
    return addnodes.pending_xref(
        "", nodes.inline("", row.title), refdomain="std", reftype="doc", refexplicit=True,
        refwarn=True, reftarget=f"/{row.path}",
    )  # fmt: skip


def table(head: Sequence[str], lines: Iterable[Sequence[Cell]]) -> nodes.table:
    """A table whose first column is text and whose others are numbers."""

    def line(cells: Sequence[Cell]) -> nodes.row:
        inside = [nodes.Text(cell) if isinstance(cell, str) else cell for cell in cells]
        entries = [nodes.entry("", nodes.paragraph("", "", cell)) for cell in inside]
        for entry in entries[1:]:
            entry["classes"].append("text-right")
        return nodes.row("", *entries)

    group = nodes.tgroup(cols=len(head))
    group += [nodes.colspec(colwidth=1) for _ in head]
    group += [nodes.thead("", line(head)), nodes.tbody("", *map(line, lines))]
    return nodes.table("", group)


def times(env: BuildEnvironment) -> dict[str, float]:
    """The seconds that each notebook took when it was last executed, by its page."""
    kept = NbMetadataCollector.get_doc_data(env)
    found = {name: of.get("exec_data", {}).get("runtime") for name, of in kept.items()}
    return {name: round(seconds, 2) for name, seconds in found.items() if seconds is not None}


def keep_times(app: Sphinx, exception: Exception | None) -> None:
    """Write these beside the built book."""
    if not exception:
        file = Path(app.outdir).parent / Path(TIMES).name
        file.write_text(json.dumps(times(app.env), indent=1, sort_keys=True) + "\n", "utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    """Register all of the above with Sphinx."""
    app.add_node(about_chapters)
    app.add_directive("path", ShowPath)
    app.add_directive("status", ShowStatus)
    app.add_post_transform(FillPlaces)
    app.add_post_transform(ShortenSolutions)
    app.connect("build-finished", keep_times)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
