"""What the pictures of the chapter show is in the data, and their words say it."""

import itertools

import numpy as np
import pytest

import safeteach as st
from safeteach.chapters.optimism_and_confidence.figures import (
    bans,
    confidence,
    confidence_frame,
    errors,
    tosses,
)

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


@pytest.mark.parametrize("width", [0.8, 0.3, 0.02])
def test_a_flag_is_seen_however_short_its_bar_is(width):
    """A mark of its own: at thirty thousand looks the hatched bar is hidden by the estimate."""
    (axes,) = confidence_frame({"hot": 1.4, "cold": 0.1}, [1.4, 0.1], TAU, width).axes
    markers = [line.get_marker() for line in axes.lines if line.get_marker() not in ("None", "_")]
    assert markers == ["8", "o"]


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


ROOM = st.instances.server_room()


def test_each_cell_of_the_room_has_its_share_and_its_shade(written):
    shares = np.zeros(ROOM.S)
    shares[ROOM.state("31 low")], shares[ROOM.state("36 high")] = 0.4, 1
    figure = bans(ROOM, shares)
    (axes,) = figure.axes
    cells = {patch.get_gid().split("/")[1]: patch for patch in axes.artists + axes.patches
             if patch.get_gid()}  # fmt: skip
    assert set(cells) == {ROOM.state_name(s) for s in range(ROOM.S)}
    where = {text.get_text(): text.get_position() for text in written(figure)}
    for name, share in (("31 low", "40"), ("36 high", "100")):
        assert cells[name].get_bbox().contains(*where[share])
    shade = {name: cell.get_facecolor()[0] for name, cell in cells.items()}
    assert shade["36 high"] < shade["31 low"] < shade["27 low"]
    edge = where["unsafe"][0]  # above the cells, beside the line between 32 and 33 degrees
    assert cells["32 low"].get_bbox().x1 < edge < cells["34 low"].get_bbox().x0
    assert figure.alt == (
        "Share of runs in which each state of the server room was banned. low fans: 31 °C 40%. "
        "middle fans: none. high fans: 36 °C 100%. Unsafe: above 32 °C. Start: 27 middle."
    )


def test_the_room_is_legible(legible):
    legible(bans(ROOM, np.linspace(0, 1, ROOM.S)))


def test_the_room_needs_a_share_for_each_state():
    with pytest.raises(ValueError, match=r"shares has shape \(3,\); expected \(39,\)"):
        bans(ROOM, [0, 0, 1])


PLAYS = {"greedy": [[1, 2, 3, 4, 5], [1, 1, 1, 1, 1]], "optimistic": [[1, 1, 2, 2, 2]]}


def test_a_median_and_a_band_for_each_kind_of_runs_of_each_player():
    hopeful = np.minimum(np.arange(1, 41), np.arange(11)[:, None])  # up to 0, 1, ... 10 tosses
    greedy = np.array([np.arange(1, 41), np.ones(40)])
    figure = tosses({"greedy": greedy, "optimistic": hopeful})
    drawn = lines(figure)
    kinds = ("greedy/stuck", "greedy/free", "optimistic/free")
    assert set(drawn) == {f"median/{kind}" for kind in kinds}
    for kind, run in zip(kinds, (*greedy, hopeful[5]), strict=True):
        assert drawn[f"median/{kind}"].get_ydata().tolist() == run.tolist()
    styles = [drawn[f"median/{kind}"].get_linestyle() for kind in kinds]
    assert styles[0] == styles[1] != styles[2]
    bands = {band.get_gid(): band for band in figure.axes[0].collections}
    assert set(bands) == {f"band/{kind}" for kind in kinds}
    corners = {*map(tuple, bands["band/optimistic/free"].get_paths()[0].vertices.tolist())}
    assert corners == {(i + 1, y) for run in hopeful[[1, 9]] for i, y in enumerate(run)}


def test_the_words_beside_the_players():
    figure = tosses(PLAYS)
    said = [text.get_text() for text in figure.axes[0].texts]
    assert said == ["greedy, stuck: 50%", "greedy, not stuck: 50%", "optimistic"]


def test_the_words_beside_the_players_are_legible(on_paper, written):
    rng = np.random.default_rng(0)
    stuck = np.arange(1, 2001)
    lucky = np.ones(2000)
    hopeful = np.minimum(stuck, rng.integers(20, 110, (9, 1)))
    figure = tosses({"greedy": [stuck, lucky], "optimistic": hopeful})
    on_paper(figure)
    boxes = [box for text, box in written(figure).items() if text in figure.axes[0].texts]
    assert len(boxes) == 3
    assert not any(a.overlaps(b) for a, b in itertools.combinations(boxes, 2))


def test_there_are_two_players():
    with pytest.raises(ValueError, match="3 players; expected 2"):
        tosses({**PLAYS, "third": [[1]]})


def test_all_errors_are_in_the_bars_and_the_width_between_them(on_paper):
    rng = np.random.default_rng(0)
    fixed, chosen = rng.normal(0, 0.05, 500), rng.normal(0.3, 0.03, 400)
    figure = errors(fixed, chosen, width=0.15)
    (axes,) = figure.axes
    for kind, error in (("fixed before the data", fixed), ("chosen after the data", chosen)):
        bars = [bar for bar in axes.patches if bar.get_gid() == f"bar/{kind}"]
        assert sum(bar.get_height() for bar in bars) == error.size
        tall = max(bars, key=lambda bar: bar.get_height())
        assert abs(tall.get_x() - np.median(abs(error))) < 0.1
    (line,) = axes.lines
    assert set(line.get_xdata()) == {0.15}
    assert f"beyond the width in {(abs(fixed) > 0.15).mean():.0%}. Chosen" in figure.alt
    assert figure.alt.endswith("beyond the width in 100%.")
    on_paper(figure)
