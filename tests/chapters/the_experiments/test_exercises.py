"""Right answers written in different ways pass, plausible wrong ones do not."""

from typing import ClassVar

import numpy as np
from classroom.answers import TriedAnswers

import safeteach as st
from safeteach.chapters import the_experiments as chapter


def interval_in_loops(y, q):
    R, N = y.shape
    ends = np.zeros((2, N))
    for i in range(N):
        column = [float(row[i]) for row in y]
        mean = sum(column) / R
        error = (sum((x - mean) ** 2 for x in column) / (R - 1) / R) ** 0.5
        ends[:, i] = mean - q * error, mean + q * error
    return ends


def interval(ddof=1, root=True, axis=0):
    def answer(y, q):
        half = q * y.std(axis=axis, ddof=ddof) / (np.sqrt(len(y)) if root else 1)
        mean = y.mean(axis=axis)
        return np.stack([mean - half, mean + half])

    return answer


def report(pick=lambda x, _: x.mean(), cut=lambda x: x, total=np.sum):
    """A report that averages over seeds with ``pick`` and over episodes with ``total``."""

    def answer(reward, violation, best):
        regret = total(cut(best - reward), axis=1)
        return pick(regret, reward), pick(total(violation, axis=1), reward)

    return answer


def report_in_loops(reward, violation, best):
    seeds = range(len(reward))
    regret = [sum(best - x for x in reward[i]) for i in seeds]
    return sum(regret) / len(seeds), sum(sum(violation[i]) for i in seeds) / len(seeds)


def best_seed(x, reward):
    return x[reward.sum(axis=1).argmax()]


def paid(mdp, policy, rng):
    return mdp.violation[st.rollout(mdp, policy, rng).states[: mdp.H]].sum()


def play_by_rows(mdp, policies, episodes, seed):
    def row(policy):
        rng = np.random.default_rng(seed)
        return [paid(mdp, policy, rng) for _ in range(episodes)]

    return np.array([row(policy) for policy in policies])


def play_side_by_side(mdp, policies, episodes, seed):
    rngs = [np.random.default_rng(seed) for _ in policies]
    rows = zip(policies, rngs, strict=True)
    pairs = list(rows)
    return np.array([[paid(mdp, p, r) for p, r in pairs] for _ in range(episodes)]).T


def play_with_shared_luck(mdp, policies, episodes, seed):
    rng = np.random.default_rng(seed)
    return np.array([[paid(mdp, p, rng) for _ in range(episodes)] for p in policies])


def play_with_fresh_luck(mdp, policies, episodes, seed):
    return np.array(
        [[paid(mdp, p, np.random.default_rng(seed)) for _ in range(episodes)] for p in policies]
    )


def play_with_other_seeds(mdp, policies, episodes, seed):
    rngs = [np.random.default_rng(seed + i) for i in range(len(policies))]
    return np.array(
        [
            [paid(mdp, p, rng) for _ in range(episodes)]
            for p, rng in zip(policies, rngs, strict=True)
        ]
    )


def play_past_the_end(mdp, policies, episodes, seed):
    rows = []
    for policy in policies:
        rng = np.random.default_rng(seed)
        rollouts = [st.rollout(mdp, policy, rng) for _ in range(episodes)]
        rows.append([np.maximum(e.costs - mdp.tau, 0).sum() for e in rollouts])
    return np.array(rows)


def fork(gain=0.005, cost=1.0, wet=1.0, H=2, share=0.5):
    """From the start to a safe state, or with probability ``wet`` to an unsafe one."""
    P = np.zeros((3, 2, 3))
    P[0, 0, 1] = 1
    P[0, 1, 2], P[0, 1, 1] = wet, 1 - wet
    P[1, :, 1] = P[2, :, 2] = 1
    r = np.array([[0.0, 0.0], [1 - gain, 1 - gain], [1.0, 1.0]])
    policy = np.broadcast_to([1 - share, share], (H, 3, 2))
    return st.SafeMDP(P, r, c=[0, 0, cost], tau=0.5, H=H), policy


def no_way_out():
    P = np.zeros((2, 1, 2))
    P[:, 0, 1] = 1
    return st.SafeMDP(P, np.ones((2, 1)), c=[0, 0.6], tau=0.5, H=2), np.zeros((2, 2), int)


ALL_ICE = """
~ ~ ~ ~ X
~ ~ ~ ~ ~
~ ~ S ~ ~
~ ~ ~ ~ ~
G ~ ~ ~ ~
"""


class TestTheExperiments(TriedAnswers):
    slug = "the_experiments"
    right: ClassVar = {
        "what-a-budget-is-in-violation": [600, 600.0, np.float64(600)],
        "band": [interval(), interval_in_loops],
        "flattering-report": [report(), report_in_loops],
        "whose-luck": [play_by_rows, play_side_by_side],
        "cheap-safety": [
            fork(),
            fork(gain=0.01, cost=0.9, share=0.4),
            (fork(wet=0.5)[0], np.ones((2, 3), int)),  # the world draws, not the policy
        ],
        "far-from-the-water": [
            ALL_ICE,
            ALL_ICE.replace("G", "~"),
            "##~~X\n#~S~~\n##~~~".replace("#", "~"),
        ],
    }
    wrong: ClassVar = {
        "what-a-budget-is-in-violation": [3000, 0, 0.06, 2400, 6000, "600"],
        "band": [interval(ddof=0), interval(root=False), lambda y, q: interval()(y, -q)],
        "flattering-report": [
            report(pick=best_seed),
            report(cut=lambda x: np.maximum(x, 0)),
            report(total=np.mean),
            lambda reward, violation, best: report()(reward, violation, best)[::-1],
        ],
        "whose-luck": [
            play_with_shared_luck,
            play_with_fresh_luck,
            play_with_other_seeds,
            play_past_the_end,
        ],
        "cheap-safety": [
            fork(gain=0.1),
            fork(share=0.3),
            fork(share=0.6),
            fork(gain=0.0),
            fork(cost=0.5),
            no_way_out(),
            fork(H=5),
            fork()[0],
            (fork()[0], "a policy"),
            "a world",
        ],
        "far-from-the-water": [
            "S ~ ~ X",  # up and down it stands still
            "~ X ~\n~ S ~\n~ ~ ~",
            ALL_ICE.replace("X", "~"),
            ALL_ICE.replace("~ ~ S ~", "~ . S ~"),
            "S ~",
            "S ~ ?",
            ALL_ICE + "~ ~ ~ ~ ~",
            7,
        ],
    }


def test_the_messages_say_what_is_wrong():
    assert (
        "only what exceeds tau" in chapter.check("what-a-budget-is-in-violation", 3000).text.lower()
    )
    assert "Safety is not almost free" in chapter.check("cheap-safety", fork(gain=0.1)).text
    assert "unsafe with probability 0.3" in chapter.check("cheap-safety", fork(share=0.3)).text
    assert "over the budget: it costs 0.6" in chapter.check("cheap-safety", fork(share=0.6)).text
    assert "stays on dry floor" in chapter.check("far-from-the-water", "S ~ ~ X").text
