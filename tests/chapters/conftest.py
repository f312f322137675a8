"""The statements of the book change seldom: the inner loop leaves their tests out."""

from pathlib import Path

import pytest

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items):
    for item in items:
        if HERE in item.path.parents and item.path.name.startswith("test_statements"):
            item.add_marker(pytest.mark.slow)
