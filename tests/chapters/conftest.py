"""Exercises are judged in the process of the test; that they are safe in another is tested once."""

import pytest

from safeteach.classroom.checking import isolation, verdicts


@pytest.fixture(autouse=True)
def in_this_process(request, monkeypatch):
    """As in a browser: quicker, and coverage sees what the checkers do.  The seed is one."""
    if request.path.name == "test_exercises.py":
        monkeypatch.setattr(isolation, "way", lambda: "here")
        monkeypatch.setattr(verdicts, "new_seed", lambda: 0)
