"""What a check draws anew is drawn from one seed, and no busy machine makes an answer late.

A test that is about seeds or about limits says others.
"""

import pytest

from safeteach.classroom.checking import isolation, verdicts


@pytest.fixture(autouse=True)
def one_seed_and_all_the_time(monkeypatch):
    monkeypatch.setattr(verdicts, "new_seed", lambda: 0)
    monkeypatch.setattr(isolation, "LIMIT", 500.0)
