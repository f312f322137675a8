"""The reference of the library, made from its docstrings.

A page of the reference is a short text and a list of names::

    ```{api} safeteach
    SafeMDP
    rollout
    ```

which becomes a table of the names, with the first sentence of each docstring, and then each with
its signature and its docstring.  A name is written as a reader types it, ``st.SafeMDP``.  Where a
docstring says "Taught in the chapter *Danger ahead*", or the docstring of its module does, there
is a link to that page.  And wherever a page of the book says ```st.SafeMDP```, it leads here.
"""

import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

import safeteach as st

LOGGER = logging.getLogger(__name__)

LIBRARY = st.__name__
TAUGHT = re.compile(r"\b[Tt]aught\s+in\s[^.]*\.")
TITLE = re.compile(r"\*([^*]+)\*")
# A field of a docstring in NumPy style, "world : SafeMDP or SafeGame".
FIELD = re.compile(r"^(\w[\w, ]* : )(.*)$")
SECTION = re.compile(r"^(\w[\w ]*\n---|>>> )", re.MULTILINE)
# The same as napoleon writes it, "**world** (SafeMDP or SafeGame) -- ...".
BRACKETED = re.compile(r"(\*\*[^*]+\*\*) \((.*?)\)( -- .*)?$")
SAID = re.compile(r"^st\.(?P<name>[A-Za-z_][\w.]*)(\(.*\))?$", re.DOTALL)


def public() -> dict[str, Any]:
    """Everything that the library offers, by the name that follows ``st.``; the shortest of each.

    Examples
    --------
    >>> names = public()
    >>> [name for name in ("SUCBVI", "learners.SUCBVI", "bounds.beta", "bounds") if name in names]
    ['SUCBVI', 'bounds.beta', 'bounds']
    """
    found = {name: getattr(st, name) for name in dir(st)}
    short = {id(thing) for thing in found.values()}
    for name, module in list(found.items()):
        if inspect.ismodule(module):
            offered = {f"{name}.{one}": getattr(module, one) for one in module.__all__}
            found |= {one: thing for one, thing in offered.items() if id(thing) not in short}
    return found


def first_sentence(thing: Any) -> str:
    """What the table says: the first sentence of a docstring, without its stop.

    Examples
    --------
    >>> first_sentence(st.rollout)
    'Play one episode of a policy from s_1'
    """
    paragraph = " ".join((inspect.getdoc(thing) or "").split("\n\n")[0].split())
    return re.split(r"\.(?= [A-Z]|$)", paragraph)[0]


def kind(thing: Any) -> str:
    """Which directive of autodoc documents it.

    Examples
    --------
    >>> kind(st.run), kind(st.SafeMDP), kind(st.InfeasibleError)
    ('autofunction', 'autoclass', 'autoexception')
    """
    if not inspect.isclass(thing):
        return "autofunction"
    return "autoexception" if issubclass(thing, BaseException) else "autoclass"


def described(module: str, name: str, thing: Any) -> Iterator[str]:
    """The lines that document a name: of a class also what it has from a base that nobody names."""
    yield f".. {kind(thing)}:: {module}.{name}"
    if inspect.isclass(thing):
        ours = {id(one) for one in public().values()}
        known = [
            base.__name__
            for base in thing.__mro__[1:]
            if id(base) in ours or not base.__module__.startswith(LIBRARY)
        ]
        yield "   :members:"
        yield f"   :inherited-members: {', '.join(known)}"
    yield ""


class Api(SphinxDirective):
    """A table of names, and then each of them; the argument is the module that offers them."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        """Write the names out for autodoc, which reads reStructuredText."""
        (module,) = self.arguments
        things = {name: getattr(importlib.import_module(module), name) for name in self.content}
        shown = module.replace(LIBRARY, "st", 1)
        directive = "currentmodule" if module == LIBRARY else "module"
        lines = ["```{eval-rst}", f".. py:{directive}:: {module}", ""]
        lines += [".. list-table::", "   :class: api-names", "   :header-rows: 1", ""]
        lines += ["   * - Name", "     - What it is"]
        for name, thing in things.items():
            lines.append(f"   * - :py:obj:`{shown}.{name} <{module}.{name}>`")
            lines.append(f"     - {first_sentence(thing)}")
        lines.append("")
        for name, thing in things.items():
            lines += described(module, name, thing)
        node = nodes.container(classes=["api"])
        source, line = self.get_source_info()
        text = StringList([*lines, "```"], items=[(source, line)] * (len(lines) + 1))
        self.state.nested_parse(text, self.content_offset, node)
        return [node]


def link_chapters(env: BuildEnvironment, sentence: str) -> str:
    """Make a link of each title in a sentence: the page is found by the words of its name."""
    pages = {PurePosixPath(docname).name: docname for docname in env.found_docs}

    def link(title: re.Match[str]) -> str:
        page = pages.get(re.sub(r"\W+", "-", title[1].lower()))
        if page is None:
            LOGGER.warning("a docstring names the chapter %r, and there is none", title[1])
            return title[0]
        return f":doc:`{title[1]} </{page}>`"

    return TITLE.sub(link, sentence)


def link_docstring(
    app: Sphinx, what: str, name: str, thing: Any, _options: Any, lines: list[str]
) -> None:
    """Link the chapters that teach a thing, and the classes that its fields name.

    What does not say where it is taught is taught where its module is.
    """
    names = {one for one in public() if one[0].isupper()}
    text = "\n".join(_link_field(line, names) for line in lines)
    taught = TAUGHT.search(text)
    if what in ("class", "exception", "function") and not taught:
        of_module = TAUGHT.search(inspect.getdoc(inspect.getmodule(thing)) or "")
        if of_module:
            sentence = of_module[0][0].upper() + of_module[0][1:]
            section = SECTION.search(text)
            at = section.start() if section else len(text)
            text = f"{text[:at].rstrip()}\n\n{sentence}\n\n{text[at:]}"
        else:
            LOGGER.warning("nobody says where %s is taught", name)
    text = TAUGHT.sub(lambda found: link_chapters(app.env, " ".join(found[0].split())), text)
    if what == "property":  # else napoleon reads what stands before a colon as a type
        text = f"..\n\n{text}"
    lines[:] = text.split("\n")


def _link_field(line: str, names: set[str]) -> str:
    """Link the classes in the type of a field."""
    field = FIELD.match(line)
    if not field or "`" in field[2]:
        return line
    return field[1] + re.sub(
        r"\b[A-Z]\w+\b",
        lambda word: f":py:obj:`~{LIBRARY}.{word[0]}`" if word[0] in names else word[0],
        field[2],
    )


def unbracket(
    _app: Sphinx, _what: str, _name: str, _thing: Any, _options: Any, lines: list[str]
) -> None:
    """Write "P : (S, A, S) array", as the docstring does, where napoleon writes "P ((S, A, S))"."""
    lines[:] = [BRACKETED.sub(r"\1 : \2\3", line) for line in lines]


def skip_foreign(
    _app: Sphinx, _what: str, _name: str, thing: Any, _skip: bool, _options: Any
) -> bool | None:
    """Leave out what Python or matplotlib put into a class, such as the fields of a tuple."""
    ours = (getattr(thing, "__module__", None) or LIBRARY).startswith(LIBRARY)
    return None if ours else True


def write_as_typed(_app: Sphinx, doctree: nodes.document) -> None:
    """Say ``st.`` where a signature says ``safeteach.``, as everybody who uses it does."""
    for prefix in doctree.findall(addnodes.desc_addname):
        said = prefix.astext().replace(f"{LIBRARY}.", "st.", 1)
        prefix.children[:] = [nodes.Text(said)]


def import_all(_app: Sphinx, _env: BuildEnvironment, docnames: list[str]) -> None:
    """Import the library once; each page is then read by a fork, which would do it for itself."""
    if docnames:
        public()


def link_names(app: Sphinx, doctree: nodes.document) -> None:
    """Let every ``st.name`` in the text of a page lead to the reference."""
    names = public()
    for literal in list(doctree.findall(nodes.literal)):
        said = SAID.match(literal.astext())
        if not said or said["name"] not in names or _leads_elsewhere(literal):
            continue
        link = addnodes.pending_xref(
            "", refdomain="py", reftype="obj", refexplicit=True, refwarn=True,
            reftarget=f"{LIBRARY}.{said['name']}", refdoc=app.env.docname,
        )  # fmt: skip
        literal.replace_self(link)
        link += literal


def _leads_elsewhere(node: nodes.Node) -> bool:
    """Whether it is part of a link, or of a title, which should be none."""
    above = node.parent
    while above is not None:
        if isinstance(above, nodes.reference | nodes.title | addnodes.pending_xref):
            return True
        above = above.parent
    return False


def setup(app: Sphinx) -> dict[str, Any]:
    """Register all of the above with Sphinx."""
    for extension in ("sphinx.ext.autodoc", "sphinx.ext.napoleon"):
        app.setup_extension(extension)
    app.add_directive("api", Api)
    app.connect("autodoc-process-docstring", link_docstring, priority=400)  # before napoleon
    app.connect("autodoc-process-docstring", unbracket, priority=600)  # after it
    app.connect("autodoc-skip-member", skip_foreign)
    app.connect("env-before-read-docs", import_all)
    app.connect("doctree-read", write_as_typed)
    app.connect("doctree-read", link_names)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
