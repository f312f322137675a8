"""The pages in a real browser without a network: quiet, typeset, accessible, fit for the screen.

Each page is opened once, and the tests ask about it one after another; last come those that look
back at all that the page did.
"""

import functools
import gzip
import itertools

import pytest
from built import DARK, GENERATED, HTML, INTERACTIVE, PAGES
from looking import (
    AXE,
    CUT_FORMULAS,
    LAID_OUT,
    ON_PAPER,
    OPEN_ALL,
    SIZES,
    STRAY_SIGNS,
    TOO_LONG,
    left,
    toggle,
)
from moving import walks

DESKTOP = {"width": 1280, "height": 900}
FONTS = (".woff", ".woff2", ".ttf")
PHONE = {"width": 375, "height": 800}

TYPESET = "() => window.MathJax?.startup?.promise?.then(() => document.fonts.ready)"
# Of what MathJax draws, one letter: axe walks through thousands of nodes and can read none of
# them, for their glyphs come from the style sheet; a letter has a contrast.
SHORTEN_MATH = """() => {
    for (const math of document.querySelectorAll('mjx-math')) math.textContent = 'x'
}"""
# Formulas for those who hear the page: nobody sees them, so that they have no colours.  They are
# most of the nodes of a page, and MathJax makes them all alike: some pages are judged with them.
DROP_SPOKEN = """() => {
    for (const spoken of document.querySelectorAll('mjx-assistive-mml')) spoken.remove()
}"""
# Code, of whose words all but the first of a kind in a kind of place are written without a colour:
# they are most of what is left, and look alike.  Some pages are judged with all of them.
JOIN_CODE = """() => {
    const seen = new Set()
    for (const block of document.querySelectorAll('.highlight')) {
        let place = ''
        for (let box = block; box; box = box.parentElement)
            place += ` in ${box.tagName} ${box.className} ${box.open}`
        block.innerHTML = block.innerHTML.replace(
            /<span class="([^"]*)">([^<]*)<\\/span>/g,
            (whole, kind, word) => seen.has(kind + place) ? word : (seen.add(kind + place), whole)
        )
    }
}"""
# The theme lets keys reach what scrolls a moment after the page was laid out anew.
REACHABLE = """() => [...document.querySelectorAll('pre')].every(
    pre => pre.scrollWidth <= pre.clientWidth || pre.tabIndex === 0
)"""


class Visit:
    """A page that was opened, with what the browser said and asked for on the way."""

    def __init__(self, page, address):
        self.requests = []
        self.complaints = []
        self.page = page
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("response", self.note_response)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", self.note_message)
        page.goto(address)
        page.wait_for_function(TYPESET)
        # Colours that fade from one theme to the other have no contrast to measure on the way.
        page.add_style_tag(content="*, ::before, ::after { transition: none !important }")

    def note_response(self, response):
        if response.status >= 400:
            self.complaints.append(f"{response.status} {response.url}")

    def note_message(self, message):
        if message.type == "error":
            self.complaints.append(message.text)

    def resize(self, size):
        self.page.set_viewport_size(size)
        self.page.wait_for_function(LAID_OUT, arg=size["width"])

    @functools.cached_property
    def walks(self):
        return walks(self.page)


@pytest.fixture(scope="module", params=[*PAGES, *GENERATED])
def visit(request, new_page, site, once):
    once(request.param)
    visit = Visit(new_page(viewport=DESKTOP), f"{site}/{request.param}.html")
    visit.name = request.param
    yield visit
    visit.page.close()


def test_all_math_is_typeset(visit):
    count = "selector => document.querySelectorAll(selector).length"
    assert visit.page.evaluate(count, ".math") == visit.page.evaluate(
        count, ".math:has(mjx-container)"
    )
    assert visit.page.evaluate(count, "mjx-merror, [data-mjx-error]") == 0


@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desktop"])
def test_nothing_is_wider_than_the_screen(visit, size):
    visit.resize(size)
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= size["width"]


def test_formulas_in_folded_text_are_as_large_as_others(visit):
    folded, others = visit.page.evaluate(SIZES)
    assert len({*folded, *others}) <= 1


def test_one_fold_of_each_kind_opens_by_its_bar_and_by_keys(visit):
    for kind in ("code", "proof", "box:not(.fold-proof)"):
        fold = visit.page.query_selector(f"details.fold-{kind}")
        if fold:
            assert [toggle(visit.page, fold, how) for how in ("click", "Enter")] == [True, False]


def test_the_button_opens_all_code_and_proofs(visit):
    page = visit.page
    folds = page.locator("details:is(.fold-code, .fold-proof)")
    assert page.locator(".fold-switch").count() == min(folds.count(), 1)
    if folds.count():
        for are in (True, False):
            page.locator(".fold-switch").click()
            assert folds.evaluate_all("folds => folds.map(fold => fold.open)") == (
                [are] * folds.count()
            )


def test_paper_shows_whole_lines_and_nothing_that_is_folded(visit):
    page = visit.page
    page.emulate_media(media="print")
    folded = page.evaluate(ON_PAPER), page.evaluate(TOO_LONG)
    page.evaluate(OPEN_ALL)
    opened = page.evaluate(ON_PAPER), page.evaluate(TOO_LONG)
    page.emulate_media(media="screen")
    assert folded == ([], [])
    assert opened == ([], [])


@pytest.mark.parametrize("width", [375, 390])
def test_no_formula_is_cut_on_a_phone_and_no_sign_strays(visit, width):
    """From here on all that was folded is open, for axe too."""
    visit.resize({"width": width, "height": 800})
    visit.page.evaluate(OPEN_ALL)
    assert left(visit.page, CUT_FORMULAS) == []
    assert left(visit.page, STRAY_SIGNS) == []
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= width


def test_formulas_that_scroll_on_a_phone_have_names_and_can_be_reached_by_keys(visit):
    visit.resize(PHONE)
    scrolling = visit.page.locator(".math.scrolls")
    if scrolling.count():
        visit.page.evaluate(AXE)
        found = scrolling.evaluate_all("async formulas => (await axe.run(formulas)).violations")
        assert [node["html"][:200] for one in found for node in one["nodes"]] == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(visit, theme):
    page = visit.page
    visit.resize(DESKTOP)
    page.wait_for_function(REACHABLE)
    page.evaluate("theme => { document.documentElement.dataset.theme = theme }", theme)
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE)
    page.evaluate(SHORTEN_MATH)
    # Only colours change with the theme.
    rules = {} if theme == "light" else {"runOnly": ["color-contrast"]}
    if theme == "dark" or visit.name not in DARK:
        page.evaluate(DROP_SPOKEN)
        page.evaluate(JOIN_CODE)
    run = "rules => axe.run(document, {resultTypes: ['violations'], ...rules})"
    found = page.evaluate(run, rules)
    assert [
        f"{violation['id']}: {node['html'][:200]} {node['failureSummary'][:400]}"
        for violation in found["violations"]
        for node in violation["nodes"]
    ] == []


def test_every_control_moves_its_picture_and_its_words(visit):
    assert bool(visit.walks) == (visit.name in INTERACTIVE)
    for walk in visit.walks:
        assert walk.name, "a control has no name"
        shown = [stop["shown"] for stop in walk.stops]
        assert len(set(shown)) == len(shown) > 1, f"{walk.name!r} shows {shown}"
        for stop, after in itertools.pairwise(walk.stops):
            where = f"{walk.name!r} was moved to {after['shown']}"
            assert stop["src"] != after["src"], f"{where}, its picture was not"
            assert stop["alt"] != after["alt"], f"{where}, its alt text was not"
            assert after["said"] == after["alt"]


def test_the_value_stands_beside_its_slider(visit):
    for walk in visit.walks:
        assert not walk.is_slider or all(stop["beside"] == stop["shown"] for stop in walk.stops)


def test_the_browser_had_no_complaint(visit):
    assert visit.complaints == []


def test_nothing_was_asked_of_another_host(visit, site):
    assert visit.requests
    local = (site + "/", "data:", "blob:")
    assert [url for url in visit.requests if not url.startswith(local)] == []


def test_the_page_is_light(visit, site):
    """What a reader fetches, as servers compress it, is under 2 MB before fonts."""
    paths = {url.removeprefix(site).split("?")[0] for url in visit.requests if site in url}
    files = [HTML / path.lstrip("/") for path in paths if not path.endswith(FONTS)]
    weight = sum(len(gzip.compress(file.read_bytes(), compresslevel=6)) for file in files)
    assert len(files) > 5
    assert weight < 2_000_000, f"{weight:,} bytes"
