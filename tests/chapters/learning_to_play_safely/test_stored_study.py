"""What the book stores of its duels is what the library makes today."""

import json

import duels
import numpy as np
import pytest
import storing
import studies

import safeteach as st
from safeteach.running.adversaries import ADVERSARIES

AGAIN = "run `make duels`"


@pytest.fixture(scope="module")
def stored():
    with np.load(duels.STUDY.file) as file:
        return dict(file), json.loads(str(file["about"]))


def test_it_was_made_by_this_code(stored):
    _, about = stored
    code = storing.code_digest(duels.__file__)
    assert about["code"] == code, f"the code of a duel has changed: {AGAIN}"


def test_it_says_how_it_was_made(stored):
    file, about = stored
    today = json.loads(json.dumps(duels.STUDY.about()))
    assert about | {"code": ""} == today | {"code": ""}, AGAIN
    assert file["names"].tolist() == list(duels.LEARNERS)
    assert file["adversaries"].tolist() == list(ADVERSARIES)
    assert file["seeds"].tolist() == list(duels.SEEDS)
    assert about["learners"]["SafeNashVI"]["bonus_scale"] == duels.SCALE


def test_curves_are_sums_over_all_episodes(stored):
    file, _ = stored
    shape = len(duels.LEARNERS), len(ADVERSARIES), len(duels.SEEDS)
    ends = file["episodes"]
    assert ends[0] == 0
    assert ends[-1] == duels.EPISODES
    assert (np.diff(ends) > 0).all()
    for name in ("reward", "violation", "regret"):
        assert file[name].shape == (*shape, len(ends))
        assert (file[name][..., 0] == 0).all()
    for name in ("reward", "violation"):
        assert (np.diff(file[name]) >= 0).all()
    assert file["digests"].shape == file["worst"].shape == shape
    for one in file["digests"]:  # where nothing is ever flagged in time both learners are the same
        assert len(np.unique(one)) == one.size
    assert (file["worst"] <= st.optimal(st.instances.pursuit()).value + 1e-9).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    "duel",
    [
        duels.Duel("SafeNashVI", "hazard seeker", 3),
        pytest.param(duels.Duel("NashVI", "equilibrium", 7), marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_a_run_made_again_is_the_stored_one(stored, duel):
    file, _ = stored
    history = duels.fight(duel)
    place = (
        list(duels.LEARNERS).index(duel.learner),
        list(ADVERSARIES).index(duel.adversary),
        list(duels.SEEDS).index(duel.seed),
    )
    assert storing.digest(history) == file["digests"][place], AGAIN
    assert history.worst == file["worst"][place]
    for what in ("reward", "violation", "regret"):
        curve = storing.so_far(getattr(history, what)[None], file["episodes"])[0]
        assert np.array_equal(curve, file[what][place])


def test_what_the_chapter_says_of_it(stored):
    """Flat against everybody; and a learner can fail this test, for NashVI does."""
    file, about = stored
    half = len(file["episodes"]) // 2
    late = (file["violation"][..., -1] - file["violation"][..., half]).mean(axis=2)
    early = file["violation"][0, :, :, half].mean(axis=1)
    assert (late[0] < 0.05 * early).all()
    assert (late[1, 1:] > 200).all()
    assert late[1, 0] < 5  # the planned adversary does not push
    loss = (file["regret"][..., -1] - file["regret"][..., -11]).mean(axis=2) / 500
    assert (np.abs(loss[0, [1, 3]]) < 0.1).all()
    assert (loss[0, [0, 2]] < -1).all()
    worst = file["worst"].mean(axis=2)
    assert worst[0, 3] == pytest.approx(about["values"]["safe"], abs=0.05)
    assert worst[0, 0] < 1.2


@pytest.mark.thorough  # test_jobs interrupts jobs in general
def test_interrupted_it_goes_on_where_it_stopped(tmp_path):
    """With the runs of a first try in its folder it runs the others only."""
    small = duels.Duels("small", "duels", "?", seeds=range(1), episodes=4)
    file, bench = tmp_path / "small.npz", studies.Bench(tmp_path / "runs")
    studies.make(small, file, bench)
    first, runs = file.read_bytes(), sorted(bench.folder.iterdir())
    assert len(runs) == len(duels.LEARNERS) * len(ADVERSARIES)
    runs[0].unlink()
    times = [run.stat().st_mtime_ns for run in runs[1:]]
    studies.make(small, file, bench)
    assert file.read_bytes() == first
    assert sorted(bench.folder.iterdir()) == runs
    assert [run.stat().st_mtime_ns for run in runs[1:]] == times
