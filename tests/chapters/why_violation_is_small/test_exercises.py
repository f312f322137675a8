"""Right answers written in different ways pass, plausible wrong ones do not."""

import math

import numpy as np
import pytest
from classroom.answers import TriedAnswers, collect, said_of

import safeteach as st
from safeteach.chapters import why_violation_is_small as chapter

RIGHT, WRONG, right, wrong = collect()


# by-hand --------------------------------------------------------------------------------------

RIGHT["by-hand"] = [(2, 0.8, 0.2), [2, 0.8, 0.2], np.array([2, 0.4 + 0.4, 0.7 - 0.5])]
SLIPS = {
    (3, 0.8, 0.2): "after the last step",
    (2, 0.4, 0.6): "flagged for the whole episode",
    (2, 0.8, 0.0): "need not be flagged",
    (2, 1.8, 0.7): "what exceeds tau",
    (1, 0.8, 0.2): "Two moves",
}
WRONG["by-hand"] = [*SLIPS, (2, 1.0, 0.0), (2, 0.8), 2, "2, .8, .2"]


@pytest.mark.parametrize(("value", "said"), SLIPS.items())
def test_a_common_slip_is_explained(value, said):
    assert said in said_of(chapter, "by-hand", value)


def test_the_values_are_not_given_away():
    for answer in [*SLIPS, (9, 9, 9)]:
        assert "0.8" not in chapter.check("by-hand", answer).text


# count-the-surprises --------------------------------------------------------------------------


@right("count-the-surprises")
def by_a_loop(seen, episode):
    count = 0
    for h in range(1, len(episode.actions)):
        s, a, t = episode.states[h - 1], episode.actions[h - 1], episode.states[h]
        if not seen[h - 1, s, a, t]:
            count += 1
    return count


@right("count-the-surprises")
def by_indices(seen, episode):
    H = len(episode.actions)
    moves = seen[np.arange(H), episode.states[:-1], episode.actions, episode.states[1:]]
    return (~moves[:-1]).sum()


@wrong("count-the-surprises")
def with_the_last_move(seen, episode):
    H = len(episode.actions)
    moves = seen[np.arange(H), episode.states[:-1], episode.actions, episode.states[1:]]
    return (~moves).sum()


@wrong("count-the-surprises")
def whether_there_was_one(seen, episode):
    return float(by_a_loop(seen, episode) > 0)


@wrong("count-the-surprises")
def those_that_were_none(seen, episode):
    return len(episode.actions) - 1 - by_a_loop(seen, episode)


@wrong("count-the-surprises")
def by_the_first_step(seen, episode):
    return sum(
        not seen[0, episode.states[h], episode.actions[h], episode.states[h + 1]]
        for h in range(len(episode.actions) - 1)
    )


@wrong("count-the-surprises")
def that_learns_as_it_goes(seen, episode):
    for h in range(len(episode.actions)):
        seen[h, episode.states[h], episode.actions[h], episode.states[h + 1]] = True
    return 0


def test_the_episode_that_decides_is_shown_and_can_be_taken_up():
    verdict = chapter.check("count-the-surprises", with_the_last_move)
    assert "episode = Episode(states=[" in " ".join(verdict.text.split())
    case = verdict.case
    assert with_the_last_move(**case) != by_a_loop(**case)


# find-the-bug ---------------------------------------------------------------------------------


@right("find-the-bug")
def with_the_librarys_width(N, mean, tau, delta):
    return mean - st.bounds.beta(N, len(N), delta) > tau


@right("find-the-bug")
def state_by_state(N, mean, tau, delta):
    flags = []
    for n, c in zip(N.tolist(), mean, strict=True):
        width = math.sqrt(2 * math.log(len(N) * n * (n + 1) / delta) / n) if n else math.inf
        flags.append(bool(c - width > tau))
    return np.array(flags)


def width(N, S, delta):
    n = np.maximum(N, 1)
    return np.sqrt(2 * np.log(S * n * (n + 1) / delta) / n)


@right("find-the-bug")
def where_there_is_something(N, mean, tau, delta):
    flags, seen = np.zeros(len(N), bool), N > 0
    n = N[seen]
    log = np.log(len(N)) + np.log(n) + np.log(n + 1) - np.log(delta)
    flags[seen] = mean[seen] > tau + np.sqrt(2 * log / n)
    return flags


@wrong("find-the-bug")
def as_given(N, mean, tau, delta):
    return mean + np.sqrt(2 * np.log(len(N) * N * (N + 1) / delta) / N) > tau


@wrong("find-the-bug")
def with_the_sign_alone(N, mean, tau, delta):
    return mean - np.sqrt(2 * np.log(len(N) * N * (N + 1) / delta) / N) > tau


@wrong("find-the-bug")
def without_the_sign(N, mean, tau, delta):
    return (N > 0) & (mean + width(N, len(N), delta) > tau)


@wrong("find-the-bug")
def at_the_threshold_too(N, mean, tau, delta):
    return (N > 0) & (mean - width(N, len(N), delta) >= tau)


@wrong("find-the-bug")
def no_width(N, mean, tau, delta):  # noqa: ARG001
    return mean > tau


@wrong("find-the-bug")
def half_the_width(N, mean, tau, delta):
    return (N > 0) & (mean - width(N, len(N), delta) / 2 > tau)


@wrong("find-the-bug")
def without_the_states(N, mean, tau, delta):
    return (N > 0) & (mean - width(N, 1, delta) > tau)


@wrong("find-the-bug")
def without_the_sum_over_n(N, mean, tau, delta):
    n = np.maximum(N, 1)
    return (N > 0) & (mean - np.sqrt(2 * np.log(len(N) / delta) / n) > tau)


@wrong("find-the-bug")
def safe_unless_never_visited(N, mean, tau, delta):
    return (N == 0) | (mean - width(N, len(N), delta) > tau)


def test_a_warning_is_an_error():
    said = said_of(chapter, "find-the-bug", with_the_sign_alone)
    assert "FloatingPointError: divide by zero encountered in log" in said
    assert "A warning of NumPy counts as an error" in said


# lemma-that-was-cited -------------------------------------------------------------------------

RIGHT["lemma-that-was-cited"] = [
    ([6], [1, 1, 2, 4, 8]),
    [(8,), (1, 1, 2, 4, 8, 16)],
    (np.array([0, 0, 7]), [1, 1, 2, 4, 8, 16, 32, 0]),
    ([1, 8], [1, 1, 2, 4, 8]),
]
WRONG["lemma-that-was-cited"] = [
    ([5], [1, 1, 2, 4, 8]),
    ([9], [1, 1, 2, 4, 8]),
    ([6], [1, 1, 2, 4]),
    ([6], [1, 2, 3, 6]),
    ([6], [1] * 20),
    ([6], [2, 2]),
    ([6],),
    ([], [1, 1, 2, 4, 8]),
    ([0, 0], [1, 1, 2, 4, 8]),
    ([6.5], [1, 1, 2, 4, 8]),
    ([-6], [1, 1, 2, 4, 8]),
    ([6], [1] * 2000),
    ([True] * 3, [1, 1, 2, 4, 8]),
    "68",
]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (([5], [1]), "The lemma holds on the first sequence: the sum is 5, at most"),
        (([9], [1]), "9 visits in one episode of 8 steps"),
        (([6], [1, 2]), "episode 2 has 2 visits after 1"),
        (([6], [1, 1, 2, 4]), "the sum is 5.414, at most 2√N = 5.657"),
        (([6], 8), "The second sequence is 8; expected a list of whole numbers"),
    ],
)
def test_what_a_sequence_lacks(answer, said):
    assert said in said_of(chapter, "lemma-that-was-cited", answer)


# surprise-for-each-step -----------------------------------------------------------------------


def pit(p=0.01, H=4, sure_way=True, way_out=False, safe_way=True, cost=1.0):
    """From home: into the pit for sure, past it with luck, or along the road."""
    home, far, road, hole = range(4)
    P = np.zeros((4, 3, 4))
    P[home, 0, hole if sure_way else road] = 1
    P[home, 1, [far, hole]] = 1 - p, p
    P[home, 2, road if safe_way else hole] = 1
    P[far, :, far] = P[road, :, road] = P[hole, :, road if way_out else hole] = 1
    r = np.repeat([[0], [0.9], [0.5], [1]], 3, axis=1)
    return st.SafeMDP(P, r, c=[0, 0, 0, cost], tau=0.5, H=H)


def waiting_at_home():
    """The safe way is to stay; across it pays more, in the pit the most."""
    P = np.zeros((4, 3, 4))
    P[0, 0, 3] = P[0, 2, 0] = 1
    P[0, 1, [1, 3]] = 0.995, 0.005
    P[1, :, 1] = P[2, :, 2] = P[3, :, 3] = 1
    r = np.zeros((4, 3))
    r[1], r[3], r[0, 2] = 0.8, 1, 0.1
    return st.SafeMDP(P, r, c=[0, 0, 0, 0.9], tau=0.4, H=5)


RIGHT["surprise-for-each-step"] = [pit(), pit(p=0.003, H=6), waiting_at_home()]
WRONG["surprise-for-each-step"] = [
    pit(H=2),
    pit(way_out=True),
    pit(p=1e-9),
    pit(cost=0.4),
    pit(safe_way=False),
    pit(H=7),
    st.instances.ice_corridor(),
    pit().P,
    lambda: pit(),
]


@pytest.mark.parametrize(
    ("world", "said"),
    [
        (pit(H=2), "never more often in an episode than it was surprised"),
        (pit(cost=0.4), "the learner was never in a flagged state"),
        (pit(safe_way=False), "No policy is feasible here"),
        (pit(H=7), "It has 4 states, 3 actions and 7 steps"),
        (pit().P, "Expected a SafeMDP, got an array of float64"),
    ],
)
def test_what_a_world_lacks(world, said):
    assert said in said_of(chapter, "surprise-for-each-step", world)


# edges-that-matter ----------------------------------------------------------------------------


@right("edges-that-matter")
def by_the_support(mdp):
    U = st.potentially_unsafe(mdp)
    return (mdp.support()[:-1] & U[1:, None, None, :]).sum()


@right("edges-that-matter")
def one_by_one(mdp):
    U = st.potentially_unsafe(mdp)
    count = 0
    for h in range(1, mdp.H):
        for s in range(mdp.S):
            for a in range(mdp.A):
                for t in mdp.successors(h, s, a):
                    count += int(U[h, t])
    return count


@wrong("edges-that-matter")
def all_transitions(mdp):
    return mdp.support()[:-1].sum()


@wrong("edges-that-matter")
def into_unsafe_states(mdp):
    return mdp.support()[:-1][..., mdp.unsafe].sum()


@wrong("edges-that-matter")
def judged_one_step_early(mdp):
    U = st.potentially_unsafe(mdp)
    return (mdp.support()[:-1] & U[:-1, None, None, :]).sum()


@wrong("edges-that-matter")
def pairs_and_not_transitions(mdp):
    U = st.potentially_unsafe(mdp)
    return (mdp.support()[:-1] & U[1:, None, None, :]).any(axis=3).sum()


@wrong("edges-that-matter")
def with_the_last_step(mdp):
    U = np.vstack([st.potentially_unsafe(mdp)[1:], mdp.unsafe])
    return (mdp.support() & U[:, None, None, :]).sum()


class TestAnswers(TriedAnswers):
    slug = "why_violation_is_small"
    right = RIGHT
    wrong = WRONG
