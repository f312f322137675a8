"""The Sphinx extension behind folding: solutions, code and proofs that open when a reader asks.

Whatever is folded becomes one ``<details>`` whose whole bar opens it, so that the browser does the
rest: keyboard, search in the page, links into it, printing.

- A solution, or any box with a title and the class ``dropdown``, folds behind its title.
- A code cell with the tag ``hide-input`` or ``hide-cell`` folds behind its first line, a comment
  that says what is inside.
- A proof folds behind its idea: the paragraph before it begins with *The idea*, set apart. One of a
  few lines stays open, because a click would take as long.

One button at the top of a page opens and closes its code and its proofs; what a reader should try
alone first is opened one by one.
"""

from collections.abc import Callable, Iterable
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator
from sphinx_exercise.nodes import solution_node  # type: ignore[import-untyped]
from sphinx_proof.nodes import proof_node  # type: ignore[import-untyped]

LOGGER = logging.getLogger(__name__)

IDEA = "The idea"
PROOF = "Proof"
SHORT = 70  # words: a proof that has no more stays open
# The tags that fold a cell, as MyST-NB calls what it would do about them.
MODES = ("input", "all")


class fold(nodes.General, nodes.Element):  # type: ignore[misc]
    """What is folded; its first child is its bar."""


class bar(nodes.General, nodes.TextElement):  # type: ignore[misc]
    """The line that opens and closes a fold."""


class switch(nodes.General, nodes.Element):  # type: ignore[misc]
    """The button that opens and closes the folds of a page; `says` is what stands on it."""


def split(source: str) -> tuple[str, str]:
    r"""Split a folded cell into what its first line says, if that is a comment, and the rest.

    Examples
    --------
    >>> split("# draw both vans\n\nchapter.figures.vans()")
    ('draw both vans', 'chapter.figures.vans()')
    >>> split("draw()")
    ('', 'draw()')
    """
    first, _, rest = source.partition("\n")
    return (first[2:].strip(), rest.lstrip("\n")) if first.startswith("# ") else ("", source)


class Fold(SphinxPostTransform):
    """Fold solutions, cells and proofs, and give the page its button."""

    default_priority = 30  # when solutions know the numbers of their exercises
    formats = ("html",)

    def run(self, **_: Any) -> None:
        """Fold them."""
        self.fold_all(nodes.Admonition, lambda box: "dropdown" in box["classes"], fold_box)
        kinds = {
            "code": self.fold_all(nodes.container, is_folded, fold_cell),
            "proofs": self.fold_all(proof_node, follows_idea, fold_proof),
        }
        if any(kinds.values()):
            title = next(iter(self.document.findall(nodes.title)))
            says = f"Open all {' and '.join(kind for kind, found in kinds.items() if found)}"
            title.parent.insert(title.parent.index(title) + 1, switch(says=says))

    def fold_all(
        self,
        kind: type[nodes.Element],
        wanted: Callable[[nodes.Element], bool],
        fold_one: Callable[[nodes.Element], None],
    ) -> bool:
        """Fold whatever of a kind is wanted; whether there was any."""
        found = [node for node in self.document.findall(kind) if wanted(node)]
        for node in found:
            fold_one(node)
        return bool(found)


def fold_box(box: nodes.Element) -> None:
    """Fold a box behind its title; behind that of a solution is no link, which would jump away."""
    title, *content = box.children
    if isinstance(box, solution_node):
        says: Iterable[nodes.Node] = [nodes.Text(box["title"])]
        content = content[0].children  # of a section, with the same id in every solution
    else:
        says = title.children
    classes = [name for name in box["classes"] if name != "dropdown"]
    folded = fold("", bar("", "", *says), *content, ids=box["ids"], classes=["fold-box", *classes])
    box.parent.replace(box, folded)


def is_folded(node: nodes.Element) -> bool:
    """Whether a node is a code cell that a tag folds."""
    return node.get("nb_element") == "cell_code" and node.get("hide_mode") in MODES


def fold_cell(cell: nodes.Element) -> None:
    """Fold the source of a cell, or all of the cell, behind its first line."""
    source = cell[0]
    code = next(iter(source.findall(nodes.literal_block)))
    says, rest = split(code.astext())
    if not says:
        LOGGER.warning("a folded cell begins with a comment that says what it does", location=cell)
    code.rawsource = rest
    code[:] = [nodes.Text(rest)]
    folded = cell.children if cell["hide_mode"] == "all" else [source]
    shown = [child for child in cell.children if child not in folded]
    cell[:] = [fold("", bar("", says), *folded, classes=["fold-code"]), *shown]
    del cell["hide_mode"]  # MyST-NB would fold it once more


def follows_idea(proof: nodes.Element) -> bool:
    """Whether a proof is long, and the paragraph before it begins with the idea of it."""
    if len(proof.astext().split()) <= SHORT:
        return False
    before = proof.previous_sibling()
    while isinstance(before, nodes.Invisible):
        before = before.previous_sibling()
    first = before[0] if isinstance(before, nodes.paragraph) and before.children else None
    return isinstance(first, nodes.emphasis | nodes.strong) and first.astext().startswith(IDEA)


def fold_proof(proof: nodes.Element) -> None:
    """Fold a proof; the word with which it begins goes to the bar."""
    box = proof[0]
    opening = box[0][0]
    box[0].replace(opening, nodes.Text(opening.astext().removeprefix(f"{PROOF}. ")))
    folded = fold("", bar("", PROOF), *box.children, classes=["fold-box", "fold-proof"])
    proof.parent.replace(proof, folded)


def visit_fold(self: HTML5Translator, node: nodes.Element) -> None:
    """Begin it."""
    self.body.append(self.starttag(node, "details", CLASS="fold"))


def depart_fold(self: HTML5Translator, _node: nodes.Element) -> None:
    """End it."""
    self.body.append("</details>\n")


def visit_bar(self: HTML5Translator, node: nodes.Element) -> None:
    """Begin it."""
    self.body.append(self.starttag(node, "summary", ""))


def depart_bar(self: HTML5Translator, _node: nodes.Element) -> None:
    """End it."""
    self.body.append("</summary>\n")


def visit_switch(self: HTML5Translator, node: nodes.Element) -> None:
    """Write it, hidden until the script is there that makes it work."""
    self.body.append(
        f'<button type="button" class="fold-switch" aria-pressed="false" hidden>'
        f"{node['says']}</button>\n"
    )


def depart_switch(_self: HTML5Translator, _node: nodes.Element) -> None:
    """Do nothing: it has no contents."""


def drop_togglebutton(app: Sphinx) -> None:
    """Keep out what Jupyter Book loads for folding: its boxes open with a mouse only."""
    for event in ("config-inited", "builder-inited"):
        for listener in list(app.events.listeners[event]):
            if listener.handler.__module__ == "sphinx_togglebutton":
                app.disconnect(listener.id)
    files = app.registry.css_files
    files[:] = [file for file in files if file[0] != "togglebutton.css"]


def setup(app: Sphinx) -> dict[str, Any]:
    """Register all of the above with Sphinx."""
    drop_togglebutton(app)
    app.add_node(fold, html=(visit_fold, depart_fold))
    app.add_node(bar, html=(visit_bar, depart_bar))
    app.add_node(switch, html=(visit_switch, depart_switch))
    app.add_post_transform(Fold)
    app.add_css_file("folding.css")
    app.add_js_file("folding.js", loading_method="defer")
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
