"""The built pages: as many as the table of contents names, each whole, with alt text and links."""

import functools
import re
from urllib.parse import unquote, urlsplit

import notebooks
import pytest
from bs4 import BeautifulSoup
from built import GENERATED, HTML, PAGES, ROOT

from safeteach.classroom.contents import contents, exercise_number


@functools.cache
def soup(page):
    return BeautifulSoup((HTML / f"{page}.html").read_text("utf-8"), "html.parser")


@functools.cache
def anchors(page):
    return {tag["id"] for tag in soup(page).select("[id]")}


def test_the_pages_are_those_of_the_toc():
    built = {
        path.relative_to(HTML).with_suffix("").as_posix()
        for path in HTML.rglob("*.html")
        if path.relative_to(HTML).parts[0] not in {"_static", "vendor"}
    }
    assert built == {*PAGES, *GENERATED}
    assert len(built) == len(PAGES) + len(GENERATED)


@pytest.mark.parametrize("page", PAGES)
def test_a_page_has_one_title_and_content(page):
    article = soup(page).select_one("article.bd-article")
    assert len(article.select("h1")) == 1
    assert len(article.get_text().split()) > 20


@pytest.mark.parametrize("page", PAGES)
def test_no_markup_is_left_raw(page):
    article = soup(page).select_one("article.bd-article")
    code = {id(text) for one in article.select("pre, code") for text in one.strings}
    prose = "".join(text for text in article.strings if id(text) not in code)
    assert len(prose.split()) > 20
    assert not re.search(r"```|:::|\{[a-z:]+\}`|\$\$", prose)


@pytest.mark.parametrize("page", PAGES)
def test_every_image_says_what_it_shows(page):
    for image in soup(page).select("img"):
        alt = image.get("alt", "").strip()
        assert alt, f"{image['src']} has no alt text"
        assert not re.search(r"\.(png|svg|jpe?g|gif)$|^[0-9a-f]{32,}", alt), f"{alt} is a file name"


@pytest.mark.parametrize("page", [*PAGES, *GENERATED])
def test_every_local_link_leads_somewhere(page):
    for tag in soup(page).select("[href], [src]"):
        address = urlsplit(tag.get("href") or tag.get("src"))
        if address.scheme or address.netloc:
            continue
        target = ((HTML / page).parent / unquote(address.path)).resolve()
        if not address.path:
            target = HTML / f"{page}.html"
        assert target.exists(), f"{page} links to {address.path}"
        if address.fragment and target.suffix == ".html":
            name = target.relative_to(HTML.resolve()).with_suffix("").as_posix()
            fragment = unquote(address.fragment)
            assert fragment in anchors(name), f"{page} links to {name}#{fragment}"


@pytest.mark.parametrize("page", PAGES)
def test_a_page_shows_every_code_cell_of_its_notebook(page):
    source = ROOT / f"{page}.ipynb"
    hidden = {"remove-cell", "remove-input"}
    cells = [
        cell
        for cell in (notebooks.read(source).cells if source.is_file() else ())
        if cell.cell_type == "code" and not hidden & set(cell.metadata.get("tags", ()))
    ]
    assert len(soup(page).select("div.cell_input")) == len(cells)


@pytest.mark.parametrize("page", PAGES)
def test_a_folded_cell_says_what_is_in_it(page):
    source = ROOT / f"{page}.ipynb"
    says = [
        cell.source.split("\n")[0].removeprefix("# ")
        for cell in (notebooks.read(source).cells if source.is_file() else ())
        if {"hide-input", "hide-cell"} & set(cell.metadata.get("tags", ()))
    ]
    bars = soup(page).select("details.fold-code > summary")
    assert [bar.get_text(strip=True) for bar in bars] == says


@pytest.mark.parametrize("page", PAGES)
def test_every_solution_is_folded_behind_a_bar_without_a_link(page):
    article = soup(page).select_one("article.bd-article")
    for box in article.select(".solution"):
        assert box.name == "details"
        assert not box.has_attr("open")
        assert re.fullmatch(r"Solution to Exercise \d+\.\d+", box.summary.get_text(strip=True))
    assert article.select("summary a, summary button, .dropdown") == []


@pytest.mark.parametrize("slug", contents())
def test_the_numbers_of_exercises_are_those_that_the_checkers_say(slug):
    """Sphinx counts them in the page, the library counts them from the order of the book."""
    (page,) = [page for page in PAGES if page.endswith("/" + slug.replace("_", "-"))]
    shown = {
        box["id"].removeprefix(f"ex-{slug.replace('_', '-')}-"): box.select_one(
            ".caption-number"
        ).get_text(strip=True)
        for box in soup(page).select("div.exercise")
    }
    assert shown == {name: f"Exercise {exercise_number(slug, name)}" for name in contents()[slug]}
