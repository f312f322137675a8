"""The Sphinx extension behind formulas: none is cut out of reach, none loses its full stop."""

from typing import Any

from sphinx.application import Sphinx


def setup(app: Sphinx) -> dict[str, Any]:
    """Give every page what fits its formulas to the screen once MathJax has drawn them."""
    app.add_css_file("formulas.css")
    app.add_js_file("formulas.js", loading_method="defer")
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
