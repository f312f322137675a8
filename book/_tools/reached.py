"""Say how much of the library the tests have reached, and write down what they have not.

The stage after the unit tests runs it, on what their processes left in the file that
``COVERAGE_FILE`` names.  What no test reached is listed in ``_build/coverage.txt``; a line that no
test reaches and nobody excuses fails the stage.
"""

import json
import subprocess
import sys
from pathlib import Path

BUILD = Path(__file__).resolve().parents[2] / "_build"
DATA = BUILD / "coverage" / "data"
LIST = BUILD / "coverage.txt"


def coverage(*command: str) -> str:
    """Run the program coverage on what was measured."""
    whole = [sys.executable, "-m", "coverage", command[0], f"--data-file={DATA}", *command[1:]]
    return subprocess.run(whole, check=True, capture_output=True, text=True).stdout


def share(part: int, whole: int) -> str:
    """Write a share in percent, rounded down so that 100 means all.

    Examples
    --------
    >>> share(1999, 2000)
    '99.9%'
    """
    return f"{1000 * part // whole / 10}%" if whole else "100.0%"


def main() -> None:
    """Put the data together, print one line, and fail if a line was not reached."""
    coverage("combine", str(DATA.parent))
    LIST.write_text(coverage("report", "--show-missing", "--skip-covered"), "utf-8")
    totals = json.loads(coverage("json", "-o", "-", "-q"))["totals"]
    lines = share(totals["covered_lines"], totals["num_statements"])
    branches = share(totals["covered_branches"], totals["num_branches"])
    print(f"coverage {lines} of lines, {branches} of branches; the rest is in _build/coverage.txt")
    if totals["missing_lines"]:
        print(LIST.read_text("utf-8"))
        sys.exit("No test reaches these: test them, delete them, or excuse them with a reason.")


if __name__ == "__main__":
    main()
