"""Curves over bonus_scale with controls: every setting shows the runs of its own scale."""

import json
from pathlib import Path

import numpy as np
import pytest

from safeteach.chapters.what_the_constants_really_do import controls

SCALES = (0.0, 0.01, 1.0)
EPISODES = np.array([0, 10, 20, 30, 40])
STORED = Path(__file__).parents[3] / "book" / "data" / "bonus.npz"


@pytest.fixture(scope="module")
def study():
    """Sums whose slopes tell the learner, the scale and the seed."""
    names = [f"{name} {scale:g}" for name in ("SUCBVI", "UCBVI") for scale in SCALES]
    slope = 1 + np.arange(len(names))[:, None, None] + np.array([-0.25, 0.25])[:, None]
    return {
        "names": np.array(names),
        "episodes": EPISODES,
        "reward": slope * EPISODES,
        "violation": 10 * slope * EPISODES,
        "about": np.array(json.dumps({"optima": {"safe": 4.0, "unconstrained": 7.0}})),
    }


@pytest.mark.slow
def test_live_and_static_show_the_same_and_every_move_shows(check_both, study):
    check_both(controls.bonus(study), settings=2 * len(SCALES))


def lines(figure):
    (axes,) = figure.axes
    return {line.get_gid(): line for line in axes.lines}


@pytest.mark.parametrize("scale", SCALES)
def test_every_setting_shows_its_own_runs_and_the_theorems(study, scale):
    widget = controls.bonus(study)
    i = SCALES.index(scale)
    rows = {
        f"SUCBVI, scale {scale:g}": i,
        f"UCBVI, scale {scale:g}": i + len(SCALES),
        "SUCBVI, theorem's bonus": SCALES.index(1.0),
    }
    reward = lines(widget.figure(scale=scale, shown="reward"))
    violation = lines(widget.figure(scale=scale, shown="violation"))
    for name, row in rows.items():
        assert reward[name].get_xdata().tolist() == [10, 20, 30, 40]
        assert reward[name].get_ydata() == pytest.approx(1 + row)
        # a logarithm has no place for the sum of no episodes
        assert violation[name].get_ydata()[1:] == pytest.approx(10 * (1 + row) * EPISODES[1:])
    assert reward["reference/safe"].get_ydata()[0] == 4
    assert reward["reference/unconstrained"].get_ydata()[0] == 7


def test_a_reward_is_averaged_over_five_points_back(study):
    total = np.array([[0, 0, 0, 0, 0, 0, 70, 70.0]])
    episodes = np.arange(8) * 10
    names = np.array(["SUCBVI 1", "UCBVI 1", "SUCBVI 0", "UCBVI 0"])
    sums = np.stack([total] * 4)
    widget = controls.bonus(
        study | {"names": names, "episodes": episodes, "reward": sums, "violation": sums + 1}
    )
    drawn = lines(widget.figure(scale=0.0, shown="reward"))["SUCBVI, scale 0"].get_ydata()
    assert drawn == pytest.approx([0, 0, 0, 0, 0, 1.4, 1.4])


def test_the_stored_study_fits():
    study = np.load(STORED)
    widget = controls.bonus(study)
    assert widget.controls["scale"].values == sorted({0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1})
    end = study["violation"][list(study["names"]).index("SUCBVI 0.01"), :, -1].mean()
    alt = widget.figure(scale=0.01, shown="violation").alt
    assert f"{end:,.0f} ±" in alt
