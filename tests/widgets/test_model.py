"""The interactive figures of Part I: the same live and in the page, each control of use."""

import pytest

import safeteach as st

SMOKE = st.instances.smoke()
ICE = st.instances.ice_corridor()
TWIST = st.instances.union_counterexample()
PART_ONE = {
    "threshold, smoke": lambda: st.widgets.threshold(SMOKE),
    "spread, corridor": lambda: st.widgets.spread(ICE),
    "spread, counterexample": lambda: st.widgets.spread(TWIST),
    "doom, corridor": lambda: st.widgets.doom(ICE),
    "doom, counterexample": lambda: st.widgets.doom(TWIST),
}


@pytest.mark.slow
@pytest.mark.parametrize("make", PART_ONE.values(), ids=PART_ONE)
@pytest.mark.usefixtures("building")
def test_live_and_static_show_the_same_and_every_move_shows(make, read):
    widget = make()
    static = read.static(widget.page)
    assert static == read.live(widget)
    # Not one setting looks or reads like another, so no move of a control goes unseen.
    assert len({src for src, _ in static.values()}) == len(static)
    assert len({alt for _, alt in static.values()}) == len(static)


def test_every_threshold_shows_its_unsafe_states_and_the_violation():
    widget = st.widgets.threshold(SMOKE)
    walk = st.rollout(SMOKE, st.optimal(SMOKE).policy, seed=0).states[:-1]
    tau = widget.controls["tau"]
    assert (tau.values[0], tau.values[-1], tau.start) == (0, 1, SMOKE.tau)
    assert {0.3, 0.6, 0.9} <= set(tau.values), "the costs themselves, as the same floats"
    for value in (0, 0.3, 0.31, 0.6, 0.85, 0.9, 1):
        assert value in tau.fine
        alt = widget.figure(tau=value).alt
        assert f"τ = {value:g}, {(SMOKE.c > value).sum()} are unsafe" in alt
        violation = sum(max(SMOKE.c[s] - value, 0) for s in walk)
        assert alt.endswith(f"pays the violation {violation:.3g}.")


@pytest.mark.parametrize("mdp", [ICE, TWIST], ids=["corridor", "counterexample"])
def test_spread_goes_from_the_last_step_to_the_first(mdp):
    slider = st.widgets.spread(mdp).controls["h"]
    assert list(slider.values) == list(range(mdp.H, 0, -1))
    assert slider.start == mdp.H


@pytest.mark.parametrize("mdp", [ICE, TWIST], ids=["corridor", "counterexample"])
def test_doom_answers_for_every_state_and_step(mdp):
    widget = st.widgets.doom(mdp)
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
    controls = st.widgets.doom(mdp).controls
    s, h = controls["s"].start, controls["h"].start
    assert st.potentially_unsafe(mdp)[h - 1, s]
    assert not mdp.unsafe[s]


def test_doom_needs_a_doomed_state():
    with pytest.raises(ValueError, match="nothing to explain"):
        st.widgets.doom(st.SafeMDP([[[1.0]]], [[0.0]], [0.9], tau=0.5, H=3))


def test_threshold_needs_a_map():
    with pytest.raises(TypeError, match="only a GridMDP has a map"):
        st.widgets.threshold(TWIST)


def test_spread_needs_two_steps():
    with pytest.raises(ValueError, match="'step h' has 1 value"):
        st.widgets.spread(st.SafeMDP([[[1.0]]], [[0.0]], [0.9], tau=0.5, H=1))
