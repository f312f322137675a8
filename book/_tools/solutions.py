"""Where solutions, rubrics and model proofs stand.

A solution is a cell of its own in the chapter's notebook, ``:::{solution} ex-danger-ahead-mask``.
What graders look for is in the chapter's room, in ``rubrics.toml``, by the name of the exercise:
a ``rubric`` and, where the exercise asks for one, a model ``proof``.  That file is in no package.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

import contents
from nbformat import NotebookNode

BEGIN = re.compile(r"(?P<fence>:{3,}|`{3,})\{solution\}[ ]+(?P<label>\S+)[ ]*\n")

Rubric = Mapping[str, str]


def label_of(cell: NotebookNode) -> str | None:
    r"""The label of the exercise that a cell solves, or None if it is no solution.

    Raises
    ------
    ValueError
        If a solution shares its cell with something else: it could not be left out alone.

    Examples
    --------
    >>> from nbformat.v4 import new_markdown_cell
    >>> label_of(new_markdown_cell(":::{solution} ex-pond-depth\n:class: dropdown\n\nTwo.\n:::"))
    'ex-pond-depth'
    >>> label_of(new_markdown_cell("How deep is it?"))
    >>> label_of(new_markdown_cell(":::{solution} ex-pond-depth\n\nTwo.\n:::\n\n## Quiz"))
    Traceback (most recent call last):
    ValueError: a solution is not alone in its cell, which begins ':::{solution} ex-pond-depth'
    """
    if cell.cell_type != "markdown" or "{solution" not in cell.source:
        return None
    source = cell.source.strip()
    begin = BEGIN.match(source)
    end = begin and re.search(rf"^{begin['fence']}[ ]*$", source, re.MULTILINE)
    if begin and end and end.end() == len(source):
        return begin["label"]
    first = source.split("\n", 1)[0]
    raise ValueError(f"a solution is not alone in its cell, which begins {first!r}")


def rubrics_of(page: Path, root: Path) -> dict[str, Rubric]:
    """The rubrics of a chapter, given by its page, by the labels of its exercises."""
    file = root / "safeteach" / "chapters" / contents.slug(page.stem) / "rubrics.toml"
    found = tomllib.loads(file.read_text("utf-8")) if file.is_file() else {}
    return {f"ex-{page.stem}-{name}": rubric for name, rubric in found.items()}


def lacking(page: Path, labels: list[str], root: Path) -> Iterator[str]:
    """Say which exercises of a chapter, given by their labels, have no rubric: a sentence each."""
    rubrics = rubrics_of(page, root)
    for label in labels:
        if not rubrics.get(label, {}).get("rubric", "").strip():
            name = label.removeprefix(f"ex-{page.stem}-")
            yield (
                f"The exercise {name!r} of {page.stem} has no rubric: write one into "
                f"safeteach/chapters/{contents.slug(page.stem)}/rubrics.toml."
            )


def as_markdown(rubric: Rubric) -> str:
    r"""A rubric and, if there is one, the model proof, as they stand in a notebook and on a page.

    Each line of the rubric is an item of a list.

    Examples
    --------
    >>> print(as_markdown({"rubric": "1 point: both sums.\nNone: sums of costs.\n"}))
    ::::{admonition} Rubric
    :class: rubric
    <BLANKLINE>
    - 1 point: both sums.
    - None: sums of costs.
    ::::
    """
    items = (f"- {line}" for line in rubric["rubric"].split("\n") if line.strip())
    boxes = [_box("Rubric", "\n".join(items))]
    if "proof" in rubric:
        boxes.append(_box("A model proof", rubric["proof"].strip()))
    return "\n\n".join(boxes)


def _box(title: str, text: str) -> str:
    return f"::::{{admonition}} {title}\n:class: rubric\n\n{text}\n::::"
