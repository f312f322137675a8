"""The built book on a local server, and a browser that can reach nothing else."""

import functools
import http.server
import os
import threading

import browser as browser_tool
import pytest
from built import HTML, PATIENCE
from playwright.sync_api import sync_playwright

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


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_args):
        """Say nothing: the tests read what the browser saw."""


@pytest.fixture(scope="session")
def site():
    """Serve the built book and give its address."""
    assert (HTML / "index.html").is_file(), "no built book: run `make book`"
    handler = functools.partial(QuietHandler, directory=HTML)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


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
