"""A picture and its caption are one figure of the page, and what a caption says is rendered.

A book of one page, built with the extensions of the real one; and the prose of the real chapters.
"""

import re
from pathlib import Path

import captions
import notebooks
import pytest
from bs4 import BeautifulSoup
from building import build
from built import HTML, PAGES
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

import safeteach
from safeteach.classroom.contents import contents

CHAPTERS = [page for page in PAGES if page.rpartition("/")[2].replace("-", "_") in contents()]
TOOLS = Path(captions.__file__).parent
CONFIG = f"""
title: A small book
only_build_toc_files: true
repository: {{url: ""}}
execute: {{execute_notebooks: inline, stderr_output: error}}
parse: {{myst_enable_extensions: [dollarmath]}}
sphinx:
  local_extensions: {{booksite: {TOOLS}, captions: {TOOLS}, interactive: {TOOLS}}}
"""
STILL = """
from safeteach.classroom.captions import Caption, Captioned
from safeteach.figures import DescribedFigure
from safeteach.widgets import Slider, interactive

caption = Caption("1.1", r"No step *ever* exceeds $\\tau_1 < \\frac12$.", "fig-still")
Captioned(DescribedFigure(6, 3, alt="Ten bars."), caption)
"""
MOVING = """
shown = interactive(lambda n: DescribedFigure(2, 1, alt=f"{n} bars."), n=Slider("n", [1, 2], 1))
print("Before it.")
Captioned(shown, Caption("1.2", "Two are more than one.", "fig-moving"))
"""
OTHER = """
from IPython.display import Markdown

Markdown("Markdown that is **no** caption.")
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("book")
    cells = [new_markdown_cell("# Start"), *map(new_code_cell, (STILL, MOVING, OTHER))]
    notebook = notebooks.normalise(new_notebook(cells=cells))
    (folder / "index.ipynb").write_text(notebooks.dump(notebook), "utf-8")
    (folder / "_config.yml").write_text(CONFIG, "utf-8")
    (folder / "_toc.yml").write_text("format: jb-book\nroot: index\n", "utf-8")
    (folder / "requirements.txt").touch()
    (folder / "safeteach").symlink_to(Path(safeteach.__file__).parent)
    passed, log = build(folder)
    assert passed, log
    html = (folder / "_build" / "html" / "index.html").read_text("utf-8")
    return BeautifulSoup(html, "html.parser")


@pytest.mark.parametrize(("label", "alt"), [("fig-still", "Ten bars."), ("fig-moving", "1 bars.")])
def test_picture_and_caption_are_one_figure(page, label, alt):
    (figure,) = page.select(f"figure#{label}")
    assert figure.select_one("img")["alt"] == alt
    (below,) = figure.select("figcaption")
    assert below.find_previous("img")["alt"] == alt, "the caption stands below the picture"
    assert len(page.select(f"[id={label}]")) == 1


def test_a_figure_holds_nothing_but_its_picture_and_its_caption(page):
    assert len(page.select("figure.captioned")) == len(page.select("figcaption")) == 2
    assert "Before it." in page.select_one("article").get_text()
    assert "Before it." not in page.select_one("figure#fig-moving").get_text()
    assert page.select_one("figure#fig-moving figure.interactive")


def test_what_a_caption_says_is_rendered(page):
    caption = page.select_one("figure#fig-still figcaption")
    assert caption.select_one("strong").get_text() == "Figure 1.1."
    assert caption.select_one("em").get_text() == "ever"
    assert caption.select_one(".math").get_text() == r"\(\tau_1 < \frac12\)"
    assert "$" not in caption.get_text()


def test_a_picture_is_as_wide_as_the_column(page):
    assert "width: 688px" in page.select_one("figure#fig-still img")["style"]


def test_other_markdown_is_no_caption(page):
    (strong,) = [tag for tag in page.select("strong") if tag.get_text() == "no"]
    assert not strong.find_parent("figure")


@pytest.mark.parametrize("name", CHAPTERS)
def test_no_sentence_shows_a_value_as_python_writes_it(name):
    """What the kernel computes for the text can be seen in the built page alone."""
    html = (HTML / f"{name}.html").read_text("utf-8")
    article = BeautifulSoup(html, "html.parser").select_one("article.bd-article")
    for code in article.select("pre, code, .sig"):
        code.decompose()
    said = article.get_text()
    assert re.findall(r"np\.\w+\(|\barray\(|\bEvaluation\(| at 0x[0-9a-f]", said) == []
    assert not [one for one in article.select("figcaption") if "$" in one.get_text()]
