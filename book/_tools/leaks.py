"""Look for solutions, rubrics and model proofs in what students get.

What is looked for are *secrets*: the lines of code and the stretches of prose that only these say.
Code is compared without white space and prose as lower-case words, so that neither the markup of a
page nor another break of lines hides them.  No secret is

- what is too short to tell: a line of code of fewer than 24 characters, unless it is a whole
  block, and prose of fewer than 6 words between two formulas, references or ends of sentences;
- what students read anyway, because it stands in another cell of some notebook (a statement, a
  stub, the lesson, a stored output);
- what the library says that anyone may import, ``safeteach/`` without ``classroom/`` and
  ``chapters/``;
- of a rubric, what the checkers say too: it repeats what is asked for.

For solutions the rooms of the chapters are no excuse: a checker knows the answer, and has to say it
otherwise.
"""

import functools
import html
import re
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import nbformat
import notebooks
import solutions
from nbformat import NotebookNode

CODE_CHARACTERS, PROSE_WORDS = 24, 6
BOOKS_OWN = {"chapters", "classroom"}
# Files that hold no text of ours.  Any other that is not text is reported: nobody looked into it.
NO_TEXT = {".inv", ".mo", ".npz", ".png", ".ttf", ".woff", ".woff2"}

BLOCK = re.compile(r"^(?P<fence>`{3,})\S*\n(?P<body>.*?)^(?P=fence)[ ]*$", re.MULTILINE | re.DOTALL)
DIRECTIVE = re.compile(r"^:{3,}.*$|^:[a-z-]+:.*$", re.MULTILINE)
# Where a page says something else than its source, and where a sentence ends.
BREAK = re.compile(
    r"\$\$.*?\$\$|\$[^$]*\$|\{[\w:-]+\}`[^`]*`|\]\([^)]*\)|[.!?:;](?=\s|$)",
    re.MULTILINE | re.DOTALL,
)
COMMENT = re.compile(r"(^|\s+)#.*$")
TAG = re.compile(r"<[^<>]*>")
WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True)
class Secret:
    """What only a solution, a rubric or a model proof says.

    Attributes
    ----------
    label
        Of the exercise that it belongs to.
    kind
        How it is looked for, as "code" or as "prose".
    text
        In the form in which it is looked for.
    """

    label: str
    kind: str
    text: str


@dataclass(frozen=True)
class Searched:
    """A text in the two forms in which secrets are looked for.

    Attributes
    ----------
    code
        Without white space.
    prose
        As lower-case words.

    Examples
    --------
    >>> Searched.of("Stay *there*:  U[h-1]")
    Searched(code='Stay*there*:U[h-1]', prose=' stay there u h 1 ')
    """

    code: str
    prose: str

    @classmethod
    def of(cls, text: str) -> "Searched":
        """Bring a text into these forms."""
        return cls(squash(text), words(text))

    def says(self, kind: str, text: str) -> bool:
        """Whether something of a kind stands in it."""
        whole, known = (
            (self.code, self._code_words) if kind == "code" else (self.prose, self._prose_words)
        )
        return inner_words(text) <= known and text in whole  # most texts lack a word

    @functools.cached_property
    def _code_words(self) -> frozenset[str]:
        return frozenset(WORD.findall(self.code))

    @functools.cached_property
    def _prose_words(self) -> frozenset[str]:
        return frozenset(self.prose.split())


@functools.cache
def inner_words(text: str) -> frozenset[str]:
    """The words inside a text: whatever holds it has these between other signs than letters.

    >>> sorted(inner_words("total=hidden.sum()"))
    ['hidden']
    """
    return frozenset(WORD.findall(text)[1:-1])


def squash(code: str) -> str:
    """Code without white space."""
    return "".join(code.split())


def words(prose: str) -> str:
    """Prose as its words, in lower case, with a space on either side."""
    return f" {' '.join(WORD.findall(prose.lower()))} "


def said(markdown: str) -> Iterator[tuple[str, str]]:
    """Yield what a text says that is long enough to be told: its kind and its form.

    Examples
    --------
    >>> for kind, text in said('''The sum of the $c_h$ is at most five in each episode.
    ... ```python
    ... hidden = np.maximum(costs - tau, 0)  # of an episode
    ... total = hidden.sum()
    ... ```'''):
    ...     print(f"{kind}: {text.strip()}")
    prose: is at most five in each episode
    code: hidden=np.maximum(costs-tau,0)
    code: hidden=np.maximum(costs-tau,0)total=hidden.sum()
    """
    for stretch in BREAK.split(DIRECTIVE.sub("", BLOCK.sub(".", markdown))):
        if len((text := words(stretch)).split()) >= PROSE_WORDS:
            yield "prose", text
    for block in BLOCK.finditer(markdown):
        lines = [squash(COMMENT.sub("", line)) for line in block["body"].split("\n")]
        yield from (("code", line) for line in lines if len(line) >= CODE_CHARACTERS)
        yield "code", "".join(lines)


def shown(cell: NotebookNode) -> str:
    """All that a stored cell shows: its source and its outputs."""
    outputs = cell.get("outputs", ())
    texts = [cell.source, *(output.get("text", "") for output in outputs)]
    texts += [str(value) for output in outputs for value in output.get("data", {}).values()]
    return "\n".join(texts)


def secrets_of(root: Path) -> list[Secret]:
    """All secrets of a book, each once."""
    solved: list[tuple[str, str]] = []
    graded: list[tuple[str, str]] = []
    told: list[str] = []
    for path in sorted((root / "book").glob("[!.]*/*.ipynb")):
        for cell in notebooks.read(path).cells:
            if label := solutions.label_of(cell):
                solved.append((label, cell.source))
            else:
                told.append(shown(cell))
        for label, rubric in solutions.rubrics_of(path, root).items():
            graded += [(label, text) for text in rubric.values()]
    home = root / "safeteach"
    told += [
        path.read_text("utf-8")
        for path in sorted(home.rglob("*.py"))
        if path.relative_to(home).parts[0] not in BOOKS_OWN
    ]
    checkers = [path.read_text("utf-8") for path in sorted(home.glob("chapters/*/exercises.py"))]
    found = [*_unsaid(solved, told), *_unsaid(graded, [*told, *checkers])]
    return list(dict.fromkeys(found))


def _unsaid(texts: Iterable[tuple[str, str]], told: Iterable[str]) -> Iterator[Secret]:
    """Yield what texts say, each with its label, and what is told does not."""
    known = Searched.of("\n".join(told))
    for label, text in texts:
        for kind, form in said(text):
            if not known.says(kind, form):
                yield Secret(label, kind, form)


def files_in(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield every file below a folder, and those in its wheels, with what is in it."""
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        name = path.relative_to(folder).as_posix()
        if path.suffix == ".whl":
            with zipfile.ZipFile(path) as wheel:
                for inside in wheel.namelist():
                    yield f"{name}/{inside}", wheel.read(inside)
        else:
            yield name, path.read_bytes()


def readable(name: str, content: bytes) -> str:
    """The text of a file as somebody reads it, and as it is stored where that may differ.

    Examples
    --------
    >>> readable("page.html", b"<p><span>a</span> &lt; <b>b</b></p>").splitlines()
    ['<p><span>a</span> &lt; <b>b</b></p>', 'a < b']
    """
    text = content.decode("utf-8")
    if name.endswith(".html"):
        return f"{text}\n{html.unescape(TAG.sub('', text))}"
    if name.endswith(".ipynb"):
        return "\n".join(map(shown, nbformat.reads(text, as_version=4).cells))
    return text


def search(folder: Path, secrets: Iterable[Secret]) -> list[str]:
    """Say which secrets stand in the files below a folder, a sentence for each place."""
    secrets = list(secrets)
    found = []
    for name, content in files_in(folder):
        if Path(name).suffix in NO_TEXT:
            continue
        try:
            searched = Searched.of(readable(name, content))
        except UnicodeDecodeError:
            found.append(f"{name} is no text, and nobody has looked into it")
            continue
        found += [
            f"{name} says of the exercise {secret.label}: {secret.text.strip()}"
            for secret in secrets
            if searched.says(secret.kind, secret.text)
        ]
    return found
