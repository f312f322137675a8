"""The pictures draw what was counted, and say so in words."""

import dataclasses

import numpy as np
import pytest
from looping import each

import safeteach as st
from safeteach import bounds
from safeteach.chapters.why_regret_is_small.figures import (
    BOUNDS,
    LOOKS,
    SMALL,
    decomposition,
    first_useful,
    looks,
    regret_bounds,
    regret_with_successors,
    trial,
)

POND = {"S": 25, "A": 4, "H": 12}


def drawn(figure):
    """The artists of all axes that have a name, by it."""
    named = [artist for axes in figure.findobj(lambda a: hasattr(a, "lines")) for artist in
             axes.lines]  # fmt: skip
    return {line.get_gid(): line for line in named if line.get_gid()}


def said(figure):
    return {text.get_text().strip() for text in figure.findobj(lambda a: hasattr(a, "get_text"))}


# the trial ------------------------------------------------------------------------------------

REGRET = np.array([1.0, 2, 1, -1, -1, 3])


def test_a_trial_shows_what_was_watched_and_no_more():
    line = drawn(trial(REGRET, watched=4, flagged=6))
    assert line["regret"].get_xdata().tolist() == [1, 2, 3, 4]
    assert line["regret"].get_ydata().tolist() == [1, 3, 4, 3]
    assert line["end"].get_xydata().tolist() == [[4, 3]]
    assert "flagged" not in line


def test_a_trial_has_the_same_frame_however_long_it_is_watched():
    frames = {
        (axes.get_xlim(), axes.get_ylim())
        for watched in (1, 4, 6)
        for axes in trial(REGRET, watched, flagged=5).axes
    }
    assert len(frames) == 1


def test_the_flag_is_marked_and_told_once_it_is_there():
    before, after = trial(REGRET, 4, flagged=5), trial(REGRET, 5, flagged=5)
    assert set(drawn(after)["flagged"].get_xdata()) == {5}
    assert "water flagged, episode 5" in said(after)
    assert "flagged" not in before.alt
    assert after.alt == (
        "Regret of a run in its first 5 episodes: 4 after 3, the highest; 2 after 5. "
        "The water is flagged from episode 5 on."
    )


@pytest.mark.parametrize("watched", [0, 7])
def test_a_trial_that_is_not_there(watched):
    with pytest.raises(ValueError, match=f"watched is {watched}; the run has 6 episodes"):
        trial(REGRET, watched, flagged=5)


@each("watched", [1, 4, 6])
def test_nothing_of_a_trial_is_cut_off(watched, on_paper):
    on_paper(trial(100 * REGRET, watched, flagged=4))


# the parts ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def found():
    mdp = st.instances.ice_corridor()
    return st.audit(st.SUCBVI(mdp.known, episodes=300, bonus_scale=0.005), mdp, seed=0)


def test_lines_are_the_running_sums_and_add_up(found):
    lines = drawn(decomposition(found, best=3.0))
    regret = 3.0 - found.value
    parts = (found.bonus, found.gap, regret, -found.cap, found.model, found.luck)
    assert [*LOOKS] == [
        "bonuses", "exaggeration", "regret", "cut by the cap", "model errors", "luck",
    ]  # fmt: skip
    assert lines.keys() == LOOKS.keys()
    for name, part in zip(LOOKS, parts, strict=True):
        assert lines[name].get_xdata().tolist() == list(range(1, 301))
        assert np.allclose(lines[name].get_ydata(), [part[:n].sum() for n in range(1, 301)])
    added = ("bonuses", "model errors", "luck", "cut by the cap")
    total = np.sum([lines[name].get_ydata() for name in added], axis=0)
    assert np.allclose(total, lines["exaggeration"].get_ydata())


def test_what_lies_on_the_axis_has_an_inset_that_enlarges_it(found):
    (axes,) = decomposition(found, best=3.0).axes
    (inset,) = axes.child_axes
    assert {line.get_gid() for line in inset.lines} - {None, "_child0"} == set(SMALL)
    low, high = inset.get_ylim()
    assert (axes.get_ylim()[1] - axes.get_ylim()[0]) > 10 * (high - low)
    for line in inset.lines:
        assert low <= np.min(line.get_ydata()) and np.max(line.get_ydata()) <= high


def test_lines_differ_without_colour_and_each_has_its_name_at_its_end(found):
    figure = decomposition(found, best=3.0)
    lines = drawn(figure)
    for names in (LOOKS.keys() - set(SMALL), SMALL):
        looks_ = [(str(lines[n]._dash_pattern), lines[n].get_linewidth()) for n in names]
        assert len(set(looks_)) == len(looks_)
    ends = {text.get_text(): text.get_position()[1] for text in figure.axes[0].texts}
    for name in LOOKS.keys() - set(SMALL):
        assert ends[name] == lines[name].get_ydata()[-1]


def test_the_description_of_the_parts_follows_the_data(found):
    alt = decomposition(found, best=3.0).alt
    early, total = found.bonus[:30].sum(), found.bonus.sum()
    assert f"bonuses {early:,.4g} after 30, {total:,.4g} after 300" in alt
    assert f"cut by the cap {-found.cap[:30].sum():,.4g} after 30" in alt
    assert f"regret {(3 - found.value[:30]).sum():,.4g} after 30" in alt
    assert alt.endswith(f"luck {found.luck[:30].sum():,.4g} after 30, "
                        f"{found.luck.sum():,.4g} after 300.")  # fmt: skip
    assert len(alt) <= 600
    other = dataclasses.replace(found, bonus=found.bonus + 1, gap=found.gap + 1)
    assert decomposition(other, best=3.0).alt != alt


def test_nothing_of_the_parts_is_cut_off(found, on_paper):
    thousands = dataclasses.replace(found, bonus=8 * found.bonus, gap=8 * found.gap)
    for audit in (found, thousands):
        on_paper(decomposition(audit, best=3.0))


# counting -------------------------------------------------------------------------------------


def test_the_bars_fit_under_the_curve_and_the_run_stands_between_its_bounds():
    sums = np.linspace(0, 9_000, 500)
    figure = looks(sums, **POND)
    above, below = figure.axes
    bars = [(bar.get_x(), bar.get_width(), bar.get_height()) for bar in above.patches]
    assert [x for x, _, _ in bars] == pytest.approx(range(16))
    for x, width, height in bars:
        assert (width, height) == pytest.approx((1, 1 / np.sqrt(x + 1)))  # the curve at its end
    assert above.get_xticks().tolist() == [0, 4, 8, 12, 16]  # numbers stand where they are
    numbers = {text.get_text(): text.get_position()[0] for text in above.texts}
    assert {n: x for n, x in numbers.items() if n.isdigit()} == {
        f"{n}": n - 0.5 for n in range(1, 17, 2)
    }  # bar n has its number in its middle
    x, y = drawn(figure)["curve"].get_data()
    assert np.allclose(y, 1 / np.sqrt(x))
    lines = {line.get_gid(): line.get_ydata() for line in below.lines}
    k = np.arange(1, 501)
    S, A, H = POND.values()
    assert np.allclose(lines["2√(SAHT)"], [2 * np.sqrt(S * A * H * H * K) for K in k])
    assert np.allclose(lines["2√(SAT)"], [2 * np.sqrt(S * A * H * K) for K in k])
    assert lines["the run"].tolist() == sums.tolist()
    assert {"2√(SAHT)", "the run", "2√(SAT)"} <= said(figure)
    assert "with the sum 6.66, below the curve 1/√x, whose area is 8" in figure.alt


def test_nothing_of_the_counting_is_cut_off(on_paper):
    on_paper(looks(np.linspace(0, 9_000, 8_000), **POND))
    on_paper(looks(np.linspace(0, 90, 40), S=2, A=2, H=3, visits=5))


# the bounds -----------------------------------------------------------------------------------


def test_lines_are_the_bounds_as_shares():
    lines = drawn(regret_bounds(**POND))
    assert lines.keys() == {
        "trivial", "played", *BOUNDS, *(f"from/{name}" for name in BOUNDS),
    }  # fmt: skip
    for name, bound in [
        ("every world", bounds.regret_bound),
        ("few dangerous pairs", bounds.regret_bound_masks),
    ]:
        for K, share in list(zip(*lines[name].get_data(), strict=True))[::40]:
            assert share == pytest.approx(bound(**POND, K=int(K), delta=0.005) / (12 * int(K)))
    assert set(lines["trivial"].get_ydata()) == {1}
    assert set(lines["played"].get_xdata()) == {20_000}


@each("S", [2, 25, 10**6])
@each("name", BOUNDS)
def test_a_mark_stands_where_a_bound_first_says_something(S, name):
    bound = BOUNDS[name][0]
    K = first_useful(bound, S, 4, 12)
    assert bound(S, 4, 12, K, 0.005) <= 12 * K
    assert bound(S, 4, 12, K - 1, 0.005) > 12 * (K - 1)
    assert drawn(regret_bounds(S, 4, 12))[f"from/{name}"].get_xydata().tolist() == [[K, 1]]


def test_the_bound_with_few_successors_is_that_of_the_corollary():
    """b ln 2 in the place of S ln 2, and nothing else; all states may follow: the theorem."""
    S, A, H, K, delta = 1_000, 4, 12, 10**7, 0.005
    T = H * K
    for b in (1, 4, 1_000):
        last = np.sqrt(2 * H**3 * S * A * T * (b * np.log(2) + np.log(S * A * T / delta)))
        rest = (
            S * A * H**2
            + H * np.sqrt(2 * T * np.log(1 / delta))
            + 14 * np.sqrt(H**3 * S * A * T * np.log(5 * S * A * T / delta))
        )
        assert regret_with_successors(S, A, H, K, delta, b) == pytest.approx(rest + last)


def test_the_description_of_the_bounds_says_from_where_on_they_say_something():
    alt = regret_bounds(**POND).alt
    shares = [of[0](**POND, K=20_000, delta=0.005) / (12 * 20_000) for of in BOUNDS.values()]
    assert "every world, from K = 1.16e+08; 4 successors, from K = 1.12e+08" in alt
    assert alt.endswith("At K = 20,000 the shares are {:.3g}, {:.3g} and {:.3g}.".format(*shares))
    assert len(alt) <= 600


@each("S", [2, 25, 1_000, 10**6])
def test_nothing_of_the_bounds_is_cut_off(S, on_paper):
    on_paper(regret_bounds(S, A=4, H=12))


def test_bounds_differ_without_colour():
    lines = drawn(regret_bounds(**POND))
    assert np.unique([str(lines[name]._dash_pattern) for name in BOUNDS]).size == len(BOUNDS)
    assert len({lines[f"from/{name}"].get_marker() for name in BOUNDS}) == len(BOUNDS)
