"""The drawing of the laboratory shows the moves, kinds, values and policy of the world."""

import numpy as np
import pytest

import safeteach as st
from safeteach.classroom.drawing.laboratory import laboratory

LAB = st.instances.laboratory()
NAMES = [LAB.state_name(s) for s in range(LAB.S)]


def bars(figure):
    """Return the length of each state's bar, by state, and of a full one."""
    found = figure.findobj(lambda artist: (artist.get_gid() or "").startswith("value/"))
    return {int(bar.get_gid().split("/")[1]): bar.get_width() for bar in found}


@pytest.mark.parametrize("h", [1, 9, 10])
def test_moves_and_kinds_are_those_of_the_world(h, drawn):
    figure = laboratory(LAB, h=h)
    U = st.potentially_unsafe(LAB)
    names = np.where(LAB.unsafe, "unsafe", np.where(U[h - 1], "doomed", "safe"))
    assert drawn(figure, "state") == sorted((str(s), str(x)) for s, x in enumerate(names))
    support = LAB.support()[h - 1].any(axis=1) & ~np.eye(LAB.S, dtype=bool)
    doomed = U[h] if h < LAB.H else np.zeros(LAB.S, bool)
    moves = [
        (str(s), str(t), "doomed" if doomed[t] else "free")
        for s, t in np.argwhere(support).tolist()
    ]
    assert drawn(figure, "move") == sorted(moves)
    assert drawn(figure, "start") == [(str(LAB.s1),)]
    assert not drawn(figure, "policy")
    assert not drawn(figure, "value")


def test_a_policy_has_an_arrow_to_each_successor_and_a_loop_where_it_stays(drawn):
    policy = np.random.default_rng(0).integers(LAB.A, size=(LAB.H, LAB.S))
    for h in (1, 7):
        actions = policy[h - 1]
        expected = [
            (str(s), str(actions[s]), str(t))
            for s in range(LAB.S)
            for t in range(LAB.S)
            if LAB.P[h - 1, s, actions[s], t] >= (0.5 if s == t else 1e-12)
        ]
        assert drawn(laboratory(LAB, policy=policy, h=h), "policy") == sorted(expected)


def test_the_likelier_move_is_the_darker():
    dash = np.full((LAB.H, LAB.S), 3)
    lines = {
        line.get_gid(): line.get_alpha()
        for line in laboratory(LAB, policy=dash).findobj()
        if (line.get_gid() or "").startswith("policy/0/")
    }
    room, furnace = (f"policy/0/3/{NAMES.index(name)}" for name in ("room 2", "furnace"))
    assert lines[room] > lines[furnace]


def test_bars_are_shares_of_the_most():
    values = np.arange(LAB.S, dtype=float)
    shown, halved = (
        bars(laboratory(LAB, values, most=most)) for most in (None, 2 * (LAB.S - 1))
    )
    full = shown[LAB.S - 1]
    for s in range(LAB.S):
        assert shown[s] == pytest.approx(full * s / (LAB.S - 1))
        assert halved[s] == pytest.approx(full * s / (2 * (LAB.S - 1)))
    assert bars(laboratory(LAB, values, most=1.0))[7] == pytest.approx(full)
    assert set(bars(laboratory(LAB, np.zeros(LAB.S))).values()) == {0}


def test_values_stand_in_the_states_and_in_the_words():
    values = np.array([0, 1, 2.345, 0.01234, 1234, 99.4, 7, 8, 9, 10, 11.5])
    figure = laboratory(LAB, values)
    texts = {text.get_text() for text in figure.axes[0].texts}
    said = ["0", "1", "2.3", "0.012", "1,234", "99", "7", "8", "9", "10", "12"]
    for name, number in zip(NAMES, said, strict=True):
        assert f"{name}\n{number}" in texts
        assert f"{name} {number}" in figure.alt


def test_the_words_follow_the_policy():
    wait = np.full((LAB.H, LAB.S), 4)
    wait[:, 0] = 1
    assert (
        "The policy: back in room 0; wait in room 1, "
        in laboratory(LAB, policy=wait).alt
    )
    assert "Doomed but not unsafe: none" in laboratory(LAB, h=LAB.H).alt


def test_it_can_be_read(legible):
    for figure in (
        laboratory(LAB),
        laboratory(LAB, np.full(LAB.S, 12_345.0), np.full((LAB.H, LAB.S), 2)),
    ):
        legible(figure)
        assert figure.get_size_inches()[0] <= 5.7
        assert len(figure.alt) <= 600


def test_what_cannot_be_drawn():
    with pytest.raises(ValueError, match="only the rooms of"):
        laboratory(st.instances.union_counterexample())
    with pytest.raises(ValueError, match=r"values has shape \(3,\); expected"):
        laboratory(LAB, np.zeros(3))
    for bad in (-1.0, np.nan, np.inf):
        with pytest.raises(ValueError, match="finite and at least 0"):
            laboratory(LAB, np.full(LAB.S, bad))
    with pytest.raises(ValueError, match="draws its actions at random"):
        laboratory(LAB, policy=np.full((LAB.H, LAB.S, LAB.A), 1 / LAB.A))
    with pytest.raises(ValueError, match="h is 11"):
        laboratory(LAB, h=11)
