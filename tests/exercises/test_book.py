"""The book and the library agree: every exercise has a statement, a stub and a solution that works.

In a chapter an exercise is a directive ``:::{exercise} title`` with ``:label: ex-4-2``, followed
by a stub, a code cell that ends in ``check("4.2", name)``, and by ``:::{solution} ex-4-2``, folded,
whose last block of Python defines that name with nothing at hand but what the chapter imports.
"""

import ast
import re
from dataclasses import dataclass

import notebooks
import pytest

import safeteach as st
from safeteach.exercises import all_exercises
from safeteach.exercises.checking import CHAPTERS

DIRECTIVE = re.compile(
    r"^(?P<fence>:{3,})\{(?P<kind>exercise|solution)\}(?P<title>[^\n]*)\n"
    r"(?P<body>.*?)^(?P=fence)[ ]*$",
    re.MULTILINE | re.DOTALL,
)
CHECK = re.compile(r"""^check\((["'])(?P<number>[\d.]+)\1, (?P<name>\w+)\)$""")
PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Stub:
    """A code cell that ends in a call of ``check``."""

    name: str
    said: str


@dataclass(frozen=True)
class Chapter:
    """The exercises of a notebook, each by its number."""

    statements: dict[str, str]
    stubs: dict[str, Stub]
    solutions: dict[str, str]
    quizzes: list[str]
    imports: str


def number_of(label):
    return label.removeprefix("ex-").replace("-", ".")


def read(notebook):
    statements, stubs, solutions, quizzes, imports = {}, {}, {}, [], []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            for directive in DIRECTIVE.finditer(cell.source):
                body = directive["body"]
                if directive["kind"] == "solution":
                    assert ":class: dropdown" in body, f"{directive['title']} is not folded"
                    number, where = number_of(directive["title"].strip()), solutions
                else:
                    label = re.search(r"^:label: (ex-\d+-\d+)$", body, re.MULTILINE)
                    assert label, f"the exercise {directive['title']!r} has no label ex-n-m"
                    number, where = number_of(label[1]), statements
                assert number not in where, f"{number} is there twice"
                where[number] = body
        elif cell.source.strip():
            imports += [
                ast.unparse(node)
                for node in ast.parse(cell.source).body
                if isinstance(node, ast.Import | ast.ImportFrom)
            ]
            last = cell.source.rstrip().split("\n")[-1]
            if found := CHECK.match(last):
                assert found["number"] not in stubs, f"two stubs for {found['number']}"
                said = "".join(o.data["text/plain"] for o in cell.outputs if "data" in o)
                stubs[found["number"]] = Stub(found["name"], said)
            quizzes += re.findall(r"""^quiz\(["'](\d+)["']\)$""", last)
    return Chapter(statements, stubs, solutions, quizzes, "\n".join(imports))


BOOK = {path.stem: read(notebooks.read(path)) for path in notebooks.find()}
STATEMENTS = {number: c.statements[number] for c in BOOK.values() for number in c.statements}
STUBS = {number: c.stubs[number] for c in BOOK.values() for number in c.stubs}
SOLUTIONS = {number: c.solutions[number] for c in BOOK.values() for number in c.solutions}
IN_LIBRARY = all_exercises()


def test_no_number_is_used_in_two_chapters():
    assert len(STATEMENTS) == sum(len(chapter.statements) for chapter in BOOK.values())
    assert len(STUBS) == sum(len(chapter.stubs) for chapter in BOOK.values())


def test_there_is_something_to_check():
    assert {f"4.{n}" for n in range(1, 7)} <= set(STUBS)


def test_every_statement_has_a_solution():
    assert set(STATEMENTS) == set(SOLUTIONS)


def test_every_checker_has_a_stub_and_every_stub_a_checker_and_a_statement():
    assert set(STUBS) == set(IN_LIBRARY)
    assert set(STUBS) <= set(STATEMENTS)


@pytest.mark.parametrize("name", BOOK)
def test_the_numbers_of_a_chapter_run_from_one(name):
    numbers = list(BOOK[name].statements)
    chapter = numbers[0].split(".")[0] if numbers else ""
    assert numbers == [f"{chapter}.{n}" for n in range(1, len(numbers) + 1)]
    assert list(BOOK[name].stubs) == [n for n in numbers if n in BOOK[name].stubs]


def test_every_quiz_is_asked_once():
    asked = [number for chapter in BOOK.values() for number in chapter.quizzes]
    assert sorted(asked) == sorted(CHAPTERS)


@pytest.mark.parametrize("number", STUBS)
def test_the_stub_is_no_answer_yet(number):
    assert STUBS[number].said.startswith(f"Exercise {number}: no answer yet.")


@pytest.mark.parametrize("number", STUBS)
def test_the_solution_is_right(number):
    blocks = PYTHON.findall(SOLUTIONS[number])
    assert blocks, f"the solution of {number} has no Python"
    namespace = {}
    exec(next(c.imports for c in BOOK.values() if number in c.stubs), namespace)
    exec(compile(blocks[-1], f"<solution of {number}>", "exec"), namespace)
    name = STUBS[number].name
    assert name in namespace, f"the solution of {number} does not define {name}"
    verdict = st.check(number, namespace[name])
    assert verdict.status == "right", verdict.text


def test_the_solution_is_not_in_the_statement_or_the_hint():
    for number, exercise in IN_LIBRARY.items():
        if number in SOLUTIONS:
            code = PYTHON.findall(SOLUTIONS[number])[-1]
            lines = {line.strip() for line in code.split("\n") if len(line.strip()) > 25}
            told = f"{exercise.asks}\n{exercise.hint}"
            assert not any(line in told for line in lines)
