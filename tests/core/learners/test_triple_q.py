"""Triple-Q against a plain one, line by line."""

import math

import numpy as np
import pytest
from chapters.the_experiments.plain_triple_q import PlainTripleQ

import safeteach as st


@pytest.mark.parametrize("stationary", [True, False])
@pytest.mark.parametrize("bonus_scale", [1e-5, 1e-3, 1.0])
def test_it_equals_a_plain_one_in_every_episode(stationary, bonus_scale):
    mdp = st.instances.random_mdp(5, 3, 4, seed=6, unsafe=0.5, stationary=stationary)
    how = {"episodes": 600, "bonus_scale": bonus_scale, "budget": 1.0, "epsilon": 0.1}
    learner, plain = st.TripleQ(mdp.known, **how), PlainTripleQ(mdp.known, **how)
    ties = np.random.default_rng(np.random.SeedSequence(4).spawn(4)[3])
    H, S, A = mdp.r.shape
    for k, episode in st.play(learner, mdp, seed=4, noise=0.3):
        coins = ties.random((H, S))
        for h in range(1, H + 1):
            s = int(episode.states[h - 1])
            assert episode.actions[h - 1] == plain.act(h, s, coins[h - 1, s]), (k, h)
        for name in ("Q", "C"):
            table = np.array(list(getattr(plain, name).values())).reshape(H, S, A)
            assert np.abs(getattr(learner, name) - table).max() < 1e-9, k
        assert abs(learner.Z - plain.Z) < 1e-9, k
        assert learner.visits.ravel().tolist() == list(plain.N.values())
        plain.observe(episode)
    assert plain.frame == learner.frame == 46 and len(plain.queue) == 600 // 46
    assert (max(plain.queue) > 0) == (bonus_scale < 1)  # with the published bonus C stays at H


def test_the_queue_is_never_negative_and_a_frame_ends_with_a_new_start():
    mdp = st.instances.random_mdp(5, 3, 4, seed=6, unsafe=0.5)
    learner = st.TripleQ(mdp.known, episodes=1000, bonus_scale=1e-3, budget=1.5, epsilon=0.0)
    assert learner.frame == 63
    queue = []
    for k, _episode in st.play(learner, mdp, seed=0):
        queue.append(learner.Z)
        assert learner.Z >= 0
        if k % 63 == 0:
            assert (learner.visits == 0).all()
            assert np.maximum(learner.Q, learner.C).max() <= mdp.H
        else:
            assert learner.visits.sum() == mdp.H * (k % 63)
            assert queue[k - 1] == learner.Z  # it moves between frames alone
    assert max(queue) > 0 and queue[:63] == [0.0] * 63
    assert 0.0 in queue[63:]  # at times it would have become negative


def test_the_tightening_is_the_published_one_unless_another_is_given():
    known = st.instances.grid().known
    iota = 128 * math.log(math.sqrt(2 * 25 * 4 * 12) * 20_000)
    published = 8 * math.sqrt(25 * 4 * 12**6 * iota**3) / 20_000**0.2
    assert st.TripleQ(known, episodes=20_000).epsilon == pytest.approx(published)
    assert published > known.H  # no utility satisfies the queue
    assert st.TripleQ(known, episodes=20_000, epsilon=0.1).epsilon == 0.1


def test_ties_are_broken_uniformly():
    learner = st.TripleQ(st.instances.random_mdp(4, 3, 2, seed=0).known, episodes=10)
    uniform = np.random.default_rng(1).random((2, 4))
    assert (learner.plan(np.random.default_rng(1)) == (3 * uniform).astype(int)).all()


@pytest.mark.parametrize("epsilon", [-0.1, float("nan"), float("inf")])
def test_a_tightening_that_is_none_is_refused(epsilon):
    with pytest.raises(ValueError, match=f"^epsilon is {epsilon}; "):
        st.TripleQ(st.instances.grid().known, episodes=9, epsilon=epsilon)
