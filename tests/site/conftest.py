"""The built book on a local server, and a browser that can reach nothing else."""

import functools
import http.server
import threading

import browser as browser_tool
import pytest
from built import HTML
from playwright.sync_api import sync_playwright

NO_BROWSER = "NO BROWSER: the pages were not opened. Install Chromium or Chrome and run it again."
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
    if path is None:
        pytest.skip(NO_BROWSER)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


def pytest_terminal_summary(terminalreporter):
    """Say it once and loudly when no page was opened."""
    skipped = terminalreporter.stats.get("skipped", ())
    if count := sum(NO_BROWSER in str(report.longrepr) for report in skipped):
        line = f"{NO_BROWSER} {count} tests skipped."
        terminalreporter.write_line(line, red=True, bold=True)
