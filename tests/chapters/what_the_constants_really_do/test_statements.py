"""Any choice among what looks safe; a tenth of the bonus."""

import math

import numpy as np
import pytest

import safeteach as st
from safeteach.bounds import regret_bound, value_width, violation_bound, visits_until_flagged


def worlds():
    """Feasible worlds with unsafe states: the pond, the corridor, and random ones."""
    yield st.instances.grid()
    yield st.instances.ice_corridor()
    found = 0
    for seed in range(200):
        mdp = st.instances.random_mdp(
            6, A=3, H=4, seed=seed, successors=2, unsafe=0.3, stationary=seed % 2 == 0
        )
        if st.is_feasible(mdp) and mdp.unsafe.any():
            found += 1
            yield mdp
        if found == 4:
            return


class Adversary(st.SUCBVI):
    """It knows the world, and of the allowed actions takes one that may do the most harm.

    ``obeys`` tells whether it keeps to the actions that look safe.
    """

    def __init__(self, mdp, obeys, **settings):
        super().__init__(mdp.known, bonus_scale=0.0, **settings)
        self.mdp, self.obeys = mdp, obeys
        harm, value = np.zeros((mdp.H, mdp.S, mdp.A)), np.zeros(mdp.S)
        for h in reversed(range(mdp.H)):
            harm[h] = mdp.P[h] @ value
            value = mdp.violation + harm[h].max(axis=1)
        self.harm = harm

    def plan(self, rng):
        super().plan(rng)
        allowed = self.safe_actions | self.U[:, :, None] if self.obeys else True
        self.policy[:] = np.where(allowed, self.harm, -1).argmax(axis=2)
        return self.policy


def bounds_of(mdp, episodes, delta):
    """The bounds, each from its formula, with all edges and with those into doom only."""
    doomed = st.potentially_unsafe(mdp)
    for targets in (np.ones_like(doomed), doomed):
        yield from bounds_with(mdp, targets, episodes, delta)


def bounds_with(mdp, targets, episodes, delta):
    S, H, unsafe = mdp.S, mdp.H, int(mdp.unsafe.sum())
    edges = sum(
        targets[h, mdp.successors(h, s, a)].sum()
        for h in range(1, H)
        for s in range(S)
        for a in range(mdp.A)
    )
    gaps = (mdp.c - mdp.tau)[mdp.unsafe]
    T = H * episodes
    log = math.log(S * T * (T + 1) / delta)
    surprises = (1 - mdp.tau) * H * edges
    yield violation_bound(S, H, episodes, mdp.tau, unsafe, edges, delta)
    yield surprises + unsafe * (8 * log / gaps.min() + H)
    yield surprises + sum(g * (visits_until_flagged(g, S, delta) - 1 + H) for g in gaps)


@pytest.mark.slow
def test_any_choice_among_what_looks_safe():
    delta, episodes, tested, harmed = 0.05, 600, 0, 0
    for mdp in worlds():
        audit = st.audit(Adversary(mdp, True, episodes=episodes, delta=delta), mdp, seed=1)
        if not (audit.costs_low.all() and audit.costs_high.all()):
            continue
        tested += 1
        harmed += audit.violation.sum() > 0
        assert (audit.violation <= audit.allowed + 1e-9).all()
        assert all(audit.violation.sum() <= bound for bound in bounds_of(mdp, episodes, delta))
    assert tested >= 5
    assert harmed >= 4  # the adversary does what harm it can


def test_an_adversary_that_does_not_keep_to_it_exceeds_what_is_allowed():
    mdp = st.instances.grid()
    audit = st.audit(Adversary(mdp, False, episodes=600, delta=0.05), mdp, seed=1)
    assert not (audit.violation <= audit.allowed + 1e-9).all()


class Clairvoyant(st.SUCBVI):
    """It keeps to what looks safe, and enters the water when its noise will be below -1."""

    def __init__(self, known, noise, **settings):
        super().__init__(known, **settings)
        self.low = iter(noise < -1)

    def plan(self, rng):
        super().plan(rng)
        allowed = self.safe_actions[0, 0] | self.U[0, 0]
        wish = 0 if next(self.low) else 1
        self.policy[0, 0] = wish if allowed[wish] else 1 - wish
        return self.policy


def test_a_rule_that_knows_the_noises_exceeds_the_bounds():
    P = np.zeros((3, 2, 3))
    P[0, 0, 1] = P[0, 1, 2] = P[1, :, 1] = P[2, :, 2] = 1
    shore = st.SafeMDP(P, [[0, 0], [1, 1], [0.5, 0.5]], c=[0, 1, 0], tau=0.5, H=2)
    K, delta = 20_000, 0.005
    noises = np.random.SeedSequence(0).spawn(4)[2]
    noise = np.random.default_rng(noises).standard_normal((K, 2))[:, 1]
    learner = Clairvoyant(shore.known, noise, episodes=K, delta=delta)
    violation = st.run(learner, shore, seed=0).violation.sum()
    assert violation == 0.5 * (noise < -1).sum()  # never flagged
    assert violation > min(bounds_of(shore, K, delta))
    blind = Clairvoyant(shore.known, np.roll(noise, 1), episodes=K, delta=delta)
    assert st.run(blind, shore, seed=0).violation.sum() < min(bounds_of(shore, K, delta))


# A tenth of the bonus --------------------------------------------------------------------------

LEAST = 1 / (7 * math.sqrt(2))


def bonus(n, S, A, H, K, delta):
    return 7 * H * math.sqrt(math.log(5 * S * A * H * K / delta) / n)


def test_a_tenth_of_the_bonus_covers_hoeffdings_width():
    rng = np.random.default_rng(0)
    below = 0
    for _ in range(2_000):
        S, A, H, K = (int(x) for x in np.exp(rng.uniform(0, [14, 6, 6, 30])))
        delta, n = float(np.exp(-rng.uniform(0.01, 40))), int(rng.integers(1, 10**6))
        width = float(value_width(n, S, A, H, K, delta))
        assert LEAST * bonus(n, S, A, H, K, delta) >= width
        below += 0.98 * LEAST * bonus(n, S, A, H, K, delta) < width
    assert below > 1_000  # and with much less it does not


@pytest.mark.parametrize("scale", [LEAST, 0.01, 0.0])
def test_optimism_where_the_event_holds(scale):
    """Wherever the scaled bonus covers (P̂ - P)V* in a run, safe pairs are optimistic."""
    K, delta, covered = 250, 0.1, 0
    for seed in range(8):
        mdp = st.instances.random_mdp(5, A=2, H=4, seed=seed, successors=3, unsafe=0.2)
        if not st.is_feasible(mdp):
            continue
        plan, U = st.safe_optimal(mdp), st.potentially_unsafe(mdp)
        safe = st.safe_actions(mdp) & ~U[:, :, None]
        expected = np.einsum("hsat,ht->hsa", mdp.P, plan.V[1:])
        learner = st.SUCBVI(mdp.known, episodes=K, delta=delta, bonus_scale=scale)
        for _k, _episode in st.play(learner, mdp, seed):
            N = learner.transitions.N
            seen = np.einsum("hsat,ht->hsa", learner.transitions.P_hat, plan.V[1:])
            price = scale * np.array(bonus(1, mdp.S, mdp.A, mdp.H, K, delta))
            tried = N > 0
            error = np.abs(seen - expected)[tried] * np.sqrt(N[tried])
            contained = (learner.U <= U).all()
            if contained and (error <= price + 1e-12).all():
                covered += 1
                assert (learner.Q >= plan.Q - 1e-9)[safe].all()
            else:
                assert scale < LEAST  # at a tenth these worlds never break the event
    assert covered > 0


def by_hand(kappa, S, A, H, K, delta):
    N = S * A * H * K / delta
    pairs = 2 * math.sqrt(S * A * H * H * K)  # most that 1/√N can add up to
    return (
        S * A * H * H
        + 2 * H * math.sqrt(H * K / 2 * math.log(1 / delta))
        + kappa * 7 * H * math.sqrt(math.log(5 * N)) * pairs
        + H / 2 * math.sqrt(2 * (S * math.log(2) + math.log(N))) * pairs
    )


def test_with_few_successors_the_model_costs_at_most_the_whole_bonus():
    rng = np.random.default_rng(1)
    for _ in range(500):
        S, A, H, K = (int(x) for x in np.exp(rng.uniform(0, [14, 6, 6, 30])))
        delta = float(np.exp(-rng.uniform(0.01, 40)))
        N = S * A * H * K / delta
        b = math.floor(139 * math.log(5 * N))
        root = math.sqrt(H**3 * S * A * H * K)
        model = root * math.sqrt(2 * (b * math.log(2) + math.log(N)))
        assert model <= 14 * root * math.sqrt(math.log(5 * N))
        more = root * math.sqrt(2 * (1.02 * b * math.log(2) + math.log(N)))
        assert more > 14 * root * math.sqrt(math.log(5 * N))  # and 139 is no accident


def test_the_bound_with_a_factor():
    for S, A, H, K in [(25, 4, 12, 20_000), (3, 2, 5, 10**7), (1, 1, 1, 1)]:
        assert by_hand(1, S, A, H, K, 0.005) == pytest.approx(regret_bound(S, A, H, K, 0.005))
    for seed in range(3):  # and a run keeps it, where it says something
        mdp = st.SafeMDP(
            [[[1.0, 0.0], [0.3, 0.7]], [[0.2, 0.8], [1.0, 0.0]]],
            [[0.0, 0.1], [1.0, 0.0]],
            c=[0, 0],
            tau=0.5,
            H=2,
        )
        K = 20_000
        history = st.run(st.SUCBVI(mdp.known, episodes=K, bonus_scale=LEAST), mdp, seed)
        bound = by_hand(LEAST, mdp.S, mdp.A, mdp.H, K, 0.005)
        assert bound < K * mdp.H
        assert history.regret.sum() <= bound


# The other width -------------------------------------------------------------------------------


class Narrow(st.SUCBVI):
    """SUCBVI that flags with a multiple of its width."""

    def __init__(self, known, share, **settings):
        super().__init__(known, bonus_scale=0.01, **settings)
        self.share = share

    def _flag(self):
        width = self.share * st.bounds.beta(self.costs.N, self.known.S, self.delta)
        self.flagged[:] = self.costs.mean - width > self.known.tau


def false_alarms(share, noise, runs=20):
    """In how many runs a start whose cost is exactly tau is flagged, and the mean violation."""
    P = np.zeros((3, 2, 3))
    P[0, 0, 1] = P[0, 1, 2] = P[1, :, 1] = P[2, :, 2] = 1
    shore = st.SafeMDP(P, [[0, 0], [1, 1], [0.5, 0.5]], c=[0.5, 1, 0], tau=0.5, H=2)
    alarms, violation = 0, 0.0
    for seed in range(runs):
        learner = Narrow(shore.known, share, episodes=600, delta=0.005)
        flagged = False
        for _k, episode in st.play(learner, shore, seed, noise=noise):
            flagged |= bool(learner.flagged[0])
            violation += shore.violation[episode.states[:-1]].sum() / runs
        alarms += flagged
    return alarms, violation


@pytest.mark.slow
def test_only_less_noise_may_make_the_width_smaller():
    whole, narrow = false_alarms(1.0, 1.0), false_alarms(0.1, 1.0)
    earned = false_alarms(0.1, 0.1)
    assert whole[0] == earned[0] == 0
    assert narrow[0] == 20
    assert 20 * earned[1] < whole[1] < narrow[1]  # and it takes about a hundredth of the looks


def test_with_less_noise_a_gap_counts_as_a_larger_one():
    """σβ(n) is below half a gap from n(gap/σ) on, which is less than σ² n(gap)."""
    for gap, sigma in [(0.05, 0.1), (0.125, 0.5), (0.2, 0.25)]:
        n = visits_until_flagged(gap / sigma, 39, 0.005)
        width = sigma * st.bounds.beta(np.array([n - 1, n]), 39, 0.005)
        assert 2 * width[1] < gap <= 2 * width[0]
        assert n <= sigma**2 * visits_until_flagged(gap, 39, 0.005) + 1
