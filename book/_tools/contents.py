"""Write down for the library which chapters, exercises and figures the book has, in their order.

The chapters are those of the numbered parts of ``_toc.yml``; the exercises of a chapter are those
that its notebook labels, ``:label: ex-danger-ahead-recursion``, and its figures those that it shows
by ``chapter.figure("pond", ...)``.  Numbers follow from the order, and nobody types one.  Run it
through ``make contents``.
"""

import json
import re
import sys
from pathlib import Path
from typing import Any

import notebooks
import yaml

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / "safeteach" / "classroom" / "contents.json"


def chapters(toc: dict[str, Any]) -> list[str]:
    """The paths of the numbered chapters, without their endings.

    >>> chapters({"parts": [{"chapters": [{"file": "preface"}]},
    ...                     {"numbered": True, "chapters": [{"file": "book/a/first"}]}]})
    ['book/a/first']
    """
    return [
        chapter["file"]
        for part in toc["parts"]
        if part.get("numbered")
        for chapter in part["chapters"]
    ]


def slug(path: str) -> str:
    """The name of a chapter's room.

    >>> slug("book/model/danger-ahead")
    'danger_ahead'
    """
    return Path(path).name.replace("-", "_")


def names(path: str, kind: str, pattern: str) -> list[str]:
    """What the cells of a kind of a chapter name in the way of the pattern, as it comes."""
    cells = notebooks.read(ROOT / f"{path}.ipynb").cells
    text = "\n".join(cell.source for cell in cells if cell.cell_type == kind)
    return re.findall(pattern, text, re.MULTILINE)


def named(path: str) -> dict[str, list[str]]:
    """The names of the exercises and of the figures of a chapter, as they come."""
    label = rf"^:label: ex-{Path(path).name}-([a-z0-9-]+)$"
    return {
        "exercises": names(path, "markdown", label),
        "figures": names(path, "code", r"\bchapter\.figure\(\s*\"([a-z0-9-]+)\""),
    }


def derive(toc: dict[str, Any]) -> str:
    """What ``contents.json`` should hold, given the table of contents."""
    found = {slug(path): named(path) for path in chapters(toc)}
    return json.dumps(found, indent=1) + "\n"


def read_toc() -> dict[str, Any]:
    """The book's table of contents."""
    toc: dict[str, Any] = yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8"))
    return toc


if __name__ == "__main__":
    if len(sys.argv) > 1:
        sys.exit(__doc__)
    FILE.write_text(derive(read_toc()), "utf-8")
