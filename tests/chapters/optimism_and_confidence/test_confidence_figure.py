"""Bands of estimates: lines and flags are those of the data, the words say who is flagged when."""

import itertools

import numpy as np
import pytest

from safeteach.chapters.optimism_and_confidence.figures import confidence, confidence_frame

N, COSTS, TAU = 400, [0.9, 0.6, 0.3], 0.5
WIDTH = 3 / np.sqrt(np.arange(1, N + 1))


def samples():
    rng = np.random.default_rng(1)
    return {f"state {c}": c + rng.standard_normal(N) / 4 for c in COSTS}


def lines(figure):
    return {line.get_gid(): line for axes in figure.axes for line in axes.lines if line.get_gid()}


def test_lines_are_the_averages_and_their_bands():
    seen = samples()
    drawn = lines(confidence(seen, COSTS, TAU, WIDTH))
    for (name, z), c in zip(seen.items(), COSTS, strict=True):
        mean = np.array([z[:n].mean() for n in range(1, N + 1)])
        assert np.allclose(drawn[f"mean/{name}"].get_ydata(), mean)
        assert np.allclose(drawn[f"low/{name}"].get_ydata(), mean - WIDTH)
        assert np.allclose(drawn[f"high/{name}"].get_ydata(), mean + WIDTH)
        assert set(drawn[f"cost/{name}"].get_ydata()) == {c}
        assert set(drawn[f"threshold/{name}"].get_ydata()) == {TAU}
        flagged = mean - WIDTH > TAU
        assert (f"flag/{name}" in drawn) == flagged.any()
        if flagged.any():
            assert drawn[f"flag/{name}"].get_xdata()[0] == flagged.argmax() + 1
    assert {key for key in drawn if key.startswith("flag/")} == {"flag/state 0.9"}


@pytest.mark.parametrize(
    ("z", "width", "said"),
    [
        ([1, 1, 1], [0.4] * 3, "1 ± 0.4 after 3 looks, flagged from look 1 on."),
        ([1, 1, 1], [0.9, 0.6, 0.4], "1 ± 0.4 after 3 looks, flagged from look 3 on."),
        ([1], [0.5], "1 ± 0.5 after 1 look, never flagged."),  # at the threshold is not above it
        ([1, -1, 2], [0.2] * 3,
         "0.667 ± 0.2 after 3 looks, first flagged at look 1 and not at the last."),
        ([1, -1, 3], [0.2] * 3,
         "1 ± 0.2 after 3 looks, first flagged at look 1, without a break from look 3 on."),
    ],
)  # fmt: skip
def test_the_description_says_who_is_flagged_when(z, width, said):
    assert confidence({"x": z}, [0.7], TAU, width).alt.endswith(f"x (cost 0.7): {said}")


@pytest.mark.parametrize("panels", [1, 2, 3])
def test_bands_are_legible(panels, on_paper):
    seen = dict(list(samples().items())[:panels])
    figure = confidence(seen, COSTS[:panels], TAU, WIDTH)
    assert len(figure.axes) == panels
    on_paper(figure)


@pytest.mark.parametrize(
    ("seen", "costs", "width", "message"),
    [
        ({}, [], [1], "0 samples; one to 3 can be told apart"),
        ({str(i): [1] for i in range(4)}, [0] * 4, [1], "4 samples"),
        ({"x": [1, 2]}, [0], [1], "the sample 'x' has 2 looks and width 1"),
        ({"x": [1, 2]}, [0, 1], [1, 1], "2 costs for 1 samples"),
        ({"x": [1]}, [0], 1.0, r"width has shape \(\); expected \(N,\)"),
    ],
)
def test_bad_input(seen, costs, width, message):
    with pytest.raises(ValueError, match=message):
        confidence(seen, costs, TAU, width)


MEANS = {"hot": 0.95, "warm": 0.7, "odd": 0.9, "cold": 0.1, "far": 3.0}
TRUE = [0.9, 0.6, 0.2, 0.2, 1.0]


def test_a_frame_flags_what_is_above_the_threshold_for_sure(drawn):
    figure = confidence_frame(MEANS, TRUE, TAU, 0.3)
    assert drawn(figure, "flagged") == [("far",), ("hot",), ("odd",)]
    assert drawn(figure, "open") == [("cold",), ("warm",)]
    (axes,) = figure.axes
    bars = {bar.get_gid().split("/")[1]: bar for bar in axes.patches if bar.get_gid()}
    for name, mean in MEANS.items():
        if name != "far":  # its bar goes on beyond the paper
            assert bars[name].get_y() == pytest.approx(mean - 0.3)
            assert bars[name].get_height() == pytest.approx(0.6)
    assert {bars[name].get_hatch() for name in ("hot", "odd", "far")} == {"xx"}
    assert {bars[name].get_hatch() for name in ("warm", "cold")} == {None}


def test_a_frame_says_what_it_shows():
    assert confidence_frame(MEANS, TRUE, TAU, 0.3).alt.endswith(
        "Flagged: hot, odd, far. Unsafe and not flagged: warm. Safe and flagged: odd. Bars that "
        "miss the true cost: odd, far."
    )


def test_frames_are_legible(on_paper):
    eight = {f"({i},{i})": 0.3 for i in range(8)}
    for figure in (
        confidence_frame(MEANS, TRUE, TAU, 0.3),
        confidence_frame(eight, [0.3] * 8, TAU, 0.0123),
    ):
        on_paper(figure)
        names = [label.get_window_extent() for label in figure.axes[0].get_xticklabels()]
        assert all(one.x1 < other.x0 for one, other in itertools.pairwise(names))


@pytest.mark.parametrize(
    ("means", "costs", "message"),
    [
        ({}, [], "0 states; one to 8 fit"),
        ({str(i): 0.5 for i in range(9)}, [0.5] * 9, "9 states; one to 8 fit"),
        ({"x": 0.5}, [0.5, 0.6], "2 costs for 1 states"),
    ],
)
def test_a_bad_frame(means, costs, message):
    with pytest.raises(ValueError, match=message):
        confidence_frame(means, costs, TAU, 0.3)
