"""The book's own Sphinx extension: what Jupyter Book needs so that the pages are honest and local.

It ties what was executed to the library, carries a figure's alt text from the notebook to the
page, keeps every page in step with the others, and takes out what would ask another host.
"""

import hashlib
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from docutils import nodes
from myst_nb.core.render import MimeData, NbElementRenderer
from sphinx.application import ENV_PICKLE_FILENAME, Sphinx
from sphinx.builders.html import StandaloneHTMLBuilder
from sphinx.config import Config
from sphinx.environment import BuildEnvironment

# What a notebook's output depends on beside its own cells, and a page beside its source.
INPUTS = ("requirements.txt", "safeteach/**/*", "book/data/**/*")
STATIC = ("book/_static/**/*", "book/_tools/vendor.py")


def digest(root: Path, patterns: Iterable[str]) -> str:
    """Return a hash over the Python that runs and every file of `root` that `patterns` name."""
    sha = hashlib.sha256(sys.version.encode())
    paths = {path for pattern in patterns for path in root.glob(pattern) if path.is_file()}
    for path in sorted(path for path in paths if "__pycache__" not in path.parts):
        content = path.read_bytes()
        sha.update(f"\n{path.relative_to(root).as_posix()} {len(content)}\n".encode())
        sha.update(content)
    return sha.hexdigest()[:16]


def tie_to_library(app: Sphinx, config: Config) -> None:
    """Make the hash of what the notebooks run against a setting of the build.

    Sphinx keeps a page that it has read, with the outputs of its cells, until the page's own
    source or a setting changes. So a change of the library, and no other, reads every page again.
    """
    config.book_inputs = digest(Path(app.srcdir), INPUTS)


def note_static(app: Sphinx, config: Config) -> None:
    """Make the static files a setting of the pages.

    Sphinx copies them only when it writes some page.
    """
    config.book_static = digest(Path(app.srcdir), STATIC)


def rewrite_all(_app: Sphinx, env: BuildEnvironment) -> Iterable[str]:
    """Write every page again when any was read again.

    Navigation, theorem numbers and cross-references on a page come from other pages, and Sphinx
    alone does not write a page whose own source is unchanged.
    """
    return sorted(env.found_docs) if env.book_changed else ()  # type: ignore[attr-defined]


def note_changes(
    app: Sphinx, env: BuildEnvironment, added: set[str], changed: set[str], removed: set[str]
) -> Iterable[str]:
    """Remember whether anything changed, and drop the pages of chapters that are gone."""
    env.book_changed = bool(added or changed or removed)  # type: ignore[attr-defined]
    if isinstance(app.builder, StandaloneHTMLBuilder):
        for docname in removed:
            Path(app.builder.get_outfilename(docname)).unlink(missing_ok=True)
    return ()


def forget_failed_build(app: Sphinx, exception: Exception | None) -> None:
    """Start afresh after a build with warnings, which Sphinx would not repeat for unchanged pages.

    Without this, the second run of a failing build passes.
    """
    if exception or app._warncount:
        Path(app.doctreedir, ENV_PICKLE_FILENAME).unlink(missing_ok=True)


_render_image = NbElementRenderer.render_image


def render_image(self: NbElementRenderer, data: MimeData) -> list[nodes.Element]:
    """Render an image output as MyST-NB does, with the alt text that the figure itself gave.

    MyST-NB takes only width and height from an output's metadata, and alt text from the cell's,
    where no code can compute it.
    """
    images = _render_image(self, data)
    if alt := data.output_metadata.get(data.mime_type, {}).get("alt"):
        for image in images:
            image["alt"] = alt
    return images


def mend_roles(
    _app: Sphinx, _page: str, _template: str, context: dict[str, Any], _doctree: nodes.document
) -> None:
    """Make the bibliography a list of items; the role that docutils writes is deprecated."""
    if "body" in context:
        context["body"] = context["body"].replace('role="doc-biblioentry"', 'role="listitem"')


def setup(app: Sphinx) -> dict[str, Any]:
    """Register all of the above with Sphinx."""
    NbElementRenderer.render_image = render_image
    app.add_config_value("book_inputs", "", "env", str)
    app.connect("config-inited", tie_to_library)
    app.add_config_value("book_static", "", "html", str)
    app.connect("config-inited", note_static)
    app.connect("env-get-outdated", note_changes)
    app.connect("env-updated", rewrite_all)
    app.connect("html-page-context", mend_roles)
    app.connect("build-finished", forget_failed_build)
    # MathJax on every page: widgets hold math on pages whose text has none.
    app.set_html_assets_policy("always")
    # Jupyter Book always loads sphinx-thebe, which links a script of another host on every page.
    for event in ("env-before-read-docs", "doctree-resolved"):
        for listener in list(app.events.listeners[event]):
            if listener.handler.__module__ == "sphinx_thebe":
                app.disconnect(listener.id)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
