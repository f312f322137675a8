"""Results that hold arrays: equality, one line to show them, and files."""

import pickle
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import safeteach as st

MDP = st.instances.ice_corridor()
HISTORY = st.run(st.SUCBVI(MDP.known, episodes=20), MDP)
FINISHED = st.Exploration(2, True, np.arange(3.0), np.zeros(2))
WATCHED = st.explore(st.SRFUCRL(MDP.known), MDP, 5, watch=MDP.r)
AUDIT = st.audit(st.SUCBVI(MDP.known, episodes=20), MDP)
KEPT = [HISTORY, FINISHED, WATCHED, AUDIT]


def write(file, **arrays):
    with file.open("wb") as stream:
        np.savez(stream, **arrays)


def kind(record):
    return type(record).__name__


def test_two_are_equal_if_all_they_hold_is():
    again = st.run(st.SUCBVI(MDP.known, episodes=20), MDP)
    assert again == HISTORY and (again != HISTORY) is False
    assert again != st.run(st.SUCBVI(MDP.known, episodes=20), MDP, seed=1)
    assert replace(HISTORY, regret=HISTORY.regret[:-1]) != HISTORY
    assert HISTORY != "history" and HISTORY != FINISHED
    assert replace(FINISHED, planned=np.zeros((2, 2))) != FINISHED
    nothing = replace(HISTORY, regret=np.full(20, np.nan))
    assert nothing == replace(nothing, regret=np.full(20, np.nan)) and nothing != HISTORY
    with pytest.raises(TypeError, match="unhashable"):
        hash(HISTORY)


def test_a_plan_within_a_budget_is_a_record():
    road = st.instances.school_road()
    plan = st.constrained_optimal(road, 4.0)
    assert plan == st.constrained_optimal(road, 4.0) != st.constrained_optimal(road, 3.0)
    assert repr(plan).endswith(f"policy=<float64 {plan.policy.shape}>)")


def test_each_is_shown_in_one_line():
    assert repr(HISTORY) == (
        "History(reward=<float64 (20,)>, violation=<float64 (20,)>, regret=<float64 (20,)>)"
    )
    assert repr(FINISHED) == (
        "Exploration(episodes=2, finished=True, width=array([0., 1., 2.]), "
        "violation=array([0., 0.]), planned=None)"
    )


@pytest.mark.parametrize("record", KEPT, ids=kind)
def test_what_is_saved_is_loaded(record, tmp_path):
    for path in (tmp_path / "run.npz", str(tmp_path / "no ending")):
        record.save(path)
        found = type(record).load(path)
        assert found == record
        assert [type(x) for x in vars(found).values()] == [type(x) for x in vars(record).values()]
    assert {file.name for file in tmp_path.iterdir()} == {"run.npz", "no ending"}
    assert pickle.loads(pickle.dumps(record)) == record


def test_a_file_of_something_else_is_refused(tmp_path):
    file = tmp_path / "file"
    FINISHED.save(file)
    with pytest.raises(ValueError, match=r"file holds safeteach Exploration 1; expected"):
        st.History.load(file)
    write(file, reward=np.ones(3))
    with pytest.raises(ValueError, match=r"file holds nothing that safeteach has saved; expected"):
        st.History.load(file)
    write(file, record=np.array("safeteach History 2"), reward=np.ones(3))
    with pytest.raises(ValueError, match=r"file holds safeteach History 2; expected"):
        st.History.load(file)
    write(file, record=np.array("safeteach History 1"), reward=np.ones(3))
    with pytest.raises(ValueError, match=r"file lacks violation, regret"):
        st.History.load(file)


@pytest.mark.parametrize("content", [b"", b"text", pickle.dumps([1]), b"PK\x03\x04 and no more"])
def test_a_damaged_file_is_named(content, tmp_path):
    file = tmp_path / "file"
    file.write_bytes(content)
    with pytest.raises(ValueError, match=r"file is damaged or no file of History\.save: "):
        st.History.load(file)


def test_every_cut_and_every_changed_byte_is_noticed_or_harmless(tmp_path):
    file = tmp_path / "file"
    FINISHED.save(file)
    whole = file.read_bytes()
    for n in range(0, len(whole), 97):
        file.write_bytes(whole[:n])
        with pytest.raises(ValueError, match="damaged"):
            st.Exploration.load(file)
        file.write_bytes(whole[:n] + bytes([whole[n] ^ 255]) + whole[n + 1 :])
        with suppress(ValueError):
            assert st.Exploration.load(file) == FINISHED


def test_an_array_is_no_record(tmp_path):
    with (tmp_path / "file").open("wb") as stream:
        np.save(stream, np.ones(3))
    with pytest.raises(ValueError, match="damaged or no file of History"):
        st.History.load(tmp_path / "file")


def test_a_path_is_a_path(tmp_path):
    for wrong in (3, None, HISTORY):
        with pytest.raises(TypeError, match=r"^path is .*; expected the path of a file"):
            HISTORY.save(wrong)
        with pytest.raises(TypeError, match=r"^path is .*; expected the path of a file"):
            st.History.load(wrong)
    with pytest.raises(FileNotFoundError):
        st.History.load(tmp_path / "nowhere")
    with pytest.raises(FileNotFoundError):
        HISTORY.save(Path("no such folder") / "file")
