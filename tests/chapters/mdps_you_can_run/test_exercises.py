"""Solutions in several hands pass, plausible mistakes do not."""

import math

import numpy as np
import pytest
from classroom.answers import TriedAnswers, collect

import safeteach as st
from safeteach.chapters import mdps_you_can_run as chapter

RIGHT, WRONG, right, wrong = collect()


# by-hand --------------------------------------------------------------------------------------

RIGHT["by-hand"] = [37 / 16, 2.3125, np.float64(1 + 13 / 16 + 0.5)]
SLIPS = {
    2.0625: "running it at every step",
    1.625: "two steps",
    1 + 2.3125 / 2 + 1.625 / 2: "four steps",
    3.0: "never wears",
}
WRONG["by-hand"] = [*SLIPS, 2.5, "37/16", (37, 16), math.nan, 2.31]


@pytest.mark.parametrize(("value", "said"), SLIPS.items())
def test_a_common_slip_is_explained(value, said):
    assert said in chapter.check("by-hand", value).text


def test_the_value_is_not_given_away():
    for answer in [*SLIPS, 2.5, "one"]:
        assert "2.31" not in chapter.check("by-hand", answer).text


# every-value-at-once --------------------------------------------------------------------------


@right("every-value-at-once")
def backward(mdp, policy):
    V = np.zeros((mdp.H + 1, mdp.S))
    for h in range(mdp.H, 0, -1):
        V[h - 1] = (policy[h - 1] * (mdp.r[h - 1] + mdp.P[h - 1] @ V[h])).sum(axis=1)
    return V


@right("every-value-at-once")
def by_loops(mdp, policy):
    P, rows = mdp.P, [[0.0] * mdp.S]
    for h in range(mdp.H, 0, -1):
        row = []
        for s in range(mdp.S):
            worth = 0.0
            for a in range(mdp.A):
                later = sum(P[h - 1, s, a, t] * rows[0][t] for t in range(mdp.S))
                worth += policy[h - 1, s, a] * (mdp.r[h - 1, s, a] + later)
            row.append(worth)
        rows.insert(0, row)
    return np.array(rows)


@right("every-value-at-once")
def by_laws(mdp, policy):
    """Start the world in every state at every step and add up what is earned."""
    V = np.zeros((mdp.H + 1, mdp.S))
    earned = np.einsum("hsa,hsa->hs", policy, mdp.r)
    for first in range(mdp.H):
        d = np.eye(mdp.S)
        for h in range(first, mdp.H):
            V[first] += d @ earned[h]
            d = d @ np.einsum("sa,sat->st", policy[h], mdp.P[h])
    return V


@wrong("every-value-at-once")
def of_the_best_policy(mdp, _policy):
    return st.optimal(mdp).V


@wrong("every-value-at-once")
def mean_over_actions(mdp, _policy):
    return backward(mdp, np.full((mdp.H, mdp.S, mdp.A), 1 / mdp.A))


@wrong("every-value-at-once")
def of_the_likeliest_action(mdp, policy):
    return backward(mdp, np.eye(mdp.A)[policy.argmax(axis=2)])


@wrong("every-value-at-once")
def always_the_first_table(mdp, policy):
    V = np.zeros((mdp.H + 1, mdp.S))
    for h in range(mdp.H, 0, -1):
        V[h - 1] = (policy[h - 1] * (mdp.r[h - 1] + mdp.P[0] @ V[h])).sum(axis=1)
    return V


@wrong("every-value-at-once")
def without_the_last_reward(mdp, policy):
    V = np.zeros((mdp.H + 1, mdp.S))
    for h in range(mdp.H - 1, 0, -1):
        V[h - 1] = (policy[h - 1] * (mdp.r[h - 1] + mdp.P[h - 1] @ V[h])).sum(axis=1)
    return V


@wrong("every-value-at-once")
def without_the_last_row(mdp, policy):
    return backward(mdp, policy)[:-1]


@wrong("every-value-at-once")
def only_from_s1(mdp, policy):
    return float(backward(mdp, policy)[0, mdp.s1])


@wrong("every-value-at-once")
def rewards_after_the_move(mdp, policy):
    V = np.zeros((mdp.H + 1, mdp.S))
    for h in range(mdp.H, 0, -1):
        r = (policy[h - 1] * mdp.r[h - 1]).sum(axis=1)
        V[h - 1] = (policy[h - 1] * (mdp.P[h - 1] @ (r + V[h]))).sum(axis=1)
    return V


@wrong("every-value-at-once")
def overwrites_the_policy(mdp, policy):
    policy[:] = 1 / mdp.A
    return backward(mdp, policy)


# law-of-the-state -----------------------------------------------------------------------------


@right("law-of-the-state")
def carried_forward(mdp, policy):
    d = np.zeros((mdp.H + 1, mdp.S))
    d[0, mdp.s1] = 1
    for h in range(1, mdp.H + 1):
        d[h] = np.einsum("s,sa,sat->t", d[h - 1], policy[h - 1], mdp.P[h - 1])
    return d


@right("law-of-the-state")
def along_the_arrows(mdp, policy):
    laws = [{mdp.s1: 1.0}]
    for h in range(1, mdp.H + 1):
        after = {}
        for s, mass in laws[-1].items():
            for a in range(mdp.A):
                for t in mdp.successors(h, s, a).tolist():
                    moved = mass * policy[h - 1, s, a] * mdp.P[h - 1, s, a, t]
                    after[t] = after.get(t, 0.0) + moved
        laws.append(after)
    return np.array([[law.get(s, 0.0) for s in range(mdp.S)] for law in laws])


@wrong("law-of-the-state")
def from_state_zero(mdp, policy):
    d = np.zeros((mdp.H + 1, mdp.S))
    d[0, 0] = 1
    for h in range(1, mdp.H + 1):
        d[h] = np.einsum("s,sa,sat->t", d[h - 1], policy[h - 1], mdp.P[h - 1])
    return d


@wrong("law-of-the-state")
def from_all_states_alike(mdp, policy):
    d = np.full((mdp.H + 1, mdp.S), 1 / mdp.S)
    for h in range(1, mdp.H + 1):
        d[h] = np.einsum("s,sa,sat->t", d[h - 1], policy[h - 1], mdp.P[h - 1])
    return d


@wrong("law-of-the-state")
def against_the_arrows(mdp, policy):
    d = np.zeros((mdp.H + 1, mdp.S))
    d[0, mdp.s1] = 1
    for h in range(1, mdp.H + 1):
        d[h] = np.einsum("sa,sat,t->s", policy[h - 1], mdp.P[h - 1], d[h - 1])
    return d


@wrong("law-of-the-state")
def one_step_ahead(mdp, policy):
    d = np.zeros((mdp.H + 1, mdp.S))
    d[0, mdp.s1] = 1
    for h in range(1, mdp.H + 1):
        now = min(h, mdp.H - 1)
        d[h] = np.einsum("s,sa,sat->t", d[h - 1], policy[now], mdp.P[now])
    return d


@wrong("law-of-the-state")
def by_dice(mdp, policy):
    rng, seen = np.random.default_rng(0), np.zeros((mdp.H + 1, mdp.S))
    for _ in range(50):
        seen[np.arange(mdp.H + 1), st.rollout(mdp, policy, rng).states] += 1
    return seen / 50


@wrong("law-of-the-state")
def of_pairs(mdp, policy):
    return carried_forward(mdp, policy)[:-1, :, None] * policy


# find-the-bug ---------------------------------------------------------------------------------


@right("find-the-bug")
def sweeps_backwards(mdp):
    V = np.zeros(mdp.S)
    for h in range(mdp.H, 0, -1):
        V = (mdp.r[h - 1] + mdp.P[h - 1] @ V).max(axis=1)
    return float(V[mdp.s1])


@right("find-the-bug")
def recursion(mdp):
    def worth(h, s):
        if h > mdp.H:
            return 0.0
        return max(
            mdp.r[h - 1, s, a]
            + sum(mdp.P[h - 1, s, a, t] * worth(h + 1, t) for t in mdp.successors(h, s, a))
            for a in range(mdp.A)
        )

    return worth(1, mdp.s1)


@wrong("find-the-bug")
def as_printed(mdp):
    V = np.zeros(mdp.S)
    for h in range(1, mdp.H + 1):
        V = (mdp.r[h - 1] + mdp.P[h - 1] @ V).max(axis=1)
    return float(V[mdp.s1])


@wrong("find-the-bug")
def one_sweep_short(mdp):
    V = np.zeros(mdp.S)
    for h in range(mdp.H, 1, -1):
        V = (mdp.r[h - 1] + mdp.P[h - 1] @ V).max(axis=1)
    return float(V[mdp.s1])


@wrong("find-the-bug")
def in_place(mdp):
    V = np.zeros(mdp.S)
    for h in range(mdp.H, 0, -1):
        for s in range(mdp.S):
            V[s] = max(mdp.r[h - 1, s, a] + mdp.P[h - 1, s, a] @ V for a in range(mdp.A))
    return float(V[mdp.s1])


@wrong("find-the-bug")
def best_reward_and_best_future_apart(mdp):
    V = np.zeros(mdp.S)
    for h in range(mdp.H, 0, -1):
        V = mdp.r[h - 1].max(axis=1) + (mdp.P[h - 1] @ V).max(axis=1)
    return float(V[mdp.s1])


@wrong("find-the-bug")
def only_the_moves_turned_round(mdp):
    V = np.zeros(mdp.S)
    for h in range(1, mdp.H + 1):
        V = (mdp.r[h - 1] + mdp.P[mdp.H - h] @ V).max(axis=1)
    return float(V[mdp.s1])


@wrong("find-the-bug")
def of_the_best_start(mdp):
    V = np.zeros(mdp.S)
    for h in range(mdp.H, 0, -1):
        V = (mdp.r[h - 1] + mdp.P[h - 1] @ V).max(axis=1)
    return float(V.max())


def test_the_printed_function_is_right_in_every_stationary_world():
    for seed in range(20):
        mdp = st.instances.random_mdp(S=4, A=3, H=5, seed=seed)
        assert as_printed(mdp) == pytest.approx(st.optimal(mdp).value, abs=1e-12)


# ignore-the-clock -----------------------------------------------------------------------------


def world(P, r, H, **more):
    return st.SafeMDP(P, r, np.zeros(np.shape(P)[-1]), tau=0.5, H=H, **more)


def patience(pay=0.25, H=4):
    """Earn a little at each step, or 1 once and then nothing."""
    return world(np.eye(2)[[[0, 1], [1, 1]]], [[pay, 1], [0, 0]], H)


def sow_and_reap(H):
    """To reap earns what was sown and takes the field away; only at the end is it time for it."""
    P = np.eye(3)[[[1, 0], [1, 2], [2, 2]]]
    return world(P, [[0.2, 0], [0.2, 1], [0, 0]], H)


RIGHT["ignore-the-clock"] = [patience(), patience(1 / 3, H=5), sow_and_reap(5)]
WRONG["ignore-the-clock"] = [
    patience(0.25, H=2),  # 0.5 below 1.25 is too much to ask: the best blind one is worth 1
    patience(0.9),  # patience alone loses 0.1
    patience(0.25, H=7),
    world(np.ones((1, 2, 1)), [[0, 1]], H=6),  # one rule does
    world(np.ones((2, 1, 2, 1)), [[[0, 1]], [[1, 0]]], H=2),  # rewards change with the step
    world(np.eye(2)[[[[1, 0], [1, 1]], [[0, 1], [0, 0]]]], [[0, 0], [1, 1]], H=2),  # moves do
    st.instances.random_mdp(S=5, A=2, H=4, seed=0),
    "a world",
    [patience()],
]


def test_the_gap_is_told():
    text = chapter.check("ignore-the-clock", patience(0.9)).text.replace("\n", " ")
    assert "the value 3.7, and the best of those that ignore the step 3.6: that is 0.1" in text


# take-the-dice-away ---------------------------------------------------------------------------


def masked(policy, Q):
    return np.where(policy > 0, Q, -np.inf).argmax(axis=2)


def Q_of(mdp, V):
    return mdp.r + np.einsum("hsat,ht->hsa", mdp.P, V[1:])


@right("take-the-dice-away")
def best_of_its_own_values(mdp, policy):
    return masked(policy, Q_of(mdp, backward(mdp, policy)))


@right("take-the-dice-away")
def best_within_its_actions(mdp, policy):
    """Backward induction over the actions that the policy takes."""
    V, chosen = np.zeros(mdp.S), np.zeros((mdp.H, mdp.S), int)
    for h in range(mdp.H, 0, -1):
        Q = np.where(policy[h - 1] > 0, mdp.r[h - 1] + mdp.P[h - 1] @ V, -np.inf)
        chosen[h - 1], V = Q.argmax(axis=1), Q.max(axis=1)
    return chosen


@right("take-the-dice-away")
def one_state_at_a_time(mdp, policy):
    """Fix the actions one by one, from the last step, each time the best for the whole."""
    left = policy.copy()
    for h in range(mdp.H, 0, -1):
        for s in range(mdp.S):
            worth = {}
            for a in np.flatnonzero(left[h - 1, s]):
                fixed = left.copy()
                fixed[h - 1, s] = np.eye(mdp.A)[a]
                worth[a] = backward(mdp, fixed)[h - 1, s]
            left[h - 1, s] = np.eye(mdp.A)[max(worth, key=worth.get)]
    return left.argmax(axis=2)


@wrong("take-the-dice-away")
def the_best_policy(mdp, _policy):
    return st.optimal(mdp).policy


@wrong("take-the-dice-away")
def the_likeliest_action(_mdp, policy):
    return policy.argmax(axis=2)


@wrong("take-the-dice-away")
def the_largest_reward(mdp, policy):
    return masked(policy, mdp.r)


@wrong("take-the-dice-away")
def the_best_of_the_optimal_values(mdp, policy):
    return masked(policy, Q_of(mdp, st.optimal(mdp).V))


@wrong("take-the-dice-away")
def a_draw(mdp, policy):
    rng = np.random.default_rng(0)
    return np.array(
        [[rng.choice(mdp.A, p=policy[h, s]) for s in range(mdp.S)] for h in range(mdp.H)]
    )


@wrong("take-the-dice-away")
def still_with_dice(_mdp, policy):
    return policy


@wrong("take-the-dice-away")
def as_a_list(mdp, policy):
    return best_of_its_own_values(mdp, policy).tolist()


@wrong("take-the-dice-away")
def action_numbers_from_one(mdp, policy):
    return best_of_its_own_values(mdp, policy) + 1


@wrong("take-the-dice-away")
def in_its_argument(mdp, policy):
    chosen = best_of_its_own_values(mdp, policy)
    policy[:] = np.eye(mdp.A)[chosen]
    return chosen


@wrong("take-the-dice-away")
def raises(_mdp, policy):
    return policy.no_such_thing


WRONG["take-the-dice-away"].append(np.zeros((1, 1), int))


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (the_best_policy, "which the given policy never takes there"),
        (the_likeliest_action, "The given policy has the value 0.5667, the deterministic one 0.5."),
        (still_with_dice, "expected an (H, S) = (1, 1) array of whole numbers"),
        (action_numbers_from_one, "It returns no policy: policy[0, 0] is 1; the actions are 0..0"),
        (in_its_argument, "It changes its argument policy"),
        (raises, "It raises AttributeError"),
    ],
)
def test_what_is_wrong_is_said(answer, said):
    assert said in chapter.check("take-the-dice-away", answer).text.replace("\n", " ")


# ----------------------------------------------------------------------------------------------


class TestAnswers(TriedAnswers):
    slug, right, wrong = "mdps_you_can_run", RIGHT, WRONG
