"""The Sphinx extension behind interactive figures: the pages get the version without a kernel."""

import os
from typing import Any

from sphinx.application import Sphinx


def setup(app: Sphinx) -> dict[str, Any]:
    """Ask the library for precomputed figures, and give every page what moves them.

    The kernels that execute the notebooks inherit this process's environment.
    """
    os.environ["SAFETEACH_STATIC"] = "1"
    app.add_css_file("interactive.css")
    app.add_js_file("interactive.js", loading_method="defer")
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
