"""What Binder would do with the repository, read from the Dockerfile that it would build."""

import subprocess
import sys

from built import ROOT


def test_binder_installs_the_library_with_the_pins_of_the_book():
    command = [sys.executable, "-m", "repo2docker", "--no-build", "--debug", "."]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    log = run.stdout + run.stderr
    assert run.returncode == 0, log
    assert "Building conda environment for python=3.11" in log
    copy = log.index("COPY --chown=0:0 src/ ${REPO_DIR}/")
    install = log.index('pip install --no-cache-dir -r "binder/requirements.txt"')
    assert copy < install, "the library and its pins are not there yet when they are installed"
