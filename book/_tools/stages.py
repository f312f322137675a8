"""Run the checks of the repository one after another and sum them up in a table.

Run it through ``make check``, ``make test`` or ``make thorough``.  Beside the time of each stage
stands what it may take on two quiet cores; longer is shown, and is no failure.
"""

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COVERAGE = ROOT / "_build" / "coverage"
# Every process that the tests start notes which lines of the library it reached.
MEASURED = {
    "COVERAGE_PROCESS_START": str(ROOT / "pyproject.toml"),
    "COVERAGE_FILE": str(COVERAGE / "data"),
}
# Tests that try random worlds try more of them (`many` in tests/looping.py).
THOROUGH = {"SAFETEACH_THOROUGH": "1"}
# What is left to `make test` is not even read (tests/conftest.py).
CHECK = {"SAFETEACH_CHECK": "1"}
# They are thousands of processes: each reads what an earlier one has compiled, whoever forbids it.
KEPT = {"PYTHONDONTWRITEBYTECODE": ""}
LOUD = re.compile(r"^NO BROWSER.*", re.MULTILINE)


@dataclass(frozen=True)
class Stage:
    """One check.

    Attributes
    ----------
    name
        What the table calls it.
    command
        What runs, in the .venv.
    count
        Pattern of the line of its output that says how much was checked.
    budget
        Seconds that it may take on two quiet cores.
    needs
        Name of an earlier stage without which it would look at something stale.
    environment
        Variables that it gets beside those that there are.
    """

    name: str
    command: str
    count: str
    budget: int
    needs: str = ""
    environment: dict[str, str] = field(default_factory=dict)


SUMMARY = r"(\d+ (?:passed|failed|errors?)\b[^=]*?) in [\d.]+s"


def stages(which: str) -> tuple[Stage, ...]:
    """List the stages of `which`: the quick ones, all, or all with the tests that take long."""
    tests = {"quick": "not slow and not thorough", "all": "not thorough", "thorough": ""}[which]
    pytest = f"pytest -q -n 2 -m '{tests}' -p no:nbval"  # its imports take seconds in each process
    if which == "thorough":
        pytest += " -o faulthandler_timeout=3600"  # else it ends what takes long
    source = (
        Stage("lint", "ruff check", r"(All checks passed|Found \d+ errors?)", 2),
        Stage("types", "mypy", r"(Success: .*|Found .*)", 15),
    )
    unit = f"{pytest} --dist worksteal --ignore=tests/site"
    if which == "quick":
        return (*source, Stage("unit tests", unit, SUMMARY, 43, environment=CHECK))
    noted = MEASURED
    if which == "thorough":
        noted = MEASURED | THOROUGH
        again = "pytest -q -n 2 --dist loadfile --nbval --ignore=book/_tools book"
        nbval = Stage("nbval", again, SUMMARY, 110)
    else:
        replayed = "pytest -q -p replaying --ignore=book/_tools book"
        tools = {"PYTHONPATH": str(ROOT / "book" / "_tools")}
        nbval = Stage("nbval", replayed, SUMMARY, 5, "build", tools)
    return (
        *source,
        Stage("unit tests", unit, SUMMARY, 310 if which == "all" else 3600, environment=noted),
        Stage("coverage", "python book/_tools/reached.py", r"coverage (.*)", 5),
        Stage("build", "jupyter-book build . -W -n --keep-going", r"(build .*)\.", 130),
        nbval,
        Stage("pages", f"{pytest} --dist loadgroup tests/site", SUMMARY, 253, "build"),
    )


@dataclass(frozen=True)
class Result:
    """How a stage went.

    Attributes
    ----------
    stage
        Which one it was.
    verdict
        A word for the table.
    count
        How much was checked.
    seconds
        How long it took.
    loud
        What must not be overlooked.
    """

    stage: Stage
    verdict: str
    count: str
    seconds: float = 0.0
    loud: tuple[str, ...] = ()

    def line(self) -> str:
        """The stage's line in the table."""
        over = " over" if self.seconds > self.stage.budget else ""
        return (
            f"{self.stage.name:11} {self.verdict:8} {self.seconds:6.1f} s of "
            f"{self.stage.budget:4}{over:5}  {self.count}"
        )


def run(stage: Stage) -> Result:
    """Run a stage, showing its output as it comes."""
    print(f"\n=== {stage.name}: {stage.command}", flush=True)
    start = time.perf_counter()
    lines = []
    with subprocess.Popen(
        shlex.split(stage.command),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=os.environ | KEPT | stage.environment,
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            print(line, end="", flush=True)
            lines.append(re.sub(r"\x1b\[[\d;]*m", "", line))
    verdict = "ok" if process.returncode == 0 else "FAILED"
    text = "".join(lines)
    found = re.findall(stage.count, text)
    loud = tuple(LOUD.findall(text))
    return Result(stage, verdict, found[-1] if found else "", time.perf_counter() - start, loud)


def main() -> None:
    """Run the stages that the command line names, all of them even if one fails."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("which", choices=("quick", "all", "thorough"))
    shutil.rmtree(COVERAGE, ignore_errors=True)
    COVERAGE.mkdir(parents=True)
    results: list[Result] = []
    for stage in stages(parser.parse_args().which):
        if any(r.stage.name == stage.needs and r.verdict != "ok" for r in results):
            results.append(Result(stage, "NOT RUN", f"needs {stage.needs}"))
        else:
            results.append(run(stage))
    print("\n" + "-" * 88)
    for result in results:
        print(result.line())
    print("-" * 88)
    for line in dict.fromkeys(line for result in results for line in result.loud):
        print(line)
    failed = [result.stage.name for result in results if result.verdict != "ok"]
    if failed:
        sys.exit("Failed: " + ", ".join(failed))
    seconds, budget = (sum(r.seconds for r in results), sum(r.stage.budget for r in results))
    print(f"All {len(results)} stages passed in {seconds:.0f} s; the budget is {budget} s.")


if __name__ == "__main__":
    main()
