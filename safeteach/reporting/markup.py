"""A page of HTML from plain text, tables and pictures, in one file that asks for nothing else.

Everything that comes in is text: each function escapes what it is given, so that nothing that a
world is called can become a tag.  The page has no script, and forbids any.

Taught in the chapter *Your own world*.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from html import escape

from safeteach.figures.described import CSS_PIXELS, DescribedFigure

__all__ = ["bullets", "document", "frame", "paragraph", "picture", "section", "table"]

# Dark where the reader's system is, black on white on paper, and nothing wider than a phone: what
# is, a table or a picture, scrolls by itself.
STYLE = """
:root { color-scheme: light dark; --ink: #1a1a1a; --paper: #fdfcf8; --line: #767676;
        --shade: #eeece4; --mark: #fdf1d6; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #ececec; --paper: #17181a; --line: #8d8d8d; --shade: #26282b; --mark: #3d3214; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
       font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: break-word; }
main { max-width: 46rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.7rem; line-height: 1.2; }
h2 { font-size: 1.3rem; margin-top: 2.2rem; border-bottom: 1px solid var(--line); }
h1, h2, figcaption, caption { break-after: avoid; }
.verdict { font-size: 1.15rem; font-weight: 600; padding: .7rem 1rem; background: var(--shade);
           border-left: .35rem solid currentColor; }
.wide { overflow-x: auto; margin: 1rem 0; }
.wide:focus-visible { outline: 3px solid currentColor; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding-bottom: .3rem; }
th, td { border: 1px solid var(--line); padding: .25rem .6rem; text-align: left;
         vertical-align: top; overflow-wrap: normal; }
thead th { background: var(--shade); }
tr.own > * { background: var(--mark); font-weight: 600; }
figure { margin: 1rem 0; break-inside: avoid; }
figcaption { margin-bottom: .3rem; }
img { max-width: 100%; height: auto; border: 1px solid var(--line); }
@media print {
  :root { color-scheme: light; --ink: #000; --paper: #fff; --line: #767676; --shade: #fff;
          --mark: #fff; }
  main { max-width: none; padding: 0; }
  .wide { overflow: visible; }
  tr { break-inside: avoid; }
}
"""
# Even if something were to slip through, no browser would run or fetch it.
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"


def paragraph(text: str, kind: str = "") -> str:
    """A paragraph; ``kind`` is a class of the style.

    >>> paragraph("a < b")
    '<p>a &lt; b</p>'
    """
    return f"<p{_class(kind)}>{escape(text)}</p>"


def bullets(lines: Sequence[str]) -> str:
    """A list of sentences."""
    items = "\n".join(f"<li>{escape(line)}</li>" for line in lines)
    return f"<ul>\n{items}\n</ul>"


def table(
    caption: str, columns: Sequence[str], rows: Sequence[Sequence[str]], own: int | None = None
) -> str:
    """A table with a head above and at the left; row ``own`` stands out.

    A table that is wider than the screen scrolls, by the keyboard too.
    """
    head = "".join(f'<th scope="col">{escape(column)}</th>' for column in columns)
    body = "\n".join(
        f'<tr{_class("own" if i == own else "")}><th scope="row">{escape(first)}</th>'
        f"{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>"
        for i, (first, *cells) in enumerate(rows)
    )
    return (
        f'<div class="wide" role="region" aria-label="Table: {escape(caption)}" tabindex="0">'
        f"<table>\n<caption>{escape(caption)}</caption>\n<thead><tr>{head}</tr></thead>\n"
        f"<tbody>\n{body}\n</tbody>\n</table></div>"
    )


def picture(figure: DescribedFigure, caption: str) -> str:
    """A figure inside the page, with its description."""
    data = base64.b64encode(figure.png()).decode("ascii")
    width, height = (round(side * CSS_PIXELS) for side in figure.get_size_inches())
    return (
        f"<figure>\n<figcaption>{escape(caption)}</figcaption>\n"
        f'<img src="data:image/png;base64,{data}" alt="{escape(figure.alt)}" '
        f'width="{width}" height="{height}">\n</figure>'
    )


def section(name: str, title: str, pieces: Sequence[str]) -> str:
    """Pieces below a heading; ``name`` is what a link calls it."""
    inside = "\n".join(pieces)
    return (
        f'<section aria-labelledby="{name}">\n<h2 id="{name}">{escape(title)}</h2>\n{inside}\n'
        f"</section>"
    )


def document(title: str, sections: Sequence[str]) -> str:
    """The whole page."""
    inside = "\n".join(sections)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{escape(title)}</title>
<style>{STYLE}</style>
</head>
<body>
<main>
<h1>{escape(title)}</h1>
{inside}
</main>
</body>
</html>
"""


def frame(title: str, page: str) -> str:
    """A whole page within another, each with a style of its own."""
    return (
        f'<iframe srcdoc="{escape(page)}" title="{escape(title)}" sandbox '
        f'style="width: 100%; height: 40em; border: 1px solid #767676"></iframe>'
    )


def _class(kind: str) -> str:
    return f' class="{kind}"' if kind else ""
