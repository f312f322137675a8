"""The instructor's edition: behind every solution stands its rubric.

`make test` looks at its notebooks, and writes the pages of the student's edition, by the same code;
`make thorough` writes the whole.
"""

from pathlib import Path

import contents
import editions
import leaks
import notebooks
import pytest
import solutions
from bs4 import BeautifulSoup
from built import ROOT

CHAPTERS = contents.chapters(contents.read_toc())


@pytest.fixture(scope="module")
def instructor(tmp_path_factory):
    folder = tmp_path_factory.mktemp("editions") / "instructor"
    editions.make("instructor", folder)
    return folder


@pytest.mark.thorough
@pytest.mark.parametrize("page", CHAPTERS)
def test_every_solution_of_a_page_is_followed_by_its_rubric(instructor, page):
    text = (instructor / "html" / f"{page}.html").read_text("utf-8")
    boxes = BeautifulSoup(text, "html.parser").select(".solution, .rubric:has(ul)")
    assert len(boxes) >= 10
    for solution, rubric in zip(boxes[::2], boxes[1::2], strict=True):
        assert "solution" in solution["class"] and "rubric" in rubric["class"]
    rubrics = solutions.rubrics_of(Path(page), ROOT)
    for (label, rubric), box in zip(rubrics.items(), boxes[1::2], strict=True):
        first = next(text for kind, text in leaks.said(rubric["rubric"]) if kind == "prose")
        assert first in leaks.words(box.get_text()), label


@pytest.mark.parametrize("page", CHAPTERS)
def test_every_solution_of_a_notebook_is_followed_by_its_rubric(page):
    notebook = editions.edited("instructor", ROOT / f"{page}.ipynb")
    rubrics = solutions.rubrics_of(Path(page), ROOT)
    for cell, after in zip(notebook.cells, notebook.cells[1:], strict=False):
        if label := solutions.label_of(cell):
            assert rubrics.pop(label)["rubric"].split("\n")[0] in after.source
    assert rubrics == {}, "a rubric without an exercise"
    ids = [cell.id for cell in notebook.cells]
    assert len(ids) == len(set(ids))


@pytest.mark.thorough
def test_its_notebooks_are_those(instructor):
    for page in CHAPTERS:
        path = ROOT / f"{page}.ipynb"
        written = notebooks.read(instructor / "notebooks" / path.relative_to(notebooks.BOOK))
        assert written == editions.edited("instructor", path)


@pytest.mark.thorough
def test_no_rubric_is_in_its_wheel_either(instructor):
    assert leaks.search(instructor / "dist", leaks.secrets_of(ROOT)) == []
