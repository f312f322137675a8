"""The Sphinx extension behind captions: a picture and what stands below it are one figure.

A notebook shows a picture and then its caption, see :mod:`safeteach.classroom.captions`.  In the
page the two become one ``<figure>`` that can be linked by its label.
"""

from typing import Any

from docutils import nodes
from myst_nb.core.render import MimeData, NbElementRenderer
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.writers.html5 import HTML5Translator

from safeteach.classroom.captions import LABEL

_render_markdown = NbElementRenderer.render_markdown


class finding(nodes.General, nodes.Element):  # type: ignore[misc]
    """What stands below a picture, its caption; docutils has a node of that name."""


class captioned(nodes.General, nodes.Element):  # type: ignore[misc]
    """A picture with its caption."""


def render_markdown(self: NbElementRenderer, data: MimeData) -> list[nodes.Element]:
    """Render a Markdown output as MyST-NB does; what says that it is a caption becomes one.

    A caption has mathematics between dollars, which the Markdown of other outputs does not know.
    """
    if label := data.output_metadata.get(LABEL):
        shown = self._render_markdown_base(data, fmt="myst", inline=False)
        return [finding("", *shown, ids=[label])]
    return _render_markdown(self, data)


class JoinCaptions(SphinxPostTransform):
    """Put each caption and the picture before it into one figure."""

    default_priority = 5  # when MyST-NB has chosen what to show of an output

    def run(self, **_: Any) -> None:
        """Join them."""
        for below in list(self.document.findall(finding)):
            cell = below.parent
            at = cell.index(below)
            picture = cell[at - 1]
            cell.remove(below)
            cell.remove(picture)
            cell.insert(at - 1, captioned("", picture, below, ids=below["ids"]))
            below["ids"] = []


def visit_captioned(self: HTML5Translator, node: nodes.Element) -> None:
    """Begin the figure."""
    self.body.append(self.starttag(node, "figure", CLASS="captioned"))


def depart_captioned(self: HTML5Translator, _node: nodes.Element) -> None:
    """End it."""
    self.body.append("</figure>\n")


def visit_finding(self: HTML5Translator, node: nodes.Element) -> None:
    """Begin the caption."""
    self.body.append(self.starttag(node, "figcaption"))


def depart_finding(self: HTML5Translator, _node: nodes.Element) -> None:
    """End it."""
    self.body.append("</figcaption>\n")


def setup(app: Sphinx) -> dict[str, Any]:
    """Register all of the above with Sphinx."""
    NbElementRenderer.render_markdown = render_markdown
    app.add_node(captioned, html=(visit_captioned, depart_captioned))
    app.add_node(finding, html=(visit_finding, depart_finding))
    app.add_post_transform(JoinCaptions)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
