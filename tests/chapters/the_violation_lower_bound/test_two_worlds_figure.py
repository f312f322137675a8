"""The two bells are the laws of the evidence: by simulation, and what they share by integration."""

import math

import numpy as np
import pytest

from safeteach.chapters.the_violation_lower_bound import figures

SETTINGS = [(0.02, 8, 1_000, 6), (0.3, 2, 40, 2), (0.05, 16, 20_000, 8), (0.5, 4, 100_000, 6)]


def lines(figure):
    (axes,) = figure.axes
    return {line.get_gid(): line.get_xydata().T for line in axes.lines if line.get_gid()}


@pytest.mark.parametrize("setting", SETTINGS[:3])
def test_bells_are_the_laws_of_the_log_likelihood_ratio(setting):
    gap, n, K, leaf_steps = setting
    looks = round(leaf_steps * K / (n - 1))
    rng = np.random.default_rng(0)
    drawn = lines(figures.two_worlds(*setting))
    for name, cost in ((r"in $\tau_1$", 0.5 + gap), (r"in $\tau_j$", 0.5)):
        total = cost * looks + math.sqrt(looks) * rng.standard_normal(100_000)  # of the costs
        ratio = gap * (total - 0.5 * looks) - looks * gap**2 / 2
        x, density = drawn[name]
        mass = np.trapezoid(density, x)
        mean = np.trapezoid(x * density, x)
        spread = math.sqrt(np.trapezoid((x - mean) ** 2 * density, x))
        assert mass == pytest.approx(1, abs=0.002)
        assert mean == pytest.approx(ratio.mean(), abs=0.02 * ratio.std())
        assert spread == pytest.approx(ratio.std(), rel=0.02)


@pytest.mark.parametrize("setting", SETTINGS)
def test_what_they_share_is_said(setting):
    gap, n, K, leaf_steps = setting
    figure = figures.two_worlds(*setting)
    (x, first), (other_x, second) = lines(figure).values()
    assert np.array_equal(x, other_x)
    shared = np.trapezoid(np.minimum(first, second), x)
    D = leaf_steps * K / (n - 1) * gap**2 / 2
    if D < 50:
        said = float(figure.alt.split("share ")[1].split(",")[0])
        assert said == pytest.approx(shared, abs=0.003)
        assert f"½exp(-D) = {math.exp(-D) / 2:.3g}." in figure.alt
        assert said >= math.exp(-D) / 2
    else:
        assert "share less than 1e-12" in figure.alt
        assert "½exp(-D) = less than 1e-12" in figure.alt
    theorem = math.sqrt((n - 1) / (4 * K * leaf_steps))
    assert figure.alt.endswith(f"The gap of the theorem would be {theorem:.3g}.")


def test_it_reads_without_colour(on_paper):
    for setting in SETTINGS:
        figure = figures.two_worlds(*setting)
        on_paper(figure)
        (axes,) = figure.axes
        dashes = {line.get_gid(): line._dash_pattern for line in axes.lines if line.get_gid()}
        assert len(dashes) == 2
        assert len(set(map(str, dashes.values()))) == 2
        (area,) = axes.collections
        assert area.get_hatch()


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ((0, 8, 100, 6), "gap is 0; it must lie in"),
        ((0.6, 8, 100, 6), "gap is 0.6"),
        ((0.1, 1, 100, 6), "n is 1, K is 100 and leaf_steps 6; at least 2, 1 and 1"),
        ((0.1, 2, 0, 6), "K is 0"),
        ((0.1, 2, 1, 0), "leaf_steps 0"),
    ],
)
def test_bad_input(setting, message):
    with pytest.raises(ValueError, match=message):
        figures.two_worlds(*setting)
