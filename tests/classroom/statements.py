"""What the appendix pages are compared with: the numbered statements of the chapters."""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import nbformat
import yaml

ROOT = Path(__file__).parents[2]
PROVED = ("lemma", "theorem", "proposition", "corollary")
DIRECTIVE = re.compile(
    r"^(?P<fence>:{3,})\{prf:(?P<kind>\w+)\}(?P<title>[^\n]*)\n(?P<body>.*?)^(?P=fence)[ ]*$",
    re.MULTILINE | re.DOTALL,
)
LABEL = re.compile(r"^:label: (\S+)$", re.MULTILINE)
NAMED = re.compile(r"\{prf:ref\}`([\w-]+)`")
# A proof on another page than its statement says in the text before it whose proof it is.
APART = re.compile(r"\bproof of \{prf:ref\}`([\w-]+)`")


@dataclass
class Statement:
    """A definition, an algorithm or a claim; ``text`` is what it says and its proof."""

    kind: str
    title: str
    page: str
    text: str


@cache
def parts():
    """The parts of the book that state and prove: the pages of each that do, by its title.

    In a numbered part these are all its chapters.
    """
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text())
    pages = {
        part["caption"]: [
            page["file"]
            for page in part["chapters"]
            if part.get("numbered") or DIRECTIVE.search(prose(page["file"]))
        ]
        for part in toc["parts"]
    }
    return {caption: found for caption, found in pages.items() if found}


@cache
def prose(page):
    """The text of a page, without its code."""
    if (ROOT / f"{page}.md").exists():
        return (ROOT / f"{page}.md").read_text("utf-8")
    cells = nbformat.read(ROOT / f"{page}.ipynb", as_version=4).cells
    return "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")


@cache
def statements():
    """All of them by label, in the order of the book."""
    found, label = {}, ""
    for page in [page for pages in parts().values() for page in pages]:
        end = 0
        for directive in DIRECTIVE.finditer(prose(page)):
            kind, title, body = directive["kind"], directive["title"].strip(), directive["body"]
            apart = APART.findall(prose(page)[end : directive.start()])
            end = directive.end()
            if kind == "proof":
                found[apart[-1] if apart else label].text += body
            else:
                label = LABEL.search(body)[1]
                found[label] = Statement(kind, title, page, body)
    return found


def uses():
    """(label, label of a statement whose words or proof name it), of all statements."""
    return {
        (named, label)
        for label, statement in statements().items()
        for named in NAMED.findall(statement.text)
        if named != label
    }


def tables(text, level):
    """The rows of cells of all tables below each heading of this level, by the heading."""
    found = {}
    for section in re.split(rf"^{'#' * level} ", text, flags=re.MULTILINE)[1:]:
        title, _, rest = section.partition("\n")
        body = re.split(rf"^#{{1,{level}}} ", rest, flags=re.MULTILINE)[0]
        lines = re.findall(r"^\| (.*)\|$", body, re.MULTILINE)
        found[title] = [[cell.strip() for cell in line.split("|")] for line in lines]
    return found


def broken_links(page, text):
    """What a page links to, by ``prf:ref`` and ``doc``, that is not there."""
    there = [NAMED.findall(text), re.findall(r"\{doc\}`(?:[^`<]*<)?([^`<>]+)>?`", text)]
    labels = [label for label in there[0] if label not in statements()]
    pages = [ROOT / name[1:] if name[0] == "/" else page.parent / name for name in there[1]]
    return labels + [
        str(path)
        for path in pages
        if not path.with_suffix(".md").exists() and not path.with_suffix(".ipynb").exists()
    ]
