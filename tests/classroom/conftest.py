"""What a check draws anew is drawn from one seed, unless a test says another."""

import pytest

from safeteach.classroom.checking import verdicts


@pytest.fixture(autouse=True)
def one_seed(monkeypatch):
    monkeypatch.setattr(verdicts, "new_seed", lambda: 0)
