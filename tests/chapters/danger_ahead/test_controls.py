"""The spread of danger and its reasons: the same live and in the page, each control of use."""

import json

import numpy as np
import pytest
from bs4 import BeautifulSoup

import safeteach as st
from safeteach.chapters.danger_ahead import controls

ICE = st.instances.ice_corridor()
TWIST = st.instances.union_counterexample()
SHORT = st.instances.grid_from_map("S~G\n.X.", H=ICE.H)
MOVED = {
    "spread, corridor": lambda: controls.spread(ICE),
    "spread, counterexample": lambda: controls.spread(TWIST),
    "two recursions": lambda: controls.two_recursions(TWIST),
    "doom, corridor": lambda: controls.doom(ICE),
    "doom, counterexample": lambda: controls.doom(TWIST),
}


@pytest.mark.slow
@pytest.mark.parametrize("make", MOVED.values(), ids=MOVED)
def test_live_and_static_show_the_same_and_every_move_shows(make, check_both):
    check_both(make())


@pytest.mark.parametrize("mdp", [ICE, TWIST], ids=["corridor", "counterexample"])
def test_spread_goes_from_the_last_step_to_the_first(mdp):
    slider = controls.spread(mdp).controls["h"]
    assert list(slider.values) == list(range(mdp.H, 0, -1))
    assert slider.start == mdp.H


def test_two_maps_share_all_steps_and_are_a_playground_in_the_page(building):  # noqa: ARG001
    widget = controls.ice({"long": ICE, "short": SHORT})
    moved = widget.controls
    assert list(moved["world"].options) == ["long", "short"]
    assert list(moved["h"].values) == list(range(ICE.H, 0, -1))
    place = BeautifulSoup(widget.page, "html.parser").find(class_="playground")
    assert place["data-tools"] == "why paint"
    told = json.loads(place["data-worlds"])
    assert [world["name"] for world in told.values()] == ["Long", "Short"]
    for mdp, world in zip((ICE, SHORT), told.values(), strict=True):
        assert tuple(world["rows"]) == mdp.map
        assert (world["H"], world["slip"], world["tau"]) == (mdp.H, 0.2, mdp.tau)
    assert place.img["alt"] == widget.picture(world="long", h=ICE.H).alt
    sizes = {(p.width, p.height) for p in (widget.picture(world=w, h=5) for w in ("long", "short"))}
    assert len({width for width, _ in sizes}) == 1, "one map is drawn smaller than the other"
    with pytest.raises(ValueError, match="differ in H"):
        controls.ice({"long": ICE, "pond": st.instances.grid()})
    slippery = st.instances.grid_from_map("S~G\n.X.", H=ICE.H, slip=0.5)
    with pytest.raises(ValueError, match="'short' is not the world of its map"):
        controls.ice({"long": ICE, "short": slippery})


def test_the_two_recursions_differ_where_the_crossing_is_open():
    widget = controls.two_recursions(TWIST)
    exact, printed = (widget.figure(recursion=way, h=2).alt for way in ("exact", "paper"))
    assert "Doomed but not unsafe: none." in exact
    assert "Doomed but not unsafe: x." in printed
    assert widget.controls["h"].start == 2
    with pytest.raises(ValueError, match="both recursions give the same sets"):
        controls.two_recursions(ICE)


def test_doom_starts_where_the_answers_differ():
    """In a world like the walker's: on the bridge one action fails at once, one a step later."""
    P = np.zeros((4, 2, 4))
    P[0, :, 1] = P[1, 0, 2] = P[1, 1, 3] = P[2, :, 3] = P[3, :, 3] = 1
    mdp = st.SafeMDP(P, np.zeros((4, 2)), c=[0, 0, 0, 1], tau=0.5, H=4)
    moved = controls.doom(mdp).controls
    s, h = moved["s"].start, moved["h"].start
    assert s == 1
    assert len(set(st.witness(mdp, s, h).answers[h, s])) == 2


@pytest.mark.parametrize("mdp", [ICE, TWIST], ids=["corridor", "counterexample"])
def test_doom_answers_for_every_state_and_step(mdp):
    widget = controls.doom(mdp)
    U = st.potentially_unsafe(mdp)
    states = set(widget.controls["s"].options.values())
    assert states == {mdp.s1, *U.any(axis=0).nonzero()[0].tolist()}
    for s in states:
        for h in range(1, mdp.H + 1):
            said = "is in" if U[h - 1, s] else "is not in"
            alt = widget.figure(s=s, h=h).alt
            assert alt.startswith(f"Why {mdp.state_name(s)} {said} U_{h}")


@pytest.mark.parametrize("mdp", [ICE, TWIST], ids=["corridor", "counterexample"])
def test_doom_starts_with_a_state_that_is_doomed_and_not_unsafe(mdp):
    moved = controls.doom(mdp).controls
    s, h = moved["s"].start, moved["h"].start
    assert st.potentially_unsafe(mdp)[h - 1, s]
    assert not mdp.unsafe[s]


def test_doom_needs_a_doomed_state():
    with pytest.raises(ValueError, match="nothing to explain"):
        controls.doom(st.SafeMDP([[[1.0]]], [[0.0]], [0.9], tau=0.5, H=3))


def test_spread_needs_two_steps():
    with pytest.raises(ValueError, match="'step h' has 1 of them"):
        controls.spread(st.SafeMDP([[[1.0]]], [[0.0]], [0.9], tau=0.5, H=1))
