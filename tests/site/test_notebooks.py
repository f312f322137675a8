"""The stored notebooks: all in the book, all executed, all in the one normal form."""

import os
import re
import subprocess
import sys

import notebooks
import pytest
from built import PAGES, ROOT
from nbformat.v4 import new_code_cell, new_notebook, new_output
from replaying import EXECUTED

TOOLS = ROOT / "book" / "_tools"
NOTEBOOKS = notebooks.find()
IN_TOC = [path for path in NOTEBOOKS if "assignments" not in path.parts]


def relative(path):
    return path.relative_to(ROOT).as_posix()


def test_every_notebook_is_in_the_toc():
    assert IN_TOC, "the book has no notebook"
    assert {relative(path).removesuffix(".ipynb") for path in IN_TOC} <= set(PAGES)


def test_every_page_of_the_toc_has_one_source():
    for page in PAGES:
        sources = [s for s in (".md", ".ipynb") if (ROOT / (page + s)).is_file()]
        assert len(sources) == 1, f"{page} has the sources {sources}"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=relative)
def test_is_executed_and_in_normal_form(path):
    notebook = notebooks.read(path)
    assert list(notebooks.problems(notebook)) == []
    assert notebooks.dump(notebooks.normalise(notebook)) == path.read_text("utf-8")


def test_normal_form_keeps_text_and_drops_images_and_widgets():
    png = "application/papermill.record/image/png"
    view = "application/vnd.jupyter.widget-view+json"
    data = {"text/plain": "a curve", "image/png": "iVBO", png: "iVBO", view: {"model_id": "1"}}
    metadata = {"image/png": {"alt": "a curve"}}
    output = new_output("display_data", data=data, metadata=metadata)
    cells = [new_code_cell("a", outputs=[output])]
    normal = notebooks.normalise(new_notebook(cells=cells, metadata={"widgets": {"state": {}}}))
    [kept] = normal.cells[0].outputs
    assert kept.data == {"text/plain": "a curve"}
    assert kept.metadata == metadata
    assert "widgets" not in normal.metadata


@pytest.mark.parametrize("tag", ["hide-input", "hide-cell", "remove-input", "remove-cell"])
def test_what_the_page_does_not_show_at_once_is_folded_in_jupyterlab(tag):
    cell = new_code_cell("# add\n1 + 1", execution_count=1, metadata={"tags": [tag]})
    normal = notebooks.normalise(new_notebook(cells=[cell]))
    assert normal.cells[0].metadata.jupyter == {"source_hidden": True}
    assert list(notebooks.problems(normal)) == []
    normal.cells[0].metadata.tags = []
    assert "jupyter" not in notebooks.normalise(normal).cells[0].metadata


@pytest.mark.parametrize("source", ["1 + 1", "#1 + 1", "# \n1 + 1", "\n# add\n1 + 1"])
def test_a_folded_cell_begins_with_a_comment(source):
    cell = new_code_cell(source, execution_count=1, metadata={"tags": ["hide-input"]})
    [found] = notebooks.problems(new_notebook(cells=[cell]))
    assert "begin it with a comment" in found


def test_cells_of_an_old_notebook_get_the_same_ids_every_time():
    cells = [new_code_cell("a"), new_code_cell("a")]
    for cell in cells:
        del cell["id"]
    old = new_notebook(cells=cells, nbformat_minor=4)
    ids = [[cell.id for cell in notebooks.normalise(old).cells] for _ in range(2)]
    assert ids[0] == ids[1]
    assert len(set(ids[0])) == 2


@pytest.mark.parametrize(
    ("output", "problem"),
    [
        (new_output("error", ename="ValueError"), "stores an error"),
        (new_output("stream", name="stderr", text="Warning"), "writes to stderr"),
        (new_output("display_data", data={}), "without a text form"),
    ],
)
def test_what_must_not_be_stored_is_found(output, problem):
    cell = new_code_cell("f()", execution_count=1, outputs=[output])
    [found] = notebooks.problems(new_notebook(cells=[cell]))
    assert problem in found


def verdicts(folder, *options):
    """What nbval says of the only cell of each notebook of a folder."""
    command = [sys.executable, "-m", "pytest", *options, "-q", "-rA", "-p", "no:cacheprovider"]
    tools = os.environ | {"PYTHONPATH": str(TOOLS)}
    run = subprocess.run([*command, "."], cwd=folder, capture_output=True, text=True, env=tools)
    said = re.findall(r"^(PASSED|FAILED) (\w+)\.ipynb::", run.stdout, re.MULTILINE)
    return {name: verdict for verdict, name in said}


def write_cell(path, source, count, *outputs):
    cell = new_code_cell(source, execution_count=count, outputs=list(outputs))
    notebook = notebooks.normalise(new_notebook(cells=[cell]))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(notebooks.dump(notebook), "utf-8")
    return notebook


SAID = new_output("stream", name="stdout", text="2\n")
WRONG = new_output("stream", name="stdout", text="3\n")


def test_nbval_sees_a_wrong_and_a_missing_output(tmp_path):
    """And not a cell that was never run, which is why `problems` looks for its count."""
    said, wrong = [SAID], [WRONG]
    variants = {"right": (1, said), "wrong": (1, wrong), "missing": (1, []), "unrun": (None, [])}
    for name, (count, outputs) in variants.items():
        notebook = write_cell(tmp_path / f"{name}.ipynb", "print(1 + 1)", count, *outputs)
        assert bool(list(notebooks.problems(notebook))) == (name == "unrun")
    expected = {"right": "PASSED", "wrong": "FAILED", "missing": "FAILED", "unrun": "PASSED"}
    assert verdicts(tmp_path, "--nbval") == expected


def test_nbval_sees_the_same_in_what_the_build_executed(tmp_path):
    """Also another source, a space too many, an error; not the pictures that only pages have."""
    space = new_output("stream", name="stdout", text="2 \n")
    error = new_output("error", ename="E", evalue="", traceback=[])
    shown = new_output("execute_result", data={"text/plain": "2"}, execution_count=1)
    page = {"text/plain": "2", "text/html": '<figure class="interactive"></figure>'}
    moving = new_output("execute_result", data=page, execution_count=1)
    table = new_output("execute_result", data=page | {"text/html": "<p>2"}, execution_count=1)
    variants = {
        "right": ("1 + 1", [SAID], [SAID]),
        "interactive": ("1 + 1", [shown], [moving]),
        "wrong": ("1 + 1", [SAID], [WRONG]),
        "missing": ("1 + 1", [], [SAID]),
        "silent": ("1 + 1", [SAID], []),
        "space": ("1 + 1", [SAID], [space]),
        "error": ("1 + 1", [SAID], [error]),
        "html": ("1 + 1", [shown], [table]),
        "source": ("2 + 0", [SAID], [SAID]),
    }
    for name, (source, stored, executed) in variants.items():
        write_cell(tmp_path / f"{name}.ipynb", "1 + 1", 1, *stored)
        write_cell(tmp_path / EXECUTED / f"{name}.ipynb", source, 1, *executed)
    assert verdicts(tmp_path, "-p", "replaying") == {
        name: "PASSED" if name in ("right", "interactive") else "FAILED" for name in variants
    }
