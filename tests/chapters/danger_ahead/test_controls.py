"""The spread of danger and its reasons: the same live and in the page, each control of use."""

import pytest

import safeteach as st
from safeteach.chapters.danger_ahead import controls

ICE = st.instances.ice_corridor()
TWIST = st.instances.union_counterexample()
MOVED = {
    "spread, corridor": lambda: controls.spread(ICE),
    "spread, counterexample": lambda: controls.spread(TWIST),
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
