"""What Binder would do with the repository, read from the Dockerfile that it would build."""

import os
import re
import subprocess
import sys

from built import ROOT

BINDER = ROOT / "binder"


def test_binder_installs_the_library_with_the_pins_of_the_book_and_runs_the_chapters():
    command = [sys.executable, "-m", "repo2docker", "--no-build", "--debug", "."]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    log = run.stdout + run.stderr
    assert run.returncode == 0, log
    assert "Building conda environment for python=3.11" in log
    copy = log.index("src/ ${REPO_DIR}/")
    install = log.index('pip install --no-cache-dir -r "binder/requirements.txt"')
    prepare = log.index("./binder/postBuild")
    assert copy < install < prepare, "not there yet when it is needed"


def test_binder_leaves_its_own_jupyterlab_alone_and_builds_no_pages():
    wanted = (BINDER / "requirements.txt").read_text("utf-8")
    [extras] = re.findall(r"^-e \.\[(.*)\]$", wanted, re.MULTILINE)
    assert not {"lab", "book", "test", "all"} & set(extras.split(","))
    assert not re.search(r"^(jupyterlab|notebook|sphinx|jupyter-book)\b(?!-)", wanted, re.MULTILINE)


def test_binder_can_run_what_prepares_the_image():
    assert os.access(BINDER / "postBuild", os.X_OK)
    subprocess.run(["bash", "-n", BINDER / "postBuild"], check=True)
