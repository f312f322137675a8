"""Execute the book's notebooks and store each in its one normal form.

A stored notebook keeps the text of its outputs, which nbval compares with a fresh run, and neither
images nor widget state, which the build makes anew. Its math is written out: the short names that
_config.yml gives to MathJax are unknown to JupyterLab, so they are replaced by what they stand for.
What a tag folds in the page, or leaves out of it, is folded in JupyterLab too.
Run it through ``make notebooks``; with
``--check`` nothing is executed or written, and every notebook that is not in normal form is named.
One that has a problem is not written either.
"""

import argparse
import copy
import hashlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import nbclient
import nbformat
import yaml
from nbformat import NotebookNode

ROOT = Path(__file__).resolve().parents[2]
BOOK = ROOT / "book"

CONFIG = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))
MACROS: dict[str, str] = CONFIG["sphinx"]["config"]["mathjax3_config"]["tex"]["macros"]

KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
CELL_METADATA = {"mystnb", "nbgrader", "tags"}
FOLDED = {"hide-cell", "hide-input", "remove-cell", "remove-input"}
# How a folded cell begins: the page and JupyterLab show this line of it.
SAYS_WHAT = re.compile(r"# \S")
# Also under the prefix that glue puts before the type.
NOT_STORED = re.compile(r"(^|/)(image/|application/pdf|application/vnd\.jupyter\.widget-view)")


def find() -> list[Path]:
    """Return every notebook of the book, in the order of their paths."""
    paths = BOOK.rglob("*.ipynb")
    return sorted(path for path in paths if ".ipynb_checkpoints" not in path.parts)


def read(path: Path) -> NotebookNode:
    """Read a stored notebook."""
    return nbformat.reads(path.read_text("utf-8"), as_version=4)


def execute(notebook: NotebookNode, folder: Path) -> NotebookNode:
    """Run all cells in a new kernel whose working directory is `folder`."""
    client = nbclient.NotebookClient(
        copy.deepcopy(notebook),
        timeout=120,
        kernel_name=KERNEL["name"],
        coalesce_streams=True,
        record_timing=False,
        resources={"metadata": {"path": str(folder)}},
    )
    return client.execute()


def write_out(text: str) -> str:
    r"""Replace the short names of math by what they stand for.

    Examples
    --------
    >>> print(write_out(r"$\Uc_h$, not \\Uc or \Ucx"))
    $\mathcal{U}_h$, not \\Uc or \Ucx
    """
    for name, body in MACROS.items():
        pattern = rf"(?<!\\)((?:\\\\)*)\\{name}(?![a-zA-Z])"
        text = re.sub(pattern, r"\1" + body.replace("\\", r"\\"), text)
    return text


def is_folded(cell: NotebookNode) -> bool:
    """Whether a reader of the page does not see the source of a code cell at once, or at all.

    Examples
    --------
    >>> from nbformat.v4 import new_code_cell
    >>> is_folded(new_code_cell("1 + 1", metadata={"tags": ["remove-input"]}))
    True
    """
    return cell.cell_type == "code" and not FOLDED.isdisjoint(cell.metadata.get("tags", ()))


def normalise(notebook: NotebookNode) -> NotebookNode:
    """Return the normal form of a notebook; code and text outputs stay as they are.

    Examples
    --------
    >>> from nbformat.v4 import new_code_cell, new_notebook
    >>> cell = new_code_cell("1 + 1", metadata={"scrolled": True, "tags": ["hide-input"]})
    >>> normal = normalise(new_notebook(cells=[cell]))
    >>> normal.cells[0].metadata
    {'tags': ['hide-input'], 'jupyter': {'source_hidden': True}}
    >>> normalise(normal) == normal
    True
    """
    notebook = copy.deepcopy(notebook)
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    notebook.metadata = nbformat.from_dict(
        {"kernelspec": KERNEL, "language_info": {"name": "python"}}
    )
    for index, cell in enumerate(notebook.cells):
        cell.metadata = nbformat.from_dict(
            {key: value for key, value in cell.metadata.items() if key in CELL_METADATA}
        )
        if is_folded(cell):
            cell.metadata.jupyter = nbformat.from_dict({"source_hidden": True})
        if "id" not in cell:
            cell.id = hashlib.sha256(f"{index}\n{cell.source}".encode()).hexdigest()[:8]
        if cell.cell_type == "markdown":
            cell.source = write_out(cell.source)
        for output in cell.get("outputs", ()):
            for kind in [kind for kind in output.get("data", ()) if NOT_STORED.search(kind)]:
                del output.data[kind]
    return notebook


def problems(notebook: NotebookNode) -> Iterator[str]:
    """Say what no normal form can mend: what a stored notebook lacks or must not hold.

    A cell without outputs and without a count passes nbval whatever it prints, so every cell must
    show that it ran, in order, from a new kernel.

    Examples
    --------
    >>> from nbformat.v4 import new_code_cell, new_notebook
    >>> list(problems(new_notebook(cells=[new_code_cell("1 + 1")])))
    ['the code cells ran as [None], not as [1]']
    """
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    counts = [cell.execution_count for cell in code]
    in_order = list(range(1, len(code) + 1))
    if counts != in_order:
        yield f"the code cells ran as {counts}, not as {in_order}"
    for number, cell in enumerate(code, start=1):
        if not cell.source.strip():
            yield f"code cell {number} is empty"
        if is_folded(cell) and not SAYS_WHAT.match(cell.source):
            yield f"code cell {number} is folded; begin it with a comment that says what it does"
        for output in cell.outputs:
            if output.output_type == "error":
                yield f"code cell {number} stores an error, {output.ename}"
            elif output.output_type == "stream" and output.name == "stderr":
                yield f"code cell {number} writes to stderr"
            elif output.output_type != "stream" and not output.data:
                yield f"code cell {number} has an output without a text form"


def dump(notebook: NotebookNode) -> str:
    """Return the bytes of a notebook, as text."""
    return str(nbformat.writes(notebook)) + "\n"


def main() -> None:
    """Normalise, or check, the notebooks that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("notebooks", nargs="*", type=Path, help="which ones (default: all)")
    parser.add_argument(
        "--check", action="store_true", help="execute and write nothing, fail if one is not normal"
    )
    arguments = parser.parse_args()
    failed = False
    for path in arguments.notebooks or find():
        notebook = read(path)
        if not arguments.check:
            print(f"Executing {path}", flush=True)
            notebook = normalise(execute(notebook, path.parent))
        found = list(problems(notebook))
        if arguments.check and dump(normalise(notebook)) != path.read_text("utf-8"):
            found.append("is not in normal form: run `make notebooks`")
        if not (found or arguments.check):
            path.write_text(dump(notebook), "utf-8")
        for problem in found:
            print(f"{path}: {problem}", file=sys.stderr)
        failed |= bool(found)
    if failed:
        sys.exit(1)


if __name__ == "__main__":
    main()
