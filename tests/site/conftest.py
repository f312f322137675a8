"""The built book on a local server, a browser that can reach nothing else, and who does what.

Several processes share the tests.  What belongs together, by its node id, stays in one of them:
all questions about a page that is open, about JupyterLab, about one book that is built again and
again.  `xdist_group` would say the same, but xdist 3.8 forgets groups with pytest 9.2.
"""

import contextlib
import functools
import http.server
import os
import re
import threading

import browser as browser_tool
import pytest
from built import DARK, HTML, PATIENCE
from playwright.sync_api import sync_playwright
from xdist.scheduler import LoadScopeScheduling

NO_BROWSER = "NO BROWSER: the pages were not opened. `make browser` installs one."
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
]

# The longest group first, so that no process is alone with it at the end.
FIRST = (
    "test_lab.py",
    "test_playground.py",
    "test_booksite.py",
    "test_student.py",
    "test_instructor.py",
    "test_parallel_reading.py",
    "test_pages.py",
)
ALONE = ("test_binder.py", "test_notebooks.py", "test_parallel_reading.py", "test_stages.py")


def group(nodeid):
    """Name what a test belongs to: the page in brackets, or its file, or nothing but itself.

    Examples
    --------
    >>> group("tests/site/test_browser.py::test_axe_finds_nothing[book/preface-dark]")
    'book/preface'
    >>> group("tests/site/test_lab.py::test_the_widgets_of_a_chapter_move[book/a/b]")
    'test_lab.py'
    """
    path, _, test = nodeid.partition("::")
    file = path.rpartition("/")[2]
    if file in ALONE:
        return nodeid
    if file == "test_browser.py":
        return re.search(r"\[(.*?)(-(phone|desktop|light|dark|375|390))?\]$", test)[1]
    return file


class Groups(LoadScopeScheduling):
    """Hands out whole groups, in the order in which the tests were collected."""

    def _split_scope(self, nodeid):
        return group(nodeid)


def pytest_xdist_make_scheduler(config, log):
    if config.getvalue("dist") == "loadgroup":
        config.option.loadscopereorder = False
        return Groups(config, log)
    return None


# On the narrowest phone a page is no wider than the screen when all that was folded is open: then
# none is when it is folded.  That, and a phone that is a little wider, is for `make thorough`.
ON_OTHER_PHONES = (
    ("test_nothing_is_wider_than_the_screen", "-phone]"),
    ("test_no_formula_is_cut_on_a_phone_and_no_sign_strays", "-390]"),
)
# One chapter of each part in JupyterLab, those with controls of their own among them.  What a
# control shows with a kernel is compared with the page in the tests of every room.
IN_LAB = (
    "book/model/danger-ahead",
    "book/sucbvi/what-the-constants-really-do",
    "book/lower-bounds/the-violation-lower-bound",
    "book/reward-free/srf-ucrl",
    "book/games/safe-zero-sum-games",
    "book/beyond/your-own-world",
)


def left_to_thorough(nodeid):
    """Whether a test of a page only goes on where another stops.

    Examples
    --------
    >>> left_to_thorough("tests/site/test_browser.py::test_axe_finds_nothing[book/preface-dark]")
    True
    >>> left_to_thorough("tests/site/test_browser.py::test_axe_finds_nothing[book/preface-light]")
    False
    >>> left_to_thorough("tests/site/test_lab.py::test_the_widgets_of_a_chapter_move[book/a/b]")
    True
    """
    test = nodeid.rpartition("::")[2]
    if test.startswith("test_the_widgets_of_a_chapter_move"):
        return test.partition("[")[2].removesuffix("]") not in IN_LAB
    dark = test.startswith("test_axe_finds_nothing") and test.endswith("-dark]")
    if dark or test.startswith("test_formulas_that_scroll"):
        return group(nodeid) not in DARK
    return any(test.startswith(name) and test.endswith(end) for name, end in ON_OTHER_PHONES)


def pytest_collection_modifyitems(items):
    places = {file: place for place, file in enumerate(FIRST)}
    items.sort(key=lambda item: places.get(item.path.name, len(FIRST)))
    for item in items:
        if left_to_thorough(item.nodeid):
            item.add_marker(pytest.mark.thorough)


@pytest.fixture(scope="session")
def once(tmp_path_factory):
    """Give a function that fails if it hears a name for the second time, in whatever process."""
    folder = tmp_path_factory.getbasetemp()
    shared = folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder

    def hear(name):
        (shared / f"once {name.replace('/', ' ')}").touch(exist_ok=False)

    return hear


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_args):
        """Say nothing: the tests read what the browser saw."""


@contextlib.contextmanager
def serve(folder):
    """Serve a folder of pages and give its address."""
    handler = functools.partial(QuietHandler, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="session")
def site():
    """Serve the built book and give its address."""
    assert (HTML / "index.html").is_file(), "no built book: run `make book`"
    with serve(HTML) as address:
        yield address


@pytest.fixture(scope="session")
def serving():
    """Give what serves other folders."""
    return serve


@pytest.fixture(scope="session")
def chromium():
    """Start the machine's Chromium or Chrome, cut off from every other host."""
    path = browser_tool.find()
    if path is None and os.environ.get("CI"):
        pytest.fail(NO_BROWSER)
    if path is None:
        pytest.skip(NO_BROWSER)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS, timeout=PATIENCE)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def new_page(chromium):
    """Give a function that opens an empty page, patient enough for a busy machine."""

    def open_page(**settings):
        page = chromium.new_page(**settings)
        page.set_default_timeout(PATIENCE)
        return page

    return open_page


def pytest_terminal_summary(terminalreporter):
    """Say it once and loudly when no page was opened."""
    skipped = terminalreporter.stats.get("skipped", ())
    if count := sum(NO_BROWSER in str(report.longrepr) for report in skipped):
        line = f"{NO_BROWSER} {count} tests skipped."
        terminalreporter.write_line(line, red=True, bold=True)
