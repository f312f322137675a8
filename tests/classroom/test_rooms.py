"""The door to a room: what it offers, and where it finds what is stored."""

import importlib
import inspect
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import safeteach
from safeteach.chapters import the_experiments as chapter
from safeteach.chapters.the_algorithm import plain as algorithm
from safeteach.classroom.rooms import show, stored

HOME = Path(safeteach.__file__).parent
BOOK = HOME.parent / "book"
PLAIN = sorted(path.parent for path in (HOME / "chapters").glob("*/plain.py"))


def test_a_room_offers_its_own_and_nothing_else():
    assert chapter.exercises is importlib.import_module(
        "safeteach.chapters.the_experiments.exercises"
    )
    assert len(chapter.quiz().questions) >= 3
    assert chapter.controls.__name__ == "safeteach.chapters.the_experiments.controls"
    with pytest.raises(AttributeError, match=r"the_experiments' has no attribute 'pictures'"):
        chapter.pictures  # noqa: B018


@pytest.mark.parametrize("folder", [".", "book", "book/sucbvi", "book/sucbvi/deeper"])
def test_a_stored_study_is_found_from_anywhere_in_the_book(tmp_path, monkeypatch, folder):
    kept = tmp_path / "book" / "data" / "figure1.npz"
    for path in (kept.parent, tmp_path / folder):
        path.mkdir(parents=True, exist_ok=True)
    kept.touch()
    monkeypatch.chdir(tmp_path / folder)
    assert stored("figure1.npz").samefile(kept)


def test_a_copy_beside_the_notebook_comes_first(tmp_path, monkeypatch):
    (tmp_path / "figure1.npz").touch()
    monkeypatch.chdir(tmp_path)
    assert chapter.stored("figure1.npz") == tmp_path / "figure1.npz"


def test_away_from_the_book_it_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"copy it from the folder book/data of the book's"):
        chapter.stored("figure1.npz")


def test_code_is_shown_as_it_stands_with_a_form_for_every_reader():
    shown = chapter.show(algorithm.flags, algorithm.Memory)
    source = inspect.getsource(algorithm)
    one, other = str(shown).split("\n\n\n")
    assert one.startswith("def flags(") and other.startswith("class Memory:")
    assert one in source and other in source
    assert shown._repr_markdown_() == f"```python\n{shown}\n```"
    with pytest.raises(TypeError, match="module, class, method, function"):
        chapter.show("flags")


def shown_in(page):
    """The names of the pieces that a notebook shows from its room's plain module, in order."""
    sources = ["".join(cell["source"]) for cell in json.loads(page.read_text("utf-8"))["cells"]]
    calls = re.findall(r"^chapter\.show\((.*?)\)$", "\n".join(sources), re.MULTILINE | re.DOTALL)
    return [name for call in calls for name in re.findall(r"\bplain\.(\w+)", call)]


@pytest.mark.parametrize("room", PLAIN, ids=lambda room: room.name)
def test_every_piece_of_a_plain_learner_is_shown_once_and_fits_the_page(room):
    plain = importlib.import_module(f"safeteach.chapters.{room.name}.plain")
    pieces = [
        name
        for name, value in vars(plain).items()
        if inspect.isroutine(value) or inspect.isclass(value)
        if value.__module__ == plain.__name__
    ]
    assert sorted(pieces) == sorted(plain.__all__)
    (page,) = BOOK.glob(f"*/{room.name.replace('_', '-')}.ipynb")
    assert sorted(shown_in(page)) == sorted(pieces), f"{page.name} shows other pieces"
    for name in pieces:
        assert getattr(plain, name).__doc__, f"{name} does not say what it is"
        too_long = [line for line in str(show(getattr(plain, name))).split("\n") if len(line) > 83]
        assert too_long == []


def test_plain_learners_need_no_numba():
    names = ", ".join(f"safeteach.chapters.{room.name}.plain" for room in PLAIN)
    code = f"import sys, {names}; print({{'numba', 'matplotlib', 'ipywidgets'}} & {{*sys.modules}})"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "set()\n"
