"""The paper is cited by one role, its slips by another, and two pages show what they lead to.

A small book with the real files of data, and pages that stand in for its chapters.
"""

import shutil
import tomllib
from pathlib import Path

import paper
import pytest
from bs4 import BeautifulSoup
from building import build
from nbformat import v4, writes

ROOT = Path(__file__).parents[2]
APPENDIX = ROOT / paper.FOLDER
SLIPS = tomllib.loads((APPENDIX / "errata.toml").read_text("utf-8"))["slip"]
THINGS = [
    thing
    for group in tomllib.loads((APPENDIX / "paper.toml").read_text("utf-8"))["group"]
    for thing in group["thing"]
]
CHAPTERS = sorted(path.stem for path in (ROOT / "book").glob("[!.]*/*.ipynb"))
LABELS = sorted({label for thing in THINGS for label in thing.get("proved", ())})
CONFIG = f"""
title: A small book
only_build_toc_files: true
execute: {{execute_notebooks: "off"}}
parse: {{myst_enable_extensions: [colon_fence, dollarmath]}}
bibtex_bibfiles: [references.bib]
sphinx:
  extra_extensions: [sphinx_proof]
  config: {{html_static_path: [{ROOT / "book" / "_static"}]}}
  local_extensions: {{paper: {Path(paper.__file__).parent}}}
"""
LESSON = """# A lesson

Danger spreads backwards {paper}`Eq (2)`, and *{paper}`Thm 4.2`* counts on it.
{slip}`union: The paper starts $\\mathcal{U}_h$ from *the next set*.`
So much for the sets.

- A list,{slip}`while-test: The sign is the wrong way round.`
- too.{slip}`coin: A coin tells more.`

:::{prf:definition} In a box
:label: def-box
Text.{slip}`hole: It is not in the box.`
:::
"""


def write_book(folder, lesson):
    """A book of two appendices, a lesson, and stubs for what the appendices point to."""
    (folder / paper.FOLDER).mkdir(parents=True)
    for name in ("errata.md", "errata.toml", "paper-map.md", "paper.toml"):
        shutil.copy(APPENDIX / name, folder / paper.FOLDER)
    shutil.copy(ROOT / "book" / "references.bib", folder)
    (folder / "_config.yml").write_text(CONFIG)
    (folder / "index.md").write_text("# Start\n\n```{bibliography}\n```\n")
    proofs = "".join(f":::{{prf:theorem}} One\n:label: {label}\nSo.\n:::\n\n" for label in LABELS)
    (folder / "proofs.md").write_text(f"# Proofs\n\n{proofs}")
    for chapter in CHAPTERS:
        (folder / f"{chapter}.md").write_text(f"# Of {chapter}\n\nText.\n")
    notebook = v4.new_notebook(cells=[v4.new_markdown_cell(lesson)])
    (folder / "lesson.ipynb").write_text(writes(notebook))
    pages = [f"{paper.FOLDER}/errata", f"{paper.FOLDER}/paper-map", "proofs", "lesson", *CHAPTERS]
    files = "".join(f"  - file: {page}\n" for page in pages)
    (folder / "_toc.yml").write_text(
        f"format: jb-book\nroot: index\noptions: {{numbered: true}}\nchapters:\n{files}"
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Return a page of the small book."""
    folder = tmp_path_factory.mktemp("book")
    write_book(folder, LESSON)
    passed, log = build(folder)
    assert passed, log

    def page(name):
        path = folder / "_build" / "html" / f"{name}.html"
        return BeautifulSoup(path.read_text("utf-8"), "html.parser")

    return page


def number(name):
    return [slip["id"] for slip in SLIPS].index(name) + 1


def test_a_citation_names_the_authors_and_leads_to_the_row(site):
    equation, theorem = site("lesson").select(".paper")
    assert equation.get_text() == "[Xiong et al., Eq (2)]"
    assert equation.a["href"] == "book/appendix/paper-map.html#paper-eq-2"
    assert theorem.get_text() == "[Xiong et al., Thm 4.2]"
    row = site("book/appendix/paper-map").find(id="paper-thm-4-2").find_parent("tr")
    assert row.td.get_text().strip() == "Theorem 4.2"


def test_a_slip_is_a_note_beside_its_paragraph(site):
    note, in_a_list, of_a_box = site("lesson").select("aside.margin.slip")
    assert note.get_text().split() == [
        "The", "paper", "starts", r"\(\mathcal{U}_h\)", "from", "the", "next", "set.",
        "(Errata", f"{number('union')})",
    ]  # fmt: skip
    assert note.em.get_text() == "the next set"
    assert note.a["href"] == "book/appendix/errata.html#errata-union"
    text = note.find_previous_sibling("p").get_text()
    assert "Danger spreads" in text and "So much" in text and "starts" not in text
    assert all(each.parent["class"] == ["beside"] for each in (note, in_a_list, of_a_box))
    assert in_a_list.find_previous_sibling("ul").get_text().split() == ["A", "list,", "too."]
    assert len(in_a_list.select("p")) == 2  # of one list, together
    assert of_a_box.find_previous_sibling("div", class_="proof") is not None


def test_the_errata_page_lists_all_with_their_numbers(site):
    entries = site("book/appendix/errata").select(".erratum")
    assert [entry["id"] for entry in entries] == [f"errata-{slip['id']}" for slip in SLIPS]
    for i, (entry, slip) in enumerate(zip(entries, SLIPS, strict=True), start=1):
        assert entry.strong.get_text() == f"Errata {i}"
        words = [term.get_text() for term in entry.select("dt")]
        assert words[:3] == ["Printed", "Holds", "Why"]
        hrefs = [a["href"] for a in entry.select("a")]
        links = [href.rpartition("/")[2] for href in hrefs if "#" not in href]
        assert links == [f"{slug.replace('_', '-')}.html" for slug in slip["uses"]]


def test_the_map_lists_all_and_leads_to_their_errata(site):
    rows = site("book/appendix/paper-map").select("table.paper-map tbody tr")
    assert len(rows) == len(THINGS)
    known = {f"errata-{slip['id']}" for slip in SLIPS}
    met = set()
    for row, thing in zip(rows, THINGS, strict=True):
        assert row.find(id=paper.label_of(thing["name"]))
        assert row.em.get_text() == thing["status"]
        hrefs = [a["href"] for a in row.select("a")]
        assert sum("proofs.html#" in href for href in hrefs) == len(thing.get("proved", ()))
        met |= {href.partition("#")[2] for href in hrefs if "errata.html" in href}
    assert met == known


def test_a_name_that_is_not_there_is_a_warning(tmp_path):
    lesson = "# A lesson\n\n{paper}`Thm 9.9`, and {slip}`nothing: Of this.` And {slip}`union`.\n"
    write_book(tmp_path, lesson)
    (tmp_path / "danger-ahead.md").rename(tmp_path / "moved.md")
    for name, old, new in [
        ("_toc.yml", "file: danger-ahead\n", "file: moved\n"),
        ("book/appendix/paper.toml", 'status = "run"', 'status = "seen"'),
        ("book/appendix/errata.toml", '"Alg 3"]', '"Alg 33"]'),
    ]:
        path = tmp_path / name
        text = path.read_text("utf-8")
        assert old in text
        path.write_text(text.replace(old, new), "utf-8")
    passed, log = build(tmp_path)
    assert not passed
    for said in (
        "paper.toml names no 'Thm 9.9'",
        "errata.toml has no slip 'nothing'",
        "errata.toml has no slip 'union', or nothing is said of it",
        "paper.toml: Sec 7: no status 'seen'",
        "errata.toml: game-union: paper.toml names no 'Alg 33'",
        "union: no chapter 'danger_ahead'",
    ):
        assert said in log
