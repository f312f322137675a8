"""The build cannot show an old library's output, forget a warning or keep a page that is gone.

A book of few pages, built with the extension of the real one, over a library of few lines.
"""

from pathlib import Path

import booksite
import notebooks
import pytest
from bs4 import BeautifulSoup
from building import build
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

CONFIG = f"""
title: A small book
only_build_toc_files: true
repository: {{url: ""}}
launch_buttons: {{binderhub_url: https://mybinder.org}}
execute: {{execute_notebooks: inline, stderr_output: error}}
sphinx:
  config: {{html_static_path: [book/_static], nb_eval_name_regex: .*}}
  local_extensions: {{booksite: {Path(booksite.__file__).parent}}}
"""
TOC = "format: jb-book\nroot: index\nchapters: [{file: chapter}, {file: second}, {file: other}]\n"
# The small library, also where a PYTHONPATH names the real one.
IMPORT = "import sys\n\nsys.path.insert(0, '')\n"
EXECUTED = "Starting inline execution client"
FIGURE = """
class Figure:
    def _repr_mimebundle_(self, include=None, exclude=None):
        pixel = "R0lGODlhAQABAIAAAP///wAAACH5BAAAAAAALAAAAAABAAEAAAICRAEAOw=="
        return {"text/plain": "-", "image/gif": pixel}, {"image/gif": {"alt": "One pixel."}}
"""


class Book:
    """A book in a folder, changed by one test after another, and what building it gave."""

    def __init__(self, folder):
        self.folder = folder
        (folder / "safeteach").mkdir()
        (folder / "book" / "_static").mkdir(parents=True)
        (folder / "book" / "data").mkdir()
        self.write("book/_static/style.css", "/* first */")
        self.write("safeteach/__init__.py", "")
        self.write("safeteach/one.py", "answer = 'first'\n" + FIGURE)
        self.write("safeteach/two.py", "reply = 'hello'\n")
        self.write("requirements.txt", "")
        self.write("_config.yml", CONFIG)
        self.write("_toc.yml", TOC)
        self.write("index.md", "# Start\n\nSee [the chapter](chapter).\n")
        self.write("other.md", "# Another\n\nText.\n")
        self.write("book/data/table.npz", "3")
        self.write("book/data/unread.npz", "4")
        self.write_chapter(
            new_markdown_cell("# The chapter"),
            new_code_cell(
                IMPORT + "from safeteach import one\n\nprint('the answer is', one.answer)"
            ),
            new_code_cell("one.Figure()"),
            new_markdown_cell("In the text it is {eval}`f'{one.answer:>8}'`."),
        )
        self.write_chapter(
            new_markdown_cell("# The second chapter"),
            new_code_cell(IMPORT + "from safeteach import two\n\nprint('the reply is', two.reply)"),
            new_code_cell("name = 'table'\nprint('data:', open(f'book/data/{name}.npz').read())"),
            name="second",
        )

    def write_chapter(self, *cells, name="chapter"):
        notebook = notebooks.normalise(new_notebook(cells=list(cells)))
        self.write(f"{name}.ipynb", notebooks.dump(notebook))

    def write(self, name, text):
        (self.folder / name).write_text(text, "utf-8")

    def build(self):
        passed, self.log = build(self.folder)
        return passed

    def executed(self):
        """Name the notebooks that the last build executed, sorted."""
        lines = [line for line in self.log.splitlines() if EXECUTED in line]
        return sorted(Path(line.split(": ")[0]).name for line in lines)

    def page(self, name):
        path = self.folder / "_build" / "html" / f"{name}.html"
        return BeautifulSoup(path.read_text("utf-8"), "html.parser")


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    book = Book(tmp_path_factory.mktemp("book"))
    assert book.build(), book.log
    return book


def test_what_a_cell_prints_is_merged_wherever_it_was_cut_and_kept_as_it_was_sent():
    parts = ["a", "a", "\nb ", "\n", " \n"]
    sent = [new_output("stream", name="stdout", text=part) for part in parts]
    sent.insert(2, new_output("display_data", data={"text/plain": "shown"}))
    (printed, shown) = booksite.merge_copies(sent)
    assert printed.text == "aa\nb\n"
    assert shown == sent[2]
    assert [one.text for one in (*sent[:2], *sent[3:])] == parts


def test_alt_text_comes_from_the_figure(book):
    [image] = book.page("chapter").select(".cell_output img")
    assert image["alt"] == "One pixel."


def test_the_title_of_the_first_page_says_what_the_book_is_about(book):
    titles = [book.page(name).title.get_text() for name in ("index", "chapter")]
    assert titles[0].startswith("Provably safe reinforcement learning — ")
    assert titles[1].startswith("The chapter — ")


def test_no_page_names_another_host(book):
    for name in ("index", "chapter", "other"):
        for tag in book.page(name).select("script[src], link[rel=stylesheet]"):
            assert "//" not in (tag.get("src") or tag.get("href")) or "mathjax" in tag["src"]
        assert "unpkg.com" not in str(book.page(name))


def test_a_change_of_the_library_reaches_the_page_that_uses_it_and_no_other(book):
    assert "the answer is first" in book.page("chapter").get_text()
    book.write("safeteach/one.py", "answer = 'second'\n" + FIGURE)
    assert book.build(), book.log
    assert "the answer is second" in book.page("chapter").get_text()
    assert "In the text it is   second." in book.page("chapter").get_text()
    assert "first" not in book.page("chapter").get_text()
    assert book.executed() == ["chapter.ipynb"]


def test_a_change_of_stored_data_reaches_the_page_that_reads_it_and_no_other(book):
    assert "data: 3" in book.page("second").get_text()
    book.write("book/data/table.npz", "5")
    book.write("book/data/unread.npz", "6")
    assert book.build(), book.log
    assert "data: 5" in book.page("second").get_text()
    assert book.executed() == ["second.ipynb"]


def test_a_new_lock_is_a_reason_to_execute_all(book):
    book.write("requirements.txt", "numpy==1\n")
    assert book.build(), book.log
    assert book.executed() == ["chapter.ipynb", "second.ipynb"]


def test_nothing_changed_means_nothing_is_executed(book):
    assert book.build(), book.log
    assert book.executed() == []


def test_a_change_of_a_static_file_reaches_the_site(book):
    book.write("book/_static/style.css", "/* second */")
    assert book.build(), book.log
    built = book.folder / "_build" / "html" / "_static" / "style.css"
    assert built.read_text("utf-8") == "/* second */"


def test_a_new_title_reaches_the_navigation_of_every_page(book):
    book.write("other.md", "# Renamed\n\nText.\n")
    assert book.build(), book.log
    assert "Renamed" in book.page("chapter").select_one("nav.bd-links").get_text()


def test_the_repository_is_linked_where_it_has_an_address(book):
    buttons = ".btn-source-repository-button, .btn-source-issues-button, .dropdown-launch-buttons"
    assert book.page("chapter").select(buttons) == []
    assert "mybinder" not in str(book.page("chapter"))
    book.write("_config.yml", CONFIG.replace('url: ""', "url: https://github.com/some/where"))
    assert book.build(), book.log
    assert len(book.page("chapter").select(buttons)) == 3
    links = {link["href"] for link in book.page("chapter").select("a[href*='some/where']")}
    assert len(links) == 3, "the repository, its issues, and Binder"
    assert book.executed() == []


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
    book.write("index.md", "# Start\n\nSee [the chapter](chapter).\n")
    book.write_chapter(new_markdown_cell("# The chapter"), cell)
    assert not book.build()
