"""Is an answer right?  Kinds of exercises, the worlds that they try, quizzes, verdicts.

The statement of an exercise stands in the book, its stub in the notebook, its checker in the room
of the chapter.
"""
