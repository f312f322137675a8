"""Quizzes: well-formed, answerable with no kernel, and not to be guessed by position."""

import re

import pytest
from bs4 import BeautifulSoup

import safeteach as st
from safeteach.classroom.checking.quizzes import LETTERS, Choice, Question, Quiz
from safeteach.classroom.contents import chapter_number, contents

QUIZZES = {chapter: st.quiz(chapter) for chapter in map(chapter_number, contents())}


@pytest.mark.parametrize("chapter", QUIZZES)
class TestEveryQuiz:
    def test_has_three_questions_with_one_right_choice_each(self, chapter):
        questions = QUIZZES[chapter].questions
        assert len(questions) >= 3
        for question in questions:
            assert sum(choice.right for choice in question.choices) == 1
            assert 2 <= len(question.choices) <= len(LETTERS)
            assert all(choice.text and choice.comment for choice in question.choices)

    def test_the_right_choice_is_not_always_in_the_same_place(self, chapter):
        places = [[c.right for c in q.choices].index(True) for q in QUIZZES[chapter].questions]
        assert len(set(places)) > 1

    def test_the_form_is_accessible_and_needs_no_script(self, chapter):
        html = QUIZZES[chapter]._repr_html_()
        soup = BeautifulSoup(html, "html.parser")
        assert "tex2jax_process" in soup.div["class"]
        assert not soup.select("script, link, [src], [href], [onclick]")
        assert "http" not in html
        ids = [tag["id"] for tag in soup.select("[id]")]
        assert len(ids) == len(set(ids))
        for number, (question, field) in enumerate(
            zip(QUIZZES[chapter].questions, soup.select("fieldset"), strict=True), start=1
        ):
            assert field.legend.get_text().startswith(f"{number}. ")
            radios = field.select("input[type=radio]")
            assert len(radios) == len(question.choices)
            assert {radio["name"] for radio in radios} == {f"quiz-{chapter}-{number}"}
            for choice, radio in zip(question.choices, radios, strict=True):
                assert field.select_one(f'label[for="{radio["id"]}"]').get_text()
                comment = radio.parent.select_one(".comment[aria-live=polite] > p[hidden]")
                assert comment["class"] == ["right" if choice.right else "wrong"]
                assert comment.strong.get_text() == ("Right." if choice.right else "No.")

    def test_the_text_lists_questions_and_choices_and_no_comment(self, chapter):
        text = " ".join(repr(QUIZZES[chapter]).split())
        for question in QUIZZES[chapter].questions:
            assert " ".join(question.text.split()) in text
            for choice in question.choices:
                assert " ".join(choice.text.split()) in text
                assert " ".join(choice.comment.split()) not in text

    def test_mathematics_is_closed_and_plain(self, chapter):
        for question in QUIZZES[chapter].questions:
            texts = [question.text]
            texts += [part for choice in question.choices for part in (choice.text, choice.comment)]
            for text in texts:
                assert text.count(r"\(") == text.count(r"\)")
                # The book's own macros are unknown to JupyterLab.
                assert not re.search(r"\\(Uc|St|Ac|PP|EE|Asafe|Pol)\b|\$", text)


def test_the_same_quiz_is_the_same_html():
    assert st.quiz("4")._repr_html_() == st.quiz("4")._repr_html_()


def test_markup_is_escaped():
    choices = Choice(r"\(a < b\) & `c < d`", "1 < 2", right=True), Choice("no", "no")
    html = Quiz("0", (Question("<b>?</b>", choices),))._repr_html_()
    assert r"\(a &lt; b\) &amp; <code>c &lt; d</code>" in html
    assert "&lt;b&gt;?&lt;/b&gt;" in html
    assert "<b>" not in html


@pytest.mark.parametrize("chapter", ["99", 4, None])
def test_an_unknown_quiz_is_an_error_that_lists_them(chapter):
    with pytest.raises(ValueError, match=r"there is no quiz .*; the quizzes are .*4"):
        st.quiz(chapter)
