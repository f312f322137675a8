"""Write into each chapter's notebook what follows from the files of its room.

That is the head of the chapter, a cell below its title that says what a reader will be able to do,
needs, and how long it takes, from ``chapter.toml``; and the stars and the minutes in the title of
each exercise, from ``exercises.toml``.  Run it through ``make contents``.
"""

import copy
import re
import sys
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import notebooks
from contents import ROOT, Row, rows, slug
from measuring import HEAD
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell

from safeteach.classroom.outlines import READING_PATHS, WHOLE, ExerciseOutline

PATHS_PAGE = "book/reading-paths"
STAR = "★"
EFFORT = re.compile(rf" {STAR}+ · \d+ min")  # at the end of the title of an exercise
EXERCISE = re.compile(
    rf"^(?P<fence>:{{3,}}\{{exercise\}}) (?P<title>[^\n]*?)(?:{EFFORT.pattern})?\n"
    rf"(?P<options>(?::[a-z]+:[^\n]*\n)*?:label: ex-(?P<name>[a-z0-9-]+))$",
    re.MULTILINE,
)


def head(row: Row, chapters: Mapping[str, Row]) -> str:
    """The head of a chapter in Markdown; `chapters` has all of them, by their slugs."""
    outline = row.outline
    needs = series([link(chapters[need].title, chapters[need].path) for need in outline.needs])
    *outcomes, last = outline.outcomes.values()
    proofs = f", {row.proof_minutes} more for the proofs" if row.proof_minutes else ""
    lines = (
        f"**You will be able to** {'; '.join([*outcomes, f'and {last}'])}.",
        f"**You need** {'; also '.join(filter(None, [needs, outline.background]))}.",
        f"**Time**: about {row.minutes} minutes to read{proofs}, "
        f"{row.exercise_minutes} more for the exercises.",
        f"**In a hurry?** {shortcuts(outline.paths)}",
    )
    return "\n".join(f"- {line}" for line in lines)


def shortcuts(paths: Collection[str]) -> str:
    """Which of the reading paths that are not the whole book take a chapter and which leave it out.

    Examples
    --------
    >>> shortcuts(["engineer", "course"])
    'Our {doc}`selection of chapters </book/reading-paths>` for the engineer contains it.'
    """
    taking = [path for path in READING_PATHS if path.key != WHOLE and path.key in paths]
    if len(taking) == 1:
        return f"Our {link('selection of chapters', PATHS_PAGE)} for {taking[0].name} contains it."
    verb = "contain it" if taking else "leave it out"
    return f"Our {link('shorter selections of chapters', PATHS_PAGE)} {verb}."


def link(text: str, path: str) -> str:
    """A link to a page of the book, which JupyterLab shows by its text.

    Examples
    --------
    >>> link("Danger ahead", "book/model/danger-ahead")
    '{doc}`Danger ahead </book/model/danger-ahead>`'
    """
    return f"{{doc}}`{text} </{path}>`"


def series(words: Sequence[str]) -> str:
    """Words one after the other.

    Examples
    --------
    >>> [series(words) for words in ([], ["one"], ["one", "two", "three"])]
    ['', 'one', 'one, two and three']
    """
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


def titled(source: str, chapter: str, exercises: Sequence[ExerciseOutline]) -> str:
    r"""The text of a cell with the stars and the minutes in the titles of its exercises.

    Examples
    --------
    >>> told = ExerciseOutline("by-hand", 2, 10, 1, "compute")
    >>> text = ":::{exercise} By hand\n:label: ex-danger-ahead-by-hand\n:::"
    >>> print(titled(text, "danger-ahead", [told]))
    :::{exercise} By hand ★★ · 10 min
    :label: ex-danger-ahead-by-hand
    :::
    """
    asked = {f"{chapter}-{exercise.name}": exercise for exercise in exercises}

    def title(found: re.Match[str]) -> str:
        exercise = asked[found["name"]]
        effort = f"{STAR * exercise.difficulty} · {exercise.minutes} min"
        return f"{found['fence']} {found['title']} {effort}\n{found['options']}"

    return EXERCISE.sub(title, source)


def derived(notebook: NotebookNode, row: Row, chapters: Mapping[str, Row]) -> NotebookNode:
    """The notebook of a chapter with the head and the titles that it should have."""
    notebook = copy.deepcopy(notebook)
    cells = [cell for cell in notebook.cells if cell.id != HEAD]
    for cell in cells:
        if cell.cell_type == "markdown":
            cell.source = titled(cell.source, Path(row.path).name, row.outline.exercises)
    text = notebooks.write_out(head(row, chapters))
    cells.insert(1, new_markdown_cell(text, id=HEAD, metadata={"tags": [HEAD]}))
    notebook.cells = cells
    return notebook


def derive(root: Path = ROOT) -> dict[Path, str]:
    """What the notebooks of all chapters should hold, by their files."""
    chapters = {slug(row.path): row for row in rows(root)}
    files = {root / f"{row.path}.ipynb": row for row in chapters.values()}
    return {
        file: notebooks.dump(derived(notebooks.read(file), row, chapters))
        for file, row in files.items()
    }


if __name__ == "__main__":
    if len(sys.argv) > 1:
        sys.exit(__doc__)
    for file, text in derive().items():
        file.write_text(text, "utf-8")
