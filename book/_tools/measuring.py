"""How long a lesson is, in words, lines and minutes, and what the contract of a chapter allows.

The lesson is what stands before the exercises.  A proof is read by who wants it, so its words are
counted apart; display formulas are not counted at all.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from nbformat import NotebookNode

HEAD = "head"  # the tag of the cell that says what a chapter is for
FOLDED = {"hide-cell", "hide-input", "remove-cell", "remove-input"}
END = re.compile(r"^## (Exercises|☆)", re.MULTILINE)
PROOF = re.compile(r"(:{3,})\{prf:proof\}(?P<body>.*?)\n\1", re.DOTALL)
DISPLAY = re.compile(r"\$\$.*?\$\$", re.DOTALL)
PAPER = re.compile(r"\bthe paper\b|\bprinted\b|\bprints\b", re.IGNORECASE)

WORDS_A_MINUTE = 100
LINES_A_MINUTE = 10  # of code that is visible
PROOF_WORDS_A_MINUTE = 45
FORMULA = (
    f"{WORDS_A_MINUTE} words or {LINES_A_MINUTE} visible lines of code a minute, "
    f"{PROOF_WORDS_A_MINUTE} words of a proof a minute, the minutes that each exercise states; "
    f"in steps of five"
)
STEP = 5


@dataclass(frozen=True)
class Limits:
    """What a lesson of the second edition may have.

    Attributes
    ----------
    words, visible, lines, longest
        Words, visible lines of code, these with the folded ones, visible lines of one cell.
    seconds
        In which the whole notebook runs.
    """

    words: int = 2_000
    visible: int = 150
    lines: int = 250
    longest: int = 25
    seconds: float = 15


LIMITS = Limits()


@dataclass(frozen=True)
class Size:
    """What there is to read in a lesson.

    Attributes
    ----------
    words, proof_words
        Without proofs and display formulas, and of the proofs.
    visible, folded, longest
        Lines of code that show, lines that do not, and visible lines of the longest cell.
    mentions
        How often it speaks of the paper.
    """

    words: int
    proof_words: int
    visible: int
    folded: int
    longest: int
    mentions: int

    @property
    def minutes(self) -> int:
        """To read it without proofs."""
        return rounded(self.words / WORDS_A_MINUTE + self.visible / LINES_A_MINUTE)

    @property
    def proof_minutes(self) -> int:
        """To read the proofs, if there are any."""
        return rounded(self.proof_words / PROOF_WORDS_A_MINUTE)


def measure(cells: Iterable[NotebookNode]) -> Size:
    r"""Measure the lesson of a notebook.

    Examples
    --------
    >>> from nbformat.v4 import new_code_cell, new_markdown_cell
    >>> measure([new_markdown_cell("Here the paper prints a sum."), new_code_cell("1 + 1"),
    ...          new_markdown_cell("So.\n\n## Exercises"), new_code_cell("2")])
    Size(words=7, proof_words=0, visible=1, folded=0, longest=1, mentions=2)
    """
    words = proof_words = mentions = folded = 0
    visible = [0]
    for cell in lesson(cells):
        if cell.cell_type == "markdown":
            rest = DISPLAY.sub(" ", PROOF.sub(" ", cell.source))
            proofs = (DISPLAY.sub(" ", proof["body"]) for proof in PROOF.finditer(cell.source))
            words += len(rest.split())
            proof_words += sum(len(proof.split()) for proof in proofs)
            mentions += len(PAPER.findall(cell.source))
        elif FOLDED.intersection(cell.metadata.get("tags", ())):
            folded += len(cell.source.splitlines())
        else:
            visible.append(len(cell.source.splitlines()))
    return Size(words, proof_words, sum(visible), folded, max(visible), mentions)


def lesson(cells: Iterable[NotebookNode]) -> Iterator[NotebookNode]:
    """The cells before the exercises, and what stands before them in their own cell."""
    for cell in cells:
        end = END.search(cell.source) if cell.cell_type == "markdown" else None
        if end:
            yield NotebookNode(cell, source=cell.source[: end.start()])
            return
        yield cell


def without_head(cells: Iterable[NotebookNode]) -> list[NotebookNode]:
    """The cells that somebody wrote: the head says the minutes, and cannot be a part of them."""
    return [cell for cell in cells if HEAD not in cell.metadata.get("tags", ())]


def excesses(size: Size, seconds: float | None = None) -> dict[str, str]:
    """What goes beyond the contract, by the name of the number, in words.

    Examples
    --------
    >>> excesses(Size(2_670, 0, 120, 20, 30, 0))
    {'words': '2,670 words', 'longest': 'a cell of 30 lines'}
    """
    lines = size.visible + size.folded
    found = {
        "words": (size.words > LIMITS.words, f"{size.words:,} words"),
        "visible": (size.visible > LIMITS.visible, f"{size.visible} visible lines of code"),
        "folded": (lines > LIMITS.lines, f"{lines} lines of code with the folded ones"),
        "longest": (size.longest > LIMITS.longest, f"a cell of {size.longest} lines"),
        "seconds": ((seconds or 0) > LIMITS.seconds, f"{seconds or 0:.0f} seconds to run"),
    }
    return {name: said for name, (over, said) in found.items() if over}


def rounded(minutes: float) -> int:
    """Minutes in steps of five; what takes any time takes one step.

    Examples
    --------
    >>> [rounded(minutes) for minutes in (0, 1, 12, 52)]
    [0, 5, 10, 50]
    """
    return max(STEP, STEP * round(minutes / STEP)) if minutes else 0
