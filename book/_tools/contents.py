"""Write down for the library what the book has, chapter by chapter, and print how long it is.

The chapters are those of the numbered parts of ``_toc.yml``; the exercises of a chapter are those
that its notebook labels, ``:label: ex-danger-ahead-recursion``, and its figures those that it shows
by ``chapter.figure("pond", ...)``.  Numbers follow from the order, and nobody types one.  The table
that is printed measures each lesson and marks what goes beyond the contract of a chapter.  Run it
through ``make contents``.
"""

import json
import re
import sys
import textwrap
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import notebooks
import yaml
from measuring import FORMULA, LIMITS, Size, excesses, measure, rounded, without_head

from safeteach.classroom.outlines import Outline, read_outlines

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / "safeteach" / "classroom" / "contents.json"
ROOMS = "safeteach/chapters"
TIMES = "_build/times.json"  # the seconds that each notebook took in the last build
OVER = "!"  # beside a number beyond the contract


def chapters(toc: dict[str, Any]) -> list[str]:
    """The paths of the numbered chapters, without their endings.

    >>> chapters({"parts": [{"chapters": [{"file": "preface"}]},
    ...                     {"numbered": True, "chapters": [{"file": "book/a/first"}]}]})
    ['book/a/first']
    """
    return [
        chapter["file"]
        for part in toc["parts"]
        if part.get("numbered")
        for chapter in part["chapters"]
    ]


def slug(path: str) -> str:
    """The name of a chapter's room.

    >>> slug("book/model/danger-ahead")
    'danger_ahead'
    """
    return Path(path).name.replace("-", "_")


def names(notebook: Path, kind: str, pattern: str) -> list[str]:
    """What the cells of a kind of a chapter name in the way of the pattern, as it comes."""
    cells = notebooks.read(notebook).cells
    text = "\n".join(cell.source for cell in cells if cell.cell_type == kind)
    return re.findall(pattern, text, re.MULTILINE)


def named(path: str, root: Path = ROOT) -> dict[str, list[str]]:
    """The names of the exercises and of the figures of a chapter, as they come."""
    notebook = root / f"{path}.ipynb"
    label = rf"^:label: ex-{notebook.stem}-([a-z0-9-]+)$"
    return {
        "exercises": names(notebook, "markdown", label),
        "figures": names(notebook, "code", r"\bchapter\.figure\(\s*\"([a-z0-9-]+)\""),
    }


def derive(toc: dict[str, Any]) -> str:
    """What ``contents.json`` should hold, given the table of contents."""
    found = {slug(path): named(path) for path in chapters(toc)}
    return json.dumps(found, indent=1) + "\n"


def read_toc(root: Path = ROOT) -> dict[str, Any]:
    """The table of contents of the book in a folder."""
    toc: dict[str, Any] = yaml.safe_load((root / "_toc.yml").read_text("utf-8"))
    return toc


@dataclass(frozen=True)
class Row:
    """What is known of a chapter, a line of the table.

    Attributes
    ----------
    path, title
        Of its notebook.
    outline
        What its room says of it.
    size
        Of the lesson.
    minutes, proof_minutes
        To read it, and its proofs.
    figures
        How many have a number.
    seconds
        That the notebook took in the last build, if it is known.
    """

    path: str
    title: str
    outline: Outline
    size: Size
    minutes: int
    proof_minutes: int
    figures: int
    seconds: float | None = None

    @property
    def exercise_minutes(self) -> int:
        """To solve its exercises."""
        return rounded(sum(exercise.minutes for exercise in self.outline.exercises))

    @property
    def stars(self) -> tuple[int, int, int]:
        """How many exercises there are of each difficulty."""
        counts = Counter(exercise.difficulty for exercise in self.outline.exercises)
        return counts[1], counts[2], counts[3]


def rows(root: Path = ROOT, times: Mapping[str, float] | None = None) -> list[Row]:
    """The chapters of the book in a folder, in their order, as they are in their files now."""
    paths = chapters(read_toc(root))
    found = {path: named(path, root) for path in paths}
    outlines = read_outlines(root / ROOMS, {slug(p): of["exercises"] for p, of in found.items()})
    return [
        _row(path, root, outlines[slug(path)], len(found[path]["figures"]), (times or {}).get(path))
        for path in paths
    ]


def _row(path: str, root: Path, outline: Outline, figures: int, seconds: float | None) -> Row:
    cells = notebooks.read(root / f"{path}.ipynb").cells
    title = cells[0].source.partition("\n")[0].removeprefix("# ")
    read = measure(without_head(cells))
    return Row(
        path, title, outline, measure(cells), read.minutes, read.proof_minutes, figures, seconds
    )


def read_times(root: Path = ROOT) -> dict[str, float]:
    """The seconds that notebooks took in the last build, by their paths."""
    file = root / TIMES
    times: dict[str, float] = json.loads(file.read_text("utf-8")) if file.is_file() else {}
    return times


# What there is in a lesson, and what it asks of a reader.
SIZES = ("words", "visible", "folded", "longest", "figures", "paper", "seconds")
EFFORTS = ("read", "proofs", "exercises", "★", "★★", "★★★")
COLUMNS = (*SIZES, *EFFORTS)


def numbers(row: Row) -> dict[str, str]:
    """What the table says of a chapter, by the names of its columns."""
    size, seconds = row.size, row.seconds
    shown = (
        f"{size.words:,}", size.visible, size.folded, size.longest, row.figures, size.mentions,
        "" if seconds is None else f"{seconds:.1f}",
        row.minutes, row.proof_minutes, row.exercise_minutes, *row.stars,
    )  # fmt: skip
    return dict(zip(COLUMNS, map(str, shown), strict=True))


def table(rows: Iterable[Row]) -> str:
    """The table of the book's chapters, for a terminal."""
    lines = [["", *COLUMNS]]
    for number, row in enumerate(rows, start=1):
        over = excesses(row.size, row.seconds)
        cells = [said + (OVER if name in over else " ") for name, said in numbers(row).items()]
        lines.append([f"{number:2} {row.title}", *cells])
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    aligned = (
        "  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])]).rstrip()
        for line in lines
    )
    legends = (textwrap.fill(legend, 100) for legend in (SIZES_LEGEND, EFFORTS_LEGEND))
    return "\n".join([*aligned, "", *legends])


SIZES_LEGEND = (
    "Of the lesson, which ends where the exercises begin: its words, visible and folded lines of "
    "code and the visible lines of its longest cell; its numbered figures and how often it speaks "
    "of the paper. Proofs and display formulas are not counted. Seconds are those in which the "
    f"notebook last ran. {OVER} marks what is more than a chapter may have: {LIMITS.words:,} "
    f"words, {LIMITS.visible} visible lines of code, {LIMITS.lines} with the folded ones, "
    f"{LIMITS.longest} visible lines in a cell, {LIMITS.seconds:g} seconds to run."
)
EFFORTS_LEGEND = (
    f"Minutes to read the lesson, for its proofs and for its exercises: {FORMULA}. "
    "Then the number of exercises with one, two and three stars."
)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        sys.exit(__doc__)
    FILE.write_text(derive(read_toc()), "utf-8")
    print(table(rows(times=read_times())))
