"""Make the editions of the book beside the reader's: the student's and the instructor's.

All editions come from one source.  A chapter's notebook holds each solution in a cell of its own;
the chapter's room holds, in rubrics.toml, what graders look for and, where an exercise asks for a
proof, a model of it.

  edition        made by           in                   solutions  rubrics
  reader's       make book         _build/html          folded     none
  student's      make student      _build/student       none       none
  instructor's   make instructor   _build/instructor    folded     behind each solution

The last two have three folders: notebooks/ with the data that they read, html/ with the pages, and
dist/ with the library as a wheel.  Their pages are written from what the reader's build has read
and run, so build that first; no notebook is executed again.  The student's edition is searched for
solutions, rubrics and model proofs before it is put in its place.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import contents
import leaks
import notebooks
import solutions
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell

ROOT = notebooks.ROOT
EDITION = "SAFETEACH_EDITION"  # tells the Sphinx extension which pages to write
EDITIONS = ("student", "instructor")
# All that a wheel is made of.
PACKED = ("LICENSE", "LICENSE-TEXT", "MANIFEST.in", "README.md", "pyproject.toml", "safeteach")
BUILD_WHEEL = "import sys; from setuptools import build_meta; build_meta.build_wheel(sys.argv[1])"


def without_solutions(notebook: NotebookNode) -> NotebookNode:
    """A notebook as a student gets it."""
    cells = [cell for cell in notebook.cells if solutions.label_of(cell) is None]
    return NotebookNode(notebook, cells=cells)


def with_rubrics(notebook: NotebookNode, rubrics: Mapping[str, solutions.Rubric]) -> NotebookNode:
    """A notebook as an instructor gets it: each solution is followed by the rubric of its label."""
    cells = []
    for cell in notebook.cells:
        cells.append(cell)
        if label := solutions.label_of(cell):
            text = notebooks.write_out(solutions.as_markdown(rubrics[label]))
            cells.append(new_markdown_cell(text, id=f"{cell.id}-rubric"))
    return NotebookNode(notebook, cells=cells)


def edited(edition: str, path: Path) -> NotebookNode:
    """A stored notebook as an edition has it."""
    notebook = notebooks.read(path)
    try:
        if edition == "student":
            return without_solutions(notebook)
        return with_rubrics(notebook, solutions.rubrics_of(path, ROOT))
    except ValueError as error:
        raise ValueError(f"{path.relative_to(ROOT)}: {error}") from None


def write_notebooks(edition: str, folder: Path) -> None:
    """Write every notebook of an edition, and the data that they read where they look for them."""
    for path in notebooks.find():
        target = folder / path.relative_to(notebooks.BOOK)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(notebooks.dump(edited(edition, path)), "utf-8")
    shutil.copytree(notebooks.BOOK / "data", folder / "data")


def write_pages(edition: str, folder: Path, sources: Path) -> None:
    """Write the pages of an edition from what the reader's build has read and run.

    Sphinx writes them into an empty folder beside a copy of what it remembers of the reader's book.
    The notebooks that a page offers for download are those of `sources`.
    """
    remembered = ROOT / "_build" / ".doctrees"
    if not (remembered / "environment.pickle").is_file():
        raise ValueError("There is no built book to write the pages from: run `make book` first.")
    with tempfile.TemporaryDirectory(dir=folder.parent) as place:
        shutil.copytree(remembered, Path(place, "_build", ".doctrees"))
        command = ["jupyter-book", "build", str(ROOT), "-W", "-n", "--keep-going"]
        done = subprocess.run(
            [*command, "--path-output", place],
            env=os.environ | {EDITION: edition},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        if done.returncode:
            raise ValueError(f"{done.stdout}\nThe pages of the {edition}'s edition failed.")
        shutil.move(Path(place, "_build", "html"), folder)
    for copied in (folder / "_sources").rglob("*.ipynb"):
        book = copied.relative_to(folder / "_sources" / notebooks.BOOK.name)
        shutil.copy(sources / book, copied)


def write_wheel(folder: Path) -> None:
    """Build the library as a wheel, from a copy so that nothing built earlier gets into it."""
    folder.mkdir()
    with tempfile.TemporaryDirectory() as place:
        for name in PACKED:
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
            copy(ROOT / name, Path(place, name))
        subprocess.run(
            [sys.executable, "-c", BUILD_WHEEL, str(folder.resolve())],
            cwd=place,
            check=True,
            capture_output=True,
        )


def check_rubrics() -> None:
    """Raise an error that names every exercise without a rubric, if there is one."""
    lacking: list[str] = []
    for page in map(Path, contents.chapters(contents.read_toc())):
        cells = notebooks.read(ROOT / f"{page}.ipynb").cells
        labels = [label for cell in cells if (label := solutions.label_of(cell))]
        lacking += solutions.lacking(page, labels, ROOT)
    if lacking:
        raise ValueError("\n".join(lacking))


def check_secrets(folder: Path) -> None:
    """Raise an error that says what a folder for students must not hold, if there is anything."""
    secrets = leaks.secrets_of(ROOT)
    if found := leaks.search(folder, secrets):
        raise ValueError("\n".join(["This would reach students.", *found]))
    print(f"Of {len(secrets):,} lines that only solutions and rubrics say it holds none.")


def make(edition: str, folder: Path) -> None:
    """Make an edition in a folder, whole or not at all."""
    if edition == "instructor":
        check_rubrics()
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as place:
        made = Path(place, edition)
        write_notebooks(edition, made / "notebooks")
        write_wheel(made / "dist")
        write_pages(edition, made / "html", made / "notebooks")
        if edition == "student":
            check_secrets(made)
        shutil.rmtree(folder, ignore_errors=True)
        made.rename(folder)


def main() -> None:
    """Make the edition that the command line names."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "edition",
        choices=EDITIONS,
        help="student: without solutions, rubrics and model proofs; instructor: with all of them",
    )
    edition = parser.parse_args().edition
    folder = ROOT / "_build" / edition
    print(f"Writing the {edition}'s edition; nothing is executed again", flush=True)
    try:
        make(edition, folder)
    except ValueError as error:
        sys.exit(str(error))
    print(f"The {edition}'s edition: {folder}   (pages: file://{folder}/html/index.html)")


if __name__ == "__main__":
    main()
