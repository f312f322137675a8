"""Make the stored studies of the book: experiments that take longer than a chapter may.

Run it through ``make figure1`` and the like.  Every run is kept in ``_build/studies`` as soon as
it is finished, so that after an interruption the same command goes on where it stopped.  What the
chapters show of a study is stored small in ``book/data``; the study's own file says what is there.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duels
import field
import lower_bounds
import pond
import reward_free
import stopping
from storing import ROOT, Study, store

from safeteach.running.jobs import Job, run_jobs
from safeteach.running.keying import Keys

RUNS = ROOT / "_build" / "studies"


@dataclass
class Bench:
    """Where a study is run, see :class:`storing.Bench`."""

    folder: Path = RUNS

    def each(self, call: Callable[[Any], Any], cases: Sequence[Any], kind: type) -> list[Any]:
        """``call(case)`` of every case, kept by the code of ``call`` and the case."""
        keys, name = Keys(), call.__name__
        jobs = [
            Job(f"{name}({case})", call, (case,), keys.key(name, call, case), kind)
            for case in cases
        ]
        return run_jobs(jobs, folder=self.folder)


def studies() -> dict[str, Study]:
    """Every study by its name."""
    others = (reward_free.STUDY, lower_bounds.STUDY, stopping.STUDY, duels.STUDY)
    return pond.studies() | {study.name: study for study in others} | field.studies()


def make(study: Study, file: Path, bench: Bench) -> None:
    """Run what has not been run of a study and store what the chapters show."""
    arrays = study.arrays(bench)
    store(file, about=json.dumps(study.about(), indent=1), **arrays)


def main() -> None:
    """Make the studies that the command line names."""
    known = studies()
    parser = argparse.ArgumentParser(
        description="Run stored studies of the book and write book/data/<study>.npz.",
        epilog="Finished runs are kept in _build/studies; called again, it goes on from there.",
    )
    parser.add_argument("study", nargs="+", choices=tuple(known), help="which study to make")
    for name in parser.parse_args(sys.argv[1:]).study:
        study = known[name]
        print(f"{name}: {study.question}", flush=True)
        make(study, study.file, Bench())
        print(f"{study.file.relative_to(ROOT)}: {study.file.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
