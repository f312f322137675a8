"""Every picture of the book says what it shows, and no output shows how Python writes a number.

Numbers follow from the order in which a chapter names its figures.
"""

import re
from itertools import pairwise

import contents as tool
import notebooks
import pytest
from looping import each
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from safeteach.chapters import why_every_step_counts as chapter
from safeteach.classroom import contents as numbers
from safeteach.classroom.captions import Caption
from safeteach.figures import DescribedFigure

CHAPTERS = {
    tool.slug(path): notebooks.read(tool.ROOT / f"{path}.ipynb").cells
    for path in tool.chapters(tool.read_toc())
}


# How a picture gets its number and its caption ------------------------------------------------


def a_picture():
    return DescribedFigure(2, 1, alt="Nothing.")


def test_numbers_follow_from_the_order_in_which_a_notebook_names_its_figures(tmp_path, monkeypatch):
    calls = ['chapter.figure("pond", draw(), "A.")', 'x = 1\nchapter.figure(\n    "ice", x, "B.")']
    text = 'Not a figure: `chapter.figure("text", p, "C.")`.'
    for order in (1, -1):
        cells = [new_markdown_cell(text), *map(new_code_cell, calls[::order])]
        notebook = notebooks.normalise(new_notebook(cells=cells))
        (tmp_path / "danger-ahead.ipynb").write_text(notebooks.dump(notebook), "utf-8")
        named = tool.named("danger-ahead", tmp_path)
        assert named["figures"] == ["pond", "ice"][::order]
        derived = {"first": {"exercises": [], "figures": []}, "danger_ahead": named}
        monkeypatch.setattr(numbers, "_derived", lambda derived=derived: derived)
        monkeypatch.setattr(numbers, "contents", lambda: {"first": [], "danger_ahead": []})
        found = [numbers.figure_number("danger_ahead", name) for name in named["figures"]]
        assert found == ["2.1", "2.2"]


def test_the_text_calls_a_figure_by_its_number():
    assert chapter.fig("vans") == "Figure 1.2"
    assert chapter.figure("vans", a_picture(), "It is.").caption.number == "1.2"


@pytest.mark.parametrize(
    ("name", "picture", "caption", "error", "message"),
    [
        ("train", a_picture(), "Learning curves", ValueError, "expected a sentence that states"),
        ("train", a_picture(), "", ValueError, "caption is ''"),
        ("train", a_picture(), " \n", ValueError, "expected a sentence"),
        ("train", a_picture(), 7, TypeError, "caption"),
        ("train", "a picture", "It is.", TypeError, "picture is no figure"),
        ("sunrise", a_picture(), "It is.", ValueError, "no figure of why_every_step_counts has it"),
    ],
)
def test_what_is_no_figure_with_a_caption_is_refused(name, picture, caption, error, message):
    with pytest.raises(error, match=message):
        chapter.figure(name, picture, caption)


def test_a_caption_is_one_line_however_it_is_broken():
    shown = chapter.figure("train", a_picture(), "The mean\n    is $\\tau$.").caption
    assert shown == Caption("1.1", "The mean is $\\tau$.", "fig-why-every-step-counts-train")
    assert repr(shown) == "Figure 1.1. The mean is $\\tau$."


def test_a_notebook_shows_the_picture_and_then_its_caption(tmp_path):
    source = (
        "from safeteach.chapters import why_every_step_counts as chapter\n"
        "picture = chapter.figures.ledgers([[0.1]], tau=0.5, budget=1)\n"
        "chapter.figure('vans', picture, 'No step exceeds $\\\\tau$.')"
    )
    notebook = notebooks.execute(new_notebook(cells=[new_code_cell(source)]), tmp_path)
    picture, caption = notebook.cells[0].outputs
    assert "image/png" in picture.data
    assert picture.metadata["image/png"]["alt"].startswith("Two ledgers over 1 episodes")
    assert caption.data == {
        "text/markdown": "**Figure 1.2.** No step exceeds $\\tau$.",
        "text/plain": "Figure 1.2. No step exceeds $\\tau$.",
    }
    assert caption.metadata == {"figure": "fig-why-every-step-counts-vans"}
    assert bare([notebook.cells[0]]) == []


# What the chapters show -----------------------------------------------------------------------


def is_picture(output):
    said = output.get("data", {}).get("text/plain", "")
    return "image/png" in output.get("metadata", {}) or said.startswith("Interactive figure.")


def is_caption(output):
    return "figure" in output.get("metadata", {})


def bare(cells):
    """The pictures that no caption follows in the same cell, by what stands for them."""
    return [
        output.data["text/plain"]
        for cell in cells
        for output, after in pairwise([*cell.get("outputs", []), {}])
        if is_picture(output) and not is_caption(after)
    ]


def captions(slug):
    return [
        output
        for cell in CHAPTERS[slug]
        for output in cell.get("outputs", [])
        if is_caption(output)
    ]


@each("slug", CHAPTERS)
def test_every_picture_has_a_caption(slug):
    assert bare(CHAPTERS[slug]) == [], "show it by chapter.figure(name, picture, caption)"


@each("slug", CHAPTERS)
def test_captions_stand_in_the_order_of_their_numbers_and_are_short(slug):
    names = numbers._derived()[slug]["figures"]
    assert len(set(names)) == len(names), "two figures have one name"
    labels = [f"fig-{slug.replace('_', '-')}-{name}" for name in names]
    assert [output.metadata["figure"] for output in captions(slug)] == labels
    for name, output in zip(names, captions(slug), strict=True):
        said = output.data["text/plain"]
        number = numbers.figure_number(slug, name)
        assert said.startswith(f"Figure {number}. ")
        sentences = re.split(r"(?<=[.!?]) ", said.removeprefix(f"Figure {number}. "))
        assert len(sentences) <= 2, f"the caption {name!r} has {len(sentences)} sentences"


CODE = re.compile(r"^( *)(`{3,}).*?^\1\2$|`[^`\n]*`", re.MULTILINE | re.DOTALL)
RAW = re.compile(r"np\.(?:int|float)\d+\(|\barray\(|\bEvaluation\(|<[^<>\n]* at 0x[0-9a-f]+>")


def raw(cells):
    """Where the prose or the outputs of cells show how Python writes a value."""
    shown = []
    for cell in cells:
        if cell.cell_type == "markdown":
            shown.append(CODE.sub("", cell.source))
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            said = data.get("text/markdown") or data.get("text/plain", "")
            shown.append(CODE.sub("", output.get("text", said)))
    return [found[0] for text in shown for found in RAW.finditer(text)]


@each("slug", CHAPTERS)
def test_no_value_is_shown_as_python_writes_it(slug):
    assert raw(CHAPTERS[slug]) == []


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("[np.int64(20), np.float64(0.5)]", ["np.int64(", "np.float64("]),
        ("array([1, 2])", ["array("]),
        ("Evaluation(value=9.3)", ["Evaluation("]),
        ("<safeteach.records.History object at 0x7f00a1>", [
            "<safeteach.records.History object at 0x7f00a1>"
        ]),
        ("from 0 to 0x10, a < b at most", []),
    ],
)  # fmt: skip
def test_what_python_writes_is_found_in_prose_and_in_outputs(value, found):
    cell = new_code_cell("x")
    for output in (
        {"output_type": "stream", "name": "stdout", "text": value},
        {"output_type": "execute_result", "data": {"text/plain": value}},
    ):
        cell.outputs = [notebooks.nbformat.from_dict(output)]
        assert raw([cell]) == found
    assert raw([new_markdown_cell(f"It is {value}.")]) == found
    assert raw([new_markdown_cell(f"As in `{value}` and\n\n```python\n{value}\n```\n")]) == []


# Numbers in the text ---------------------------------------------------------------------------


def in_formulas(source):
    """The formulas of a text that ask for a number: a page would show the question."""
    tokens = MarkdownIt().use(dollarmath_plugin).parse(source)
    inline = [child for token in tokens for child in token.children or []]
    return [
        token.content
        for token in [*tokens, *inline]
        if token.type.startswith("math") and "{eval}" in token.content
    ]


@each("slug", CHAPTERS)
def test_no_number_is_asked_for_inside_a_formula(slug):
    for cell in CHAPTERS[slug]:
        if cell.cell_type == "markdown":
            assert not in_formulas(cell.source), "put the number behind the formula"


def test_a_number_inside_a_formula_is_found():
    assert in_formulas("A budget of $\\mu = {eval}`f\"{budget:g}\"`$ is") and not in_formulas(
        "from $\\mu$ to {eval}`mu` and $x$"
    )
