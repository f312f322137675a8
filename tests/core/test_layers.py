"""The library is a stack: a file imports only from the layers above it."""

import ast
from collections.abc import Sequence
from pathlib import Path

import pytest
from looping import each

import safeteach

PACKAGE = Path(safeteach.__file__).parent
FILES = sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")

# From what the world is to what a reader is asked, each built on those before it.
LAYERS = (
    "arguments",
    "records",
    "extras",
    "kernels",
    "worlds",
    "safety",
    "bounds",
    "divergence",
    "planning",
    "instances",
    "learners",
    "running",
    "exchange",
    "figures",
    "reporting",
    "command",
    "__main__",
    "widgets",
    "classroom",
    "chapters",
)


def imported_layers(source: str, parts: tuple[str, ...]) -> set[str]:
    """Return the layers that a file imports, "" for the package itself; every room is its own.

    A room's plain module is named beside its room.  `parts` names the file's package, from
    ``safeteach`` down.
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
    inside = [name.split(".")[1:] for name in names if name.split(".")[0] == "safeteach"]
    return {".".join(parts[: 3 if is_plain(parts) else 1 + (parts[:1] == ["chapters"])])
            for parts in inside}  # fmt: skip


def is_plain(parts: Sequence[str]) -> bool:
    """Whether these are the parts of ``chapters.<room>.plain``."""
    return len(parts) == 3 and parts[0] == "chapters" and parts[2] == "plain"


def violations(source: str, path: Path) -> list[str]:
    """Say which imports of the file at `path`, relative to the package, go down or sideways."""
    layer = path.parts[0].removesuffix(".py")
    if layer not in LAYERS:
        return [f"{path} is in no layer"]
    above = set(LAYERS[: LAYERS.index(layer)])
    own = {layer} if len(path.parts) > 1 else set()
    imported = imported_layers(source, ("safeteach", *path.parent.parts))
    if layer == "chapters":
        room = ".".join(path.parts[:2])
        own = {room, f"{room}.plain"}
    if is_plain(path.with_suffix("").parts):  # one plain learner builds on another
        own |= {name for name in imported if is_plain(name.split("."))}
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
        ("chapters/danger_ahead/figures.py", "from safeteach.chapters.danger_ahead import x", 0),
        ("chapters/srf_ucrl/exercises.py", "from safeteach.chapters.srf_ucrl.plain import d", 0),
        ("chapters/srf_ucrl/plain.py", "from safeteach.chapters.the_algorithm.plain import w", 0),
        ("chapters/srf_ucrl/plain.py", "from ..the_algorithm.plain import walk", 0),
        ("chapters/srf_ucrl/plain.py", "import safeteach.chapters.the_algorithm.plain", 0),
        ("chapters/srf_ucrl/plain.py", "from safeteach.chapters.the_algorithm import plain", 1),
        ("chapters/srf_ucrl/plain.py", "from safeteach.chapters.the_algorithm.figures import f", 1),
        ("chapters/srf_ucrl/plain.py", "from safeteach.chapters import the_algorithm", 1),
        ("chapters/srf_ucrl/plain.py", "import safeteach as st", 1),
        ("chapters/srf_ucrl/figures.py", "from safeteach.chapters.the_algorithm.plain import w", 1),
        ("chapters/plain.py", "from safeteach.chapters.the_algorithm.plain import walk", 1),
        ("classroom/plain.py", "from safeteach.chapters.the_algorithm.plain import walk", 1),
        ("helpers.py", "import numpy as np", 1),
    ],
)
def test_the_check_can_fail(path, source, bad):
    assert len(violations(source, Path(path))) == bad
