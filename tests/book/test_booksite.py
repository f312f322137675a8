"""The build cannot show an old library's output, forget a warning or keep a page that is gone.

A book of two pages, built with the extension of the real one, over a library of one line.
"""

import subprocess
import sys
from pathlib import Path

import booksite
import notebooks
import pytest
from bs4 import BeautifulSoup
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

CONFIG = f"""
title: A small book
only_build_toc_files: true
execute: {{execute_notebooks: inline, stderr_output: error}}
sphinx:
  config: {{html_static_path: [book/_static], nb_eval_name_regex: .*}}
  local_extensions: {{booksite: {Path(booksite.__file__).parent}}}
"""
TOC = "format: jb-book\nroot: index\nchapters: [{file: chapter}, {file: other}]\n"
FIGURE = """
class Figure:
    def _repr_mimebundle_(self, include=None, exclude=None):
        pixel = "R0lGODlhAQABAIAAAP///wAAACH5BAAAAAAALAAAAAABAAEAAAICRAEAOw=="
        return {"text/plain": "-", "image/gif": pixel}, {"image/gif": {"alt": "One pixel."}}
"""


class Book:
    """A book in a folder, and what building it gave."""

    def __init__(self, folder):
        self.folder = folder
        (folder / "safeteach").mkdir()
        (folder / "book" / "_static").mkdir(parents=True)
        self.write("book/_static/style.css", "/* first */")
        self.write("safeteach/__init__.py", "answer = 'first'\n" + FIGURE)
        self.write("requirements.txt", "")
        self.write("_config.yml", CONFIG)
        self.write("_toc.yml", TOC)
        self.write("index.md", "# Start\n\nSee [the chapter](chapter).\n")
        self.write("other.md", "# Another\n\nText.\n")
        cells = [
            new_markdown_cell("# The chapter"),
            new_code_cell("import safeteach\n\nprint('the answer is', safeteach.answer)"),
            new_code_cell("safeteach.Figure()"),
            new_markdown_cell("In the text it is {eval}`f'{safeteach.answer:>8}'`."),
        ]
        self.write("chapter.ipynb", notebooks.dump(notebooks.normalise(new_notebook(cells=cells))))

    def write(self, name, text):
        (self.folder / name).write_text(text, "utf-8")

    def build(self):
        tool = Path(sys.executable).with_name("jupyter-book")
        command = [tool, "build", ".", "-W", "-n", "--keep-going"]
        run = subprocess.run(command, cwd=self.folder, capture_output=True, text=True)
        self.log = run.stdout + run.stderr
        return run.returncode == 0

    def page(self, name):
        path = self.folder / "_build" / "html" / f"{name}.html"
        return BeautifulSoup(path.read_text("utf-8"), "html.parser")


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    book = Book(tmp_path_factory.mktemp("book"))
    assert book.build(), book.log
    return book


def test_alt_text_comes_from_the_figure(book):
    [image] = book.page("chapter").select(".cell_output img")
    assert image["alt"] == "One pixel."


def test_no_page_names_another_host(book):
    for name in ("index", "chapter", "other"):
        for tag in book.page(name).select("script[src], link[rel=stylesheet]"):
            assert "//" not in (tag.get("src") or tag.get("href")) or "mathjax" in tag["src"]
        assert "unpkg.com" not in str(book.page(name))


def test_a_change_of_the_library_reaches_the_page(book):
    assert "the answer is first" in book.page("chapter").get_text()
    book.write("safeteach/__init__.py", "answer = 'second'\n" + FIGURE)
    assert book.build(), book.log
    assert "the answer is second" in book.page("chapter").get_text()
    assert "In the text it is   second." in book.page("chapter").get_text()
    assert "first" not in book.page("chapter").get_text()


def test_nothing_changed_means_nothing_is_executed(book):
    assert book.build(), book.log
    assert "inline execution" not in book.log


def test_a_change_of_a_static_file_reaches_the_site(book):
    book.write("book/_static/style.css", "/* second */")
    assert book.build(), book.log
    built = book.folder / "_build" / "html" / "_static" / "style.css"
    assert built.read_text("utf-8") == "/* second */"


def test_a_new_title_reaches_the_navigation_of_every_page(book):
    book.write("other.md", "# Renamed\n\nText.\n")
    assert book.build(), book.log
    assert "Renamed" in book.page("chapter").select_one("nav.bd-links").get_text()


def test_a_page_that_left_the_book_is_gone(book):
    book.write("_toc.yml", TOC.replace(", {file: other}", ""))
    assert book.build(), book.log
    assert not (book.folder / "_build" / "html" / "other.html").exists()


def test_a_failing_build_fails_again(book):
    book.write("index.md", "# Start\n\nSee [nothing](no-such-page.md).\n")
    assert not book.build()
    assert not book.build()
    assert "no-such-page" in book.log


@pytest.mark.parametrize(
    "cell",
    [
        new_code_cell("1 / 0"),
        new_code_cell("import sys\n\nprint('careful', file=sys.stderr)"),
        new_markdown_cell("A number that nobody computed: {eval}`nobody`."),
    ],
    ids=["error", "stderr", "eval"],
)
def test_a_cell_that_goes_wrong_fails_the_build(book, cell):
    cells = [new_markdown_cell("# The chapter"), cell]
    book.write("index.md", "# Start\n\nSee [the chapter](chapter).\n")
    book.write("chapter.ipynb", notebooks.dump(notebooks.normalise(new_notebook(cells=cells))))
    assert not book.build()
