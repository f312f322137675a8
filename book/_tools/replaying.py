"""Let nbval judge the execution that the pages were built from, in place of one of its own.

The build executes each notebook once, in a new kernel, and keeps what came of it beside the pages.
nbval runs here as ever, cell by cell, and compares as ever; only its kernel is one that says again
what the build's kernel said.  A stored output that differs from what the page shows is a failure,
and so is a page that was built from another notebook.  ``make thorough`` executes them once more.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from nbformat import NotebookNode
from nbval.plugin import IPyNbFile  # type: ignore[import-untyped]
from notebooks import read

EXECUTED = "_build/jupyter_execute"  # where MyST-NB keeps the notebooks that it has executed
# The forms of an interactive figure that only pages have: pictures for all settings, a playground.
FOR_PAGES = ('<figure class="interactive">', '<div class="playground"')


class ReplayedKernel:
    """As much of a kernel as nbval asks: it says what another said when it ran these cells.

    Parameters
    ----------
    executed
        The notebook with the outputs that are to be said again.
    """

    def __init__(self, executed: NotebookNode) -> None:
        self.cells = [cell for cell in executed.cells if cell.cell_type == "code"]
        self.messages: Iterator[tuple[str, dict[str, Any]]] = iter(())

    def is_alive(self) -> bool:
        """Whether it can go on."""
        return True

    def execute_cell_input(self, source: str, **_: Any) -> str:
        """Begin a cell, which must be the next one of those that were executed."""
        ran = self.cells.pop(0) if self.cells else None
        if ran is None or ran.source != source:
            raise ValueError("the page was built from another cell: run `make book` first")
        messages = [message(output) for output in ran.outputs]
        self.messages = iter([*messages, ("status", {"execution_state": "idle"})])
        return "cell"

    def get_message(self, *_: Any, **__: Any) -> dict[str, Any]:
        """The next thing that the cell said."""
        kind, content = next(self.messages)
        return {"msg_type": kind, "content": content, "parent_header": {"msg_id": "cell"}}

    def await_reply(self, *_: Any, **__: Any) -> None:
        """It has replied."""

    await_idle = stop = await_reply


def message(output: NotebookNode) -> tuple[str, dict[str, Any]]:
    """What a kernel sends for an output: the kind of message and its content."""
    content = dict(output)
    if "data" in content:
        content["data"] = {
            kind: data
            for kind, data in output.data.items()
            if not (kind == "text/html" and data.startswith(FOR_PAGES))
        }
    return content.pop("output_type"), content


class ReplayedNotebook(IPyNbFile):  # type: ignore[misc]
    """A notebook whose cells nbval checks with a replayed kernel."""

    def setup(self) -> None:
        """Start the kernel."""
        executed = self.config.rootpath / EXECUTED / self.path.relative_to(self.config.rootpath)
        self.kernel = ReplayedKernel(read(executed))


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect a notebook, in nbval's place."""
    if file_path.suffix == ".ipynb":
        return ReplayedNotebook.from_parent(parent, path=file_path)
    return None

