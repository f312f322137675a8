"""The book and its rooms agree: every exercise has a statement, a stub and a solution that works.

In the chapter *danger-ahead* the exercise *recursion* is a directive ``:::{exercise} title`` with
``:label: ex-danger-ahead-recursion``, followed by a stub, a code cell that ends in
``chapter.check("recursion", name)``, and by ``:::{solution} ex-danger-ahead-recursion``, folded,
whose last block of Python defines that name with nothing at hand but what the chapter imports.
"""

import ast
import functools
import importlib
import re
from dataclasses import dataclass
from pathlib import Path

import contents as tool
import notebooks
import pytest
from looping import each
from nbformat.v4 import new_code_cell

import safeteach
from safeteach.classroom.checking.verdicts import check_exercise
from safeteach.classroom.contents import contents, exercise_number

DIRECTIVE = re.compile(
    r"^(?P<fence>:{3,})\{(?P<kind>exercise|solution)\}(?P<title>[^\n]*)\n"
    r"(?P<body>.*?)^(?P=fence)[ ]*$",
    re.MULTILINE | re.DOTALL,
)
CHECK = re.compile(r'^chapter\.check\("(?P<exercise>[a-z0-9-]+)", (?P<name>\w+)\)$')
ROOMS = Path(safeteach.__file__).parent / "chapters"
PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Stub:
    """A code cell that ends in a call of ``check``, and what it printed."""

    name: str
    said: str


@dataclass(frozen=True)
class Chapter:
    """What a notebook says of its exercises, by their names, and how it reaches its room."""

    statements: dict[str, str]
    stubs: dict[str, Stub]
    solutions: dict[str, str]
    quizzes: int
    imports: list[str]


def read(slug, cells):
    statements, stubs, solutions, quizzes, imports = {}, {}, {}, 0, []
    prefix = f"ex-{slug.replace('_', '-')}-"
    for cell in cells:
        if cell.cell_type == "markdown":
            for directive in DIRECTIVE.finditer(cell.source):
                title, body = directive["title"].strip(), directive["body"]
                if directive["kind"] == "solution":
                    assert ":class: dropdown" in body, f"{title} is not folded"
                    label, where = title, solutions
                else:
                    found = re.search(r"^:label: (\S+)$", body, re.MULTILINE)
                    assert found, f"the exercise {title!r} has no label"
                    label, where = found[1], statements
                assert label.startswith(prefix), f"the label {label} should begin with {prefix}"
                name = label.removeprefix(prefix)
                assert name not in where, f"{label} is there twice"
                where[name] = body
        elif cell.source.strip():
            imports += [
                ast.unparse(node)
                for node in ast.parse(cell.source).body
                if isinstance(node, ast.Import | ast.ImportFrom)
            ]
            last = cell.source.rstrip().split("\n")[-1]
            if found := CHECK.match(last):
                assert found["exercise"] not in stubs, f"two stubs for {found['exercise']}"
                said = "".join(o.data["text/plain"] for o in cell.outputs if "data" in o)
                stubs[found["exercise"]] = Stub(found["name"], said)
            quizzes += last == "chapter.quiz()"
    return Chapter(statements, stubs, solutions, quizzes, imports)


PATHS = {tool.slug(path): tool.ROOT / f"{path}.ipynb" for path in tool.chapters(tool.read_toc())}
BOOK = {slug: read(slug, notebooks.read(path).cells) for slug, path in PATHS.items()}
CASES = [(slug, name) for slug, chapter in BOOK.items() for name in chapter.stubs]


def room(slug):
    return importlib.import_module(f"safeteach.chapters.{slug}")


def test_every_chapter_has_a_room_and_every_room_a_chapter():
    rooms = {path.name for path in ROOMS.iterdir() if (path / "__init__.py").is_file()}
    assert rooms == set(BOOK), "a chapter of _toc.yml and its folder in safeteach/chapters differ"
    unnumbered = ("how-to", "appendix")
    chapters = {path for path in notebooks.find() if path.parent.name not in unnumbered}
    assert set(PATHS.values()) == chapters, "a notebook is not in a numbered part"


def test_the_derived_contents_are_those_of_the_book():
    assert tool.FILE.read_text("utf-8") == tool.derive(tool.read_toc()), "run `make contents`"


def test_a_chapter_that_moves_changes_its_numbers():
    toc = tool.read_toc()
    numbered = [part for part in toc["parts"] if part.get("numbered")]
    numbered[0]["chapters"].append(numbered[1]["chapters"].pop(0))
    moved = tool.chapters(toc)
    numbered[0]["chapters"].insert(0, numbered[0]["chapters"].pop())
    assert sorted(tool.chapters(toc)) == sorted(moved) != moved
    assert tool.derive(toc) != tool.FILE.read_text("utf-8")


@each("slug", BOOK)
def test_a_notebook_reaches_its_room_by_one_import(slug):
    ours = [line for line in BOOK[slug].imports if "safeteach" in line]
    assert ours.count(f"from safeteach.chapters import {slug} as chapter") == 1
    assert not [line for line in ours if re.search(r"chapters\.|classroom", line)]


@each("slug", BOOK)
def test_every_statement_has_a_solution_and_every_checker_a_stub(slug):
    chapter = BOOK[slug]
    assert list(chapter.statements) == list(chapter.solutions) == contents()[slug]
    assert list(chapter.stubs) == [name for name in contents()[slug] if name in chapter.stubs]
    assert set(chapter.stubs) == set(room(slug).exercises.EXERCISES)
    assert len(chapter.stubs) >= 5


@each("slug", BOOK)
def test_a_statement_or_solution_shares_its_cell_with_nothing(slug):
    """So that an edition leaves out a solution, and nothing else."""
    for cell in notebooks.read(PATHS[slug]).cells:
        found = [one[0] for one in DIRECTIVE.finditer(cell.source) if cell.cell_type == "markdown"]
        assert found in ([], [cell.source.strip()])


@each("slug", BOOK)
def test_its_quiz_is_asked_once(slug):
    assert BOOK[slug].quizzes == 1


@each(("slug", "name"), CASES)
def test_the_stub_is_no_answer_yet(slug, name):
    number = exercise_number(slug, name)
    assert BOOK[slug].stubs[name].said.startswith(f"Exercise {number}: no answer yet.")


@pytest.mark.slow
@pytest.mark.parametrize(("slug", "name"), CASES)
def test_the_solution_is_right(slug, name):
    chapter = BOOK[slug]
    blocks = PYTHON.findall(chapter.solutions[name])
    assert blocks, "the solution has no Python"
    namespace = {}
    exec("\n".join(chapter.imports), namespace)
    exec(compile(blocks[-1], f"<solution of {name}>", "exec"), namespace)
    answer = chapter.stubs[name].name
    assert answer in namespace, f"the solution does not define {answer}"
    verdict = check_exercise(slug, name, namespace[answer])
    assert verdict.status == "right", verdict.text


@each(("slug", "name"), CASES)
def test_the_solution_is_not_in_the_statement_or_the_hint(slug, name):
    code = PYTHON.findall(BOOK[slug].solutions[name])[-1]
    lines = {line.strip() for line in code.split("\n") if len(line.strip()) > 25}
    exercise = room(slug).exercises.EXERCISES[name]
    told = f"{exercise.asks}\n{exercise.hint}"
    assert not any(line in told for line in lines)


def bare(function):
    """What a function does, whatever it and its variables are called."""
    lines = function.body if isinstance(function.body, list) else [ast.Return(function.body)]
    if ast.get_docstring(ast.Module(lines, [])) is not None:
        lines = lines[1:]
    code = ast.parse(ast.unparse(ast.Module(lines, [])))
    names = [one.arg for one in ast.walk(function.args) if isinstance(one, ast.arg)]
    for node in ast.walk(code):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.append(node.id)
    letters = {name: f"v{i}" for i, name in enumerate(dict.fromkeys(names))}
    for node in ast.walk(code):
        if isinstance(node, ast.Name):
            node.id = letters.get(node.id, node.id)
        elif isinstance(node, ast.Constant) and type(node.value) is int:
            node.value = float(node.value)
    return ast.unparse(code)


@functools.cache  # what all rooms share is read once
def functions(source):
    """The functions in a source, with and without a name, by what they do."""
    tree = ast.parse(source)
    return {bare(n): n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.Lambda)}


@each("slug", BOOK)
def test_no_function_of_the_rooms_is_a_solution_letter_for_letter(slug):
    ours = {}
    for path in [*(ROOMS / slug).glob("*.py"), *(ROOMS.parent / "classroom").rglob("*.py")]:
        ours |= dict.fromkeys(functions(path.read_text("utf-8")), path.name)
    for solution in BOOK[slug].solutions.values():
        for block in PYTHON.findall(solution):
            for code in functions(block).keys() & ours.keys():
                assert len(code) < 20, f"{ours[code]} has the solution: {code}"


def test_the_same_function_under_other_names_is_found():
    published = "def share(a, b):\n    rest = b - a\n    return min(1, rest / b)"
    oracle = (
        "def _p(x: float, y: float) -> float:\n    'Say p.'\n"
        "    d = y - x\n    return min(1.0, d / y)"
    )
    assert functions(published).keys() == functions(oracle).keys()
    assert functions("lambda x, y: min(1, y - x)").keys() == functions(
        "def f(a, b):\n    return min(1, b - a)"
    ).keys()
    assert functions(published).keys() != functions(oracle.replace("min", "max")).keys()


# Numbers that somebody typed: "chapter 7", "exercise 4.2", "ex-4-2", "4.2" in quotes.  A chapter or
# section that belongs to another text is named with that text.
TYPED = re.compile(
    r"\b([Cc]hapters?|[Ee]xercises?) \d+(\.\d+)?|\bex-\d+-\d+|check\([\"']\d+\.\d+[\"']"
)
OTHERS = ("in its Chapter",)


def typed(text):
    """The numbers of our own chapters and exercises that stand in a text."""
    for other in OTHERS:
        text = re.sub(rf"{other} \d+", other, text)
    return [found[0] for found in TYPED.finditer(text)]


@each("slug", BOOK)
def test_no_number_of_a_chapter_or_exercise_is_typed(slug):
    sources = [cell.source for cell in notebooks.read(PATHS[slug]).cells]
    sources += [path.read_text("utf-8") for path in sorted((ROOMS / slug).glob("*.*"))]
    assert [number for source in sources for number in typed(source)] == []


def test_typed_numbers_are_found():
    assert typed("see exercise 4.2 and Chapter 7, `check(\"4.2\", f)`, {ref}`ex-4-2`") == [
        "exercise 4.2", "Chapter 7", 'check("4.2"', "ex-4-2",
    ]  # fmt: skip
    assert typed("finite horizons in its Chapter 4") == []


def test_a_stub_of_another_form_is_not_read_as_one():
    cells = [new_code_cell('chapter.check("4.2", answer)'), new_code_cell("check('mask', f)")]
    assert read("danger_ahead", cells).stubs == {}
