"""The page *Events and lemmas* agrees with the chapters and with their tests."""

import ast
import re

from classroom.statements import (
    NAMED,
    PROVED,
    ROOT,
    broken_links,
    parts,
    prose,
    statements,
    tables,
    uses,
)
from looping import each

PAGE = ROOT / "book/appendix/events-and-lemmas.md"
TEXT = PAGE.read_text()
CHAPTERS = {
    chapter: [row for row in rows if row[0].startswith("{prf:ref}`")]
    for chapter, rows in tables(TEXT, level=3).items()
}
LUCK = tables(TEXT, level=2)["What each theorem asks of luck"]
EVENTS = [
    row
    for rows in tables(TEXT, level=2).values()
    for row in rows
    if row[0].startswith(r"$\mathcal{E}")
]
# What a proof leans on without a name.
SILENT = {
    ("thm-who-can-stay-safe", "cor-feasible"),
    ("lem-hoeffding", "prop-doors"),
    ("thm-violation-gap", "cor-for-ever"),
    ("lem-tree", "cor-violation-lower"),
    ("lem-unflagged", "thm-output-safe"),
    ("lem-error-below-w", "thm-output-optimal"),
    ("cor-lean", "cor-no-second-term"),
    ("thm-sample-complexity", "cor-no-second-term"),
    ("thm-von-neumann", "thm-safe-minimax"),
    ("thm-safe-minimax", "thm-game-optimism"),
    ("thm-game-regret", "cor-game-regret-sparse"),
}
CLAIMS = {label: said for label, said in statements().items() if said.kind in PROVED}
EVENT = re.compile(r"\\mathcal\{E\}_(?:\{\\\w+(?:\{\w+\}|\s*1)\}|\w)'?")


def test_every_link_leads_somewhere():
    assert broken_links(PAGE, TEXT) == []


def test_the_sections_are_the_parts_and_chapters_of_the_book():
    titles = [*tables(TEXT, level=2)]
    assert titles == ["What each theorem asks of luck", *parts()]
    pages = [page for pages in parts().values() for page in pages]
    assert re.findall(r"^Proved in \{doc\}`/(\S+)`", TEXT, re.MULTILINE) == pages


def test_every_statement_stands_there_once_in_order_by_its_title():
    rows = [row[0] for rows in CHAPTERS.values() for row in rows]
    assert rows == [f"{{prf:ref}}`{label}` *{said.title}*" for label, said in CLAIMS.items()]


def test_what_uses_a_statement_is_what_names_it_and_a_few_that_do_not():
    named = {(a, b) for a, b in uses() if a in CLAIMS and b in CLAIMS}
    assert not SILENT & named, "this is not silent"
    told = {
        (NAMED.search(row[0])[1], label)
        for rows in CHAPTERS.values()
        for row in rows
        for label in NAMED.findall(row[3])
    }
    assert told == named | SILENT


@each("page", [page for pages in parts().values() for page in pages])
def test_the_tests_that_hold_a_statement_exist(page):
    room = page.split("/")[-1].replace("-", "_")
    title = re.search("^# (.*)$", prose(page), re.MULTILINE)[1]
    there = {
        node.name
        for path in (ROOT / "tests/chapters" / room).glob("test_statements*.py")
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.FunctionDef)
    }
    assert CHAPTERS[title]
    for _statement, _says, tests, _used in CHAPTERS[title]:
        for name in tests.split("; "):
            assert "test_" + re.sub(r"\W", "_", name) in there, name


def events_of(text):
    """The events that a text names, in one spelling."""
    return {re.sub(r"\s", "", name) for name in EVENT.findall(text)}


def test_every_event_of_the_chapters_stands_there_once():
    named = set().union(*(events_of(said.text) for said in statements().values()))
    told = [event for row in EVENTS for event in events_of(row[0])]
    assert sorted(told) == sorted(named | {r"\mathcal{E}_5"})  # the paper's, which no proof needs


@each("row", EVENTS)
def test_an_event_is_proved_and_used_where_it_is_named(row):
    event, _says, _probability, proved = row
    used = re.findall(rf"^\* {re.escape(event)}: (.*)$", TEXT, re.MULTILINE)
    assert {*NAMED.findall(proved), *NAMED.findall("".join(used))} == {
        label for label, said in statements().items() if events_of(event) <= events_of(said.text)
    }


def test_the_probability_of_an_event_is_that_of_its_statement():
    """δ or half of it, in the words of the lemma; in the proof of a theorem, summed up there."""
    for event, _says, probability, proved in EVENTS:
        if proved.startswith("{prf:ref}"):
            text = statements()[NAMED.search(proved)[1]].text
            half = r"1 - \delta/2" in text
            assert probability == (r"$1 - \tfrac12\delta$" if half else r"$1 - \delta$")
            assert half or r"probability at least $1 - \delta$" in text, event
        else:
            assert probability == r"$1 - \delta$", event


@each("row", [row for row in LUCK if "{prf:ref}" in row[0]])
def test_a_theorem_fails_as_often_as_its_events_together(row):
    """And where it says itself how often, it says the same."""
    theorems, events, probability = row
    halves = sum(1 if event == r"$\mathcal{E}_4$" else 2 for event in events.split(", "))
    deltas = {2: "", 3: r"\tfrac32", 4: "2", 5: r"\tfrac52", 8: "4", 10: "5"}[halves]
    assert probability == rf"$1 - {deltas}\delta$"
    for label in NAMED.findall(theorems):
        said = re.findall(r"probability at least \$1 - ([^$]*)\$", statements()[label].text)
        spelled = {re.sub(r"\\t?frac|\s", "", one) for one in said} - {r"\delta"}
        assert spelled <= {re.sub(r"\\t?frac|\s", "", rf"{deltas}\delta")}, label
