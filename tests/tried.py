"""Answers to try on a chapter's exercises: all right ones pass, no wrong one, no stub does."""

import pytest

from safeteach.exercises import all_exercises, check
from safeteach.exercises.kinds import Function


class TriedAnswers:
    """The tests of a chapter's exercises; ``tests/exercises/conftest.py`` hands them the cases.

    A subclass gives the chapter's number and its answers by the numbers of the exercises.
    """

    chapter: str
    right: dict
    wrong: dict

    def test_right_answers_are_right(self, right_answer):
        verdict = check(*right_answer)
        assert verdict.status == "right", verdict

    @pytest.mark.slow  # together, since there are hundreds
    def test_wrong_answers_are_not(self, wrong_answer):
        verdict = check(*wrong_answer)
        assert verdict.status == "not yet", verdict
        assert "Hint: " in verdict.text

    def test_a_stub_is_no_answer(self):
        def stub(*_arguments): ...

        for number, exercise in self.exercises().items():
            answer = stub if isinstance(exercise, Function) else ...
            assert check(number, answer).status == "no answer yet"

    def test_every_exercise_is_tried_with_enough_answers(self):
        exercises = self.exercises()
        assert self.right.keys() == self.wrong.keys() == exercises.keys()
        assert all(len(self.right[number]) >= 2 for number in exercises)
        assert all(len(self.wrong[number]) >= 3 for number in exercises)

    def exercises(self):
        return {n: e for n, e in all_exercises().items() if n.split(".")[0] == self.chapter}
