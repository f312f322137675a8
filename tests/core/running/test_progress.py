"""Progress: shown late, on a terminal, with or without tqdm, and never where nobody looks."""

import io
import sys

import numpy as np
import pytest

import safeteach as st
from safeteach.running import progress
from safeteach.running.jobs import Job, run_jobs
from safeteach.running.progress import Progress

MDP = st.instances.ice_corridor()


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def terminal(monkeypatch):
    """A way to sit at one; pytest itself sets stderr when a test begins."""

    def sit():
        monkeypatch.setattr(sys, "stderr", Terminal())
        return sys.stderr

    return sit


@pytest.fixture
def hours(monkeypatch):
    """Let ten seconds pass at each look at the clock."""
    now = iter(range(0, 10**9, 10))
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(now))


@pytest.fixture
def no_tqdm(monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)


def run(**how):
    return st.run(st.UCBVI(MDP.known, episodes=50), MDP, **how)


@pytest.mark.usefixtures("hours", "no_tqdm")
def test_on_a_terminal_it_is_shown_and_changes_nothing(terminal):
    seen = terminal()
    shown = run()
    lines = seen.getvalue().split("\r")[1:]
    assert lines[0] == "UCBVI: episode 0 of 50" and lines[1] == "UCBVI: episode 1 of 50"
    assert lines[-1].endswith("\n") and len(lines) > 5
    assert shown == run(progress=False)


@pytest.mark.usefixtures("hours")
def test_with_tqdm_there_is_a_bar(terminal):
    seen = terminal()
    run()
    assert "UCBVI" in seen.getvalue() and "/50" in seen.getvalue()


@pytest.mark.usefixtures("hours")
def test_nobody_is_told_who_does_not_want_to_know(terminal, monkeypatch):
    seen = terminal()
    run(progress=False)
    st.explore(st.SRFUCRL(MDP.known), MDP, 5, progress=False)
    monkeypatch.setattr(sys, "stderr", io.StringIO())  # no terminal
    run()
    assert seen.getvalue() == sys.stderr.getvalue() == ""


def test_what_is_soon_done_shows_nothing(terminal):
    seen = terminal()
    run()
    assert seen.getvalue() == ""


@pytest.mark.usefixtures("hours", "no_tqdm")
def test_exploring_shows_it_too_and_has_no_end(capsys):
    st.explore(st.SRFUCRL(MDP.known, epsilon=9.99), MDP, 20, progress=True)
    with Progress("on and on", None, True) as shown:
        shown.reach(7)
    said = capsys.readouterr().err
    assert "SRFUCRL: episode 1 of 20" in said and "on and on: episode 7\n" in said


@pytest.mark.usefixtures("no_tqdm")
def test_jobs_are_counted_in_a_line(capsys):
    assert run_jobs([Job("one", divmod, (7, 2))]) == [(3, 1)]
    assert capsys.readouterr().err == "\rruns: run 0 of 1\rruns: run 1 of 1\n"
    line = progress.bar(3, 0, "runs", "run")
    line.set_description("runs, waiting")
    assert capsys.readouterr().err.endswith("\rruns, waiting: run 0 of 3")


def test_it_looks_at_the_clock_five_times_a_second(monkeypatch):
    """Whatever an episode takes, and so costs nothing."""
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    for pace in (1e-5, 0.01, 2.0):
        now[0], looks = 0.0, 0
        shown = Progress("quick", None, True)
        monkeypatch.setattr(progress, "PATIENCE", np.inf)
        for k in range(round(2.0 / pace) + 10):
            now[0] += pace
            if k >= shown.next:
                shown.reach(k)
                looks += 1
        assert looks <= 5 * now[0] + 20
