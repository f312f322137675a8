"""The pages in a real browser without a network: quiet, typeset, accessible, fit for the screen.

Each page is opened once; the tests look at it one after another.
"""

import gzip

import pytest
from built import GENERATED, HTML, PAGES, ROOT

AXE = (ROOT / ".vendor" / "axe.min.js").read_text("utf-8")
DESKTOP = {"width": 1280, "height": 900}
FONTS = (".woff", ".woff2", ".ttf")
PHONE = {"width": 375, "height": 800}


class Visit:
    """A page that was opened, with what the browser said and asked for on the way."""

    def __init__(self, chromium, address):
        self.requests = []
        self.complaints = []
        self.page = chromium.new_page(viewport=DESKTOP)
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("response", self.note_response)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", self.note_message)
        self.page.goto(address, wait_until="networkidle")
        self.page.evaluate("MathJax.startup.promise")
        # Colours that fade from one theme to the other have no contrast to measure on the way.
        self.page.add_style_tag(content="*, ::before, ::after { transition: none !important }")

    def note_response(self, response):
        if response.status >= 400:
            self.complaints.append(f"{response.status} {response.url}")

    def note_message(self, message):
        if message.type == "error":
            self.complaints.append(message.text)


@pytest.fixture(scope="module", params=[*PAGES, *GENERATED])
def visit(request, chromium, site):
    visit = Visit(chromium, f"{site}/{request.param}.html")
    yield visit
    visit.page.close()


def test_nothing_is_asked_of_another_host(visit, site):
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


def test_the_browser_has_no_complaint(visit):
    assert visit.complaints == []


def test_all_math_is_typeset(visit):
    count = "selector => document.querySelectorAll(selector).length"
    assert visit.page.evaluate(count, ".math") == visit.page.evaluate(
        count, ".math:has(mjx-container)"
    )
    assert visit.page.evaluate(count, "mjx-merror, [data-mjx-error]") == 0


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_nothing_is_wider_than_the_screen(visit, size):
    visit.page.set_viewport_size(size)
    visit.page.wait_for_timeout(100)
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= size["width"]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(visit, theme):
    page = visit.page
    page.set_viewport_size(DESKTOP)
    page.evaluate("theme => { document.documentElement.dataset.theme = theme }", theme)
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE)
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    assert [
        f"{violation['id']}: {node['html'][:200]} {node['failureSummary'][:400]}"
        for violation in found["violations"]
        for node in violation["nodes"]
    ] == []
