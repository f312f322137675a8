"""The two terms of the sample complexity: lines, mark and words are those of the bounds."""

import numpy as np
import pytest

import safeteach as st
from safeteach.chapters.why_the_output_is_safe import figures

SIZES = {"S": 4, "A": 3, "H": 2, "delta": 0.1}


def test_the_lines_are_the_terms_per_episode_and_meet_the_level_at_the_bound():
    figure = figures.sample_complexity(epsilon=1.0, **SIZES)
    lines = {line.get_gid(): line.get_data() for line in figure.axes[0].lines}
    K = lines["both"][0]
    root, rest = st.bounds.exploration_terms(K, **SIZES)
    assert np.allclose(lines["first term"][1], root / K)
    assert np.allclose(lines["second term"][1], rest / K)
    assert np.allclose(lines["both"][1], (root + rest) / K)
    (at,), (height,) = lines["bound"]
    assert at == st.bounds.exploration_episodes(epsilon=1.0, **SIZES)
    assert height == pytest.approx(0.5, rel=1e-6)
    assert lines["ε/2"][1][0] == 0.5
    assert f"at K = {at:.3g};" in figure.alt


@pytest.mark.parametrize(("S", "epsilon"), [(2, 3.0), (200, 0.1)])
def test_the_mark_is_in_the_picture_and_all_can_be_read(S, epsilon, on_paper):
    figure = figures.sample_complexity(S, 3, 2, epsilon, 1e-9)
    (axes,) = figure.axes
    (x,), (y,) = next(line for line in axes.lines if line.get_gid() == "bound").get_data()
    assert axes.get_xlim()[0] < x < axes.get_xlim()[1]
    assert axes.get_ylim()[0] < y < axes.get_ylim()[1]
    on_paper(figure)


def test_the_share_of_the_second_term():
    few, many = (figures.sample_complexity(S, 3, 2, 1.0, 0.1).alt for S in (4, 200))
    assert "the second is 17% of their sum" in few
    assert "the second is 80% of their sum" in many
