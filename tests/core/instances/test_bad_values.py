"""Every wrong argument of an instance is an error that begins with its name."""

import re

import numpy as np
import pytest
from looping import each

import safeteach as st
from safeteach import arguments

i = st.instances
NO_WHOLE_NUMBER = (1.5, 2.0, "3", None, True, [3], np.nan, 3j)
NO_NUMBER = ("0.5", None, True, [0.5], 0.5j)
TOO_SMALL = (0, -1, -(10**5000))
OUT_OF_RANGE = (-0.1, 1.1, np.nan, np.inf, -np.inf, 10**5000)
NO_FLAG = (1, 0, "yes", None, 0.0, [True])
NO_TEXT = (None, 5, b"S", ["S."], ("A", "R"))
NO_SEED = (1.5, "3", True, [1, 2], np.nan)

# The call with all arguments in order, and how each of them can be wrong.
CALLS = {
    i.grid_from_map: ({"text": "S~", "H": 2, "slip": 0.2, "tau": 0.5},
                      {"text": (NO_TEXT, ("", "S?", "SS", "..", "S.\n.", " \n ", "G")),
                       "H": (NO_WHOLE_NUMBER, TOO_SMALL),
                       "slip": (NO_NUMBER, (0, *OUT_OF_RANGE)),
                       "tau": (NO_NUMBER, (1, *OUT_OF_RANGE))}),
    i.obstacle_field: ({"side": 4, "H": 8, "seed": 0, "obstacles": 0.3},
                       {"side": (NO_WHOLE_NUMBER, (1, 10**5000, *TOO_SMALL)),
                        "H": (NO_WHOLE_NUMBER, (3, 10**5000, *TOO_SMALL)),
                        "seed": ((None, *NO_SEED), (-1,)),
                        "obstacles": (NO_NUMBER, (1, 0.9999, *OUT_OF_RANGE))}),
    i.pursuit: ({"text": "A.R", "H": 2},
                {"text": (NO_TEXT, ("", "A", "R.", "AAR", "A?R", "A.\nR", "A R")),
                 "H": (NO_WHOLE_NUMBER, TOO_SMALL)}),
    i.penny_bridge: ({"H": 2}, {"H": (NO_WHOLE_NUMBER, TOO_SMALL)}),
    i.laboratory: ({"H": 2}, {"H": (NO_WHOLE_NUMBER, TOO_SMALL)}),
    i.quay: ({"seaward": True, "H": 2},
             {"seaward": (NO_FLAG, ()), "H": (NO_WHOLE_NUMBER, TOO_SMALL)}),
    i.random_mdp: ({"S": 3, "A": 2, "H": 2, "seed": 0, "successors": 2, "unsafe": 0.2,
                    "stationary": True},
                   {"S": (NO_WHOLE_NUMBER, TOO_SMALL), "A": (NO_WHOLE_NUMBER, TOO_SMALL),
                    "H": (NO_WHOLE_NUMBER, TOO_SMALL), "seed": ((None, *NO_SEED), (-1,)),
                    "successors": (NO_WHOLE_NUMBER, (4, 10**5000, *TOO_SMALL)),
                    "unsafe": (NO_NUMBER, OUT_OF_RANGE), "stationary": (NO_FLAG, ())}),
    i.random_game: ({"S": 3, "A": 2, "B": 2, "H": 2, "seed": 0, "successors": 2, "unsafe": 0.2,
                     "stationary": False},
                    {"S": (NO_WHOLE_NUMBER, TOO_SMALL), "A": (NO_WHOLE_NUMBER, TOO_SMALL),
                     "B": (NO_WHOLE_NUMBER, TOO_SMALL), "H": (NO_WHOLE_NUMBER, TOO_SMALL),
                     "seed": ((None, *NO_SEED), (-1,)),
                     "successors": (NO_WHOLE_NUMBER, (4, *TOO_SMALL)),
                     "unsafe": (NO_NUMBER, OUT_OF_RANGE), "stationary": (NO_FLAG, ())}),
    i.violation_tree: ({"A": 2, "depth": 2, "gap": 0.1, "j": None},
                       {"A": (NO_WHOLE_NUMBER, (1, *TOO_SMALL)),
                        "depth": (NO_WHOLE_NUMBER, (63, 10**5000, *TOO_SMALL)),
                        "gap": (NO_NUMBER, (0, 0.6, *OUT_OF_RANGE)),
                        "j": ((1.5, "2", True), (0, 1, 5, -1, 10**5000))}),
    i.regret_tree: ({"A": 3, "depth": 2, "gap": 0.1, "unsafe_gap": 0.1, "j": 2, "printed": False},
                    {"A": (NO_WHOLE_NUMBER, (2, *TOO_SMALL)),
                     "depth": (NO_WHOLE_NUMBER, (63, 10**5000, *TOO_SMALL)),
                     "gap": (NO_NUMBER, (0, 0.3, 0.6, *OUT_OF_RANGE)),
                     "unsafe_gap": (NO_NUMBER, (0.6, *OUT_OF_RANGE)),
                     "j": ((1.5, "2", True), (0, 1, 5, -1)), "printed": (NO_FLAG, ())}),
}  # fmt: skip


@pytest.mark.parametrize("make", CALLS, ids=lambda make: make.__name__)
def test_a_wrong_argument_is_named(make):
    good, wrong = CALLS[make]
    assert make(*good.values()) == make(**good)
    assert wrong.keys() == good.keys(), "each argument can be wrong"
    for name, (kinds, values) in wrong.items():
        for error, bad in ((TypeError, kinds), (ValueError, values)):
            for value in bad:
                with pytest.raises(error, match=rf"^{name} (is|has) "):
                    make(**good | {name: value})


def test_no_instance_with_arguments_is_forgotten():
    plain = {
        i.grid, i.ice_corridor, i.railway, i.school_road, i.server_room, i.smoke,
        i.union_counterexample,
    }  # fmt: skip
    classes = {i.GridMDP, i.PursuitGame, i.TreeMDP}
    assert {getattr(i, name) for name in i.__all__} == {*CALLS} | plain | classes
    assert all(isinstance(make(), st.SafeMDP) for make in plain)


HUGE = {
    "drawing a world with S=1000000, A=10, H=2": lambda: i.random_mdp(10**6, 10, 2, 0),
    "drawing a world with S=10, A=10, H=1000000000000": lambda: i.random_mdp(
        10, 10, 10**12, 0, stationary=False),
    "drawing a world with S=10000, A=100, B=100, H=2": lambda: i.random_game(
        10**4, 100, 100, 2, 0),
    "drawing a world with S=1000": lambda: i.random_mdp(10**18, 2, 2, 0),
    "a field with side = 1000000": lambda: i.obstacle_field(10**6, 10**7),
    "a tree with A = 10 and depth = 9": lambda: i.violation_tree(10, 9, 0.1),
    "a tree with A = 10 and depth = 8": lambda: i.regret_tree(10, 8, 0.1, 0.1),
    "P of a map (text) with 1000000 cells": lambda: i.grid_from_map("S" + "." * 999_999, H=2),
    "P of a map (text) with 3002 cells of deck": lambda: i.pursuit("A" + "." * 3000 + "R"),
}  # fmt: skip


@each(("name", "make"), HUGE.items())
def test_a_world_that_does_not_fit_is_refused_before_it_is_made(name, make):
    with pytest.raises(ValueError, match=rf"^{re.escape(name)}.* would take .* are free$"):
        make()


def test_all_that_drawing_a_world_takes_is_counted(monkeypatch):
    monkeypatch.setattr(arguments, "_free_memory", lambda: 4 * 3 * 2 * 3 * 8)
    assert i.random_mdp(3, 2, 9, 0).S == 3
    with pytest.raises(ValueError, match=r"^drawing a world with S=3, A=2, H=2 would take"):
        i.random_mdp(3, 2, 2, 0, stationary=False)


def test_a_depth_too_large_for_its_branches_is_named():
    with pytest.raises(ValueError, match=r"^depth is 20; with 10 branches at each node"):
        i.violation_tree(10, 20, 0.1)


def test_small_types_of_numpy_do_not_wrap():
    """100 * 2 is no number of eight bits, and 1 - 0.2 no float of 32 bits that sums to 1."""
    small = i.random_mdp(np.int8(100), np.int8(2), np.int8(2), 0, np.int8(3), np.float32(0.5))
    assert small == i.random_mdp(100, 2, 2, 0, 3, 0.5)
    assert i.random_game(*map(np.int8, (50, 2, 2, 2)), 0) == i.random_game(50, 2, 2, 2, 0)
    assert i.grid_from_map("S~G", np.int8(2), np.float32(0.2)).S == 3
    assert i.violation_tree(np.int8(12), np.int8(2), 0.1) == i.violation_tree(12, 2, 0.1)
    assert i.regret_tree(np.int8(13), np.int8(2), 0.1, 0.1) == i.regret_tree(13, 2, 0.1, 0.1)
    assert i.regret_tree(3, 2, np.float32(0.1), np.float32(0.1)).S == 10


# the classes that remember where they come from --------------------------------------------------

GRID, TREE, PURSUIT = i.grid_from_map("S.\n#G", H=2), i.violation_tree(2, 2, 0.1), i.pursuit("A.R")


def rebuilt(world, **change):
    names = {i.GridMDP: ("map", "cells"), i.PursuitGame: ("map", "positions"),
             i.TreeMDP: ("degree", "depth", "gap", "special")}[type(world)]  # fmt: skip
    told = {name: getattr(world, name) for name in ("c", "tau", "H", "s1", *names)}
    told |= {"P": world.P[0], "r": world.r[0]}
    for axis in ("state", "action", "reply")[: world.r.ndim - 1]:
        n = world.r.shape[1 + ("state", "action", "reply").index(axis)]
        told[f"{axis}_names"] = [getattr(world, f"{axis}_name")(x) for x in range(n)]
    return type(world)(**told | change)


@pytest.mark.parametrize("world", [GRID, TREE, PURSUIT])
def test_a_world_can_be_built_anew_from_what_it_remembers(world):
    assert rebuilt(world) == world


@pytest.mark.parametrize(
    ("world", "change", "error", "message"),
    [
        (GRID, {"map": "S."}, TypeError, "map is 'S.'; expected its rows, each a str"),
        (GRID, {"map": [1, 2]}, TypeError, "map is [1, 2]; expected its rows, each a str"),
        (GRID, {"map": []}, ValueError, "map is []; expected rows of the same length"),
        (GRID, {"map": ["S.", "#"]}, ValueError, "map is ['S.', '#']; expected rows of the same"),
        (GRID, {"map": ["S..", "#G."]}, ValueError, "cells holds int64 in shape (3, 2); expected"),
        (GRID, {"cells": [[0, 0]]}, ValueError, "cells holds int64 in shape (1, 2); expected who"),
        (GRID, {"cells": "corner"}, ValueError, "cells is not a rectangular array of numbers"),
        (GRID, {"cells": GRID.cells * 1.0}, ValueError, "cells holds float64 in shape (3, 2); e"),
        (GRID, {"cells": GRID.cells[::-1]}, ValueError, "cells differ from those of map; expect"),
        (GRID, {"map": ["S.G"], "cells": [[0, 0], [0, 1], [0, 2]], "P": np.ones((1, 4, 1)),
                "r": np.ones((1, 4)), "c": [0], "state_names": None}, ValueError,
         "map has 3 cells without a wall; expected S = 1"),
        (PURSUIT, {"map": 5}, TypeError, "map is 5; expected its rows, each a str"),
        (PURSUIT, {"map": ["A..R"]}, ValueError, "positions holds int64 in shape (6, 2, 2); exp"),
        (PURSUIT, {"positions": None}, ValueError, "positions is not a rectangular array of"),
        (PURSUIT, {"positions": PURSUIT.positions[::-1]}, ValueError, "positions differ from th"),
        (PURSUIT, {"P": np.ones((1, 5, 5, 1)), "r": np.ones((1, 5, 5)), "c": [0], "s1": 0,
                   "state_names": None}, ValueError, "map has 6 pairs of cells and the water; S"),
        (TREE, {"degree": 1}, ValueError, "degree is 1; it must be at least 2"),
        (TREE, {"depth": 2.0}, TypeError, "depth is 2.0; expected a whole number"),
        (TREE, {"depth": 3}, ValueError, "degree and depth make 15 nodes; expected at most S = 7"),
        (TREE, {"special": 9}, ValueError, "special is 9; the leaves that may be special are 2..4"),
        (TREE, {"special": "2"}, TypeError, "special is '2'; expected a whole number, or None"),
        (TREE, {"gap": np.nan}, ValueError, "gap is nan; it must lie in (0, ½]"),
        (TREE, {"gap": "wide"}, TypeError, "gap is 'wide'; expected a number"),
    ],
)  # fmt: skip
def test_what_a_world_remembers_fits_to_it(world, change, error, message):
    with pytest.raises(error, match="^" + re.escape(message)):
        rebuilt(world, **change)


@each("s", (0, 7, -1, 10**5000))
def test_a_parent_has_a_child(s):
    with pytest.raises(ValueError, match=r"^s is .*; the nodes with a parent are 1\.\.6$"):
        TREE.parent(s)


@each("s", NO_WHOLE_NUMBER)
def test_a_node_is_a_whole_number(s):
    with pytest.raises(TypeError, match=r"^s is .*; expected a whole number$"):
        TREE.parent(s)
