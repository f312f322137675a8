"""The driver: what it plays, what it reports, and what is left when it is interrupted."""

import importlib.util
import inspect
import os
import re
import signal
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import nullcontext
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest
from core.running.histories import PARTS, all_five, same_bits
from core.running.mortal_learners import Clumsy, Mortal, ShortLived

import safeteach as st
from safeteach.running import comparing
from safeteach.running.closure import files_of

# ---- many runs -------------------------------------------------------------------------------


def serial(makers, mdp, episodes, seeds):
    """What compare must give, one run after the other."""
    return {
        name: [st.run(make(mdp.known, episodes=episodes), mdp, seed=seed) for seed in seeds]
        for name, make in makers.items()
    }


def check_against(results, expected):
    assert list(results) == list(expected)
    for name, histories in expected.items():
        for part in PARTS:
            wanted = np.stack([getattr(history, part) for history in histories])
            assert getattr(results[name], part).tobytes() == wanted.tobytes()
            assert getattr(results[name], part).shape == wanted.shape


@pytest.mark.slow
def test_the_same_seed_gives_the_same_bits_in_any_executor(tmp_path):
    mdp = st.instances.ice_corridor()
    makers, seeds = all_five(mdp), [5, 3, 8]
    expected = serial(makers, mdp, 300, seeds)
    how = {"episodes": 300, "seeds": seeds, "progress": False}
    check_against(st.compare(makers, mdp, folder=tmp_path, **how), expected)
    check_against(st.compare(makers, mdp, folder=tmp_path, **how), expected)  # from the files
    with ThreadPoolExecutor(2) as pool:
        check_against(st.compare(makers, mdp, executor=pool, **how), expected)
        assert pool.submit(int).result() == 0  # it is the caller's and still alive
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        check_against(st.compare(makers, mdp, executor=pool, **how), expected)
        assert pool.submit(int).result() == 0


def test_one_core_needs_no_executor(monkeypatch):
    mdp = st.instances.ice_corridor()
    makers = {"SUCBVI": st.SUCBVI, "UCBVI": st.UCBVI}
    monkeypatch.setattr(comparing.os, "cpu_count", lambda: 1)
    monkeypatch.setattr(comparing, "ProcessPoolExecutor", None)
    results = st.compare(makers, mdp, 30, seeds=[1, 2], progress=False)
    check_against(results, serial(makers, mdp, 30, [1, 2]))


@pytest.fixture
def compare_in_threads(tmp_path):
    """`compare` of small runs in threads, with results in tmp_path, and how many were run."""
    with ThreadPoolExecutor(2) as pool:

        def call(makers, mdp=None, **changes):
            mdp = mdp or st.instances.ice_corridor()
            how = {"episodes": 30, "seeds": range(3), "folder": tmp_path, "executor": pool}
            before = {file: file.stat().st_mtime_ns for file in tmp_path.glob("*.npz")}
            results = st.compare(makers, mdp, progress=False, **(how | changes))
            assert all(file.stat().st_mtime_ns == then for file, then in before.items())
            return results, len([*tmp_path.glob("*.npz")]) - len(before)

        yield call


def test_what_is_finished_is_not_run_again(compare_in_threads, monkeypatch):
    makers = {"SUCBVI": st.SUCBVI, "Triple-Q": st.TripleQ}
    first, files = compare_in_threads(makers)
    assert files == 6

    def fail(*_):
        raise AssertionError("run again")

    monkeypatch.setattr(comparing, "run", fail)
    second, files = compare_in_threads(makers)
    assert files == 0
    for name in makers:
        assert same_bits(first[name], second[name])
    # some of them, under other names and in another order, are the same runs
    third, files = compare_in_threads({"again": partial(st.SUCBVI, delta=0.005)}, seeds=[2, 0])
    assert files == 0
    assert (third["again"].reward == first["SUCBVI"].reward[[2, 0]]).all()
    with pytest.raises(AssertionError, match="run again"):
        compare_in_threads(makers, seeds=[3])


def test_anything_that_matters_means_a_new_run(compare_in_threads, monkeypatch):
    mdp = st.instances.ice_corridor()
    one = {"one": st.SUCBVI}
    assert compare_in_threads(one)[1] == 3
    assert compare_in_threads(one)[1] == 0
    assert compare_in_threads(one, seeds=range(5))[1] == 2
    for change in ({"noise": 0.5}, {"episodes": 31}):
        assert compare_in_threads(one, **change)[1] == 3
    settings = ({"bonus_scale": 0.5}, {"delta": 0.1}, {"recursion": "paper"})
    for setting in settings:
        assert compare_in_threads({"one": partial(st.SUCBVI, **setting)})[1] == 3
    assert compare_in_threads({"one": st.UCBVI})[1] == 3
    P, r, c = mdp.P[0].copy(), mdp.r[0].copy(), mdp.c.copy()
    ice = np.flatnonzero((P > 0).sum(axis=2).max(axis=1) > 1)[0]
    P[ice] = P[ice][[1, 0, 3, 2]]
    r[0, 0], c[0] = 0.25, 0.25
    worlds = [
        st.SafeMDP(P, mdp.r[0], mdp.c, 0.5, 10, mdp.s1),
        st.SafeMDP(mdp.P[0], r, mdp.c, 0.5, 10, mdp.s1),
        st.SafeMDP(mdp.P[0], mdp.r[0], c, 0.5, 10, mdp.s1),
        st.SafeMDP(mdp.P[0], mdp.r[0], mdp.c, 0.4, 10, mdp.s1),
        st.SafeMDP(mdp.P[0], mdp.r[0], mdp.c, 0.5, 9, mdp.s1),
        st.SafeMDP(mdp.P[0], mdp.r[0], mdp.c, 0.5, 10, mdp.s1 - 1),
    ]
    for world in worlds:
        assert compare_in_threads(one, world)[1] == 3
    same = st.SafeMDP(mdp.P[0], mdp.r[0], mdp.c, 0.5, 10, mdp.s1)  # but for the names of states
    assert compare_in_threads(one, same)[1] == 0
    for home in (np.zeros((10, mdp.S), int), np.ones((10, mdp.S), int)):
        cost = st.evaluate(mdp, home).cost
        pess = partial(st.OptPess, safe_policy=home, safe_cost=cost, budget=9.0)
        assert compare_in_threads({"one": pess})[1] == 3
        assert compare_in_threads({"one": pess})[1] == 0
    monkeypatch.setattr(comparing, "_code_of", lambda _kind: "another library")
    assert compare_in_threads(one)[1] == 3


def test_a_learner_that_nobody_uses_makes_no_run_stale():
    """What a run depends on is what its own code imports."""
    files = files_of(Path(comparing.__file__), Path(inspect.getfile(st.UCBVI)))
    names = {file.relative_to(Path(st.__file__).parent).as_posix() for file in files}
    assert {"kernels.py", "worlds/mdp.py", "planning/induction.py", "running/playing.py"} <= names
    assert {"learners/ucbvi.py", "learners/sucbvi.py", "learners/model.py"} <= names
    assert not {"learners/triple_q.py", "learners/strawmen.py", "figures/grid.py"} & names


def test_files_that_were_not_finished_are_ignored(compare_in_threads, tmp_path, monkeypatch):
    makers = {"SUCBVI": st.SUCBVI}
    whole = compare_in_threads(makers, folder=None)[0]
    real = np.savez

    def half(file, **arrays):
        real(file, **arrays)
        file.truncate(100)
        raise OSError("no space left on device")

    monkeypatch.setattr(np, "savez", half)
    with pytest.raises(OSError, match="no space left"):
        compare_in_threads(makers)
    monkeypatch.undo()
    assert [file.suffix for file in tmp_path.iterdir()] == [".part"]
    results, files = compare_in_threads(makers)
    assert files == 3 and same_bits(results["SUCBVI"], whole["SUCBVI"])


def test_nothing_to_run_is_an_error():
    mdp = st.instances.ice_corridor()
    for makers, seeds in (({}, [0]), ({"SUCBVI": st.SUCBVI}, [])):
        with pytest.raises(ValueError, match=r"^nothing to run: at least one learner and one seed"):
            st.compare(makers, mdp, 10, seeds=seeds)


def test_a_bad_setting_is_an_error_before_anything_runs(compare_in_threads, tmp_path):
    with pytest.raises(ValueError, match=r"^episodes is 0; it must be at least 1"):
        compare_in_threads({"SUCBVI": st.SUCBVI}, episodes=0)
    assert not [*tmp_path.iterdir()]


def test_the_progress_bar_is_shown_on_stderr_when_asked(capsys, tmp_path):
    mdp, how = st.instances.ice_corridor(), {"seeds": range(4), "folder": tmp_path}
    with ThreadPoolExecutor(1) as pool:
        st.compare({"SUCBVI": st.SUCBVI}, mdp, 20, executor=pool, progress=False, **how)
        silent = capsys.readouterr()
        assert silent.out == silent.err == ""
        both = {"SUCBVI": st.SUCBVI, "UCBVI": st.UCBVI}
        st.compare(both, mdp, 20, executor=pool, **how)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "runs:  50%" in shown.err and "4/8" in shown.err  # those that were found count
    assert "runs: 100%" in shown.err and "8/8" in shown.err


# ---- what goes wrong ---------------------------------------------------------------------------


def test_a_mistake_in_one_learner_is_shown_and_what_was_finished_is_kept(tmp_path):
    mdp, makers = st.instances.ice_corridor(), {"SUCBVI": st.SUCBVI, "Clumsy": Clumsy}
    with ThreadPoolExecutor(1) as pool, pytest.raises(ZeroDivisionError, match="a mistake in the"):
        st.compare(makers, mdp, 20, range(3), folder=tmp_path, executor=pool, progress=False)
    assert len([*tmp_path.glob("SUCBVI-*.npz")]) == 3
    assert not [*tmp_path.glob("*.part")]


@pytest.mark.slow
@pytest.mark.parametrize("own", [True, False])
def test_a_process_that_dies_is_a_clear_error_and_finished_runs_are_kept(own, tmp_path):
    mdp, makers = st.instances.ice_corridor(), {"SUCBVI": st.SUCBVI, "Mortal": Mortal}
    how = {"episodes": 20, "seeds": range(3), "folder": tmp_path, "progress": False}
    message = r"^the executor died with (\d) of 6 runs unfinished; .* call compare again to go on"
    pool = None if own else ProcessPoolExecutor(1, get_context("spawn"))
    with pool or nullcontext(), pytest.raises(RuntimeError, match=message) as caught:
        st.compare(makers, mdp, executor=pool, **how)
    kept = [*tmp_path.glob("*.npz")]
    assert int(re.match(message, str(caught.value))[1]) == 6 - len(kept)
    if not own:  # one process takes them in turn
        assert len(kept) == 3
    times = {file: file.stat().st_mtime_ns for file in kept}
    results = st.compare({"SUCBVI": st.SUCBVI}, mdp, **how)
    assert all(file.stat().st_mtime_ns == then for file, then in times.items())
    check_against(results, serial({"SUCBVI": st.SUCBVI}, mdp, 20, range(3)))


def test_an_executor_that_dies_while_runs_are_handed_over_loses_none_that_is_finished(tmp_path):
    mdp, makers = st.instances.ice_corridor(), {"SUCBVI": st.SUCBVI}
    how = {"episodes": 20, "seeds": range(5), "folder": tmp_path, "progress": False}
    message = "^the executor died with 3 of 5 runs unfinished; runs that were finished are kept"
    with pytest.raises(RuntimeError, match=message):
        st.compare(makers, mdp, executor=ShortLived(2), **how)
    assert len([*tmp_path.glob("*.npz")]) == 2
    executor = ShortLived(3)  # enough for the rest
    st.compare(makers, mdp, executor=executor, **how)
    assert executor.runs == 0


MORE_KILLS = [pytest.param(done, marks=pytest.mark.thorough) for done in (1, 5, 9)]
KILLED = """
import sys
from functools import partial
import safeteach as st

if __name__ == "__main__":
    makers = {name: partial(getattr(st, name), bonus_scale=0.01) for name in ("SUCBVI", "UCBVI")}
    st.compare(makers, st.instances.grid(), 4000, range(8), folder=sys.argv[1], progress=False)
"""


@pytest.mark.slow
@pytest.mark.parametrize("done", [2, *MORE_KILLS])
def test_kill_9_loses_the_runs_under_way_alone(tmp_path, monkeypatch, done):
    script, folder = tmp_path / "killed.py", tmp_path / "results"
    script.write_text(KILLED)
    process = subprocess.Popen([sys.executable, script, folder], start_new_session=True)
    try:
        deadline = time.monotonic() + 120
        while len([*folder.glob("*.npz")]) < done:
            assert process.poll() is None, "it finished, or failed, before it could be killed"
            assert time.monotonic() < deadline
            time.sleep(0.002)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    kept = {file: file.stat().st_mtime_ns for file in folder.glob("*.npz")}
    assert done <= len(kept) < 16
    again = []
    real = comparing.run
    monkeypatch.setattr(comparing, "run", lambda *args: (again.append(args), real(*args))[1])
    makers = {name: partial(getattr(st, name), bonus_scale=0.01) for name in ("SUCBVI", "UCBVI")}
    mdp, how = st.instances.grid(), {"episodes": 4000, "seeds": range(8), "progress": False}
    with ThreadPoolExecutor(2) as pool:
        results = st.compare(makers, mdp, folder=folder, executor=pool, **how)
    monkeypatch.undo()
    assert len(again) == 16 - len(kept)
    assert all(file.stat().st_mtime_ns == then for file, then in kept.items())
    assert len([*folder.glob("*.npz")]) == 16
    check_against(results, serial(makers, mdp, 4000, range(8)))


def test_a_learner_with_other_code_is_another_learner(tmp_path):
    mdp, names = st.instances.union_counterexample(), set()
    for rule in ("0", "1"):
        (tmp_path / f"own{rule}.py").write_text(
            "import safeteach as st\n\n\nclass Mine(st.SUCBVI):\n"
            f"    def plan(self, rng):\n        return 0 * super().plan(rng) + {rule}\n"
        )
        spec = importlib.util.spec_from_file_location(f"own{rule}", tmp_path / f"own{rule}.py")
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        how = {"folder": tmp_path, "executor": ThreadPoolExecutor(1), "progress": False}
        results = st.compare({"mine": module.Mine}, mdp, 5, range(1), **how)
        assert len(set(results["mine"].reward[0])) == 1
        names |= {file.name for file in tmp_path.glob("Mine-*.npz")}
    assert len(names) == 2


def test_a_learner_whose_code_cannot_be_read_is_not_stored(tmp_path):
    space = {}
    exec("import safeteach as st\nclass Mine(st.SUCBVI): pass", {"__name__": "nowhere"}, space)
    mdp = st.instances.union_counterexample()
    with pytest.raises(ValueError, match="the code of Mine cannot be read"):
        st.compare({"mine": space["Mine"]}, mdp, 5, range(1), folder=tmp_path, progress=False)
