"""Comparisons on a cluster of dask.distributed, and what is left when its processes die."""

import os
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from core.running.on_a_cluster import MDP, PRINTED, struck
from core.running.test_comparing import check_against, serial

import safeteach as st

TESTS = Path(__file__).parents[2]


def on_a_cluster(what, folder):
    """What the script prints."""
    script = Path(__file__).with_name("on_a_cluster.py")
    done = subprocess.run(
        [sys.executable, script, what, folder],
        capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(TESTS)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_every_run_arrives_though_a_worker_is_killed_and_the_how_to_runs_as_printed(tmp_path):
    assert on_a_cluster("kill", tmp_path) == ""
    assert (tmp_path / "omen").exists(), "nobody was killed"
    makers, how = struck(tmp_path)
    expected = serial(makers, MDP, how["episodes"], how["seeds"])
    results, page = pickle.loads((tmp_path / "found").read_bytes())
    check_against(results, expected)
    # The code of the how-to, as it is printed, on the same cluster.
    check_against(page, serial(PRINTED, MDP, 20, range(3)))
    assert len([*(tmp_path / "results").glob("*.npz")]) == 6
    kept = {file: file.stat().st_mtime_ns for file in how["folder"].iterdir()}
    assert len(kept) == 18 and {file.suffix for file in kept} == {".npz"}
    with ThreadPoolExecutor(1) as here:  # what the cluster has kept is found without it
        check_against(st.compare(makers, MDP, executor=here, **how), expected)
    assert kept == {file: file.stat().st_mtime_ns for file in how["folder"].iterdir()}


@pytest.mark.thorough
def test_a_cluster_that_is_closed_is_said_and_nothing_is_half_written(tmp_path):
    said, later, *more = on_a_cluster("close", tmp_path).splitlines()
    assert said.startswith("the executor died with ") and " of 4 runs unfinished; runs" in said
    assert later.startswith("2 of 2 runs failed")
    assert all("Client is closed" in line for line in more) and len(more) == 2
    kept = [file.name for file in (tmp_path / "kept").iterdir()]
    assert all(name.startswith("UCBVI-") and name.endswith(".npz") for name in kept)
    assert len(kept) <= 2  # the second may have been under way
    with ThreadPoolExecutor(1) as here:
        how = {"folder": tmp_path / "kept", "executor": here, "progress": False}
        check_against(
            st.compare({"UCBVI": st.UCBVI}, MDP, 20, range(2), **how),
            serial({"UCBVI": st.UCBVI}, MDP, 20, range(2)),
        )
