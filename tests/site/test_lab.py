"""The chapters in JupyterLab with a real kernel: they run, their controls move, nothing breaks."""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request

import pytest
from built import PAGES, ROOT

CHAPTERS = [name for name in PAGES if (ROOT / f"{name}.ipynb").is_file()]
START_SECONDS, RUN_SECONDS, MOVE_SECONDS = 60, 180, 20
# Without this JupyterLab keeps cells that are out of sight out of the page too.
SETTINGS = {"@jupyterlab/notebook-extension/tracker": {"windowingMode": "none"}}

READY = """path => {
    const context = window.jupyterapp?.shell.currentWidget?.context
    return context?.path === path && context.sessionContext?.session?.kernel?.status === 'idle'
}"""
RUN_ALL = """() => {
    window.ran = false
    jupyterapp.commands.execute('notebook:run-all-cells').then(() => { window.ran = true })
}"""
OUTPUTS = """() => jupyterapp.shell.currentWidget.content.model.sharedModel.cells
    .filter(cell => cell.cell_type === 'code')
    .flatMap(cell => cell.getOutputs())"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """Start JupyterLab on a copy of the book and give its address."""
    folder = tmp_path_factory.mktemp("lab")
    shutil.copytree(ROOT / "book", folder / "book")
    for name, values in SETTINGS.items():
        file = folder / "settings" / f"{name}.jupyterlab-settings"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(values))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root",
        "--LabApp.expose_app_in_browser=True", "--ServerApp.ip=127.0.0.1",
        f"--ServerApp.port={port}", "--ServerApp.port_retries=0", "--IdentityProvider.token=",
        f"--ServerApp.root_dir={folder}", f"--LabApp.user_settings_dir={folder / 'settings'}",
        f"--LabApp.workspaces_dir={folder / 'workspaces'}",
    ]  # fmt: skip
    log = (folder / "log").open("w+")
    environment = {**os.environ, "JUPYTER_PREFER_ENV_PATH": "1"}
    server = subprocess.Popen(command, stdout=log, stderr=log, env=environment)
    address = f"http://127.0.0.1:{port}"
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            urllib.request.urlopen(f"{address}/api", timeout=5).close()
            break
        except OSError:
            if server.poll() is not None or time.monotonic() > deadline:
                log.seek(0)
                pytest.fail(f"JupyterLab did not start:\n{log.read()}")
            time.sleep(0.2)
    yield address
    server.terminate()
    server.wait()
    log.close()


def open_and_run(chromium, lab, path):
    """A chapter, opened in a new JupyterLab workspace and run from top to bottom."""
    page = chromium.new_page(viewport={"width": 1400, "height": 1000})
    page.goto(f"{lab}/lab/tree/{path}?reset")
    page.wait_for_function(READY, arg=path, timeout=START_SECONDS * 1000)
    page.evaluate(RUN_ALL)
    page.wait_for_function("window.ran", timeout=RUN_SECONDS * 1000)
    page.set_default_timeout(MOVE_SECONDS * 1000)
    return page


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_chapter_runs_and_its_controls_move(chapter, chromium, lab):
    page = open_and_run(chromium, lab, f"{chapter}.ipynb")
    try:
        outputs = page.evaluate(OUTPUTS)
        assert outputs
        assert [o for o in outputs if o["output_type"] == "error"] == []
        assert [o for o in outputs if o.get("name") == "stderr"] == []
        views = [o for o in outputs if _is_widget(o)]
        assert views, "a chapter has something to move"

        figures = page.locator(".jp-OutputArea-output .widget-vbox:has(> .widget-html img)")
        assert figures.count() == len(views)
        for i in range(len(views)):
            figure = figures.nth(i)
            image = figure.locator("img")
            sliders = figure.locator(".noUi-handle").all()
            choices = figure.locator(".widget-toggle-buttons").all()
            numbers = figure.locator("input[type=number]").all()
            boxes = figure.locator("input[type=checkbox]").all()
            assert sliders or choices or numbers or boxes
            for handle in sliders:
                handle.scroll_into_view_if_needed()
                handle.focus()
                keys = ("ArrowUp", "ArrowDown", "ArrowDown")
                _see_change(page, image, [lambda key=key: page.keyboard.press(key) for key in keys])
            for choice in choices:
                buttons = choice.locator("button").all()
                _see_change(page, image, [lambda b=b: b.press("Space") for b in buttons])
            for number in numbers:
                typed = [lambda n=number, x=x: _type(n, x) for x in ("5", "1")]
                _see_change(page, image, typed)
            for box in boxes:
                _see_change(page, image, [lambda b=box: b.press("Space")] * 2)
    finally:
        page.close()


def _type(field, text):
    field.fill(text)
    field.press("Enter")


def _is_widget(output):
    return "application/vnd.jupyter.widget-view+json" in output.get("data", {})


def _see_change(page, image, moves):
    """Make the moves of one control: the picture and its description change together."""
    seen = {image.get_attribute("src"): image.get_attribute("alt")}
    for move in moves:
        before = image.get_attribute("src")
        move()
        deadline = time.monotonic() + 2
        while image.get_attribute("src") == before and time.monotonic() < deadline:
            page.wait_for_timeout(50)
        seen[image.get_attribute("src")] = image.get_attribute("alt")
    assert len(seen) > 1, "the control changes nothing"
    assert len(set(seen.values())) == len(seen), "two pictures with one description"
