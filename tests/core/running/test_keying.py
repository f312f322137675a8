"""Keys: what matters changes them, nothing else does, and what cannot be told has none."""

import importlib
import sys
import textwrap
import types
from dataclasses import dataclass
from functools import partial
from importlib import metadata
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import numpy as np
import pytest

import safeteach as st
from safeteach.running import keying
from safeteach.running.keying import Keys, NotKeyable


def key(*told, version=None):
    return Keys(version).key("thing", *told)


@dataclass
class Point:
    x: float
    y: object = None


@dataclass(slots=True)
class Narrow:
    x: float


VALUES = [
    None, True, 1, 1.0, 1j, "1", b"1", 0.0, -0.0, (1,), [1], {"a": 1}, {1: "a"}, (), [], {}, "",
    "[]", (1, 2), ((1,), 2), (1, (2,)), ["1, 2"], {"a": 1, "b": 2}, {"b": 2, "a": 1}, range(3),
    range(0, 3, 2),
    np.float64(1), np.float32(1), np.int64(1), np.arange(3), np.arange(3.0), np.arange(3)[None],
    np.arange(3, dtype=">i8"), np.array([0, 1, 3]), np.array(["0", "1"]),
    Point(1.0), Point(2.0), Point(1.0, [3]), Narrow(1.0), Point, Narrow, len, sum, st.SUCBVI,
    st.UCBVI, np.linalg.norm, partial(sum, [1]), partial(sum, [2]), partial(len, [1]),
    partial(sum, start=1),
]  # fmt: skip


def test_different_things_have_different_keys_and_the_same_thing_has_the_same():
    keys = [key(value) for value in VALUES]
    assert len({*keys}) == len(VALUES)
    assert keys == [key(value) for value in VALUES]
    strided = np.arange(6)[::2]
    assert key(strided) == key(strided.copy())
    assert key(Point(1.0)) == key(Point(1.0))
    assert key(1, 2) != key((1, 2)) and key([1], [2]) != key([1, 2])


def test_a_key_begins_with_a_label_that_is_fit_for_a_file():
    label, digest = Keys().key("SUCBVI/3: a", 1).split("-")
    assert label == "SUCBVI_3_a" and len(digest) == keying.DIGITS


def test_what_is_added_to_an_object_counts():
    point = Point(1.0)
    before = key(point)
    point.z = 3
    assert key(point) != before


# ---- code in files ---------------------------------------------------------------------------

LEARNER = {
    "mine.py": """
        import safeteach as st
        from base import Base
        from tools import double
        import pack.deep.rules as rules
        from missing_package import nothing

        def mine(self, scale=1.0):
            import lazy, compiled
            return lazy.x

        class Mine(Base):
            rule = double
        """,
    "base.py": "class Base:\n    def plan(self): return 1\n",
    "tools.py": "import importlib\nimportlib.import_module('more')\ndef double(x): return 2 * x",
    "more.py": "from alone import *",
    "alone.py": "FACTOR = 3",
    "lazy.py": "x = 1",
    f"compiled{EXTENSION_SUFFIXES[0]}": "not for eyes",
    "pack/__init__.py": "LEVEL = 1",
    "pack/deep/__init__.py": "",
    "pack/deep/rules.py": "from . import near\nfrom ..far import y",
    "pack/deep/near.py": "x = 1",
    "pack/far.py": "y = 1",
    "pack/unused.py": "z = 1",
    "other.py": "import base",
}
MATTERS = [*LEARNER.keys() - {"pack/unused.py", "other.py"}]


@pytest.fixture
def fresh(tmp_path, monkeypatch):
    """Keys of a thing in a module, as a new Python would give them, in a new folder each time."""
    folders = iter(range(100))

    def key_of(files, module="mine", name="Mine", version=None):
        folder = tmp_path / f"folder{next(folders)}"
        for path, text in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(textwrap.dedent(text))
        names = {path.split("/")[0].removesuffix(".py") for path in files}
        for loaded in [n for n in sys.modules if n.split(".")[0] in names]:
            monkeypatch.delitem(sys.modules, loaded)
        monkeypatch.setattr(keying, "_SEEN", {})
        stub = types.ModuleType("missing_package")  # in a new Python it is not there
        stub.nothing = None
        with monkeypatch.context() as here:
            here.syspath_prepend(folder)
            here.setitem(sys.modules, "missing_package", stub)
            thing = getattr(importlib.import_module(module), name)
            here.delitem(sys.modules, "missing_package")
            found = Keys(version).key("thing", thing)
        return found

    yield key_of
    for name in ("mine", "base", "tools", "more", "alone", "lazy", "pack", "other"):
        for loaded in [n for n in sys.modules if n.split(".")[0] == name]:
            del sys.modules[loaded]


@pytest.mark.parametrize("name", ["Mine", "mine", "double"])
def test_an_edit_of_anything_that_code_reaches_means_a_new_key(fresh, name):
    before = fresh(LEARNER, name=name)
    assert fresh(LEARNER, name=name) == before  # in another folder
    for path in MATTERS if name != "double" else ["tools.py", "more.py", "alone.py"]:
        edited = LEARNER | {path: "\n" + LEARNER[path]}
        assert fresh(edited, name=name) != before, path
    for path in ("pack/unused.py", "other.py"):
        edited = LEARNER | {path: "\n" + LEARNER[path]}
        assert fresh(edited, name=name) == before, path


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("def f(x, scale=1): pass", "def f(x, scale=2): pass"),  # a default argument
        ("def make(n):\n    return n\nf = make", "def make(n):\n    return n + 1\nf = make"),
        (
            "import functools\ndef by(n):\n    def d(g):\n        @functools.wraps(g)\n"
            "        def h(x): return n * g(x)\n        return h\n    return d\n"
            "@by(1)\ndef f(x): return x",
            "import functools\ndef by(n):\n    def d(g):\n        @functools.wraps(g)\n"
            "        def h(x): return n * g(x)\n        return h\n    return d\n"
            "@by(2)\ndef f(x): return x",
        ),  # what a closure holds
        ("N = 1\ndef f(x): return N", "N = 2\ndef f(x): return N"),
        ("import numpy\ndef f(x): pass", "import numpy \ndef f(x): pass"),
        ("class f: pass", "class f: x = 1"),
        (
            "class M(type): pass\nclass f(metaclass=M): pass",
            "class M(type): x = 1\nclass f(metaclass=M): pass",
        ),
    ],
)  # fmt: skip
def test_an_edit_of_the_file_itself_means_a_new_key(fresh, before, after):
    one, other = fresh({"mine.py": before}, name="f"), fresh({"mine.py": after}, name="f")
    assert one != other
    assert one == fresh({"mine.py": before}, name="f")


def test_an_edit_of_a_base_counts_though_its_import_cannot_be_read(fresh):
    files = {
        "mine.py": "there = __import__('ba' + 'se')\nclass f(there.Base): pass",
        "base.py": "class Base: pass",
    }
    one, other = fresh(files, name="f"), fresh(files | {"base.py": "class Base: x = 1"}, name="f")
    assert one != other


def test_another_version_of_a_package_means_a_new_key(fresh, monkeypatch):
    def with_version(number, of):
        real = metadata.version
        keying._version.cache_clear()
        with monkeypatch.context() as here:
            here.setattr(metadata, "version", lambda n: number if n == of else real(n))
            found = fresh({"mine.py": "import numpy, yaml\ndef f(x): pass"}, name="f")
        keying._version.cache_clear()
        return found

    for package in ("numpy", "PyYAML"):  # the second is imported under another name
        assert with_version("1.2", package) != with_version("1.3", package)
    assert with_version("1.2", "scipy") == with_version("1.3", "scipy")


def test_a_package_that_has_no_version_is_refused(tmp_path, monkeypatch):
    folder = tmp_path / "site-packages"
    folder.mkdir()
    (folder / "unversioned.py").write_text("def f(x): pass")
    monkeypatch.syspath_prepend(folder)
    thing = importlib.import_module("unversioned").f
    with pytest.raises(NotKeyable, match="nobody can tell the version of the package unversioned"):
        key(thing)
    del sys.modules["unversioned"]


def test_a_module_that_was_found_nowhere_is_refused(fresh, monkeypatch):
    """As one that a notebook has made up."""
    monkeypatch.setitem(sys.modules, "made_up", types.ModuleType("made_up"))
    with pytest.raises(NotKeyable, match="nobody can tell the version of the package made_up"):
        fresh({"mine.py": "import made_up\ndef f(x): pass"}, name="f")


def test_another_library_means_a_new_key(monkeypatch):
    before = key(st.SUCBVI), key(st.run)
    monkeypatch.setattr(keying, "_SEEN", {})
    monkeypatch.setattr(keying, "digest_with_own", lambda _roots: ("another", set()))
    assert not {*before} & {key(st.SUCBVI), key(st.run)}


def test_what_was_edited_after_it_was_loaded_has_no_key(fresh, monkeypatch):
    """What is in the file is not what would run here."""
    fresh({"mine.py": "def f(x): return 1"}, name="f")
    thing = sys.modules["mine"].f
    Keys().key("thing", thing)
    with Path(sys.modules["mine"].__file__).open("a") as file:
        file.write("\n# edited")
    with pytest.raises(NotKeyable, match=r"the code of mine.f was edited while this Python ran"):
        Keys().key("thing", thing)
    monkeypatch.setattr(keying, "_SEEN", {})  # a new Python
    Keys().key("thing", thing)


# ---- what is in no file ----------------------------------------------------------------------


def local():
    def inner(x):
        return x

    return inner


def in_a_notebook(source):
    """What a cell defines: its module has no file."""
    module = types.ModuleType("__notebook__")
    sys.modules["__notebook__"] = module
    exec(compile(source, "/tmp/ipykernel_1/2.py", "exec"), vars(module))
    return module


@pytest.fixture
def unkeyable():
    notebook = in_a_notebook(
        "import safeteach as st\nclass Mine(st.SUCBVI):\n    pass\ndef rule(x): pass"
    )
    yield {
        "<lambda>": lambda x: x,
        "local.<locals>.inner": local(),
        "Mine": notebook.Mine,
        "rule": notebook.rule,
        "object": object(),
        "Generator": np.random.default_rng(0),
        "set": {1, 2},
        "ndarray": np.array([None]),
        "method": [].append,
        "mine": Point(lambda x: x),
    }
    del sys.modules["__notebook__"]


def test_what_is_in_no_file_has_no_key_without_a_version(unkeyable):
    for name, thing in unkeyable.items():
        with pytest.raises(NotKeyable):
            key(thing)
        assert key(thing, version="1") == key(thing, version="1"), name
        assert key(thing, version="1") != key(thing, version="2")
    thing = unkeyable["<lambda>"]
    for around in ([thing], (1, thing), {"a": thing}, partial(len, thing), Point(1.0, thing)):
        with pytest.raises(NotKeyable):
            key(around)
    with pytest.raises(NotKeyable, match=r"^Mine cannot be imported from a file$"):
        key(unkeyable["Mine"])
    with pytest.raises(NotKeyable, match="nobody can tell what is in an object of class Generator"):
        key(unkeyable["Generator"])


def test_a_version_does_not_stand_for_what_is_in_files(unkeyable, monkeypatch):
    before = key(unkeyable["Mine"], version="1")
    monkeypatch.setattr(keying, "_SEEN", {})
    monkeypatch.setattr(keying, "digest_with_own", lambda _roots: ("another library", set()))
    assert key(unkeyable["Mine"], version="1") != before


def test_a_method_that_was_put_in_from_elsewhere_is_seen(fresh, monkeypatch, unkeyable):
    before = key(st.UCBVI)
    monkeypatch.setattr(st.UCBVI, "plan", unkeyable["rule"])
    with pytest.raises(NotKeyable, match="rule cannot be imported"):
        key(st.UCBVI)
    monkeypatch.undo()
    assert key(st.UCBVI) == before
    fresh({"mine.py": "def f(x): pass"}, name="f")
    monkeypatch.setattr(st.UCBVI, "plan", sys.modules["mine"].f)  # out of a file, it counts
    monkeypatch.setattr(keying, "_SEEN", {})
    assert key(st.UCBVI) != before


def test_what_was_typed_over_a_file_is_not_what_the_file_says(fresh):
    fresh({"mine.py": "def f(x): return 1"}, name="f")
    module = sys.modules["mine"]
    exec(compile("def f(x): return 2", "<stdin>", "exec"), vars(module))
    with pytest.raises(NotKeyable, match="f cannot be imported from a file"):
        key(module.f)
