"""Jobs for the tests of the runner: they note that they ran, fail, or die."""

import multiprocessing
import os
import struct
import tempfile
import time
from pathlib import Path

import numpy as np

from safeteach.running.jobs import Job


def note(folder, n):
    """Leave a file behind, so that whoever counts them knows how often this has run."""
    with tempfile.NamedTemporaryFile(dir=folder, prefix=f"{n}-", delete=False):
        return {"n": n, "square": np.array([n * n])}


def key(n):
    return f"job-{n:024x}"


def noting(folder, numbers):
    return [Job(f"job {n}", note, (str(folder), n), key(n)) for n in numbers]


def notes(folder):
    """Which jobs have run, as often as they have."""
    return sorted(int(file.name.partition("-")[0]) for file in Path(folder).iterdir())


def never(*_):
    raise AssertionError("it was run")


def fail(n):
    raise ZeroDivisionError(f"a mistake in {n}")


class Odd(Exception):
    """An error that cannot be unpickled."""

    def __init__(self, one, other):
        super().__init__(f"{one} and {other}")


def fail_oddly():
    raise Odd("one", "other")


def die(*_):
    os._exit(3)


def die_in_the_middle():
    """Announce a thousand bytes to the parent, send four, and die."""
    jobs, _lifeline = multiprocessing.current_process()._args
    os.write(jobs.fileno(), struct.pack("!i", 1000) + b"half")
    os._exit(3)


def answer_oddly():
    return Odd("one", "other")


def die_once(file):
    """Die, but for the second time."""
    if not Path(file).exists():
        Path(file).touch()
        os._exit(3)
    return {"survived": 1}


def wait_for(condition, what, process=None):
    """Wait until something holds; an error if it never does."""
    deadline = time.monotonic() + 120
    while not condition():
        assert process is None or process.poll() is None, f"it ended before {what}"
        assert time.monotonic() < deadline, f"never {what}"
        time.sleep(0.002)
