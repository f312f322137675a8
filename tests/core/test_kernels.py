"""Compiled code is compiled again when code that it calls has changed, in whatever file."""

import importlib
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import safeteach as st
from safeteach import kernels
from safeteach.running.closure import files_of

HOME = Path(st.__file__).parent
WITH_KERNELS = sorted(
    file for file in HOME.rglob("*.py") if "\n@compiled\n" in file.read_text("utf-8")
)
OURS = "from safeteach.kernels import compiled"
PLAIN = """\
from numba import njit
compiled = njit(cache=True, nogil=True, error_model="numpy")
"""
TOY = {
    "__init__.py": "from toy.aside import nothing",
    "main.py": """
        from toy.middle import doubled

        @compiled
        def total(x):
            return doubled(x) + 1.0
        """,
    "middle.py": """
        from .deep import *

        @compiled
        def doubled(x):
            return FACTOR * inner(x)
        """,
    "deep.py": """
        FACTOR = 2.0

        @compiled
        def inner(x):
            return x
        """,
    "aside.py": "nothing = 0",
}
TRY = "from toy.main import total as f; print(f(1.0), sum(f.stats.cache_hits.values()))"


@pytest.fixture
def toy(tmp_path):
    """A package of three files with kernels: a function that edits one and says what main says."""

    def run(decorator=OURS, **edits):
        for name, source in TOY.items():
            source = textwrap.dedent(source)
            for old, new in edits.get(name.removesuffix(".py"), {}).items():
                assert old in source
                source = source.replace(old, new)
            head = f"{decorator}\n" if "@compiled" in source else ""
            (tmp_path / "toy").mkdir(exist_ok=True)
            (tmp_path / "toy" / name).write_text(head + source, "utf-8")
        done = subprocess.run(
            [sys.executable, "-B", "-c", TRY],
            check=True,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ
            | {
                "PYTHONPATH": os.pathsep.join([str(tmp_path), str(HOME.parent)]),
                "NUMBA_CACHE_DIR": str(tmp_path / "kept"),
            },
        )
        value, hits = done.stdout.split()
        return float(value), int(hits)

    return run


@pytest.mark.slow
def test_a_kernel_is_loaded_until_something_behind_it_changes(toy):
    assert toy() == (3.0, 0)
    assert toy() == (3.0, 1)
    assert toy(aside={"0": "1"}) == (3.0, 1)  # nobody imports it but the package
    assert toy(deep={"return x": "return 5.0 * x"}) == (11.0, 0)
    assert toy(deep={"return x": "return 5.0 * x"}) == (11.0, 1)
    assert toy(deep={"FACTOR = 2.0": "FACTOR = 3.0"}) == (4.0, 0)
    assert toy(middle={"FACTOR *": "7.0 *"}) == (8.0, 0)
    assert toy(main={"1.0": "2.0"}) == (4.0, 0)


@pytest.mark.slow
def test_numba_alone_does_not_see_it(toy):
    """What the test above would find without a stamp of our own."""
    assert toy(PLAIN) == (3.0, 0)
    assert toy(PLAIN, deep={"return x": "return 5.0 * x"}) == (3.0, 1)


def test_a_numba_that_keeps_no_stamp_is_left_alone(monkeypatch):
    numba = pytest.importorskip("numba")
    monkeypatch.setattr(numba, "njit", lambda **_: lambda function: function)
    assert kernels.compiled(len) is len


@pytest.mark.parametrize("file", WITH_KERNELS, ids=lambda file: str(file.relative_to(HOME)))
def test_the_quick_search_finds_what_the_exact_one_finds(file):
    module = ".".join(("safeteach", *file.relative_to(HOME).with_suffix("").parts))
    importlib.import_module(module)
    assert set(kernels._behind(module)) >= set(files_of(file)) > set()


def test_the_library_is_imported_without_kernels():
    code = "import sys, safeteach; print({'numba', 'safeteach.kernels'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert done.stdout.strip() == "set()"
