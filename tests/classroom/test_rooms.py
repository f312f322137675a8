"""The door to a room: what it offers, and where it finds what is stored."""

import importlib

import pytest

from safeteach.chapters import the_experiments as chapter
from safeteach.classroom.rooms import stored


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
