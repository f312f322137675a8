"""Running averages of looks: the lines are the averages, the words say where they settle."""

import numpy as np
import pytest

from safeteach.chapters.costs_thresholds_violation.figures import looks


def samples():
    rng = np.random.default_rng(1)
    return {f"cost {c}": c + rng.standard_normal(400) for c in (0.9, 0.6, 0.45)}


def test_lines_are_the_running_averages():
    seen = samples()
    (axes,) = looks(seen, tau=0.5).axes
    lines = {line.get_gid(): line for line in axes.lines}
    assert lines.keys() == {"threshold", *seen}
    for name, z in seen.items():
        n = lines[name].get_xdata()
        assert np.array_equal(n, np.arange(1, 401))
        assert np.allclose(lines[name].get_ydata(), [z[:k].mean() for k in n])
    assert set(lines["threshold"].get_ydata()) == {0.5}


def test_lines_differ_without_colour():
    (axes,) = looks(samples(), tau=0.5).axes
    styles = [str(line._dash_pattern) for line in axes.lines if line.get_gid() != "threshold"]
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


def test_nothing_is_cut_off_and_no_text_is_small(on_paper):
    figure = looks(samples(), tau=0.5)
    on_paper(figure)


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
