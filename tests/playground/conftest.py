"""The playground's modules, asked through node: the one that Playwright brings along."""

import json
import subprocess
from pathlib import Path

import pytest
from playwright._impl._driver import compute_driver_executable

FOLDER = Path(__file__).resolve().parents[2] / "book" / "playground"
ANSWER = Path(__file__).with_name("answer.js")


@pytest.fixture(scope="session")
def ask():
    """Return what answers a list of questions, each a kind and what it is about."""
    node, _ = compute_driver_executable()

    def answer(*questions):
        done = subprocess.run(
            [node, ANSWER, FOLDER],
            input=json.dumps(questions),
            capture_output=True,
            text=True,
            check=False,
        )
        assert not done.stderr, done.stderr
        return json.loads(done.stdout)

    return answer
