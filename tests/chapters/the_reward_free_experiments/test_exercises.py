"""Right answers written in different ways pass, plausible wrong ones do not."""

from typing import ClassVar

import numpy as np
from classroom.answers import TriedAnswers

import safeteach as st
from safeteach.bounds import exploration_bonus, gamma
from safeteach.chapters import the_reward_free_experiments as chapter
from safeteach.chapters.the_reward_free_experiments import exercises

LAB = st.instances.laboratory()


def never_before(over=lambda S, A, H, delta, K: H * exploration_bonus(K, S, A, H, delta), last=0):
    """Bisect for the largest K with ``over`` > ε/2; ``last`` is added to it."""

    def answer(S, A, H, epsilon, delta):
        low, high = 0, 1
        while over(S, A, H, delta, high) > epsilon / 2:
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            if over(S, A, H, delta, middle) > epsilon / 2:
                low = middle
            else:
                high = middle
        return low + last

    return answer


def never_before_by_bits(S, A, H, epsilon, delta):
    K = 0
    for bit in reversed(range(50)):
        if H * exploration_bonus(K + 2**bit, S, A, H, delta) > epsilon / 2:
            K += 2**bit
    return K


def stops_in_loops(width, epsilons):
    ends = []
    for epsilon in epsilons:
        k = 0
        while k < len(width) and width[k] > epsilon / 2:
            k += 1
        ends.append(k if k < len(width) else -1)
    return np.array(ends)


def stops_at_once(width, epsilons):
    enough = np.minimum.accumulate(width)[:, None] <= np.asarray(epsilons) / 2
    return np.where(enough.any(axis=0), (~enough).sum(axis=0), -1)


def stops_for_good(width, epsilons):
    """The last time that the width is above, as if it could not grow again."""
    return np.array([int((width > e / 2).sum()) if width[-1] <= e / 2 else -1 for e in epsilons])


def plan_violation(first=True, before=True):
    def answer(mdp, policy):
        law, total = np.eye(mdp.S)[mdp.s1], 0.0
        for h in range(mdp.H):
            if not first:
                law = law @ mdp.P[h, np.arange(mdp.S), policy[h]]
            if before:
                total += law @ np.maximum(mdp.c - mdp.tau, 0)
            else:
                total += max(law @ mdp.c - mdp.tau, 0)
            if first:
                law = law @ mdp.P[h, np.arange(mdp.S), policy[h]]
        return float(total)

    return answer


def backwards(mdp, policy):
    V = np.zeros(mdp.S)
    for h in reversed(range(mdp.H)):
        V = mdp.violation + np.array([mdp.P[h, s, policy[h, s]] @ V for s in range(mdp.S)])
    return float(V[mdp.s1])


def tempting(gap, H=10, states=2, reward=1.0):
    """A state that pays and costs a little too much; one may stay away."""
    P = np.zeros((states, 2, states))
    P[:, 0, 0] = P[:, 1, 1] = 1
    r = np.zeros((states, 2))
    r[1] = reward
    c = np.zeros(states)
    c[1] = 0.5 + gap
    return st.SafeMDP(P, r, c, tau=0.5, H=H)


def doomed():
    return st.SafeMDP(np.ones((1, 1, 1)), [[1.0]], [0.6], tau=0.5, H=10)


def stairs(climb=1, cells=9, fall=0, reward=1.0, cost=0.0):
    """``climb`` of five actions go up, the others lead to the state ``fall``."""
    P = np.zeros((11, 5, 11))
    P[:, :, fall] = 1
    for s in range(cells):
        P[s, [(3 * s + i) % 5 for i in range(climb)]] = np.eye(11)[s + 1]
    P[cells] = np.eye(11)[cells]
    r = np.zeros((11, 5))
    r[cells] = reward
    return st.SafeMDP(P, r, np.full(11, cost), tau=0.5, H=10)


def painful(seed):
    """Climb to a reward for which the plan after 500 episodes is poor."""
    learner = st.SRFUCRL(LAB.known, delta=0.1)
    st.explore(learner, LAB, 500, seed=0)
    rng = np.random.default_rng(seed)
    found, worst = np.zeros((10, 11, 5)), 0.0
    for t in range(1000):
        r = found.copy()
        if t < 200:
            r[:] = rng.random(r.shape) < 0.03
        else:
            some = rng.integers(r.size, size=3)
            r.flat[some] = 1 - r.flat[some]
        world = st.SafeMDP(LAB.P, r, LAB.c, LAB.tau, LAB.H)
        got = st.evaluate(world, learner.plan_for(r).policy).value
        if st.safe_optimal(world).value - got > worst:
            found, worst = r, st.safe_optimal(world).value - got
        if worst > 0.5:
            return found
    raise AssertionError(f"seed {seed} finds a loss of {worst} only")


class TestTheRewardFreeExperiments(TriedAnswers):
    slug = "the_reward_free_experiments"
    right: ClassVar = {
        "out-of-reach": [4165, 4165.0, np.int64(4165)],
        "floor-under-the-stopping-time": [never_before(), never_before_by_bits],
        "one-run-many-epsilon": [stops_in_loops, stops_at_once],
        "mild-judge": [plan_violation(), backwards],
        "500-episodes-are-enough": [tempting(0.1), tempting(0.08), tempting(0.1, states=3)],
        "walk-is-as-good-as-a-plan": [stairs(), stairs(fall=10)],
        "reward-that-hurts": [painful(0), painful(1).astype(int)],
    }
    wrong: ClassVar = {
        "out-of-reach": [4164, 3993, 500, 41, "4165"],
        "floor-under-the-stopping-time": [
            never_before(last=1),
            never_before(lambda S, A, H, delta, K: exploration_bonus(K, S, A, H, delta)),
            never_before(
                lambda S, A, H, delta, K: 2 * H * H * np.sqrt(2 * gamma(K, S, A, H, delta) / K)
            ),
            never_before(
                lambda S, A, H, delta, K: H * exploration_bonus(K, S, A, H, delta) / 2  # ε, not ε/2
            ),
        ],
        "one-run-many-epsilon": [
            stops_for_good,
            lambda width, epsilons: stops_in_loops(width, 2 * np.asarray(epsilons)),
            lambda width, epsilons: stops_in_loops(width, epsilons) + 1,
            lambda width, epsilons: (width[None] <= epsilons[:, None] / 2).argmax(axis=1),
        ],
        "mild-judge": [
            plan_violation(before=False),
            plan_violation(first=False),
            plan_violation(first=False, before=False),
        ],
        "500-episodes-are-enough": [
            tempting(0.5),
            tempting(0.02),
            tempting(0.0),
            tempting(0.1, H=11),
            tempting(0.1, states=4),
            tempting(0.1, reward=0.0),
            doomed(),
            "a world",
        ],
        "walk-is-as-good-as-a-plan": [
            stairs(climb=3),
            stairs(climb=5),
            stairs(cells=2),
            stairs(reward=0.2),
            stairs(cost=1.0),
            tempting(0.1),
            st.instances.grid(),
            7,
        ],
        "reward-that-hurts": [LAB.r, np.zeros((10, 11, 5)), 2 * LAB.r, np.zeros(11), "a reward"],
    }


def test_the_messages_say_what_is_wrong():
    assert "left out the second term" in chapter.check("out-of-reach", without_second_term()).text
    assert "for δ = 0.1" in chapter.check("out-of-reach", 3993).text
    assert "still H or more" in chapter.check("out-of-reach", 4164).text
    assert (
        "No state of it is unsafe" in chapter.check("500-episodes-are-enough", tempting(0.0)).text
    )
    assert (
        "a violation of 0.18, 0.18" in chapter.check("500-episodes-are-enough", tempting(0.02)).text
    )
    assert (
        "the plan earns 1 of 1" in chapter.check("walk-is-as-good-as-a-plan", stairs(climb=5)).text
    )
    assert (
        "make it 0.5 at least"
        in chapter.check("walk-is-as-good-as-a-plan", stairs(reward=0.2)).text
    )
    assert "it loses 0" in chapter.check("reward-that-hurts", LAB.r).text
    assert "It is no reward" in chapter.check("reward-that-hurts", np.zeros(11)).text


def test_a_world_in_which_the_directed_learner_fails_too_is_refused(monkeypatch):
    """With a factor that leaves all uncertainties at their cap it walks as the other does."""
    monkeypatch.setattr(exercises, "SCALE", 0.1)
    assert "it has not found the way" in chapter.check("walk-is-as-good-as-a-plan", stairs()).text


def without_second_term():
    n = np.arange(1, 20_000)
    bonus = 20 * np.sqrt(2 * gamma(n, 11, 5, 10, 0.005) / n)
    return int(n[bonus < 10][0])
