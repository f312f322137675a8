"""What follows from the files of a room is in its notebook, and lessons are measured rightly."""

import contents as tool
import deriving
import measuring
import notebooks
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from safeteach.classroom.outlines import ExerciseOutline, Outline

FIRST = Outline(
    needs=(),
    background="a little Python",
    paths=("course",),
    outcomes={"count": "count the steps, one by one", "prove": r"prove that $\Uc_1$ is empty"},
    exercises=(
        ExerciseOutline("by-hand", 1, 8, 1, "count"),
        ExerciseOutline("enough", 3, 45, 4, "prove"),
    ),
)
SIZE = measuring.Size(0, 0, 0, 0, 0, 0)


def row(path="book/a/first-steps", outline=FIRST, title="First steps", proof_minutes=5):
    return tool.Row(path, title, outline, SIZE, 20, proof_minutes, 0)


STATEMENTS = """\
## Exercises

:::{exercise} By hand
:label: ex-first-steps-by-hand

How many?
:::

:::{solution} ex-first-steps-by-hand
Three.
:::

::::{exercise} Is it enough? ★ · 3 min
:class: wide
:label: ex-first-steps-enough

Prove it.
::::
"""


def small():
    """A notebook with a title, a lesson and two exercises."""
    cells = [
        new_markdown_cell("# First steps\n\n**In this chapter** you walk.", id="a"),
        new_code_cell("1 + 1", id="b"),
        new_markdown_cell(STATEMENTS, id="c"),
    ]
    return notebooks.normalise(new_notebook(cells=cells))


def derived(notebook, told=None):
    return deriving.derived(notebook, told or row(), {"first_steps": row()})


def test_the_head_follows_the_title_and_says_all_in_a_line_each():
    opening, head, *_ = derived(small()).cells
    assert opening.source.startswith("# First steps")
    assert head.metadata.tags == ["head"] and head.id == "head"
    assert head.source.split("\n") == [
        r"- **You will be able to** count the steps, one by one; and prove that $\mathcal{U}_1$ is "
        "empty.",
        "- **You need** a little Python.",
        "- **Time**: about 20 minutes to read, 5 more for the proofs, 55 more for the exercises.",
        "- **In a hurry?** Our {doc}`shorter selections of chapters </book/reading-paths>` leave "
        "it out.",
    ]


@pytest.mark.parametrize(
    ("paths", "said"),
    [
        (("course",), " leave it out."),
        (("engineer", "lectures", "course"), " contain it."),
        (("lectures", "course"), " for two lectures contains it."),
    ],
)
def test_the_head_says_whether_the_shorter_selections_contain_the_chapter(paths, said):
    assert deriving.shortcuts(paths).endswith(said)


@pytest.mark.parametrize(
    ("needs", "background", "said"),
    [
        (("first",), "", "{doc}`One </a/first>`."),
        (("first", "second"), "", "{doc}`One </a/first>` and {doc}`Two </a/second>`."),
        (("first",), "sets", "{doc}`One </a/first>`; also sets."),
    ],
)
def test_what_is_needed_is_linked_by_its_title(needs, background, said):
    others = {"first": row("a/first", title="One"), "second": row("a/second", title="Two")}
    outline = Outline(needs, background, ("engineer", "course"), FIRST.outcomes, FIRST.exercises)
    lines = deriving.head(row(outline=outline), others).split("\n")
    assert lines[1] == f"- **You need** {said}"
    assert lines[3].endswith(" for the engineer contains it.")


def test_a_chapter_without_proofs_gives_them_no_time():
    told = deriving.head(row(proof_minutes=0), {})
    assert "about 20 minutes to read, 55 more for the exercises." in told


def test_titles_say_stars_and_minutes_and_nothing_else_changes():
    before, after = small(), derived(small())
    assert after.cells[3].source == STATEMENTS.replace("By hand\n", "By hand ★ · 8 min\n").replace(
        "★ · 3 min", "★★★ · 45 min"
    )
    assert [cell for cell in after.cells if cell.id != "head"][:2] == before.cells[:2]


def test_what_is_derived_stays_when_it_is_derived_again():
    once = derived(small())
    assert derived(once) == once
    assert notebooks.normalise(once) == once


def test_new_data_replaces_the_old():
    shorter = row(outline=Outline((), "nothing else", ("course",), FIRST.outcomes, FIRST.exercises))
    again = derived(derived(small()), shorter)
    assert again == derived(small(), shorter) != derived(small())


def test_the_notebooks_hold_what_their_rooms_say():
    stale = [
        str(file.relative_to(tool.ROOT))
        for file, text in deriving.derive().items()
        if file.read_text("utf-8") != text
    ]
    assert stale == [], "run `make contents`"


def test_every_exercise_of_the_book_shows_its_effort():
    for path in tool.chapters(tool.read_toc()):
        titles = tool.names(tool.ROOT / f"{path}.ipynb", "markdown", r"^:{3,}\{exercise\}(.*)$")
        assert len(titles) == len(tool.named(path)["exercises"])
        assert [title for title in titles if not deriving.EFFORT.search(title)] == [], path


# Counting, on notebooks of few words.

PROOF = "Then:\n\n:::{prf:proof}\nIt is so,\n$$\nx = y + z\n$$\nfor a reason.\n:::\n\nGood."
NESTED = "::::{prf:proof}\nOne.\n:::{note}\nTwo.\n:::\nThree.\n::::\nAfter."


@pytest.mark.parametrize(
    ("text", "words", "proof_words"),
    [
        ("One two\nthree.", 3, 0),
        ("The sum\n$$\na + b\n$$\nis $c + d$.", 6, 0),
        (PROOF, 2, 6),
        (NESTED, 1, 5),
        ("Before.\n\n## Exercises\n\nNot counted.", 1, 0),
        ("Before.\n\n## ☆ For the curious\n\nNot counted.", 1, 0),
        ("A word about ## Exercises here.", 6, 0),
    ],
)
def test_words_are_counted_without_proofs_and_displays(text, words, proof_words):
    size = measuring.measure([new_markdown_cell(text)])
    assert (size.words, size.proof_words) == (words, proof_words)


def test_lines_are_visible_or_folded_and_end_with_the_lesson():
    cells = [
        new_code_cell("a = 1\nb = 2"),
        new_code_cell("c = 3\n\nd = 4", metadata={"tags": ["other"]}),
        *(new_code_cell("e\n" * 4, metadata={"tags": [tag]}) for tag in sorted(measuring.FOLDED)),
        new_markdown_cell("## Exercises"),
        new_code_cell("f\n" * 40),
    ]
    size = measuring.measure(cells)
    assert (size.visible, size.folded, size.longest) == (5, 16, 3)


def test_the_paper_is_found_where_it_is_mentioned():
    text = "The paper's proof, as printed; this paper; it prints, and imprints; on paper."
    assert measuring.measure([new_markdown_cell(text)]).mentions == 3


def test_minutes_follow_the_formula():
    size = measuring.Size(3_600, 900, 150, 1_000, 20, 0)
    assert (size.minutes, size.proof_minutes) == (50, 20)
    assert measuring.Size(10, 0, 0, 0, 0, 0).minutes == 5, "whatever there is takes a moment"
    assert measuring.Size(10, 0, 0, 0, 0, 0).proof_minutes == 0


def test_the_head_does_not_change_the_minutes_that_it_says():
    cells = derived(small()).cells
    assert len(measuring.without_head(cells)) == len(cells) - 1
    assert measuring.measure(measuring.without_head(cells)) == measuring.measure(small().cells)


LIMITS = {"words": 2_000, "visible": 150, "longest": 25}


@pytest.mark.parametrize("name", LIMITS)
def test_what_is_within_the_contract_is_not_marked(name):
    most = measuring.Size(2_000, 10_000, 150, 100, 25, 99)
    assert measuring.excesses(most, 15.0) == {}
    over = measuring.Size(**{**vars(most), name: LIMITS[name] + 1, "folded": 99})
    assert list(measuring.excesses(over)) == [name]


def test_folded_lines_and_seconds_have_limits_too():
    size = measuring.Size(0, 0, 150, 101, 0, 0)
    assert measuring.excesses(size, 15.2) == {
        "folded": "251 lines of code with the folded ones", "seconds": "15 seconds to run",
    }  # fmt: skip


def test_the_table_has_a_line_for_each_chapter_and_marks_what_is_too_much():
    size = measuring.Size(2_345, 10, 40, 5, 12, 7)
    told = tool.Row("book/a/first-steps", "First steps", FIRST, size, 15, 5, 3, 1.25)
    head, line, last, *_ = tool.table([told, row(title="Others")]).split("\n")
    assert head.split() == list(tool.COLUMNS)
    assert line.split() == [
        "1", "First", "steps", "2,345!", "40", "5", "12", "3", "7", "1.2", "15", "5", "55",
        "1", "0", "1",
    ]  # fmt: skip
    assert "2 Others" in last
    assert len(last.split()) == len(line.split()) - 2, "nobody knows how long it takes to run"
