"""The other pictures of the chapter draw the numbers that they are about, and can be read."""

import math
from statistics import NormalDist

import numpy as np
import pytest

import safeteach as st
from safeteach.chapters.costs_thresholds_violation.figures import (
    counted,
    errors,
    laws,
    moving,
    worst_gap,
)

SMOKE = st.instances.smoke()
SHORTEST = st.optimal(SMOKE).policy


def corridors(H=4):
    P = np.zeros((4, 2, 4))
    P[0, 0, 1] = P[1, :, 1] = 1
    P[0, 1, [2, 3]] = 0.6, 0.4
    P[2:, :, 2], P[2:, :, 3] = 0.6, 0.4
    return st.SafeMDP(P, np.ones((4, 2)), c=[0, 0.4, 0, 1], tau=0.5, H=H)


NORTH, SOUTH = np.zeros((4, 4), int), np.ones((4, 4), int)


def line(figure, gid):
    [found] = figure.findobj(lambda artist: artist.get_gid() == gid)
    return found


# laws -----------------------------------------------------------------------------------------


def test_blocks_are_as_wide_as_their_costs_are_likely(drawn):
    figure = laws(corridors(), {"north": NORTH, "south": SOUTH})
    north = [("1", "0", "1"), *((str(h), "0.4", "1") for h in (2, 3, 4))]
    south = [("1", "0", "1")]
    south += [(str(h), cost, p) for h in (2, 3, 4) for cost, p in (("0", "0.6"), ("1", "0.4"))]
    assert drawn(figure, "block") == sorted(north + south)
    for block in figure.findobj(lambda artist: (artist.get_gid() or "").startswith("block/")):
        _, h, cost, chance = block.get_gid().split("/")
        assert block.get_width() == pytest.approx(0.84 * float(chance))
        assert block.get_x() + block.get_width() / 2 == pytest.approx(float(h))
        assert bool(block.get_hatch()) == (float(cost) > 0.5)


def test_the_means_are_drawn_and_are_the_same():
    figure = laws(corridors(), {"north": NORTH, "south": np.eye(2)[SOUTH]})
    for name in ("north", "south"):
        assert np.allclose(line(figure, f"mean/{name}").get_ydata(), [0, 0.4, 0.4, 0.4])
    texts = [text.get_text() for axes in figure.axes for text in axes.texts]
    assert any("north: violation 0\n" in text and "0%" in text for text in texts)
    assert any("south: violation 0.6\n" in text and "78%" in text for text in texts)


def test_laws_are_legible(legible, on_paper):
    figure = laws(corridors(), {"north": NORTH, "south": SOUTH})
    legible(figure)
    on_paper(figure)


def test_two_policies_are_compared():
    with pytest.raises(ValueError, match="1 policies; two can be drawn"):
        laws(corridors(), {"north": NORTH})


# counted --------------------------------------------------------------------------------------


def test_what_counts_is_hatched_and_what_does_not_is_empty(drawn):
    figure = counted([0.8, 0.5, 0.2, 0.9, 0.7], tau=0.5)
    assert drawn(figure, "excess") == [("1",), ("4",)]
    assert not line(figure, "after").get_fill()
    words = " ".join(text.get_text() for text in figure.axes[0].texts)
    for said in ("adds 0.3", "equal:\nadds 0", "below:\nadds 0", "adds 0.4", "not counted"):
        assert said in words
    assert figure.alt.endswith("After the last step: 0.7, not counted.")


@pytest.mark.parametrize("costs", [[0.8, 0.5, 0.2, 0.9, 0.7], [0.1, 1.0], [1, 1, 1, 1]])
def test_counted_is_legible(costs, legible, on_paper):
    legible(counted(costs, 0.5))
    on_paper(counted(costs, 0.5))


@pytest.mark.parametrize("costs", [[], [0.5], [[0.5, 0.5]]])
def test_an_episode_has_a_step_and_a_state_after_it(costs):
    with pytest.raises(ValueError, match="expected \\(H \\+ 1,\\) with H >= 1"):
        counted(costs, 0.5)


# errors ---------------------------------------------------------------------------------------


def test_errors_are_those_of_the_proposition():
    figure = errors([0.4, 0.1], delta=0.05, simulated={0.1: {67: 0.2, 271: 0.05}})
    for gap, least in ((0.4, 17), (0.1, 271)):
        n, error = line(figure, f"gap/{gap}").get_data()
        assert np.allclose(error, [NormalDist().cdf(-gap * math.sqrt(m)) for m in n])
        assert line(figure, f"needed/{gap}/{least}").get_xdata() == [least]
    assert list(line(figure, "simulated/0.1").get_xdata()) == [67, 271]
    assert "n = 17 for the gap 0.4, n = 271 for the gap 0.1." in figure.alt


def test_errors_are_legible(legible, on_paper):
    figure = errors([0.4, 0.2, 0.1, 0.05], delta=0.05)
    legible(figure)
    on_paper(figure)


# moving ---------------------------------------------------------------------------------------


def test_what_moves_is_computed_at_every_threshold():
    figure = moving(SMOKE, SHORTEST)
    taus, drawn_violation = line(figure, "violation").get_data()
    steps = [
        artist.get_data() for artist in figure.findobj(lambda artist: artist.get_gid() == "value")
    ]
    for tau in np.linspace(0, 1, 41):
        mdp = st.SafeMDP(SMOKE.P, SMOKE.r, SMOKE.c, tau, SMOKE.H, SMOKE.s1)
        violation = st.evaluate(mdp, SHORTEST).violation
        assert np.interp(tau, taus, drawn_violation) == pytest.approx(violation, abs=1e-9)
        [value] = [y[0] for x, y in steps if x[0] <= tau < x[1] or tau == x[1] == 1]
        assert value == pytest.approx(st.safe_optimal(mdp).value)


def test_where_no_policy_is_feasible_no_value_is_drawn():
    hot = st.SafeMDP([[[1.0]]], [[0.5]], c=[0.8], tau=0.5, H=2)
    figure = moving(hot, [[0], [0]])
    assert "none from 0 on, 1 from 0.8 on" in figure.alt


def test_moving_is_legible(legible, on_paper):
    legible(moving(SMOKE, SHORTEST))
    on_paper(moving(SMOKE, SHORTEST))


# worst_gap ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("q", "T"), [(1.645, 10_000), (2.0, 100)])
def test_the_worst_gap_is_worst(q, T, legible, on_paper):
    figure = worst_gap(q, T)
    gaps, violation = line(figure, "violation").get_data()
    assert np.allclose(violation, np.minimum(q**2 / gaps, gaps * T))
    assert max(violation) == pytest.approx(q * math.sqrt(T))
    every = np.geomspace(gaps[0], gaps[-1], 500)
    assert (np.minimum(q**2 / every, every * T) <= max(violation) + 1e-9).all()
    legible(figure)
    on_paper(figure)
