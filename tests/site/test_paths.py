"""Reading paths and status on the page: made of what the chapters are, and made anew with them.

A book of two chapters, built with the extension of the real one.
"""

import json
import re
from pathlib import Path

import paths
import pytest
from bs4 import BeautifulSoup
from building import build
from built import ROOT
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from notebooks import dump, normalise

from safeteach.classroom.outlines import READING_PATHS

TOOLS = Path(paths.__file__).parent
CONFIG = f"""
title: A small book
only_build_toc_files: true
execute: {{execute_notebooks: inline}}
parse: {{myst_enable_extensions: [colon_fence, dollarmath]}}
sphinx:
  extra_extensions: [sphinx_proof, sphinx_exercise]
  local_extensions: {{booksite: {TOOLS}, paths: {TOOLS}}}
"""
TOC = """
format: jb-book
root: index
parts:
  - caption: Chapters
    numbered: true
    chapters: [{file: book/a/first-steps}, {file: book/a/second-steps}]
  - caption: Pages
    chapters: [{file: book/reading-paths}, {file: book/status}]
"""
CHAPTER = """
needs = [{needs}]
background = "a little Python"
paths = [{paths}]

[outcomes]
count = "count the steps"
prove = "prove that there are enough"
"""
EXERCISES = """
[by-hand]
difficulty = 2
minutes = 25
points = 1
outcome = "count"
"""
STATEMENT = """
## Exercises

:::{{exercise}} By hand ★★ · 25 min
:label: ex-{name}-by-hand

How many?
:::

:::{{solution}} ex-{name}-by-hand
:class: dropdown

Three.
:::
"""


class Book:
    """A book in a folder, changed by one test after another."""

    def __init__(self, folder):
        self.folder = folder
        self.write("requirements.txt", "")
        self.write("_config.yml", CONFIG)
        self.write("_toc.yml", TOC)
        self.write("index.md", "# Start\n")
        self.write(
            "book/reading-paths.md",
            "# Paths\n\n## One\n\n```{path} engineer\n```\n\n## Two\n\n```{path} course\n```\n",
        )
        self.write("book/status.md", "# Status\n\n```{status}\n```\n")
        self.write_chapter("first-steps", "First steps", "one " * 900, '"engineer", "course"')
        self.write_chapter("second-steps", "Second steps", "two " * 2_700, '"course"')

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")

    def write_chapter(self, name, title, text, on_paths):
        room = f"safeteach/chapters/{name.replace('-', '_')}"
        needs = '"first_steps"' if name.startswith("second") else ""
        self.write(f"{room}/chapter.toml", CHAPTER.format(needs=needs, paths=on_paths))
        self.write(f"{room}/exercises.toml", EXERCISES)
        cells = [
            new_markdown_cell(f"# {title}\n\n{text}"),
            new_code_cell("1 + 1"),
            new_markdown_cell(STATEMENT.format(name=name)),
        ]
        self.write(f"book/a/{name}.ipynb", dump(normalise(new_notebook(cells=cells))))

    def build(self):
        passed, self.log = build(self.folder)
        return passed

    def page(self, name):
        path = self.folder / "_build" / "html" / "book" / f"{name}.html"
        return BeautifulSoup(path.read_text("utf-8"), "html.parser")

    def tables(self, name):
        """The tables of a page, as lists of lines of text."""
        return [
            [[cell.get_text() for cell in row.select("td, th")] for row in table.select("tr")]
            for table in self.page(name).select("article table")
        ]


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    book = Book(tmp_path_factory.mktemp("book"))
    assert book.build(), book.log
    return book


def test_a_path_lists_its_chapters_with_their_minutes(book):
    head = ["chapter", "read", "proofs", "exercises"]
    first, second = ["First steps", "10", "0", "25"], ["Second steps", "25", "0", "25"]
    assert book.tables("reading-paths") == [
        [head, first, ["together", "10", "0", "25"]],
        [head, first, second, ["together", "35", "0", "50"]],
    ]
    links = [link["href"] for link in book.page("reading-paths").select("article td a")]
    assert links == ["a/first-steps.html", "a/first-steps.html", "a/second-steps.html"]


def test_a_path_says_whom_it_is_for_and_how_long_it_takes(book):
    text = book.page("reading-paths").select_one("article").get_text()
    for path in READING_PATHS:
        if path.key != "lectures":
            assert path.audience in text
            assert f"Afterwards you can {path.afterwards}." in text
    assert "About 35 minutes to read, 0 minutes more for the proofs and 50 minutes for the" in text


def test_the_status_shows_the_numbers_and_what_is_waiting(book):
    sizes, efforts = book.tables("status")
    assert sizes[1][:7] == ["First steps", "903", "1", "0", "1", "0", "0"]
    assert sizes[2][:2] == ["Second steps", "2,703!"]
    assert all(re.fullmatch(r"\d+\.\d!?", line[7]) for line in sizes[1:])
    assert efforts[2] == ["Second steps", "25", "0", "25", "0", "1", "0"]
    waiting = [item.get_text() for item in book.page("status").select("article li")]
    assert waiting == [
        "First steps: no numbered figure", "Second steps: 2,703 words, no numbered figure",
    ]  # fmt: skip


def test_the_seconds_of_the_notebooks_are_kept_for_make_contents(book):
    kept = json.loads((book.folder / "_build" / "times.json").read_text("utf-8"))
    assert sorted(kept) == ["book/a/first-steps", "book/a/second-steps"]
    assert all(seconds >= 0 for seconds in kept.values())


def test_the_title_of_an_exercise_says_its_effort_and_that_of_the_solution_does_not(book):
    page = book.page("a/first-steps")
    title, solution = (
        " ".join(page.select_one(selector).get_text().split())
        for selector in (".exercise .admonition-title", ".solution")
    )
    assert title == "Exercise 1.1 (By hand ★★ · 25 min)"
    assert "Solution to Exercise 1.1 (By hand)" in solution and "★" not in solution


def test_what_a_room_says_anew_reaches_the_pages(book):
    book.write_chapter("second-steps", "Last steps", "two " * 1_800, '"engineer", "course"')
    assert book.build(), book.log
    engineer, _ = book.tables("reading-paths")
    assert engineer[2:] == [["Last steps", "20", "0", "25"], ["together", "30", "0", "50"]]
    room = "safeteach/chapters/second_steps"
    book.write(f"{room}/exercises.toml", EXERCISES.replace("25", "45"))
    assert book.build(), book.log
    engineer, _ = book.tables("reading-paths")
    assert engineer[2] == ["Last steps", "20", "0", "45"]
    assert book.tables("status")[1][2] == ["Last steps", "20", "0", "45", "0", "1", "0"]


def test_a_path_that_nobody_knows_fails_the_build(book):
    book.write("book/reading-paths.md", "# Paths\n\n```{path} pilot\n```\n")
    assert not book.build()
    assert "there is no path 'pilot'; expected engineer, lectures, course" in book.log


def test_the_page_has_a_section_for_every_path():
    text = (ROOT / "book" / "reading-paths.md").read_text("utf-8")
    sections = re.findall(r"^## (.+)\n\n```\{path\} (\w+)\n```$", text, re.MULTILINE)
    assert [(name.lower(), key) for name, key in sections] == [
        (path.name, path.key) for path in READING_PATHS
    ]
