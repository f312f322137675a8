"""The map draws the ground, the kinds of a step and the arrows of a policy."""

import numpy as np
import pytest

import safeteach as st

ICE = st.instances.ice_corridor()
DIRECTION = {"up": (0, 1), "down": (0, -1), "left": (-1, 0), "right": (1, 0)}


def arrows(figure):
    """Return {(s, a): (the way it points, its length, how dark it is)}."""
    found = {}
    for line in figure.findobj(lambda artist: (artist.get_gid() or "").startswith("policy/")):
        _, s, a = line.get_gid().split("/")
        points = line.get_path().vertices
        way = points[-1] - points[0]
        length = float(np.hypot(*way))
        found[int(s), int(a)] = (tuple((way / length).round(6)), length, line.get_alpha())
    return found


@pytest.mark.parametrize("h", [1, 8, 10])
def test_ground_and_kinds_are_those_of_the_world(h, drawn):
    figure = st.figures.grid(ICE, h=h)
    cells = [(f"{i},{j}", ground) for i, row in enumerate(ICE.map) for j, ground in enumerate(row)]
    assert drawn(figure, "cell") == sorted(cells)
    U_h = st.potentially_unsafe(ICE)[h - 1]
    names = np.where(ICE.unsafe, "unsafe", np.where(U_h, "doomed", "safe"))
    states = sorted((str(s), str(name)) for s, name in enumerate(names))
    assert drawn(figure, "state") == states
    assert drawn(figure, "policy") == []


def test_a_policy_has_one_arrow_a_cell_in_the_direction_of_its_action():
    policy = np.random.default_rng(0).integers(4, size=(ICE.H, ICE.S))
    for h in (1, 7):
        drawn = arrows(st.figures.grid(ICE, policy, h))
        assert set(drawn) == set(enumerate(policy[h - 1].tolist()))
        for (_, a), (way, _, alpha) in drawn.items():
            assert way == DIRECTION[ICE.action_name(a)]
            assert alpha == 1


def test_a_random_policy_has_an_arrow_for_each_action_it_may_take():
    chance = np.zeros((ICE.H, ICE.S, 4))
    chance[:, :] = [0.6, 0.0, 0.3, 0.1]
    drawn = arrows(st.figures.grid(ICE, chance, h=2))
    assert set(drawn) == {(s, a) for s in range(ICE.S) for a in (0, 2, 3)}
    up, left, right = drawn[0, 0], drawn[0, 2], drawn[0, 3]
    assert up[1] > left[1] > right[1]
    assert up[2] > left[2] > right[2]


def test_start_and_goal_have_their_letters():
    figure = st.figures.grid(ICE)
    places = {
        t.get_text(): t.get_position() for t in figure.axes[0].texts if len(t.get_text()) == 1
    }
    assert set(places) == {"S", "G"}
    assert places["G"][0] - places["S"][0] == pytest.approx(5 * 0.95)
    assert places["G"][1] == places["S"][1]


def test_the_words_follow_the_data():
    policies = [np.full((ICE.H, ICE.S), a) for a in range(4)]
    alts = {st.figures.grid(ICE, policy).alt for policy in policies}
    assert len(alts) == 4
    assert st.figures.grid(ICE, policies[3]).alt.endswith("from the start it leads right.")
    coin = np.full((ICE.H, ICE.S, 4), 0.25)
    assert "up (probability 0.25), down" in st.figures.grid(ICE, coin).alt
    assert "unsafe: (1,3). Safe" in st.figures.grid(ICE, h=9).alt
    assert "goal at none" in st.figures.grid(st.instances.grid_from_map("S.", H=1)).alt


def test_what_cannot_be_drawn():
    with pytest.raises(TypeError, match="mdp is a SafeMDP; only a GridMDP has a map"):
        st.figures.grid(st.instances.union_counterexample())
    for h in (0, 11):
        with pytest.raises(ValueError, match=f"h is {h}; the steps are"):
            st.figures.grid(ICE, h=h)
    with pytest.raises(ValueError, match=r"policy has shape \(13,\)"):
        st.figures.grid(ICE, np.zeros(13, int))
    with pytest.raises(ValueError, match=r"the actions are 0\.\.3"):
        st.figures.grid(ICE, np.full((ICE.H, ICE.S), 4))
    st.figures.grid(st.instances.grid_from_map("S" + "." * 20, H=1))
    with pytest.raises(ValueError, match="1 by 22 cells; a picture of more than 21"):
        st.figures.grid(st.instances.grid_from_map("S" + "." * 21, H=1))
