"""The bounds on regret are drawn as the formulas say, and the words say where they begin to."""

import numpy as np
import pytest

from safeteach import bounds
from safeteach.chapters.why_regret_is_small.figures import regret_bounds

POND = {"S": 25, "A": 4, "H": 12}


def lines(figure):
    (axes,) = figure.axes
    return {line.get_gid(): line for line in axes.lines if line.get_gid()}


def test_lines_are_the_bounds_as_shares():
    drawn = lines(regret_bounds(**POND, K=10**9))
    assert drawn.keys() == {"trivial", "K", "always", "few dangerous pairs"}
    for name, bound in [
        ("always", bounds.regret_bound),
        ("few dangerous pairs", bounds.regret_bound_masks),
    ]:
        for K, share in list(zip(*drawn[name].get_data(), strict=True))[::60]:
            assert share == pytest.approx(bound(**POND, K=int(K), delta=0.005) / (12 * int(K)))
    assert set(drawn["trivial"].get_ydata()) == {1}
    assert set(drawn["K"].get_xdata()) == {1e9}


def test_the_description_says_from_where_on_a_bound_says_something():
    alt = regret_bounds(**POND, K=10**9).alt
    share = bounds.regret_bound(**POND, K=10**9, delta=0.005) / (12 * 10**9)
    most = bounds.most_dangerous_pairs(**POND, K=10**9, delta=0.005)
    assert f"At K = 10^9: always {share:.3g}, below 1 from K = 1.16e+08 on" in alt
    assert f"(at most {most:,})" in alt
    for K, below in ((1.15e8, False), (1.17e8, True)):
        assert (bounds.regret_bound(**POND, K=int(K), delta=0.005) < 12 * K) == below
    assert len(alt) <= 600


def test_the_description_says_when_a_bound_is_silent_and_any_K():
    alt = regret_bounds(S=10**12, A=4, H=12, K=20_000).alt
    assert "At K = 20,000: " in alt
    assert alt.endswith("nowhere below 1.")


@pytest.mark.parametrize("S", [2, 25, 10**6])
@pytest.mark.parametrize("K", [10**2, 10**13, 10**25])
def test_nothing_is_cut_off(S, K, on_paper):
    figure = regret_bounds(S, A=4, H=12, K=K)
    on_paper(figure)


def test_lines_differ_without_colour():
    drawn = lines(regret_bounds(**POND, K=10**9))
    assert drawn["always"].get_linestyle() != drawn["few dangerous pairs"].get_linestyle()
    assert np.unique([str(line._dash_pattern) for line in drawn.values()]).size >= 3


@pytest.mark.parametrize("K", [99, 10**25 + 1])
def test_bad_input(K):
    with pytest.raises(ValueError, match=f"K is {K}; from 10\\^2 to 10\\^25 it is drawn"):
        regret_bounds(**POND, K=K)
