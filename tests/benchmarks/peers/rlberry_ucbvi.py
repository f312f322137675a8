"""UCBVI of rlberry 0.5.0 in a given world: prints episodes per second of processor time.

Run it in the environment of ``requirements.txt`` beside it, with the path of a .npz that holds
P (S, A, S), r (S, A), s1, H and episodes.
"""

import sys
import time

import numpy as np


def episodes_per_second(P, r, s1, H, episodes):
    """The best speed of three agents as released, once everything is compiled."""
    import rlberry  # here, since the tests import every file and have no rlberry
    from rlberry.agents.dynprog.utils import backward_induction_sd
    from rlberry.agents.ucbvi import UCBVIAgent
    from rlberry.envs.finite import FiniteMDP

    assert hasattr(backward_induction_sd, "py_func"), "rlberry must have found numba"
    rlberry.logger.setLevel("WARNING")

    def agent():
        # stage_dependent: it counts transitions for each step of its own, as we do
        world = FiniteMDP(r, P, initial_state_distribution=s1)
        return UCBVIAgent(world, horizon=H, stage_dependent=True, seeder=0)

    agent().fit(2)
    best = 0.0
    for _ in range(3):
        fresh = agent()
        start = time.process_time()
        fresh.fit(episodes)
        best = max(best, episodes / (time.process_time() - start))
    return best


if __name__ == "__main__":
    with np.load(sys.argv[1]) as world:
        whole = {name: int(world[name]) for name in ("s1", "H", "episodes")}
        print(episodes_per_second(world["P"], world["r"], **whole))
