"""What the rooms say of their chapters: read as it stands, refused where it cannot be right."""

from pathlib import Path

import contents as tool
import pytest
from looping import each

import safeteach
from safeteach.classroom.contents import contents
from safeteach.classroom.outlines import (
    READING_PATHS,
    ExerciseOutline,
    read_outline,
    read_outlines,
)

ROOMS = Path(safeteach.__file__).parent / "chapters"

CHAPTER = """
needs = []
background = "a little  Python"
paths = ["course", "engineer"]

[outcomes]
count = "count the steps"
prove = "prove that there are enough"
"""
EXERCISES = """
[by-hand]
difficulty = 1
minutes = 5
points = 2
outcome = "count"

[enough]
difficulty = 3
minutes = 30
points = 4
outcome = "prove"
"""
NAMES = ["by-hand", "enough"]


def write(rooms, slug, chapter=CHAPTER, exercises=EXERCISES):
    (rooms / slug).mkdir()
    (rooms / slug / "chapter.toml").write_text(chapter, "utf-8")
    (rooms / slug / "exercises.toml").write_text(exercises, "utf-8")
    return rooms / slug


def test_an_outline_says_what_its_files_say(tmp_path):
    outline = read_outline(write(tmp_path, "first"), NAMES)
    assert outline.needs == ()
    assert outline.background == "a little Python"
    assert outline.paths == ("engineer", "course"), "in the order in which the book has them"
    assert outline.outcomes == {"count": "count the steps", "prove": "prove that there are enough"}
    assert outline.exercises == (
        ExerciseOutline("by-hand", 1, 5, 2, "count"),
        ExerciseOutline("enough", 3, 30, 4, "prove"),
    )


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("needs", "wants", r"^first/chapter\.toml: there is no 'wants'; expected needs, backgr"),
        ("needs = []\n", "", r"^first/chapter\.toml: 'needs' is missing; expected needs, backg"),
        (
            "needs = []",
            'needs = "second"',
            r"^first/chapter\.toml: needs is 'second'; expected a l",
        ),
        ("needs = []", 'needs = ["a", "a"]', r"needs is \['a', 'a'\]; expected each once"),
        ("a little  Python", "", r"needs and background are empty; expected what a reader needs"),
        ("a little  Python", "Python.", r"background is 'Python\.'; expected a part of a sentence"),
        ('"a little  Python"', "3", r"^first/chapter\.toml: background is 3; expected a string"),
        ('"engineer"', '"pilot"', r'paths is \'pilot\'; expected "engineer" or "lectures" or "cou'),
        ('"course", ', "", r"paths lacks 'course', the path that contains every chapter"),
        ('prove = "prove that there are enough"', "", r"outcomes are 1; expected 2 to 5"),
        ('"count the steps"', '""', r"outcomes\.count is empty; expected what one can do"),
        ("[outcomes]", "[outcomes", r"^first/chapter\.toml is no TOML: "),
    ],
)
def test_a_wrong_chapter_file_is_an_error_that_says_where(tmp_path, old, new, message):
    assert old in CHAPTER
    room = write(tmp_path, "first", chapter=CHAPTER.replace(old, new))
    with pytest.raises((ValueError, TypeError), match=message):
        read_outline(room, NAMES)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[enough]", "[plenty]", r"first/exercises\.toml: there is no 'plenty'; expected by-hand"),
        (EXERCISES[EXERCISES.index("[enough]") :], "", r"exercises\.toml: 'enough' is missing"),
        ("difficulty = 1", "difficulty = 4", r"by-hand\.difficulty is 4; .* are 1\.\.3"),
        ("difficulty = 1", "difficulty = 0", r"by-hand\.difficulty is 0; .* are 1\.\.3"),
        ("minutes = 5", "minutes = 0", r"by-hand\.minutes is 0; it must be at least 1"),
        ("points = 2", "points = 1.5", r"by-hand\.points is 1\.5; expected a whole number"),
        ("points = 2", "marks = 2", r"by-hand: there is no 'marks'; expected difficulty, minutes"),
        ('"count"', '"cuont"', r'by-hand\.outcome is \'cuont\'; expected "count" or "prove"'),
    ],
)  # fmt: skip
def test_a_wrong_exercise_is_an_error_that_says_where(tmp_path, old, new, message):
    assert old in EXERCISES
    room = write(tmp_path, "first", exercises=EXERCISES.replace(old, new))
    with pytest.raises((ValueError, TypeError), match=message):
        read_outline(room, NAMES)


def test_exercises_stand_in_the_order_of_the_chapter(tmp_path):
    room = write(tmp_path, "first")
    with pytest.raises(ValueError, match=r"by-hand is out of order; the chapter asks enough, by-h"):
        read_outline(room, NAMES[::-1])


@pytest.mark.parametrize("name", ["chapter.toml", "exercises.toml"])
def test_a_file_that_is_missing_is_named(tmp_path, name):
    room = write(tmp_path, "first")
    (room / name).unlink()
    with pytest.raises(FileNotFoundError, match=f"^first has no {name}$"):
        read_outline(room, NAMES)


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ("", '"first"', ""),
        ('"second"', "", r"^first/chapter\.toml: needs says 'second', which comes later; exp"),
        ('"first"', "", r"^first/chapter\.toml: needs says 'first', which comes later; exp"),
        ("", '"third"', r"^second/chapter\.toml: needs says 'third', which is no chapter; exp"),
    ],
)
def test_what_a_chapter_needs_comes_earlier(tmp_path, first, second, message):
    for slug, needs in (("first", first), ("second", second)):
        write(tmp_path, slug, chapter=CHAPTER.replace("[]", f"[{needs}]"))
    book = dict.fromkeys(("first", "second"), NAMES)
    if not message:
        assert list(read_outlines(tmp_path, book)) == ["first", "second"]
        return
    with pytest.raises(ValueError, match=message):
        read_outlines(tmp_path, book)


def test_a_path_contains_what_its_chapters_need(tmp_path):
    write(tmp_path, "first", chapter=CHAPTER.replace(', "engineer"', ""))
    write(tmp_path, "second", chapter=CHAPTER.replace("[]", '["first"]'))
    said = (
        r"^second/chapter\.toml: paths says 'engineer', but the chapter needs 'first', which is n"
    )
    with pytest.raises(ValueError, match=said):
        read_outlines(tmp_path, dict.fromkeys(("first", "second"), NAMES))


@pytest.fixture(scope="module")
def book():
    """The outlines of the book, which can be read only if they are right."""
    return read_outlines(ROOMS, contents())


def test_every_chapter_has_an_outline(book):
    assert list(book) == list(contents())


# Outcomes of the first edition that its lessons teach and no exercise asks for.
IDLE = {("srf_ucrl", "calm"), ("the_violation_lower_bound", "read")}


def test_every_outcome_is_practised(book):
    idle = {
        (slug, key)
        for slug, outline in book.items()
        for key in outline.outcomes
        if key not in {exercise.outcome for exercise in outline.exercises}
    }
    assert idle == IDLE, "give each outcome an exercise, and take it off the list"


def test_a_path_can_be_walked_without_leaving_it(book):
    for path in READING_PATHS:
        walked = set()
        for slug, outline in book.items():
            if path.key in outline.paths:
                assert set(outline.needs) <= walked, f"{path.name} lacks what {slug} needs"
                walked.add(slug)
        assert walked, f"{path.name} is empty"
        assert path.key != "course" or walked == set(book)


def test_the_paths_take_as_long_as_they_promise():
    """Four hours for an engineer, two lectures of at most an hour and a half: without proofs."""
    rows = tool.rows()
    hours = {
        path.key: sum(row.minutes for row in rows if path.key in row.outline.paths) / 60
        for path in READING_PATHS
    }
    assert 3 <= hours["engineer"] <= 4.5
    assert 1.5 <= hours["lectures"] <= 3


@each("path", READING_PATHS)
def test_a_path_says_whom_it_is_for_and_what_it_gives(path):
    assert path.audience.endswith(".") and path.audience.startswith("For ")
    assert not path.afterwards.endswith(".") and path.afterwards[0].islower()
