"""The student's edition: all of the book, and nothing of a solution.

It is written once, from the built book, and then looked at; that no secret stands in it is a part
of making it.
"""

import copy
import functools
import json
import re
import shutil
from pathlib import Path

import edition_pages
import editions
import leaks
import notebooks
import pytest
import solutions
from bs4 import BeautifulSoup
from built import HTML, PAGES, ROOT
from sphinx.errors import ExtensionError
from sphinx.search.en import SearchEnglish

from safeteach.classroom.rooms import stored

CHAPTERS = [page for page in PAGES if (ROOT / f"{page}.ipynb").is_file()]


@pytest.fixture(scope="module")
def student(tmp_path_factory):
    folder = tmp_path_factory.mktemp("editions") / "student"
    editions.make("student", folder)
    return folder


@functools.cache
def page_of(html, page):
    return BeautifulSoup((html / f"{page}.html").read_text("utf-8"), "html.parser")


def files(folder):
    return {path.relative_to(folder) for path in folder.rglob("*") if path.is_file()}


def test_it_has_the_pages_and_pictures_of_the_readers(student):
    assert files(student / "html") == files(HTML)


@pytest.mark.parametrize("page", CHAPTERS)
def test_a_page_lacks_solutions_and_nothing_else(student, page):
    ours, readers = (page_of(html, page).select_one("article") for html in (student / "html", HTML))
    readers = copy.copy(readers)
    solved = readers.select(".solution")
    assert ours.select(".solution") == []
    assert len(solved) == len(readers.select(".exercise")) == len(ours.select(".exercise"))
    for solution in solved:
        solution.decompose()
    assert ours.get_text().split() == readers.get_text().split()


@pytest.mark.parametrize("page", PAGES)
def test_no_link_leads_to_what_was_left_out(student, page):
    html = (student / "html").resolve()
    for link in page_of(html, page).select("a.reference.internal[href*='#']"):
        path, _, anchor = link["href"].partition("#")
        target = ((html / page).parent / path).resolve() if path else html / f"{page}.html"
        assert not anchor or f'id="{anchor}"' in target.read_text("utf-8"), link["href"]


def test_its_notebooks_lack_solutions_and_nothing_else(student):
    for path in notebooks.find():
        name = path.relative_to(notebooks.BOOK)
        ours, readers = notebooks.read(student / "notebooks" / name), notebooks.read(path)
        left = [cell for cell in readers.cells if solutions.label_of(cell) is None]
        assert ours.cells == left


def test_what_a_page_offers_for_download_is_the_students_notebook(student):
    sources = student / "html" / "_sources"
    assert {path.with_suffix("") for path in files(sources) if path.suffix == ".ipynb"} == {
        Path(page) for page in CHAPTERS
    }
    for page in CHAPTERS:
        ours = student / "notebooks" / Path(f"{page}.ipynb").relative_to("book")
        assert (sources / f"{page}.ipynb").read_bytes() == ours.read_bytes()


def test_its_notebooks_find_what_long_studies_stored(student, monkeypatch):
    monkeypatch.chdir(student / "notebooks" / "sucbvi")
    assert stored("figure1.npz").parent == student / "notebooks" / "data"


def test_no_word_that_only_a_solution_has_leads_to_the_page(student):
    """In the search index, which knows stems of words and the pages that have them."""
    stem = SearchEnglish({}).stem
    readers, ours = index_of(HTML), index_of(student / "html")
    found = 0
    for page in CHAPTERS:
        boxes = page_of(HTML, page).select(".solution")
        solved = {word for box in boxes for word in stems(box, stem)}
        for word in solved - stems(page_of(student / "html", page), stem):
            found += page in readers.get(word, ())
            assert page not in ours.get(word, ()), f"{word} leads to {page}"
    assert found > len(CHAPTERS), "the reader's index does not know these words either"


def stems(tag, stem):
    return {stem(word) for word in re.findall(r"\w+", tag.get_text(" ").lower())}


def index_of(html):
    """The pages that a search for a word finds, by the stem of the word."""
    text = (html / "searchindex.js").read_text("utf-8")
    index = json.loads(re.fullmatch(r"Search\.setIndex\((.*)\)", text)[1])
    return {
        word: {index["docnames"][at] for at in (places if isinstance(places, list) else [places])}
        for word, places in index["terms"].items()
    }


@pytest.mark.parametrize("kind", ["code", "prose"])
def test_a_line_planted_in_a_page_is_found(student, tmp_path, kind):
    page = Path(shutil.copy(student / "html" / f"{CHAPTERS[0]}.html", tmp_path))
    secrets = leaks.secrets_of(ROOT)
    assert leaks.search(tmp_path, secrets) == []
    secret = next(secret for secret in secrets if secret.kind == kind)
    page.write_text(page.read_text("utf-8") + f"<p>{secret.text}</p>", "utf-8")
    (found,) = leaks.search(tmp_path, [secret])
    assert found.startswith(f"{page.name} says of the exercise {secret.label}")


def test_an_edition_reads_no_page_again(monkeypatch):
    edition_pages.read_nothing(None, None, ["book/preface"])
    monkeypatch.setenv(editions.EDITION, "student")
    edition_pages.read_nothing(None, None, [])
    with pytest.raises(ExtensionError, match=r"book/preface has changed .* run `make book` first"):
        edition_pages.read_nothing(None, None, ["book/preface"])


@pytest.mark.parametrize("edition", ["student", "instructor", ""])
def test_only_a_students_page_hides_the_way_to_the_repository(monkeypatch, edition):
    class Config:
        html_theme_options = dict.fromkeys([*edition_pages.LINKS, "home_page_in_toc"], True)

    monkeypatch.setenv(editions.EDITION, edition)
    edition_pages.stay(None, Config)
    assert ("repository_url" in Config.html_theme_options) == (edition != "student")
    assert "home_page_in_toc" in Config.html_theme_options


def test_without_a_built_book_it_says_what_to_do(monkeypatch, tmp_path):
    monkeypatch.setattr(editions, "ROOT", tmp_path)
    with pytest.raises(ValueError, match=r"no built book .* run `make book` first"):
        editions.write_pages("student", tmp_path / "html", tmp_path)
