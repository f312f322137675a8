"""Run the checks of the repository one after another and sum them up in a table.

Run it through ``make check`` or ``make test``.
"""

import argparse
import re
import shlex
import subprocess
import sys
import time
from dataclasses import dataclass


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
    needs
        Name of an earlier stage without which it would look at something stale.
    """

    name: str
    command: str
    count: str
    needs: str = ""


SUMMARY = r"(\d+ (?:passed|failed|errors?)\b[^=]*?) in [\d.]+s"
UNIT = "pytest -q -n 2 --ignore=tests/book"
SOURCE = (
    Stage("lint", "ruff check", r"(All checks passed|Found \d+ errors?)"),
    Stage("types", "mypy", r"(Success: .*|Found .*)"),
)
QUICK = (*SOURCE, Stage("unit tests", f"{UNIT} -m 'not slow'", SUMMARY))
ALL = (
    *SOURCE,
    Stage("unit tests", UNIT, SUMMARY),
    Stage("build", "jupyter-book build . -W -n --keep-going", r"(build .*)\."),
    Stage("nbval", "pytest -q -n 2 --dist loadfile --nbval --ignore=book/_tools book", SUMMARY),
    Stage("pages", "pytest -q -n 2 --dist loadfile tests/book", SUMMARY, needs="build"),
)


@dataclass(frozen=True)
class Result:
    """How a stage went."""

    stage: str
    verdict: str
    count: str
    seconds: float


def run(stage: Stage) -> Result:
    """Run a stage, showing its output as it comes."""
    print(f"\n=== {stage.name}: {stage.command}", flush=True)
    start = time.perf_counter()
    process = subprocess.Popen(
        shlex.split(stage.command), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    lines = []
    assert process.stdout is not None
    for line in process.stdout:
        print(line, end="", flush=True)
        lines.append(re.sub(r"\x1b\[[\d;]*m", "", line))
    verdict = "ok" if process.wait() == 0 else "FAILED"
    found = re.findall(stage.count, "".join(lines))
    count = found[-1] if found else ""
    return Result(stage.name, verdict, count, time.perf_counter() - start)


def main() -> None:
    """Run the stages that the command line names, all of them even if one fails."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("stages", choices=("quick", "all"))
    stages = {"quick": QUICK, "all": ALL}[parser.parse_args().stages]
    results: list[Result] = []
    for stage in stages:
        if any(r.stage == stage.needs and r.verdict != "ok" for r in results):
            results.append(Result(stage.name, "NOT RUN", f"needs {stage.needs}", 0.0))
        else:
            results.append(run(stage))
    print("\n" + "-" * 72)
    for result in results:
        print(
            f"{result.stage:12} {result.verdict:8} {result.seconds:6.1f} s   {result.count}",
        )
    print("-" * 72)
    failed = [result.stage for result in results if result.verdict != "ok"]
    if failed:
        sys.exit("Failed: " + ", ".join(failed))
    print(f"All {len(results)} stages passed in {sum(r.seconds for r in results):.0f} s.")


if __name__ == "__main__":
    main()
