"""The Sphinx extension behind the playground: its scripts, its pages, and a page of one file.

The scripts and the style stand in ``book/playground``, each in a file of its own; a page gets them
as one script and one style, and only a page that has a playground does.  The directive makes one;
so does the output of a cell.  ``_static/playground.html`` is the playground alone: one file
that needs nothing beside it, to be sent or to be put into another page.
"""

from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

SOURCES = Path(__file__).resolve().parents[1] / "playground"
# What knows nothing of drawing comes first, then what draws, then the tools, then what starts them.
SCRIPTS = (
    "world", "safety", "planning", "random", "learner", "walking", "presets",
    "dom", "board", "curves", "verdict",
    "paint", "why", "walk", "agents", "learn", "share", "playground",
)  # fmt: skip
TOOLS = ("paint", "why", "walk", "agents", "learn", "share")
WITHOUT = "The playground needs JavaScript, which is turned off here."
MARK = 'class="playground"'
PAGE = "book/playground"
ALONE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Playground: paint a world, see what is doomed</title>
<style>
{style}
html {{ font-family: system-ui, sans-serif; color-scheme: light dark; }}
body {{ max-width: 64rem; margin: 0 auto; padding: 0.5rem; }}
</style>
<script>
document.documentElement.dataset.theme =
  matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
{script}
</script>
</head>
<body>
<main>
<h1>Paint a world, and see what is doomed</h1>
{root}
<p>On ground a step goes where you want it to go; on ice it may slip in any of the four directions.
A cell is <em>doomed</em> if, whatever you do from there, bad luck can take you into the water
before the steps are over. From the book <cite>Safe at Every Step</cite>.</p>
</main>
</body>
</html>
"""


def script() -> str:
    """All scripts, one after the other, in the order in which they need one another."""
    return "\n".join((SOURCES / f"{name}.js").read_text("utf-8") for name in SCRIPTS)


def style() -> str:
    """The style of the playground."""
    return (SOURCES / "playground.css").read_text("utf-8")


def opening(tools: str, linked: bool = False) -> str:
    """The tag that begins the place of a playground.

    Examples
    --------
    >>> opening("paint why", linked=True)
    '<div class="playground" data-tools="paint why" data-linked>'
    """
    return f'<div {MARK} data-tools="{escape(tools)}"{" data-linked" * linked}>'


def alone() -> str:
    """The page of one file."""
    root = f"{opening(' '.join(TOOLS), linked=True)}<p class='pg-without'>{WITHOUT}</p></div>"
    return ALONE.format(style=style(), script=script(), root=root)


class Playground(SphinxDirective):
    """``{playground} paint why``: a playground with these tools; all of them if none is named.

    Its content stands there where no script runs.
    """

    has_content = True
    optional_arguments = len(TOOLS)
    option_spec = {"linked": directives.flag}  # noqa: RUF012, as docutils declares it

    def run(self) -> list[nodes.Node]:
        """Make the place for it."""
        for tool in self.arguments:
            if tool not in TOOLS:
                raise self.error(f"{tool!r} is no tool; expected some of {', '.join(TOOLS)}")
        begin = opening(" ".join(self.arguments or TOOLS), "linked" in self.options)
        inside = self.parse_content_to_nodes() or [
            nodes.paragraph("", WITHOUT, classes=["pg-without"])
        ]
        return [
            nodes.raw("", begin, format="html"), *inside, nodes.raw("", "</div>", format="html")
        ]  # fmt: skip


def write(app: Sphinx) -> None:
    """Write the script, the style and the page of one file, before the pages that load them."""
    if app.builder.format == "html":
        static = Path(app.outdir, "_static")
        static.mkdir(parents=True, exist_ok=True)
        (static / "playground.js").write_text(script(), "utf-8")
        (static / "playground.css").write_text(style(), "utf-8")
        (static / "playground.html").write_text(alone(), "utf-8")


def load(
    app: Sphinx, _page: str, _template: str, context: dict[str, Any], _doctree: nodes.document
) -> None:
    """Load script and style on a page that has a playground, and tell it where the large one is."""
    if MARK in context.get("body", ""):
        app.add_css_file("playground.css")
        app.add_js_file("playground.js", loading_method="defer")
        if PAGE in app.env.found_docs:
            where = f'{MARK} data-page="{context["pathto"](PAGE)}"'
            context["body"] = context["body"].replace(MARK, where)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register all of the above with Sphinx."""
    app.add_directive("playground", Playground)
    app.connect("builder-inited", write)
    app.connect("html-page-context", load)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
