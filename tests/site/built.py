"""Where the built book is, which pages it should have, and how long to wait for one."""

from pathlib import Path

from sphinx_external_toc.parsing import parse_toc_yaml

ROOT = Path(__file__).resolve().parents[2]
HTML = ROOT / "_build" / "html"

PAGES = [
    name.removesuffix(".md").removesuffix(".ipynb") for name in parse_toc_yaml(ROOT / "_toc.yml")
]
# Sphinx adds these: the index, the list of theorems, the search.
GENERATED = ["genindex", "prf-prf", "search"]
INTERACTIVE = [
    page
    for page in PAGES
    if (file := HTML / f"{page}.html").is_file()
    and 'class="interactive"' in file.read_text("utf-8")
]
# Colours in the dark are those of the theme and of a few boxes: these pages have all of them, and
# the others are left to `make thorough`.  So it is with formulas that scroll, which one script
# gives their names.  The same pages are judged with formulas as they are spoken, which MathJax
# makes all alike, and with every word of their code.
DARK = (
    "index",
    "book/reading-paths",
    "book/model/why-every-step-counts",
    "book/sucbvi/the-algorithm",
    "book/reward-free/srf-ucrl",
    "book/how-to/bring-a-world",
    "book/reference/worlds",
    "book/appendix/errata",
    "book/appendix/bibliography",
    "search",
)
# Milliseconds, for a busy machine: a test waits for what it needs and goes on once it is there.
PATIENCE = 120_000
