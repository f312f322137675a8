"""The library is a stack: a file imports only from the layers above it."""

import ast
from pathlib import Path

import pytest
from looping import each

import safeteach

PACKAGE = Path(safeteach.__file__).parent
FILES = sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")

# From what the world is to what a reader is asked, each built on those before it.
LAYERS = (
    "kernels",
    "worlds",
    "safety",
    "bounds",
    "divergence",
    "planning",
    "instances",
    "learners",
    "running",
    "figures",
    "widgets",
    "classroom",
    "chapters",
)


def imported_layers(source: str, parts: tuple[str, ...]) -> set[str]:
    """Return the layers that a file imports, "" for the package itself; every room is its own.

    `parts` names the file's package, from ``safeteach`` down.
    """
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = parts[: len(parts) - node.level + 1] if node.level else ()
            target = ".".join((*base, *filter(None, [node.module])))
            # `from safeteach import worlds` names a layer, `… import SafeMDP` does not.
            layers = [alias.name for alias in node.names if alias.name in LAYERS]
            inside = target == "safeteach" and len(layers) == len(node.names)
            names |= {f"{target}.{layer}" for layer in layers} if inside else {target}
    inside = [name.split(".")[1:3] for name in names if name.split(".")[0] == "safeteach"]
    return {".".join(parts if parts[:1] == ["chapters"] else parts[:1]) for parts in inside}


def violations(source: str, path: Path) -> list[str]:
    """Say which imports of the file at `path`, relative to the package, go down or sideways."""
    layer = path.parts[0].removesuffix(".py")
    if layer not in LAYERS:
        return [f"{path} is in no layer"]
    above = set(LAYERS[: LAYERS.index(layer)])
    own = {layer} if len(path.parts) > 1 else set()
    if layer == "chapters":
        own = {".".join(path.parts[:2])}
    imported = imported_layers(source, ("safeteach", *path.parent.parts))
    return [
        f"{path} imports {'safeteach.' + name if name else 'from safeteach itself'}"
        for name in sorted(imported - above - own)
    ]


def test_there_is_something_to_check():
    assert len(FILES) >= 3


@each("path", FILES)
def test_a_file_imports_only_from_above(path):
    assert violations(path.read_text("utf-8"), path.relative_to(PACKAGE)) == []


@pytest.mark.parametrize(
    ("path", "source", "bad"),
    [
        ("safety.py", "from safeteach.worlds.mdp import SafeMDP", 0),
        ("safety.py", "from .worlds.mdp import SafeMDP", 0),
        ("safety.py", "from . import worlds", 0),
        ("safety.py", "from . import planning", 1),
        ("safety.py", "def f():\n    import safeteach.planning", 1),
        ("worlds/mdp.py", "from ..safety import witness", 1),
        ("safety.py", "from safeteach import SafeMDP", 1),
        ("safety.py", "import safeteach as st", 1),
        ("learners/ucbvi.py", "from ..planning import optimal", 0),
        ("learners/ucbvi.py", "from .sucbvi import SUCBVI", 0),
        ("learners/ucbvi.py", "from ..figures import curves", 1),
        ("learners/ucbvi.py", "from .. import figures, worlds", 1),
        ("figures/__init__.py", "from .delta import delta_graph", 0),
        ("safety.py", "from safeteach.planning.induction import optimal", 1),
        ("worlds/mdp.py", "from .rows import Rows", 0),
        ("learners/safe_nash_vi.py", "from safeteach.running.playing import run", 1),
        ("widgets.py", "from safeteach.classroom.drawing.tree import tree", 1),
        ("classroom/rooms.py", "from safeteach.chapters import danger_ahead", 1),
        ("chapters/danger_ahead/figures.py", "from safeteach.classroom.drawing.tree import t", 0),
        ("chapters/danger_ahead/figures.py", "from safeteach.chapters.srf_ucrl import figures", 1),
        ("helpers.py", "import numpy as np", 1),
    ],
)
def test_the_check_can_fail(path, source, bad):
    assert len(violations(source, Path(path))) == bad
