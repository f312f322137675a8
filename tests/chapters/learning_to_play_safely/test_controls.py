"""The deck with controls: every stop is a step of an episode that the rules allow."""

import itertools

import numpy as np
import pytest

import safeteach as st
from safeteach.chapters.learning_to_play_safely import controls
from safeteach.running.adversaries import ADVERSARIES

DECK = st.instances.pursuit()
PLAN = st.safe_optimal(DECK)
FREE = st.optimal(DECK)


def board(plan=PLAN, **more):
    return controls.board(DECK, plan.mu, plan.nu, **more)


@pytest.mark.slow
def test_live_and_static_show_the_same_and_fit_into_a_page(check_both):
    static = check_both(board(FREE), settings=4 * 9, every_move_shows=False)
    assert len({alt for _, alt in static.values()}) > len(static) // 2


def state_of(alt):
    """Agent and rival as the text says them, "water" in the water."""
    if "The agent is in the water" in alt:
        return "water"
    words = alt.split("Agent at ")[1].split(".")[0]
    return words.replace(", rival at", "")


@pytest.mark.parametrize("plan", [PLAN, FREE], ids=["safe", "free"])
def test_steps_follow_the_rules_and_the_strategies(plan):
    names = [DECK.state_name(s) for s in range(DECK.S)]
    widget = board(plan, seed=3)
    for rival, respond in ADVERSARIES.items():
        nu = respond(DECK, plan.mu, plan.nu)
        alts = [widget.figure(adversary=rival, h=h).alt for h in range(1, DECK.H + 2)]
        states = [names.index(state_of(alt)) for alt in alts]
        assert states[0] == DECK.s1
        for h, (s, t) in enumerate(itertools.pairwise(states)):
            able = {
                int(x)
                for a in np.flatnonzero(plan.mu[h, s] > 0)
                for b in np.flatnonzero(nu[h, s] > 0)
                for x in DECK.successors(h + 1, s, a, b)
            }
            assert t in able
        for h, alt in enumerate(alts, start=1):
            earned = sum(DECK.r[i, s, 0, 0] for i, s in enumerate(states[: h - 1]))
            assert f"earned {earned:g}, " in alt
        falls = sum(s == DECK.S - 1 for s in states[:-1])
        said = {0: "never fell in", 1: "fell in once"}.get(falls, f"fell in {falls} times")
        assert alts[-1].startswith(f"After the last step: earned {earned:g}, {said}.")


def test_the_trained_agent_of_the_chapter_stays_dry_with_the_luck_of_its_figure():
    trained = st.SafeNashVI(DECK.known, episodes=1_000, bonus_scale=0.003)
    st.run(trained, DECK, seed=0, adversary="hazard seeker")
    widget = board(trained, seed=11)
    for rival in ADVERSARIES:
        assert "never fell in" in widget.figure(adversary=rival, h=DECK.H + 1).alt


def test_a_safe_strategy_never_falls_and_a_free_one_does():
    last = {"adversary": "hazard seeker", "h": DECK.H + 1}
    for seed in range(4):
        assert "never fell in" in board(seed=seed).figure(**last).alt
    assert any("never" not in board(FREE, seed=seed).figure(**last).alt for seed in range(4))


def test_water_behind_the_last_step_is_no_fall():
    stay, down, left = 0, 2, 3
    mu = np.full((DECK.H, DECK.S), stay)
    mu[0], mu[-1] = left, down  # to the treasure at b1, and from there into b2

    def still(game, _mu, _nu):
        return np.zeros((game.H, game.S), int)

    widget = controls.board(DECK, mu, PLAN.nu, {"still": still, "too": still})
    alt = widget.figure(adversary="still", h=DECK.H + 1).alt
    assert "The agent is in the water" in alt
    assert alt.startswith("After the last step: earned 7, never fell in.")


def test_a_rival_of_ones_own():
    def still(game, _mu, _nu):
        return np.zeros((game.H, game.S), int)

    widget = board(adversaries={"still": still, "uniform": ADVERSARIES["uniform"]})
    assert "The rival stays 100%" in widget.figure(adversary="still", h=3).alt
    assert list(widget.controls["adversary"].options) == ["still", "uniform"]


def test_what_cannot_be_played():
    with pytest.raises(ValueError, match="mu has shape"):
        controls.board(DECK, PLAN.nu[:2], PLAN.nu)
    with pytest.raises(ValueError, match="nonnegative and sum to 1"):
        board(adversaries={"a": lambda _g, _mu, nu: 2 * nu, "b": lambda _g, _mu, nu: nu})
