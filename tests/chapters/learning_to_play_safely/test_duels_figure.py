"""Learners against adversaries: one chart each, on one scale, with what is drawn said in words."""

import numpy as np
import pytest
from scipy import stats

from safeteach.chapters.learning_to_play_safely import figures
from safeteach.figures.described import LONGEST_ALT

K = np.arange(0, 4_001, 50)
RIVALS = ("equilibrium", "best responder", "uniform", "hazard seeker")


def curves(rivals=RIVALS, names=("SafeNashVI", "NashVI"), seeds=8, shift=0.0):
    rng = np.random.default_rng(0)
    return {
        rival: {
            name: np.cumsum(rng.random((seeds, K.size)), axis=1) * (1 + 20 * i) + shift
            for i, name in enumerate(names)
        }
        for rival in rivals
    }


def test_every_chart_has_the_means_of_its_adversary():
    told = curves()
    figure = figures.duels(K, told, "violation so far", {"uniform": {"proved": 2_000.0}})
    assert [axes.get_gid() for axes in figure.axes] == [f"panel/{rival}" for rival in RIVALS]
    for axes, rival in zip(figure.axes, RIVALS, strict=True):
        lines = {line.get_gid(): line for line in axes.lines}
        for name, y in told[rival].items():
            assert np.allclose(lines[name].get_xydata().T, [K, y.mean(axis=0)])
        assert ("reference/proved" in lines) == (rival == "uniform")
    assert len({axes.get_ylim() for axes in figure.axes}) == 1


def test_the_bands_are_t_intervals():
    told = curves()
    for axes, rival in zip(figures.duels(K, told, "reward").axes, RIVALS, strict=True):
        for band, y in zip(axes.collections, told[rival].values(), strict=True):
            low, high = band.get_paths()[0].get_extents().get_points()[:, 1]
            half = stats.t.ppf(0.975, len(y) - 1) * y.std(axis=0, ddof=1) / np.sqrt(len(y))
            assert np.allclose([low, high], [(y.mean(0) - half).min(), (y.mean(0) + half).max()])


def test_learners_differ_without_colour():
    first = figures.duels(K, curves(), "reward").axes[0]
    one, other = (line for line in first.lines if line.get_gid() in ("SafeNashVI", "NashVI"))
    assert one._dash_pattern != other._dash_pattern
    assert one.get_marker() != other.get_marker()


def test_it_is_legible(on_paper):
    for label in ("violation so far", "reward an episode"):
        lines = {rival: {"safe": 300.0, "free": 900.0} for rival in RIVALS}
        figure = figures.duels(K, curves(), label, lines)
        on_paper(figure)
        assert len(figure.alt) <= LONGEST_ALT


def test_numbers_on_neighbouring_axes_do_not_run_into_each_other():
    figure = figures.duels(K, curves(), "violation so far")
    figure.draw_without_rendering()
    left, right = (
        [x.get_window_extent() for x in axes.get_xticklabels() if 0 <= x.get_position()[0] <= 4_000]
        for axes in figure.axes[2:]
    )
    assert left
    assert max(box.x1 for box in left) < min(box.x0 for box in right)


def test_numbers_below_zero_have_room():
    figure = figures.duels(K, curves(shift=-500.0), "regret so far")
    assert figure.axes[0].get_ylim()[0] < -400


def test_the_alt_text_says_where_curves_are_and_end():
    told = curves(rivals=("mild", "fierce"), seeds=3)
    alt = figures.duels(K, told, "violation so far", {"mild": {"proved": 77.0}}).alt
    early, end = told["fierce"]["NashVI"].mean(axis=0)[[10, -1]]
    assert "mean over 3 seeds, at episode 500 and at the end, episode 4,000" in alt
    assert f"NashVI {early:,.0f}, {end:,.0f}." in alt
    assert alt.endswith("Reference: proved 77.")


@pytest.mark.parametrize(
    ("episodes", "told", "message"),
    [
        ([0, 0], {"a": {}, "b": {}}, "increasing"),
        (K, curves(rivals=("alone",)), "1 adversaries; two to six"),
        (K, curves(rivals="abcdefg"), "7 adversaries"),
        (K, curves(names=("x", "y", "z")), "3 learners; one or two"),
        (K, {**curves(("a",)), "b": {"x": np.zeros((1, K.size))}}, "against 'b' the learners are"),
        (K[:-1], curves(), "has shape"),
        (K, curves(shift=np.nan), "finite"),
    ],
)
def test_what_cannot_be_drawn(episodes, told, message):
    with pytest.raises(ValueError, match=message):
        figures.duels(episodes, told, "reward")
