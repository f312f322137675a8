"""Whatever an answer does, ``check`` says so clearly and the notebook goes on."""

import contextlib
import logging
import os
import re
import signal
import subprocess
import sys
import threading
import time

import notebooks
import numpy as np
import pytest
from nbformat.v4 import new_code_cell, new_notebook

import safeteach as st
from safeteach.chapters import danger_ahead, why_every_step_counts
from safeteach.classroom.checking import compiling, isolation
from safeteach.classroom.contents import exercise_number

REAL_LIMIT = isolation.LIMIT


@pytest.fixture
def short_limit(monkeypatch):
    monkeypatch.setattr(isolation, "LIMIT", 1.0)


RECURSION = exercise_number("danger_ahead", "recursion")


def not_yet(answer, exercise=RECURSION):
    verdict = st.check(exercise, answer)
    assert verdict.status == "not yet"
    assert "Hint: " in verdict.text
    assert not re.search(r"0x[0-9a-f]{4}", verdict.text)
    return " ".join(verdict.text.split())


def raises(mdp):
    empty = []
    return empty[mdp.H]


def raises_in_the_library(mdp):
    return mdp.successors(0, 0, 0)


class BadError(Exception):
    def __str__(self):
        raise RuntimeError


def raises_what_cannot_be_printed(_mdp):
    raise BadError


def raises_at_length(_mdp):
    raise ValueError("x" * 10**6)


def raises_with_an_address(_mdp):
    raise ValueError(object())


def exits(_mdp):
    sys.exit(1)


def exits_at_once(_mdp):
    os._exit(0)


def crashes(_mdp):
    os.kill(os.getpid(), signal.SIGSEGV)


def interrupts(_mdp):
    raise KeyboardInterrupt


def recurses(mdp):
    return recurses(mdp)


def asks(_mdp):
    return input("U? ")


def wants_a_terabyte(_mdp):
    return np.ones(10**12)


def wants_ever_more(_mdp):
    hoard = []
    while True:
        hoard.append(np.empty(2**24))


def makes_a_list(mdp):
    return st.potentially_unsafe(mdp).tolist()


def makes_a_generator(mdp):
    yield from st.potentially_unsafe(mdp)


def makes_numbers(mdp):
    return np.full((mdp.H, mdp.S), np.nan)


def makes_the_wrong_shape(mdp):
    return st.potentially_unsafe(mdp)[0]


def makes_an_object_array(mdp):
    return st.potentially_unsafe(mdp).astype(object)


def makes_a_function(mdp):
    return lambda: mdp


async def awaits(mdp):
    return st.potentially_unsafe(mdp)


def sometimes_returns_nothing(mdp):
    return st.potentially_unsafe(mdp) if mdp.H < 3 else None


def takes_two(_mdp, U):
    return U


def changes_tau(mdp):
    U = st.potentially_unsafe(mdp)
    vars(mdp)["tau"] = 1.0  # whatever guards the world's own attributes
    return U


def exchanges_an_array(mdp):
    U = st.potentially_unsafe(mdp)
    vars(mdp)["c"] = 1 - mdp.c
    return U


def writes_to_a_frozen_array(mdp):
    mdp.c[0] = 1


def hangs_something_on(mdp):
    vars(mdp)["cache"] = lambda: None
    return st.potentially_unsafe(mdp)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (raises, "It raises IndexError: list index out of range (line"),
        (raises, ": return empty[mdp.H])"),
        (raises_in_the_library, "h is 0; the steps are 1..1 (line"),
        (raises_in_the_library, ": return mdp.successors(0, 0, 0))"),
        (raises_what_cannot_be_printed, "It raises BadError (line"),
        (raises_at_length, "ValueError: xxx"),
        (raises_with_an_address, "ValueError: <object object>"),
        (exits, "SystemExit: it ends Python instead of returning (line"),
        (exits_at_once, "It ended Python instead of returning."),
        (crashes, "It crashed Python (SIGSEGV)"),
        (interrupts, "It raises KeyboardInterrupt (line"),
        (recurses, "It raises RecursionError: maximum recursion depth exceeded"),
        (asks, "EOFError: an answer cannot ask for input, as in input('U? ')"),
        (wants_a_terabyte, "Unable to allocate 7.28 TiB"),
        (wants_ever_more, "Unable to allocate 128. MiB"),
        (makes_a_list, "expected a (H, S) = (1, 1) array of bool, got a list of length 1."),
        (makes_a_generator, "array of bool, got a generator (write return, not yield)."),
        (makes_numbers, "array of bool, got an array of float64 with shape (1, 1)."),
        (makes_the_wrong_shape, "array of bool, got an array of bool with shape (1,)."),
        (makes_an_object_array, "array of bool, got an array of object with shape (1, 1)."),
        (makes_a_function, "array of bool, got a function."),
        (awaits, "array of bool, got a coroutine."),
        (sometimes_returns_nothing, "array of bool, got None."),
        (takes_two, "TypeError: takes_two() missing 1 required positional argument: 'U'."),
        (changes_tau, "It changes its argument mdp;"),
        (exchanges_an_array, "It changes its argument mdp;"),
        (writes_to_a_frozen_array, "ValueError: assignment destination is read-only (line"),
        (hangs_something_on, "It changes its argument mdp;"),
        (np.zeros((2, 2)), "Expected a function, got an array of float64 with shape (2, 2): hand"),
        ("U", "Expected a function, got a str: hand over the function itself"),
        (isolation, "Expected a function, got a module"),
    ],
)
def test_is_named(answer, said, capfd):
    text = not_yet(answer)
    assert said in text
    assert len(text) < 2000
    assert capfd.readouterr() == ("", "")


def test_a_changed_array_is_named_too():
    def answer(mdp, U):
        safe = st.safe_actions(mdp)
        U[0] = True
        return safe

    assert "It changes its argument U; work on a copy instead." in not_yet(answer, "4.3")


def runs_a_learner(mdp):
    """All of these fill what a world keeps for later, and change nothing of it."""
    if st.is_feasible(mdp):
        st.run(st.SUCBVI(mdp.known, episodes=2), mdp)
        st.constrained_optimal(mdp, budget=mdp.H)
        st.explore(st.SRFUCRL(mdp.known), mdp, episodes=2)
    mdp.all_rows()
    return st.potentially_unsafe(mdp)


@pytest.mark.parametrize(
    ("exercise", "answer"),
    [
        ("recursion", runs_a_learner),
        ("mask", lambda mdp, _U: (runs_a_learner(mdp), st.safe_actions(mdp))[1]),
        ("find-the-bug", lambda mdp: (runs_a_learner(mdp), st.is_feasible(mdp))[1]),
    ],
)
def test_what_a_world_keeps_for_later_is_no_change(exercise, answer):
    compiling.learners()  # as for a reader who has run them before
    compiling.explorers()
    st.constrained_optimal(st.instances.ice_corridor(), budget=1.0)
    assert danger_ahead.check(exercise, answer)


def test_an_argument_that_is_made_endless_is_a_change():
    def answer(costs, tau):
        right = sum(max(c - tau, 0) for c in costs)
        costs[0] = costs
        return right

    text = " ".join(why_every_step_counts.check("find-the-bug", answer).text.split())
    assert "It changes its argument costs; work on a copy instead." in text
    assert "Seen with costs = [0.75], tau = 0.5." in text


def loops(_mdp):
    while True:
        pass


def loops_and_catches_all(_mdp):
    while True:
        try:
            while True:
                pass
        except:  # noqa: E722
            pass


def sleeps(_mdp):
    time.sleep(3600)


@pytest.mark.usefixtures("short_limit")
@pytest.mark.parametrize("answer", [loops, loops_and_catches_all, sleeps])
def test_an_endless_answer_is_stopped(answer):
    assert "It was stopped: it did not end within 1 seconds." in not_yet(answer)


@pytest.mark.thorough
def test_with_the_real_limit_it_is_stopped_too(monkeypatch):
    monkeypatch.setattr(isolation, "LIMIT", REAL_LIMIT)
    assert "did not end within 8 seconds" in danger_ahead.check("recursion", loops).text


@pytest.mark.usefixtures("short_limit")
def test_a_failure_that_was_found_survives_an_endless_search_for_a_smaller_one():
    def answer(mdp):
        if mdp.S == 3 and mdp.H == 2:
            return np.zeros(0)
        while mdp.S == 3:
            pass
        return st.potentially_unsafe(mdp)

    # Of the worlds of three states, the first to come has three steps: this is an endless one.
    assert "did not end" in not_yet(answer)

    def fails_first(mdp):
        while (mdp.S, mdp.H) == (2, 1) and mdp.c[0] > 0.5:
            pass
        return st.potentially_unsafe(mdp) ^ (mdp.S == 2 and mdp.unsafe.all())

    assert "It says False at step h = 2, state 0; right is True." in not_yet(fails_first)


def test_a_flood_of_prints_stays_small(capfd):
    def answer(mdp):
        for _ in range(50):
            print("x" * 2**20)
            print("y" * 2**10, file=sys.stderr)
        os.write(1, b"straight to the terminal")
        return None if mdp.S > 1 else st.potentially_unsafe(mdp)

    text = not_yet(answer)
    assert "It printed: xxxx" in text
    assert len(text) < 2000
    assert capfd.readouterr() == ("", "")


def test_a_right_answer_may_print(capfd):
    def answer(mdp):
        print(mdp)
        return st.potentially_unsafe(mdp)

    right = f"Exercise {RECURSION}: right. Tried on 76 worlds."
    assert danger_ahead.check("recursion", answer).text == right
    assert capfd.readouterr() == ("", "")


def test_nothing_that_an_answer_starts_stays_behind(tmp_path):
    note = tmp_path / "pid"

    def answer(mdp):
        child = subprocess.Popen(["sleep", "600"])
        note.write_text(str(child.pid))
        threading.Thread(target=time.sleep, args=(600,)).start()
        os._exit(0) if mdp.H > 1 else None
        return st.potentially_unsafe(mdp)

    not_yet(answer)
    deadline = time.monotonic() + 120
    while is_running(int(note.read_text())):
        assert time.monotonic() < deadline, "the answer's own process is still there"
        time.sleep(0.01)


def is_running(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True)
    return not state.stdout.startswith("Z")


def children():
    """Processes of this process, dead ones that nobody reaped included."""
    ps = subprocess.Popen(["ps", "-A", "-o", "pid=,ppid="], stdout=subprocess.PIPE, text=True)
    pairs = [map(int, line.split()) for line in ps.communicate()[0].splitlines()]
    return {pid for pid, parent in pairs if parent == os.getpid() and pid != ps.pid}


def test_no_child_is_left_to_reap():
    before = children()
    not_yet(raises)
    danger_ahead.check("recursion", st.potentially_unsafe)
    assert children() <= before


def test_a_child_that_is_left_would_be_seen():
    before = children()
    left = subprocess.Popen(["true"])
    assert children() - before == {left.pid}
    left.wait()


def test_an_interrupt_while_a_child_is_started_leaves_none(monkeypatch):
    """It comes when there is a child and nobody knows of it yet."""
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        pytest.skip("this process does not take interrupts")
    before, fork = children(), os.fork

    def fork_and_interrupt():
        pid = fork()
        if pid:
            os.kill(os.getpid(), signal.SIGINT)
        return pid

    monkeypatch.setattr(os, "fork", fork_and_interrupt)
    with pytest.raises(KeyboardInterrupt):
        danger_ahead.check("recursion", sleeps)
    assert children() <= before
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_the_reader_can_interrupt_a_check():
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        pytest.skip("this process does not take interrupts")
    before = children()

    def interrupt_once_it_runs():
        while children() <= before:
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    reader = threading.Thread(target=interrupt_once_it_runs)
    reader.start()  # it waits until the check is under way
    with pytest.raises(KeyboardInterrupt):
        danger_ahead.check("recursion", sleeps)
    reader.join()
    assert children() <= before


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (raises, "IndexError: list index out of range (line"),
        (exits, "SystemExit: it ends Python"),
        (interrupts, "It raises KeyboardInterrupt"),
        (recurses, "RecursionError"),
        (makes_a_list, "got a list of length 1"),
        (changes_tau, "It changes its argument mdp"),
        (raises_what_cannot_be_printed, "It raises BadError"),
        (raises_at_length, "ValueError: xxx"),
        (np.zeros((2, 2)), "Expected a function, got an array of float64 with shape (2, 2)"),
    ],
)
def test_in_a_browser_all_but_the_limits_holds(answer, said, capfd, monkeypatch):
    monkeypatch.setattr(isolation, "way", lambda: "here")
    text = not_yet(answer)
    assert said in text
    assert "(Checked without a limit on time, in this process.)" in text
    assert capfd.readouterr() == ("", "")


@pytest.mark.slow
def test_a_kernel_hears_nothing_but_the_verdict(tmp_path):
    """A kernel relays what its forks print, log and display: a child must be cut off from it."""
    source = """
        import logging, os, sys
        from safeteach.chapters import danger_ahead, why_every_step_counts
        from IPython.display import display

        logging.basicConfig(level=logging.INFO)
        stdout = sys.stdout

        def answer(mdp):
            print("LEAK to sys.stdout", file=stdout, flush=True)
            print("LEAK to the real one", file=sys.__stdout__, flush=True)
            logging.error("LEAK to a log")
            display("LEAK to the page")
            os.system("echo LEAK from a shell")
            print("heard")
            return 3

        danger_ahead.check("recursion", answer)
    """
    lines = source.replace("\n        ", "\n").strip()
    cells = [new_code_cell(lines), new_code_cell("print('and on it goes')")]
    run = notebooks.execute(new_notebook(cells=cells), tmp_path)
    verdict, picture = run.cells[0].outputs
    assert verdict.data["text/plain"].startswith(f"Exercise {RECURSION}: not yet.")
    assert "It printed:\n  heard" in verdict.data["text/plain"]
    assert "LEAK" not in str(run.cells[0].outputs)
    assert picture.metadata["image/png"]["alt"] == picture.data["text/plain"]
    assert run.cells[1].outputs[0].text == "and on it goes\n"


def test_output_of_the_notebook_itself_is_not_touched(capfd):
    logging.getLogger("reader").propagate = False
    with contextlib.redirect_stdout(sys.stderr):
        danger_ahead.check("recursion", raises)
        print("still here")
    assert capfd.readouterr() == ("", "still here\n")
