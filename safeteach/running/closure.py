"""Find the files of the library that a piece of code depends on.

A stored study, a kept run and a built page are out of date when code that they depend on has
changed, and only then.  The files are found in the import statements and in names such as
``st.figures.grid``; nothing is imported.

An ``__init__`` only hands on names of other files: a name counts as the file that it comes from,
and the ``__init__`` does not count.  Where no single name can be told, as in
``getattr(st.learners, name)``, all names of the package count, and its ``__init__`` too.  The
folder of a chapter is a room: who uses anything in it depends on all of its files, except that
other rooms may borrow from its module ``plain`` alone; who opens a room by a computed name does
not, but whoever names it does.

What code reads as data outside a room is not seen, nor is code in strings.

Code outside the library has a closure too, :func:`reach`: what it imports, as far as that is
neither of the standard library nor an installed package.
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
import sysconfig
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.machinery import all_suffixes
from importlib.util import find_spec
from pathlib import Path

__all__ = ["HOME", "digest_of", "digest_with_own", "files_of", "reach"]

HOME = Path(__file__).parents[1]
ROOMS = "chapters"
LENT = "plain"  # the module of a room from which other rooms may import
ANY = "*"  # in the place of a name: whatever there is

# The parts of a module's name below the package, and those of a name in the module.
Module = tuple[str, ...]
Reference = tuple[Module, tuple[str, ...]]


def files_of(*codes: str | Path, home: Path = HOME) -> list[Path]:
    r"""Find the files of a package that code depends on, directly or not, sorted.

    Parameters
    ----------
    *codes : str or Path
        Source text, or the path of a module of the package, of a script or of a notebook.  A
        module of the package depends on itself.
    home : Path
        The folder of the package.

    Examples
    --------
    >>> files = files_of("import safeteach as st\nst.SUCBVI")
    >>> {"sucbvi.py", "triple_q.py", "__init__.py"} & {file.name for file in files}
    {'sucbvi.py'}
    """
    search = _Search(home)
    for code in codes:
        if isinstance(code, Path) and code.resolve().is_relative_to(home.resolve()):
            parts = code.resolve().relative_to(home.resolve()).with_suffix("").parts
            search.follow((parts[:-1] if parts[-1] == "__init__" else parts, ()), whole=True)
        else:
            search.add_uses(_uses(_source(code), home.name))
    return sorted(search.found)


def digest_of(*codes: str | Path, home: Path = HOME) -> str:
    """Compute a digest of the files that code depends on, of their names and contents: SHA-256.

    Of a script, a notebook or source text itself nothing is in it.

    Examples
    --------
    >>> digest_of("print('hello')") == digest_of("")
    True
    """
    hashed = hashlib.sha256()
    for file in files_of(*codes, home=home):
        content = hashlib.sha256(file.read_bytes()).hexdigest()
        hashed.update(f"{content} {file.relative_to(home).as_posix()}\n".encode())
    return hashed.hexdigest()


def _source(code: str | Path) -> str:
    """The Python source in a text, a script or a notebook, whose prose may hold expressions."""
    if isinstance(code, str):
        return code
    text = code.read_text(encoding="utf-8")
    if code.suffix != ".ipynb":
        return text
    sources = []
    for cell in json.loads(text)["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "code":
            sources.append(source)
        elif cell["cell_type"] == "markdown":
            found = re.findall(r"\{eval\}(`+)(.+?)\1(?!`)", source, re.DOTALL)
            sources += [f"({expression.strip()})" for _, expression in found]
    return "\n".join(sources)


@dataclass
class _Uses(ast.NodeVisitor):
    """What a source imports from a package, and what it does with it.

    Attributes
    ----------
    package : str
    inside : tuple of str, or None
        The subpackage in which the source is; None outside the package.
    lazy : bool
        Whether imports for the type checker count.  In an ``__init__`` they name what is loaded
        when it is first used; elsewhere they do not run.
    names : dict
        What a name may stand for.
    imported : set of Reference
        What import statements name.  A package that nobody uses stands for nothing.
    used : set of Reference
        What is read, called or handed on.
    chains : set of tuple of str
        All dotted names in the source, of whatever.
    """

    package: str
    inside: Module | None
    lazy: bool
    names: dict[str, set[Reference]] = field(default_factory=lambda: defaultdict(set))
    imported: set[Reference] = field(default_factory=set)
    used: set[Reference] = field(default_factory=set)
    chains: set[tuple[str, ...]] = field(default_factory=set)

    def read(self, source: str) -> None:
        """Take in a source, once: a name may be used above the line that imports it."""
        self.visit(ast.parse(source))
        for name, *rest in self.chains:
            self.used |= {(module, (*names, *rest)) for module, names in self.names.get(name, ())}

    def visit_If(self, node: ast.If) -> None:
        """Pass over what does not run."""
        runs = self.lazy or _last(node.test) != "TYPE_CHECKING"
        for part in ast.iter_child_nodes(node) if runs else node.orelse:
            self.visit(part)

    def visit_Import(self, node: ast.Import) -> None:
        """Take in ``import safeteach.x``, which binds safeteach, or ``as x``, which binds x."""
        for alias in node.names:
            package, *module = alias.name.split(".")
            if package == self.package:
                self.imported.add((tuple(module), ()))
                bound = tuple(module) if alias.asname else ()
                self.names[alias.asname or package].add((bound, ()))

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        """Take in ``from safeteach.x import y``."""
        module = tuple(node.module.split(".")) if node.module else ()
        if node.level and self.inside is not None:
            module = self.inside[: len(self.inside) - node.level + 1] + module
        elif module[:1] == (self.package,) and not node.level:
            module = module[1:]
        else:
            return
        for alias in node.names:
            if alias.name == ANY:
                self.names[ANY].add((module, ()))
                self.used.add((module, ()))
            else:
                self.names[alias.asname or alias.name].add((module, (alias.name,)))
                self.imported.add((module, (alias.name,)))

    def visit_Attribute(self, node: ast.Attribute) -> None:
        """Take in a dotted name as a whole."""
        chain: list[str] = []
        inner: ast.expr = node
        while isinstance(inner, ast.Attribute):
            chain.insert(0, inner.attr)
            inner = inner.value
        if isinstance(inner, ast.Name):
            self.chains.add((inner.id, *chain))
        else:
            self.visit(inner)

    def visit_Name(self, node: ast.Name) -> None:
        """Take in a name that stands alone."""
        if isinstance(node.ctx, ast.Load):
            self.chains.add((node.id,))

    def visit_Call(self, node: ast.Call) -> None:
        """Take in an import by a computed name: what is known of it is how it begins."""
        if _last(node.func) in ("import_module", "__import__"):
            name = node.args[0] if node.args else node
            start = name.values[0] if isinstance(name, ast.JoinedStr) else name
            known = str(start.value) if isinstance(start, ast.Constant) else ""
            package, *module = known.split(".")
            if package == self.package and name is start:
                self.used.add((tuple(module), ()))
            elif package in ("", self.package) and module[:1] != [ROOMS]:
                self.used.add((tuple(module[:-1]) if package else (), (ANY,)))
        self.generic_visit(node)


@cache
def _uses(source: str, package: str, inside: Module | None = None, lazy: bool = False) -> _Uses:
    """Read a source; the same one is read once."""
    uses = _Uses(package, inside, lazy)
    uses.read(source)
    return uses


def _last(node: ast.expr) -> str:
    """The last part of a dotted name."""
    return str(getattr(node, "attr", getattr(node, "id", "")))


@dataclass
class _Search:
    """A walk over the files of a package, from name to name."""

    home: Path
    found: set[Path] = field(default_factory=set)
    seen: set[tuple[Reference, bool]] = field(default_factory=set)
    read: dict[Path, _Uses] = field(default_factory=dict)

    def add(self, *files: Path) -> None:
        """Add files and what they depend on."""
        for file in files:
            if file not in self.found:
                self.found.add(file)
                if file.suffix == ".py":
                    self.add_uses(self.uses(file))

    def add_uses(self, uses: _Uses) -> None:
        """Add what a source depends on."""
        for reference in uses.imported:
            self.follow(reference, whole=False)
        for reference in uses.used:
            self.follow(reference, whole=True)

    def follow(self, reference: Reference, whole: bool) -> None:
        """Add the files behind a name; behind a package, those of all its names if ``whole``."""
        if (reference, whole) in self.seen:
            return
        self.seen.add((reference, whole))
        module, names = reference
        file = self.file(module)
        if file is None:  # what looked like a module is a name in one
            self.follow((module[:-1], (module[-1], *names)), whole)
        elif names == (ANY,):
            self.add(*_below(file.parent) if file.name == "__init__.py" else [file])
        else:
            if room := self.room(module):
                self.add(*_below(room))
            elif file.name != "__init__.py":
                self.add(file)
            elif not names and whole:
                self.found.add(file)
                for inner in set().union(*self.uses(file).names.values()):
                    self.follow(inner, whole)
            if names:
                self.follow_name(module, file, names, whole)

    def follow_name(self, module: Module, file: Path, names: tuple[str, ...], whole: bool) -> None:
        """Add the files behind a name in a module, which may have it from elsewhere."""
        name, *rest = names
        below = (*module, name)
        bound = self.uses(file).names.get(name, set())
        for inner, more in bound:
            # A package that imports a name from itself means the module of that name.
            target = (below, ()) if (inner, more) == (module, (name,)) else (inner, more)
            self.follow((target[0], (*target[1], *rest)), whole)
        if not bound and file.name == "__init__.py":
            if self.file(below):
                self.follow((below, tuple(rest)), whole)
            else:
                self.follow((module, ()), whole=True)

    def file(self, module: Module) -> Path | None:
        """The file of a module or of a package, if there is one."""
        place = self.home.joinpath(*module)
        files = (place / "__init__.py", place.parent / f"{place.name}.py")
        return next((file for file in files if file.exists()), None)

    def room(self, module: Module) -> Path | None:
        """The folder of the chapter that a module belongs to, if all of it counts."""
        place = self.home.joinpath(*module[:2])
        whole = module[:1] == (ROOMS,) and len(module) > 1 and module[2:] != (LENT,)
        return place if whole and place.is_dir() else None

    def uses(self, file: Path) -> _Uses:
        """What a file of the package imports and uses."""
        if file not in self.read:
            inside = file.parent.relative_to(self.home).parts
            source = file.read_text(encoding="utf-8")
            self.read[file] = _uses(source, self.home.name, inside, file.name == "__init__.py")
        return self.read[file]


def _below(folder: Path) -> list[Path]:
    """All files in a folder, except what Python and editors leave there."""
    left = re.compile(r"(^|/)(__pycache__/|\.)")
    files = {file.relative_to(folder).as_posix(): file for file in folder.rglob("*")}
    return [file for name, file in files.items() if file.is_file() and not left.search(name)]


# ---- outside the library ---------------------------------------------------------------------

STANDARD = Path(sysconfig.get_path("stdlib"))
INSTALLED = {"site-packages", "dist-packages"}  # the folders of what somebody installed


def reach(roots: Mapping[str, Path], home: Path = HOME) -> tuple[dict[str, Path], set[str]]:
    """Find what modules outside the library import, directly or not; nothing is imported.

    Parameters
    ----------
    roots : dict from a module's full name to its file
    home : Path
        The folder of the library, which is left out.

    Returns
    -------
    files : dict from a module's full name to its file
        The roots, and what they import that is neither installed nor of the standard library.
    packages : set of str
        What they import that is installed, or that cannot be found.

    Examples
    --------
    >>> files, packages = reach({"mine": Path(__file__)})
    >>> [*files], packages
    (['mine'], set())
    """
    files, packages, todo = dict(roots), set[str](), [*roots]
    while todo:
        name = todo.pop()
        if files[name].suffix != ".py":  # an extension module imports what nobody can read
            continue
        package = name if files[name].name == "__init__.py" else name.rpartition(".")[0]
        for imported in _imports(files[name].read_text(encoding="utf-8"), package):
            top = imported.partition(".")[0]
            for inner, file in _files(imported) if top != home.name else ():
                if file is None:
                    packages.add(top)
                elif inner not in files:
                    files[inner] = file
                    todo.append(inner)
    return files, packages


def digest_with_own(roots: Mapping[str, Path], home: Path = HOME) -> tuple[str, set[str]]:
    """Compute a digest of modules, of what they reach and of the library's part in it: SHA-256.

    Modules of the library may be among the roots.  Where the files are does not matter.  The
    installed packages that the code imports are told beside the digest, by name.
    """
    home = home.resolve()
    inside = {name: file for name, file in roots.items() if file.is_relative_to(home)}
    own, packages = reach({name: roots[name] for name in roots.keys() - inside.keys()}, home)
    codes = [file for file in (*inside.values(), *own.values()) if file.suffix == ".py"]
    hashed = hashlib.sha256(digest_of(*codes, home=home).encode())
    for name, file in sorted(own.items()):
        hashed.update(f"{hashlib.sha256(file.read_bytes()).hexdigest()} {name}\n".encode())
    for file in files_of(*codes, home=home):
        if file.suffix == ".py":
            packages |= reach({f"{home.name}.{file.stem}": file}, home)[1]
    return hashed.hexdigest(), packages


@cache
def _imports(source: str, package: str) -> frozenset[str]:
    """The full names of what a source imports; some of them may be no modules but names in one."""
    names = set[str]()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            parts = package.split(".")[: len(package.split(".")) - node.level + 1]
            module = ".".join([*(parts if node.level else ()), *filter(None, [node.module])])
            names |= {f"{module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Call) and _last(node.func) in ("import_module", "__import__"):
            names |= {str(name.value) for name in node.args[:1] if isinstance(name, ast.Constant)}
    return frozenset(names)


def _files(name: str) -> Iterator[tuple[str, Path | None]]:
    """The files of a module and of the packages around it, from the outermost inwards.

    None stands for what is installed or cannot be found.  The standard library is left out.
    """
    inner, *rest = name.split(".")
    try:
        spec = find_spec(inner)
    except ValueError:  # of a module that was found nowhere, such as a notebook
        spec = None
    if spec is None:
        yield inner, None
        return
    file = Path(spec.origin) if spec.has_location and spec.origin else None
    folders = [Path(folder) for folder in spec.submodule_search_locations or ()]
    for part in (*rest, None):
        if file and INSTALLED & {*file.parts}:
            yield inner, None
            return
        if file and file.is_relative_to(STANDARD):
            return
        if file:
            yield inner, file
        inner = f"{inner}.{part}"
        places = [folder / f"{part}" for folder in folders]
        ends = ("/__init__.py", *all_suffixes())
        files = [Path(f"{place}{end}") for place in places for end in ends]
        file = next((file for file in files if file.is_file()), None)
        folders = [place for place in places if place.is_dir()]
