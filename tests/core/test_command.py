"""The command: it does what st.report does, and says in a sentence what is wrong."""

import runpy
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import safeteach as st
from safeteach.command import TABLE, main

OPTIONS = ["--horizon", "5", "--threshold", "0.5"]
LAKE = "\n".join(line.strip() for line in TABLE.splitlines() if line.count(",") == 5)


@pytest.fixture(autouse=True)
def lake(tmp_path, monkeypatch):
    """Stand in a folder with the table that the help shows."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lake.csv").write_text(LAKE)
    return tmp_path


def test_the_table_of_the_help_is_read_and_its_report_is_that_of_the_library(capsys):
    assert main(["report", "lake.csv", *OPTIONS]) == 0
    made = st.report(st.from_table("lake.csv", H=5, tau=0.5))
    assert Path("report.html").read_text("utf-8") == made.html
    assert capsys.readouterr().out == f"{made.verdict}\nThe report is in report.html\n"


def test_the_options_arrive():
    options = ["--start", "deep", "--out", "page.html", "--title", "The lake"]
    assert main(["report", "lake.csv", *OPTIONS, *options]) == 0
    world = st.from_table("lake.csv", H=5, tau=0.5, start="deep")
    assert Path("page.html").read_text("utf-8") == st.report(world, title="The lake").html


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nowhere.csv", *OPTIONS], "table is 'nowhere.csv'; expected a CSV file that can be read"),
        (["bad.csv", *OPTIONS], "bad.csv, line 3: probability is 'much'; expected a number"),
        (["lake.csv", "--horizon", "0", "--threshold", "0.5"], "H is 0; it must be at least 1"),
        (["lake.csv", "--horizon", "5", "--threshold", "2"], "tau is 2.0; the threshold must lie"),
        (["lake.csv", "--horizon", "x", "--threshold", "0.5"], "--horizon: invalid int value: 'x'"),
        (["lake.csv", "--horizon", "5"], "the following arguments are required: --threshold"),
        (["lake.csv", *OPTIONS, "--start", "shor"], "which no state has; close to it: 'shore'"),
        (["lake.csv", *OPTIONS, "--out", "no/x.html"], "there is no folder 'no'"),
        (
            ["lake.csv", *OPTIONS, "--out", "./lake.csv"],
            "--out is './lake.csv', which is the table",
        ),
    ],
)
def test_what_is_wrong_is_a_sentence_and_code_2(arguments, sentence, capsys, lake):
    (lake / "bad.csv").write_text(LAKE.replace("0.9", "much"))
    with pytest.raises(SystemExit) as end:
        main(["report", *arguments])
    said = capsys.readouterr()
    assert end.value.code == 2 and said.out == ""
    assert sentence in said.err.splitlines()[-1]
    assert not (lake / "report.html").exists()
    assert (lake / "lake.csv").read_text() == LAKE


def test_the_help_teaches(capsys):
    with pytest.raises(SystemExit) as end:
        main(["report", "--help"])
    said = capsys.readouterr().out
    assert end.value.code == 0 and all(line in said for line in LAKE.splitlines())
    assert "safeteach report lake.csv --horizon 5 --threshold 0.5" in said


def test_python_m_safeteach_is_the_same(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["safeteach", "report", "lake.csv", *OPTIONS])
    with pytest.raises(SystemExit) as end:
        runpy.run_module("safeteach", run_name="__main__")
    assert end.value.code == 0 and capsys.readouterr().out.startswith("Yes: from shore")


def test_who_only_imports_it_runs_nothing():
    assert import_module("safeteach.__main__").main is main
    del sys.modules["safeteach.__main__"]  # whoever runs it next would be warned


WITHOUT = "import sys; sys.modules['matplotlib'] = None; from safeteach.command import main; main()"


@pytest.mark.parametrize(
    ("command", "code", "out", "err"),
    [
        pytest.param(
            [Path(sys.executable).with_name("safeteach")], 0, "Yes: from shore", "",
            marks=pytest.mark.thorough,
        ),
        ([sys.executable, "-W", "error", "-m", "safeteach"], 0, "Yes: from shore", ""),
        ([sys.executable, "-c", WITHOUT], 2, "", 'say pip install "safeteach[figures]"\n'),
    ],
    ids=["script", "module", "without matplotlib"],
)
def test_in_a_terminal(command, code, out, err):
    done = subprocess.run(
        [*command, "report", "lake.csv", *OPTIONS], capture_output=True, text=True
    )
    assert (done.returncode, done.stderr[-len(err) :] if err else done.stderr) == (code, err)
    assert done.stdout.startswith(out) and "Traceback" not in done.stderr
    wrong = subprocess.run([*command, "report", "x.csv", *OPTIONS], capture_output=True, text=True)
    assert wrong.returncode == 2 and wrong.stdout == "" and "Traceback" not in wrong.stderr
