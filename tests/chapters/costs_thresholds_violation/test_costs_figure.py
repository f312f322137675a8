"""The map of costs writes every cost, marks what the threshold makes unsafe, draws the walk."""

import warnings

import numpy as np
import pytest

import safeteach as st
from safeteach.chapters.costs_thresholds_violation import figures

SMOKE = st.instances.smoke()
WALK = [16, 17, 17, 10, 17]


@pytest.mark.parametrize("tau", [0, 0.3, 0.45, 0.9, 1])
def test_unsafe_are_the_costs_above_the_threshold(tau, drawn):
    figure = figures.costs(SMOKE, tau)
    unsafe = sorted((str(s), "unsafe") for s in np.flatnonzero(SMOKE.c > tau))
    assert drawn(figure, "state") == unsafe
    texts = [text.get_text() for text in figure.axes[0].texts]
    for cost in ("0", "0.3", "0.6", "0.9"):
        assert texts.count(cost) == (SMOKE.c == float(cost)).sum()
    assert f"τ = {tau:g}:  {len(unsafe)} of 34 cells unsafe" in texts
    assert f"τ = {tau:g}, {len(unsafe)} are unsafe" in figure.alt


def test_the_walk_is_drawn_and_its_violation_counts_every_step(drawn):
    figure = figures.costs(SMOKE, 0.2, path=WALK)
    assert drawn(figure, "path") == [("10", "17"), ("16", "17"), ("17", "10")]
    violation = sum(max(SMOKE.c[s] - 0.2, 0) for s in WALK)
    assert "An episode of 5 steps passes (2,3), (2,4), (1,4). Its steps above" in figure.alt
    assert figure.alt.endswith(f"Its violation is {violation:.3g}.")
    assert any(
        f"violation of the walk {violation:.3g}" in text.get_text()
        for text in figure.axes[0].texts
    )


@pytest.mark.parametrize("tau", [0, 0.6, 0.75, 1])
def test_the_bars_of_the_walk_are_its_costs_cut_at_the_threshold(tau, drawn):
    figure = figures.costs(SMOKE, tau, path=WALK)
    above = [(str(h), f"{SMOKE.c[s] - tau:.3g}") for h, s in enumerate(WALK, 1) if SMOKE.c[s] > tau]
    assert drawn(figure, "excess") == sorted(above)
    [line] = figure.findobj(lambda artist: artist.get_gid() == "threshold")
    low, high = figures.AXIS, figures.AXIS + figures.STRIP
    assert np.allclose(line.get_ydata(), low + tau * (high - low))
    texts = [text.get_text() for text in figure.axes[0].texts]
    assert {"1", "2", "3", "4", "5"} <= set(texts)
    steps = ", ".join(f"step {h} ({SMOKE.c[s]:.3g})" for h, s in enumerate(WALK, 1)
                      if SMOKE.c[s] > tau)  # fmt: skip
    assert f"Its steps above the threshold: {steps or 'none'}." in figure.alt


def test_the_threshold_is_the_worlds_own_by_default():
    assert figures.costs(SMOKE).alt == figures.costs(SMOKE, SMOKE.tau).alt


@pytest.mark.parametrize("tau", [0, 0.5, 1])
def test_is_legible(tau, legible):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        legible(figures.costs(SMOKE, tau, path=WALK))
        legible(figures.costs(st.instances.ice_corridor(), tau))


def test_higher_costs_are_darker():
    [mesh] = figures.costs(SMOKE).findobj(lambda artist: artist.get_gid() == "shades")
    shades = np.asarray(mesh.get_array()).reshape(5, 7, 4)
    assert shades[1, 3, 3] == 0, "the wall is not covered"
    here = shades[tuple(SMOKE.cells.T)]
    order = np.argsort(SMOKE.c, kind="stable")
    assert (here[:, 3] == 1).all()
    assert (np.sign(np.diff(here[order, 0])) == -np.sign(np.diff(SMOKE.c[order]))).all()


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((st.instances.union_counterexample(),), TypeError, "only a GridMDP has a map"),
        ((SMOKE, 1.2), ValueError, "tau is 1.2; the threshold must lie in"),
        ((SMOKE, 0.5, [34]), ValueError, "s is 34; the states are 0..33"),
        ((st.instances.grid_from_map("S" + "." * 13, H=2),), ValueError, "14 cells wide"),
    ],
)
def test_bad_input_is_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        figures.costs(*arguments)
