"""Which files code depends on: in toy packages rule by rule, then in the library itself."""

import ast
import inspect
import json
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from looping import each

import safeteach as st
from safeteach.running.closure import HOME, digest_of, files_of

ROOT = HOME.parent
NOTEBOOKS = sorted((ROOT / "book").glob("[!.]*/*.ipynb"))
SCRIPTS = sorted(
    file
    for file in (ROOT / "book" / "studies").rglob("*.py")
    if "import safeteach" in file.read_text("utf-8")
)

TOY = {
    "__init__.py": """
        from typing import TYPE_CHECKING
        from toy import worlds
        from toy.worlds.grids import Grid
        from toy.planning import optimal as best

        if TYPE_CHECKING:
            from toy import drawing as drawing, learners as learners
            from toy.learners import Bold as Bold
        """,
    "rules.py": "LIMIT = 1",
    "planning.py": "from toy.rules import LIMIT",
    "alone.py": "",
    "worlds/__init__.py": "from .grids import Grid\nfrom .roads import Road",
    "worlds/grids.py": "from ..rules import LIMIT",
    "worlds/roads.py": "",
    "learners/__init__.py": """
        from toy.learners.bold import Bold
        from toy.learners.shy import Shy
        """,
    "learners/bold.py": "from . import model",
    "learners/shy.py": """
        from typing import TYPE_CHECKING
        if TYPE_CHECKING:
            from toy.drawing import picture
        def plan():
            from toy.planning import optimal
        """,
    "learners/model.py": "",
    "learners/new.py": "",
    "drawing/__init__.py": """
        from toy.drawing.picture import picture
        from toy.drawing.map import map
        """,
    "drawing/picture.py": "",
    "drawing/map.py": "import toy.worlds.roads as roads",
    "chapters/__init__.py": '"""Rooms."""',
    "chapters/danger/__init__.py": "from toy.learners import Bold\nfrom . import exercises",
    "chapters/danger/exercises.py": "from toy import worlds\nworlds.Road",
    "chapters/danger/quiz.toml": "",
    "chapters/danger/figures.py": "import numpy",
    "chapters/danger/__pycache__/figures.pyc": "",
    "chapters/other/__init__.py": "",
    "chapters/other/quiz.toml": "",
    "chapters/other/plain.py": "import toy.rules",
    "chapters/guest/__init__.py": "",
    "chapters/guest/plain.py": "from toy.chapters.other.plain import walk",
}
BOLD = {"learners/bold.py", "learners/model.py"}
SHY = {"learners/shy.py", "planning.py", "rules.py"}
GRID = {"worlds/grids.py", "rules.py"}
ROAD = {"worlds/roads.py"}
DRAWING = {"drawing/picture.py", "drawing/map.py"} | ROAD
ROOM = {
    f"chapters/danger/{name}" for name in ("__init__.py", "exercises.py", "quiz.toml", "figures.py")
}
IN_ROOM = ROOM | BOLD | ROAD
LENT = {"chapters/other/plain.py", "rules.py"}
OTHER = LENT | {"chapters/other/__init__.py", "chapters/other/quiz.toml"}
GUEST = {"chapters/guest/__init__.py", "chapters/guest/plain.py"}
LEARNERS = {"learners/__init__.py"} | BOLD | SHY
WORLDS = {"worlds/__init__.py"} | GRID | ROAD
ALL = {"__init__.py", "drawing/__init__.py"} | LEARNERS | WORLDS | DRAWING


@pytest.fixture
def toy(tmp_path):
    home = tmp_path / "toy"
    for name, source in TOY.items():
        write(home / name, source)
    return home


def write(file, source):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(textwrap.dedent(source), "utf-8")


def names(*codes, home):
    return {file.relative_to(home).as_posix() for file in files_of(*codes, home=home)}


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import numpy as np\nnp.toy.alone", set()),
        ("import toy", set()),
        # Names of the package, eager and lazy, lead to the files that they come from.
        ("import toy\ntoy.Grid", GRID),
        ("import toy as t\nt.Grid().x", GRID),
        ("import toy as t\nt.best", {"planning.py", "rules.py"}),
        ("import toy as t\nt.Bold(1)", BOLD),
        ("import toy as t\nt.worlds.Road", ROAD),
        ("import toy as t\nt.drawing.map.width", {"drawing/map.py"} | ROAD),
        ("import toy as t\ndef f(x=lambda: [t.learners.Bold]): ...", BOLD),
        ("def f():\n    return t.Bold\nimport toy as t", BOLD),
        # Import statements in all forms.
        ("from toy import Bold", BOLD),
        ("from toy.learners import Bold as B", BOLD),
        ("from toy.learners.bold import Bold", BOLD),
        ("from toy.learners import model", {"learners/model.py"}),
        ("from toy import drawing", set()),
        ("from toy import drawing\ndrawing.picture()", {"drawing/picture.py"}),
        ("from toy import drawing as d\nd.picture()", {"drawing/picture.py"}),
        ("from toy import alone", {"alone.py"}),
        ("import toy.alone", {"alone.py"}),
        ("import toy.alone as a", {"alone.py"}),
        ("import toy.drawing\ntoy.drawing.picture()", {"drawing/picture.py"}),
        ("import toy.drawing as d\nd.picture()", {"drawing/picture.py"}),
        ("def f():\n    from toy import alone", {"alone.py"}),
        (
            "if typing.TYPE_CHECKING:\n    from toy import alone\nelse:\n    import toy.rules",
            {"rules.py"},
        ),
        ("from .toy import alone", set()),  # not of the package: a script is in none
        # A module has names of packages too.
        ("from toy.drawing.map import roads", {"drawing/map.py"} | ROAD),
        ("from toy.chapters.danger.exercises import worlds\nworlds.Grid", IN_ROOM | GRID),
        # Rooms.
        ("from toy.chapters import danger", IN_ROOM),
        ("from toy.chapters import danger as chapter\nchapter.figures.x()", IN_ROOM),
        ("from toy.chapters.danger.exercises import check", IN_ROOM),
        ("import toy as t\nt.chapters.danger.check()", IN_ROOM),
        # A room's plain module is lent alone, and is in its own room as all else.
        ("from toy.chapters import guest", GUEST | LENT),
        ("from toy.chapters.other.plain import walk", LENT),
        ("from toy.chapters import other as chapter\nchapter.plain.walk()", OTHER),
        # What cannot be told.
        ("import toy as t\nprint(t.learners)", LEARNERS),
        ("import toy as t\ngetattr(t.learners, name)", LEARNERS),
        ("from toy import learners\nall_of = learners", LEARNERS),
        ("from toy.learners import *", LEARNERS),
        ("import toy as t\nt.learners.Unheard", LEARNERS),
        ("from toy.learners import Unheard", LEARNERS),
        ("import toy.learners.unheard", LEARNERS),
        ("import toy as t\nt.worlds.__dict__", WORLDS),
        ("import toy as t\ngetattr(t, name)", ALL),
        ("import toy as t\nt.unheard", ALL),
        ("from toy import *", ALL),
        ("import importlib\nimportlib.import_module('numpy')", set()),
        ("import importlib\nimportlib.import_module('toy.alone')", {"alone.py"}),
        ("from importlib import import_module\nimport_module('toy.worlds')", WORLDS),
        ("__import__(f'toy.learners.{name}')", LEARNERS | {"learners/new.py"}),
        ("__import__(name)", {name for name in TOY if "__pycache__" not in name}),
        ("__import__(name=name)", {name for name in TOY if "__pycache__" not in name}),
        ("__import__(f'numpy.{name}')", set()),
    ],
)
def test_what_a_source_depends_on(source, found, toy):
    assert names(source, home=toy) == found


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("alone.py", {"alone.py"}),
        ("learners/bold.py", BOLD),
        ("learners/shy.py", SHY),
        ("learners/__init__.py", LEARNERS),
        ("__init__.py", ALL),
        ("chapters/danger/quiz.toml", IN_ROOM),
    ],
)
def test_a_file_of_the_package_depends_on_itself(name, found, toy):
    assert names(toy / name, home=toy) == found


def test_a_star_in_an_init_hands_on_what_it_may(toy):
    write(toy / "worlds/__init__.py", "from .grids import *\nfrom .roads import Road")
    assert names("import toy\ntoy.worlds.Road", home=toy) == ROAD
    assert names("import toy\ntoy.worlds.Grid", home=toy) == WORLDS


def test_files_that_import_each_other_end_the_search(toy):
    write(toy / "rules.py", "from toy.planning import LIMIT\nfrom toy.rules import LIMIT")
    assert names("import toy.rules\ntoy.rules.LIMIT", home=toy) == {"rules.py", "planning.py"}


def test_a_script_and_a_notebook_count_by_their_code(toy, tmp_path):
    script, notebook = tmp_path / "script.py", tmp_path / "page.ipynb"
    write(script, "import toy as t\nt.Bold")
    cells = [
        ("markdown", "`t.alone`; {eval}`f'{t.worlds.Road():.2f}'`, {eval}`` t.best ``"),
        ("code", ["import toy as t\n", "t.Bold"]),
        ("raw", "t.drawing"),
    ]
    page = {"cells": [{"cell_type": kind, "source": source} for kind, source in cells]}
    notebook.write_text(json.dumps(page), "utf-8")
    assert names(script, home=toy) == BOLD
    assert names(notebook, home=toy) == BOLD | ROAD | {"planning.py", "rules.py"}
    assert names(script, "import toy\ntoy.alone", home=toy) == BOLD | {"alone.py"}


def test_a_digest_changes_with_the_files_and_with_nothing_else(toy, tmp_path):
    script = tmp_path / "script.py"
    write(script, "import toy as t\nt.Bold")
    before = digest_of(script, home=toy)
    write(script, "import toy as t\nprint(t.Bold)")
    write(toy / "learners/shy.py", "import toy.rules")
    write(toy / "learners/newest.py", "")
    write(toy / "learners/__init__.py", "from .bold import Bold")
    assert digest_of(script, home=toy) == before
    write(toy / "learners/model.py", "x = 1")
    changed = digest_of(script, home=toy)
    assert changed != before
    (toy / "learners/model.py").rename(toy / "learners/models.py")
    write(toy / "learners/bold.py", "from . import models")
    assert digest_of(script, home=toy) not in (before, changed)


# The library itself.  Files are found through what they define, for they may move.


def file_of(thing):
    return Path(inspect.getfile(thing))


@pytest.fixture(scope="module")
def behind():
    return {code: set(files_of(code)) for code in (*NOTEBOOKS, *SCRIPTS)}


def stale(file, behind):
    """The notebooks and scripts that have to run again after a change of a file."""
    return {code.name for code, files in behind.items() if file in files}


def test_there_is_something_to_check(behind):
    assert len(NOTEBOOKS) >= 18 and len(SCRIPTS) >= 4
    assert all(behind[code] for code in NOTEBOOKS)


def test_every_notebook_depends_on_the_worlds_and_on_what_is_safe(behind):
    every = {code.name for code in NOTEBOOKS}
    assert every <= stale(file_of(st.SafeMDP), behind)
    assert every <= stale(file_of(st.potentially_unsafe), behind)


def test_no_notebook_depends_on_everything(behind):
    code = set(HOME.rglob("*.py"))
    assert all(len(behind[notebook]) < len(code) for notebook in NOTEBOOKS)
    assert not any(HOME / "__init__.py" in behind[notebook] for notebook in NOTEBOOKS)


def test_a_room_is_behind_its_chapter_alone(behind):
    """A comma in one quiz executes one notebook again, and no study.

    But for the page of the appendix that proves a theorem of a chapter and shows a figure of it.
    """
    shows = {"why_regret_is_small": {"a-sharper-bound-on-the-regret.ipynb"}}
    rooms = {HOME / "chapters" / book.stem.replace("-", "_"): book for book in NOTEBOOKS}
    rooms = {room: notebook for room, notebook in rooms.items() if room.exists()}
    assert len(rooms) >= 18
    for room, notebook in rooms.items():
        for name in ("__init__.py", "exercises.py", "quiz.toml"):
            assert stale(room / name, behind) == {notebook.name} | shows.get(room.name, set())


def test_a_shared_picture_is_behind_the_pages_that_show_it(behind):
    shown = {book.name for book in NOTEBOOKS if "chapter.figures.tree" in book.read_text("utf-8")}
    assert len(shown) == 2
    assert stale(HOME / "classroom" / "drawing" / "tree.py", behind) == shown


@pytest.mark.parametrize(
    ("source", "yes", "no"),
    [
        ("st.SUCBVI", ["SUCBVI"], ["TripleQ", "OptCMDP", "SafeNashVI", "run", "audit"]),
        ("st.run(st.SUCBVI)", ["run", "play"], ["TripleQ", "SRFUCRL", "explore", "compare"]),
        ("st.run(st.SafeNashVI)", ["run", "SafeNashVI"], ["TripleQ", "audit", "explore"]),
        ("st.explore(st.SRFUCRL)", ["explore", "SRFUCRL"], ["TripleQ", "SafeNashVI", "compare"]),
    ],
)
def test_a_run_depends_on_what_it_runs(source, yes, no):
    files = files_of(f"import safeteach as st\n{source}")
    assert {file_of(getattr(st, name)) for name in yes} <= set(files)
    assert not {file_of(getattr(st, name)) for name in no} & set(files)
    folders = {file.relative_to(HOME).parts[0] for file in files}
    assert not folders & {"figures", "widgets.py", "classroom", "chapters"}


def test_a_change_shows_where_it_matters(tmp_path):
    home = tmp_path / "safeteach"
    shutil.copytree(HOME, home, ignore=shutil.ignore_patterns("__pycache__"))
    game = "import safeteach as st\nst.run(st.SafeNashVI, st.instances.pursuit())"
    constrained = "import safeteach as st\nst.compare(st.TripleQ)"
    codes = (game, constrained, *NOTEBOOKS, *SCRIPTS)

    def digests():
        return {code: digest_of(code, home=home) for code in codes}

    before = digests()
    write(home / "learners" / "latest.py", "from safeteach.learners.sucbvi import SUCBVI")
    assert digests() == before
    edited = home / file_of(st.TripleQ).relative_to(HOME)
    edited.write_text(edited.read_text("utf-8") + "\n# Edited.\n", "utf-8")
    after = digests()
    assert after[game] == before[game]
    assert after[constrained] != before[constrained]
    for script in SCRIPTS:
        text = script.read_text("utf-8")
        if "TripleQ" not in text and "getattr(st" not in text:
            assert after[script] == before[script], script.name


# Runs a source and prints the files of the library whose functions were called, once everything
# is loaded: what runs at an import is not what a result depends on.  Compiled functions would not
# be seen; quantecon cannot do without, and is compiled before, as it is called by us.
WATCH = """
import sys
import numba
import numpy
from quantecon.optimize import minmax
from quantecon.optimize.linprog_simplex import PivOptions
minmax(numpy.eye(2), 100, PivOptions(fea_tol=1e-12, tol_piv=1e-9, tol_ratio_diff=1e-13))
numba.config.DISABLE_JIT = True
import safeteach as st
for name in dir(st):
    getattr(st, name)
for source in sys.argv[1:]:
    files = set()
    sys.setprofile(lambda frame, event, argument: files.add(frame.f_code.co_filename))
    exec(compile(source, "source", "exec"))
    sys.setprofile(None)
    print(*(file for file in files if "safeteach" in file), sep="\\0")
"""
RUN = """
import safeteach as st
mdp = st.instances.union_counterexample()
st.run(st.SUCBVI(mdp.known, episodes=3), mdp)
"""
MATCH = """
import safeteach as st
game = st.instances.penny_bridge()
st.run(st.SafeNashVI(game.known, episodes=3), game, adversary="best responder")
"""
DRAW = """
import safeteach as st
st.figures.grid(st.instances.ice_corridor())
"""


@pytest.mark.slow
def test_what_runs_was_found():
    sources = RUN, MATCH, DRAW
    watched = subprocess.run(
        [sys.executable, "-c", WATCH, *sources],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    for source, line in zip(sources, watched.stdout.splitlines(), strict=True):
        ran = {Path(file) for file in line.split("\0") if "__init__" not in file}
        assert len(ran) > 2 and ran <= set(files_of(source))


@each("file", sorted(HOME.rglob("__init__.py")))
def test_an_init_only_hands_on_names(file):
    assert beside_names(file.read_text("utf-8")) == []


def beside_names(source):
    """What an ``__init__`` has beside names, constants and the way to load names lazily."""
    return [
        ast.unparse(node)
        for node in ast.parse(source).body
        if not isinstance(node, ast.Import | ast.ImportFrom | ast.Assign)
        and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
        and not (isinstance(node, ast.FunctionDef) and node.name in ("__getattr__", "__dir__"))
        and not (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
    ]


@pytest.mark.parametrize("source", ["def f(): ...", "class C: ...", "print(1)", "if x:\n    y = 1"])
def test_the_check_of_inits_can_fail(source):
    assert beside_names(f'"""Names."""\nfrom a import b\nNAMES = {{"b": 1}}\n{source}') == [
        ast.unparse(ast.parse(source))
    ]


def test_the_lazy_names_are_those_that_readers_of_the_code_are_told():
    (block,) = [node for node in ast.parse(inspect.getsource(st)).body if isinstance(node, ast.If)]
    told = {alias.name: node.module for node in block.body for alias in node.names}
    lazy = set(dir(st)) - set(st.__all__)
    assert told.keys() == lazy
    for name, module in told.items():
        assert getattr(st, name) is getattr(sys.modules[module], name)
