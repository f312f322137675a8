"""What is kept is whole, is found again, and is made by one at a time."""

import resource
import subprocess
import sys
import threading
from dataclasses import dataclass

import numpy as np
import pytest

from safeteach.running import keeping
from safeteach.running.exploring import Exploration
from safeteach.running.keeping import Shelf

KEY, OTHER = (f"thing-{digit * 24}" for digit in "0f")


@dataclass
class Thing:
    number: int
    name: str
    truth: bool
    row: np.ndarray
    nothing: None = None


def names(folder):
    return sorted(file.name for file in folder.iterdir())


def test_what_is_kept_is_found_with_its_types_and_its_bits(tmp_path):
    shelf = Shelf(tmp_path / "new" / "folder")
    row = np.array([0.1, -0.0, np.nan])
    assert shelf.find(KEY, Thing) is None
    shelf.claim(KEY).keep(Thing(3, "three", True, row))
    found = shelf.find(KEY, Thing)
    assert (found.number, found.name, found.truth, found.nothing) == (3, "three", True, None)
    assert type(found.number) is int and type(found.truth) is bool
    assert found.row.tobytes() == row.tobytes()
    assert names(shelf.folder) == [f"{KEY}.npz"]
    shelf.claim(OTHER).keep({"row": row})
    assert [*shelf.find(OTHER, dict)] == ["row"]
    shelf.claim(KEY).keep(Exploration(2, False, row, row))
    assert shelf.find(KEY, Exploration).planned is None


def test_one_at_a_time_has_the_right_to_make_a_thing(tmp_path):
    one, other = Shelf(tmp_path), Shelf(tmp_path)
    claim = one.claim(KEY)
    assert other.claim(KEY) is None and one.claim(KEY) is None
    other.claim(OTHER).release()
    claim.release()
    claim.release()  # a second time is nothing
    claim = other.claim(KEY)
    claim.keep({"n": 1})
    claim.release()
    assert one.find(KEY, dict) == {"n": 1}
    assert names(tmp_path) == [f"{KEY}.npz"]


@pytest.mark.parametrize("kept", [True, False])
def test_who_waits_gets_the_right_when_the_other_has_finished_or_given_up(
    tmp_path, kept, monkeypatch
):
    shelf, got, opened = Shelf(tmp_path), [], threading.Event()
    claim = shelf.claim(KEY)
    lock = keeping.fcntl.flock
    monkeypatch.setattr(keeping.fcntl, "flock", lambda *args: (opened.set(), lock(*args)))
    waiting = threading.Thread(target=lambda: got.append(shelf.claim(KEY, wait=True)))
    waiting.start()
    opened.wait()  # it has the file open that is about to be renamed or removed
    claim.keep({"n": 1}) if kept else claim.release()
    waiting.join()
    assert (shelf.find(KEY, dict) is not None) == kept
    assert shelf.claim(KEY) is None
    got[0].release()
    assert names(tmp_path) == ([f"{KEY}.npz"] if kept else [])


HOLDER = """
import os, sys
from safeteach.running.keeping import Shelf
claim = Shelf(sys.argv[1]).claim(sys.argv[2])
if "fork" in sys.argv:
    told, tell = os.pipe()
    if os.fork() == 0:
        os.close(tell)
        print("held", flush=True)
        os.read(told, 1)  # until its parent ends; what is typed is for the parent alone
        os._exit(0)
    sys.stdin.readline()
    os.close(claim.descriptor)  # as if it had died
    print("dead", flush=True)
else:
    print("held", flush=True)
sys.stdin.read()
"""


def holder(*arguments):
    """A process that has a claim, until it is killed."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, *arguments],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout.readline() == "held\n"
    return process


def test_what_a_dead_process_held_is_free_and_swept_away(tmp_path):
    stranger = tmp_path / "download.part"
    stranger.touch()
    process = holder(str(tmp_path), KEY)
    live = Shelf(tmp_path).claim(OTHER)
    assert Shelf(tmp_path).claim(KEY) is None
    assert names(tmp_path) == sorted([stranger.name, f"{KEY}.part", f"{OTHER}.part"])
    process.kill()
    process.communicate()
    assert names(tmp_path) == sorted([stranger.name, f"{KEY}.part", f"{OTHER}.part"])
    Shelf(tmp_path)
    assert names(tmp_path) == sorted([stranger.name, f"{OTHER}.part"])
    live.keep({"n": 2})
    assert names(tmp_path) == sorted([stranger.name, f"{OTHER}.npz"])


def test_who_waits_for_a_process_that_is_killed_takes_over(tmp_path):
    process, got = holder(str(tmp_path), KEY), []
    waiting = threading.Thread(target=lambda: got.append(Shelf(tmp_path).claim(KEY, wait=True)))
    waiting.start()
    process.kill()
    process.communicate()
    waiting.join()
    got[0].keep({"n": 3})
    assert names(tmp_path) == [f"{KEY}.npz"]


def test_a_child_that_was_forked_does_not_hold_what_its_parent_held(tmp_path):
    process = holder(str(tmp_path), KEY, "fork")
    assert Shelf(tmp_path).claim(KEY) is None  # the parent holds it
    process.stdin.write("\n")
    process.stdin.flush()
    assert process.stdout.readline() == "dead\n"
    Shelf(tmp_path).claim(KEY).release()  # though the child lives
    process.communicate()


@pytest.mark.parametrize("damage", ["cut", "empty", "flipped", "another"])
def test_a_file_that_cannot_be_read_is_named_and_counts_as_none(tmp_path, damage):
    shelf, file = Shelf(tmp_path), tmp_path / f"{KEY}.npz"
    shelf.claim(KEY).keep({"row": np.arange(100.0)} if damage != "another" else {"column": 1})
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= damage == "flipped"
    file.write_bytes({"cut": content[:200], "empty": b""}.get(damage, content))

    def row(row):
        return row

    with pytest.warns(UserWarning, match=f"{KEY}.npz cannot be read and is made again: "):
        assert shelf.find(KEY, row) is None
    assert shelf.find(KEY, row) is None  # once is enough: a second warning would be an error
    shelf.claim(KEY).keep({"row": np.arange(3.0)})
    assert shelf.find(KEY, row).tolist() == [0, 1, 2]


def test_a_full_disk_leaves_nothing_behind(tmp_path):
    shelf = Shelf(tmp_path)
    claim = shelf.claim(KEY)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))  # no file may be larger
    try:
        with pytest.raises(OSError, match="File too large"):
            claim.keep({"row": np.zeros(10_000)})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert names(tmp_path) == [f"{KEY}.part"]
    claim.release()
    assert names(tmp_path) == []


def test_where_there_are_no_locks_everybody_may_make_a_thing(tmp_path, monkeypatch):
    monkeypatch.setattr(keeping, "fcntl", None)
    shelf = Shelf(tmp_path)
    claim = shelf.claim(KEY)
    Shelf(tmp_path)  # nobody can tell whether its maker lives
    assert len(names(tmp_path)) == 1
    claim.keep({"n": 1})
    assert shelf.find(KEY, dict) == {"n": 1} and names(tmp_path) == [f"{KEY}.npz"]
    shelf.claim(KEY).release()
    assert names(tmp_path) == [f"{KEY}.npz"]
