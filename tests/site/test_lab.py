"""The widgets of every chapter in JupyterLab with a real kernel: they come up, and they move.

The build executes the chapters whole; here runs of each only what its widgets need.
"""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request

import contents
import notebooks
import pytest
from built import PATIENCE, ROOT
from nbformat.v4 import new_code_cell, new_notebook
from slicing import shows_widget, slice_of

CHAPTERS = contents.chapters(contents.read_toc())
# Without this JupyterLab keeps cells that are out of sight out of the page too.
SETTINGS = {"@jupyterlab/notebook-extension/tracker": {"windowingMode": "none"}}

STARTED = "() => window.jupyterapp?.restored.then(() => true)"
OPEN = "path => { jupyterapp.commands.execute('docmanager:open', {path}) }"
READY = """path => {
    const context = jupyterapp.shell.currentWidget?.context
    return context?.path === path && context.sessionContext?.session?.kernel?.status === 'idle'
}"""
RUN_ALL = """() => {
    window.ran = false
    jupyterapp.commands.execute('notebook:run-all-cells').then(() => { window.ran = true })
}"""
OUTPUTS = """() => jupyterapp.shell.currentWidget.content.model.sharedModel.cells
    .filter(cell => cell.cell_type === 'code')
    .flatMap(cell => cell.getOutputs())"""
# Note every message of a widget to the kernel, until the kernel has done all that it asks for.
WATCH = """() => {
    const unanswered = window.unanswered = new Set()
    const kernel = jupyterapp.shell.currentWidget.context.sessionContext.session.kernel
    kernel.anyMessage.connect((_, {msg, direction}) => {
        if (direction === 'send' && msg.header.msg_type === 'comm_msg')
            unanswered.add(msg.header.msg_id)
        else if (msg.header.msg_type === 'status' && msg.content.execution_state === 'idle')
            unanswered.delete(msg.parent_header.msg_id)
    })
}"""
SETTLED = "() => unanswered.size === 0"
CLOSE = """async () => {
    const panel = jupyterapp.shell.currentWidget
    await panel.context.sessionContext.shutdown()
    panel.dispose()
}"""
FIGURE = ".jp-OutputArea-output .widget-vbox:has(> .widget-html img)"


@pytest.fixture(scope="session")
def lab(tmp_path_factory, once):
    """Start JupyterLab on a copy of the book and give its folder and its address."""
    once("JupyterLab")
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
    deadline = time.monotonic() + PATIENCE / 1000
    while True:
        try:
            urllib.request.urlopen(f"{address}/api", timeout=5).close()
            break
        except OSError:
            if server.poll() is not None or time.monotonic() > deadline:
                log.seek(0)
                pytest.fail(f"JupyterLab did not start:\n{log.read()}")
            time.sleep(0.1)
    yield folder, address
    server.terminate()
    server.wait()
    log.close()


@pytest.fixture(scope="session")
def workbench(lab, new_page):
    """JupyterLab in the browser, in which one chapter after another is opened."""
    page = new_page(viewport={"width": 1400, "height": 1000})
    page.goto(f"{lab[1]}/lab?reset")
    page.wait_for_function(STARTED)
    yield page
    page.close()


def test_a_folded_cell_is_folded_here_too_and_opens(lab, workbench):
    cells = [
        new_code_cell("# draw both vans\nx = 1", metadata={"tags": ["hide-input"]}),
        new_code_cell("# numbers for the text\ny = 2", metadata={"tags": ["remove-input"]}),
        new_code_cell("z = 3"),
    ]
    notebook = notebooks.normalise(new_notebook(cells=cells))
    (lab[0] / "folded.ipynb").write_text(notebooks.dump(notebook), "utf-8")
    workbench.evaluate(OPEN, "folded.ipynb")
    workbench.wait_for_function(READY, arg="folded.ipynb")
    try:
        bars = workbench.locator(".jp-InputPlaceholder")
        assert [bar.strip() for bar in bars.all_inner_texts()] == [
            "# draw both vans",
            "# numbers for the text",
        ]
        editors = workbench.locator(".jp-CodeCell .jp-InputArea-editor:visible")
        assert editors.count() == 1
        bars.first.click()
        editors.nth(1).wait_for()
        assert "x = 1" in editors.first.inner_text()
    finally:
        workbench.evaluate(CLOSE)


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_the_widgets_of_a_chapter_move(chapter, lab, workbench):
    path = f"{chapter}.ipynb"
    notebook = notebooks.read(ROOT / path)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    shown = {i for i, cell in enumerate(code) if shows_widget(cell)}
    assert shown, "a chapter has something to move"
    part = slice_of([cell.source for cell in code], shown)
    assert len(part) < len(code)
    notebook.cells = [code[i] for i in part]
    (lab[0] / path).write_text(notebooks.dump(notebook), "utf-8")

    workbench.evaluate(OPEN, path)
    workbench.wait_for_function(READY, arg=path)
    try:
        workbench.evaluate(RUN_ALL)
        workbench.wait_for_function("window.ran")
        outputs = workbench.evaluate(OUTPUTS)
        assert [o for o in outputs if o["output_type"] == "error"] == []
        assert [o for o in outputs if o.get("name") == "stderr"] == []
        assert sum(map(_is_widget, outputs)) == len(shown)
        rendered = "([selector, count]) => document.querySelectorAll(selector).length === count"
        workbench.wait_for_function(rendered, arg=[FIGURE, len(shown)])
        workbench.evaluate(WATCH)
        for figure in workbench.locator(FIGURE).all():
            _move_all(workbench, figure)
    finally:
        workbench.evaluate(CLOSE)


def _is_widget(output):
    return "application/vnd.jupyter.widget-view+json" in output.get("data", {})


def _move_all(page, figure):
    """Move every control of a figure: each changes the picture."""
    sliders = figure.locator(".noUi-handle").all()
    choices = figure.locator(".widget-toggle-buttons").all()
    numbers = figure.locator("input[type=number]").all()
    boxes = figure.locator("input[type=checkbox]").all()
    assert sliders or choices or numbers or boxes
    image = figure.locator("img")
    for handle in sliders:
        keys = ("ArrowUp", "ArrowDown", "ArrowDown")
        _see_change(page, image, [lambda h=handle, key=key: h.press(key) for key in keys])
    for choice in choices:
        buttons = choice.locator("button").all()
        _see_change(page, image, [lambda b=b: b.press("Space") for b in buttons])
    for number in numbers:
        _see_change(page, image, [lambda n=number, x=x: _type(n, x) for x in ("5", "1")])
    for box in boxes:
        _see_change(page, image, [lambda b=box: b.press("Space")] * 2)


def _type(field, text):
    field.fill(text)
    field.press("Enter")


def _see_change(page, image, moves):
    """Make the moves of one control: the picture and its description change together."""
    seen = dict([image.evaluate("image => [image.src, image.alt]")])
    for move in moves:
        move()
        page.wait_for_function(SETTLED)
        seen |= [image.evaluate("image => [image.src, image.alt]")]
    assert len(seen) > 1, "the control changes nothing"
    assert len(set(seen.values())) == len(seen), "two pictures with one description"
