"""Each slip of the errata page fails as the paper prints it and passes as the book corrects it."""

import importlib
import itertools
import re
import tomllib
from pathlib import Path

import paper
import pytest

ROOT = Path(__file__).parents[2]
APPENDIX = ROOT / "book" / "appendix"
MODULES = sorted(path.stem for path in Path(__file__).parent.glob("[!t]*.py"))
SLIPS = tomllib.loads((APPENDIX / "errata.toml").read_text("utf-8"))["slip"]
FIELDS = {"id", "where", "of", "printed", "holds", "why", "status", "uses", "check"}


def name_of(pair):
    """The id that a class belongs to: LeafSteps to leaf-steps."""
    return re.sub(r"(?<=.)(?=[A-Z])", "-", pair.__name__).lower()


PAIRS = {
    (name, name_of(pair)): pair
    for name in MODULES
    for pair in vars(importlib.import_module(f"errata.{name}")).values()
    if hasattr(pair, "printed")
}


@pytest.mark.parametrize("pair", PAIRS.values(), ids=[name for _, name in PAIRS])
def test_the_printed_fails_and_the_corrected_passes(pair):
    assert not pair.printed()
    assert pair.corrected()


def test_every_entry_has_its_check_and_every_check_its_entry():
    checked = [(slip["check"], slip["id"]) for slip in SLIPS if slip["check"] != paper.UNCHECKED]
    assert sorted(checked) == sorted(PAIRS)


def test_few_entries_are_words_alone_and_these_say_why():
    unchecked = [slip for slip in SLIPS if slip["check"] == paper.UNCHECKED]
    assert len(unchecked) <= 4
    assert all(slip["reason"] for slip in unchecked)


@pytest.mark.parametrize("slip", SLIPS, ids=[slip["id"] for slip in SLIPS])
def test_an_entry_is_complete(slip):
    assert set(slip) - {"reason"} == FIELDS
    assert all(slip[field] for field in FIELDS - {"uses"})
    chapters = {path.stem.replace("-", "_") for path in (ROOT / "book").glob("[!.]*/*.ipynb")}
    assert set(slip["uses"]) <= chapters


def test_entries_of_one_status_stand_together_in_the_order_of_the_page():
    assert [status for status, _ in itertools.groupby(slip["status"] for slip in SLIPS)] == list(
        paper.GROUPS
    )
    assert len({slip["id"] for slip in SLIPS}) == len(SLIPS)


def test_the_page_says_which_paper_it_is_about_and_shows_the_entries():
    page = (APPENDIX / "errata.md").read_text("utf-8")
    assert re.search(r"^> `[0-9a-f]{64}`$", page, re.MULTILINE)
    assert "Provably Safe Reinforcement Learning with Step-wise Violation Constraints" in page
    assert "```{errata}\n```" in page


def test_what_the_map_points_to_is_in_the_book():
    groups = tomllib.loads((APPENDIX / "paper.toml").read_text("utf-8"))["group"]
    book = "".join(path.read_text("utf-8") for path in (ROOT / "book").glob("[!.]*/*.ipynb"))
    labels = set(re.findall(r":label: ([\w-]+)", book))
    things = [thing for group in groups for thing in group["thing"]]
    named = {label for thing in things for label in thing.get("proved", ())}
    assert named <= labels
