"""Frozen ponds of any size, for the benchmark."""

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

    for seed in itertools.count():
        found = np.random.default_rng(seed).choice(list(".~X"), (side, side), p=[0.7, 0.2, 0.1])
        found[side // 2, side // 2], found[goal, goal] = "S", "G"
        mdp = st.instances.grid_from_map("\n".join(map("".join, found)), H)
        if st.is_feasible(mdp) and st.safe_optimal(mdp).value > 0:
            return mdp
