"""Answers to try on a chapter's exercises: all right ones pass and no wrong one does."""

import importlib

import pytest

from safeteach.classroom.checking.verdicts import check_exercise


def collect():
    """Right and wrong answers by exercise, both empty, and a decorator to add to each."""

    def adding_to(answers):
        return lambda name: lambda answer: answers.setdefault(name, []).append(answer) or answer

    right, wrong = {}, {}
    return right, wrong, adding_to(right), adding_to(wrong)


def said_of(chapter, name, answer):
    """What a chapter says of an answer, on one line."""
    return " ".join(chapter.check(name, answer).text.split())


class TriedAnswers:
    """The tests of a chapter's exercises.

    A subclass gives the chapter's slug and its answers by the names of the exercises.
    """

    slug: str
    right: dict
    wrong: dict

    def pytest_generate_tests(self, metafunc):
        for fixture, answers in (("right_answer", self.right), ("wrong_answer", self.wrong)):
            if fixture in metafunc.fixturenames:
                cases = [(name, one) for name, several in answers.items() for one in several]
                metafunc.parametrize(fixture, cases)

    def test_right_answers_are_right(self, right_answer):
        verdict = check_exercise(self.slug, *right_answer)
        assert verdict.status == "right", verdict

    @pytest.mark.slow  # together, since there are hundreds
    def test_wrong_answers_are_not(self, wrong_answer):
        verdict = check_exercise(self.slug, *wrong_answer)
        assert verdict.status == "not yet", verdict
        assert "Hint: " in verdict.text

    def test_every_exercise_is_tried_with_enough_answers(self):
        exercises = importlib.import_module(f"safeteach.chapters.{self.slug}.exercises").EXERCISES
        assert self.right.keys() == self.wrong.keys() == exercises.keys()
        assert all(len(self.right[name]) >= 2 for name in exercises)
        assert all(len(self.wrong[name]) >= 3 for name in exercises)
