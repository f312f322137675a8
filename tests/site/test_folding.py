"""Folded solutions, code and proofs, and formulas on a phone: a small book that has one of each."""

import re

import notebooks
import pytest
from bs4 import BeautifulSoup
from building import build
from built import ROOT
from looking import CUT_FORMULAS, ON_PAPER, OPEN_ALL, SIZES, STRAY_SIGNS, TOO_LONG, left, toggle
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

TOOLS = ROOT / "book" / "_tools"
CONFIG = f"""
title: A small book
only_build_toc_files: true
execute: {{execute_notebooks: inline}}
parse: {{myst_enable_extensions: [colon_fence, dollarmath]}}
sphinx:
  extra_extensions: [sphinx_proof, sphinx_exercise]
  local_extensions: {{booksite: {TOOLS}, folding: {TOOLS}, formulas: {TOOLS}}}
  config:
    html_static_path: [{ROOT / "book" / "_static"}]
    html_css_files: [book.css, print.css]
    html_js_files: [book.js, print.js]
    html_extra_path: [{ROOT / ".vendor" / "site"}]
    mathjax_path: ../vendor/mathjax/tex-mml-chtml.js
    mathjax3_config: {{chtml: {{matchFontHeight: false, scale: 1.13}}}}
"""
LONG = " + ".join(f"x_{{{i}}}" for i in range(20))
CELLS = [
    new_markdown_cell("# A chapter\n\nIt begins with words."),
    new_code_cell("# draw both vans\n\nprint('seen')", metadata={"tags": ["hide-input"]}),
    new_code_cell("# all of it\nprint('unseen' * 60)", metadata={"tags": ["hide-cell"]}),
    new_code_cell(f"print('{'many words ' * 30}')"),
    new_markdown_cell(
        "*The idea.* It cannot be otherwise.\n\n"
        f":::{{prf:proof}}\nFix $k$. {'And so on. ' * 25}\n\n$$a = b$$ (inside)\n\nDone.\n:::\n\n"
        f"No idea here.\n\n:::{{prf:proof}}\nThis one stays open. {'And so on. ' * 25}\n:::\n\n"
        "*The idea.* It takes a line.\n\n:::{prf:proof}\nSo does this one, and is open.\n:::\n\n"
        "By {eq}`inside` it is so."
    ),
    new_markdown_cell(":::{exercise} By hand, $x$\n:label: ex-hand\nDo it.\n:::"),
    new_markdown_cell(
        ":::{solution} ex-hand\n:class: dropdown\n:label: its-solution\nThere are $9$.\n:::"
    ),
    new_markdown_cell(":::{admonition} More of *this*\n:class: dropdown\nMore.\n:::"),
    new_markdown_cell(
        f"A formula that breaks is ${LONG} = 0$; one that cannot is "
        f"$\\sqrt{{{LONG}}}$, alas.\n\n"
        f"$${LONG} = 0$$\n\n$$\\sqrt{{{LONG}}}$$\n\n"
        + " ".join(f"{'m' * (n % 13)} $x$, (**$y$**)." for n in range(40))
    ),
]
DESKTOP = {"width": 1280, "height": 900}
TYPESET = "() => window.MathJax?.startup?.promise?.then(() => document.fonts.ready)"


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("folding")
    (folder / "safeteach").mkdir()
    texts = {
        "safeteach/__init__.py": "",
        "requirements.txt": "",
        "_config.yml": CONFIG,
        "_toc.yml": "format: jb-book\nroot: index\nchapters: [{file: chapter}]\n",
        "index.md": "# Start\n\n:::{note}\nNothing is folded.\n:::\n",
        "chapter.ipynb": notebooks.dump(notebooks.normalise(new_notebook(cells=CELLS))),
    }
    for name, text in texts.items():
        (folder / name).write_text(text, "utf-8")
    passed, log = build(folder)
    assert passed, log
    return folder / "_build" / "html"


@pytest.fixture(scope="module")
def address(built, serving):
    with serving(built) as address:
        yield f"{address}/chapter.html"


@pytest.fixture(scope="module")
def opened(address, new_page):
    page = new_page(viewport=DESKTOP)
    page.goto(address)
    page.wait_for_function(TYPESET)
    yield page
    page.close()


@pytest.fixture
def page(opened):
    """The page, as it was when it was opened."""
    opened.emulate_media(media="screen")
    opened.set_viewport_size(DESKTOP)
    opened.evaluate("""() => {
        for (const fold of document.querySelectorAll('details.fold')) fold.open = false
        scrollTo(0, 0)
    }""")
    return opened


def soup(built, name):
    return BeautifulSoup((built / f"{name}.html").read_text("utf-8"), "html.parser")


def test_what_is_folded_and_behind_which_words(built):
    folds = soup(built, "chapter").select("article details")
    assert [fold.summary.get_text() for fold in folds] == [
        "draw both vans",
        "all of it",
        "Proof",
        "Solution to Exercise 1",
        "More of this",
    ]
    assert all(fold.has_attr("class") and not fold.has_attr("open") for fold in folds)
    assert folds[3]["id"] == "its-solution"


def test_a_bar_holds_no_link_and_what_it_says_is_not_said_again(built):
    chapter = soup(built, "chapter")
    assert chapter.select("summary a") == []
    vans, all_of_it, proof, solution, _ = chapter.select("article details")
    assert vans.select_one("pre").get_text() == "print('seen')\n"
    assert "unseen" in all_of_it.select_one(".cell_output").get_text()
    assert proof.select_one("p").get_text().startswith("Fix")
    assert solution.select("[id]") == []
    assert "seen" in vans.find_next_sibling().get_text()


def test_a_proof_without_an_idea_stays_open_and_so_does_one_of_a_few_lines(built):
    plain, short = soup(built, "chapter").select("div.proof")
    assert plain.get_text().strip().startswith("Proof. This one stays open.")
    assert short.get_text().strip() == "Proof. So does this one, and is open."


def test_only_a_page_with_code_or_proofs_to_open_has_the_button(built):
    assert soup(built, "index").select(".fold-switch") == []
    (button,) = soup(built, "chapter").select("article section > h1 + button")
    assert button.get_text() == "Open all code and proofs"


def test_nothing_else_folds(built):
    for name in ("index", "chapter"):
        assert "togglebutton" not in str(soup(built, name))
        assert soup(built, name).select("article .dropdown") == []


def test_a_folded_cell_that_does_not_say_what_it_does_fails_the_build(tmp_path):
    (tmp_path / "safeteach").mkdir()
    (tmp_path / "requirements.txt").write_text("")
    (tmp_path / "_config.yml").write_text(CONFIG)
    (tmp_path / "_toc.yml").write_text("format: jb-book\nroot: chapter\n")
    cells = [new_markdown_cell("# One"), new_code_cell("1", metadata={"tags": ["hide-input"]})]
    notebook = notebooks.normalise(new_notebook(cells=cells))
    (tmp_path / "chapter.ipynb").write_text(notebooks.dump(notebook))
    passed, log = build(tmp_path)
    assert not passed
    assert re.search(r"chapter\.ipynb:\d+: WARNING: a folded cell begins with a comment", log)


@pytest.mark.parametrize("how", ["click", "Enter", "Space"])
def test_the_whole_bar_opens_and_closes(page, how):
    for fold in page.query_selector_all("details.fold"):
        assert toggle(page, fold, how)
        assert not toggle(page, fold, how)
    assert page.url.endswith("chapter.html"), "it led away"


def test_the_button_opens_and_closes_code_and_proofs_and_says_so(page):
    button = page.get_by_role("button", name="Open all code and proofs", exact=True)
    opened = "() => [...document.querySelectorAll('details.fold')].map(fold => fold.open)"
    button.press("Enter")
    assert page.evaluate(opened) == [True, True, True, False, False]
    assert button.get_attribute("aria-pressed") == "true"
    toggle(page, page.query_selector("details.fold"), "click")
    page.wait_for_function("document.querySelector('.fold-switch').ariaPressed === 'false'")
    button.click()
    assert page.evaluate(opened) == [True, True, True, False, False]
    button.click()
    assert page.evaluate(opened) == [False] * 5
    assert button.get_attribute("aria-pressed") == "false"


def test_folded_code_that_scrolls_can_be_reached_by_keys(page):
    fold = page.query_selector("details.fold-code:has(.cell_output)")
    toggle(page, fold, "Enter")
    output = fold.query_selector(".cell_output pre")
    page.wait_for_function("output => output.tabIndex === 0", arg=output)
    assert fold.query_selector(".cell_input pre").evaluate("code => code.tabIndex") == -1


@pytest.mark.parametrize(("target", "kind"), [("equation-inside", "proof"), ("its-solution", "")])
def test_an_address_opens_what_it_leads_to(address, new_page, target, kind):
    page = new_page(viewport={"width": 1280, "height": 300})
    page.goto(f"{address}#{target}")
    page.wait_for_function("id => document.getElementById(id).closest('details').open", arg=target)
    opened = page.query_selector_all("details.fold[open]")
    assert len(opened) == 1
    assert kind in opened[0].get_attribute("class")
    page.close()


def test_a_link_opens_what_it_leads_to_every_time(page):
    link = page.query_selector("a.reference[href='#equation-inside']")
    fold = page.query_selector("details.fold-proof")
    for _ in range(2):
        link.click()
        page.wait_for_function("fold => fold.open", arg=fold)
        fold.evaluate("fold => { fold.open = false }")


def test_paper_shows_what_is_open_and_nothing_to_press(page):
    page.query_selector("details.fold-proof").evaluate("fold => { fold.open = true }")
    page.emulate_media(media="print")
    assert page.evaluate(ON_PAPER) == []
    assert page.evaluate(TOO_LONG) == []
    assert page.is_visible("details.fold-proof p >> text=Done.")
    assert page.is_visible(".cell > .cell_output >> text=/^seen/")
    assert not page.is_visible("details.solution > summary")


def test_the_screen_has_what_paper_has_not(page):
    """Else the last test would see nothing."""
    assert "button.fold-switch" in page.evaluate(ON_PAPER)
    assert len(page.evaluate(TOO_LONG)) == 2


def test_paper_is_white(page):
    page.evaluate("""() => {
        document.documentElement.dataset.theme = 'dark'
        addEventListener('beforeprint', () => {
            window.printed = document.documentElement.dataset.theme
        })
    }""")
    assert page.pdf().startswith(b"%PDF")
    assert page.evaluate("printed") == "light"
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"


@pytest.mark.parametrize("width", [375, 390, 1280])
def test_no_formula_is_cut_and_no_sign_strays(page, width):
    page.set_viewport_size({"width": width, "height": 800})
    page.wait_for_function("width => innerWidth === width", arg=width)
    page.evaluate(OPEN_ALL)
    assert left(page, CUT_FORMULAS) == []
    assert left(page, STRAY_SIGNS) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_wide_formula_breaks_and_if_it_cannot_it_scrolls_and_says_so(page):
    kinds = "kind => [...document.querySelectorAll(`.math.${kind}`)].map(math => math.localName)"
    page.set_viewport_size({"width": 390, "height": 800})
    page.wait_for_function("document.querySelector('.more-after')")
    assert page.evaluate(kinds, "breaks") == ["span", "div"]
    assert page.evaluate(kinds, "scrolls") == ["span", "div"]
    assert page.evaluate(kinds, "more-before") == []
    scroller = page.get_by_role("group", name="Formula, scrolls sideways").last
    scroller.evaluate("node => { node.scrollLeft = 1000 }")
    page.wait_for_function("document.querySelector('div.more-before:not(.more-after)')")
    page.set_viewport_size({"width": 1280, "height": 800})
    page.wait_for_function("!document.querySelector('.breaks, .scrolls, [aria-label*=scrolls]')")


def test_formulas_in_folded_text_are_as_large_as_others(page):
    folded, others = page.evaluate(SIZES)
    assert folded == others == ["113%"]
