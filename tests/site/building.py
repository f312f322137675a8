"""Build a small book as `jupyter-book` does, in a process that need not import it first.

The import takes longer than a small book; a server has done it, and every build is a fork of it.
"""

import multiprocessing
import os
import sys
from pathlib import Path

SERVED = multiprocessing.get_context("forkserver")
SERVED.set_forkserver_preload(
    ["jupyter_book.cli.main", "jupyter_book.sphinx", "myst_nb.sphinx_", "sphinx.builders.html"]
)


def build(folder):
    """Build the book of a folder with warnings as errors: whether it passed, and what it said."""
    log = folder / "log.txt"
    process = SERVED.Process(target=_build, args=(folder, log))
    process.start()
    process.join()
    return process.exitcode == 0, log.read_text("utf-8")


def _build(folder, log):
    from jupyter_book.cli.main import main

    os.chdir(folder)
    with Path(log).open("wb") as file:
        for stream in (sys.stdout, sys.stderr):
            os.dup2(file.fileno(), stream.fileno())
    main(["build", ".", "-W", "-n", "--keep-going"])
