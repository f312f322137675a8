"""The Δ graph draws exactly Δ_h, U_h and U_{h+1}, in the clear."""

import numpy as np
import pytest
from hypothesis import given, settings
from looping import many
from oracles.brute_force import worlds

import safeteach as st
from safeteach.figures.delta import _arrange
from safeteach.figures.described import bow
from safeteach.figures.layout import state_positions

UNION = st.instances.union_counterexample()


def kind(mdp, U_h, s):
    return "unsafe" if mdp.unsafe[s] else "doomed" if U_h[s] else "safe"


@pytest.mark.slow
@given(worlds(max_states=5, max_policies=10**9))
@settings(max_examples=many(8, 20))
def test_states_and_arrows_are_those_of_the_model(drawn, mdp):
    U = st.potentially_unsafe(mdp)
    for h in range(1, mdp.H + 1):
        figure = st.figures.delta_graph(mdp, h)
        states = {(str(s), kind(mdp, U[h - 1], s)) for s in range(mdp.S)}
        assert drawn(figure, "state") == sorted(states)
        assert drawn(figure, "start") == [(str(mdp.s1),)]
        arrows = [
            (int(s), int(a), int(t), end)
            for s, actions, t, end in drawn(figure, "delta")
            for a in actions.split(",")
        ]
        expected = [
            (s, a, t, "doomed" if h < mdp.H and U[h, t] else "free")
            for s in range(mdp.S)
            for a in range(mdp.A)
            for t in mdp.successors(h, s, a).tolist()
        ]
        assert sorted(arrows) == sorted(expected)


def test_arrows_into_danger_are_dashed_and_coloured():
    figure = st.figures.delta_graph(UNION, h=3)
    looks = {}
    for line in figure.findobj(lambda artist: (artist.get_gid() or "").startswith("delta/")):
        solid = line.get_linestyle() == "solid"
        looks.setdefault(line.get_gid().split("/")[-1], set()).add((solid, line.get_edgecolor()))
    assert [len(look) for look in looks.values()] == [1, 1]
    (free,), (doomed,) = looks["free"], looks["doomed"]
    assert free[0]
    assert not doomed[0]
    assert free[1] != doomed[1]


def test_the_words_follow_the_data():
    alts = [st.figures.delta_graph(UNION, h).alt for h in range(1, 5)]
    assert len(set(alts)) == 4
    assert "Doomed but not unsafe: x. Safe: start, y, g." in alts[2]
    assert alts[1].endswith("Actions that can lead into U_3: a1 at y; a0 and a1 at u.")
    assert alts[3].endswith("Actions that can lead into U_5: none.")


def test_states_keep_their_places_over_the_steps():
    plans = [_arrange(UNION, h) for h in range(1, 5)]
    for plan in plans[1:]:
        assert (plan.states == plans[0].states).all()
        assert (plan.width, plan.height) == (plans[0].width, plans[0].height)


def test_states_stand_in_layers_from_the_start():
    start, x, y, g, u = state_positions(UNION)[:, 0]
    assert start < x == y < g == u
    ice = st.instances.ice_corridor()
    across, up = state_positions(ice).T
    assert (across == ice.cells[:, 1]).all()
    assert (up == 2 - ice.cells[:, 0]).all()


def test_unreachable_states_come_last():
    to = np.eye(3)[[[0, 1], [1, 0], [2, 0]]]
    mdp = st.SafeMDP(to, np.zeros((3, 2)), c=[0, 0, 0], tau=0.5, H=2)
    assert state_positions(mdp)[:, 0].tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    "mdp",
    [
        UNION,
        st.instances.ice_corridor(),
        st.instances.grid(),
        *(st.instances.random_mdp(S=5, A=2, H=3, seed=seed) for seed in range(5)),
    ],
    ids=repr,
)
def test_no_line_runs_through_a_state_it_has_nothing_to_do_with(mdp):
    for h in range(1, 2 if mdp.stationary else mdp.H + 1):
        plan = _arrange(mdp, h)
        for box, route in zip(plan.boxes, plan.routes, strict=True):
            lines = [(plan.states[box.s], route.spot, route.stem, box.s)]
            for t, bend in zip(box.successors, route.bends, strict=True):
                lines.append((route.spot, plan.states[t], bend, t))
            for start, end, bend, own in lines:
                points = bow(start, end, np.array(bend), np.linspace(0, 1, 50))
                others = np.delete(plan.states, own, axis=0)
                gaps = np.linalg.norm(points[:, None] - others, axis=2)
                assert gaps.min(initial=np.inf) > plan.radius


def test_what_cannot_be_drawn():
    with pytest.raises(ValueError, match=r"h is 0; the steps are 1\.\.4"):
        st.figures.delta_graph(UNION, h=0)
    with pytest.raises(ValueError, match=r"h is 5; the steps are 1\.\.4"):
        st.figures.delta_graph(UNION, h=5)
    st.figures.delta_graph(st.instances.random_mdp(S=40, A=2, H=2, seed=0))
    with pytest.raises(ValueError, match="41 states; a picture of more than 40 cannot be read"):
        st.figures.delta_graph(st.instances.random_mdp(S=41, A=2, H=2, seed=0))
