"""Maps show how often an agent goes where, curves what it got, and panels what it believes."""

from collections import Counter

import numpy as np
import pytest
from looping import each

import safeteach as st
from safeteach.chapters.the_algorithm.figures import Moment, expected_moves, lives, moves, ways

ICE, POND = st.instances.ice_corridor(), st.instances.grid()
CROSSING = st.instances.union_counterexample()


def history(make, seed=1, episodes=200, mdp=ICE):
    return st.run(make(mdp.known, episodes=episodes, bonus_scale=0.01), mdp, seed=seed)


def moment(episodes, seed=5):
    """What a learner on the corridor believes before the last episode, and the learner itself."""
    learner = st.SUCBVI(ICE.known, episodes=episodes, bonus_scale=0.01)
    for k, _ in st.play(learner, ICE, seed):
        if k + 1 == episodes:
            return Moment.of(learner, episodes), learner
    return None


# ways ------------------------------------------------------------------------------------------


@each("mdp", [ICE, POND, CROSSING])
def test_expected_moves_are_those_of_many_episodes(mdp):
    policy = st.optimal(mdp).policy
    moved = expected_moves(mdp, policy)
    assert np.isclose(moved.sum(), mdp.H)
    rng = np.random.default_rng(0)
    counted = np.zeros((mdp.S, mdp.S))
    for _ in range(600):
        s = st.rollout(mdp, policy, rng, noise=0).states
        np.add.at(counted, (s[:-1], s[1:]), 1 / 600)
    assert abs(counted - moved).max() < 0.3


def test_what_is_made_often_has_an_arrow(drawn):
    rng = np.random.default_rng(0)
    often = rng.choice([0.0, 0.01, 0.2, 1.5], (ICE.S, ICE.S))
    expected = {(s, t) for s, t in np.argwhere(often >= 0.03).tolist() if s != t}
    shown = drawn(ways(ICE, often, "any"), "way")
    assert {(int(s), int(t)) for s, t in shown} == expected


@each("mdp", [ICE, POND])
def test_a_map_of_ways_says_what_it_shows(mdp, on_paper):
    plan = st.optimal(mdp).policy
    figure = ways(mdp, expected_moves(mdp, plan), "the best policy")
    on_paper(figure)
    assert figure.alt.startswith("Map of a grid world")
    assert "the best policy" in [text.get_text() for text in figure.axes[0].texts]
    wet = sum(expected_moves(mdp, plan)[s, t] for t in np.flatnonzero(mdp.unsafe)
              for s in np.flatnonzero(~mdp.unsafe))
    assert figure.alt.endswith(f"Into the water: {wet:.2g} an episode.")


def test_ways_need_a_map_and_a_square():
    with pytest.raises(TypeError, match="only a GridMDP"):
        ways(CROSSING, np.zeros((5, 5)), "x")
    with pytest.raises(ValueError, match=r"\(3, 3\); expected \(S, S\) = \(13, 13\)"):
        ways(ICE, np.zeros((3, 3)), "x")


# lives -----------------------------------------------------------------------------------------


def line(figure, gid):
    (found,) = [line for axes in figure.axes for line in axes.lines if line.get_gid() == gid]
    return found.get_xydata()


def test_curves_add_up_violation_and_average_rewards(on_paper):
    runs = {"UCBVI": history(st.UCBVI), "SUCBVI": history(st.SUCBVI, seed=2)}
    figure = lives(runs, best=3.0)
    on_paper(figure)
    for name, run in runs.items():
        k, total = line(figure, f"violation/{name}").T
        assert np.allclose(total, run.violation.cumsum()[k.astype(int) - 1])
        assert k[0] == np.flatnonzero(run.violation)[0] + 1
        rewards = line(figure, f"reward/{name}")[:, 1]
        assert np.allclose(rewards, run.reward.reshape(50, -1).mean(axis=1))
        assert f"{name}: violation " in figure.alt
    assert set(line(figure, "best")[:, 1]) == {3.0}
    assert figure.axes[0].get_yscale() == "log"
    assert lives({"UCBVI": runs["UCBVI"]}, best=3.0).axes[0].get_yscale() == "linear"


def test_runs_that_cannot_be_drawn():
    run = history(st.UCBVI)
    with pytest.raises(ValueError, match="3 runs"):
        lives(dict.fromkeys("abc", run), 1.0)
    with pytest.raises(ValueError, match=r"runs of \[100, 200\] episodes"):
        lives({"a": run, "b": history(st.UCBVI, episodes=100)}, 1.0)


# the three moves -------------------------------------------------------------------------------


@each("episodes", [1, 450, 600, 1100, 1600])
def test_the_panels_show_what_is_believed(episodes, drawn, on_paper):
    now, learner = moment(episodes)
    figure = moves(ICE, now, learner.delta)
    on_paper(figure)
    reach = {(h, s) for h, s in np.argwhere(reached(ICE)).tolist()}
    truth = st.potentially_unsafe(ICE)
    believed = {(h, s) for h, s in np.argwhere(learner.U).tolist()} & reach
    words = {s: "flagged" if learner.flagged[s] else "doomed" for s in range(ICE.S)}
    expected = sorted((str(s), str(h + 1), words[s]) for h, s in believed)
    assert drawn(figure, "state") == expected
    unknown = {(h, s) for h, s in np.argwhere(truth & ~learner.U).tolist()} & reach
    assert drawn(figure, "unknown") == sorted((str(s), str(h + 1)) for h, s in unknown)
    doomed = np.flatnonzero(truth.any(axis=0))
    seen = sorted((str(s),) for s in doomed if learner.costs.N[s])
    assert drawn(figure, "cost") == seen
    risk = st.evaluate(ICE, learner.policy).unsafe_probability
    assert figure.alt.endswith(f"with probability {risk:.2g}.")


def reached(mdp):
    """(H, S): where an agent can be, by steps along the support."""
    support, here = mdp.support(), np.eye(mdp.S, dtype=bool)[mdp.s1]
    out = []
    for h in range(mdp.H):
        out.append(here)
        here = support[h][here].any(axis=(0, 1))
    return np.array(out)


def test_a_cell_joins_when_all_its_actions_are_convicted():
    now, learner = moment(1_600)
    joined = learner.U & ~learner.flagged
    assert joined.any()
    assert (now.bad[joined] == ICE.A).all()
    inner = ~learner.U[:-1]
    assert (now.bad[:-1][inner] < ICE.A).all()
    shown = reached(ICE) & st.potentially_unsafe(ICE).any(axis=0) & ~learner.flagged
    written = [t.get_text() for t in moves(ICE, now, learner.delta).axes[0].texts]
    axes = Counter([*map(str, range(1, ICE.H + 1)), "0", "1", str(ICE.A)])  # the last: the legend
    counts = axes + Counter(map(str, now.bad[shown]))
    assert Counter(text for text in written if text.isdigit()) == counts


def test_all_moments_have_one_size():
    sizes = {tuple(moves(ICE, moment(k)[0], 0.005).get_size_inches()) for k in (1, 600)}
    assert len(sizes) == 1


def test_what_is_no_moment():
    with pytest.raises(TypeError, match="moment"):
        moves(ICE, 3, 0.005)
    with pytest.raises(TypeError, match="only a GridMDP"):
        moves(CROSSING, moment(1)[0], 0.005)
