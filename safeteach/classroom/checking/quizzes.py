"""Questions with choices that are answered in the page itself, with no kernel and no script.

A question is a native group of radio buttons.  Each choice has a comment of its own, and the
style sheet shows the comment of the one that is checked.
"""

from __future__ import annotations

import html
import re
import textwrap
import tomllib
from dataclasses import dataclass

__all__ = ["Choice", "Question", "Quiz", "read_questions"]

LETTERS = "abcdefgh"


@dataclass(frozen=True)
class Choice:
    r"""One choice of a question.

    Attributes
    ----------
    text : str
        In it ``\(…\)`` is mathematics and backticks are code.
    comment : str
        What to say to a reader who takes it, in the same markup.
    right : bool
    """

    text: str
    comment: str
    right: bool = False


@dataclass(frozen=True)
class Question:
    """A question with choices, one of them right.

    Attributes
    ----------
    text : str
        In the markup of a choice.
    choices : tuple of Choice
    """

    text: str
    choices: tuple[Choice, ...]


@dataclass(frozen=True)
class Quiz:
    r"""The questions of a chapter; a notebook and a page show them as a form.

    Attributes
    ----------
    chapter : str
        The number of the chapter.
    questions : tuple of Question

    Examples
    --------
    >>> choices = Choice("no", "Count."), Choice("yes", "So it is.", right=True)
    >>> Quiz("1", (Question(r"Is \(1 < 2\)?", choices),))
    1. Is \(1 < 2\)?
       a) no
       b) yes
    """

    chapter: str
    questions: tuple[Question, ...]

    def __repr__(self) -> str:
        lines = []
        for number, question in enumerate(self.questions, start=1):
            lines += _wrap(f"{number}. ", question.text)
            for letter, choice in zip(LETTERS, question.choices, strict=False):
                lines += _wrap(f"   {letter}) ", choice.text)
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        forms = [
            _fieldset(f"quiz-{self.chapter}-{number}", number, question)
            for number, question in enumerate(self.questions, start=1)
        ]
        # The class makes MathJax look inside the output of a cell.
        return f'<div class="quiz tex2jax_process">{STYLE}{"".join(forms)}</div>'


def read_questions(text: str) -> tuple[Question, ...]:
    """The questions of a ``quiz.toml``; how a text is broken into lines says nothing.

    Examples
    --------
    >>> read_questions('''
    ... [[question]]
    ... text = "Is 1 < 2?"
    ...
    ... [[question.choice]]
    ... text = "Yes."
    ... comment = "So it is."
    ... right = true
    ... ''')
    (Question(text='Is 1 < 2?', choices=(Choice(text='Yes.', comment='So it is.', right=True),)),)
    """

    def line(text: str) -> str:
        return " ".join(text.split())

    return tuple(
        Question(
            line(question["text"]),
            tuple(
                Choice(line(choice["text"]), line(choice["comment"]), choice.get("right", False))
                for choice in question["choice"]
            ),
        )
        for question in tomllib.loads(text)["question"]
    )


def _wrap(mark: str, text: str) -> list[str]:
    return textwrap.wrap(
        text, 79, initial_indent=mark, subsequent_indent=" " * len(mark), break_long_words=False
    )


# Text keeps the page's own colour, so that it is as legible in the dark as in the light; the theme
# puts a cell's HTML on a light card in the dark, and the last rule takes this one off the card.
STYLE = """<style>
.quiz .question {
  border: 1px solid var(--pst-color-border, var(--jp-border-color1, #8888));
  border-radius: .4em; margin: 0 0 1em; padding: .7em 1em;
}
.quiz fieldset { border: 0; margin: 0; padding: 0; min-width: 0; }
.quiz legend {
  float: none; width: auto; margin: 0 0 .4em; padding: 0; font-size: 1em; font-weight: 600;
  line-height: 1.5;
}
.quiz .choice { display: grid; grid-template-columns: auto 1fr; gap: 0 .6em; padding: .25em 0; }
.quiz .choice input { margin: .3em 0 0; width: 1.05em; height: 1.05em; }
.quiz .choice label { cursor: pointer; margin: 0; }
.quiz .comment { grid-column: 2; }
.quiz .comment p {
  margin: .3em 0; padding: .1em 0 .1em .7em; border-left: .3em solid #d55e00;
}
.quiz .comment p.right { border-left-color: #009e73; }
.quiz input:checked ~ .comment p { display: block !important; }
html[data-theme="dark"] .bd-content .cell_output .text_html:has(.quiz) {
  background: none !important; color: inherit !important; padding: 0;
}
</style>"""


def _fieldset(name: str, number: int, question: Question) -> str:
    choices = "".join(
        _choice(name, letter, choice)
        for letter, choice in zip(LETTERS, question.choices, strict=False)
    )
    legend = f"<legend>{number}. {_markup(question.text)}</legend>"
    return f'<div class="question"><fieldset>{legend}{choices}</fieldset></div>'


def _choice(name: str, letter: str, choice: Choice) -> str:
    kind, word = ("right", "Right.") if choice.right else ("wrong", "No.")
    # The comment is a live region, so that a screen reader speaks it when it appears.  It is hidden
    # by its attribute: JupyterLab takes the style off a notebook that was not run here yet, and
    # would else show every comment; it would drop the attribute, too, without a value.
    return (
        f'<div class="choice"><input type="radio" name="{name}" id="{name}-{letter}">'
        f'<label for="{name}-{letter}">{_markup(choice.text)}</label>'
        f'<div class="comment" aria-live="polite"><p class="{kind}" hidden="hidden">'
        f"<strong>{word}</strong> {_markup(choice.comment)}</p></div></div>"
    )


def _markup(text: str) -> str:
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text, quote=False))
