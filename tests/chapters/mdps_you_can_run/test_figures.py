"""The other pictures of the chapter draw the world, the trials and the plan that they are given."""

from collections import Counter

import numpy as np
import pytest
from looping import each
from matplotlib.colors import to_hex

import safeteach as st
from safeteach.chapters.mdps_you_can_run import figures

LANES = st.instances.grid_from_map(". . . . .\nS ~ ~ ~ G", H=7, slip=0.7)


def boat():
    names = ["harbour", "bank", "laden", "full", "torn"]
    P = np.zeros((5, 2, 5))
    P[0, 0, 0] = P[3, 0, 3] = P[0, 1, 1] = 1
    P[1, 0, [2, 1, 4]] = 0.6, 0.3, 0.1
    P[2, 0, [3, 2, 4]] = 0.5, 0.2, 0.3
    P[4, 0, [1, 4]] = 0.5, 0.5
    P[1:, 1, 0] = 1
    r = np.zeros((5, 2))
    r[0, 0], r[2, 1], r[3, 1] = 0.05, 0.5, 1
    return st.SafeMDP(
        P, r, np.zeros(5), tau=0.5, H=8, state_names=names, action_names=["work", "sail"]
    )


BOAT = boat()


def texts(written, figure):
    return Counter(text.get_text() for text in written(figure))


# boat -----------------------------------------------------------------------------------------


def test_every_transition_of_the_boat_has_an_arrow(drawn):
    arrows = {tuple(map(int, parts)) for parts in drawn(figures.boat(BOAT), "arrow")}
    assert arrows == set(map(tuple, np.argwhere(BOAT.P[0] > 0).tolist()))


def test_probabilities_and_rewards_stand_on_the_arrows(written, legible):
    figure = figures.boat(BOAT)
    found = texts(written, figure)
    chances = Counter(f"{p:.3g}" for p in BOAT.P[0][(BOAT.P[0] > 0) & (BOAT.P[0] < 1)])
    legend = Counter(["0.6", "+1"])
    rewards = Counter(["+0.05", "+0.5", "+1"])
    for text, count in (chances + rewards + legend).items():
        assert found[text] == count, text
    bold = {text.get_text() for text in written(figure) if text.get_fontweight() == "bold"}
    assert bold == set(rewards)
    legible(figure)


def test_the_boat_is_told_in_words():
    alt = figures.boat(BOAT).alt
    assert "bank, work: leads to bank (0.3) or laden (0.6) or torn (0.1)." in alt
    assert "full, sail: earns 1 and leads to harbour." in alt


def test_another_world_is_not_drawn_as_the_boat():
    with pytest.raises(ValueError, match="is not the boat: expected 5 states, 2 actions"):
        figures.boat(st.instances.ice_corridor())
    stepwise = st.instances.random_mdp(S=5, A=2, H=3, seed=0, stationary=False)
    with pytest.raises(ValueError, match="the same each hour"):
        figures.boat(stepwise)


# trials ---------------------------------------------------------------------------------------


def test_each_trial_is_a_dot_at_its_difference_in_the_colour_of_the_better(drawn, written, legible):
    rng = np.random.default_rng(0)
    first, second = rng.integers(8, size=(2, 60)) / 8
    figure = figures.trials(first, second, ("Ann", "Bob"))
    more = second - first
    dots = drawn(figure, "trial")
    assert Counter(float(x) for x, _ in dots) == Counter(more.tolist())
    for x in set(more.tolist()):  # one above the other
        heights = sorted(int(height) for at, height in dots if float(at) == x)
        assert heights == list(range(1, len(heights) + 1))
    lines = [line for line in figure.axes[0].lines if line.get_gid()]
    shades = {(np.sign(line.get_xdata()[0]), to_hex(line.get_color())) for line in lines}
    assert len(shades) == len(dict(shades)) == len({shade for _, shade in shades}) == 3
    found = texts(written, figure)
    assert found[f"Ann looks better:\n{(more < 0).sum()} trials"] == 1
    assert found[f"Bob looks better:\n{(more > 0).sum()} trials"] == 1
    assert f"in {(more == 0).sum()} they are level." in figure.alt
    legible(figure)


def test_rounding_does_not_decide_a_trial():
    assert "in 1 they are level" in figures.trials([0.3], [0.1 + 0.2], ("Ann", "Bob")).alt


def test_trials_are_numbers_in_a_row():
    for shape in ((0,), (2, 2)):
        with pytest.raises(ValueError, match="the trials have shape"):
            figures.trials(np.zeros(shape), np.zeros(shape), ("Ann", "Bob"))


# one step back --------------------------------------------------------------------------------


@each(("h", "s"), [(h, s) for h in (1, 4, 7, 8) for s in range(5)])
def test_one_step_back_shows_what_an_action_leads_to(h, s, drawn, written, legible):
    plan = st.optimal(BOAT)
    figure = figures.one_step_back(BOAT, plan, h, s)
    arrows = {tuple(map(int, parts)) for parts in drawn(figure, "arrow")}
    assert arrows == set(map(tuple, np.argwhere(BOAT.P[h - 1, s] > 0).tolist()))
    best = {int(a) for a, is_best in drawn(figure, "action") if is_best == "True"}
    Q = plan.Q[h - 1, s]
    assert best == set(np.flatnonzero(np.isclose(Q, Q.max())).tolist())
    found = texts(written, figure)
    for t in range(BOAT.S):
        assert found[f"{plan.V[h, t]:.3g}"] >= 1
    for a in range(BOAT.A):
        assert any(text.endswith(f"\n{Q[a]:.3g} in all") for text in found)
        assert f": {Q[a]:.3g} in all." in figure.alt
    legible(figure)


def test_the_better_action_has_the_heavier_line():
    figure = figures.one_step_back(BOAT, st.optimal(BOAT), h=7, s=2)
    width = {
        artist.get_gid(): artist.get_linewidth()
        for artist in figure.findobj(lambda artist: (artist.get_gid() or "").startswith("action/"))
    }
    assert width["action/0/True"] > 2 * width["action/1/False"]


# map of values --------------------------------------------------------------------------------


@each("h", range(1, 8))
def test_a_map_has_the_values_and_the_best_moves(h, drawn, written, legible):
    plan = st.optimal(LANES)
    figure = figures.map_of_values(LANES, plan, h)
    Q, V = plan.Q[h - 1], plan.V[h - 1]
    best = np.isclose(Q, V[:, None], rtol=0, atol=1e-12)
    moves = {tuple(map(int, parts)) for parts in drawn(figure, "move")}
    assert moves == {(s, a) for s, a in np.argwhere(best).tolist() if not best[s].all()}
    found = texts(written, figure)
    for value, count in Counter(f"{v:.2f}" for v in V).items():
        assert found[value] == count
    for s in range(LANES.S):
        assert f"{LANES.state_name(s)} {V[s]:.2f}" in figure.alt
    legible(figure)


def test_a_number_keeps_clear_of_its_arrow(written):
    figure = figures.map_of_values(LANES, st.optimal(LANES), 1)
    numbers = [box for text, box in written(figure).items() if "." in text.get_text()]
    ways = figure.findobj(lambda artist: (artist.get_gid() or "").startswith("move/"))
    assert ways
    for way in ways:
        line = way.get_window_extent()
        for box in numbers:
            clear = max(line.x0 - box.x1, box.x0 - line.x1, line.y0 - box.y1, box.y0 - line.y1)
            assert clear >= 2, "pixels of a hundred an inch"


def test_what_is_no_map_or_too_wide_a_map_is_refused():
    plan = st.optimal(BOAT)
    with pytest.raises((TypeError, ValueError), match="GridMDP"):
        figures.map_of_values(BOAT, plan, 1)
    wide = st.instances.grid_from_map("S . . . . . . . G", H=3)
    with pytest.raises(ValueError, match="a map of 9 columns with values does not fit"):
        figures.map_of_values(wide, st.optimal(wide), 1)


@pytest.mark.parametrize("draw", [figures.one_step_back, figures.map_of_values])
def test_only_best_plans_are_drawn(draw):
    pond = st.instances.grid()
    where = {"h": 5, "s": pond.s1} if draw is figures.one_step_back else {"h": 5}
    with pytest.raises(ValueError, match="expected one by optimal"):
        draw(pond, st.safe_optimal(pond), **where)
