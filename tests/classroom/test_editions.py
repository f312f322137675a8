"""What an edition leaves out and adds, and that nothing of a solution is overlooked."""

import doctest
import json
import shutil
import zipfile
from collections import Counter
from pathlib import Path

import contents
import editions
import leaks
import notebooks
import pytest
import solutions
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

TEXT = "The pond is as deep as the longest pole that somebody lost in it."
CODE = "depth = max(pole.length for pole in lost)"
STATEMENT = ":::{exercise} Depth\n:label: ex-pond-depth\n\nHow deep is the pond?\n:::"
SOLUTION = f"""\
:::{{solution}} ex-pond-depth
:class: dropdown

{TEXT}
That is $x$, see {{prf:ref}}`thm-pole`: enough.

```python
lost = st.poles(seed=0)
{CODE}  # metres
```
:::"""
RUBRIC = "1 point: says that no pole can be longer than the pond is deep.\nNone: a guess.\n"
PROOF = "Let a longer pole be given and drop it into the middle of the pond."
PAGE = Path("book/model/pond")


def pond(*more):
    """A chapter with one exercise."""
    said = new_output("execute_result", {"text/plain": "no answer yet"}, execution_count=1)
    stub = new_code_cell("depth = ...", execution_count=1, outputs=[said])
    cells = [new_markdown_cell("# The pond"), new_markdown_cell(STATEMENT), stub]
    return new_notebook(cells=[*cells, new_markdown_cell(SOLUTION, id="c3"), *more])


@pytest.fixture
def root(tmp_path):
    """A book of one chapter with its room, and a library of one file."""
    files = {
        f"{PAGE}.ipynb": notebooks.dump(pond()),
        "safeteach/chapters/pond/exercises.py": "EXERCISES = {}\n",
        "safeteach/chapters/pond/rubrics.toml": f"[depth]\nrubric='''{RUBRIC}'''\nproof='{PROOF}'",
        "safeteach/poles.py": "def poles(seed):\n    return []\n",
    }
    for name, text in files.items():
        path = tmp_path / "root" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return tmp_path / "root"


@pytest.mark.parametrize("module", [editions, leaks, solutions], ids=lambda module: module.__name__)
def test_the_examples_run(module):
    assert doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE).failed == 0


def test_a_student_gets_all_but_the_solutions():
    notebook = pond(new_markdown_cell("## Quiz"))
    sources = [cell.source for cell in editions.without_solutions(notebook).cells]
    assert sources == ["# The pond", STATEMENT, "depth = ...", "## Quiz"]
    (stub,) = [c for c in editions.without_solutions(notebook).cells if c.cell_type == "code"]
    assert stub.outputs == notebook.cells[2].outputs
    assert len(notebook.cells) == 5, "the book's own notebook has changed"


@pytest.mark.parametrize(
    "source",
    [
        f"{SOLUTION}\n\n## Quiz",
        f"Read this.\n\n{SOLUTION}",
        f"{SOLUTION}\n\n{SOLUTION}",
        SOLUTION.removesuffix(":::"),
        ":::{solution-start} ex-pond-depth\n:::",
        "- a list\n\n  :::{solution} ex-pond-depth\n  :::",
    ],
)
def test_a_solution_that_cannot_be_left_out_alone_is_an_error(source):
    with pytest.raises(ValueError, match="a solution is not alone in its cell"):
        editions.without_solutions(new_notebook(cells=[new_markdown_cell(source)]))


def test_an_instructor_gets_a_rubric_behind_every_solution(root):
    edited = editions.with_rubrics(pond(), solutions.rubrics_of(PAGE, root))
    assert [cell.source for cell in edited.cells[:4]] == [cell.source for cell in pond().cells]
    rubric = edited.cells[4]
    assert rubric.id == "c3-rubric"
    assert rubric.source == (
        "::::{admonition} Rubric\n:class: rubric\n\n"
        "- 1 point: says that no pole can be longer than the pond is deep.\n- None: a guess.\n::::"
        f"\n\n::::{{admonition}} A model proof\n:class: rubric\n\n{PROOF}\n::::"
    )
    assert json.loads(notebooks.dump(edited))["cells"][4]["cell_type"] == "markdown"


def test_an_exercise_without_a_rubric_is_named(root):
    sentence = (
        "The exercise 'depth' of pond has no rubric: write one into "
        "safeteach/chapters/pond/rubrics.toml."
    )
    assert list(solutions.lacking(PAGE, ["ex-pond-depth"], root)) == []
    file = root / "safeteach" / "chapters" / "pond" / "rubrics.toml"
    for text in ("", "[depth]\nproof = 'It is.'", "[depth]\nrubric = ' '", "[width]\nrubric = 'x'"):
        file.write_text(text, "utf-8")
        assert list(solutions.lacking(PAGE, ["ex-pond-depth"], root)) == [sentence]
    file.unlink()
    assert list(solutions.lacking(PAGE, ["ex-pond-depth"], root)) == [sentence]


def test_what_only_solutions_and_rubrics_say_is_secret(root):
    secrets = {(secret.kind, secret.text.strip()) for secret in leaks.secrets_of(root)}
    assert secrets == {
        ("prose", "the pond is as deep as the longest pole that somebody lost in it"),
        ("code", "depth=max(pole.lengthforpoleinlost)"),
        ("code", "lost=st.poles(seed=0)depth=max(pole.lengthforpoleinlost)"),
        ("prose", "says that no pole can be longer than the pond is deep"),
        ("prose", "let a longer pole be given and drop it into the middle of the pond"),
    }


@pytest.mark.parametrize("place", ["lesson", "output", "library", "checker"])
def test_what_students_read_anyway_is_not_secret(root, place):
    code = next(secret for secret in leaks.secrets_of(root) if secret.kind == "code")
    if place == "library":
        (root / "safeteach" / "poles.py").write_text(f"def depth():\n    {CODE}\n", "utf-8")
    elif place == "checker":
        (root / "safeteach" / "chapters" / "pond" / "exercises.py").write_text(CODE, "utf-8")
    else:
        said = [new_output("stream", name="stdout", text=CODE)] if place == "output" else []
        cell = new_code_cell("1" if said else f"if lost:\n    {CODE}", outputs=said)
        (root / f"{PAGE}.ipynb").write_text(notebooks.dump(pond(cell)), "utf-8")
    assert (code in leaks.secrets_of(root)) == (place == "checker")


def test_of_a_rubric_what_the_checker_says_too_is_not_secret(root):
    checker = root / "safeteach" / "chapters" / "pond" / "exercises.py"
    checker.write_text(f"# {RUBRIC}\n# {TEXT}", "utf-8")
    secrets = [secret.text for secret in leaks.secrets_of(root)]
    assert not any("no pole can be longer" in text for text in secrets)
    assert any("longest pole that somebody lost" in text for text in secrets)


def coloured(code):
    """Code as a page shows it."""
    return " ".join(f"<span class='n'>{part}</span>" for part in code.split(" "))


PLANTED = {
    "html/pond.html": f"<pre>{coloured(CODE)}</pre>",
    "html/print.html": TEXT.replace("as deep as", "<em>as deep</em>\nas"),
    "html/rubric.html": "<li>1 point: says that no pole can be longer than the pond is deep.</li>",
    "html/_sources/pond.md": SOLUTION,
    "html/_sources/pond.ipynb": notebooks.dump(pond()),
    "html/searchindex.js": f'Search.setIndex({{"titles": ["{TEXT}"]}})',
    "notebooks/model/pond.ipynb": notebooks.dump(new_notebook(cells=[new_markdown_cell(TEXT)])),
    "notebooks/model/out.ipynb": notebooks.dump(
        new_notebook(cells=[new_code_cell("1", outputs=[new_output("stream", text=CODE)])])
    ),
    "dist/pond.whl/safeteach/exercises.py": f"def _oracle(lost):\n    {CODE.replace(' ', '  ')}",
    "dist/pond.whl/safeteach/rubrics.toml": f"proof = '''\n{PROOF}\n'''",
    "unknown.bin": b"\xff\xfe",
}


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_line_is_found_wherever_it_is(root, tmp_path, name):
    built = tmp_path / "built"
    content = PLANTED[name] if isinstance(PLANTED[name], bytes) else PLANTED[name].encode()
    archive, _, inside = name.partition(".whl/")
    path = built / (f"{archive}.whl" if inside else name)
    path.parent.mkdir(parents=True)
    if inside:
        with zipfile.ZipFile(path, "w") as wheel:
            wheel.writestr(inside, content)
    else:
        path.write_bytes(content)
    (built / "clean.html").write_text("<p>How deep is the pond?</p>", "utf-8")
    (built / "picture.png").write_bytes(b"\x89PNG\xff")
    found = leaks.search(built, leaks.secrets_of(root))
    assert found and all(sentence.startswith(name) for sentence in found)


def test_where_nothing_is_planted_nothing_is_found(root, tmp_path):
    built = tmp_path / "built"
    built.mkdir()
    student = editions.without_solutions(pond())
    (built / "pond.ipynb").write_text(notebooks.dump(student), "utf-8")
    (built / "pond.html").write_text("<p>The pond is deep. lost = st.poles(seed=0)</p>", "utf-8")
    assert leaks.search(built, leaks.secrets_of(root)) == []


@pytest.fixture(scope="module")
def secrets():
    """All secrets of the real book."""
    return leaks.secrets_of(editions.ROOT)


def test_something_is_looked_for_of_every_solution(secrets):
    counted = Counter(secret.label for secret in secrets)
    for path in map(Path, contents.chapters(contents.read_toc())):
        cells = notebooks.read(editions.ROOT / f"{path}.ipynb").cells
        solved = [label for cell in cells if (label := solutions.label_of(cell))]
        assert solved and all(counted[label] for label in solved)


def test_the_library_says_no_secret(secrets, tmp_path):
    """Also where a checker knows the answer: it says it otherwise."""
    ignored = shutil.ignore_patterns("__pycache__", "rubrics.toml")
    shutil.copytree(editions.ROOT / "safeteach", tmp_path / "safeteach", ignore=ignored)
    assert leaks.search(tmp_path, secrets) == []
