"""The verdict that is drawn is the world's, and so is every state at every step."""

import numpy as np
import pytest
from looping import each

import safeteach as st
from safeteach.chapters.your_own_world import controls
from safeteach.chapters.your_own_world.figures import growth, verdict

WORLDS = [
    st.instances.union_counterexample(),
    *(st.instances.random_mdp(5, 2, 4, seed, unsafe=0.3, stationary=seed % 2 == 0)
      for seed in range(8)),
]  # fmt: skip


def cells(figure):
    """(step, state): kind of what is drawn."""
    found = [artist.get_gid() for artist in figure.axes[0].get_children()]
    parts = [gid.split("/")[1:] for gid in found if gid and gid.startswith("cell/")]
    return {(int(h), int(s)): kind for h, s, kind in parts}


@each("mdp", WORLDS)
def test_it_shows_the_sets_and_says_the_verdict(mdp, legible):
    figure, U = verdict(mdp, "A world"), st.potentially_unsafe(mdp)
    legible(figure)
    shown = cells(figure)
    assert len(shown) == mdp.H * mdp.S
    for (h, s), kind in shown.items():
        doomed = "doomed" if U[h - 1, s] else "safe"
        assert kind == ("unsafe" if mdp.unsafe[s] else doomed)
    best = st.optimal(mdp)
    if st.is_feasible(mdp):
        said = f"Safe: earns {st.safe_optimal(mdp).value:.2f}. Best of all: {best.value:.2f}"
    else:
        said = f"No safe policy. Least risk: {st.least_risk(mdp).risk:.2g}."
    assert said in figure.alt
    assert figure.alt.startswith(f"A world, {mdp.H} steps.")


def test_both_verdicts_are_tried():
    assert {st.is_feasible(mdp) for mdp in WORLDS} == {True, False}


def test_the_last_step_is_at_the_right_and_sizes_can_be_shared(written):
    short, long = (st.instances.random_mdp(3, 2, H, seed=1, unsafe=0.3) for H in (2, 6))
    figures = [verdict(mdp, "ice", steps=6, states=4) for mdp in (short, long)]
    assert len({tuple(figure.get_size_inches()) for figure in figures}) == 1
    places = [
        max(box.x0 for text, box in written(figure).items() if text.get_text() == str(H))
        for figure, H in zip(figures, (2, 6), strict=True)
    ]
    assert abs(np.diff(places)[0]) < 3


@pytest.mark.parametrize(
    ("mdp", "title", "steps"),
    [
        (st.instances.grid(), "pond", 0),
        (WORLDS[0], "long", 17),
        (WORLDS[0], 3, 0),
        ("world", "no world", 0),
    ],
)
def test_wrong_calls(mdp, title, steps):
    with pytest.raises((TypeError, ValueError)):
        verdict(mdp, title, steps)


def test_costs_are_drawn_where_they_are(legible):
    states, costs = [36, 324, 1296], {"SUCBVI": [9.0, 60, 700], "UCBVI": [8.0, 50, 500]}
    figure = growth(states, costs, [1, 100, 5_000])
    legible(figure)
    (axes,) = figure.axes
    drawn = {line.get_gid(): line.get_xydata().T.tolist() for line in axes.lines}
    for name, cost in costs.items():
        assert drawn[name] == [states, cost]
    assert drawn["reference"] == [states, [9.0, 900.0, 45_000.0]]
    assert axes.get_xscale() == axes.get_yscale() == "log"


@pytest.mark.parametrize(
    ("costs", "dense"),
    [
        ({}, [1, 2]),
        ({"a": [1, 2], "b": [1, 2], "c": [1, 2]}, [1, 2]),
        ({"a": [1]}, [1, 2]),
        ({"a": [1, 0]}, [1, 2]),
        ({"a": [1, 2]}, [1]),
    ],
)
def test_wrong_costs_are_refused(costs, dense):
    with pytest.raises(ValueError, match=r"positive numbers|told apart"):
        growth([1, 2], costs, dense)


def cup(leak):
    return lambda H: st.SafeMDP([[[1 - leak, leak]], [[0, 1]]], [[0.5], [0]], [0, 1], tau=0.5, H=H)


def worlds():
    return {"cracked": cup(0.1), "whole": cup(0.0)}


@pytest.mark.slow
def test_live_and_static_show_the_same_and_every_move_shows(check_both):
    check_both(controls.assumptions(worlds(), steps=[2, 4], start=4))


def test_each_setting_is_a_world():
    widget = controls.assumptions(worlds(), steps=[2, 4], start=4)
    assert list(widget.controls["H"].fine) == [1, 2, 3, 4]
    for name, feasible in (("cracked", False), ("whole", True)):
        alt = widget.figure(world=name, H=3).alt
        assert alt.startswith(f"{name}, 3 steps. {'Safe' if feasible else 'No safe policy'}")
