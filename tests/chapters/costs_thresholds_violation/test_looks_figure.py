"""Running averages of looks: the lines are the averages, the words say where they settle."""

import numpy as np
import pytest

from safeteach.chapters.costs_thresholds_violation.figures import looks
from safeteach.figures.chart import spread


def samples():
    rng = np.random.default_rng(1)
    return {f"cost {c}": c + rng.standard_normal(400) for c in (0.9, 0.6, 0.45)}


def test_lines_are_the_running_averages():
    seen = samples()
    (axes,) = looks(seen, tau=0.5).axes
    lines = {line.get_gid(): line for line in axes.lines}
    assert lines.keys() == {"threshold", *seen, *(f"settled/{name}" for name in seen)}
    for name, z in seen.items():
        n = lines[name].get_xdata()
        assert np.array_equal(n, np.arange(1, 401))
        assert np.allclose(lines[name].get_ydata(), [z[:k].mean() for k in n])
    assert set(lines["threshold"].get_ydata()) == {0.5}


def test_lines_differ_without_colour():
    (axes,) = looks(samples(), tau=0.5).axes
    styles = [str(line._dash_pattern) for line in axes.lines if line.get_gid() in samples()]
    assert len(set(styles)) == 3


@pytest.mark.parametrize(
    ("z", "said"),
    [
        ([1, 1, 1], "1 after 3 looks, above the threshold from look 1 on."),
        ([0, 1, 5], "2 after 3 looks, above the threshold from look 3 on."),
        ([1, 0, -1], "0 after 3 looks, not above it from look 2 on."),
        ([0.5], "0.5 after 1 look, not above it from look 1 on."),  # at the threshold is safe
    ],
)
def test_the_description_says_from_where_on_the_side_is_settled(z, said):
    assert looks({"x": z}, tau=0.5).alt.endswith(f"x: {said}")


def test_nothing_is_cut_off_and_no_text_is_small_or_over_another(on_paper, legible):
    figure = looks(samples(), tau=0.5)
    on_paper(figure)
    legible(figure)


def test_labels_stand_beside_the_lines_and_a_dot_where_each_is_settled():
    seen = samples()
    (axes,) = looks(seen, tau=0.5).axes
    words = {text.get_text(): text for text in axes.texts}
    assert words.keys() == seen.keys()
    lines = {line.get_gid(): line for line in axes.lines}
    for name, z in seen.items():
        assert words[name].get_position()[0] > len(z), "no line reaches it"
        assert words[name].get_color() == lines[name].get_color()
        ([n], [at]) = lines[f"settled/{name}"].get_data()
        mean = z.cumsum() / np.arange(1, len(z) + 1)
        assert at == pytest.approx(mean[n - 1])
        side = mean > 0.5
        assert (side[n - 1 :] == side[-1]).all()
        assert n == 1 or side[n - 2] != side[-1]


def test_crowded_labels_are_moved_apart():
    moved = spread([0.5, 0.5, 0.5, 2.0], least=0.25)
    assert np.allclose(sorted(moved), [0.25, 0.5, 0.75, 2.0], atol=1e-6)
    assert spread([3.0, 1.0, 2.0], least=1.0) == [3.0, 1.0, 2.0]


@pytest.mark.parametrize(
    ("seen", "message"),
    [
        ({}, "0 samples; one to 3 can be told apart"),
        ({str(i): [1] for i in range(4)}, "4 samples"),
        ({"x": []}, r"the sample 'x' has shape \(0,\)"),
        ({"x": [[1, 2]]}, r"the sample 'x' has shape \(1, 2\)"),
    ],
)
def test_bad_input(seen, message):
    with pytest.raises(ValueError, match=message):
        looks(seen, tau=0.5)
