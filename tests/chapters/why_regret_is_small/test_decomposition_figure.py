"""The parts of the gap are drawn as running sums, and told in words."""

import dataclasses

import numpy as np
import pytest

import safeteach as st
from safeteach.chapters.why_regret_is_small.figures import decomposition


@pytest.fixture(scope="module")
def found():
    mdp = st.instances.ice_corridor()
    return st.audit(st.SUCBVI(mdp.known, episodes=300, bonus_scale=0.005), mdp, seed=0)


def test_lines_are_the_running_sums_and_add_up(found):
    (axes,) = decomposition(found).axes
    lines = {line.get_gid(): line for line in axes.lines if line.get_gid()}
    parts = (found.bonus, found.model, found.luck, -found.cap, found.gap)
    assert list(lines) == ["bonus", "model", "luck", "minus cap", "gap, their sum"]
    for line, part in zip(lines.values(), parts, strict=True):
        assert line.get_xdata().tolist() == list(range(1, 301))
        assert np.allclose(line.get_ydata(), [part[:n].sum() for n in range(1, 301)])
    *parts, gap = (line.get_ydata() for line in lines.values())
    assert np.allclose(np.sum(parts, axis=0), gap)


def test_lines_differ_without_colour(found):
    (axes,) = decomposition(found).axes
    looks = [(str(o._dash_pattern), o.get_linewidth()) for o in axes.lines if o.get_gid()]
    assert len(set(looks)) == 5


def test_the_description_follows_the_data(found):
    alt = decomposition(found).alt
    early, total = found.bonus[:30].sum(), found.bonus.sum()
    assert f"bonus {early:,.4g} after 30, {total:,.4g} after 300" in alt
    assert f"minus cap {-found.cap[:30].sum():,.4g} after 30" in alt
    assert alt.endswith(f"{found.gap.sum():,.4g} after 300.")
    assert len(alt) <= 600
    other = dataclasses.replace(found, bonus=found.bonus + 1, gap=found.gap + 1)
    assert decomposition(other).alt != alt


def test_nothing_is_cut_off_and_no_text_is_small(found, on_paper):
    thousands = dataclasses.replace(found, bonus=500 * found.bonus, gap=500 * found.gap)
    for audit in (found, thousands):
        figure = decomposition(audit)
        on_paper(figure)
