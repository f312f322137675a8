"""What is shipped, what it asks for, and what it says where something is missing."""

import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
OURS = ("fast", "figures", "games", "widgets", "gym", "storm")


def pins(file):
    lines = (ROOT / file).read_text("utf-8").splitlines()
    return dict(line.split("==") for line in lines if "==" in line)


def release(version):
    """The numbers of a version, without zeros at the end: 2.0 is 2."""
    return tuple(map(int, re.sub(r"(\.0)+$", "", version).split(".")))


def test_the_oldest_versions_are_those_that_are_allowed():
    asked = [*PROJECT["dependencies"], *(line for extra in OURS for line in EXTRAS[extra])]
    least = dict(line.split(">=") for line in asked if not line.startswith("safeteach["))
    oldest, locked = pins("tests/oldest.txt"), pins("requirements.txt")
    assert {name: release(oldest[name]) for name in least} == {
        name: release(version) for name, version in least.items()
    }
    tools = oldest.keys() - least.keys() - {"pyparsing"}
    assert {name: oldest[name] for name in tools} == {name: locked[name] for name in tools}


def test_the_readme_names_every_extra():
    readme = (ROOT / "README.md").read_text("utf-8")
    assert all(f"| `{extra}` |" in readme for extra in (*OURS, "lab", "book"))


BUILD = "from setuptools import build_meta; build_meta.build_sdist(r'{}')"


@pytest.mark.slow
def test_the_source_distribution_holds_the_whole_library_and_no_tests(tmp_path):
    source, dist = tmp_path / "source", tmp_path / "dist"
    ignored = shutil.ignore_patterns("__pycache__", ".*", "_build", "*.egg-info")
    shutil.copytree(ROOT, source, ignore=ignored)
    (source / "safeteach" / "chapters" / "danger_ahead" / "rubrics.toml").touch()
    dist.mkdir()
    subprocess.run(
        [sys.executable, "-c", BUILD.format(dist)], cwd=source, check=True, capture_output=True
    )
    (archive,) = dist.iterdir()
    with tarfile.open(archive) as packed:
        files = [Path(name) for name in packed.getnames() if packed.getmember(name).isfile()]
    inside = {Path(*file.parts[1:]) for file in files}
    library = {path.relative_to(source) for path in (source / "safeteach").rglob("*.*")}
    library |= {Path(name) for name in ("LICENSE", "LICENSE-TEXT", "README.md", "pyproject.toml")}
    rubrics = {path for path in library if path.name == "rubrics.toml"}
    assert {path for path in library - rubrics if (source / path).is_file()} <= inside
    assert rubrics and not rubrics & inside
    assert Path("safeteach/py.typed") in inside
    assert not [path for path in inside if path.parts[0] in ("tests", "book", "binder")]


WITHOUT = """
import sys
from importlib.abc import MetaPathFinder

class Missing(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == sys.argv[1]:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing())
import safeteach as st
try:
    exec(sys.argv[2])
except ModuleNotFoundError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("missing", "extra", "code"),
    [
        ("quantecon", "games", "st.game_value([[1]])"),
        ("quantecon", "games", "st.SafeNashVI(st.instances.penny_bridge().known, episodes=3)"),
        ("quantecon", "games", "st.safe_optimal(st.instances.penny_bridge())"),
        ("matplotlib", "figures", "st.figures.grid(st.instances.grid())"),
        ("matplotlib", "figures", "from safeteach.figures.chart import chart"),
        ("networkx", "figures", "st.figures"),
        ("matplotlib", "figures", "st.report(st.instances.grid())"),
        ("scipy", "figures", "st.figures.learning_curves([0, 1], {'a': [[0, 1]]}, 'reward')"),
        ("ipywidgets", "widgets", "st.widgets"),
        ("gymnasium", "gym", "st.to_gymnasium(st.instances.grid())"),
        ("stormpy", "storm", "st.from_prism('walk.nm', 'unsafe', H=3)"),
    ],
)
def test_a_missing_library_is_an_error_that_says_what_to_install(missing, extra, code):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", WITHOUT, missing, code],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.stdout == f'{missing} is not installed; say pip install "safeteach[{extra}]"\n', (
        done.stderr
    )


def test_a_mistake_of_ours_is_no_missing_extra():
    from safeteach.extras import extra

    with pytest.raises(ModuleNotFoundError, match=r"^No module named 'safeteach\.nowhere'"), extra(
        "games"
    ):
        import safeteach.nowhere  # noqa: F401
