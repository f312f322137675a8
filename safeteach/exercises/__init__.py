"""Exercises with their checkers, and quizzes: one file a chapter.

The statement of an exercise stands in the book, its stub in the notebook, its checker here.
"""

from safeteach.exercises.checking import Verdict, all_exercises, check, quiz

__all__ = ["Verdict", "all_exercises", "check", "quiz"]
