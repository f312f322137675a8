"""The runner: whatever happens to it, nothing that is finished is lost or done twice."""

import os
import pickle
import random
import re
import signal
import subprocess
import sys
import threading
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import nullcontext, suppress
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import psutil
import pytest
from core.running.odd_jobs import (
    answer_oddly,
    die,
    die_in_the_middle,
    die_once,
    fail,
    fail_oddly,
    key,
    never,
    note,
    notes,
    noting,
    wait_for,
)  # fmt: skip

import safeteach as st
from safeteach.running import comparing, keeping, workers
from safeteach.running.interrupts import Hold
from safeteach.running.jobs import Job, run_jobs
from safeteach.running.keeping import Shelf

TESTS = Path(__file__).parents[2]


@pytest.fixture
def ran(tmp_path):
    """A folder in which the jobs note that they ran."""
    folder = tmp_path / "ran"
    folder.mkdir()
    return folder


@pytest.fixture
def threads():
    with ThreadPoolExecutor(2) as pool:
        yield pool


def quietly(jobs, **how):
    return run_jobs(jobs, progress=False, **how)


@pytest.mark.parametrize(
    "where",
    ["threads", "here", *(pytest.param(w, marks=pytest.mark.slow) for w in ("own", "given"))],
)
def test_results_come_in_the_order_of_the_jobs_wherever_they_are_done(
    where, ran, tmp_path, monkeypatch
):
    monkeypatch.setattr(workers.os, "cpu_count", lambda: 1 if where == "here" else 2)
    executors = {
        "threads": partial(ThreadPoolExecutor, 2),
        "given": partial(ProcessPoolExecutor, 2, get_context("spawn")),
    }
    with executors.get(where, nullcontext)() as pool:
        numbers = [5, 2, 9, 0]
        jobs = noting(ran, numbers)
        for _ in range(2):  # the second time from the files
            found = quietly(jobs, folder=tmp_path / "kept", executor=pool)
            assert [one["n"] for one in found] == numbers
            assert [one["square"].tolist() for one in found] == [[n * n] for n in numbers]
        assert notes(ran) == sorted(numbers)
        assert len([*(tmp_path / "kept").iterdir()]) == 4


def test_what_has_no_key_is_done_every_time_and_two_with_one_key_once(ran, tmp_path, threads):
    jobs = [Job("a", note, (str(ran), 1)), *noting(ran, [2, 2, 3])]
    for _ in range(2):
        found = quietly(jobs, folder=tmp_path / "kept", executor=threads)
        assert [one["n"] for one in found] == [1, 2, 2, 3]
    assert notes(ran) == [1, 1, 2, 3]


def test_one_job_alone_is_done_here():
    assert quietly([Job("pid", os.getpid)]) == [os.getpid()]


# ---- errors ----------------------------------------------------------------------------------


def test_an_error_in_one_job_lets_the_others_finish_and_is_told_at_the_end(ran, tmp_path, threads):
    jobs = noting(ran, range(6))
    jobs[1] = Job("the second", fail, ("the second",), key(100))
    jobs[4] = Job("the fifth", fail, ("the fifth",))
    with pytest.raises(RuntimeError) as caught:
        quietly(jobs, folder=tmp_path / "kept", executor=threads)
    first, *told = str(caught.value).splitlines()
    assert first == "2 of 6 runs failed; the others are finished and kept:"
    assert told == [
        "  the second: ZeroDivisionError: a mistake in the second",
        "  the fifth: ZeroDivisionError: a mistake in the fifth",
    ]
    assert str(caught.value.__cause__) == "a mistake in the second"
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert sorted(file.stem for file in (tmp_path / "kept").iterdir()) == [
        key(n) for n in (0, 2, 3, 5)
    ]
    with pytest.raises(RuntimeError, match=r"^1 of 1 runs failed; the others are finished:"):
        quietly([Job("alone", fail, (1,))])


@pytest.mark.slow
def test_processes_that_die_are_replaced_and_what_killed_them_twice_has_failed(ran, tmp_path):
    jobs = noting(ran, range(6))
    jobs[1:1] = [
        Job("mortal", die, (), key(100)),
        Job("once", die_once, (str(tmp_path / "died"),), key(101)),
        Job("odd", fail_oddly),
        Job("typed", lambda: 1),
    ]
    with pytest.raises(RuntimeError) as caught:
        quietly(jobs, folder=tmp_path / "kept")
    first, *told = str(caught.value).splitlines()
    assert first == "3 of 10 runs failed; the others are finished and kept:"
    mortal, odd, typed = told
    assert mortal == (
        "  mortal: RuntimeError: the process that was at it died without a word, twice"
    )
    assert odd == "  odd: RuntimeError: Odd: one and other"
    assert typed.startswith("  typed: RuntimeError: A fresh process must be able to import what")
    assert notes(ran) == [0, 1, 2, 3, 4, 5]  # nobody's neighbour ran twice
    assert len([*(tmp_path / "kept").iterdir()]) == 7
    assert quietly(jobs[2:3], folder=tmp_path / "kept") == [{"survived": 1}]


@pytest.mark.slow
def test_a_process_that_dies_while_it_is_idle_is_replaced():
    with workers.workers_for(2, None, Hold()) as own:
        first = own.submit(os.getpid)
        pid = first.result()
        own.take_back(first, None)
        os.kill(pid, signal.SIGKILL)
        wait_for(lambda: not own.idle[0].is_alive(), "dead")
        again = own.submit(os.getpid)
        assert again.result() != pid
        own.take_back(again, None)


def test_what_a_worker_cannot_import_is_told_as_an_error():
    done, error = pickle.loads(workers._work(b"cno_such_module\nthing\n."))
    assert not done and isinstance(error, RuntimeError)
    assert re.search(r"ThreadPoolExecutor\(\) \(.*no_such_module", str(error))
    done, error = pickle.loads(workers._work(pickle.dumps((fail, (1,)))))
    assert not done and isinstance(error, ZeroDivisionError) and str(error) == "a mistake in 1"
    done, error = pickle.loads(workers._work(pickle.dumps((fail_oddly, ()))))
    assert not done and isinstance(error, RuntimeError) and str(error) == "Odd: one and other"


@pytest.mark.slow
def test_a_process_that_dies_in_the_middle_of_its_answer_is_not_waited_for(ran):
    jobs = [Job("half", die_in_the_middle), Job("odd", answer_oddly), *noting(ran, range(2))]
    with pytest.raises(RuntimeError) as caught:
        quietly(jobs)
    _first, half, odd = str(caught.value).splitlines()
    assert half == "  half: RuntimeError: the process that was at it died without a word, twice"
    assert odd.startswith("  odd: TypeError: ") and notes(ran) == [0, 1]


class Cancelling(Executor):
    """An executor that somebody shuts down."""

    def submit(self, *_, **__):
        future = Future()
        future.cancel()
        future.set_running_or_notify_cancel()
        return future


def test_an_executor_that_is_shut_down_meanwhile_is_a_clear_error():
    with pytest.raises(RuntimeError, match=r"^the executor died with 2 of 2 runs unfinished"):
        quietly([Job("a", never), Job("b", never)], executor=Cancelling())


class Refusing(Executor):
    """An executor that takes one job, and then none."""

    def __init__(self, why):
        self.why, self.taken = why, []

    def submit(self, call, /, *args, **_):
        self.taken.append(call)
        if len(self.taken) > 1:
            raise self.why
        future = Future()
        future.set_result(call(*args))
        return future


def test_an_executor_that_was_shut_down_before_is_a_clear_error(ran, tmp_path):
    pool = ThreadPoolExecutor(1)
    pool.shutdown()
    with pytest.raises(RuntimeError, match=r"^the executor died with 2 of 2 runs unf") as caught:
        quietly([Job("a", never), Job("b", never)], executor=pool)
    assert "after shutdown" in str(caught.value.__cause__)
    closed = Refusing(RuntimeError("it is closed"))
    with pytest.raises(RuntimeError, match=r"^the executor died with 2 of 3 runs unfinished"):
        quietly(noting(ran, range(3)), folder=tmp_path / "kept", executor=closed)
    assert notes(ran) == [0] and [f.suffix for f in (tmp_path / "kept").iterdir()] == [".npz"]


def test_a_job_that_an_executor_does_not_take_has_failed(ran, tmp_path):
    picky = Refusing(TypeError("cannot pickle it"))
    with pytest.raises(RuntimeError) as caught:
        quietly(noting(ran, range(3)), folder=tmp_path / "kept", executor=picky)
    assert str(caught.value).splitlines() == [
        "2 of 3 runs failed; the others are finished and kept:",
        "  job 1: TypeError: cannot pickle it",
        "  job 2: TypeError: cannot pickle it",
    ]
    assert [f.suffix for f in (tmp_path / "kept").iterdir()] == [".npz"]


UNGUARDED = """
from safeteach.running.jobs import Job, run_jobs
run_jobs([Job("a", len, ([],)), Job("b", len, ([],))], progress=False)
"""


@pytest.mark.slow
def test_a_script_that_starts_processes_when_it_is_imported_is_told_so(tmp_path):
    script = tmp_path / "unguarded.py"
    script.write_text(UNGUARDED)
    done = subprocess.run([sys.executable, script], capture_output=True, text=True)
    assert done.returncode == 1
    assert 'must do so below `if __name__ == "__main__":`' in done.stderr.splitlines()[-1]


# ---- several at once -------------------------------------------------------------------------


@pytest.mark.parametrize("finished", [True, False])
def test_what_another_is_at_is_waited_for_and_taken_over_only_if_it_gives_up(
    ran, tmp_path, threads, finished
):
    shelf, found = Shelf(tmp_path / "kept"), []
    claim = shelf.claim(key(3))
    jobs = noting(ran, range(6))
    if finished:
        jobs[3] = Job("job 3", never, (), key(3))
    waiting = threading.Thread(
        target=lambda: found.extend(quietly(jobs, folder=shelf.folder, executor=threads))
    )
    waiting.start()
    wait_for(lambda: len(notes(ran)) == 5, "all others done")
    claim.keep({"n": 3}) if finished else claim.release()
    waiting.join()
    assert [one["n"] for one in found] == [0, 1, 2, 3, 4, 5]
    assert notes(ran) == ([0, 1, 2, 4, 5] if finished else [0, 1, 2, 3, 4, 5])
    assert len([*shelf.folder.iterdir()]) == 6


def test_what_was_finished_between_a_look_and_a_claim_is_not_done_again(
    ran, tmp_path, threads, monkeypatch
):
    """Another command finishes every job just before it is claimed here."""
    claim_it = Shelf.claim

    def late(shelf, name, wait=False):
        claim_it(shelf, name).keep({"n": -1})
        return claim_it(shelf, name, wait)

    monkeypatch.setattr(Shelf, "claim", late)
    found = quietly(noting(ran, range(3)), folder=tmp_path / "kept", executor=threads)
    assert found == [{"n": -1}] * 3 and notes(ran) == []


SHARED = """
import sys
sys.path.insert(0, sys.argv[1])
from core.running.odd_jobs import noting
from safeteach.running.jobs import run_jobs
if __name__ == "__main__":
    found = run_jobs(noting(sys.argv[2], range(40)), folder=sys.argv[3], progress=False)
    print(*(one["n"] for one in found))
"""


@pytest.mark.slow
def test_two_commands_at_once_share_the_work(ran, tmp_path):
    script, kept = tmp_path / "shared.py", tmp_path / "kept"
    script.write_text(SHARED)
    both = [
        subprocess.Popen([sys.executable, script, TESTS, ran, kept], stdout=subprocess.PIPE)
        for _ in range(2)
    ]
    for process in both:
        assert process.communicate()[0].split() == [b"%d" % n for n in range(40)]
    assert notes(ran) == [*range(40)]
    assert sorted(file.stem for file in kept.iterdir()) == [key(n) for n in range(40)]


# ---- kills -----------------------------------------------------------------------------------

KILLED = """
import sys
import safeteach as st

if __name__ == "__main__":
    mdp = st.instances.ice_corridor()
    makers = {"SUCBVI": st.SUCBVI, "UCBVI": st.UCBVI}
    st.compare(makers, mdp, int(sys.argv[2]), range(8), folder=sys.argv[1], progress=False)
"""
MAKERS = {"SUCBVI": st.SUCBVI, "UCBVI": st.UCBVI}
EPISODES = 1_000  # of a run that is to be interrupted


@pytest.fixture(scope="module")
def expected():
    """What must come of it, one run after the other."""
    mdp = st.instances.ice_corridor()
    return {
        name: np.stack(
            [st.run(make(mdp.known, episodes=EPISODES), mdp, seed=seed).regret for seed in range(8)]
        )
        for name, make in MAKERS.items()
    }


@pytest.fixture
def command(tmp_path):
    """A command that compares, in a group of processes of its own, and the folder it fills."""
    script, folder = tmp_path / "killed.py", tmp_path / "kept"
    script.write_text(KILLED)
    with (tmp_path / "said").open("w") as said:
        process = subprocess.Popen(
            [sys.executable, script, folder, str(EPISODES)], start_new_session=True, stderr=said
        )
    yield process, folder
    process.kill()
    process.wait()
    wait_for(lambda: not group(process), "all processes gone")


def group(process):
    """The living processes of a command."""
    alive = []
    for one in psutil.process_iter():
        try:
            if os.getpgid(one.pid) == process.pid and one.status() != psutil.STATUS_ZOMBIE:
                alive.append(one)
        except (ProcessLookupError, psutil.NoSuchProcess):
            continue
    return alive


def kept_in(folder):
    return {file: file.stat().st_mtime_ns for file in folder.glob("*.npz")}


def go_on(folder, expected, monkeypatch):
    """Finish a comparison; only what was not kept is run, and the bits are those of one go."""
    kept, again = kept_in(folder), []
    live = comparing._Life.__call__
    monkeypatch.setattr(
        comparing._Life, "__call__", lambda life, seed: (again.append(seed), live(life, seed))[1]
    )
    with ThreadPoolExecutor(2) as pool:
        results = st.compare(
            MAKERS, st.instances.ice_corridor(), EPISODES, range(8),
            folder=folder, executor=pool, progress=False,
        )  # fmt: skip
    monkeypatch.undo()
    assert len(again) == 16 - len(kept)
    assert kept.items() <= kept_in(folder).items()
    assert len([*folder.iterdir()]) == 16  # and nothing else is left
    for name in MAKERS:
        assert results[name].regret.tobytes() == expected[name].tobytes()


def moments(few, seed):
    """Random moments: so many runs are kept, and so many seconds more."""
    draw = random.Random(seed)
    drawn = [(draw.choice([0, 0, *range(15)]), draw.uniform(0, 2)) for _ in range(50)]
    return [
        pytest.param(*moment, marks=[] if i < few else pytest.mark.thorough)
        for i, moment in enumerate(drawn)
    ]


def live_until(process, folder, runs, seconds):
    """Let a command live up to a moment, or until it is finished."""
    wait_for(
        lambda: process.poll() is not None or len(kept_in(folder)) >= runs, f"{runs} runs kept"
    )
    with suppress(subprocess.TimeoutExpired):
        process.wait(timeout=seconds)


@pytest.mark.slow
@pytest.mark.parametrize(("runs", "seconds"), moments(1, seed=1))
def test_kill_9_at_any_moment_leaves_no_process_and_loses_nothing(
    runs, seconds, command, expected, monkeypatch
):
    process, folder = command
    live_until(process, folder, runs, seconds)
    process.kill()  # the parent alone
    process.wait()
    wait_for(lambda: not group(process), "all processes gone")
    folder.mkdir(exist_ok=True)
    go_on(folder, expected, monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize(("runs", "seconds"), moments(1, seed=2))
def test_a_worker_that_is_killed_at_any_moment_is_replaced(
    runs, seconds, command, expected, monkeypatch
):
    process, folder = command
    live_until(process, folder, runs, seconds)
    spawned = [one for one in group(process) if "spawn_main" in " ".join(one.cmdline())]
    if spawned:
        random.Random(seconds).choice(spawned).kill()
    assert process.wait() == 0, (folder.parent / "said").read_text()
    assert len(kept_in(folder)) == 16
    go_on(folder, expected, monkeypatch)


WAITING = """
import sys
sys.path.insert(0, sys.argv[1])
from core.running.odd_jobs import noting
from safeteach.running.jobs import run_jobs
run_jobs(noting(sys.argv[2], [0]), folder=sys.argv[3])
"""


@pytest.mark.slow
def test_ctrl_c_ends_who_waits_for_another_command(ran, tmp_path):
    claim = Shelf(tmp_path / "kept").claim(key(0))
    command = [sys.executable, "-c", WAITING, TESTS, ran, tmp_path / "kept"]
    with (tmp_path / "said").open("w") as said:
        process = subprocess.Popen(command, stderr=said)
    read = (tmp_path / "said").read_text
    wait_for(lambda: "waiting for another command" in read(), "it waits", process)
    process.send_signal(signal.SIGINT)
    assert process.wait() == -signal.SIGINT
    assert "interrupted; 0 of 1 runs are kept\n" in read() and notes(ran) == []
    claim.release()


@pytest.fixture
def last(tmp_path):
    """A claim on the last run, so that no command that compares comes to its end."""
    folder = tmp_path / "one"
    mdp = st.instances.ice_corridor()
    st.compare({"UCBVI": st.UCBVI}, mdp, EPISODES, [7], folder=folder, progress=False)
    (kept,) = folder.iterdir()
    return Shelf(tmp_path / "kept").claim(kept.stem)


@pytest.mark.slow
def test_ctrl_c_ends_everything_and_says_how_to_go_on(last, command, expected, monkeypatch):
    process, folder = command
    wait_for(lambda: len(kept_in(folder)) >= 2, "two runs kept", process)
    os.killpg(process.pid, signal.SIGINT)  # what a terminal does: to all of them
    assert process.wait() == -signal.SIGINT
    said = (folder.parent / "said").read_text()
    kept = len(kept_in(folder))
    assert f"interrupted; {kept} of 16 runs are kept in {folder}: the same call goes on" in said
    assert said.count("Traceback") == 1 and said.rstrip().endswith("KeyboardInterrupt")
    wait_for(lambda: not group(process), "all processes gone")
    last.release()
    assert len([*folder.iterdir()]) == len(kept_in(folder)) == kept  # nothing is half done
    go_on(folder, expected, monkeypatch)


def interrupting(function, moment, held):
    """The same function, interrupted the third time that an interrupt is held back from it."""

    def call(*args, **settings):
        held.append(signal.getsignal(signal.SIGINT) is not signal.default_int_handler)
        now = held[-1] and sum(held) == 3
        if now and moment == "before":
            signal.raise_signal(signal.SIGINT)
        result = function(*args, **settings)
        if now and moment == "after":
            signal.raise_signal(signal.SIGINT)
        return result

    return call


BOOKS = [
    (keeping, "_claim"), (keeping, "_is_at"), (keeping.Shelf, "find"), (keeping.Claim, "keep"),
    (keeping.Claim, "release"),
]  # fmt: skip


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize(("owner", "name"), BOOKS)
def test_ctrl_c_in_the_middle_of_the_books_waits_until_they_are_right(
    owner, name, moment, ran, tmp_path, threads, monkeypatch
):
    kept, held = tmp_path / "kept", []
    monkeypatch.setattr(owner, name, interrupting(getattr(owner, name), moment, held))
    with pytest.raises(KeyboardInterrupt):
        quietly(noting(ran, range(8)), folder=kept, executor=threads)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert sum(held) >= 3
    done = kept_in(kept)
    assert len([*kept.iterdir()]) == len(done) < 8  # no claim is left
    monkeypatch.undo()
    found = quietly(noting(ran, range(8)), folder=kept, executor=threads)
    assert [one["n"] for one in found] == [*range(8)]
    assert done.items() <= kept_in(kept).items()
