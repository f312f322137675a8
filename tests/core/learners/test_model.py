"""What a learner has seen, against dictionaries of counts."""

import math

import numpy as np
import pytest

import safeteach as st
from safeteach.learners.model import FIRST_ROOM, SeenCosts, SeenTransitions
from safeteach.worlds.known import Episode, Known


def known_world(S, A, H):
    return Known(S, A, H, np.zeros((H, S, A)), 0.5, 0)


def random_episodes(S, A, H, seed, n):
    rng = np.random.default_rng(seed)
    for _ in range(n):
        yield Episode(
            rng.integers(S, size=H + 1), rng.integers(A, size=H), rng.random(H), rng.normal(size=H)
        )


def check(seen, counts, S, A, H):
    """Compare a model with counts, (h, s, a) -> {t: how often}, for h = 1..H."""
    P_hat = seen.P_hat
    for h in range(1, H + 1):
        for s in range(S):
            for a in range(A):
                row = counts.get((h, s, a), {})
                n = sum(row.values())
                assert seen.N[h - 1, s, a] == n
                root = seen.inverse_root.reshape(H, S, A)[h - 1, s, a]
                assert root == (1 / math.sqrt(n) if n else np.inf)
                assert seen.successors(h, s, a).tolist() == sorted(row)
                share = [row.get(t, 0) / n if n else 0.0 for t in range(S)]
                assert P_hat[h - 1, s, a].tolist() == share


@pytest.mark.parametrize(
    ("S", "A", "H", "episodes"),
    [(4, 3, 5, 200), (40, 1, 2, 3000), (1, 1, 1, 3), (9, 1, 1, 60), (3, 2, 1, 40)],
)
def test_transitions_equal_a_dictionary_of_counts(S, A, H, episodes):
    seen, counts = SeenTransitions(known_world(S, A, H)), {}
    costs = SeenCosts(known_world(S, A, H))
    check(seen, counts, S, A, H)
    rooms = {len(seen.successor)}
    for k, episode in enumerate(random_episodes(S, A, H, seed=S, n=episodes)):
        seen.record(episode, costs)
        for h in range(1, H + 1):
            pair = h, int(episode.states[h - 1]), int(episode.actions[h - 1])
            row = counts.setdefault(pair, {})
            t = int(episode.states[h])
            row[t] = row.get(t, 0) + 1
        if k % (episodes // 3) == 0:
            check(seen, counts, S, A, H)
        rooms.add(len(seen.successor))
        assert len(seen.successor) == len(seen.count) == len(seen.share) >= seen.used
    check(seen, counts, S, A, H)
    longest = max(map(len, counts.values()))
    if S == 40:  # rows moved several times, and so did the pool
        assert longest > 8 * FIRST_ROOM and len(rooms) > 4
    # A row has room for less than twice its length, and left less than that behind.
    assert seen.used <= sum(max(FIRST_ROOM, 4 * len(row)) for row in counts.values())


def test_no_room_is_taken_by_pairs_that_were_not_tried():
    known = known_world(S=1600, A=4, H=25)
    seen, costs = SeenTransitions(known), SeenCosts(known)
    for episode in random_episodes(1600, 4, 25, seed=0, n=100):
        seen.record(episode, costs)
    assert len(seen.successor) <= 2 * FIRST_ROOM * 25 * 100


@pytest.mark.parametrize("seed", range(5))
def test_touches_asks_whether_a_seen_successor_is_in_the_next_set(seed):
    S, A, H = 6, 3, 4
    seen, costs = SeenTransitions(known_world(S, A, H)), SeenCosts(known_world(S, A, H))
    for episode in random_episodes(S, A, H, seed, n=30):
        seen.record(episode, costs)
    U = np.random.default_rng(seed).random((H, S)) < 0.3
    touched = seen.touches(U)
    assert touched.any() and not touched[:-1].all() and not touched[-1].any()
    for h in range(1, H):
        for s in range(S):
            for a in range(A):
                assert touched[h - 1, s, a] == any(U[h, t] for t in seen.successors(h, s, a))


def test_costs_are_averaged_over_all_steps():
    S, H = 5, 7
    transitions, seen = SeenTransitions(known_world(S, 1, H)), SeenCosts(known_world(S, 1, H))
    lists = {s: [] for s in range(S)}
    for episode in random_episodes(S - 1, 1, H, seed=3, n=50):  # the last state is never seen
        transitions.record(episode, seen)
        for s, cost in zip(episode.states[:-1], episode.costs, strict=True):
            lists[int(s)].append(cost)
        assert seen.N.tolist() == [len(costs) for costs in lists.values()]
        for s, costs in lists.items():
            assert abs(seen.mean[s] - (np.mean(costs) if costs else 0.0)) < 1e-12
    assert seen.N.sum() == 50 * H and seen.N[-1] == 0


@pytest.mark.parametrize("make", [st.SUCBVI, st.OptCMDP, st.TripleQ, st.SRFUCRL], ids=str)
def test_a_learner_that_would_not_fit_is_refused_before_it_is_made(make):
    mdp = st.SafeMDP([[[1.0]]], [[0.0]], [0.0], tau=0.5, H=10**12)
    settings = {"epsilon": 0.5} if make is st.SRFUCRL else {"episodes": 10}
    with pytest.raises(ValueError, match=r"^what this learner keeps would take .* take fewer st"):
        make(mdp.known, **settings)
