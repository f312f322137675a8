"""The reference: every public name on one page, with an example and a link to who teaches it."""

import functools
import importlib
import inspect
import re
from collections import Counter
from pathlib import Path

import pytest
import reference
from bs4 import BeautifulSoup
from building import build
from built import HTML, PAGES, ROOT
from looping import each

ROOMS = sorted((ROOT / "book" / "reference").glob("*.md"))
LIST = re.compile(r"^```\{api\} (?P<module>[\w.]+)\n(?P<names>.*?)^```$", re.MULTILINE | re.DOTALL)
THINGS = {name: thing for name, thing in reference.public().items() if not inspect.ismodule(thing)}
MODULES = {name for name, thing in reference.public().items() if inspect.ismodule(thing)}


def listed():
    """The page, the module and the name of all that the pages list."""
    for page in ROOMS:
        for found in LIST.finditer(page.read_text("utf-8")):
            for name in found["names"].split():
                yield page.stem, found["module"], name


def shown(module, name):
    """A name as a reader types it, without ``st.``: its page, by that name."""
    return f"{module}.{name}".removeprefix("safeteach.")


WHERE = {shown(module, name): page for page, module, name in listed()}


@functools.cache
def soup(page):
    return BeautifulSoup((HTML / f"{page}.html").read_text("utf-8"), "html.parser")


def test_every_public_name_stands_on_exactly_one_page():
    counts = Counter(shown(module, name) for _, module, name in listed())
    assert [name for name, count in counts.items() if count > 1] == []
    missing = sorted(set(THINGS) - set(counts))
    assert missing == [], "list these on a page of book/reference"
    rooms = {module.removeprefix("safeteach.") for _, module, _ in listed()}
    assert {"bounds", "instances"} <= MODULES <= rooms


def test_every_name_on_a_page_is_public():
    """Of the library as a whole, or of the room that the page names."""
    for _, module, name in listed():
        offered = importlib.import_module(module).__all__
        assert name in offered or shown(module, name) in THINGS, f"{module}.{name}"


def test_every_public_name_has_an_example():
    """That the examples run is for --doctest-modules to see."""
    lacking = [name for name, thing in THINGS.items() if ">>> " not in inspect.getdoc(thing)]
    assert lacking == [], "their docstrings need an example"


def test_every_public_name_says_where_it_is_taught():
    lacking = []
    for name, thing in THINGS.items():
        own, its_module = inspect.getdoc(thing), inspect.getdoc(inspect.getmodule(thing))
        taught = reference.TAUGHT.search(own) or reference.TAUGHT.search(its_module)
        if not taught or not reference.TITLE.search(taught[0]):
            lacking.append(name)
    assert lacking == [], 'say "Taught in the chapter *…*." in the docstring, or in the module\'s'


@each("name", THINGS)
def test_the_page_shows_it_as_it_is_typed_and_leads_to_who_teaches_it(name):
    page = soup(f"book/reference/{WHERE[name]}")
    (signature,) = page.select(f'dt[id="safeteach.{name}"]')
    typed = re.sub(r"\s+", "", signature.get_text())
    assert re.match(rf"(class|exception)?st\.{re.escape(name)}(\(.*\))?¶?#?$", typed), typed
    links = [link["href"].split("#")[0] for link in signature.parent.select("dd a[href]")]
    pages = {Path(link).stem for link in links}
    assert pages & {Path(page).name for page in PAGES if "reference" not in page}, "taught nowhere"
    (entry,) = page.select(f'.api-names td:first-child a[href="#safeteach.{name}"]')
    assert entry.get_text() == f"st.{name}"


def test_a_chapter_that_says_a_name_leads_to_the_reference():
    links = soup("book/sucbvi/the-experiments").select("article a:has(> code)[href]")
    found = {link.get_text(): link["href"] for link in links}
    assert found["st.compare"] == "../reference/running.html#safeteach.compare"
    assert found["st.is_feasible"] == "../reference/safety.html#safeteach.is_feasible"


CONFIG = f"""
title: A small book
only_build_toc_files: true
execute: {{execute_notebooks: "off"}}
sphinx:
  config: {{autodoc_typehints: none, napoleon_use_param: false, napoleon_use_rtype: false}}
  local_extensions:
    booksite: {Path(reference.__file__).parent}
    reference: {Path(reference.__file__).parent}
    small: tools
"""
MODULE = '''
"""A small library."""

__all__ = ["answer"]


def answer(world: int) -> int:
    """The {adjective} answer.

    {taught}

    Parameters
    ----------
    world : SafeMDP or (S,) array
        Where: any.
    """
    return 42 + world


def setup(app):
    """Be found: the folder of a local extension is on the path."""
    return {{"parallel_read_safe": True}}
'''


class Book:
    """A book with one page of reference, one chapter, and a library of one function."""

    def __init__(self, folder):
        self.folder = folder
        for name in ("book/_static", "book/data", "safeteach", "tools"):
            (folder / name).mkdir(parents=True)
        self.write("requirements.txt", "")
        self.write("_config.yml", CONFIG)
        self.write("_toc.yml", "format: jb-book\nroot: index\nchapters: [{file: on-answers}]\n")
        self.write("index.md", "# Names\n\n```{api} small\nanswer\n```\n")
        self.write("on-answers.md", "# On answers\n\nAsk {py:func}`small.answer`.\n")
        self.say("first")

    def say(self, adjective, chapter="On answers"):
        taught = f"Taught in the chapter *{chapter}*." if chapter else "Nobody teaches it."
        self.write("tools/small.py", MODULE.format(adjective=adjective, taught=taught))

    def write(self, name, text):
        (self.folder / name).write_text(text, "utf-8")

    def build(self):
        passed, self.log = build(self.folder)
        return passed

    def page(self, name):
        path = self.folder / "_build" / "html" / f"{name}.html"
        return BeautifulSoup(path.read_text("utf-8"), "html.parser").select_one("article")


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    book = Book(tmp_path_factory.mktemp("reference"))
    assert not book.build(), "this book has no SafeMDP to link to"
    assert "safeteach.SafeMDP" in book.log
    book.write("index.md", f"# Names\n\n{WORLDS}\n```{{api}} small\nanswer\n```\n")
    assert book.build(), book.log
    return book


WORLDS = "```{eval-rst}\n.. py:class:: safeteach.SafeMDP\n```\n"


def test_a_name_has_its_signature_its_fields_and_its_links(book):
    page = book.page("index")
    (signature,) = page.select('dt[id="small.answer"]')
    assert "answer(world)" in signature.get_text()
    assert page.select_one(".api-names td:last-child").get_text() == "The first answer"
    links = {link.get_text(): link["href"] for link in page.select("dd a[href]")}
    assert links["On answers"] == "on-answers.html"
    assert links["SafeMDP"] == "#safeteach.SafeMDP"
    assert "world : SafeMDP or (S,) array – Where: any." in page.get_text()


def test_a_chapter_leads_to_the_reference(book):
    assert book.page("on-answers").select('a[href="index.html#small.answer"]')


def test_a_change_of_a_docstring_reaches_the_page(book):
    book.say("second")
    assert book.build(), book.log
    assert "The second answer" in book.page("index").get_text()
    assert "first" not in book.page("index").get_text()


@pytest.mark.parametrize("chapter", ["Nowhere", ""], ids=["wrong", "none"])
def test_who_is_taught_nowhere_fails_the_build(book, chapter):
    book.say("third", chapter)
    assert not book.build()
    assert "there is none" in book.log if chapter else "nobody says where" in book.log
