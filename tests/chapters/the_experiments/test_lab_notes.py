"""What the lab notes say of the five learners of Figure 1 is what they do today."""

import json
import math
import re

import numpy as np
import pond
import pytest
import storing

import safeteach as st

STUDY = pond.studies()["figure1"]
WORLD, K = STUDY.mdp, STUDY.episodes
NOTES = (storing.ROOT / "book/appendix/lab-notes.md").read_text("utf-8")


def said(learner):
    """The entry of a learner, in one line."""
    found = re.search(rf"^\*{learner}\*\n: (.*?)\n\n", NOTES, re.MULTILINE | re.DOTALL)
    return " ".join(found[1].split())


@pytest.fixture(scope="module")
def figure1():
    with np.load(storing.DATA / "figure1.npz") as file:
        return dict(file)


@pytest.fixture(scope="module")
def tuning():
    with np.load(storing.DATA / "tuning.npz") as file:
        return dict(file)


def rates(file, name, share):
    """Reward and cost of an episode, over the last share of the run."""
    i, end = file["names"].tolist().index(name), len(file["episodes"]) - 1
    first = end - round(end * share)
    return [
        factor * (file[what][i, :, -1] - file[what][i, :, first]).mean() / (share * K)
        for what, factor in [("reward", 1), ("violation", 2)]  # an unsafe step costs 1, violates .5
    ]


@pytest.mark.slow
def test_late_accidents_of_sucbvi_are_surprises():
    learner = STUDY.learner("SUCBVI")
    late = surprised = 0
    for k, episode in st.play(learner, WORLD, seed=0):
        s, a = episode.states, episode.actions
        if k >= 5000 and WORLD.violation[s[:-1]].any():
            late += 1
            surprised += any(
                s[h] not in learner.transitions.successors(h, s[h - 1], a[h - 1])
                for h in range(1, WORLD.H)
            )
    assert late == surprised == 3
    assert f"{late} episodes after the 5,000th are unsafe, and in each" in said("SUCBVI")


def test_optcmdp_as_published_does_what_ucbvi_does(tuning):
    reward, cost = rates(tuning, "OptCMDP, not clipped 0.0003", 1 / 2)
    assert f"it earns {reward:.2f} at a cost of {cost:.2f}, like UCBVI" in said("OptCMDP")


@pytest.mark.slow
def test_widths_make_the_unconstrained_optimum_look_cheap():
    looks = []
    for noise in (1.0, 0.0):
        learner = st.OptCMDP(WORLD.known, episodes=K, bonus_scale=pond.TUNED["OptCMDP"])
        st.run(learner, WORLD, seed=0, noise=noise)
        width = st.bounds.beta(learner.costs.N, WORLD.S, 0.005)
        law, widths, bonuses = np.eye(WORLD.S)[WORLD.s1], 0.0, 0.0
        for h in range(WORLD.H):
            pairs = law[:, None] * learner.policy[h]  # where it is, what it does
            widths += (pairs * width[:, None]).sum()
            bonuses += (pairs * learner.bonus[h]).sum()
            law = np.einsum("sa,sat->t", pairs, WORLD.P[h])
        cost = st.evaluate(WORLD, learner.policy).cost
        looks.append(cost - widths - bonuses)
        if noise:
            text = said("OptCMDP")
            assert f"this comes to {widths:.2f} and {bonuses:.2f} in an episode" in text
            assert f"That policy costs {cost:.2f}" in text
            assert f"looks as if it cost {looks[0]:.2f}, within the budget" in text
    assert max(looks) < pond.BUDGET and abs(looks[0] - looks[1]) < 0.05


def test_optpess_with_its_published_constants_never_lets_go(figure1):
    S, A, H, delta, text = WORLD.S, WORLD.A, WORLD.H, 0.005, said("OptPess")
    pessimism = (1 + S * H) * math.sqrt(math.log(16 * S**2 * A * H * K / delta))
    episodes = (H * pessimism / (pond.BUDGET / 2)) ** 2
    assert f"${episodes / 1e9:.1f} \\cdot 10^9$ episodes" in text
    assert f"its pessimism is ${pond.TUNED['OptPess'] * pessimism:.3f}/\\sqrt n$" in text
    reward, cost = rates(figure1, "OptPess", 1 / 10)
    assert f"it earns {reward:.2f} at a cost of {cost:.2f}, on average" in text
    curious = STUDY.learner("OptPess")
    next(st.play(curious, WORLD, seed=0))
    assert not curious.cautious


def test_triple_q_works_in_long_frames(figure1):
    S, A, H, text = WORLD.S, WORLD.A, WORLD.H, said("Triple-Q")
    iota = 128 * math.log(math.sqrt(2 * S * A * H) * K)
    epsilon = 8 * math.sqrt(S * A * H**6 * iota**3) / K**0.2
    assert f"${epsilon / 1e9:.1f} \\cdot 10^9$" in text
    frame = round(K**0.6)
    assert f"each frame of {frame} episodes it adds {STUDY.learner('Triple-Q').gain:.2f}" in text
    assert f"{K // frame} times in all" in text
    reward, cost = rates(figure1, "Triple-Q", 1 / 10)
    assert f"it earns {reward:.2f} at a cost of {cost:.2f}, over the budget" in text


class Remembers(st.TripleQ):
    """Triple-Q that keeps its visits at the end of a frame."""

    def observe(self, episode):
        visits = self.visits.copy()
        visits[np.arange(WORLD.H), episode.states[:-1], episode.actions] += 1
        super().observe(episode)
        self.visits[:] = visits


@pytest.mark.slow
@pytest.mark.parametrize(
    ("off", "phrase"),
    [
        ("nothing", "it earns {:.2f} in the first tenth of a frame and {:.2f} in the last"),
        ("noise", "Without noise in the costs that is {:.2f} and {:.2f};"),
        ("forgetting", "without forgetting {:.2f} and {:.2f};"),
        ("gain", "without the gain {:.2f} and {:.2f}."),
    ],
)
def test_the_gain_makes_triple_q_swing(off, phrase):
    make = Remembers if off == "forgetting" else st.TripleQ
    learner = make(
        WORLD.known, episodes=K, bonus_scale=pond.TUNED["Triple-Q"], budget=pond.BUDGET, epsilon=0.0
    )
    if off == "gain":
        learner.gain = 0.0
    history = st.run(learner, WORLD, seed=0, noise=0.0 if off == "noise" else 1.0)
    length = round(K**0.6)
    frames = history.reward[: K // length * length].reshape(-1, length)
    half, tenth = len(frames) // 2, length // 10
    swing = frames[half:, :tenth].mean(), frames[half:, -tenth:].mean()
    assert phrase.format(*swing) in said("Triple-Q")
    assert (swing[1] - swing[0] > 1) == (off != "gain")


def test_what_the_notes_say_of_the_choice_of_the_factors(figure1, tuning):
    text = " ".join(NOTES.split())
    on_three, _ = rates(tuning, "OptPess 3e-05", 1 / 2)
    on_ten, _ = rates(figure1, "OptPess", 1 / 2)
    assert f"OptPess earns {on_three:.2f} in the second half" in text
    assert f"and {on_ten:.2f} on the ten seeds" in text
    optima = json.loads(str(tuning["about"]))["optima"]
    targets = {
        "SUCBVI": (optima["safe"], 0.0),
        "UCBVI": (optima["unconstrained"], np.inf),
    }

    def score(variant, factor):
        target, limit = targets.get(variant, (optima["constrained"], pond.BUDGET))
        reward, cost = rates(tuning, f"{variant} {factor:g}", 1 / 2)
        return max(target - reward, 0) + max(cost - limit, 0)

    for name, factor in pond.TUNED.items():
        assert f"{score(name, factor):.2f} ({name})" in text
        if name != "OptPess":
            three = rates(tuning, f"{name} {factor:g}", 1 / 2)
            assert np.abs(np.subtract(three, rates(figure1, name, 1 / 2))).max() < 0.1
    assert f"would score {score('OptPess', 1):.2f}, better" in text
