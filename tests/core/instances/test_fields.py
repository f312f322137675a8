"""A field: obstacles where they are said to be, and a dry way through them."""

import networkx
import numpy as np
import pytest
from looping import each

import safeteach as st


def cells(field, kinds):
    return [s for s, (i, j) in enumerate(field.cells) if field.map[i][j] in kinds]


def dry_moves(field):
    """The length of the shortest way from the start to the goal over dry floor, by networkx."""
    dry = cells(field, "S.G")
    ways = networkx.DiGraph((s, t) for s in dry for a in range(4)
                            for t in field.successors(1, s, a).tolist() if t in dry)  # fmt: skip
    return networkx.shortest_path_length(ways, field.s1, *cells(field, "G"))


@each("made", [{}, {"seed": 5}, {"side": 6, "H": 9}, {"side": 2, "H": 3},
               {"side": 12, "H": 30, "obstacles": 0.3}])  # fmt: skip
def test_the_field_is_the_one_described(made):
    field = st.instances.obstacle_field(**made)
    side, steps = made.get("side", 18), made.get("H", 25)
    assert (field.S, field.H, field.stationary) == (side**2, steps, True)
    assert field.map[-1][-1] == "S" and field.map[0].index("G") == 3 * side // 4
    assert "X" not in field.map[0] + field.map[-1]
    assert np.flatnonzero(field.unsafe).tolist() == cells(field, "X")
    for s in range(field.S):
        several = max(len(field.successors(1, s, a)) for a in range(4)) > 1
        assert several == (s in cells(field, "~"))
    assert dry_moves(field) < field.H
    assert st.safe_optimal(field).value >= field.H - dry_moves(field)


def test_so_many_obstacles_and_so_much_ice():
    fields = [st.instances.obstacle_field(seed=seed) for seed in range(12)]
    counted = np.array([[len(cells(field, kind)) for kind in "X~"] for field in fields])
    assert 95 <= counted[:, 0].mean() <= 120  # a little fewer than 115: there is a way through
    assert 15 <= counted[:, 1].mean() <= 25
    assert len({field.map for field in fields}) == 12
    assert fields[3] == st.instances.obstacle_field(seed=np.random.default_rng(3))


def test_if_every_move_could_go_astray_no_policy_would_be_safe():
    field = st.instances.obstacle_field()
    dry = st.instances.grid_from_map("\n".join(field.map).replace("~", "."), field.H)
    P = 0.97 * dry.P[0] + 0.03 * dry.P[0].mean(axis=1, keepdims=True)
    assert st.is_feasible(dry)
    assert not st.is_feasible(st.SafeMDP(P, dry.r[0], dry.c, dry.tau, dry.H, dry.s1))


def test_the_field_of_the_book_is_the_first_with_which_safety_has_a_price():
    prices = [st.optimal(field).value - st.safe_optimal(field).value
              for field in (st.instances.obstacle_field(seed=seed) for seed in (0, 1))]  # fmt: skip
    assert prices == [0, 2] and st.instances.obstacle_field().map != (
        st.instances.obstacle_field(seed=0).map
    )


@pytest.mark.parametrize(
    ("made", "message"),
    [
        ({"H": 21}, r"^H is 21; the goal is 21 moves away, and a step there needs H = 22$"),
        ({"obstacles": 0.9}, r"^obstacles is 0.9: on none of 1,000 maps dry floor leads"),
        ({"side": 1}, r"^side is 1; it must be at least 2"),
    ],
)
def test_bad_input(made, message):
    with pytest.raises(ValueError, match=message):
        st.instances.obstacle_field(**made)
