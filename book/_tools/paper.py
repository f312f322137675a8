"""The Sphinx extension behind the paper: how the book cites it, where it slips, what became of it.

Two files of data stand in ``book/appendix``: ``paper.toml`` names every numbered thing of the
paper, shown by ``{paper-map}``; ``errata.toml`` lists the slips, shown by ``{errata}``.
In a page or a notebook

* ``{paper}`Thm 4.2` `` cites, "[Xiong et al., Thm 4.2]", with a link to the row of the map;
* ``{slip}`union: The paper starts one step too early.` `` is a note of a line in the margin, with a
  link to the entry; it may stand anywhere in a paragraph.

A name that the data do not know is a warning, and so is a chapter that is not there.
"""

import re
import tomllib
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.domains.std import StandardDomain
from sphinx.environment import BuildEnvironment
from sphinx.transforms import SphinxTransform
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective, SphinxRole
from sphinx.writers.html5 import HTML5Translator

LOGGER = logging.getLogger(__name__)

FOLDER = "book/appendix"
AUTHORS = "Xiong et al."
WORDS = {
    "Alg": "Algorithm",
    "App": "Appendix",
    "Def": "Definition",
    "Eq": "Equation",
    "Fig": "Figure",
    "Sec": "Section",
    "Thm": "Theorem",
}
GROUPS = {
    "algorithm": "What changes an algorithm",
    "statement": "Statements that do not hold as printed",
    "gap": "Gaps in a proof",
    "constant": "Constants",
    "misprint": "Misprints",
}
STATUSES = ("proved as stated", "repaired", "open", "taught", "run", "not used")
UNCHECKED = "none"


class marginal(nodes.Inline, nodes.TextElement):  # type: ignore[misc]
    """A note about a slip, inside the paragraph that it is written in."""


class beside(nodes.General, nodes.Element):  # type: ignore[misc]
    """A block of the text with its notes."""


class aside(nodes.General, nodes.Element):  # type: ignore[misc]
    """These notes."""


def full_name(name: str) -> str:
    """Return the name of a thing as the paper prints it.

    Examples
    --------
    >>> full_name("Thm 4.2"), full_name("Lemma B.1")
    ('Theorem 4.2', 'Lemma B.1')
    """
    word, _, number = name.partition(" ")
    return f"{WORDS.get(word, word)} {number}"


def label_of(name: str) -> str:
    """Return the label of a thing's row in the map.

    Examples
    --------
    >>> label_of("Eq (2)"), label_of("Lemma B.1")
    ('paper-eq-2', 'paper-lemma-b-1')
    """
    return "paper-" + "-".join(re.findall(r"\w+", name.lower()))


@lru_cache(maxsize=8)
def _parse(path: Path, _changed: int) -> dict[str, Any]:
    return tomllib.loads(path.read_text("utf-8"))


def read(env: BuildEnvironment, name: str) -> dict[str, Any]:
    """Return the content of a file of data; the page that asks is read again when it changes."""
    path = Path(env.srcdir, FOLDER, name)
    env.note_dependency(str(path))
    return _parse(path, path.stat().st_mtime_ns)


def things(env: BuildEnvironment) -> dict[str, dict[str, Any]]:
    """Return what is numbered in the paper, by its name."""
    groups = read(env, "paper.toml")["group"]
    return {thing["name"]: thing for group in groups for thing in group["thing"]}


def slips(env: BuildEnvironment) -> dict[str, dict[str, Any]]:
    """Return the entries of the errata by their ids, each with its number from the order."""
    entries = read(env, "errata.toml")["slip"]
    return {entry["id"]: entry | {"number": i} for i, entry in enumerate(entries, start=1)}


def reference(env: BuildEnvironment, label: str, text: str) -> addnodes.pending_xref:
    """Return a link to a label, with the words that it shows."""
    link = addnodes.pending_xref(
        "", refdomain="std", reftype="ref", reftarget=label, refexplicit=True, refwarn=True,
        refdoc=env.docname,
    )  # fmt: skip
    link += nodes.inline("", text, classes=["std", "std-ref"])
    return link


class Paper(SphinxRole):
    """``{paper}`Thm 4.2` ``: cite a numbered thing of the paper."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Link the name to its row, or warn that there is none."""
        if self.text not in things(self.env):
            LOGGER.warning("paper.toml names no %r", self.text, location=self.get_location())
        link = reference(self.env, label_of(self.text), f"{AUTHORS}, {self.text}")
        return [nodes.inline("", "[", link, nodes.Text("]"), classes=["paper"])], []


class Slip(SphinxRole):
    """``{slip}`union: In one line.` ``: say beside the text where the paper slips."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Leave a note in the text, from where it is put beside its paragraph."""
        name, _, line = self.text.partition(":")
        known = slips(self.env)
        if name not in known or not line.strip():
            LOGGER.warning(
                "errata.toml has no slip %r, or nothing is said of it", name,
                location=self.get_location(),
            )  # fmt: skip
            return [], []
        said, messages = self.inliner.parse(
            line.strip(), self.lineno, self.inliner, nodes.paragraph()
        )
        link = reference(self.env, f"errata-{name}", f"Errata {known[name]['number']}")
        return [marginal("", "", *said, nodes.Text(" ("), link, nodes.Text(")"))], messages


class PutInMargin(SphinxTransform):
    """Put the notes of a block, which may be a box or a list, beside it: in the margin or below."""

    default_priority = 205  # the text is parsed, and nothing has been numbered yet

    def apply(self, **_: Any) -> None:
        """Move them out of the text."""
        for note in list(self.document.findall(marginal)):
            block = note.parent
            while not (isinstance(block.parent, beside) or _is_of_the_page(block.parent)):
                block = block.parent
            note.parent.remove(note)
            self.notes_of(block).append(nodes.paragraph("", "", *note.children))

    def notes_of(self, block: nodes.Element) -> nodes.Element:
        """Return the notes of a block, which is put together with them if it is not yet."""
        if not isinstance(block.parent, beside):
            at, above = block.parent.index(block), block.parent
            above.remove(block)
            above.insert(at, beside("", block, aside("")))
        return block.parent[1]


def _is_of_the_page(node: nodes.Element) -> bool:
    """Whether it is the page or a section of it; a theorem has a section inside its box."""
    if isinstance(node, nodes.section):
        return isinstance(node.parent, nodes.section | nodes.document)
    return isinstance(node, nodes.document)


class FromData(SphinxDirective):
    """A directive that makes a page from data."""

    def text(self, markdown: str) -> list[nodes.Node]:
        """Parse some Markdown."""
        return self.parse_text_to_nodes(markdown)

    def section(self, title: str, content: Iterable[nodes.Node]) -> nodes.section:
        """Return a section of the page."""
        label = nodes.make_id(title)
        found = nodes.section("", ids=[label], names=[nodes.fully_normalize_name(title)])
        found += nodes.title("", "", *self._inline(title))
        found += list(content)
        return found

    def target(self, label: str, title: str) -> list[str]:
        """Make a label known to all pages, and return the ids of what carries it."""
        domain = self.env.get_domain("std")
        assert isinstance(domain, StandardDomain)
        domain.note_hyperlink_target(label, self.env.docname, label, title)
        return [label]

    def chapters(self, slugs: Sequence[str], of: str) -> str:
        """Return links to chapters, in Markdown; a chapter that is not there is a warning."""
        pages = {docname.rpartition("/")[2]: docname for docname in self.env.found_docs}
        links = []
        for slug in slugs:
            docname = pages.get(slug.replace("_", "-"))
            if docname is None:
                LOGGER.warning("%s: no chapter %r", of, slug, location=self.get_location())
            else:
                links.append(f"{{doc}}`/{docname}`")
        return ", ".join(links)

    def _inline(self, markdown: str) -> list[nodes.Node]:
        (paragraph,) = self.text(markdown)
        return list(paragraph.children)


class Errata(FromData):
    """``{errata}``: all slips, those of one kind together."""

    def run(self) -> list[nodes.Node]:
        """Return a section for each kind."""
        found = slips(self.env).values()
        return [
            self.section(title, [self.entry(slip) for slip in found if slip["status"] == status])
            for status, title in GROUPS.items()
            if any(slip["status"] == status for slip in found)
        ]

    def entry(self, slip: dict[str, Any]) -> nodes.Element:
        """Return one entry, with its label."""
        name = f"Errata {slip['number']}"
        ids = self.target(f"errata-{slip['id']}", name)
        entry = nodes.container("", ids=ids, classes=["erratum"], is_div=True)
        head = nodes.paragraph("", "", nodes.strong("", name), nodes.Text(". "))
        head += self._inline(slip["where"])
        entry += head
        known = things(self.env)
        for cited in slip["of"]:
            if cited not in known:
                LOGGER.warning("errata.toml: %s: paper.toml names no %r", slip["id"], cited)
        rows = {"Printed": slip["printed"], "Holds": slip["holds"], "Why": slip["why"]}
        if slip["uses"]:
            rows["In the book"] = self.chapters(slip["uses"], slip["id"])
        if slip["check"] == UNCHECKED:
            rows["Not run"] = slip["reason"]
        entry += nodes.definition_list(
            "", *(self.row(word, text) for word, text in rows.items() if text)
        )
        return entry

    def row(self, word: str, text: str) -> nodes.definition_list_item:
        """Return a word and what stands under it."""
        return nodes.definition_list_item(
            "", nodes.term("", word), nodes.definition("", *self.text(text))
        )


class PaperMap(FromData):
    """``{paper-map}``: what is numbered in the paper, and what became of it in the book."""

    def run(self) -> list[nodes.Node]:
        """Return a table for each part of the paper."""
        groups = read(self.env, "paper.toml")["group"]
        return [self.section(group["title"], [self.table(group["thing"])]) for group in groups]

    def table(self, rows: Sequence[dict[str, Any]]) -> nodes.table:
        """Return a table of some things, one a row."""
        body = nodes.tbody("", *(self.row(thing) for thing in rows))
        titles = ("In the paper", "What it says", "In the book")
        head = nodes.row("", *(nodes.entry("", nodes.paragraph("", title)) for title in titles))
        columns = [nodes.colspec(colwidth=width) for width in (18, 41, 41)]
        group = nodes.tgroup("", *columns, nodes.thead("", head), body, cols=len(columns))
        return nodes.table("", group, classes=["paper-map"])

    def row(self, thing: dict[str, Any]) -> nodes.row:
        """Return the row of one thing, with its label."""
        name = thing["name"]
        ids = self.target(label_of(name), full_name(name))
        if thing["status"] not in STATUSES:
            LOGGER.warning("paper.toml: %s: no status %r", name, thing["status"])
        told = f"*{thing['status']}*"
        if note := thing.get("note"):
            told += f": {note}"
        chapters = self.chapters(thing.get("chapters", ()), name)
        places = ", ".join(filter(None, [*map("{{prf:ref}}`{}`".format, thing.get("proved", ()))]))
        where = "; ".join(filter(None, [places, chapters]))
        cells = [
            [nodes.paragraph("", full_name(name), ids=ids)],
            self.text(thing["says"]),
            self.text(f"{told}. {where}"),
        ]
        if errata := self.errata(name):
            cells[2].append(errata)
        return nodes.row("", *(nodes.entry("", *cell) for cell in cells))

    def errata(self, name: str) -> nodes.paragraph | None:
        """Return links to the slips of a thing."""
        found = [slip for slip in slips(self.env).values() if name in slip["of"]]
        if not found:
            return None
        paragraph = nodes.paragraph("", "Errata ")
        for i, slip in enumerate(found):
            paragraph += nodes.Text(", " if i else "")
            paragraph += reference(self.env, f"errata-{slip['id']}", str(slip["number"]))
        return paragraph


def visit_beside(self: HTML5Translator, node: nodes.Element) -> None:
    """Begin a block with its notes."""
    self.body.append(self.starttag(node, "div", CLASS="beside"))


def depart_beside(self: HTML5Translator, _node: nodes.Element) -> None:
    """End it."""
    self.body.append("</div>\n")


def visit_aside(self: HTML5Translator, node: nodes.Element) -> None:
    """Begin the notes; the theme makes room where it sees the class ``margin``."""
    self.body.append(self.starttag(node, "aside", CLASS="margin slip"))


def depart_aside(self: HTML5Translator, _node: nodes.Element) -> None:
    """End them."""
    self.body.append("</aside>\n")


def setup(app: Sphinx) -> dict[str, Any]:
    """Register all of the above with Sphinx."""
    app.add_node(beside, html=(visit_beside, depart_beside))
    app.add_node(aside, html=(visit_aside, depart_aside))
    app.add_transform(PutInMargin)
    app.add_role("paper", Paper())
    app.add_role("slip", Slip())
    app.add_directive("errata", Errata)
    app.add_directive("paper-map", PaperMap)
    app.add_css_file("paper.css")
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
