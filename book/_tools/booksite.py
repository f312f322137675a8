"""The book's own Sphinx extension: what Jupyter Book needs so that the pages are honest and local.

It reads two pages at a time, executes a notebook again when anything that it runs has changed,
carries a figure's alt text from the notebook to the page, keeps every page in step with the
others, names what the theme leaves nameless, and takes out what would ask another host.
"""

import copy
import gc
import hashlib
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import myst_nb.core.render
import sphinx.builders
from docutils import nodes
from myst_nb.core.render import MimeData, NbElementRenderer
from myst_nb.core.utils import coalesce_streams
from myst_nb.sphinx_ import NbMetadataCollector
from nbformat import NotebookNode
from sphinx.application import ENV_PICKLE_FILENAME, Sphinx
from sphinx.builders.html import StandaloneHTMLBuilder
from sphinx.config import Config
from sphinx.environment import BuildEnvironment
from sphinx.util import logging
from sphinx_proof.domain import ProofDomain  # type: ignore[import-untyped]

from safeteach.running.closure import digest_of

LOGGER = logging.getLogger(__name__)

STATIC = ("book/_static/**/*", "book/playground/*", "book/_tools/vendor.py")
DATA = "book/data/*.npz"
# These say nothing about reading in parallel, and do nothing while a page is read: one is for
# LaTeX alone, the other numbers what has been read.
SAFE_IN_PARALLEL = ("sphinx_jupyterbook_latex", "sphinx_multitoc_numbering")
BUTTONS = ("use_repository_button", "use_issues_button")


def hash_files(paths: Iterable[Path], root: Path) -> str:
    """Return a hash over files of `root`, over their names and what is in them."""
    sha = hashlib.sha256()
    for path in sorted(paths):
        content = path.read_bytes()
        sha.update(f"\n{path.relative_to(root).as_posix()} {len(content)}\n".encode())
        sha.update(content)
    return sha.hexdigest()


def page_digest(notebook: Path, root: Path) -> str:
    """Return a hash over all that the outputs of a notebook depend on beside its own cells.

    That is the Python and the packages that run it, the code of the library that it uses, and the
    stored data that it reads: a notebook that opens any reads those files whose names it says.
    """
    text = notebook.read_text("utf-8")
    names = set(re.findall(r"\w+", text)) if ".npz" in text else set()
    files = [root / "requirements.txt", *(f for f in root.glob(DATA) if f.stem in names)]
    parts = (sys.version, hash_files(files, root), digest_of(notebook, home=root / "safeteach"))
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def note_static(app: Sphinx, config: Config) -> None:
    """Make the static files a setting of the pages.

    Sphinx copies them only when it writes some page.
    """
    root = Path(app.srcdir)
    paths = {path for pattern in STATIC for path in root.glob(pattern) if path.is_file()}
    config.book_static = hash_files(paths, root)


def link_repository(_app: Sphinx, config: Config) -> None:
    """Show the buttons that lead to the repository if _config.yml says where that is."""
    if config.html_theme_options.get("repository_url"):
        config.html_theme_options |= dict.fromkeys(BUTTONS, True)
    else:
        config.html_theme_options.pop("launch_buttons", None)


def find_outdated(
    app: Sphinx, env: BuildEnvironment, added: set[str], changed: set[str], removed: set[str]
) -> Iterable[str]:
    """Name the notebooks that run something else than when they were read.

    Sphinx keeps a page that it has read, with the outputs of its cells, until the page's own
    source or a setting changes. Also remember whether anything changed, and drop the pages of
    chapters that are gone.
    """
    before: dict[str, str] = getattr(env, "book_digests", {})
    sources = {docname: Path(env.doc2path(docname)) for docname in env.found_docs}
    env.book_digests = {  # type: ignore[attr-defined]
        docname: page_digest(path, Path(app.srcdir))
        for docname, path in sources.items()
        if path.suffix == ".ipynb"
    }
    outdated = {
        docname
        for docname, digest in env.book_digests.items()  # type: ignore[attr-defined]
        if before.get(docname) != digest
    }
    env.book_changed = bool(added or changed or removed or outdated)  # type: ignore[attr-defined]
    if isinstance(app.builder, StandaloneHTMLBuilder):
        for docname in removed:
            Path(app.builder.get_outfilename(docname)).unlink(missing_ok=True)
    return outdated


def rewrite_all(_app: Sphinx, env: BuildEnvironment) -> Iterable[str]:
    """Write every page again when any was read again.

    Navigation, theorem numbers and cross-references on a page come from other pages, and Sphinx
    alone does not write a page whose own source is unchanged.
    """
    return sorted(env.found_docs) if env.book_changed else ()  # type: ignore[attr-defined]


def allow_parallel_reading(app: Sphinx, env: BuildEnvironment, docnames: list[str]) -> None:
    """Let Sphinx read several pages at a time; what keeps it from that is known to be harmless.

    The largest come first: a long one that comes last would have one core to itself.
    """
    docnames.sort(key=lambda docname: Path(env.doc2path(docname)).stat().st_size, reverse=True)
    app.parallel = app.config.book_jobs
    env.book_labels = {}  # type: ignore[attr-defined]
    for name in SAFE_IN_PARALLEL:
        if name in app.extensions:
            app.extensions[name].parallel_read_safe = True


def one_by_one(arguments: Sequence[Any], _jobs: int) -> list[Any]:
    """Give each process one page: Sphinx's larger shares leave a core idle at the end."""
    return [[argument] for argument in arguments]


def let_go(app: Sphinx, _doctree: nodes.document) -> None:
    """Keep of each exercise and solution what it says, and not the page that it stands on.

    Sphinx-exercise needs their titles; by their ``document`` it would keep all that the page shows,
    which then goes with each page from process to process and into what is remembered of it.
    """
    for kept in getattr(app.env, "sphinx_exercise_registry", {}).values():
        if kept["docname"] == app.env.docname:
            kept["node"] = kept["node"].deepcopy()
            for part in kept["node"].findall():
                part.document = None


def find_twins(
    _app: Sphinx, env: BuildEnvironment, docnames: list[str], other: BuildEnvironment
) -> None:
    """Warn of a label that two pages have.

    Who reads one page sees no label of a page that is read beside it.
    """
    seen: dict[tuple[str, str], str] = env.book_labels  # type: ignore[attr-defined]
    for kind, label, docname in labels(other):
        if docname in docnames:
            first = seen.setdefault((kind, label), docname)
            if first != docname:
                LOGGER.warning("duplicate %s %s, also in %s", kind, label, first, location=docname)


def labels(env: BuildEnvironment) -> Iterator[tuple[str, str, str]]:
    """Yield kind, name and page of everything that has a label."""
    for label, (docname, *_) in env.domaindata["std"]["anonlabels"].items():
        yield "label", label, docname
    for label, (docname, _) in env.domaindata["math"]["objects"].items():
        yield "equation", label, docname
    for label, proof in getattr(env, "proof_list", {}).items():
        yield "theorem", label, proof["docname"]
    for label, exercise in getattr(env, "sphinx_exercise_registry", {}).items():
        yield "exercise", label, exercise["docname"]


def say_times(_app: Sphinx, env: BuildEnvironment) -> None:
    """Say which notebooks take longest, after a build that executed any."""
    if NbMetadataCollector.new_exec_data(env):
        data = NbMetadataCollector.get_doc_data(env)
        times = {
            name: kept["exec_data"]["runtime"] for name, kept in data.items() if "exec_data" in kept
        }
        longest = sorted(times, key=times.__getitem__, reverse=True)[:3]
        said = ", ".join(f"{name} {times[name]:.1f} s" for name in longest)
        LOGGER.info("notebooks that run longest: %s", said)


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
    where no code can compute it.  A picture is fetched when a reader comes near it; its size is
    known before.
    """
    images = _render_image(self, data)
    for image in images:
        image["loading"] = "lazy"
    if alt := data.output_metadata.get(data.mime_type, {}).get("alt"):
        for image in images:
            image["alt"] = alt
    return images


def merge_copies(outputs: list[NotebookNode]) -> list[NotebookNode]:
    """Merge what a cell printed for the page, and keep the outputs as the kernel sent them.

    MyST-NB changes them in the notebook that it then writes down, with which nbval compares; and
    it breaks a line where the kernel happened to send the end of one with the next.
    """
    merged: list[NotebookNode] = []
    streams: dict[str, NotebookNode] = {}
    for output in outputs:
        name = output.get("name")  # of a stream, which nothing else has
        if name in streams:
            streams[name]["text"] += output["text"]
        else:
            merged.append(copy.copy(output))
            if name:
                streams[name] = merged[-1]
    return coalesce_streams(merged)


def mend_roles(
    _app: Sphinx, _page: str, _template: str, context: dict[str, Any], _doctree: nodes.document
) -> None:
    """Make the bibliography a list of items; the role that docutils writes is deprecated."""
    if "body" in context:
        context["body"] = context["body"].replace('role="doc-biblioentry"', 'role="listitem"')


def entitle_home(
    app: Sphinx, page: str, _template: str, context: dict[str, Any], _doctree: nodes.document
) -> None:
    """Say in the title of the first page what the book is about; its name stands behind that."""
    if page == app.config.root_doc:
        context["title"] = "Provably safe reinforcement learning"


def name_folds(
    _app: Sphinx, _page: str, _template: str, context: dict[str, Any], _doctree: nodes.document
) -> None:
    """Give the arrow that unfolds a section of the navigation a name, for those who hear it."""
    generate = context.get("generate_toctree_html")
    if generate is None:
        return

    def named(*args: Any, **options: Any) -> Any:
        tree = generate(*args, **options)
        for fold in tree.select("summary") if tree else ():
            fold["aria-label"] = f"Pages of {fold.find_previous('a').get_text(strip=True)}"
        return tree

    context["generate_toctree_html"] = named


def setup(app: Sphinx) -> dict[str, Any]:
    """Register all of the above with Sphinx."""
    gc.set_threshold(100_000, 50, 50)  # pages are large trees, of which little is garbage
    NbElementRenderer.render_image = render_image
    myst_nb.core.render.coalesce_streams = merge_copies
    sphinx.builders.make_chunks = one_by_one  # type: ignore[assignment, attr-defined]
    # Sphinx-proof keeps its labels elsewhere, and merges them there.
    ProofDomain.merge_domaindata = lambda *_: None
    app.add_config_value("book_jobs", 2, "", int)
    app.add_config_value("book_static", "", "html", str)
    app.connect("config-inited", note_static)
    app.connect("config-inited", link_repository)
    app.connect("env-get-outdated", find_outdated)
    app.connect("env-before-read-docs", allow_parallel_reading)
    app.connect("doctree-read", let_go)
    app.connect("env-merge-info", find_twins)
    app.connect("env-updated", rewrite_all)
    app.connect("env-check-consistency", say_times)
    app.connect("html-page-context", mend_roles)
    app.connect("html-page-context", entitle_home)
    app.connect("html-page-context", name_folds, priority=600)  # after the theme's own
    app.connect("build-finished", forget_failed_build)
    # MathJax on every page: widgets hold math on pages whose text has none.
    app.set_html_assets_policy("always")
    # Jupyter Book always loads sphinx-thebe, which links a script of another host on every page.
    for event in ("env-before-read-docs", "doctree-resolved"):
        for listener in list(app.events.listeners[event]):
            if listener.handler.__module__ == "sphinx_thebe":
                app.disconnect(listener.id)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
