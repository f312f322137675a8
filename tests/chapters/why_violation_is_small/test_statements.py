"""The statements of the chapter, one test each, on runs that would show a false one.

The runs are those of a learner written here, in plain Python: it has SUCBVI's mask and chooses at
random among the actions that look safe, since the statements hold for any choice among them.
"""

import functools
import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as hs
from looping import many
from oracles.ledger import Step, width

import safeteach as st

DELTA, EPISODES = 0.5, 200


def doomed_in(seen, flagged, S, A, H):
    """U_1 .. U_H of the seen successors, by the definition."""
    U = [set(flagged)]
    for h in range(H - 1, 0, -1):
        cornered = {s for s in range(S) if all(seen.get((h, s, a), set()) & U[0] for a in range(A))}
        U.insert(0, set(flagged) | cornered)
    return U


def live(mdp, seed, looks, episodes=EPISODES):
    """Run the learner; the events of the widths at every count that it used, and the steps.

    ``looks(rng, s, n)`` is the sum of the first n noisy costs seen in s minus that of n - 1.
    """
    rng = np.random.default_rng(seed)
    S, A, H, P = mdp.S, mdp.A, mdp.H, mdp.P
    seen, N, total = {}, [0] * S, [0.0] * S
    low = high = True
    steps = []
    for k in range(episodes):
        flagged = set()
        for s in range(S):
            if N[s]:
                mean, w = total[s] / N[s], width(N[s], S, DELTA)
                low &= mean - w <= mdp.c[s]
                high &= mean + w >= mdp.c[s] - 1e-12
                if mean - w > mdp.tau:
                    flagged.add(s)
        U = doomed_in(seen, flagged, S, A, H)
        before, s = list(N), mdp.s1
        episode = []
        for h in range(1, H + 1):
            allowed = [
                a
                for a in range(A)
                if s in U[h - 1] or h == H or not seen.get((h, s, a), set()) & U[h]
            ]
            a = int(rng.choice(allowed))
            t = int(rng.choice(S, p=P[h - 1, s, a]))
            new = h < H and t not in seen.get((h, s, a), set())
            episode.append(Step(k, h, s, (h, s, a, t), before[s], s in flagged, s in U[h - 1], new))
            N[s] += 1
            total[s] += looks(rng, s, N[s])
            s = t
        for step in episode:
            seen.setdefault(step.edge[:3], set()).add(step.edge[3])
        steps += episode
    return low, high, steps


@functools.cache
def runs():
    """Runs in feasible random worlds, those on which both events hold."""
    kept = []
    for seed, mdp in enumerate(some_worlds()):
        if st.is_feasible(mdp) and mdp.unsafe.any():
            low, high, steps = live(
                mdp, seed, lambda rng, s, _n, mdp=mdp: mdp.c[s] + rng.choice([-1, 1])
            )
            if low and high:
                kept.append((mdp, steps))
    return kept


def some_worlds():
    """Yield random worlds, and worlds of a bridge that breaks late."""
    for seed in range(60):
        w = st.instances.random_mdp(
            S=3 + seed % 3, A=2, H=2 + seed % 4, seed=seed, successors=2, unsafe=0.5,
            stationary=seed % 2 == 0,
        )  # fmt: skip
        # Gaps wide enough for flags, and transitions rare enough for surprises after them.
        P = w.P**5 / (w.P**5).sum(axis=3, keepdims=True)
        yield st.SafeMDP(P, w.r, np.where(w.unsafe, w.c, 0.2 * w.c), tau=0.1, H=w.H)
    for seed in range(20):
        P = np.zeros((4, 3, 4))
        P[0, 0, 3] = P[0, 2, 2] = 1
        P[0, 1, [1, 3]] = 0.97, 0.03
        P[1, :, 1] = P[2, :, 2] = P[3, :, 3] = 1
        yield st.SafeMDP(P, np.zeros((4, 3)), c=[0, 0.1, 0, 1], tau=0.1, H=2 + seed % 4)


def edges_of(mdp):
    return {
        (h, s, a, int(t))
        for h, s, a in itertools.product(range(1, mdp.H), range(mdp.S), range(mdp.A))
        for t in mdp.successors(h, s, a)
    }


def by_episode(steps):
    return [list(group) for _, group in itertools.groupby(steps, key=lambda step: step.k)]


def test_the_runs_are_worth_testing():
    kept = runs()
    assert len(kept) >= 20
    flagged = [step for mdp, steps in kept for step in steps if step.flagged]
    unflagged = [s for mdp, steps in kept for s in steps if mdp.unsafe[s.s] and not s.flagged]
    assert len(flagged) >= 20
    assert len(unflagged) >= 500


def test_a_transition_surprises_once():
    """Each surprise uses up a transition of the world, so there are at most E <= S^2 A (H - 1)."""
    for mdp, steps in runs():
        used = [step.edge for step in steps if step.surprise]
        assert len(used) == len(set(used))
        assert set(used) <= edges_of(mdp)
        assert len(edges_of(mdp)) <= mdp.S**2 * mdp.A * (mdp.H - 1)


def test_quiet_so_far():
    """Without a surprise before, s_h is outside U_h^k, and so not flagged."""
    for _, steps in runs():
        for episode in by_episode(steps):
            for step in itertools.takewhile(lambda step: not step.surprise, episode):
                assert not step.doomed
                assert not step.flagged


def test_quiet_fails_without_the_mask():
    """The same in a world without a feasible policy: the lemma needs s_1 outside U_1."""
    mdp = st.SafeMDP([[[0, 1]], [[0, 1]]], [[0], [0]], c=[0, 1], tau=0.5, H=3)
    _, _, steps = live(mdp, 0, lambda _rng, s, _n: mdp.c[s])
    assert any(
        step.flagged
        for episode in by_episode(steps)
        if not any(step.surprise for step in episode)
        for step in episode
    )


def test_not_flagged_not_far_above():
    """An unflagged state with n >= 1 visits is at most 2 beta(n) above the threshold."""
    tight = 0
    for mdp, steps in runs():
        for step in steps:
            if step.n and not step.flagged:
                assert mdp.c[step.s] - mdp.tau <= 2 * width(step.n, mdp.S, DELTA)
                tight += mdp.c[step.s] - mdp.tau > width(step.n, mdp.S, DELTA)
    assert tight  # with beta in the place of 2 beta it would be false


@given(
    hs.integers(1, 9).flatmap(
        lambda H: hs.tuples(
            hs.just(H), hs.lists(hs.sampled_from([0, 1, H // 2, H]), min_size=1, max_size=30)
        )
    )
)
@settings(max_examples=many(105, 300), deadline=None)
def test_counts_that_rise_by_up_to_H(drawn):
    """At most 2H early visits; the rest, each charged 1/sqrt(N^k), come to 2 sqrt(2N)."""
    H, visits = drawn
    early, late, N = 0, 0.0, 0
    for m in visits:
        if N < H:
            early += m
        else:
            late += m / math.sqrt(N)
        N += m
    assert early <= 2 * H
    assert late <= 2 * math.sqrt(2 * N) + 1e-12
    assert late <= (1 + math.sqrt(2)) * math.sqrt(N) + 1e-12  # "seven"


def test_what_jaksch_needs():
    """The cited lemma fails for increments up to H, and its printed constant always."""

    def total(visits):
        before = np.cumsum(visits) - visits
        return (visits / np.sqrt(np.maximum(before, 1))).sum() / math.sqrt(sum(visits))

    assert total(np.array([12])) > 1 + math.sqrt(2)
    assert 2 < total(np.array([1, 1, 2, 4, 8])) <= 1 + math.sqrt(2)


def sides(mdp, steps):
    """C(K), and the right sides of the theorem, of its version with a gap, and of both for ever."""
    K, tau = EPISODES, mdp.tau
    T, E = mdp.H * K, len(edges_of(mdp))
    Lambda = math.log(mdp.S * T * (T + 1) / DELTA)
    gaps = [float(mdp.c[s]) - tau for s in range(mdp.S) if mdp.c[s] > tau]
    first = (1 - tau) * mdp.H * E
    root = first + 2 * mdp.H * len(gaps) + 8 * math.sqrt(Lambda * len(gaps) * T)
    gap = first + len(gaps) * (8 * Lambda / min(gaps) + mdp.H)
    stays = [next(n for n in itertools.count(1) if 2 * width(n, mdp.S, DELTA) < g) for g in gaps]
    ever = first + sum(g * (n - 1 + mdp.H) for g, n in zip(gaps, stays, strict=True))
    paid = sum(max(mdp.c[step.s] - tau, 0) for step in steps)
    return paid, root, gap, ever


def test_violation_of_sucbvi():
    for mdp, steps in runs():
        paid, root, _, _ = sides(mdp, steps)
        E = len(edges_of(mdp))
        library = st.bounds.violation_bound(
            mdp.S, mdp.H, EPISODES, mdp.tau, int(mdp.unsafe.sum()), E, DELTA
        )
        assert paid <= root == pytest.approx(library)


def test_violation_with_a_gap():
    for mdp, steps in runs():
        paid, _, bound, _ = sides(mdp, steps)
        E, gap = len(edges_of(mdp)), float((mdp.c - mdp.tau)[mdp.unsafe].min())
        library = st.bounds.violation_bound_gap(
            mdp.S, mdp.H, EPISODES, mdp.tau, int(mdp.unsafe.sum()), E, gap, DELTA
        )
        assert paid <= bound == pytest.approx(library)


def test_for_ever():
    for mdp, steps in runs():
        paid, _, _, ever = sides(mdp, steps)
        assert paid <= ever


@pytest.mark.parametrize("recursion", ["exact", "paper"])
def test_the_printed_recursion_goes_on_for_ever(recursion):
    """A gate from which there is a safe way at step 1 only: the union lifts the mask there."""
    P, r = np.zeros((3, 3, 3, 3)), np.zeros((3, 3, 3))
    P[0, 0, [0, 1, 2], [1, 2, 0]] = 1
    P[1:, 0, :, 2] = P[:, 1, :, 1] = P[:, 2, :, 2] = 1
    r[:, 1], r[:, 2], r[1, 0] = 0.5, 1, 1
    mdp = st.SafeMDP(P, r, c=[0, 0, 1], tau=0.5, H=3)
    learner = st.SUCBVI(
        mdp.known, episodes=2_000, delta=DELTA, bonus_scale=0.01, recursion=recursion
    )
    run = st.audit(learner, mdp)
    assert st.is_feasible(mdp)
    assert run.costs_low.all() and run.costs_high.all()
    ever = 0.5 * 3 * len(edges_of(mdp)) + 0.5 * (
        st.bounds.visits_until_flagged(0.5, mdp.S, DELTA) - 1 + 3
    )
    assert (run.violation.sum() <= ever) == (recursion == "exact")
    assert (run.violation[-500:].sum() > 0) == (recursion == "paper")


@pytest.mark.parametrize("H", [2, 7])
def test_for_ever_with_the_worst_luck_that_the_event_allows(H):
    """With means at c - beta(n) the visits while not flagged are n(g) - 1, up to one episode."""
    g, S = 0.5, 2
    P = np.zeros((2, 2, 2))
    P[0, 0, 1] = P[0, 1, 0] = P[1, :, 1] = 1
    mdp = st.SafeMDP(P, np.zeros((2, 2)), c=[0, 0.5 + g], tau=0.5, H=H)

    def look(_rng, s, n):
        def below(n):
            return n * (mdp.c[s] - width(n, S, DELTA)) if n else 0.0

        return below(n) - below(n - 1)

    low, high, steps = live(mdp, 0, look, episodes=900)
    assert low
    assert high
    n = st.bounds.visits_until_flagged(g, S, DELTA)
    visits = sum(step.s == 1 and not step.flagged for step in steps)
    assert n - 1 <= visits <= n - 1 + H
    assert any(step.s == 1 for step in steps)


def test_only_transitions_into_doom_count():
    """A flagged state is entered only after a surprise by a transition into U_{h+1}."""
    harmless = 0
    for mdp, steps in runs():
        U = st.potentially_unsafe(mdp)
        for episode in by_episode(steps):
            harmed = False
            for step in episode:
                assert harmed or not step.doomed
                into_doom = step.h < mdp.H and U[step.h, step.edge[3]]
                harmed |= step.surprise and bool(into_doom)
                harmless += step.surprise and not into_doom
    assert harmless  # there is something that the corollary leaves out


@pytest.mark.parametrize("p", [0.001, 0.01, 0.2])
@pytest.mark.parametrize("q", [0.5, 0.9, 0.99, 1.0])
def test_the_price_of_a_transition(p, q):
    """Of learners that cross with probability q, or only from some episode on."""
    H, K = 5, 400
    d = 0.4 * (H - 1)

    def promised(regret):
        return 1 - (1 - p) ** (K / 2) - 2 * regret / (d * K)

    assert 1 - (1 - p * q) ** K >= promised(d * (1 - q) * K)
    late = round(q * K)  # crosses in this many episodes
    assert 1 - (1 - p) ** late >= promised(d * (K - late))
    far, road = 0.9 * (H - 1), 0.5 * (H - 1)
    assert far - road == pytest.approx(d)
    assert promised(0.0) > 0
