"""The house: a library that stands alone, and no room in it that nobody enters."""

import importlib
import os
import pkgutil
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from numba.core.caching import _CacheLocator

import safeteach as st
from safeteach.running.closure import files_of

HOME = Path(st.__file__).parent
ROOT = HOME.parent
BOOKS_OWN = ("classroom", "chapters")
KERNELS = os.environ.get("NUMBA_CACHE_DIR")
NOTEBOOKS = {path.stem.replace("-", "_"): path for path in (ROOT / "book").glob("[!.]*/*.ipynb")}
ROOMS = sorted(path.parent for path in (HOME / "chapters").glob("*/__init__.py"))
DRAWINGS = ROOT / "tests" / "classroom" / "drawing"
MODULES = {path for path in HOME.rglob("*.py") if path.name != "__init__.py"}
ALONE = """
import doctest, importlib, pkgutil, sys
import safeteach
assert not any(name in sys.modules for name in ("numba", "matplotlib", "ipywidgets"))
names = [info.name for info in pkgutil.walk_packages(safeteach.__path__, "safeteach.")]
results = [doctest.testmod(importlib.import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE)
           for name in names]
assert not [name for name in sys.modules if "classroom" in name or "chapters" in name]
print(len(names), sum(r.attempted for r in results), sum(r.failed for r in results))
"""


def lend_kernels(copy, folder):
    """Let a copy of the library have what is compiled; numba keeps it by the folder of a source."""
    being_written = shutil.ignore_patterns("*.tmp.*")
    shutil.copytree(KERNELS, folder, ignore=being_written)
    for source in (HOME, *(HOME / path.name for path in copy.iterdir() if path.is_dir())):
        of, its = (
            folder / _CacheLocator.get_suitable_cache_subpath(str(place / "kernels.py"))
            for place in (source, copy / source.relative_to(HOME))
        )
        if of.is_dir():
            of.rename(its)


@pytest.mark.slow
def test_the_library_stands_without_the_books_own_rooms(tmp_path):
    """What anyone may import needs nothing of what only the book and its courses need."""
    copy, kept = tmp_path / "safeteach", tmp_path / "numba"
    shutil.copytree(HOME, copy, ignore=shutil.ignore_patterns("*.pyc", *BOOKS_OWN))
    if KERNELS and Path(KERNELS).is_dir():  # else nothing is compiled yet, or it is kept elsewhere
        lend_kernels(copy, kept)
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", ALONE],
        cwd=tmp_path, env={"PYTHONPATH": str(tmp_path), "NUMBA_CACHE_DIR": str(kept)},
        capture_output=True, text=True,
    )  # fmt: skip
    assert run.returncode == 0, run.stdout + run.stderr
    modules, examples, failed = map(int, run.stdout.split()[-3:])
    own = [path for path in MODULES if path.relative_to(HOME).parts[0] not in BOOKS_OWN]
    assert modules >= len(own)
    assert examples > 200 and failed == 0, run.stdout


def test_every_module_is_used_by_a_page_by_a_tool_or_by_the_public_interface():
    public = [info.name for info in pkgutil.iter_modules([str(HOME)]) if info.name not in BOOKS_OWN]
    interface = "".join(f"from safeteach import {name}\n{name}\n" for name in (*public, *dir(st)))
    tools = (ROOT / "book" / "_tools").glob("*.py")
    used = set(files_of(*NOTEBOOKS.values(), *tools, interface))
    orphans = sorted(str(path.relative_to(ROOT)) for path in MODULES - used)
    assert orphans == [], "nobody uses these: show them on a page, export them, or delete them"


def drawn(room):
    """The names that a room offers to draw or to move."""
    for file in (room / "figures.py", room / "controls.py"):
        if file.is_file():
            module = importlib.import_module(f"safeteach.chapters.{room.name}.{file.stem}")
            yield from ((file.stem, name) for name in module.__all__)


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.name)
def test_every_figure_of_a_room_is_shown_in_its_chapter(room):
    """Directly, or by a control of the same room."""
    page = NOTEBOOKS[room.name].read_text("utf-8")
    controls = room / "controls.py"
    moved = controls.read_text("utf-8") if controls.is_file() else ""
    orphans = [
        f"chapter.{file}.{name}"
        for file, name in drawn(room)
        if f"chapter.{file}.{name}(" not in page and f"{file}.{name}(" not in moved
    ]
    assert orphans == [], f"{NOTEBOOKS[room.name].name} shows none of these: use or delete them"


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.name)
def test_a_room_has_exercises_a_quiz_and_tests(room):
    for name in ("exercises.py", "quiz.toml"):
        assert (room / name).is_file(), f"{room.name} has no {name}"
    tests = ROOT / "tests" / "chapters" / room.name
    for name in ("test_exercises.py", "test_statements.py"):
        assert (tests / name).is_file(), f"tests/chapters/{room.name} has no {name}"
    tried = "".join(path.read_text("utf-8") for path in tests.glob("test_*.py"))
    tried += "".join(path.read_text("utf-8") for path in DRAWINGS.glob("test_*.py"))
    untried = [name for _, name in drawn(room) if not re.search(rf"\b{name}\(", tried)]
    assert untried == [], f"no test of tests/chapters/{room.name} draws these"


AWAY = """
import safeteach as st
from safeteach.chapters import danger_ahead as chapter
from safeteach.classroom.contents import contents
assert chapter.check("recursion", st.potentially_unsafe).status == "right"
assert sum(len(st.quiz(str(n + 1)).questions) for n in range(len(contents()))) > 50
print(st.__file__)
"""


@pytest.mark.slow
def test_the_wheel_carries_all_rooms_and_works_away_from_the_repository(tmp_path):
    source, wheels, home = (tmp_path / name for name in ("source", "wheels", "home"))
    tracked = ("safeteach", "pyproject.toml", "README.md", "LICENSE", "LICENSE-TEXT")
    source.mkdir()
    for name in tracked:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, source / name)
    (source / "safeteach" / "chapters" / "danger_ahead" / "rubrics.toml").touch()
    build = ["pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", wheels, source]
    subprocess.run([sys.executable, "-m", *map(str, build)], check=True)
    (wheel,) = wheels.iterdir()
    shutil.unpack_archive(wheel, home, "zip")
    inside = {path.relative_to(home / "safeteach") for path in (home / "safeteach").rglob("*")}
    ours = {path.relative_to(HOME) for path in HOME.rglob("*") if "__pycache__" not in path.parts}
    assert inside == {path for path in ours if path.name != "rubrics.toml"}
    assert Path("py.typed") in inside, "type checkers would not look at the library"
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", AWAY], cwd=tmp_path,
        env={"PYTHONPATH": str(home)}, capture_output=True, text=True,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert Path(run.stdout.strip()).is_relative_to(home)
