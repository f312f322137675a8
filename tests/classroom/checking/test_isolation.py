"""What a child process may do, what it cannot, and that none is left behind."""

import contextlib
import math
import os
import signal
import socket
import stat
import subprocess
import sys
import textwrap
import time
import types

import numpy as np
import pytest

import safeteach as st
from safeteach.chapters import danger_ahead, the_algorithm
from safeteach.classroom.checking import isolation
from safeteach.classroom.checking.sending import Unsendable, pack, unpack

WAYS = pytest.mark.parametrize("way", ["fork", "new Python"])


@pytest.fixture
def take(monkeypatch):
    """Let the work be done in another way than this system would choose."""
    return lambda way: monkeypatch.setattr(isolation, "way", lambda: way)


@pytest.fixture
def short_limit(monkeypatch):
    monkeypatch.setattr(isolation, "LIMIT", 1.0)


def is_running(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True)
    return not state.stdout.startswith("Z")


def wait_until(holds):
    deadline = time.monotonic() + 300  # never reached, however busy the machine is
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_the_way_depends_on_the_system(monkeypatch):
    assert isolation.way() == "fork"
    monkeypatch.delattr(os, "fork")
    assert isolation.way() == "new Python"
    monkeypatch.setattr(sys, "platform", "emscripten")
    assert isolation.way() == "here"


@WAYS
def test_numbers_and_text_arrive_as_they_are(way, take):
    take(way)
    things = [[math.inf, -math.inf, 0.1 + 0.2, 2**70], "τ\n\ud800\x00", {"a": None, "b": [True]}]
    assert isolation.isolated(iter, [things]).last == things
    assert math.isnan(isolation.isolated(iter, [math.nan]).last)


@WAYS
def test_a_bug_of_the_checker_is_not_blamed_on_the_reader(way, take):
    take(way)

    def work():
        yield 1
        raise ZeroDivisionError

    with pytest.raises(RuntimeError, match=r"the checker itself failed:(.|\n)*ZeroDivisionError"):
        isolation.isolated(work)


# What a child holds -----------------------------------------------------------------------------


def descriptors():
    """Where each descriptor of this process leads."""
    for number in sorted(map(int, os.listdir("/dev/fd"))):  # noqa: PTH208
        with contextlib.suppress(OSError):  # the one that listed them
            yield number, os.readlink(f"/dev/fd/{number}")  # noqa: PTH115


def what_it_holds():
    yield list(descriptors())


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a descriptor does not say its end")
@WAYS
def test_a_child_holds_nothing_of_the_notebook(way, take, tmp_path):
    take(way)
    with socket.create_server(("127.0.0.1", 0)), (tmp_path / "notes").open("w"):
        held = isolation.isolated(what_it_holds).last
    leads = [end for _, end in held]
    assert not [end for end in leads if end.startswith("socket:") or str(tmp_path) in end]
    assert sum(end.startswith("pipe:") for end in leads) == 2
    assert {end for end in leads if not end.startswith("pipe:")} == {os.devnull}
    assert {number for number, end in held if end == os.devnull} >= {0, 1, 2}


# Lines that are no messages ---------------------------------------------------------------------


def pipes():
    """The pipes that this process can write to."""
    for number in sorted(map(int, os.listdir("/dev/fd"))):  # noqa: PTH208
        with contextlib.suppress(OSError):
            if number > 2 and stat.S_ISFIFO(os.fstat(number).st_mode):
                yield number


def writes(text):
    for number in pipes():
        with contextlib.suppress(OSError):  # the one that can only be read
            os.write(number, text)


@pytest.mark.usefixtures("short_limit")
@WAYS
def test_half_a_message_takes_no_longer_than_the_limit(way, take):
    take(way)

    def work():
        yield "first"
        writes(b'["yields", "sec')
        time.sleep(3600)

    assert isolation.isolated(work) == isolation.Run("first", "late")


@pytest.mark.parametrize(
    "line", [b"\x80\x05.\n", b"{}\n", b'["yields"]\n', b"\xff\n", b"x" * (isolation.LONGEST_LINE)]
)
def test_a_line_that_is_no_message_ends_the_run(line):
    def work():
        yield "first"
        writes(line)
        while not line.endswith(b"\n"):  # it never comes to an end
            time.sleep(3600)
        yield "second"

    assert isolation.isolated(work) == isolation.Run("first", "garbled")


def test_the_reader_is_told_of_such_a_line():
    def answer(mdp):
        writes(b"found it\n")
        return st.potentially_unsafe(mdp)

    text = " ".join(danger_ahead.check("recursion", answer).text.split())
    assert "It wrote to a descriptor that it has not opened, the one that we listen to." in text
    assert "The world: 1 state" in text


# Limits -----------------------------------------------------------------------------------------


def burns_with_signals_blocked(_mdp):
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    while True:
        pass


def test_a_limit_on_the_processor_ends_what_no_clock_ends(monkeypatch):
    monkeypatch.setattr(isolation, "LIMIT", 3600.0)
    monkeypatch.setattr(isolation, "PROCESSOR", 1)
    text = " ".join(danger_ahead.check("recursion", burns_with_signals_blocked).text.split())
    assert "The system has ended it (SIGKILL): it took too much time or memory." in text


@pytest.mark.usefixtures("short_limit")
@WAYS
def test_a_limit_by_the_clock_ends_it_too(way, take):
    take(way)
    text = danger_ahead.check("recursion", burns_with_signals_blocked).text
    assert "It was stopped: it did not end within 1 seconds." in text


def test_memory_is_limited_in_a_new_python_too(take):
    take("new Python")
    verdict = danger_ahead.check("recursion", lambda _mdp: np.ones(2**28))
    assert "Unable to allocate 2.00 GiB" in verdict.text


# The end of the parent --------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere only the pipe ends it")
@WAYS
@pytest.mark.parametrize("sleeps", range(3), ids=["either", "by the pipe", "by the system"])
def test_a_child_ends_with_its_parent(way, sleeps, tmp_path):
    note = tmp_path / "pid"
    code = f"""
        import ctypes, os, pathlib, time
        from safeteach.chapters import danger_ahead
        from safeteach.classroom.checking import isolation

        isolation.way = lambda: {way!r}
        isolation.LIMIT = 3600.0

        def answer(mdp):
            note = pathlib.Path({str(note)!r})
            if {sleeps} == 1:
                ctypes.CDLL(None).prctl(1, 0, 0, 0, 0)  # the system shall not tell us
            part = note.with_suffix(".part")
            part.write_text(str(os.getpid()))
            part.rename(note)
            if {sleeps} == 2:
                ctypes.PyDLL(None).sleep(3600)  # no other thread of Python runs meanwhile
            time.sleep(3600)

        danger_ahead.check("recursion", answer)
    """
    parent = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)])
    try:
        wait_until(note.exists)
        child = int(note.read_text())
        assert is_running(child)
        assert parent.poll() is None
    finally:
        parent.kill()
        parent.wait()
    wait_until(lambda: not is_running(child))


# A new Python -----------------------------------------------------------------------------------

threshold = 2


def doubled(n, *, by=2):
    return by * n


def is_doomed(mdp):
    """Names another function, a module and a number of this file."""
    return st.potentially_unsafe(mdp) if doubled(1) == threshold else np.zeros(1)


def in_a_notebook(function):
    """As if it had been defined there: no other process finds it by its name."""
    own = {**function.__globals__, "__name__": "__main__"}
    made = types.FunctionType(
        function.__code__, own, function.__name__, function.__defaults__, function.__closure__
    )
    made.__module__, made.__kwdefaults__ = "__main__", function.__kwdefaults__
    return made


def test_a_function_of_a_notebook_is_judged_in_a_new_python(take):
    take("new Python")
    here = os.getpid()

    def answer(mdp):
        assert os.getpid() != here
        return in_its_turn(mdp)

    in_its_turn = in_a_notebook(is_doomed)
    assert danger_ahead.check("recursion", answer).text.endswith("right. Tried on 76 worlds.")
    wrong = danger_ahead.check("recursion", in_a_notebook(lambda mdp: mdp.S))
    assert "expected a (H, S) = (1, 1) array of bool, got 1." in wrong.text
    assert "without a limit" not in wrong.text


def test_functions_arrive_with_what_they_hold():
    def factorial(n):
        return 1 if n == 0 else n * factorial(n - 1)

    def scaled(n, by=3, *, plus=1):
        return by * n + plus + threshold

    def inside(n):
        return [scaled(m) + doubled(m) for m in range(n)]

    for function in (factorial, scaled, inside, in_a_notebook(doubled), lambda n: -n):
        sent = unpack(pack(function))
        assert sent is not function
        assert [sent(n) for n in range(4)] == [function(n) for n in range(4)]
        assert sent.__name__ == function.__name__
    assert unpack(pack(st.potentially_unsafe)) is st.potentially_unsafe
    assert unpack(pack(math)) is math


def test_what_cannot_be_sent_is_judged_here_and_said_so(take):
    take("new Python")
    calls = []

    class Answer:
        def __call__(self, mdp):
            calls.append(mdp)
            return st.potentially_unsafe(mdp)

    with pytest.raises(Unsendable):
        pack(Answer())
    verdict = danger_ahead.check("recursion", Answer())
    assert verdict
    assert verdict.text.endswith("76 worlds.\n(Checked without a limit on time, in this process.)")
    assert len(calls) == 76
    Answer.__module__ = "__main__"
    with pytest.raises(Unsendable, match="Answer is a class that only this process knows"):
        pack(Answer)


def test_what_the_new_python_cannot_read_is_judged_here(take, monkeypatch):
    take("new Python")
    ours = types.ModuleType("a_module_that_only_we_have")
    ours.potentially_unsafe = st.potentially_unsafe
    monkeypatch.setitem(sys.modules, ours.__name__, ours)
    verdict = danger_ahead.check("recursion", lambda mdp: ours.potentially_unsafe(mdp))
    assert verdict
    assert "(Checked without a limit on time, in this process.)" in verdict.text


def test_where_no_python_can_be_started_it_is_judged_here(take, monkeypatch):
    take("new Python")
    monkeypatch.setattr(sys, "executable", os.devnull)
    assert isolation.isolated(iter, [1, 2]) == isolation.Run(2, "done", limited=False)


def starts_late():
    time.sleep(3)
    return iter(["soon"])


@WAYS
def test_what_is_compiled_before_does_not_count_as_time(way, take, monkeypatch):
    take(way)
    monkeypatch.setattr(isolation, "LIMIT", 2.0)
    assert isolation.isolated(starts_late) == isolation.Run("soon", "done")


def test_a_new_python_compiles_what_a_chapter_needs(take):
    take("new Python")
    assert the_algorithm.check("by-hand", (1, 2, 1))


def test_a_child_that_does_not_even_start_is_not_waited_for(take, monkeypatch):
    take("new Python")
    monkeypatch.setattr(isolation, "START", 0.0)
    assert isolation.isolated(iter, [1]) == isolation.Run(None, "late")
