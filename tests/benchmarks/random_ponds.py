"""Frozen ponds of any size, and a field of obstacles, for the benchmark."""

import itertools

import numpy as np

import safeteach as st


def random_pond(side: int, H: int) -> st.instances.GridMDP:
    """A square map with ice on a fifth of its cells and water on a tenth, S = side².

    The start is in the middle and the goal half-way to a corner, ten rows away at most; of the
    maps of seeds 0, 1, ... it is the first on which a policy that is safe at every step can get
    there.
    """
    goal = max(side // 4, side // 2 - 10)

    def cells(rng):
        found = rng.choice(list(".~X"), (side, side), p=[0.7, 0.2, 0.1])
        found[side // 2, side // 2], found[goal, goal] = "S", "G"
        return found

    return _first(cells, H, slip=0.2)


def obstacle_field(H: int) -> st.instances.GridMDP:
    """A map of 18 by 18 cells of the kind that Triple-Q was tried on, S = 324.

    Two fifths of rows 2..17 are obstacles, which are unsafe; from the bottom right corner one goes
    to the top row.  A move goes astray with probability 0.03, but on a tenth of the free cells
    alone: if it did everywhere, no policy would be safe.
    """

    def cells(rng):
        found = np.full((18, 18), ".")
        found[1:-1][rng.random((16, 18)) < 0.4] = "X"
        found[(found == ".") & (rng.random((18, 18)) < 0.1)] = "~"
        found[-1, -1], found[0, 13] = "S", "G"
        return found

    return _first(cells, H, slip=0.03)


def _first(cells, H, slip):
    """Of the maps of seeds 0, 1, ... the first on which one can get to the goal safely."""
    for seed in itertools.count():
        rows = map("".join, cells(np.random.default_rng(seed)))
        mdp = st.instances.grid_from_map("\n".join(rows), H, slip)
        if st.is_feasible(mdp) and st.safe_optimal(mdp).value > 0:
            return mdp
