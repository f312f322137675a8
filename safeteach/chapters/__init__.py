"""One room a chapter: its exercises, its quiz, its figures and their controls.

A chapter is found by one name: ``book/…/danger-ahead.ipynb``, ``chapters/danger_ahead/`` here and
``tests/chapters/danger_ahead/``.  Its notebook opens the room with one line,

>>> from safeteach.chapters import danger_ahead as chapter
>>> chapter.check("by-hand", ...)  # doctest: +ELLIPSIS
Exercise ...: no answer yet.
Asked for: the sizes (|U_1|, |U_2|, |U_3|, |U_4|) on the ice corridor with H = 4.
"""
