"""A painted reward: the numbers, arrows and words are those of the plan in the true world."""

import numpy as np
import pytest

import safeteach as st
from safeteach.chapters.the_reward_free_experiments import figures

LAB = st.instances.laboratory()
ROOMS = {LAB.state_name(s): s for s in range(LAB.S)}


def paint(**rooms):
    reward = np.zeros(LAB.S)
    for name, value in rooms.items():
        reward[ROOMS[name.replace("_", " ")]] = value
    return reward


def painted_world(reward):
    r = np.repeat(reward[:, None], LAB.A, axis=1)
    return st.SafeMDP(LAB.P, r, LAB.c, LAB.tau, LAB.H)


def walked(policy, tries=4000):
    """Mean steps in each state and moves between them, by playing."""
    rng = np.random.default_rng(0)
    steps, moves = np.zeros(LAB.S), np.zeros((LAB.S, LAB.S))
    for _ in range(tries):
        states = st.rollout(LAB, policy, rng).states[:-1]
        np.add.at(steps, states, 1 / tries)
        np.add.at(moves, (states[:-1], states[1:]), 1 / tries)
    np.fill_diagonal(moves, 0)
    return steps, moves


@pytest.mark.parametrize("best", [st.safe_optimal, st.optimal])
def test_value_violation_and_both_optima_are_exact(best):
    world = painted_world(paint(vault=1, shelf=0.25))
    plan = best(world)
    e = st.evaluate(world, plan.policy)
    alt = figures.painted(LAB, paint(vault=1, shelf=0.25), plan.policy).alt
    assert f"Value {e.value:.2f}, " in alt
    assert f"best safe {st.safe_optimal(world).value:.2f}, " in alt
    assert f"best of all {st.optimal(world).value:.2f}; " in alt
    assert f"expected violation {e.violation:.2f}." in alt
    assert "the reward shelf 0.25, vault 1." in alt


def test_the_arrows_are_the_moves_that_are_made(drawn):
    policy = np.random.default_rng(3).integers(LAB.A, size=(LAB.H, LAB.S))
    figure = figures.painted(LAB, paint(room_3=1), policy)
    flows = {(int(s), int(t)) for s, t in drawn(figure, "flow")}
    steps, moves = walked(policy)
    often, ever = moves > 0.05, moves > 0
    assert flows >= {tuple(pair) for pair in np.argwhere(often).tolist()}
    assert flows <= {tuple(pair) for pair in np.argwhere(ever).tolist()}
    assert drawn(figure, "reward") == [(str(ROOMS["room 3"]),)]
    most = LAB.state_name(int(steps.argmax()))
    assert f"most often in {most} ({steps.max():.0f}" in figure.alt


def test_it_can_be_read(legible):
    for reward in (paint(vault=1, spill=1, shelf=0.5), paint(), np.full(LAB.S, 0.25)):
        world = painted_world(reward)
        legible(figures.painted(LAB, reward, st.optimal(world).policy))


def test_the_marks_are_at_their_rooms():
    figure = figures.painted(LAB, paint(shelf=1), st.optimal(LAB).policy)
    found = {artist.get_gid(): artist for artist in figure.axes[0].patches if artist.get_gid()}
    shelf, mark = found[f"state/{ROOMS['shelf']}/safe"], found[f"reward/{ROOMS['shelf']}"]
    apart = np.hypot(*np.subtract(mark.center, shelf.center))
    assert apart < shelf.radius + mark.radius


@pytest.mark.parametrize(
    ("reward", "policy", "message"),
    [
        (np.zeros(3), np.zeros((LAB.H, LAB.S), int), r"paint has shape \(3,\); expected \(S,\)"),
        (np.full(LAB.S, 2.0), np.zeros((LAB.H, LAB.S), int), "r"),
        (np.zeros(LAB.S), np.full((LAB.H, LAB.S, LAB.A), 0.2), "draws its actions at random"),
    ],
)
def test_bad_input(reward, policy, message):
    with pytest.raises(ValueError, match=message):
        figures.painted(LAB, reward, policy)
