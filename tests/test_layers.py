"""The library is a stack: a file imports only from the layers above it."""

import ast
from pathlib import Path

import pytest

import safeteach

PACKAGE = Path(safeteach.__file__).parent
FILES = sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")

# From what the world is to what a reader is asked, each built on those before it.
LAYERS = (
    "compiled",
    "mdp",
    "games",
    "safety",
    "pricing",
    "matrix_games",
    "equilibria",
    "planning",
    "bounds",
    "divergence",
    "learners",
    "instances",
    "playing",
    "exploring",
    "experiment",
    "dueling",
    "auditing",
    "figures",
    "widgets",
    "exercises",
)


def imported_layers(source: str, parts: tuple[str, ...]) -> set[str]:
    """Return the layers that a file imports, "" for the package itself.

    `parts` names the file's package, from ``safeteach`` down.
    """
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = parts[: len(parts) - node.level + 1] if node.level else ()
            target = ".".join((*base, *filter(None, [node.module])))
            # `from safeteach import mdp` names a layer, `from safeteach import SafeMDP` does not.
            layers = [alias.name for alias in node.names if alias.name in LAYERS]
            inside = target == "safeteach" and len(layers) == len(node.names)
            names |= {f"{target}.{layer}" for layer in layers} if inside else {target}
    return {".".join(name.split(".")[1:2]) for name in names if name.split(".")[0] == "safeteach"}


def violations(source: str, path: Path) -> list[str]:
    """Say which imports of the file at `path`, relative to the package, go down or sideways."""
    layer = path.parts[0].removesuffix(".py")
    if layer not in LAYERS:
        return [f"{path} is in no layer"]
    above = set(LAYERS[: LAYERS.index(layer)])
    own = {layer} if len(path.parts) > 1 else set()
    imported = imported_layers(source, ("safeteach", *path.parent.parts))
    return [
        f"{path} imports {'safeteach.' + name if name else 'from safeteach itself'}"
        for name in sorted(imported - above - own)
    ]


def test_there_is_something_to_check():
    assert len(FILES) >= 3


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_file_imports_only_from_above(path):
    assert violations(path.read_text("utf-8"), path.relative_to(PACKAGE)) == []


@pytest.mark.parametrize(
    ("path", "source", "bad"),
    [
        ("safety.py", "from safeteach.mdp import SafeMDP", 0),
        ("safety.py", "from .mdp import SafeMDP", 0),
        ("safety.py", "from . import mdp", 0),
        ("safety.py", "from . import planning", 1),
        ("safety.py", "def f():\n    import safeteach.planning", 1),
        ("mdp.py", "from .safety import witness", 1),
        ("safety.py", "from safeteach import SafeMDP", 1),
        ("safety.py", "import safeteach as st", 1),
        ("learners/ucbvi.py", "from ..planning import optimal", 0),
        ("learners/ucbvi.py", "from .sucbvi import SUCBVI", 0),
        ("learners/ucbvi.py", "from ..figures import curves", 1),
        ("learners/ucbvi.py", "from .. import figures, mdp", 1),
        ("figures/__init__.py", "from .delta import delta_graph", 0),
        ("safety.py", "from safeteach.games import SafeGame", 0),
        ("games.py", "from safeteach.safety import witness", 1),
        ("equilibria.py", "def f():\n    from safeteach.matrix_games import solve_games", 0),
        ("equilibria.py", "from safeteach.planning import optimal", 1),
        ("learners/safe_nash_vi.py", "from safeteach.dueling import duel", 1),
        ("helpers.py", "import numpy as np", 1),
    ],
)
def test_the_check_can_fail(path, source, bad):
    assert len(violations(source, Path(path))) == bad
