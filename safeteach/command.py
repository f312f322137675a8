"""The command ``safeteach`` for those who would rather not write Python.

``safeteach report plant.csv --horizon 12 --threshold 0.5`` reads a table of transitions and writes
a report about it.  What is wrong is said in a sentence, and the command ends with code 2.

Taught in the chapter *Your own world*.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from safeteach.exchange.tables import from_table

__all__ = ["main"]

ABOUT = "Reinforcement learning that is safe at every step: questions about a world of your own."
REPORT = """\
Read a world from a table and write one page about it: whether some policy can be safe at every
step, what safety costs or how little risk there is, which states are doomed and why, and how all
this changes with the horizon and the threshold."""
TABLE = """\
The table is a CSV file whose first line names its columns; each line after it is a transition:

  state        the name of a state
  action       the name of an action that it has
  next         a state that can follow
  probability  how probable that is; those of a state and an action sum to 1
  reward       any number
  cost         of the state, from 0 to 1: the same in all its lines

Every state needs at least one line, and an end leads back to itself. An example, lake.csv:

  state,action,next,probability,reward,cost
  shore,walk,shore,1,0.5,0
  shore,swim,shore,0.9,1,0
  shore,swim,deep,0.1,1,0
  deep,sink,deep,1,0,1

  safeteach report lake.csv --horizon 5 --threshold 0.5

It answers: yes, who walks until the last step is safe; who swims earns more and may drown."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code.

    Parameters
    ----------
    arguments : sequence of str, optional
        What follows ``safeteach`` in the terminal; by default what really does.

    Examples
    --------
    >>> import os, pathlib, tempfile
    >>> text = '''state,action,next,probability,reward,cost
    ... shore,walk,shore,1,0.5,0
    ... shore,swim,shore,0.9,1,0
    ... shore,swim,deep,0.1,1,0
    ... deep,sink,deep,1,0,1'''
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     table, page = pathlib.Path(folder, "lake.csv"), pathlib.Path(folder, "lake.html")
    ...     _ = table.write_text(text)
    ...     code = main(["report", str(table), "--horizon", "5", "--threshold", "0.5",
    ...                  "--out", str(page)])        # doctest: +ELLIPSIS
    Yes: from shore some policy is safe at every step; the best one earns 3, and the best of all
    policies 4.0951, unsafe with probability 0.3439: the price of safety is 1.0951.
    The report is in ...lake.html
    >>> code
    0
    """
    commands, to_report = _parsers()
    asked = commands.parse_args(arguments)
    try:
        from safeteach.reporting.reports import report  # needs matplotlib, which --help does not

        if Path(asked.out).resolve() == Path(asked.table).resolve():
            raise ValueError(f"--out is {asked.out!r}, which is the table; expected another file")
        world = from_table(asked.table, H=asked.horizon, tau=asked.threshold, start=asked.start)
        made = report(world, asked.out, asked.title)
    except (ValueError, TypeError, OSError, ModuleNotFoundError) as error:
        to_report.error(str(error))  # which ends here, with code 2
    print(made.verdict)
    print(f"The report is in {asked.out}")
    return 0


def _parsers() -> tuple[argparse.ArgumentParser, argparse.ArgumentParser]:
    """The command's, and that of ``report``."""
    shape = argparse.RawDescriptionHelpFormatter
    commands = argparse.ArgumentParser("safeteach", description=ABOUT)
    verbs = commands.add_subparsers(required=True, metavar="report")
    one = verbs.add_parser(
        "report",
        help="write one page about a world in a table",
        description=REPORT,
        epilog=TABLE,
        formatter_class=shape,
    )
    one.add_argument("table", help="the CSV file, such as lake.csv")
    one.add_argument(
        "--horizon", type=int, required=True, metavar="H", help="how many steps an episode has"
    )
    one.add_argument(
        "--threshold", type=float, required=True, metavar="TAU",
        help="a state whose cost is above this is unsafe",
    )  # fmt: skip
    one.add_argument(
        "--start", metavar="STATE", help="where an episode starts; the first state by default"
    )
    one.add_argument(
        "--out", default="report.html", metavar="FILE",
        help="where the page is written, in place of what is there; report.html by default",
    )  # fmt: skip
    one.add_argument("--title", help="the heading of the page")
    return commands, one
