"""Who is doomed in what was seen, against the recursion written out, as the seen world grows."""

import itertools

import numpy as np
import pytest

from safeteach.learners.doom import SeenDoom
from safeteach.learners.model import SeenCosts, SeenTransitions
from safeteach.worlds.known import Episode, Known


def spread(flagged, seen, replies, union):
    """U_h^k and A_h^{k,safe} from dictionaries: (h, s, row) -> the successors seen."""
    H, S, rows = seen.shape
    A = rows // replies
    U, safe = np.zeros((H, S), bool), np.ones((H, S, A), bool)
    U[-1] = flagged
    for h in range(H - 1, 0, -1):
        for s, a in itertools.product(range(S), range(A)):
            after = [seen.successors(h, s, a * replies + b) for b in range(replies)]
            safe[h - 1, s, a] = not any(U[h, t] for ts in after for t in ts)
        U[h - 1] = (U[h] if union else flagged) | ~safe[h - 1].any(axis=1)
    return U, safe


@pytest.mark.parametrize(("replies", "union"), [(1, False), (1, True), (2, False)])
@pytest.mark.parametrize("seed", range(4))
def test_it_is_the_recursion_at_every_moment_and_computed_only_when_something_is_new(
    seed, replies, union
):
    S, A, H = 6, 3, 5
    rng = np.random.default_rng(seed)
    known = Known(S, A * replies, H, np.zeros((H, S, A * replies)), 0.5, 0)
    seen, costs = SeenTransitions(known), SeenCosts(known)
    doom = SeenDoom(seen, replies, union)
    ways = rng.integers(S, size=(H, S, A * replies, 2))  # two successors a row
    looks, flagged = 0, np.zeros(S, bool)
    for k in range(400):
        s, states, actions, answers = 0, [0], [], []
        for h in range(H):
            a, b = rng.integers(A), rng.integers(replies)
            s = int(ways[h, s, a * replies + b, rng.integers(2)])
            states, actions, answers = [*states, s], [*actions, a], [*answers, b]
        actions, answers = np.array(actions), np.array(answers)
        nothing = np.zeros(H)
        rows = Episode(np.array(states), actions * replies + answers, nothing, nothing)
        seen.record(rows, costs)
        doom.observe(Episode(np.array(states), actions, nothing, nothing, answers))
        if k in (40, 150, 260):  # a flag goes up, another one, and one goes down
            flagged[[2, 4, 2][[40, 150, 260].index(k)]] ^= True
        doom.U[-1] = flagged
        looks += doom.look()
        U, safe = spread(flagged, seen, replies, union)
        assert (doom.U == U).all() and (doom.safe == safe).all(), k
    assert 3 < looks < 150
    assert U.any(axis=1).all() and not safe.all()


def test_a_world_of_one_step_has_nothing_to_spread():
    known = Known(2, 2, 1, np.zeros((1, 2, 2)), 0.5, 0)
    doom = SeenDoom(SeenTransitions(known))
    doom.U[-1] = [True, False]
    assert doom.look() and not doom.look()
    doom.observe(Episode(np.array([1, 0]), np.array([0]), np.zeros(1), np.zeros(1)))
    assert not doom.look() and doom.safe.all() and doom.U.tolist() == [[True, False]]
